"""Profitability of products: says why a statement that could be a matrix or matrix-vector product stays a plain loop
nest (tests that skip zeros, few steps, no vector multiply, units busy anyway, a matrix read once more); the reason is
empty where the product pays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import islpy as isl

from codegen.isa.model import Vec
from codegen.machine import Machine
from codegen.machine.operations import chain
from codegen.recognize.access.domain_shape import extent, most_instances
from codegen.recognize.products.contraction import unit_stride
from codegen.recognize.products.matrix_vector import layout
from codegen.scop.expr import Affine, Binary, Cast, Expr, Ref, Ternary, walk
from codegen.scop.lanes import walk as parts_of
from codegen.scop.model import Scop, Statement
from codegen.scop.product import Contraction
from codegen.scop.tree import Node, enclosing, statements
from codegen.strategy.cost.cycles import ACCESSES, PEELED
from codegen.transform.program import Program

if TYPE_CHECKING:
    from codegen.strategy.orders.distribution import ProductNest

SPARE = 0.6  # of the time that a step takes in its units: where loads and stores take less, tiles gain nothing
Find = Callable[[str, int], "Contraction | None"]


def skips(s: Statement) -> bool:
    """Does an `if` of the source switch its innermost loop off as a whole? Somebody who writes that expects many zeros;
    a product would go through all of them."""
    choices = (e for e in walk(s.rhs) if isinstance(e, Ternary) and e.branch)
    return any(not _varies(s, part) for e in choices for part in _conditions(e.cond))


def _conditions(cond: Expr) -> tuple[Expr, ...]:
    """What has to hold, each part by itself: compilers ask for what does not change in a loop ahead of it."""
    if isinstance(cond, Binary) and cond.op == "&&":
        return (*_conditions(cond.left), *_conditions(cond.right))
    return (cond,)


def too_small(s: Statement, what: Contraction, direct: int) -> str:
    """Why a product of known sizes stays a plain nest, or becomes part of a longer one: it has fewer steps than
    `direct`. dct-8x8: 0.142 s in products of 8 x 8 x 8, 0.074 in products that take a row of blocks together."""
    around = [d for d in range(len(s.iterators)) if d not in what.inner]
    steps = most_instances(s, around)
    few = steps is not None and steps < direct
    return f"it never has more than {steps} steps, and the plain nest is faster" if few else ""


def written_out(s: Statement, what: Contraction) -> str:
    """Why a product stays a plain nest: its columns (rows of a matrix-vector product) and steps are the source's two
    innermost loops, and so few that compilers write them out, with the right operand in registers; packing and edges
    take longer. Rows of 4, 8, 12 and 16 by as many columns on a Neoverse N1: 0.5 to 0.9 of the speed of gcc's own code
    as a product, of 24 and 32 2.3 to 2.9. Where the right operand's columns do not lie side by side, compilers have no
    vectors for sums in their order: 16 x 16 (dct-rows) is 1.66 times as fast as a product."""
    last, dims = len(s.iterators), {*(what.columns or what.rows), *what.depth}
    if dims != {last - 2, last - 1}:
        return ""
    most = [extent(s, d, range(d)) for d in sorted(dims)]
    few = PEELED if all(_in_lines(s, d) for d in what.columns) else PEELED // 2
    if not all(n is not None and n <= few for n in most):
        return ""
    return f"compilers write out {' x '.join(map(str, most))} steps"


def _in_lines(s: Statement, d: int) -> bool:
    """Does an iterator move accesses by their last subscripts alone?"""
    for a in s.accesses:
        others = (a.index.get_pw_aff(k) for k in range(a.index.dim(isl.dim_type.out) - 1))
        if any(x.involves_dims(isl.dim_type.in_, d, 1) for x in others):
            return False
    return True


def needs_wide_product(scop: Scop, s: Statement, what: Contraction, vec: Vec) -> str:
    """Why a product of narrow integers in a wide type stays a plain nest: the instruction set has no multiplication in
    that type, while compilers know one that widens. fixed-globals (int32_t into int64_t, neon): 0.41 of the speed of
    gcc's own code as a product, because each lane is multiplied by itself."""
    if what.step.elem not in ("i64", "u64") or " * " not in vec.op("mul"):
        return ""
    if what.step.narrow and vec.op("long_fma"):
        return ""
    if "mul" not in {x.op for x in parts_of(what.step.lane)}:
        return ""
    read = [e for side in (what.step.left, what.step.right) for e in side]
    bytes_ = [scop.arrays[s.accesses[e.access].array].elem.bytes for e in map(_uncast, read) if isinstance(e, Ref)]
    if len(bytes_) < len(read) or max(bytes_) > 4:
        return ""
    return f"there is no vector multiplication in {what.step.elem}, but one from narrower elements in a plain nest"


def busy_units(scop: Scop, s: Statement, what: Contraction, machine: Machine) -> str:
    """Why a product stays a plain nest: vectors along the source's innermost loop keep the same units busy as tiles
    would, and what they load and store takes far less. mttkrp, i32 on a Neoverse N1, two multiplications for each step
    in the one unit that has them, 4 cycles beside 2: 0.92 of the speed of gcc's own code as a product; gemm-at, 2
    cycles beside 1.5: 1.11."""
    last = len(s.iterators) - 1
    if last not in what.columns or what.step.narrow:
        return ""
    moving = [k for k in range(len(s.accesses)) if _moves(s.accesses[k].index, last)]
    if not all(unit_stride(scop, s, k, last) for k in moving):
        return ""
    names = [x.op for x in parts_of(what.step.lane) if x.args]
    if not set(names) <= {"add", "sub", "mul"}:
        return ""
    tiles = 1 / float(chain(machine, what.step.elem, names[::-1]).throughput)
    spare = len(moving) / ACCESSES <= SPARE * tiles
    return "vectors along the source's innermost loop keep the same units as busy" if spare else ""


def _uncast(e: Expr) -> Expr:
    while isinstance(e, Cast):
        e = e.arg
    return e


def _varies(s: Statement, cond: Expr) -> bool:
    """Does a condition depend on the innermost loop?"""
    last = len(s.iterators) - 1
    for e in walk(cond):
        if isinstance(e, Ref) and _moves(s.accesses[e.access].index, last):
            return True
        if isinstance(e, Affine) and s.values[e.value].involves_dims(isl.dim_type.in_, last, 1):
            return True
    return False


def _moves(index: isl.MultiPwAff, d: int) -> bool:
    return any(index.get_pw_aff(k).involves_dims(isl.dim_type.in_, d, 1) for k in range(index.dim(isl.dim_type.out)))


def unwanted(p: Program, parts: Sequence[Node], nests: Sequence[ProductNest], find: Find) -> dict[str, str]:
    """By statement, why it should not stand in a nest of its own after all. `parts` make up the region's tree."""
    out: dict[str, str] = {}
    mine = {n.stmt for n in nests}
    for nest in nests:
        what = find(nest.stmt, nest.depth)
        if what is None or what.columns:
            continue
        s = p.scop.statement(nest.stmt)
        if nest.depth:
            beside = next(statements(x) for x in parts if nest.stmt in statements(x))
            why = _held_back(p, s, [n for n in beside if n not in mine])
        else:
            why = _read_twice(p, s, what, mine)
        if why:
            out[nest.stmt] = why
    return out


def _held_back(p: Program, s: Statement, others: Sequence[str]) -> str:
    """Below shared loops the rest keeps the source's order; as deep a nest would rather have an order of its own.

    lu, 2000 x 2000: 31 s with the product of its upper part, 15.5 s without.
    """
    deep = [n for n in others if len(p.scop.statement(n).iterators) >= len(s.iterators)]
    return f"{deep[0]} in the same loops has as much work and would keep the source's order" if deep else ""


def _read_twice(p: Program, s: Statement, what: Contraction, mine: set[str]) -> str:
    """Along the result the source's own loop is nearly as fast, and where compilers may sum up in any order; in a nest
    apart it reads the matrix once more. Where the matrix is made in the same loop, the rest is better off alone:
    smith-waterman has no threads otherwise."""
    matrices = {s.accesses[e.access].array for e in what.step.left if isinstance(e, Ref)}
    whole = p.scop.arrays[s.accesses[s.target].array].elem.is_int
    made = any(o.accesses[o.target].array in matrices for o in p.scop.statements)
    ordered = layout(p.scop, s, what) != "lanes" and not whole
    if layout(p.scop, s, what) != "lanes" and made:
        return ""
    own = enclosing(p.tree, s.name)
    for other in p.scop.statements:
        around = enclosing(p.tree, other.name)
        if other is s or not around or around[0] is not own[0] or other.name in mine:
            continue
        common = matrices.intersection(a.array for a in other.accesses)
        if common and (not ordered or (around[-1] is own[-1] and _waits(p, other))):
            return f"{other.name} in the same loop uses `{min(common)}`, which would be read once more"
    return ""


def _waits(p: Program, s: Statement) -> bool:
    """Does a statement go on with its own last result along its innermost loop? Then the loop takes as long without the
    product in it, which waits meanwhile: extremes, with its minimum apart, takes 1.4 of its time as written."""
    target = s.accesses[s.target]
    own = any(a.array == target.array for a in s.reads)
    return own and not _moves(target.index, len(s.iterators) - 1)
