"""Returns the sort order (`Order`) of the entries at a position of a sparse format: by its own quantifier, the segments
of its parent, the order promised of a child, or its key. Raises where quantifier and parent contradict each other."""
from __future__ import annotations

import re

from codegen.sparse.algebra.expr import Call, Exp, single, var
from codegen.sparse.algebra.terms import rewrite
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.synth.model import Layout, Order, Position, unsolved
from codegen.sparse.synth.resolve import segment_of

_DIM = re.compile(r"dim(\d+)$")


def order_of(lay: Layout, p: Position) -> Order:
    """The order of a position's numbers: its quantifier, its parent's order, or its key."""
    own = [q for q in lay.desc.quantifiers if q.variable == p.var and q.key != Exp() and not _is_ptr(lay.desc, q.key)]
    if own:
        parts = tuple(_coordinates(lay, p, part) for part in _parts(own[0].key))
        base = _base(lay, p)
        if base and not _refines(parts, base):
            raise unsolved(lay.desc, f"the order of {p.var} contradicts {p.ptr}, which sorts by "
                           + ", ".join(map(str, base)))
        if not p.full and not set(p.key) <= {e for part in parts for e in _arguments(part)} | set(base):
            more = tuple(k for k in p.key if k not in parts)
            return Order((*parts, *more), own[0].down, len(more))
        return Order(parts, own[0].down)
    if p.full:
        return Order(_base(lay, p))
    promised = {q.variable for q in lay.desc.quantifiers}
    for child in (c for c in lay.positions if c.parent == p.var and c.var in promised):
        order = order_of(lay, child)
        prefix = _prefix_for(order.parts, p.key)
        if prefix:
            return Order(prefix, order.down)
    return Order(p.key)


def _is_ptr(d: Descriptor, key: Exp) -> bool:
    call = single(key)
    return isinstance(call, Call) and any(segment_of(d, v).low == call.id for v in d.map.ins)


def _parts(key: Exp) -> tuple[Exp, ...]:
    call = single(key)
    return call.args if isinstance(call, Call) and call.id == "LEX" else (key,)


def _arguments(part: Exp) -> tuple[Exp, ...]:
    call = single(part)
    return call.args if isinstance(call, Call) else (part,)


def _coordinates(lay: Layout, p: Position, e: Exp) -> Exp:
    """A key over functions at a position, or dimK, as a key over coordinates."""
    stored = {f: value for q in lay.positions for f, value in q.values}

    def f(a: object) -> Exp | None:
        if isinstance(a, Call):
            dim = _DIM.match(a.id)
            if dim:
                return var(lay.coords[int(dim[1])])
            return stored.get(a.id)
        return None

    return rewrite(e, f)


def _base(lay: Layout, p: Position) -> tuple[Exp, ...]:
    """What the segments of the parent already force."""
    if not p.parent:
        return ()
    above = lay.position(p.parent)
    if above:
        return above.order.parts or _prefix_of_child(lay, above)
    return tuple(dict(lay.resolved)[u] for u in p.segment.above)


def _prefix_of_child(lay: Layout, above: Position) -> tuple[Exp, ...]:
    return order_of(lay, above).parts if not any(
        q.variable == c.var for c in lay.positions if c.parent == above.var for q in lay.desc.quantifiers) else ()


def _refines(parts: tuple[Exp, ...], base: tuple[Exp, ...]) -> bool:
    return parts[:len(base)] == base


def _prefix_for(parts: tuple[Exp, ...], key: tuple[Exp, ...]) -> tuple[Exp, ...]:
    """The shortest prefix of an order that tells the keys apart and depends on nothing else."""
    seen: set[Exp] = set()
    for n, part in enumerate(parts, 1):
        seen |= set(_arguments(part))
        if not seen <= set(key):
            return ()
        if seen == set(key):
            return parts[:n]
    return ()
