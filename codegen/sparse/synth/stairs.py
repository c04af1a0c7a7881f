"""Finds jagged diagonals in a format's constraints: entry number s of row r is stored at k = ptr(s) + r, where
ptr(s) <= k < ptr(s + 1). Returns the position that counts the entries of each row."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Call, Exp, atom, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import subst
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.synth.model import Position, Segment, Stair
from codegen.sparse.synth.resolve import determines, segment_of, size_of, values_at


def stairs(d: Descriptor, resolved: dict[str, Exp]) -> tuple[Position, ...]:
    """The position, where the rows of the map are the first coordinate; none where there are no such diagonals."""
    free = [v for v in d.map.ins if v not in resolved]
    for k in free:
        segment = segment_of(d, k)
        if not segment.chained or len(segment.above) != 1 or segment.above[0] not in free:
            continue
        (s,) = segment.above
        row = _row(d, k, segment, resolved)
        values, others = values_at(d, k, resolved)
        if row is None or not values or others or not size_of(d, s) or not size_of(d, k):
            continue
        key = tuple(dict.fromkeys((row, *(e for _, e in values))))
        return (Position(s, size_of(d, s), Segment(), values, (row,), key, determines(key, d.map.outs),
                         stair=Stair(k, segment.low, size_of(d, k))),)
    return ()


def _row(d: Descriptor, k: str, segment: Segment, resolved: dict[str, Exp]) -> Exp | None:
    """The first coordinate, where the map says that it is k less the start of its segment."""
    row = var(d.map.outs[0])
    start = atom(Call(segment.low, tuple(var(u) for u in segment.above)))
    said = (Constraint(subst(c.exp, resolved), True) for c in d.map.cons if c.equal)
    wanted = row + start - var(k)
    return row if any(c.exp in (wanted, wanted * -1) for c in said) else None
