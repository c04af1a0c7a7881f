"""Wide halos: ranks exchange every few time steps, and compute what they need of their neighbours' blocks themselves.
Finds how far that reaches beyond a block (`widened`, None where it cannot be done), and builds the program that one
rank runs (`wide_program`).

A rank runs steps `tw_step_from` to before `tw_step_to` of the loop around all phases without a message. At the last of
them it runs its block; at each step before, more on both sides along each axis of the grid of ranks, so that every
value that is read is there: its own, or in the halo that came ahead of these steps. What it runs is one program,
planned and proven like any other, with tiles over time where those help. Its loops are not taken apart where one
statement begins earlier than another, as they all do at the ends of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import CNode, For, walk
from codegen.mpi.blocks import (
    MINE,
    STEPS,
    RankBlocks,
    block_params,
    ordered,
    run_by,
    with_params,
    within,
)
from codegen.mpi.messages import RankedProgram
from codegen.mpi.phases import Cut
from codegen.plan.model import Diamond, Plan
from codegen.recognize.reductions import free_pairs
from codegen.record import record
from codegen.scop.dependences import compute_dependences, param_space
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Guard, Param, Scop, Statement
from codegen.scop.tree import PIPELINED, Band, Leaf, Loop, Seq
from codegen.scop.types import LONG
from codegen.transform.program import Program, make_program

_IN, _OUT, _SET, _PARAM = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.param
SLOPES = 8  # iterations of the shared loop that values may move in a step


@record
class Wide:
    """The loop over time steps, `first` to before `past`. A statement runs `more` iterations on both sides of a block
    in the last of some steps, and `slope` more in each step before, along all axes."""

    loop: Loop
    first: isl.PwAff
    past: isl.PwAff
    slope: int
    more: Mapping[str, int]


def widened(ranked: RankedProgram) -> Wide | None:
    """How far ranks have to compute beyond their blocks; None where phases are not all in one loop, over one range of
    blocks along each axis, or values move farther."""
    p, found, blocks = ranked.p, ranked.cut, ranked.blocks
    loop = _around_all(found)
    if loop is None or len(blocks) != blocks[0].axes:
        return None
    distances = tuple(_distances(ranked))
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


def _distances(ranked: RankedProgram) -> Iterator[tuple[str, str, isl.Set]]:
    """How far values move from writer to reader: steps, and iterations of a shared loop, one axis after the other."""
    p = ranked.p
    for array in sorted(p.deps.flows):
        for m in maps_of(p.deps.flows[array]):
            names = str(m.get_tuple_name(_IN)), str(m.get_tuple_name(_OUT))
            m = m.intersect_params(p.scop.context)
            ends = [ranked.cut.phase_of(n).positions(n) for n in names]
            for a, b in zip(*ends, strict=True):
                pair = _only(_only(m, _IN, a), _OUT, b)
                moved = pair.set_tuple_name(_IN, "D").set_tuple_name(_OUT, "D").deltas()
                yield *names, moved.project_out(_PARAM, 0, moved.dim(_PARAM)).reset_tuple_id()


def _only(m: isl.Map, side: isl.dim_type, position: int) -> isl.Map:
    """Of one side of a map the step and the iterator at a position."""
    m = m.project_out(side, position + 1, m.dim(side) - position - 1)
    return m.project_out(side, 1, position - 1)


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


def reached(ranked: RankedProgram, wide: Wide, who: str, space: isl.Space) -> dict[str, isl.Set]:
    """The instances of each statement that a rank runs in some steps."""
    return {s.name: _reached(ranked, wide, s, who, space) for s in ranked.p.scop.statements}


def _reached(ranked: RankedProgram, wide: Wide, s: Statement, who: str, space: isl.Space) -> isl.Set:
    domain = within(s.domain.align_params(space), 0, STEPS)
    local = isl.LocalSpace.from_space(domain.get_space())

    def param(text: str) -> isl.Aff:
        return isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, text))

    t = isl.Aff.var_on_domain(local, _SET, 0)
    left = param(STEPS[1]).sub(t).add_constant_val(isl.Val(-1)).scale_val(isl.Val(wide.slope))
    far = left.add_constant_val(isl.Val(wide.more[s.name]))
    for b in ranked.blocks:
        first, past = (param(e) for e in b.ends(who))
        i = isl.Aff.var_on_domain(local, _SET, ranked.cut.phase_of(s.name).positions(s.name)[b.axis])
        domain = domain.intersect(i.ge_set(first.sub(far))).intersect(i.lt_set(past.add(far)))
    return domain


def own_instances(ranked: RankedProgram, instances: isl.Set, who: str) -> isl.Set:
    """Those instances of a statement that lie in a rank's blocks."""
    name = str(instances.get_tuple_name())
    return run_by(instances, ranked.cut.phase_of(name), name, ranked.blocks, who)


def some_steps(space: isl.Space, wide: Wide) -> isl.Set:
    """There is a step, and all of them are steps of the loop around the phases: the loop over their beginnings runs
    from its first to before `past`, and cuts the last of them there."""
    local = isl.LocalSpace.from_space(space)
    begin, end = (isl.PwAff.from_aff(isl.Aff.var_on_domain(local, _PARAM, space.find_dim_by_name(_PARAM, n)))
                  for n in STEPS)  # fmt: skip
    inside = begin.ge_set(wide.first.align_params(space)).intersect(end.le_set(wide.past.align_params(space)))
    return begin.lt_set(end).intersect(inside)


def wide_program(ranked: RankedProgram, wide: Wide) -> Program:
    """What one rank runs in some steps."""
    p, blocks = ranked.p, ranked.blocks
    space = step_space(p.scop, blocks, MINE)
    context = p.scop.context.align_params(space).intersect(ordered(space, blocks, MINE))
    context = context.intersect(some_steps(space, wide))
    mine = reached(ranked, wide, MINE, space)
    stmts = tuple(
        replace(
            s,
            domain=mine[s.name].gist_params(context),
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
    known, guard = context.coalesce(), Guard(true, true)
    scop = replace(p.scop, params=params, context=known, statements=stmts, guard=guard, together=True)
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


def before(instances: isl.Set, space: isl.Space) -> isl.Set:
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
    mine = reached(ranked, wide, MINE, space)
    for s in p.scop.statements:
        own = own_instances(ranked, within(s.domain.align_params(space), 0, STEPS), MINE).intersect_params(known)
        if not own.is_subset(mine[s.name]):
            return f"a rank leaves out a part of its block of {s.name}"
    for array in sorted(p.deps.flows):
        for m in maps_of(p.deps.flows[array]):
            writer, reader = str(m.get_tuple_name(_IN)), str(m.get_tuple_name(_OUT))
            wrote = m.align_params(space).intersect_range(mine[reader]).domain().intersect_params(known)
            same = wrote.subtract(before(wrote, space))
            if not same.is_subset(mine[writer]):
                return f"{reader} reads what {writer} computes of `{array}` on another rank in the same steps"
    return ""
