"""Returns the constraints that proofs about a format start from: on the tuple of any stored entry, and on the format's
symbols."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Call, atom, var
from codegen.sparse.algebra.relation import Constraint, equal, unique
from codegen.sparse.synth.members import known_symbols, let_facts, on_coordinates, shape_facts
from codegen.sparse.synth.model import Layout, Position


def entry_facts(lay: Layout) -> tuple[Constraint, ...]:
    """Of an entry that was let in: where its coordinates, its variables and its positions are."""
    out = [*shape_facts(lay), *let_facts(lay), *lay.members]
    out += [equal(var(v), e) for v, e in lay.resolved]
    for p in lay.positions:
        found = (Constraint(var(p.var)), Constraint(var(p.size) - var(p.var) - 1), *segment_facts(p))
        out += [*found, *(Constraint(on_coordinates(lay, c.exp)) for c in found), *stair_facts(p)]
    return unique(tuple(out))


def segment_facts(p: Position) -> tuple[Constraint, ...]:
    """The bounds that arrays set a position, as the map writes them."""
    args = tuple(var(u) for u in p.segment.above)
    low = (Constraint(var(p.var) - atom(Call(p.segment.low, args))),) if p.segment.low else ()
    high = (Constraint(atom(end_call(p)) - var(p.var) - 1),) if p.segment.high else ()
    return (*low, *high)


def stair_facts(p: Position) -> tuple[Constraint, ...]:
    """Where the entries of jagged diagonals are: row r at the start of its diagonal and r, before the next one."""
    if not p.stair:
        return ()
    s, k, (row,) = var(p.var), var(p.stair.var), p.group
    start, end = (atom(Call(p.stair.ptr, (x,))) for x in (s, s + 1))
    return (equal(k, start + row), Constraint(k - start), Constraint(end - k - 1), Constraint(k),
            Constraint(var(p.stair.size) - k - 1))


def end_call(p: Position) -> Call:
    """The element that bounds a position from above."""
    args = tuple(var(u) for u in p.segment.above)
    return Call(p.segment.high, (*args[:-1], args[-1] + 1) if p.segment.chained else args)


def sizes_facts(lay: Layout) -> tuple[Constraint, ...]:
    """Of the symbols, whatever is stored: none is negative."""
    return (*let_facts(lay), *(Constraint(var(n)) for n in (*lay.desc.shape, *sorted(sizes_of(lay)))))


def sizes_of(lay: Layout) -> frozenset[str]:
    return frozenset(lay.counted)


def symbols_of(lay: Layout) -> frozenset[str]:
    """Every symbol that has a value: extents, what follows from them, and sizes that are found by counting."""
    return known_symbols(lay) | sizes_of(lay)


