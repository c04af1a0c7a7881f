"""Computes the features of a plan that the learned cost model is fitted to: named numbers, most of them logarithms
relative to the processor, given to the model as differences from the default plan's.

Each statement says something about its own nest or product; the region's figure is their mean, by work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log2, prod

from codegen.machine import Machine
from codegen.plan.model import (
    Directive,
    Distribute,
    Expand,
    Interleave,
    Jam,
    Multiply,
    Order,
    Parallel,
    Pipeline,
    Plan,
    ScalarReplace,
    Skew,
    StoreIn,
    StripMine,
    Tile,
    Vector,
)
from codegen.scop.product import Blocking, MatrixVector
from codegen.tune.plans.learned.facts import RegionFacts, StatementFacts
from codegen.tune.plans.learned.nests import NestLoop, nests_of
from codegen.tune.plans.learned.traffic import NestCost, cost_of

# Cycles for a line from the next cache: second, third, memory; long rows come ahead of their use.
LINE = (2.4, 7.2, 24.0)
LEAST = 1e-3  # lines for each instance that count as none
COUNTED: tuple[type, ...] = (Tile, Order, Jam, Vector, Multiply, Skew, Distribute, Parallel, Pipeline, ScalarReplace,
                             Interleave, StripMine, StoreIn, Expand)  # fmt: skip
Traits = dict[str, float]


def traits(facts: RegionFacts, plan: Plan) -> Traits:
    nests = nests_of(facts, plan)
    products = {d.stmt: d for d in plan.directives if isinstance(d, Multiply)}
    total, found = Counter[str](), Counter[str]()
    for name, s in facts.statements.items():
        share = s.work / facts.work
        if name in products:
            found.update({k: share * x for k, x in _product(facts, s, products[name]).items()})
            continue
        cost = cost_of(s, nests.around[name], facts.machine)
        found.update({k: share * x for k, x in _nest(facts, s, nests.around[name], cost).items()})
        total.update(_sums(cost, facts.machine))
    return {**found, **_totals(total, facts), **_directives(plan.directives)}


def _sums(cost: NestCost, machine: Machine) -> Traits:
    lines = {f"lines{c.level}": n for c, n in zip(machine.caches, cost.lines, strict=True)}
    return {"compute": cost.compute, **lines}


def _totals(total: Mapping[str, float], facts: RegionFacts) -> Traits:
    """Logarithms for an instance of one operation."""
    waits = [LINE[min(k, 3) - 1] * total.get(f"lines{k}", 0.0) for k in (1, 2, 3)]
    compute = total.get("compute", 0.0)
    out = {f"all lines{k}": log2(LEAST + total.get(f"lines{k}", 0.0) / facts.work) for k in (1, 2, 3)}
    out["all compute"] = log2(LEAST + compute / facts.work)
    out["all cycles"] = log2(LEAST + max(compute, sum(waits)) / facts.work)
    out["memory to compute"] = log2((LEAST + sum(waits) / facts.work) / (LEAST + compute / facts.work))
    return out


def _nest(facts: RegionFacts, s: StatementFacts, around: Sequence[NestLoop], cost: NestCost) -> Traits:
    machine, turns = facts.machine, cost.turns
    points = [t for t in turns if t.moves is not None]
    tiles = [t for t in turns if t.loop.tile]
    jam, side = prod(lp.jam for lp in around), max((lp.side for lp in around), default=1)
    count = max(1, len(cost.steps))
    first = next((k for k, t in enumerate(turns) if t.moves is not None), len(turns))
    near, second = machine.cache(1), machine.cache(2)
    inside = turns[first].widths if first < len(turns) else (1,) * len(s.extents)
    bytes_ = sum(a.bytes * prod(_cells(row, inside) for row in a.rows) for a in s.boxes)
    shared = next((t for t in turns if t.loop.threads), None)
    out = {
        "inner trips": _log(points[-1].trips) if points else 0.0,
        "next trips": _log(points[-2].trips) if len(points) > 1 else 0.0,
        "inner unit": sum(x == "unit" for x in cost.steps) / count,
        "inner far": sum(x == "far" for x in cost.steps) / count,
        "waits": float(cost.waits),
        "lanes": _log(cost.lanes),
        "written vectors": float(any(lp.width > 1 for lp in around)),
        "compiler's vectors": float(any(lp.width == 1 for lp in around)),
        "side": _log(side),
        "jam": _log(jam),
        "in registers": _log(jam * side * count / machine.registers),
        "loops": float(len(turns)),
        "tile loops": float(len(tiles)),
        "cut loops": float(sum(lp.inner > 0 for lp in around)),
        "full tiles": float(any(lp.full for lp in around)),
        "points of a tile": _log(prod(t.trips for t in points)) if tiles else 0.0,
        "tiles": _log(prod(t.trips for t in tiles)),
        "inner bytes": _log(points[-1].trips * facts.elem / machine.line_bytes) if points else 0.0,
        "outer trips": _log(turns[0].trips) if turns else 0.0,
        "on threads": float(shared is not None),
        "for a thread": _log(shared.trips / facts.threads) if shared is not None else 0.0,
        "starts of threads": _log(prod(t.trips for t in turns[: turns.index(shared)])) if shared else 0.0,
    }
    out |= {f"fills {k}": _log(bytes_ / c.bytes) for k, c in ((1, near), (2, second)) if c is not None}
    if len(points) > 1:
        widths = points[-2].widths
        rows = sum(a.bytes * prod(_cells(row, widths) for row in a.rows) for a in s.boxes)
        out |= {f"rows fill {k}": _log(rows / c.bytes) for k, c in ((1, near), (2, second)) if c is not None}
    return out


def _cells(row: Sequence[float] | None, widths: Sequence[int]) -> float:
    return 64.0 if row is None else 1 + sum(c * (w - 1) for c, w in zip(row, widths, strict=True))


def _product(facts: RegionFacts, s: StatementFacts, d: Multiply) -> Traits:
    names = facts.scop.statement(s.name).iterators
    sizes = dict(zip(names, s.extents, strict=True))
    rows, columns, depth = (prod(sizes.get(n, 1) for n in group) for group in (d.rows, d.columns, d.depth))
    how, out = d.how, {"in products": 1.0}
    if isinstance(how, Blocking):
        out |= _blocked(facts, how, (rows, columns, depth))
    elif isinstance(how, MatrixVector):
        out |= _matrix_vector(facts, how, (rows * columns, depth))
    return out


def _blocked(facts: RegionFacts, how: Blocking, sizes: tuple[int, int, int]) -> Traits:
    machine, (rows, columns, depth) = facts.machine, sizes
    lanes = max(1, how.bits // (8 * facts.elem))
    mc, kc, nc = min(how.mc, rows), min(how.kc, depth), min(how.nc, columns)
    live = how.mr * how.nv + how.nv + -(-how.mr // lanes)
    wide = how.nv * lanes
    out = {
        "p live": live / machine.registers,
        "p tile": _log(how.mr * how.nv),
        "p rows": _log(how.mr),
        "p vectors": float(how.nv),
        "p loads": (how.nv + how.mr / lanes) / (how.mr * how.nv),
        "p row rest": rows / how.mr / max(1, -(-rows // how.mr)),
        "p column rest": columns / wide / max(1, -(-columns // wide)),
        "p depth": _log(depth / kc),
        "p down": _log(rows / mc),
        "p along": _log(columns / nc),
        "p kc": _log(kc),
        "p mc": _log(mc),
        "p run": _log(min(how.run, columns)) if how.run else -1.0,
        "p packed": float(rows * columns * depth > how.direct),
        "p spread": float(how.spread),
        "p on threads": float(rows * columns * depth >= how.threads),
    }
    fills = ((1, kc * wide), (2, mc * kc), (3, nc * kc))
    out |= {f"p fills {k}": _fill(machine, k, n * facts.elem) for k, n in fills}
    if how.run:
        out["p run fills"] = _fill(machine, 2, min(how.run, columns) * kc * facts.elem)
    return out


def _matrix_vector(facts: RegionFacts, how: MatrixVector, sizes: tuple[int, int]) -> Traits:
    rows, depth = sizes
    out = {
        "v streams": _log(how.streams),
        "v vectors": _log(how.vectors),
        "v ahead": how.ahead / 64,
        "v near": float(rows * depth <= how.near),
        "v direct": float(rows * depth < how.direct),
        "v threads": float(rows * depth >= how.threads),
        "v blocks": _log(max(rows, depth) / max(1, how.block)),
        "v in lanes": float(how.form == "lanes"),
        "v matrix": _fill(facts.machine, 3, rows * depth * facts.elem),
    }
    return out | {f"v fills {k}": _fill(facts.machine, k, how.block * facts.elem) for k in (1, 2)}


def _fill(machine: Machine, level: int, bytes_: float) -> float:
    cache = machine.cache(level)
    return _log(bytes_ / cache.bytes) if cache is not None else 0.0


def _directives(directives: Sequence[Directive]) -> Traits:
    kinds = Counter(type(d) for d in directives)
    panels = [d.size for d in directives if isinstance(d, StripMine)]
    out = {f"n {kind.__name__}": float(kinds[kind]) for kind in COUNTED}
    out["panels"] = _log(panels[0]) if panels else 0.0
    return out


def surroundings(facts: RegionFacts) -> Traits:
    """What all plans of a region have in common."""
    machine = facts.machine
    return {
        "s bytes": _log(facts.elem),
        "s lanes": _log(machine.lanes(facts.elem)),
        "s registers": _log(machine.registers),
        "s threads": _log(facts.threads),
        "s statements": float(len(facts.statements)),
        "s work": _log(facts.work),
        **{f"s data {k}": _fill(machine, k, facts.bytes) for k in (1, 2, 3)},
    }


def _log(x: float) -> float:
    return log2(max(x, 2.0**-20))


def names_of(rows: Sequence[Traits]) -> tuple[str, ...]:
    """All traits that any of these plans has, in a fixed order."""
    return tuple(sorted({name for row in rows for name in row}))


def vector(plan: Traits, default: Traits, around: Traits, names: Sequence[str]) -> list[float]:
    """What the trees are asked: traits less those of the default plan, and the surroundings."""
    return [around[n] if n in around else plan.get(n, 0.0) - default.get(n, 0.0) for n in names]
