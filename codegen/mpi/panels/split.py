"""Splits phases that compute a product into panels (SUMMA): operands in blocks come to a rank piece by piece along the
loop that adds up. Returns the phases so cut; those for which it gains nothing or would change the order of dependences
stay whole.

A rank that computes a block of C += A * B reads rows of A and columns of B that are many times its own blocks. It runs
its iterations in ranges of values of k, and gets for each range the panel of A and the panel of B that belong to it:
those along its row of the grid of ranks, and along its column. Memory is that of its blocks and of a few panels. Which
arrays these are is found from their accesses: blocks are cut along an iterator that ranks do not share, and an element
is used in many iterations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import islpy as isl

from codegen.mpi.blocks import blocks_of, span, values_of
from codegen.mpi.grid import dependences
from codegen.mpi.layout import ArrayDistribution
from codegen.mpi.messages import RankedProgram
from codegen.mpi.network import PANEL_ARRAYS
from codegen.mpi.panels.buffers import buffer_of, not_current
from codegen.mpi.phases import Cut, Panels, Phase
from codegen.scop.distance import constant
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Leaf, Node, Seq, seq, statements
from codegen.transform.program import Program

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def in_panels(p: Program, found: Cut, held: Sequence[ArrayDistribution]) -> Cut:
    """The phases, with those in panels that can be: each as its statements ahead of panels, in them, and behind."""
    for first in [q.stmts[0] for q in found.shared]:
        q = found.phase_of(first)  # by the number that it has by now
        parts = _parts(p, q, held)
        if not parts or wrong_ranges(p, parts):
            continue
        phases = tuple(x for r in found.phases for x in (parts if r is q else (r,)))
        tried = _numbered(found, q.name, tuple(r.name for r in parts), phases)
        names = [r.name for r in tried.phases if r.panels is not None and r.stmts[0] in q.stmts]
        kept = _with_room(RankedProgram(p, tried, blocks_of(p.scop, tried, held)), names)
        found = found if kept is None else kept
    return found


def _parts(p: Program, q: Phase, held: Sequence[ArrayDistribution]) -> tuple[Phase, ...]:
    """A phase as statements that run in panels and others, in the order of the source; none if nothing is gained."""
    if q.reduced or q.ordered:
        return ()
    at = {s: k for s, k in ((s, _iterator(p.scop, q, s, held)) for s in q.stmts) if k is not None}
    out: list[Phase] = []
    for inside, group in groupby(q.stmts, lambda s: s in at):
        stmts = tuple(group)
        part = replace(q, name=f"{q.name}.{len(out)}", tree=_only(q.tree, stmts))
        if inside:
            first, past = span(values_of(p.scop, s, at[s]) for s in stmts)
            arrays = tuple(sorted(_read_in(p.scop, stmts, at, held)))
            part = replace(part, panels=Panels(tuple((s, at[s]) for s in stmts), arrays, first, past))
        out.append(part)
    return tuple(out) if at else ()


def _iterator(scop: Scop, q: Phase, stmt: str, held: Sequence[ArrayDistribution]) -> int | None:
    """The iterator of a statement, not shared, along which an array in blocks is read whose elements serve often."""
    s = scop.statement(stmt)
    written = {a.array for name in q.stmts for a in scop.statement(name).writes}
    for a in (a for a in s.accesses if not a.write and a.array not in written):
        for x in (x for x in held if x.array == a.array):
            often = s.domain.dim(_SET) - q.depth > scop.arrays[a.array].rank > 1
            for k in range(q.depth, s.domain.dim(_SET)) if often else ():
                if k not in q.positions(stmt) and _goes_along(scop, stmt, a.index.get_pw_aff(x.position), k):
                    return k
    return None


def _goes_along(scop: Scop, stmt: str, index: isl.PwAff, k: int) -> bool:
    domain = scop.statement(stmt).domain.get_space().align_params(index.get_space())
    own = isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(domain), _SET, k))
    return constant(index.sub(own)) is not None


def _read_in(scop: Scop, stmts: Sequence[str], at: Mapping[str, int], held: Sequence[ArrayDistribution]) -> set[str]:
    """The arrays whose blocks are cut along the iterators of panels, and that some statements read along those."""
    out = set()
    for name in stmts:
        for a in (a for a in scop.statement(name).accesses if not a.write):
            along = (a.index.get_pw_aff(x.position) for x in held if x.array == a.array)
            if any(_goes_along(scop, name, index, at[name]) for index in along):
                out.add(a.array)
    return out


def _only(node: Node, stmts: Sequence[str]) -> Node:
    """A tree with some of its statements."""
    if isinstance(node, Leaf):
        return node
    if isinstance(node, Seq):
        return seq([_only(k, stmts) for k in node.children if set(stmts) & set(statements(k))])
    assert isinstance(node, Band)
    loops = tuple(replace(lp, exprs={s: v for s, v in lp.exprs.items() if s in stmts}) for lp in node.loops)
    return replace(node, loops=loops, child=_only(node.child, stmts))


def _numbered(found: Cut, old: str, parts: Sequence[str], phases: Sequence[Phase]) -> Cut:
    """The cut with parts in the place of a phase, all with new numbers."""
    names = {q.name: f"P{k + 1}" for k, q in enumerate(phases)}

    def again(node: Node) -> Node:
        if isinstance(node, Leaf):
            return seq([Leaf(names[n]) for n in (parts if node.stmt == old else (node.stmt,))])
        if isinstance(node, Seq):
            return seq([again(k) for k in node.children])
        assert isinstance(node, Band)
        return replace(node, child=again(node.child))

    return replace(found, tree=again(found.tree), phases=tuple(replace(q, name=names[q.name]) for q in phases))


def _with_room(ranked: RankedProgram, names: Sequence[str]) -> Cut | None:
    """The cut, with those arrays of the named phases in panels that can be; None if a phase would have none."""
    phases = list(ranked.cut.phases)
    for k, q in enumerate(phases):
        if q.name in names and q.panels is not None:
            arrays = tuple(
                a for a in q.panels.arrays
                if buffer_of(ranked, q, a) is not None and not not_current(ranked, q, a)
            )  # fmt: skip
            if not arrays or len(arrays) > PANEL_ARRAYS:
                return None
            phases[k] = replace(q, panels=replace(q.panels, arrays=arrays))
    return replace(ranked.cut, phases=tuple(phases))


def wrong_ranges(p: Program, parts: Sequence[Phase]) -> str:
    """Would something run too early if phases run one behind the other, each in one range of its panels' values behind
    the other? Or does a variable of the region live longer than an iteration of such a range?"""
    number = {s: k for k, q in enumerate(parts) for s in q.stmts}
    along = {s: k for q in parts if q.panels is not None for s, k in q.panels.iterators}
    for m in dependences(p):
        a, b = str(m.get_tuple_name(_IN)), str(m.get_tuple_name(_OUT))
        if a in number and b in number and not _forward(m, parts[0].depth, (number[a], number[b]), along):
            return f"{b} would run before {a}, on which it depends"
    for array in sorted(n for n, x in p.scop.arrays.items() if x.inside):
        users = {s.name for s, _ in p.scop.accesses_to(array)} & set(number)
        kept = all(_in_one_range(m, along) for m in maps_of(p.deps.flows[array])) if array in p.deps.flows else True
        if len({number[s] for s in users}) > 1 or not kept:
            return f"`{p.scop.arrays[array].base}` is one variable for several panels"
    return ""


def _forward(m: isl.Map, depth: int, numbers: tuple[int, int], along: Mapping[str, int]) -> bool:
    """Do all pairs within an iteration of the loops around phases keep their order?"""
    for k in range(depth):
        m = m.equate(_IN, k, _OUT, k)
    ends = str(m.get_tuple_name(_IN)), str(m.get_tuple_name(_OUT))
    if numbers[0] != numbers[1] or not all(s in along for s in ends):
        return numbers[0] <= numbers[1] or m.is_empty()
    return m.is_subset(m.order_le(_IN, along[ends[0]], _OUT, along[ends[1]]))


def _in_one_range(m: isl.Map, along: Mapping[str, int]) -> bool:
    ends = str(m.get_tuple_name(_IN)), str(m.get_tuple_name(_OUT))
    if not all(s in along for s in ends):
        return True
    return m.is_subset(m.equate(_IN, along[ends[0]], _OUT, along[ends[1]]))
