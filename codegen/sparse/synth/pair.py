"""Prepares a source and a destination format for one conversion: symbols renamed apart, shapes unified, duplicates
decided."""
from __future__ import annotations

from dataclasses import replace

from codegen.diagnostics import InputError
from codegen.record import record
from codegen.sparse.algebra.expr import Call, Code, Exp, var
from codegen.sparse.algebra.relation import renamed
from codegen.sparse.algebra.terms import names, subst
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.synth.bounds import data_size, extents, volume
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.model import Layout, Order, Position
from codegen.sparse.synth.prefix import prefixed

KEEP, SUM, REJECT = "keep", "sum", "reject"
POLICIES = (KEEP, SUM, REJECT)
SOURCE = "s_"


@record
class Place:
    """A position of the destination. `dedup`: entries of equal key share a number."""

    pos: Position
    dedup: bool
    order: Order


@record
class Pair:
    """`policy` is what is done about entries of equal coordinates; KEEP also where there can be none."""

    source: Layout
    target: Layout
    places: tuple[Place, ...]
    policy: str
    source_shape: tuple[str, ...]
    log: tuple[str, ...]

    @property
    def shape(self) -> tuple[str, ...]:
        return self.target.desc.shape

    @property
    def adds(self) -> bool:
        return self.policy == SUM


def pair(source: Descriptor, target: Descriptor, policy: str | None) -> Pair:
    """Raises for formats of different rank, and where duplicates must be kept but cannot."""
    if source.rank != target.rank:
        raise InputError("ranks-differ", f"{source.name} has {source.rank} dimensions and {target.name} {target.rank}",
                         target.loc)
    s = layout(prefixed(source, SOURCE, target.shape))
    t = layout(apart(target, frozenset({*s.desc.map.ins, *s.desc.map.outs})))
    asked = policy or (SUM if t.unique else KEEP)
    if asked == KEEP and t.unique and not s.unique:
        raise InputError("cannot-keep", f"{target.name} has one place for each element, so duplicates cannot be kept",
                         target.loc, "choose --duplicates sum or reject")
    used = KEEP if s.unique else asked
    places = tuple(_place(t, p, used) for p in t.positions)
    return Pair(s, t, places, used, source.shape, _log(s, t, asked, used))


def _log(s: Layout, t: Layout, asked: str, used: str) -> tuple[str, ...]:
    note = f"duplicates: {used}"
    if s.unique and asked != KEEP:
        note = "duplicates: none possible, each element of the source has one place"
    return (f"source {s.desc.map}", f"destination {t.desc.map}", note)


def apart(d: Descriptor, taken: frozenset[str]) -> Descriptor:
    """Tuple variables renamed where the source uses the same name."""
    rel, new = renamed(d.map, taken)
    values = {old: var(name) for old, name in new.items()}
    return replace(d, map=rel, access=subst(d.access, values),
                   quantifiers=tuple(replace(q, variable=new.get(q.variable, q.variable), key=subst(q.key, values))
                                     for q in d.quantifiers))


def _place(t: Layout, p: Position, policy: str) -> Place:
    if not p.full or policy == KEEP:
        return Place(p, not p.full, p.order)
    # Every element once: equal coordinates must meet, so the order goes on where it left off.
    parts = p.order.parts
    rest = tuple(var(x) for x in t.coords if not _fixed(x, parts))
    return Place(p, True, Order((*parts, *rest), p.order.down))


def _fixed(x: str, parts: tuple[Exp, ...]) -> bool:
    """Do equal parts mean equal x? Only where x itself, MORTON of x or its code is a part."""
    for part in parts:
        if part == var(x):
            return True
        for a, _ in part.terms:
            if (isinstance(a, Code) or (isinstance(a, Call) and a.id == "MORTON")) and var(x) in a.args:
                return True
    return False


def tops(lay: Layout) -> dict[str, Exp]:
    """The last value each tuple variable can have."""
    shape = {x: var(n) for x, n in zip(lay.coords, lay.desc.shape, strict=True)}
    from codegen.sparse.synth.bounds import bounds

    out = {v: var(n) - 1 for p in lay.positions for v, n in ((p.var, p.size), p.at)}
    for v, e in lay.resolved:
        limits = bounds(e, shape)
        assert limits is not None  # resolved variables are affine in coordinates, div and mod
        out[v] = limits[1]
    return out


def sizes(lay: Layout) -> dict[str, tuple[Exp, ...]]:
    """Elements of every array along each argument; the value array has one."""
    out = {f.name: extents(f.domain) for f in lay.desc.functions}
    out[lay.desc.data] = (data_size(lay.desc, tops(lay)),)
    return out


def room(lay: Layout, extents_: dict[str, tuple[Exp, ...]], f: str) -> Exp:
    """Elements to allocate for a function; the array of starts has one more where the ends are an array of their own,
    since it is filled as if each start were the end before."""
    apart_ = any(q.segment.low == f and not q.segment.chained for q in lay.positions)
    return volume(extents_[f]) + int(apart_)


def symbols(lay: Layout) -> tuple[str, ...]:
    """Sizes that belong to the format beside its shape: NNZ, ND and so on, in the order of the tuple."""
    lets = tuple(n for n, _ in lay.desc.lets)
    return (*lay.counted, *(n for n in lets if _used(lay, n)))


def _used(lay: Layout, n: str) -> bool:
    return any(n in names(c.exp) for c in lay.desc.map.cons) or n in names(lay.desc.access)
