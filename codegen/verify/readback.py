"""Reading the C tree back: which instances it runs, when, and what each subscript touches.

This looks only at the tree that will be printed, so a mistake anywhere before it shows up here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import islpy as isl

from codegen.ast.ctree import (
    Bin,
    Block,
    CExpr,
    CNode,
    Cond,
    Declare,
    For,
    Fun,
    Held,
    If,
    Instance,
    Int,
    Name,
    Neg,
    ProductNode,
)
from codegen.ast.plain_nest import plain_nest
from codegen.record import record
from codegen.scop.dependences import param_space
from codegen.scop.isl_helpers import relation_of
from codegen.scop.model import Scop
from codegen.scop.product import Product
from codegen.scop.times import Time

When = tuple[int | str, ...]  # block positions (ints) and loop variables, outermost first


@record
class TreePoint:
    """A place in the C tree: the loop variables' values there, and how to evaluate expressions."""

    domain: isl.Set
    vars: tuple[str, ...]
    when: When
    loops: tuple[For, ...]
    held: tuple[tuple[Held, int], ...]  # storage in scope, and how much of `when` lies around its declaration
    product: Product | None = None  # the product whose plain nest this is
    lets: tuple[tuple[str, CExpr], ...] = ()  # names for values

    def value(self, e: CExpr) -> isl.PwAff:
        """An integer expression as a function of the loop variables."""
        if isinstance(e, Int):
            return self._zero().add_constant_val(isl.Val.read_from_str(self.domain.get_ctx(), str(e.value)))
        if isinstance(e, Name):
            return self._name(e.name)
        if isinstance(e, Neg):
            return self.value(e.arg).neg()
        if isinstance(e, Fun):
            return self._call(e)
        if isinstance(e, Cond):
            cond = self.condition(e.cond)
            yes, no = self.value(e.yes), self.value(e.no)
            return yes.intersect_domain(cond).union_add(no.intersect_domain(cond.complement()))
        if e.op in ("<", "<=", ">", ">=", "==", "&&", "||"):
            one = self._zero().add_constant_val(isl.Val(1))
            cond = self.condition(e)
            return one.intersect_domain(cond).union_add(self._zero().intersect_domain(cond.complement()))
        left, right = self.value(e.left), self.value(e.right)
        if e.op in ("+", "-"):
            return left.add(right) if e.op == "+" else left.sub(right)
        if e.op == "*":
            return left.mul(right)
        # C's own / and %: exact for what isl promises, and exact for what it does not.
        return left.tdiv_q(right) if e.op == "/" else left.tdiv_r(right)

    def condition(self, e: CExpr) -> isl.Set:
        if isinstance(e, Bin) and e.op in ("&&", "||"):
            left, right = self.condition(e.left), self.condition(e.right)
            return left.intersect(right) if e.op == "&&" else left.union(right)
        if isinstance(e, Bin) and e.op in ("<", "<=", ">", ">=", "=="):
            a, b = self.value(e.left), self.value(e.right)
            compare = {"<": a.lt_set, "<=": a.le_set, ">": a.gt_set, ">=": a.ge_set, "==": a.eq_set}
            return compare[e.op](b)
        return self.value(e).ne_set(self._zero())

    def _zero(self) -> isl.PwAff:
        return isl.PwAff.from_aff(isl.Aff.zero_on_domain(isl.LocalSpace.from_space(self.domain.get_space())))

    def _name(self, name: str) -> isl.PwAff:
        ls = isl.LocalSpace.from_space(self.domain.get_space())
        if name in self.vars:
            return isl.PwAff.from_aff(isl.Aff.var_on_domain(ls, isl.dim_type.set, self.vars.index(name)))
        pos = self.domain.find_dim_by_name(isl.dim_type.param, name)
        named = next((e for n, e in self.lets if n == name), None) if pos < 0 else None
        if named is not None:
            return self.value(named)
        if pos < 0:
            raise KeyError(name)
        return isl.PwAff.from_aff(isl.Aff.var_on_domain(ls, isl.dim_type.param, pos))

    def _call(self, e: Fun) -> isl.PwAff:
        args = [self.value(a) for a in e.args]
        total = args[0]
        if e.name == "floord":
            return total.div(args[1]).floor()
        for a in args[1:]:
            total = total.min(a) if e.name == "min" else total.max(a)
        return total


@record
class StatementRun:
    """One statement in the C tree with everything around it."""

    instance: Instance
    point: TreePoint
    packed: isl.Set | None = None  # of a product's plain nest: the values for which the product itself runs it

    def executes(self, scop: Scop) -> isl.Map:
        """Loop variables to the statement instance that runs."""
        known: tuple[Scop, isl.Map] | None = self.__dict__.get("_executes")
        if known is None or known[0] is not scop:  # every proof asks
            known = self.__dict__["_executes"] = scop, self._map(scop)
        return known[1]

    def _map(self, scop: Scop) -> isl.Map:
        return relation_of(self.iterators(scop)).intersect_domain(self.point.domain)

    def iterators(self, scop: Scop) -> isl.MultiPwAff:
        """The statement's iterators as functions of loop variables."""
        target = scop.statement(self.instance.stmt).domain.get_space()
        multi = isl.MultiPwAff.zero(self.point.domain.get_space().map_from_domain_and_range(target))
        for k, e in enumerate(self.instance.iterators):
            multi = multi.set_pw_aff(k, self.point.value(e))
        return multi

    @property
    def times(self) -> Time:
        """When it runs: positions, and loop variables as functions of themselves."""
        known: Time | None = self.__dict__.get("_times")
        if known is None:
            at = self.point
            params = tuple(at.domain.get_var_names(isl.dim_type.param))
            known = [w if isinstance(w, int) else _variable(params, len(at.vars), at.vars.index(w)) for w in at.when]
            self.__dict__["_times"] = known
        return known

    def time(self, width: int) -> isl.Map:
        """Loop variables to time, padded or cut to `width`."""
        space = self.point.domain.get_space()
        target = space.params().set_from_params().add_dims(isl.dim_type.set, width)
        multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
        for k, w in enumerate(self.point.when[:width]):
            v = self.point.value(Int(w) if isinstance(w, int) else Name(w))
            multi = multi.set_pw_aff(k, v)
        return relation_of(multi)


@lru_cache(maxsize=1024)
def _variable(params: tuple[str, ...], depth: int, k: int) -> isl.PwAff:
    """The value of loop `k` of so many. The same object wherever loops are as deep: what is known of two such values
    (`scop/distance.py`) is known by their identity."""
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[f"i{d}" for d in range(depth)], params=params)
    local = isl.LocalSpace.from_space(space)
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k))


def runs(scop: Scop, tree: CNode) -> tuple[StatementRun, ...]:
    """All statements of the tree, in textual order."""
    start = isl.Set.universe(param_space(scop).set_from_params()).intersect_params(scop.context)
    return tuple(_runs(tree, TreePoint(start, (), (), (), ())))


def runs_below(node: CNode, at: TreePoint) -> tuple[StatementRun, ...]:
    """All statements of a part of a tree, whose place is `at`."""
    return tuple(_runs(node, at))


def _runs(node: CNode, at: TreePoint) -> Iterator[StatementRun]:
    if isinstance(node, Instance):
        yield StatementRun(node, at)
    elif isinstance(node, Block):
        for k, child in enumerate(node.children):
            yield from _runs(child, replace(at, when=(*at.when, k), product=None))
    elif isinstance(node, If):
        cond = at.condition(node.cond)
        yield from _runs(
            node.then, replace(at, domain=at.domain.intersect(cond).coalesce(), when=(*at.when, 0))
        )
        if node.orelse is not None:
            other = at.domain.subtract(cond).coalesce()
            yield from _runs(node.orelse, replace(at, domain=other, when=(*at.when, 1), product=None))
    elif isinstance(node, Declare):
        held = (
            *[h for h in at.held if h[0].array not in {s.array for s in node.slots}],
            *[(s, len(at.when)) for s in node.slots],
        )
        yield from _runs(node.body, replace(at, held=held, product=None))
    elif isinstance(node, ProductNode):
        nest = plain_nest(node)
        found = _runs(nest, replace(at, product=node.product))
        yield from found if nest is node.body else (replace(r, packed=_only(node.body, at)) for r in found)
    else:
        assert isinstance(node, For), "each way of a region is proven by itself"
        yield from _runs(node.body, enter(node, at))


def _only(node: CNode, at: TreePoint) -> isl.Set:
    """The loops' values for which the only statement of a tree runs."""
    (run,) = _runs(node, at)
    return run.point.domain


def enter(node: For, at: TreePoint) -> TreePoint:
    """Inside a loop: the set of values its variable takes."""
    pos = len(at.vars)
    wider = TreePoint(
        at.domain.insert_dims(isl.dim_type.set, pos, 1),
        (*at.vars, node.var),
        (*at.when, node.var),
        (*at.loops, node),
        at.held,
        lets=(*node.lets, *at.lets),
    )
    var = wider.value(Name(node.var))
    inside = wider.domain
    # var >= max(a, b) is var >= a and var >= b: no pieces, and so no blow-up further on.
    lowers = [wider.value(e) for e in _parts(node.lower, "max")]
    for low in lowers:
        inside = inside.intersect(var.ge_set(low))
    for e in _parts(node.upper, "min"):
        high = wider.value(e)
        inside = inside.intersect(var.lt_set(high) if node.op == "<" else var.le_set(high))
    if node.step != 1:
        inside = inside.intersect(_on_grid(var, lowers, node, wider, inside))
    return replace(wider, domain=inside.coalesce(), product=at.product)


def _parts(e: CExpr, fun: str) -> list[CExpr]:
    if isinstance(e, Fun) and e.name == fun:
        return [p for a in e.args for p in _parts(a, fun)]
    return [e]


def _on_grid(var: isl.PwAff, lowers: list[isl.PwAff], node: For, at: TreePoint, inside: isl.Set) -> isl.Set:
    """Where the variable is a multiple of the step away from its first value."""
    step, zero = isl.Val(node.step), at._zero()
    start = lowers[0]
    for other in lowers[1:]:
        apart = other.sub(start).mod_val(step).ne_set(zero)
        if not inside.intersect(apart).is_empty():
            start = at.value(node.lower)
            break
    return var.sub(start).mod_val(step).eq_set(zero)


def same_iteration_until(params: isl.Space, width: int, when: When, var: str) -> isl.Map:
    """Pairs of times inside the same run of the loop over `var` that differ in that variable."""
    cut = when.index(var)
    same = isl.Map.universe(params.set_from_params().add_dims(isl.dim_type.set, width).map_from_set())
    for k in range(cut):
        w = when[k]
        same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        if isinstance(w, int):
            same = same.fix_val(isl.dim_type.in_, k, isl.Val(w))
    less = same.order_lt(isl.dim_type.in_, cut, isl.dim_type.out, cut)
    return less.union(same.order_gt(isl.dim_type.in_, cut, isl.dim_type.out, cut))
