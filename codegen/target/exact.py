"""Products whose plan has a nest for certain sizes: that nest as a kernel, and what it needs of the product."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import islpy as isl

from codegen.recognize.strides import coefficients
from codegen.scop.expr import Ref
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.product import Blocking, Contraction, Exact
from codegen.target.isa.load import load as load_isa
from codegen.target.nest import contraction as problems
from codegen.target.nest.emit import check
from codegen.target.nest.loops import Loop, check_nest, show_nest
from codegen.target.nest.product import KEPT, Nest, NestKernel
from codegen.target.nest.schedule import schedule

STEP = "add(acc, mul(a, b))"


def operands(s: Statement, what: Contraction) -> tuple[int, int]:
    """The accesses that are the left and the right operand."""
    left, right = what.step.left[0], what.step.right[0]
    assert isinstance(left, Ref) and isinstance(right, Ref)
    return left.access, right.access


def problem_of(s: Statement, what: Contraction, sizes: Sequence[tuple[str, int]]) -> problems.Contraction | None:
    """The product as a contraction of these sizes in dense arrays; None where it is not of that kind."""
    step = what.step
    plain = all(len(side) == 1 and isinstance(side[0], Ref) for side in (step.left, step.right))
    single = len(what.rows) == len(what.columns) == len(what.depth) == 1
    if not plain or not single or step.careful or str(step.lane) != STEP or step.elem not in ("f32", "f64"):
        return None
    a, b = operands(s, what)
    inner = {s.iterators[d] for d in what.inner}
    texts = [_subscripts(s, s.accesses[k], inner) for k in (a, b, s.target)]
    if any(t is None for t in texts) or {n for n, _ in sizes} != inner:
        return None
    if s.accesses[s.target].array in {s.accesses[k].array for k in (a, b)}:
        return None
    try:
        left, right, target = (t or () for t in texts)
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


def nest_of(s: Statement, what: Contraction, x: Exact) -> Nest:
    """The nest with its contraction. ValueError says what is wrong with it."""
    compute = tuple(Loop(*loop) for loop in x.loops)
    problem = problem_of(s, what, tuple(x.sizes.items()))
    if problem is None:
        names = ", ".join(s.iterators[d] for d in what.inner)
        raise ValueError(f"it takes a sum of products of two other arrays' elements over {names}")
    check_nest(compute, problem)
    return Nest(problem, compute)


def exact_kernel(s: Statement, what: Contraction, how: Blocking, x: Exact) -> NestKernel:
    """The kernel of a nest that `unfit` has nothing against."""
    nest, isa = nest_of(s, what, x), load_isa(how.isa, how.bits)
    text = f"{problems.show(nest.problem)} : {show_nest(nest.compute)}"
    sizes = "x".join(str(n) for _, n in nest.problem.sizes)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return NestKernel(f"{isa.prefix}_nest_{nest.problem.elem}_{sizes}_{digest}", nest)


def unfit(scop: Scop, s: Statement, what: Contraction, how: Blocking, x: Exact) -> str:
    """What is wrong with a nest for certain sizes; empty when nothing is."""
    try:
        nest = nest_of(s, what, x)
        check(schedule(nest, load_isa(how.isa, how.bits)), KEPT)
    except ValueError as error:
        return f"this is no nest for {s.name}: {error}"
    if not all(_in_one_piece(scop, s.accesses[k], nest.problem) for k in (*operands(s, what), s.target)):
        return f"this is no nest for {s.name}: its arrays must be of one type, each in one piece"
    return ""


def _in_one_piece(scop: Scop, access: Access, problem: problems.Contraction) -> bool:
    """An array of the contraction's type in one piece of memory, so that two of its rows tell where all are."""
    array = scop.arrays[access.array]
    same = array.elem.kind == "float" and array.elem.bits == int(problem.elem[1:])
    return same and array.depth <= 1 and all(step.kind in ("sub", "flat") for step in access.path)
