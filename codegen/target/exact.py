"""Products whose plan has a nest for certain sizes: that nest as a kernel, and what it needs of the product."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import islpy as isl

from codegen.recognize.strides import coefficients
from codegen.scop.expr import Expr, Ref
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.product import Blocking, Contraction, Exact
from codegen.target.isa.load import load as load_isa
from codegen.target.nest import contraction as problems
from codegen.target.nest.emit import check
from codegen.target.nest.loops import Loop, check_nest, show_nest
from codegen.target.nest.product import KEPT, Nest, NestKernel
from codegen.target.nest.schedule import schedule

STEP = "add(acc, mul(a, b))"


Operands = tuple[int | None, int | None]


def operands(scop: Scop, s: Statement, what: Contraction) -> Operands:
    """The accesses that a kernel reads where they lie, left and right. None is for what must be computed into a buffer
    before: scaled or converted elements, and those of arrays that are not in one piece."""
    inner = {s.iterators[d] for d in what.inner}

    def lies(side: Sequence[Expr]) -> int | None:
        e = side[0]
        if not isinstance(e, Ref) or s.accesses[e.access].array == s.accesses[s.target].array:
            return None
        access = s.accesses[e.access]
        there = _in_one_piece(scop, access, what.step.elem) and _subscripts(s, access, inner) is not None
        return e.access if there else None

    return lies(what.step.left), lies(what.step.right)


def problem_of(
    scop: Scop, s: Statement, what: Contraction, sizes: Sequence[tuple[str, int]]
) -> problems.Contraction | None:
    """The product as a contraction of these sizes in dense arrays; None where it is not of that kind."""
    step = what.step
    single = all(len(x) == 1 for x in (what.rows, what.columns, what.depth, step.left, step.right))
    if not single or step.careful or str(step.lane) != STEP or step.elem not in ("f32", "f64"):
        return None
    row, depth, column = (s.iterators[x[0]] for x in (what.rows, what.depth, what.columns))
    inner = {row, depth, column}
    target = _subscripts(s, s.accesses[s.target], inner)
    if target is None or {n for n, _ in sizes} != inner or not _in_one_piece(scop, s.accesses[s.target], step.elem):
        return None
    sides = zip(operands(scop, s, what), ((row, depth), (depth, column)), strict=True)
    left, right = (_subscripts(s, s.accesses[k], inner) or () if k is not None else made for k, made in sides)
    try:
        return problems.Contraction(tuple(sizes), left, right, target, step.elem)
    except problems.BadContraction:
        return None


def _subscripts(s: Statement, access: Access, inner: set[str]) -> tuple[str, ...] | None:
    """Sums of the product's loops, one for each dimension that moves with them; None where one is anything else."""
    out = []
    for k in range(access.index.dim(isl.dim_type.out)):
        c = coefficients(access.index.get_pw_aff(k), len(s.iterators))
        if c is None:
            return None
        own = [(name, x) for name, x in zip(s.iterators, c, strict=True) if x and name in inner]
        if any(x < 0 or x.denominator != 1 for _, x in own):
            return None
        if own:
            out.append("+".join(name if x == 1 else f"{x}*{name}" for name, x in own))
    return tuple(out)


def nest_of(scop: Scop, s: Statement, what: Contraction, x: Exact) -> Nest:
    """The nest with its contraction. ValueError says what is wrong with it."""
    compute = tuple(Loop(*loop) for loop in x.loops)
    problem = problem_of(scop, s, what, tuple(x.sizes.items()))
    if problem is None:
        names = ", ".join(s.iterators[d] for d in what.inner)
        raise ValueError(f"it takes a sum of products over {names}, in an array that is in one piece")
    check_nest(compute, problem)
    return Nest(problem, compute)


def exact_kernel(scop: Scop, s: Statement, what: Contraction, how: Blocking, x: Exact) -> NestKernel:
    """The kernel of a nest that `unfit` has nothing against."""
    nest, isa = nest_of(scop, s, what, x), load_isa(how.isa, how.bits)
    text = f"{problems.show(nest.problem)} : {show_nest(nest.compute)}"
    sizes = "x".join(str(n) for _, n in nest.problem.sizes)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return NestKernel(f"{isa.prefix}_nest_{nest.problem.elem}_{sizes}_{digest}", nest)


def unfit(scop: Scop, s: Statement, what: Contraction, how: Blocking, x: Exact) -> str:
    """What is wrong with a nest for certain sizes; empty when nothing is."""
    try:
        nest = nest_of(scop, s, what, x)
        there = zip("AB", operands(scop, s, what), strict=True)
        made = sum(problems.elements(nest.problem, t) for t, k in there if k is None)
        check(schedule(nest, load_isa(how.isa, how.bits)), KEPT, made)
    except ValueError as error:
        return f"this is no nest for {s.name}: {error}"
    return ""


def _in_one_piece(scop: Scop, access: Access, elem: str) -> bool:
    """An array of this type in one piece of memory, so that two of its rows tell where all are."""
    array = scop.arrays[access.array]
    same = array.elem.kind == "float" and array.elem.bits == int(elem[1:])
    return same and array.depth <= 1 and all(step.kind in ("sub", "flat") for step in access.path)
