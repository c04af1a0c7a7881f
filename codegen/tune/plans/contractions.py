"""Translates between plans and loop trees: the only product of a plan as a contraction (None where there is none), the
plan that carries a tree out, and the trees that a plan carries out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.checking.test_sizes.ranges import fixed
from codegen.checking.test_sizes.survey import extents
from codegen.lower.nest.exact import lying_apart, nest_of, problem_of
from codegen.plan.model import Multiply, Plan
from codegen.record import record
from codegen.scop.product import Blocking, Exact, MatrixVector, Nested
from codegen.scop.tree import Band, statements, walk
from codegen.transform.product import backwards
from codegen.tune.contraction import TENSORS, Contraction, strides
from codegen.tune.plans.bases import Base
from codegen.tune.tree import Tree, start


@record
class Sole:
    """The one product of a plan: where its directive stands, and the contraction at the sizes that are measured."""

    at: int
    directive: Multiply
    how: Blocking
    problem: Contraction


def sole_product(base: Base, values: Mapping[str, int]) -> Sole | None:
    """The product of a plan that has one, a sum of products of two arrays' elements; `values` are the parameters."""
    found = [(k, d) for k, d in enumerate(base.plan.directives) if isinstance(d, Multiply)]
    if len(found) != 1:
        return None
    at, d = found[0]
    if not isinstance(d.how, Blocking):
        return None
    scop = base.program.scop
    s = scop.statement(d.stmt)
    band = _products(base)[d.stmt]
    assert band.product is not None
    what = band.product.what
    if any(backwards(s, lp) for lp in band.loops):
        return None
    sizes = extents(fixed(s.domain, scop, values))
    inner = tuple((name, sizes[name]) for name in (s.iterators[k] for k in sorted(what.inner)) if name in sizes)
    problem = problem_of(scop, s, what, inner) if not what.outer else None
    apart = lying_apart(scop, s, what) if not what.outer else None
    if apart is not None and (problem is None or not _same_layout(apart, problem)):
        problem = apart
    return Sole(at, d, d.how, problem) if problem is not None else None


def _same_layout(x: Contraction, y: Contraction) -> bool:
    return all(strides(x, t) == strides(y, t) for t in TENSORS)


def _products(base: Base) -> dict[str, Band]:
    """The products of a plan, by their statements."""
    return {statements(b)[0]: b for _, b in walk(base.program.tree) if isinstance(b, Band) and b.product is not None}


def planned(base: Base, sole: Sole, tree: Tree) -> Plan:
    """The plan with the loops of a tree for the tree's sizes; all other sizes stay as they are. Where the tree is about
    elements that lie apart, sizes are constants, and there are no others."""
    mine, how = nest_for(tree), sole.how
    others = tuple(x for x in how.exact if x.sizes != mine.sizes)
    new = Nested(how.isa, how.bits, (mine,)) if mine.strides else replace(how, exact=(*others, mine))
    directives = list(base.plan.directives)
    directives[sole.at] = replace(sole.directive, how=new)
    return replace(base.plan, directives=tuple(directives))


def nest_for(tree: Tree) -> Exact:
    """What a plan says of a tree."""
    problem = tree.problem
    apart = tuple(tuple((n, x) for n, x in strides(problem, t).items() if x) for t in TENSORS)
    return Exact(tuple((x.var, x.size, x.tail, x.pack) for x in tree.compute), apart if problem.strides else ())


def trees_of(base: Base) -> tuple[Tree, ...]:
    """The trees that a plan carries out for certain sizes."""
    found = []
    for stmt, band in _products(base).items():
        product = band.product
        if product is not None and not isinstance(product.how, MatrixVector):
            s = base.program.scop.statement(stmt)
            nests = [nest_of(base.program.scop, s, product.what, x) for x in product.how.exact]
            found += [start(n.problem)._replace(compute=n.compute) for n in nests]
    return tuple(found)
