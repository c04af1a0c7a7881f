"""Trees and plans, both ways: a product of constant sizes in exactly the order of a tree."""

from __future__ import annotations

from dataclasses import replace

from codegen.plan.model import Multiply
from codegen.recognize.pitches import pitches
from codegen.scop.product import Contraction as Found
from codegen.scop.product import Nested
from codegen.target.isa.model import Isa
from codegen.target.nest.contraction import TENSORS, BadContraction, Contraction, strides
from codegen.target.nest.product import nest_of
from codegen.transform.nest import box, operands
from codegen.transform.program import Program
from codegen.tune.tree import Tree, start


def contraction_of(p: Program, d: Multiply, found: Found) -> Contraction | None:
    """The contraction of a product that a tree's order can be kept for, by the names of its loops; None where sizes are
    no constants, or where it is more than a sum of products of elements."""
    s = p.scop.statement(d.stmt)
    numbers = operands(p, s, found)
    sizes = box(s.domain.intersect_params(p.scop.context), found.outer, found.inner)
    if numbers is None or sizes is None:
        return None
    apart = [pitches(p.scop, s, k) for k in numbers]
    if any(x is None for x in apart):
        return None
    names = (*d.rows, *d.depth, *d.columns)
    rows = tuple(tuple(x[k] for k in found.inner) for x in apart if x is not None)
    a, b, c = (tuple(n for n, x in zip(names, row, strict=True) if x) for row in rows)
    try:
        return Contraction(tuple(zip(names, sizes, strict=True)), a, b, c, found.step.elem, rows)
    except BadContraction:
        return None


def directive(d: Multiply, tree: Tree, isa: Isa) -> Multiply:
    """The product in the order of a tree."""
    problem = tree.problem
    apart = tuple(tuple((n, x) for n, x in strides(problem, t).items() if x) for t in TENSORS)
    loops = tuple((x.var, x.size, x.tail, x.pack) for x in tree.compute)
    return replace(d, how=Nested(isa.name, isa.bits, loops, apart))


def tree_of(how: Nested, elem: str) -> Tree:
    """The tree that a plan asks for."""
    nest = nest_of(how, elem)
    return start(nest.problem)._replace(compute=nest.compute)
