"""Blocked products on the way to the C tree: `find_blocks` puts one block statement in place of all instances of a
product inside the loops around it, and `product_node` makes the C node of such a block.

isl generates only those outer loops. The block's instances are the values of the loops around it, so that tile loops
may stand there as well as the source's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, CNode, For, If, Instance, Int, Name, Neg, ProductNode
from codegen.recognize.access.boxes import cuts
from codegen.record import record
from codegen.scop.dependences import param_space
from codegen.scop.model import Scop, Statement
from codegen.scop.product import Contraction
from codegen.scop.tree import Band, Loop, Node, enclosing, statements, walk


@record
class ProductBand:
    """A product band and the relation from the values of the loops around it to the statement's instances."""

    band: Band
    inside: isl.Map

    @property
    def domain(self) -> isl.Set:
        return self.inside.domain()


@record
class ProductBlocks:
    """The products of a tree, by statement."""

    of: Mapping[str, ProductBand]

    def domain(self, scop: Scop) -> isl.UnionSet:
        """What runs: blocks for products, instances for the rest."""
        total = isl.UnionSet.empty(param_space(scop))
        for s in scop.statements:
            total = total.union(isl.UnionSet.from_set(self.of[s.name].domain if s.name in self.of else s.domain))
        return total

    def space(self, scop: Scop, name: str) -> isl.Space:
        found = self.of[name].domain if name in self.of else scop.statement(name).domain
        return found.get_space()

    def value(self, lp: Loop, name: str, depth: int) -> isl.PwAff:
        """The value of a loop at schedule depth `depth` for an instance of the (block) statement."""
        if name not in self.of:
            return lp.exprs[name]
        space = isl.LocalSpace.from_space(self.of[name].domain.get_space())
        return isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, depth))


def find_blocks(scop: Scop, tree: Node) -> ProductBlocks:
    """All products of a tree."""
    found = {}
    for _, node in walk(tree):
        if isinstance(node, Band) and node.product is not None:
            (name,) = statements(node)
            around = enclosing(tree, name)[: -len(node.loops)]
            found[name] = ProductBand(node, _inside(scop, scop.statement(name), around))
    return ProductBlocks(found)


def _inside(scop: Scop, s: Statement, around: tuple[Loop, ...]) -> isl.Map:
    domain = s.domain.intersect_params(scop.context)
    space = domain.get_space()
    target = space.params().set_from_params().add_dims(isl.dim_type.set, len(around))
    target = target.set_tuple_id(isl.dim_type.set, domain.get_tuple_id())
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k, lp in enumerate(around):
        multi = multi.set_pw_aff(k, lp.exprs[s.name])
    return isl.Map.from_multi_pw_aff(multi).intersect_domain(domain).reverse()


def product_node(scop: Scop, block: ProductBand, at: isl.PwMultiAff, express: object) -> CNode:
    """The product as a C node. `at` gives the block's instance in terms of the generated loops, and `express` turns
    such a value into C."""
    assert block.band.product is not None
    s = scop.statement(block.band.product.what.stmt)

    def text(value: isl.PwAff) -> CExpr:
        return express(value.pullback_pw_multi_aff(at))  # type: ignore[operator, no-any-return]

    inner = block.band.product.what.inner
    loops = dict(zip(inner, block.band.loops, strict=True))
    names = {d: f"{s.name}_{s.iterators[d]}" for d in inner}
    iterators = tuple(
        _stepped(lp.exprs[s.name], d, names[d]) if (lp := loops.get(d)) else text(_ends(block.inside, d)[0])
        for d in range(len(s.iterators))
    )
    accesses = tuple(
        tuple(linear(a.index.get_pw_aff(k), iterators) for k in range(a.index.dim(isl.dim_type.out)))
        for a in s.accesses
    )
    body: CNode = Instance(s.name, iterators, accesses, tuple(linear(v, iterators) for v in s.values))
    cut = _corners(scop, s, block.band.product.what)
    corners = [Bin(">=", linear(isl.PwAff.from_aff(a), iterators), Int(0)) for a in cut]
    if corners:
        body = If(reduce(lambda x, y: Bin("&&", x, y), corners), body)
    for d, lp in reversed(loops.items()):
        low, high = _ends(block.inside.apply_range(isl.Map.from_pw_aff(lp.exprs[s.name])), 0)
        past = high.add_constant_val(isl.Val(1))
        body = For(names[d], text(low), "<", text(past), 1, body, lp)
    return ProductNode(block.band.product, body)


def _corners(scop: Scop, s: Statement, what: Contraction) -> tuple[isl.Aff, ...]:
    """What cuts the statement's domain out of the box around it."""
    outer = [d for d in range(len(s.iterators)) if d not in what.inner]
    found = cuts(s.domain.intersect_params(scop.context), outer, what.depth)
    return () if found is None else found


def _stepped(value: isl.PwAff, d: int, var: str) -> CExpr:
    """The iterator whose loop runs over `value`: itself, or itself backwards."""
    forward = _int(value.get_pieces()[0][1].get_coefficient_val(isl.dim_type.in_, d)) > 0
    return Name(var) if forward else Neg(Name(var))


def _ends(inside: isl.Map, d: int) -> tuple[isl.PwAff, isl.PwAff]:
    """First and last value of iterator `d` in a block."""
    n = inside.dim(isl.dim_type.out)
    one = inside.project_out(isl.dim_type.out, d + 1, n - d - 1).project_out(isl.dim_type.out, 0, d)
    return tuple(  # type: ignore[return-value]
        m.get_pw_aff(0).coalesce() for m in (one.lexmin_pw_multi_aff(), one.lexmax_pw_multi_aff())
    )


def linear(value: isl.PwAff, iterators: tuple[CExpr, ...]) -> CExpr:
    """A single affine formula over the iterators, as C. Products are recognised only where all formulas are such."""
    aff = value.get_pieces()[0][1]
    terms: list[tuple[int, CExpr]] = []
    for k, it in enumerate(iterators):
        terms.append((_int(aff.get_coefficient_val(isl.dim_type.in_, k)), it))
    for k in range(aff.dim(isl.dim_type.param)):
        name = aff.get_dim_name(isl.dim_type.param, k)
        terms.append((_int(aff.get_coefficient_val(isl.dim_type.param, k)), Name(str(name))))
    total: CExpr | None = None
    for factor, e in terms:
        if factor:
            total = _plus(total, factor, e)
    constant = _int(aff.get_constant_val())
    if total is None:
        return Int(constant)
    return Bin("+" if constant > 0 else "-", total, Int(abs(constant))) if constant else total


def _plus(total: CExpr | None, factor: int, e: CExpr) -> CExpr:
    size: CExpr = e if abs(factor) == 1 else Bin("*", Int(abs(factor)), e)
    if total is None:
        return size if factor > 0 else Bin("-", Int(0), size)
    return Bin("+" if factor > 0 else "-", total, size)


def _int(v: isl.Val) -> int:
    assert v.is_int()
    return int(v.to_str())
