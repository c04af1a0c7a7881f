"""Legality of the directive `copy`: returns a sentence where a read would not find its value in the copy, or would find
another copy in its place (empty where all is well), and the dependences of the region with the copies in it.
`copy_reads.py` makes the copies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from codegen.plan.model import CopyReads
from codegen.scop.dependences import Dependence, Dependences
from codegen.scop.isl_helpers import parted
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.times import Time, earlier, in_order
from codegen.scop.tree import Node, order
from codegen.transform.find import illegal
from codegen.transform.formulas import value_of
from codegen.transform.program import Program


def is_read(s: Statement, a: Access, d: CopyReads) -> bool:
    """Is this one of the reads that go to copies?"""
    if a.write or a.array != d.array or a.index.dim(isl.dim_type.out) != len(d.subscripts):
        return False
    wanted = values_of(s, d.subscripts, d)
    return all(a.index.get_pw_aff(k).plain_is_equal(w) for k, w in enumerate(wanted))


def values_of(s: Statement, texts: Sequence[str], d: CopyReads) -> list[isl.PwAff]:
    """Affine texts over the statement's iterators."""
    found = []
    for text in texts:
        value = value_of(s, text)
        if value is None:
            hint = f"it may use {', '.join(s.iterators) or 'no iterators'} and the parameters"
            raise illegal(f"{text!r} is not an affine value of {s.name}", d.loc, hint)
        found.append(value)
    return found


def to_copy(s: Statement, copy: Statement) -> isl.Map:
    """Instances of a reader to the copy they read."""
    return isl.Map.from_multi_aff(_copy_of(s, copy)).intersect_domain(s.domain)


def _copy_of(s: Statement, copy: Statement) -> isl.MultiAff:
    space = s.domain.get_space()
    multi = isl.MultiAff.zero(space.map_from_domain_and_range(copy.domain.get_space()))
    local = isl.LocalSpace.from_space(space)
    for k, it in enumerate(copy.iterators):
        multi = multi.set_aff(k, isl.Aff.var_on_domain(local, isl.dim_type.set, s.iterators.index(it)))
    return multi


def wrong_copies(p: Program, scop: Scop, tree: Node, d: CopyReads) -> str:
    """Why a read would not find its value in the copy; empty when nobody writes the element between the two."""
    copy = scop.statements[-1]
    at = order(tree, copy.name)
    for s in (x for x in p.scop.statements if x.name in d.stmts):
        mine = order(tree, s.name)
        if not in_order(to_copy(s, copy).intersect_params(scop.context).reverse(), at, mine):
            return f"{s.name} would read a copy before it is made"
        made = _copy_of(s, copy)
        copied: Time = [t if isinstance(t, int) else t.pullback_multi_aff(made) for t in at]
        read = next(a for a in s.accesses if is_read(s, a, d)).relation.intersect_params(scop.context)
        for writer, a in _writers(p.scop, d.array):
            pairs = read.apply_range(a.relation.reverse())
            if pairs.is_empty():
                continue
            theirs = order(tree, writer.name)
            after = earlier(pairs, copied, theirs)
            if not after.is_empty() and not earlier(after.reverse(), theirs, mine).is_empty():
                return f"`{d.array}` is written between the copy and the read in {s.name}"
    return ""


def lost_copies(scop: Scop, tree: Node, d: CopyReads) -> str:
    """Why a read would find another copy in the cell of its own; empty when none comes to the cell between the two."""
    copy = scop.statements[-1]
    cells = copy.accesses[0].relation.intersect_params(scop.context)
    if cells.is_injective():
        return ""
    at = order(tree, copy.name)
    for s in (x for x in scop.statements if x.name in d.stmts):
        made, mine = _copy_of(s, copy), order(tree, s.name)
        copied: Time = [t if isinstance(t, int) else t.pullback_multi_aff(made) for t in at]
        # No two copies come at the same time: each comes with a read of its own, in the order of the source.
        later = earlier(to_copy(s, copy).apply_range(cells).apply_range(cells.reverse()), copied, at)
        if not in_order(later, mine, at):
            return f"another copy would take the place of one in `{d.name}` before {s.name} reads it"
    return ""


def _writers(scop: Scop, array: str) -> Iterator[tuple[Statement, Access]]:
    return ((s, a) for s, a in scop.accesses() if a.array == array and a.write)


def _writes(scop: Scop, array: str) -> isl.UnionMap:
    total = isl.UnionMap.empty(scop.context.get_space())
    for _, a in _writers(scop, array):
        total = total.union(isl.UnionMap.from_map(a.relation))
    return total


# -- dependences -----------------------------------------------------------------------------------------------------


def carried_over(p: Program, scop: Scop, tree: Node, d: CopyReads) -> Dependences:
    """The dependences of the region with copies, from those without: a copy sees what its readers saw, as nobody writes
    between them. Only what the copies' own memory adds is computed anew."""
    copy = scop.statements[-1]
    empty = isl.UnionMap.empty(scop.context.get_space())
    source, direct, through = empty, empty, empty  # reads that stay as they are, and those that go to copies
    writes = _writes(p.scop, d.array)
    for s in (x for x in p.scop.statements if x.name in d.stmts):
        for a in (x for x in s.reads if x.array == d.array):
            mine = isl.UnionMap.from_map(a.relation)
            direct, through = (direct, through.union(mine)) if is_read(s, a, d) else (direct.union(mine), through)
        source = source.union(isl.UnionMap.from_map(to_copy(s, copy)))
    kept, copied = writes.apply_range(direct.reverse()), writes.apply_range(through.reverse())

    known: dict[int, isl.UnionMap] = {}  # flow is in both lists

    def fed(flow: isl.UnionMap) -> isl.UnionMap:
        """Last writers, with copies in place of the reads they stand for."""
        if id(flow) not in known:
            mine, others = parted(flow, d.stmts, [isl.dim_type.out])
            anew = mine.intersect(kept).union(mine.intersect(copied).apply_range(source))
            known[id(flow)] = others.union(anew.coalesce())
        return known[id(flow)]

    at, later = order(tree, copy.name), empty
    for writer, a in _writers(p.scop, d.array):
        pairs = copy.accesses[1].relation.apply_range(a.relation.reverse())
        later = later.union(isl.UnionMap.from_map(earlier(pairs, at, order(tree, writer.name))))
    out = [Dependence("anti", d.array, later.coalesce())]
    for x in p.deps.all:
        if x.array != d.array or x.kind == "output":
            out.append(x)
        elif x.kind == "flow":
            out.append(Dependence("flow", x.array, fed(x.relation)))
        else:
            mine, others = parted(x.relation, d.stmts, [isl.dim_type.in_])
            out.append(Dependence("anti", x.array, others.union(mine.intersect(kept.reverse()).coalesce())))
    out.append(Dependence("flow", d.name, source.reverse()))
    out.extend(_overwritten(scop, tree, copy))
    flows = {a: fed(m) if a == d.array else m for a, m in p.deps.flows.items()} | {d.name: source.reverse()}
    unread = source.reverse().apply_range(p.deps.live_in.intersect(through))
    unfed = p.deps.live_in.subtract(through.subtract(direct)).union(unread)
    return Dependences(tuple(x for x in out if not x.relation.is_empty()), p.deps.folds, flows, unfed, p.deps.live_out)


def _overwritten(scop: Scop, tree: Node, copy: Statement) -> Iterator[Dependence]:
    """Copies that come to the same place later: they wait for this one, and for those who read it."""
    own, at = copy.accesses[0], order(tree, copy.name)
    for kind, write in (("output", True), ("anti", False)):
        total = isl.UnionMap.empty(scop.context.get_space())
        for s, a in ((s, a) for s, a in scop.accesses() if a.array == own.array and a.write == write):
            pairs = earlier(a.relation.apply_range(own.relation.reverse()), order(tree, s.name), at)
            total = total.union(isl.UnionMap.from_map(pairs))
        yield Dependence(kind, own.array, total.coalesce())
