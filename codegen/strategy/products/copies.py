"""Chooses reads to copy (`copy` directives), so that a block's products may run after what they read has been
overwritten.

After `block` a loop's steps fall into kinds by what lies inside the block: the square on the diagonal, panels beside
it, and the rest. A kind that reads what another kind goes on writing in the same block would have to keep step with it.
With a copy of each element as it was when read, it can wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from codegen.diagnostics import InputError
from codegen.plan.model import CopyReads, StripMine
from codegen.recognize.access.strides import coefficients
from codegen.recognize.ownership.classes import meet
from codegen.recognize.ownership.extract import reference
from codegen.recognize.products.contraction import unit_stride
from codegen.record import record
from codegen.scop.dependences import order_map
from codegen.scop.distance import bounds, same_value
from codegen.scop.model import Access, Scop, Statement
from codegen.strategy.orders.distribution import strongly_connected
from codegen.transform.block import fresh
from codegen.transform.copy_reads import made
from codegen.transform.program import Program

Kind = frozenset[str]  # the iterators that lie inside the block


@record
class _Read:
    stmt: str
    array: str
    subscripts: tuple[str, ...]
    owners: frozenset[Kind]


def copies_of_reads(p: Program, d: StripMine) -> tuple[CopyReads, ...]:
    """The copies that set the kinds of one block free from each other; as few as will do."""
    kinds = {s.name: _kind(s, d) for s in p.scop.statements if s.iterators[-1:] == (d.name,)}
    groups: list[CopyReads] = []
    seen: list[tuple[str, tuple[str, ...], frozenset[Kind]]] = []
    for r in _reads(p, d, kinds):
        key = (r.array, r.subscripts, r.owners)
        for k, g in enumerate(groups):
            if seen[k] == key and _legal(p, joined := replace(g, stmts=(*g.stmts, r.stmt))):
                groups[k] = joined
                break
        else:
            new = _keep(p.scop, d, r, len(groups))
            if new is not None and _legal(p, new):
                groups.append(new)
                seen.append(key)
    return tuple(groups)


def edges(p: Program, d: StripMine, loop: str) -> StripMine | None:
    """Panels whose lines run through the block meet the loop's own line on the way: before, at and beyond it they are
    statements of their own, so that no part of a line writes what the rest of it reads."""
    values: dict[str, isl.PwAff] = {}
    apart: dict[str, tuple[isl.PwAff, ...]] = {}
    for s in (x for x in p.scop.statements if x.iterators[-1:] == (d.name,) and loop in x.iterators):
        inside, own = _kind(s, d), s.iterators.index(loop)
        for k, it in enumerate(s.iterators[:-1]):
            panel = it in inside and k != own and inside != frozenset(s.iterators[:-1])
            if panel and unit_stride(p.scop, s, s.target, k) and meets(p.scop, s, k, own):
                values[s.name], apart[s.name] = _iterator(s, own), (_iterator(s, k),)
    return StripMine(fresh(p.scop, f"{loop}e"), values, 1, apart) if values else None


def meets(scop: Scop, s: Statement, k: int, loop: int) -> bool:
    """Do two iterators of a statement move the same subscript of what it writes? Then its blocks fall into classes, by
    where the two coincide (`recognize/ownership/classes.py`)."""
    array = s.accesses[s.target].array
    refs = [reference(scop, s, n) for n, a in enumerate(s.accesses) if a.array == array]
    return meet(refs, {s.name: (k,)}, {s.name: (loop,)})


def _iterator(s: Statement, k: int) -> isl.PwAff:
    local = isl.LocalSpace.from_space(s.domain.get_space())
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k))


def _kind(s: Statement, d: StripMine) -> Kind:
    """Iterators whose value lies in the block for all instances."""
    space = isl.LocalSpace.from_space(s.domain.get_space())
    first = isl.Aff.var_on_domain(space, isl.dim_type.set, len(s.iterators) - 1).scale_val(isl.Val(d.size))
    past = first.add_constant_val(isl.Val(d.size))
    out = set()
    for k, it in enumerate(s.iterators[:-1]):
        value = isl.Aff.var_on_domain(space, isl.dim_type.set, k)
        if s.domain.is_subset(value.ge_set(first).intersect(value.lt_set(past))):
            out.add(it)
    return frozenset(out)


def _reads(p: Program, d: StripMine, kinds: dict[str, Kind]) -> Iterator[_Read]:
    """Reads of what another kind writes again, later in the source but in the same block, where that ties the two
    together: without a cycle of dependences the reader can simply run first."""
    number = {s: _iterator(p.scop.statement(s), len(p.scop.statement(s).iterators) - 1) for s in kinds}
    tied = strongly_connected(p.scop, same_value(p.must, number), tuple(kinds))
    times = order_map(p.scop, p.tree)
    for name, mine in kinds.items():
        s = p.scop.statement(name)
        done: set[tuple[str, tuple[str, ...]]] = set()
        for a in s.reads:
            texts = _texts(s, a)
            if texts is None or (a.array, texts) in done:
                continue
            done.add((a.array, texts))
            owners, late = set(), False
            for other, theirs in kinds.items():
                for w in p.scop.statement(other).writes:
                    if w.array != a.array:
                        continue
                    pairs = _same_block(a.relation.apply_range(w.relation.reverse()))
                    if not pairs.intersect_params(p.scop.context).is_empty():
                        owners.add(theirs)
                        bound = any(name in c and other in c for c in tied)
                        late = late or (bound and _some_forward(pairs, times))
            if late and owners and mine not in owners:
                yield _Read(name, a.array, texts, frozenset(owners))


def _some_forward(pairs: isl.Map, times: isl.UnionMap) -> bool:
    """Does any pair run in this order?"""
    first, then = (times.intersect_domain(isl.UnionSet.from_set(x)) for x in (pairs.domain(), pairs.range()))
    return not isl.UnionMap.from_map(pairs).intersect(first.lex_lt_union_map(then)).is_empty()


def _same_block(pairs: isl.Map) -> isl.Map:
    last = pairs.dim(isl.dim_type.in_) - 1, pairs.dim(isl.dim_type.out) - 1
    return pairs.equate(isl.dim_type.in_, last[0], isl.dim_type.out, last[1])


def _texts(s: Statement, a: Access) -> tuple[str, ...] | None:
    """Subscripts that are iterators themselves, as texts."""
    out = []
    for k in range(a.index.dim(isl.dim_type.out)):
        value = a.index.get_pw_aff(k)
        c = coefficients(value, len(s.iterators))
        moving = [n for n, x in enumerate(c or ()) if x]
        if c is None or len(moving) != 1 or c[moving[0]] != 1 or not _is_iterator(value, s, moving[0]):
            return None
        out.append(s.iterators[moving[0]])
    return tuple(out) if out else None


def _is_iterator(value: isl.PwAff, s: Statement, k: int) -> bool:
    return bool(value.plain_is_equal(_iterator(s, k)))


def _keep(scop: Scop, d: StripMine, r: _Read, number: int) -> CopyReads | None:
    s = scop.statement(r.stmt)
    inside = _kind(s, d)
    at = []
    for dim, it in enumerate(r.subscripts):
        if it in inside:
            at.append((f"{it} - {d.size} * {d.name}", str(d.size)))
            continue
        size = _extent(scop, r.array, dim)
        if size is None:
            return None
        at.append((it, size))
    name = f"{scop.arrays[r.array].base}_{''.join(r.subscripts)}"
    while not {name, f"{name}{number + 1}"}.isdisjoint((*scop.names, *scop.arrays)) or not name.isidentifier():
        name += "_"
    return CopyReads(f"{name}{number + 1}", r.array, r.subscripts, (r.stmt,), tuple(at))


def _extent(scop: Scop, array: str, dim: int) -> str | None:
    """One more than the largest index in a dimension, if that is one affine value of the parameters."""
    total: isl.Set | None = None
    for _, a in scop.accesses():
        if a.array == array:
            n = a.relation.dim(isl.dim_type.out)
            one = a.relation.intersect_params(scop.context).range().reset_tuple_id()
            one = one.project_out(isl.dim_type.set, dim + 1, n - dim - 1).project_out(isl.dim_type.set, 0, dim)
            total = one if total is None else total.union(one)
    assert total is not None
    total = total.coalesce()
    if not total.dim_is_bounded(isl.dim_type.set, 0):
        return None
    high = bounds(total, 0)[1].add_constant_val(isl.Val(1)).gist_params(scop.context).coalesce()
    if high.n_piece() != 1 or high.get_pieces()[0][1].dim(isl.dim_type.div):
        return None
    text = high.get_pieces()[0][1].to_str()
    return str(text[text.rindex("[(") + 2 : text.rindex(")]")])


def _legal(p: Program, d: CopyReads) -> bool:
    try:
        made(p, d)
    except InputError:
        return False
    return True
