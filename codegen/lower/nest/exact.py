"""Kernels for products of certain sizes: reads the loop nest that a plan gives for them as a contraction, and makes its
kernel (`exact_kernels`). `unfit` returns a sentence where the nest does not fit the product or its arrays, or there is
no code for it; else an empty text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import islpy as isl

from codegen.isa.load import load as load_isa
from codegen.lower.nest import contraction as problems
from codegen.lower.nest.kernel import KEPT, NestKernel, OrderedContraction, check, kernel_of
from codegen.lower.nest.loops import Loop, check_nest, show_nest
from codegen.lower.nest.schedule import schedule
from codegen.recognize.access.constant_strides import box, constant_strides
from codegen.recognize.access.strides import coefficients
from codegen.scop.expr import Expr, Ref
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.product import Blocking, Contraction, Exact, MatrixVector, Nested, Product

STEP = "add(acc, mul(a, b))"
SIDES = ("left", "right", "target")


Operands = tuple[int | None, int | None]


def operands(scop: Scop, s: Statement, what: Contraction, apart: bool = False) -> Operands:
    """The accesses that a kernel reads where they lie, left and right. None is for what must be computed into a buffer
    before: scaled or converted elements, and those of arrays that are not in one piece. `apart`: for a nest that says
    where elements lie, be it in the target's own array."""
    inner = {s.iterators[d] for d in what.inner}

    def lies(side: Sequence[Expr]) -> int | None:
        e = side[0]
        if not isinstance(e, Ref) or not _in_one_piece(scop, s.accesses[e.access], what.step.elem):
            return None
        access = s.accesses[e.access]
        own = access.array == s.accesses[s.target].array or _subscripts(s, access, inner) is None
        return e.access if apart or not own else None

    return lies(what.step.left), lies(what.step.right)


def problem_of(
    scop: Scop, s: Statement, what: Contraction, sizes: Sequence[tuple[str, int]]
) -> problems.Contraction | None:
    """The product as a contraction of these sizes in dense arrays; None where it is not of that kind."""
    step = what.step
    if not _plain(what) or any(len(x) != 1 for x in (what.rows, what.columns, what.depth)):
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


def lying_apart(scop: Scop, s: Statement, what: Contraction) -> problems.Contraction | None:
    """The contraction of a product whose sizes, and distances of elements, are all numbers; else None."""
    sizes = box(s.domain.intersect_params(scop.context), what.outer, what.inner)
    numbers = _places(scop, s, what)
    apart = [constant_strides(scop, s, k) for k in numbers]
    if sizes is None or not apart or any(x is None for x in apart):
        return None
    names = [s.iterators[k] for k in what.inner]
    rows = tuple(tuple(x[k] for k in what.inner) for x in apart if x is not None)
    a, b, c = (tuple(n for n, x in zip(names, row, strict=True) if x) for row in rows)
    try:
        return problems.Contraction(tuple(zip(names, sizes, strict=True)), a, b, c, what.step.elem, rows)
    except problems.BadContraction:
        return None


def _places(scop: Scop, s: Statement, what: Contraction) -> list[int]:
    """The accesses of left, right and target, all elements of arrays; nothing where they are more than that."""
    numbers = [k for k in (*operands(scop, s, what, True), s.target) if k is not None]
    inside = any(scop.arrays[s.accesses[k].array].inside for k in numbers)
    lies = len(numbers) == len(SIDES) and not inside and _in_one_piece(scop, s.accesses[s.target], what.step.elem)
    return numbers if lies and _plain(what) else []


def _plain(what: Contraction) -> bool:
    """Whether steps multiply two values and add them to the sum."""
    step = what.step
    sums = str(step.lane) == STEP and not step.careful and bool(what.columns)
    return sums and len(step.left) == len(step.right) == 1 and step.elem in ("f32", "f64")


def _apart(scop: Scop, s: Statement, what: Contraction, x: Exact) -> problems.Contraction:
    """The contraction of a nest that says where elements lie. ValueError where it is none of this product."""
    if not _places(scop, s, what):
        raise ValueError(f"{s.name} is no plain sum of products of elements")
    rows, columns, depth = ([s.iterators[k] for k in part] for part in (what.rows, what.columns, what.depth))
    a, b, c = (tuple(n for n, step in part if step) for part in x.strides)
    for have, may, side in zip((a, b, c), (rows + depth, depth + columns, rows + columns), SIDES, strict=True):
        if not set(have) <= set(may):
            raise ValueError(f"{side} does not move with {', '.join(sorted(set(have) - set(may)))}")
    if set(x.sizes) != {*rows, *depth, *columns} or set(c) != {*rows, *columns}:
        raise ValueError(f"it must have the loops {', '.join((*rows, *depth, *columns))}")
    sums = [depth.index(name) for name, *_ in x.loops if name in depth]
    if sums != sorted(sums):
        raise ValueError("its sums would be added in another order")
    apart = tuple(tuple(dict(part).get(n, 0) for n in x.sizes) for part in x.strides)
    return problems.Contraction(tuple(x.sizes.items()), a, b, c, what.step.elem, apart)


def _check_numbers(scop: Scop, s: Statement, what: Contraction, x: Exact) -> None:
    """ValueError where sizes or distances are known to be others than a nest says."""
    sizes = box(s.domain.intersect_params(scop.context), what.outer, what.inner)
    if sizes is None:
        raise ValueError("the loops have no constant sizes, which distances need")
    if {s.iterators[k]: n for k, n in zip(what.inner, sizes, strict=True)} != x.sizes:
        have_them = ", ".join(f"{s.iterators[k]}:{n}" for k, n in zip(what.inner, sizes, strict=True))
        raise ValueError(f"the loops are {have_them}, not what it covers")
    for number, part, side in zip(_places(scop, s, what), x.strides, SIDES, strict=True):
        known = constant_strides(scop, s, number)
        if known is not None and any(known[k] != dict(part).get(s.iterators[k], 0) for k in what.inner):
            raise ValueError(f"the elements of {side} of {s.name} lie otherwise")


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


def nest_of(scop: Scop, s: Statement, what: Contraction, x: Exact) -> OrderedContraction:
    """The nest with its contraction. ValueError says what is wrong with it."""
    compute = tuple(Loop(*loop) for loop in x.loops)
    problem = _apart(scop, s, what, x) if x.strides else problem_of(scop, s, what, tuple(x.sizes.items()))
    if problem is None:
        names = ", ".join(s.iterators[d] for d in what.inner)
        raise ValueError(f"it takes a sum of products over {names}, in an array that is in one piece")
    check_nest(compute, problem)
    if x.strides:
        _check_numbers(scop, s, what, x)
    return OrderedContraction(problem, compute)


def exact_kernel(scop: Scop, s: Statement, what: Contraction, how: Blocking | Nested, x: Exact) -> NestKernel:
    """The kernel of a nest that `unfit` has nothing against."""
    nest, isa = nest_of(scop, s, what, x), load_isa(how.isa, how.bits)
    text = f"{problems.show(nest.problem)} : {show_nest(nest.compute)}"
    sizes = "x".join(str(n) for _, n in nest.problem.sizes)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return kernel_of(f"{isa.prefix}_nest_{nest.problem.elem}_{sizes}_{digest}", nest, isa)


def exact_kernels(scop: Scop, product: Product) -> tuple[NestKernel, ...]:
    """The kernels of all nests that a product has."""
    what, how = product.what, product.how
    if isinstance(how, MatrixVector):
        return ()
    return tuple(exact_kernel(scop, scop.statement(what.stmt), what, how, x) for x in how.exact)


def unfit(scop: Scop, s: Statement, what: Contraction, how: Blocking | Nested, x: Exact) -> str:
    """What is wrong with a nest for certain sizes; empty when nothing is."""
    try:
        nest = nest_of(scop, s, what, x)
        there = zip("AB", operands(scop, s, what, bool(x.strides)), strict=True)
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
