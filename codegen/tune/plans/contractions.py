"""Loop trees and plans: a region's product as a contraction, the plan that carries a tree out, the trees of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.plan.model import Multiply, Plan
from codegen.record import record
from codegen.scop.product import Blocking, Exact, Product
from codegen.scop.tree import Band, statements, walk
from codegen.target.exact import nest_of, problem_of
from codegen.tune.contraction import Contraction
from codegen.tune.plans.bases import Base
from codegen.tune.tree import Tree, start
from codegen.verify.check_ranges import fixed
from codegen.verify.check_survey import extents


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
    what = _products(base)[d.stmt].what
    sizes = extents(fixed(s.domain, scop, values))
    inner = tuple((name, sizes[name]) for name in (s.iterators[k] for k in sorted(what.inner)) if name in sizes)
    problem = problem_of(s, what, inner) if not what.outer else None
    return Sole(at, d, d.how, problem) if problem is not None else None


def _products(base: Base) -> dict[str, Product]:
    """The products of a plan, by their statements."""
    bands = [n for _, n in walk(base.program.tree) if isinstance(n, Band)]
    return {statements(b)[0]: b.product for b in bands if b.product is not None}


def planned(base: Base, sole: Sole, tree: Tree) -> Plan:
    """The plan with the loops of a tree for the tree's sizes; all other sizes stay as they are."""
    mine = Exact(tuple((x.var, x.size, x.tail, x.pack) for x in tree.compute))
    new = replace(sole.how, exact=(*(x for x in sole.how.exact if x.sizes != mine.sizes), mine))
    directives = list(base.plan.directives)
    directives[sole.at] = replace(sole.directive, how=new)
    return replace(base.plan, directives=tuple(directives))


def trees_of(base: Base) -> tuple[Tree, ...]:
    """The trees that a plan carries out for certain sizes."""
    found = []
    for stmt, product in _products(base).items():
        if isinstance(product.how, Blocking):
            s = base.program.scop.statement(stmt)
            nests = [nest_of(s, product.what, x) for x in product.how.exact]
            found += [start(n.problem)._replace(compute=n.compute) for n in nests]
    return tuple(found)
