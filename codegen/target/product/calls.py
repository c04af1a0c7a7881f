"""Makes the call of a nest kernel for certain sizes (`ExactCall`), which stands ahead of the general product: the
run-time test of sizes and strides, the arguments, and operands that are computed into buffers first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from codegen.ast.ctree import Bin, CExpr, Int, Name
from codegen.isa.model import C_TYPES
from codegen.lower.nest.contraction import TENSORS, strides
from codegen.lower.nest.exact import operands
from codegen.lower.nest.kernel import NestKernel
from codegen.lower.nest.loops import show_nest
from codegen.recognize.access.constant_strides import constant_strides
from codegen.recognize.products.contraction import unit_stride
from codegen.scop.product import Exact
from codegen.target.product.view import ComputedOperand, ExactCall, WantedCall
from codegen.target.text.body import BodyPrinter

if TYPE_CHECKING:
    from codegen.target.product.blocked import ProductPrinter


def exact_call(p: ProductPrinter, x: Exact, kernel: NestKernel) -> ExactCall:
    """A call for products of certain sizes. Whether arrays lie as its code takes them to is seen from addresses,
    unless declarations say so."""
    problem, names = kernel.nest.problem, [p.s.iterators[d] for d in p.what.inner]
    counts = dict(problem.sizes)
    first = {lp.var: lp.lower for lp in p.loops}
    numbers = (*operands(p.scop, p.s, p.what, bool(x.strides)), p.s.target)
    bundles = (p.rows, p.depth, p.columns)
    tests = [] if x.strides else [f"{b.size} == {counts[n]}" for n, b in zip(names, bundles, strict=True)]
    for tensor, number in zip(TENSORS, numbers, strict=True):
        if number is None or (x.strides and constant_strides(p.scop, p.s, number) is not None):
            continue
        here = p._with(number, first)
        for n, d, lp in zip(names, p.what.inner, p.loops, strict=True):
            step = strides(problem, tensor)[n]
            there = p._with(number, {**first, lp.var: _plus(lp.lower, Int(1))})
            sure = there == here if not step else step == 1 and unit_stride(p.scop, p.s, number, d)
            if not sure and counts[n] > 1:
                tests.append(f"&{there} - &{here} == {step}")
    made = tuple(_made(p, k, counts) for k, n in zip(("left", "right"), numbers, strict=False) if n is None)
    buffers = ("tw_left", "tw_right", "")
    a, b, c = (f"&{p._with(n, first)}" if n is not None else x for n, x in zip(numbers, buffers, strict=True))
    order = show_nest(kernel.nest.compute)
    return ExactCall(made, " && ".join(tests), order, kernel, a, b, c, _wanted_call(p, numbers))

def _wanted_call(p: ProductPrinter, numbers: Sequence[int | None]) -> WantedCall:
    """Its parts, printed from the statement with a name for each loop."""
    what, step = p.what, p.what.step
    env: dict[str, CExpr] = {lp.var: Name(f"tw_V{k}") for k, lp in enumerate(p.loops)}
    printer, at = BodyPrinter(p.scop, p.ints, p.held), p._instance(env)
    left, right = (printer._text(e, p.s, at, 1) for e in (step.left[0], step.right[0]))
    arrays = [None if n is None else p.scop.arrays[p.s.accesses[n].array] for n in numbers]
    return WantedCall(
        C_TYPES[step.elem],
        tuple(
            (p.s.iterators[d], p.ints.text(lp.lower), p.ints.text(lp.upper))
            for d, lp in zip(what.inner, p.loops, strict=True)
        ),
        tuple(p.s.iterators[d] for d in what.depth),
        (left, right, printer.access(p.s, at, p.s.target)),
        tuple(() if a is None or len(a.extents) != a.rank else tuple(a.extents) for a in arrays),
    )

def _made(p: ProductPrinter, side: str, counts: Mapping[str, int]) -> ComputedOperand:
    """The buffer of an operand in the order of its loops."""
    what = p.what
    y, x = (p.rows, p.depth) if side == "left" else (p.depth, p.columns)
    place = {b.name: _plus(b.loops[0].lower, Name(n)) for b, n in ((y, "tw_y"), (x, "tw_x"))}
    (e,) = what.step.left if side == "left" else what.step.right
    value = p._printer(place)._text(e, p.s, p._at(place), 1)
    d = (what.rows, what.depth) if side == "left" else (what.depth, what.columns)
    rows, columns = (counts[p.s.iterators[k[0]]] for k in d)
    return ComputedOperand(f"tw_{side}", rows, columns, value)


def _plus(first: CExpr, x: CExpr) -> CExpr:
    """A sum without what adds nothing."""
    if isinstance(first, Int) and isinstance(x, Int):
        return Int(first.value + x.value)
    return x if first == Int(0) else Bin("+", first, x)
