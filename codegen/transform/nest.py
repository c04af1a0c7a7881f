"""What a product in the order of a given nest must fulfil, whoever wrote the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from codegen.plan.model import Multiply
from codegen.recognize.matvec import same_type
from codegen.recognize.pitches import pitches
from codegen.recognize.strides import coefficients
from codegen.scop.expr import Ref
from codegen.scop.model import Statement
from codegen.scop.product import Contraction, Nested
from codegen.scop.tree import Loop
from codegen.target.nest.product import Nest, nest_of
from codegen.transform.find import illegal
from codegen.transform.matvec import has_width
from codegen.transform.program import Program

STEP = "add(acc, mul(a, b))"


def check_nested(
    p: Program, s: Statement, found: Contraction, d: Multiply, how: Nested, loops: Mapping[str, Loop]
) -> None:
    """Elements are multiplied and added, sizes are those of the plan, and the sums keep their order."""
    if not has_width(how.isa, how.bits):
        raise illegal(f"{how.isa} has no vectors of {how.bits} bits for {d.stmt}", d.loc)
    numbers = operands(p, s, found)
    if numbers is None:
        raise illegal(f"{d.stmt} is no plain sum of products of elements, which a nest needs", d.loc)
    try:
        nest = nest_of(how, found.step.elem)
    except ValueError as error:
        raise illegal(f"this is no nest for {d.stmt}: {error}", d.loc) from None
    _names(nest, d)
    _order(nest, d)
    for n in (*d.rows, *d.depth, *d.columns):
        if sum(coefficients(loops[n].exprs[s.name], len(s.iterators)) or ()) < 0:
            raise illegal(f"loop {n} of {d.stmt} runs backwards", d.loc)
    _sizes(p, s, found, nest, d)
    for number, part, side in zip(numbers, how.pitches, ("left", "right", "target"), strict=True):
        known = pitches(p.scop, s, number)
        where = dict(zip((*d.rows, *d.depth, *d.columns), found.inner, strict=True))
        if known is not None and {n: known[where[n]] for n in where} != {**dict.fromkeys(where, 0), **dict(part)}:
            raise illegal(f"the elements of {side} of {d.stmt} lie otherwise than the nest says", d.loc)


def operands(p: Program, s: Statement, found: Contraction) -> tuple[int, int, int] | None:
    """The accesses of left, right and target, where a step is nothing but their product and sum; else None."""
    step = found.step
    sides = (*step.left, *step.right)
    if str(step.lane) != STEP or step.consts or step.careful or not found.columns:
        return None
    if len(sides) != 2 or not all(isinstance(e, Ref) for e in sides):
        return None
    numbers = (*(e.access for e in sides if isinstance(e, Ref)), s.target)
    arrays = [p.scop.arrays[s.accesses[k].array] for k in numbers]
    plain = all(x.kind in ("sub", "flat") for k in numbers for x in s.accesses[k].path)
    if not plain or any(a.inside or a.depth > 1 or not same_type(a.elem, step.elem) for a in arrays):
        return None
    return numbers[0], numbers[1], numbers[2]


def _names(nest: Nest, d: Multiply) -> None:
    """Each array moves with the loops that the product says, and each loop is there."""
    problem = nest.problem
    want = (set(d.rows) | set(d.depth), set(d.columns) | set(d.depth), set(d.rows) | set(d.columns))
    for have, may, side in zip((problem.a, problem.b, problem.c), want, ("left", "right", "target"), strict=True):
        if not set(have) <= may:
            raise illegal(f"{side} of {d.stmt} does not move with {', '.join(sorted(set(have) - may))}", d.loc)
    if set(problem.names) != {*d.rows, *d.depth, *d.columns} or set(problem.c) != want[2]:
        raise illegal(f"the nest must have the loops {', '.join((*d.rows, *d.depth, *d.columns))}", d.loc)


def _order(nest: Nest, d: Multiply) -> None:
    """Pieces of one loop always follow each other; of several, an outer one must stay around an inner one."""
    depths = [d.depth.index(loop.var) for loop in nest.compute if loop.var in d.depth]
    if depths != sorted(depths):
        raise illegal(f"the sums of {d.stmt} would be added in another order", d.loc)


def _sizes(p: Program, s: Statement, found: Contraction, nest: Nest, d: Multiply) -> None:
    extents = box(s.domain.intersect_params(p.scop.context), found.outer, found.inner)
    names = (*d.rows, *d.depth, *d.columns)
    if extents is None:
        raise illegal(f"the loops of {d.stmt} have no constant sizes, which a nest needs", d.loc)
    if dict(zip(names, extents, strict=True)) != dict(nest.problem.sizes):
        have = ", ".join(f"{n}:{x}" for n, x in zip(names, extents, strict=True))
        raise illegal(f"the loops of {d.stmt} are {have}, not what the nest covers", d.loc)


def box(domain: isl.Set, outer: Sequence[int], inner: Sequence[int]) -> tuple[int, ...] | None:
    """How many values each inner iterator has, if these are the same numbers everywhere."""
    ends = []
    around = domain
    for k in inner:
        low, high = domain.dim_min_val(k), domain.dim_max_val(k)
        if not (low.is_int() and high.is_int()):
            return None
        ends.append((low, high))
        around = around.drop_constraints_involving_dims(isl.dim_type.set, k, 1)
    whole = around
    for k, (low, high) in zip(inner, ends, strict=True):
        whole = whole.lower_bound_val(isl.dim_type.set, k, low).upper_bound_val(isl.dim_type.set, k, high)
    if not whole.is_equal(domain):
        return None
    return tuple(int(high.sub(low).to_python()) + 1 for low, high in ends)
