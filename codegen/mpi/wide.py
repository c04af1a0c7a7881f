"""Wide halos: ranks exchange every few time steps, and compute what they need of their neighbours' blocks themselves.

A rank runs steps `tw_step_from` to before `tw_step_to` of the loop around all phases without a message. At the last of
them it runs its block; at each step before, more on both sides, so that every value that is read is there: its own, or
in the halo that came ahead of these steps. What it runs is one program, planned and proven like any other, with tiles
over time where those help.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import CNode, For, walk
from codegen.mpi.blocks import (
    GIVER,
    MINE,
    STEPS,
    TAKER,
    RankBlocks,
    block_params,
    held_by,
    is_held,
    ordered,
    with_params,
    within,
)
from codegen.mpi.messages import RankedProgram
from codegen.mpi.pairs import two_ranks
from codegen.mpi.phases import Cut
from codegen.plan.model import Diamond, Plan
from codegen.recognize.reductions import free_pairs
from codegen.record import record
from codegen.scop.dependences import compute_dependences, param_space
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Guard, Param, Scop
from codegen.scop.tree import PIPELINED, Band, Leaf, Loop, Seq
from codegen.scop.types import LONG
from codegen.transform.program import Program, make_program

_IN, _OUT, _SET, _PARAM = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.param
LATER = ("tw_later_from", "tw_later_to")  # in proofs, others that come behind them
SLOPES = 8  # iterations of the shared loop that values may move in a step


@record
class Wide:
    """The loop over time steps, `first` to before `past`. A statement runs `more` iterations on both sides of a block
    in the last of some steps, and `slope` more in each step before."""

    loop: Loop
    first: isl.PwAff
    past: isl.PwAff
    slope: int
    more: Mapping[str, int]


def widened(ranked: RankedProgram) -> Wide | None:
    """How far ranks have to compute beyond their blocks; None where phases are not all in one loop, over one range of
    blocks, or values move farther."""
    p, found, blocks = ranked.p, ranked.cut, ranked.blocks
    loop = _around_all(found)
    if loop is None or len(blocks) != 1:
        return None
    distances = tuple(_distances(p))
    for slope in range(SLOPES + 1):
        more = _more(p.scop, distances, slope)
        if more is not None:
            steps = isl.UnionSet.empty(param_space(p.scop))
            for s in p.scop.statements:
                own = s.domain.intersect_params(p.scop.context)
                steps = steps.union(own.project_out(_SET, 1, own.dim(_SET) - 1).reset_tuple_id())
            values = isl.Set.from_union_set(steps)
            past = values.dim_max(0).add_constant_val(isl.Val(1))
            return Wide(loop, values.dim_min(0).coalesce(), past.coalesce(), slope, more)
    return None


def _around_all(found: Cut) -> Loop | None:
    """The one loop around all phases, if those follow each other in it and are shared out."""
    tree = found.tree
    if not isinstance(tree, Band) or any(q.reduced or q.ordered or q.panels is not None for q in found.phases):
        return None
    if any(q.shared is None or q.depth != 1 for q in found.phases):
        return None
    children = tree.child.children if isinstance(tree.child, Seq) else (tree.child,)
    return tree.loops[0] if len(tree.loops) == 1 and all(isinstance(c, Leaf) for c in children) else None


def _distances(p: Program) -> Iterator[tuple[str, str, isl.Set]]:
    """How far values move from writer to reader: steps, and iterations of the shared loop."""
    for array in sorted(p.deps.flows):
        for m in maps_of(p.deps.flows[array]):
            names = str(m.get_tuple_name(_IN)), str(m.get_tuple_name(_OUT))
            m = m.intersect_params(p.scop.context)
            m = m.project_out(_IN, 2, m.dim(_IN) - 2).project_out(_OUT, 2, m.dim(_OUT) - 2)
            moved = m.set_tuple_name(_IN, "D").set_tuple_name(_OUT, "D").deltas()
            yield *names, moved.project_out(_PARAM, 0, moved.dim(_PARAM)).reset_tuple_id()


def _more(scop: Scop, distances: Sequence[tuple[str, str, isl.Set]], slope: int) -> dict[str, int] | None:
    """The fewest iterations beyond a block for each statement, if a step takes `slope` of them."""
    steps = []
    for writer, reader, moved in distances:
        local = isl.LocalSpace.from_space(moved.get_space())
        dt, di = (isl.Aff.var_on_domain(local, _SET, k) for k in range(2))
        late = dt.scale_val(isl.Val(slope))
        most = [moved.max_val(far.sub(late)) for far in (di, di.neg())]
        if not all(v.is_int() for v in most):
            return None
        steps.append((writer, reader, max(int(v.to_python()) for v in most)))
    more = {s.name: 0 for s in scop.statements}
    for _ in range(len(more) + 1):
        before = dict(more)
        for writer, reader, far in steps:
            more[writer] = max(more[writer], more[reader] + far)
        if more == before:
            return more
    return None


def step_space(scop: Scop, blocks: Sequence[RankBlocks], *who: str) -> isl.Space:
    return with_params(param_space(scop), [*STEPS, *(x.name for x in block_params(blocks, *who))])


def reached(domain: isl.Set, wide: Wide, ends: tuple[str, str], space: isl.Space) -> isl.Set:
    """The instances of a statement that a rank runs in some steps."""
    name = str(domain.get_tuple_name())
    domain = within(domain.align_params(space), 0, STEPS)
    local = isl.LocalSpace.from_space(domain.get_space())

    def param(text: str) -> isl.Aff:
        return isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, text))

    t, i = (isl.Aff.var_on_domain(local, _SET, k) for k in range(2))
    left = param(STEPS[1]).sub(t).add_constant_val(isl.Val(-1)).scale_val(isl.Val(wide.slope))
    far = left.add_constant_val(isl.Val(wide.more[name]))
    return domain.intersect(i.ge_set(param(ends[0]).sub(far))).intersect(i.lt_set(param(ends[1]).add(far)))


def some_steps(space: isl.Space, wide: Wide) -> isl.Set:
    """There is a step, and all of them are steps of the loop around the phases: the loop over their beginnings runs
    from its first to before `past`, and cuts the last of them there."""
    local = isl.LocalSpace.from_space(space)
    begin, end = (isl.PwAff.from_aff(isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, n)))
                  for n in STEPS)  # fmt: skip
    inside = begin.ge_set(wide.first.align_params(space)).intersect(end.le_set(wide.past.align_params(space)))
    return begin.lt_set(end).intersect(inside)


def wide_program(p: Program, wide: Wide, blocks: Sequence[RankBlocks]) -> Program:
    """What one rank runs in some steps."""
    space = step_space(p.scop, blocks, MINE)
    context = p.scop.context.align_params(space).intersect(ordered(space, blocks, MINE))
    context = context.intersect(some_steps(space, wide))
    ends = blocks[0].ends(MINE)
    stmts = tuple(
        replace(
            s,
            domain=reached(s.domain, wide, ends, space).gist_params(context),
            accesses=tuple(
                replace(a, index=a.index.align_params(space), relation=a.relation.align_params(space))
                for a in s.accesses
            ),
            values=tuple(v.align_params(space) for v in s.values),
        )
        for s in p.scop.statements
    )
    true = isl.Set.universe(space)
    params = (*p.scop.params, *(Param(n, n, LONG) for n in STEPS), *block_params(blocks, MINE))
    scop = replace(p.scop, params=params, context=context.coalesce(), statements=stmts, guard=Guard(true, true))
    deps = compute_dependences(scop, p.tree, free_pairs(scop, p.reassociate) or None)
    return make_program(scop, deps, p.tree, p.reassociate)


def time_tile(plan: Plan, code: CNode, slope: int) -> tuple[int, int]:
    """Steps of a tile over time in what a rank runs, and whether threads run such tiles one behind the other. Diamonds
    are as high as values move from one side of them to the other."""
    for d in plan.directives:
        if isinstance(d, Diamond):
            return max(1, d.size // max(1, 2 * slope)), 0
    tiles = [n for n in walk(code) if isinstance(n, For) and n.step > 1]
    return (tiles[0].step if tiles else 1), int(bool(tiles) and tiles[0].loop.kind == PIPELINED)


def wide_halo(ranked: RankedProgram, wide: Wide) -> dict[str, isl.Set]:
    """The elements that a taker reads in some steps, and a giver has: because it computed them last before, or because
    it holds them and nobody has written them."""
    p, blocks = ranked.p, ranked.blocks
    space = step_space(p.scop, blocks, GIVER, TAKER)
    taker = {s.name: reached(s.domain, wide, blocks[0].ends(TAKER), space) for s in p.scop.statements}
    ranks = two_ranks(space, blocks).intersect(some_steps(space, wide))
    out: dict[str, isl.Set] = {}
    for array in sorted(p.deps.flows):
        if p.scop.arrays[array].inside:
            continue
        found: list[isl.Set] = []
        for m in maps_of(p.deps.flows[array]):
            m = m.align_params(space).intersect_range(taker[str(m.get_tuple_name(_OUT))])
            writer = p.scop.statement(str(m.get_tuple_name(_IN)))
            wrote = _before(within(m.domain(), 1, blocks[0].ends(GIVER)), space)
            relation = next(a.relation for a in writer.accesses if a.write and a.array == array)
            found.append(wrote.apply(relation.align_params(space)))
        if is_held(blocks, array):
            found.append(_never_written(ranked, array, taker, space).intersect_params(_longest(space, wide)))
        for more in found:
            exact = more.intersect_params(ranks).coalesce()
            if not exact.is_empty():
                out[array] = out[array].union(exact).coalesce() if array in out else exact
    return out


def _never_written(ranked: RankedProgram, array: str, taker: Mapping[str, isl.Set], space: isl.Space) -> isl.Set:
    """The elements that a giver holds, and a taker reads in some steps before anybody writes them."""
    p, blocks = ranked.p, ranked.blocks
    (_, reach), *_ = p.scop.accesses_to(array)
    out = isl.Set.empty(reach.relation.range().get_space().align_params(space))
    for m in (m for m in maps_of(p.deps.live_in) if m.get_tuple_name(_OUT) == array):
        m = m.align_params(space).intersect_domain(taker[str(m.get_tuple_name(_IN))])
        out = out.union(held_by(m.range(), blocks, array, GIVER))
    return out


def _longest(space: isl.Space, wide: Wide) -> isl.Set:
    """These steps are as many as there were before, or more. Where they are fewer, as many have been taken before
    without a message: all but the first and the last are equally many, and the first are not more."""
    local = isl.LocalSpace.from_space(space)
    begin, end = (isl.PwAff.from_aff(isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, n)))
                  for n in STEPS)  # fmt: skip
    first = wide.first.align_params(space)
    return end.sub(begin).ge_set(begin.sub(first))


def not_kept(ranked: RankedProgram, wide: Wide) -> str:
    """Is what a rank has got once, of elements that nobody writes, all that it reads of them in as many steps later?"""
    p, blocks = ranked.p, ranked.blocks
    space = step_space(p.scop, blocks, GIVER, TAKER)
    space = with_params(space, LATER)
    local = isl.LocalSpace.from_space(space)
    ends = {n: isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, n)) for n in (*STEPS, *LATER)}
    steps = some_steps(space, wide)
    sooner = ends[LATER[1]].sub(ends[LATER[0]]).le_set(ends[STEPS[1]].sub(ends[STEPS[0]]))
    sooner = sooner.intersect(ends[STEPS[1]].le_set(ends[LATER[0]]))
    known = two_ranks(space, blocks).intersect(steps).intersect(_renamed(steps, space)).intersect(sooner)
    taker = {s.name: reached(s.domain, wide, blocks[0].ends(TAKER), space) for s in p.scop.statements}
    for array in sorted(a for a in p.deps.flows if is_held(blocks, a)):
        got = _never_written(ranked, array, taker, space)
        if not _renamed(got, space).intersect_params(known).is_subset(got):
            return f"a rank reads elements of `{array}` that nobody writes, and that it did not get"
    return ""


def _renamed(values: isl.Set, space: isl.Space) -> isl.Set:
    """A set of some steps, for later ones."""
    for old, new in zip((*STEPS, *LATER), (*LATER, *STEPS), strict=True):
        values = values.set_dim_name(_PARAM, values.find_dim_by_name(_PARAM, old), f"{new}_")
    for name in (*STEPS, *LATER):
        values = values.set_dim_name(_PARAM, values.find_dim_by_name(_PARAM, f"{name}_"), name)
    return values.align_params(space)


def _before(instances: isl.Set, space: isl.Space) -> isl.Set:
    """Those of earlier steps."""
    local = isl.LocalSpace.from_space(instances.get_space())
    first = isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, STEPS[0]))
    return instances.intersect(isl.Aff.var_on_domain(local, _SET, 0).lt_set(first))


def not_closed(ranked: RankedProgram, wide: Wide) -> str:
    """Does a rank run all that its instances read of the same steps, and all of its own block?"""
    p, blocks = ranked.p, ranked.blocks
    space = step_space(p.scop, blocks, MINE)
    known = p.scop.context.align_params(space).intersect(ordered(space, blocks, MINE))
    known = known.intersect(some_steps(space, wide))
    ends = blocks[0].ends(MINE)
    mine = {s.name: reached(s.domain, wide, ends, space) for s in p.scop.statements}
    for s in p.scop.statements:
        own = within(within(s.domain.align_params(space), 0, STEPS), 1, ends).intersect_params(known)
        if not own.is_subset(mine[s.name]):
            return f"a rank leaves out a part of its block of {s.name}"
    for array in sorted(p.deps.flows):
        for m in maps_of(p.deps.flows[array]):
            writer, reader = str(m.get_tuple_name(_IN)), str(m.get_tuple_name(_OUT))
            wrote = m.align_params(space).intersect_range(mine[reader]).domain().intersect_params(known)
            same = wrote.subtract(_before(wrote, space))
            if not same.is_subset(mine[writer]):
                return f"{reader} reads what {writer} computes of `{array}` on another rank in the same steps"
    return ""
