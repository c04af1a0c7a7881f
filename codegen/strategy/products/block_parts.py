"""What becomes of a region's statements once its loops run in blocks: which of them stay together, the order of those,
and which are products within a block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isqrt

import islpy as isl

from codegen.machine import Machine
from codegen.recognize.access.strides import coefficients
from codegen.recognize.products.contraction import NoContraction, contraction
from codegen.scop.dependences import Dependence, Dependences
from codegen.scop.distance import same_value
from codegen.scop.model import Scop, Statement
from codegen.scop.product import Contraction
from codegen.scop.tree import Loop, enclosing
from codegen.strategy.orders.distribution import only, part, strongly_connected
from codegen.strategy.orders.isl_schedule import isl_schedule, rename
from codegen.strategy.orders.reshape import arranged
from codegen.strategy.orders.row_loops import value_of
from codegen.strategy.products.copies import meets
from codegen.strategy.products.independent import independent
from codegen.strategy.products.matrix_vector import CACHE_BYTES, reason_against
from codegen.transform.program import Program, make_program

ROWS_EACH = 64  # rows of a matrix for each thread that shares its product with a vector


def size(scop: Scop, deep: Sequence[Statement], machine: Machine) -> int:
    """Iterations in a block: a square of results, which everything in a panel goes through, fills half of the first
    cache."""
    widest = max(scop.arrays[a.array].elem.bytes for s in deep for a in s.accesses)
    first = machine.cache(1)
    side = int(((first.bytes if first else 1 << 15) / 2 / widest) ** 0.5)
    return max(8, side // 8 * 8)


def wide(scop: Scop, deep: Sequence[Statement], machine: Machine) -> int:
    """Iterations in a block around blocks of `size`, whose product with a vector is shared out to threads while the
    triangle in it is not: n iterations in blocks of b start threads n / b times and spend n * b / 2 steps in triangles,
    which is least where the triangle of a block takes about as long as starting threads. Few threads have enough with
    less, and lines in triangles are short.

    Triangular solves, f64, milliseconds. 16 x86-64 cores, blocks of 40 alone, in 120, 240 and 480: n = 1000: 0.144,
    0.090, 0.071, 0.088; 2000: 0.42, 0.25, 0.20, 0.25; 8000: 12.4, 3.4, 2.9, 3.1. Neoverse N1, n = 2000, blocks of 64
    alone, in 128 and 256: on one core 0.811, 0.825, 0.836, on two 0.69, 0.58, 0.58."""
    widest = max(scop.arrays[a.array].elem.bytes for s in deep for a in s.accesses)
    short = size(scop, deep, machine)
    rows = isqrt(2 * machine.parallel_overhead_cycles * CACHE_BYTES // widest)
    return max(2, round(min(rows, ROWS_EACH * machine.cores) / short)) * short


def apart_of(scop: Scop, s: Statement, value: isl.PwAff, cuts: int = 0) -> tuple[isl.PwAff, ...]:
    """The iterators that the source compares with the loop: inside its block, what they say is settled there. The last
    ones, so many as there were `cuts` before, count blocks."""
    known = s.domain.intersect_params(scop.context)
    sign = sum(coefficients(value, len(s.iterators)) or ())
    loop = next(k for k, c in enumerate(coefficients(value, len(s.iterators)) or ()) if c)
    out = []
    for k in range(len(s.iterators) - cuts):
        own = value_of(s, k) if sign > 0 else value_of(s, k).neg()
        if known.is_subset(own.eq_set(value)):
            continue
        both = isl.Map.from_pw_aff(own).intersect_domain(known).flat_range_product(isl.Map.from_pw_aff(value)).range()
        box = (
            both.project_out(isl.dim_type.set, 1, 1)
            .insert_dims(isl.dim_type.set, 1, 1)
            .intersect(both.project_out(isl.dim_type.set, 0, 1).insert_dims(isl.dim_type.set, 0, 1))
        )
        if not box.is_subset(both) or meets(scop, s, k, loop):
            out.append(own)
    return tuple(out)


def product_in_blocks(q: Program, name: str, blocks: Sequence[Loop], machine: Machine) -> Contraction | None:
    """The product that a piece is within one block, or within one of each of several kinds."""
    s, first = q.scop.statement(name), len(enclosing(q.tree, name))
    if len(s.iterators) != first + len(blocks):
        return None  # cut in other ways, too
    try:
        found = contraction(q.scop, s, range(first, len(s.iterators)), q.reassociate)
    except NoContraction:
        return None
    if len(found.outer) > len(blocks) or (found.columns and not (found.step.left and found.step.right)):
        return None
    if not found.columns and reason_against(q, s, found, machine):
        return None
    return found if independent(q, s, found, blocks, product_loops(q, found)) else None


def product_loops(q: Program, what: Contraction) -> tuple[Loop, ...]:
    """The loops of a product: rows and columns upwards, the depth as in the source."""
    s = q.scop.statement(what.stmt)
    source = enclosing(q.tree, s.name)
    values = {d: source[d].exprs[s.name] if d in what.depth else value_of(s, d) for d in what.inner}
    return tuple(Loop(s.iterators[d], {s.name: value}) for d, value in values.items())


def groups_within(q: Program, names: Sequence[str], blocks: Sequence[Loop]) -> list[tuple[str, ...]]:
    """The statements by what depends on each other in a circle within one block of each kind, in order."""
    ties = q.must
    for lp in blocks:
        ties = same_value(ties, lp.exprs)
    return _kept_together(q, strongly_connected(q.scop, ties, names))


def _kept_together(q: Program, groups: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Groups that pass on a variable of the region, which has one object in memory, become one."""
    for name in sorted(n for n, a in q.scop.arrays.items() if a.inside):
        users = {s.name for s in q.scop.statements if any(a.array == name for a in s.accesses)}
        where = [k for k, g in enumerate(groups) if users & set(g)]
        if len(where) > 1:
            first, past = where[0], where[-1] + 1
            groups = [*groups[:first], tuple(n for g in groups[first:past] for n in g), *groups[past:]]
    return groups


def arranged_within(q: Program, names: tuple[str, ...], blocks: Sequence[Loop], fusion: str) -> Program:
    """What shares a component within one block of each kind: the scheduler's order for that."""
    deps = q.deps
    for lp in blocks:
        deps = _within(deps, lp)
    scop, deps = part(q.scop, deps, names)
    inner = make_program(scop, deps, only(q.tree, names), q.reassociate)
    tree = isl_schedule(scop, deps, inner.tree, fusion)
    return arranged(inner, rename(scop, tree, frozenset(lp.name for lp in blocks)))


def _within(deps: Dependences, outer: Loop) -> Dependences:
    """Dependences between instances of one block."""

    def cut(m: isl.UnionMap) -> isl.UnionMap:
        return same_value(m, outer.exprs)

    return replace(
        deps,
        all=tuple(Dependence(d.kind, d.array, cut(d.relation)) for d in deps.all),
        folds={a: cut(m) for a, m in deps.folds.items()},
        flows={a: cut(m) for a, m in deps.flows.items()},
    )
