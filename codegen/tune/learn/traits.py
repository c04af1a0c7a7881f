"""Features of a loop tree's code, as numbers, from which speed is learned: register tile, loads for each
multiply-add, remainders, footprints."""

from __future__ import annotations

from math import ceil, log2, prod
from typing import TYPE_CHECKING

from codegen.isa.model import Isa
from codegen.lower.nest.schedule import NestSchedule, schedule
from codegen.tune.contraction import TENSORS, strides
from codegen.tune.cost import Model, filled, parts
from codegen.tune.tree import Tree, inner, joined

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

OUTSIDE = 4  # loops around the register tile whose memory is looked at


def traits(tree: Tree, model: Model) -> NDArray[numpy.float32]:
    """The numbers of one tree; their logarithms, where they are sizes."""
    import numpy as np

    plan = schedule(tree, model.isa)
    found = [*_block(plan, model.isa), *_operands(plan), *_tails(tree), *_memory(plan), *_sizes(tree, plan)]
    return np.array([*found, *_modelled(plan, model)], np.float32)


def _log(x: float) -> float:
    return log2(1 + x) / 8


def _extents(plan: NestSchedule, depth: int) -> dict[str, int]:
    """How much of each variable the loops from `depth` on cover."""
    found = dict.fromkeys(plan.problem.names, 1)
    for level in plan.levels[depth:]:
        found[level.var] *= level.size
    return found


def _block(plan: NestSchedule, isa: Isa) -> list[float]:
    """The straight code: vectors of C, values of A and of B, multiply-adds, and steps of the sum."""
    extents = _extents(plan, plan.unroll)
    lanes, problem = plan.lanes, plan.problem
    count = {**extents, plan.vector: ceil(extents[plan.vector] / lanes)}
    tile = prod(count[v] for v in problem.c)
    lefts, rights = (prod(count[v] for v in problem.names if strides(problem, t)[v]) for t in "AB")
    adds = prod(count.values())
    full = extents[plan.vector] / (count[plan.vector] * lanes)
    held = prod(level.size for level in plan.levels[plan.hold : plan.unroll])
    sums = held * prod(extents[v] for v in problem.reductions)
    return [
        *(_log(tile), _log(lefts), _log(rights), _log(adds), full),
        *(tile / isa.registers, (tile + min(lefts, rights)) / isa.registers, (lefts + rights) / adds),
        *(1 / adds, 1 / sums, _log(sums), _log(held), float(tile < 8)),
    ]


def _operands(plan: NestSchedule) -> list[float]:
    """How vectors lie in each array, and how far it moves with the innermost sum."""
    found: list[float] = []
    last = plan.levels[-1]
    sums = [level for level in plan.levels if level.var not in plan.problem.c]
    for tensor in TENSORS:
        along = last.move(tensor)
        found += [float(along == 0), float(along == 1), float(along > 1), _log(sums[-1].move(tensor)) if sums else 0.0]
        found.append(float(any(tensor in level.pack for level in plan.levels)))
    return found


def _tails(tree: Tree) -> list[float]:
    """The share of each variable that lies in tails: of the first of C, the last of C, and the sum."""
    problem, sizes = tree.problem, dict(tree.problem.sizes)
    share = dict.fromkeys(problem.names, 0.0)
    nest = joined(tree.compute)
    for at, loop in enumerate(nest):
        if loop.tail:
            share[loop.var] += loop.tail / (loop.size * inner(nest, at) + loop.tail)
    ends = (problem.c[0], problem.c[-1], problem.reductions[-1] if problem.reductions else "")
    return [share.get(v, 0.0) for v in ends] + [float(sizes.get(v, 1) % 16 == 0) for v in ends]


def _memory(plan: NestSchedule) -> list[float]:
    """Elements of each array that a loop around the tile runs through, and how often it does so."""
    found: list[float] = []
    sizes = {"A": strides(plan.problem, "A"), "B": strides(plan.problem, "B"), "C": strides(plan.problem, "C")}
    for back in range(OUTSIDE):
        depth = plan.hold - back
        extents = _extents(plan, max(depth, 0))
        found += [_log(prod(n for v, n in extents.items() if sizes[t][v])) for t in TENSORS]
        found.append(_log(plan.levels[depth - 1].size) if depth > 0 else 0.0)
    return found


def _sizes(tree: Tree, plan: NestSchedule) -> list[float]:
    problem, sizes = tree.problem, dict(tree.problem.sizes)
    ends = (problem.c[0], problem.c[-1], problem.reductions[-1] if problem.reductions else "")
    which = [float(plan.vector == v) for v in ends]
    return [*(_log(sizes.get(v, 1)) for v in ends), *which, len(plan.levels) / 10]


def _modelled(plan: NestSchedule, model: Model) -> list[float]:
    """Cycles by the model, as parts of the best there could be, and how full the first cache is at each loop around the
    tile."""
    machine = model.machine
    busy, streamed, scattered = parts(plan, machine, model.isa)
    ideal = plan.problem.flops / (2 * plan.lanes * machine.fma_throughput)
    near = machine.cache(1)
    depths = [max(plan.hold - back, 0) for back in range(OUTSIDE)]
    full = [_log(8 * filled(plan, d, near)) if near is not None else 0.0 for d in depths]
    shares = [ideal / busy, ideal / (max(busy, streamed) + scattered)]
    return [*shares, _log(streamed / ideal), _log(scattered / ideal), *full]
