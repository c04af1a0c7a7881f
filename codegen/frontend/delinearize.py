"""Flat subscripts `A[i*n + j]` as several dimensions, when every inner index provably stays in its row.

A subscript is a polynomial: a sum of parameter products, each with an affine coefficient. The products that
occur in all accesses to an array are its strides; they must divide one another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd

import islpy as isl
from pycparser import c_ast

from codegen.frontend.affine import Affiner, NotAffine
from codegen.frontend.frame import Frame
from codegen.frontend.layers import int_constant
from codegen.record import record
from codegen.scop.types import CType

Monomial = tuple[str, ...]  # sorted C texts of parameters
# Each parameter product has an affine coefficient: loop dimension (-1 is the constant) to integer.
Poly = Mapping[Monomial, Mapping[int, int]]


def polynomial(node: c_ast.Node, frame: Frame, affiner: Affiner) -> Poly | None:
    """`node` as a polynomial that is at most linear in loop variables, or None."""
    if isinstance(node, c_ast.Constant):
        value = int_constant(node)
        return None if value is None else {(): {-1: value}}
    if isinstance(node, c_ast.ID):
        return _name(node.name, frame, affiner)
    if isinstance(node, c_ast.StructRef):
        from codegen.frontend.affine import c_text

        text = c_text(node)
        return {(text,): {-1: 1}} if text in affiner.params else None
    if isinstance(node, c_ast.Cast):
        inner = polynomial(node.expr, frame, affiner)
        return _converted(inner, node, affiner.types.shape(node.to_type).elem, frame, affiner)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"):
        inner = polynomial(node.expr, frame, affiner)
        return inner if inner is None or node.op == "+" else _scale(inner, -1)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*"):
        left, right = polynomial(node.left, frame, affiner), polynomial(node.right, frame, affiner)
        if left is None or right is None:
            return None
        if node.op == "*":
            return _multiply(left, right)
        return _add(left, right if node.op == "+" else _scale(right, -1))
    return None


def _converted(poly: Poly | None, node: c_ast.Node, to: CType, frame: Frame, affiner: Affiner) -> Poly | None:
    """A polynomial after a conversion to an integer type, which must not change it.

    Affine values leave an assumption behind. Products of parameters cannot be bounded that way; for them only
    types that hold every index are good enough: int (whose overflow would be the source's own) and wider.
    """
    if poly is None or not to.is_int:
        return None
    if all(len(m) <= 1 and (not m or not set(c) - {-1}) for m, c in poly.items()):
        try:
            affiner.value(node, frame)
        except NotAffine:
            return None
        return poly
    return poly if to.bits >= 64 or (to.bits == 32 and to.signed) else None


def _name(name: str, frame: Frame, affiner: Affiner) -> Poly | None:
    if name in frame.bindings:
        b = frame.bindings[name]
        if b.value is not None:
            return None
        return _converted(polynomial(b.node, b.frame, affiner), c_ast.ID(name), b.ctype, frame, affiner)
    it = frame.iterator(name)
    if it is not None:
        return {(): {it.pos: 1}}
    if name in affiner.params:
        return {(name,): {-1: 1}}
    return {(): {-1: affiner.enums[name]}} if name in affiner.enums else None


def _add(a: Poly, b: Poly) -> Poly:
    out = {m: dict(c) for m, c in a.items()}
    for m, coeffs in b.items():
        mine = out.setdefault(m, {})
        for d, v in coeffs.items():
            mine[d] = mine.get(d, 0) + v
    return {m: {d: v for d, v in c.items() if v} for m, c in out.items() if any(c.values())}


def _scale(a: Poly, k: int) -> Poly:
    return {m: {d: v * k for d, v in c.items()} for m, c in a.items()}


def _multiply(a: Poly, b: Poly) -> Poly | None:
    total: Poly = {}
    for ma, ca in a.items():
        for mb, cb in b.items():
            if set(ca) - {-1} and set(cb) - {-1}:
                return None
            term = (
                {d: v * w for d, v in ca.items() for w in [cb.get(-1, 0)]}
                if not set(cb) - {-1}
                else {d: w * ca.get(-1, 0) for d, w in cb.items()}
            )
            total = _add(total, {tuple(sorted(ma + mb)): term})
    return total


@record
class Flat:
    """The dimensions given to a flat array: stride of each, as integer times a parameter product."""

    strides: tuple[tuple[int, Monomial], ...]  # outermost first; the last is (1, ())

    def stride_texts(self) -> tuple[str, ...]:
        return tuple(_product_text(k, m) for k, m in self.strides)

    def extent(self, d: int) -> tuple[int, Monomial] | None:
        """Size of dimension d > 0: how often its stride fits into the next outer one."""
        (k0, m0), (k1, m1) = self.strides[d - 1], self.strides[d]
        rest = list(m0)
        for name in m1:
            if name not in rest:
                return None
            rest.remove(name)
        return (k0 // k1, tuple(rest)) if k0 % k1 == 0 else None


def _product_text(k: int, m: Monomial) -> str:
    parts = ([str(k)] if k != 1 or not m else []) + list(m)
    return " * ".join(parts)


def find_strides(polys: Sequence[Poly]) -> Flat | None:
    """Common strides of all accesses, or None when the products do not nest."""
    monomials = sorted({m for p in polys for m in p} | {()}, key=lambda m: (-len(m), m))
    strides = []
    for m in monomials:
        step = 1
        if m:
            step = 0
            for p in polys:
                for v in p.get(m, {}).values():
                    step = gcd(step, abs(v))
        strides.append((step or 1, m))
    flat = Flat(tuple(strides))
    ok = all((e := flat.extent(d)) is not None and len(e[1]) <= 1 for d in range(1, len(strides)))
    return flat if ok and len(strides) > 1 else None


def indices(poly: Poly, flat: Flat, frame: Frame) -> list[isl.PwAff]:
    """One affine index per dimension."""
    out = []
    for step, m in flat.strides:
        value = frame.zero()
        for d, v in sorted(poly.get(m, {}).items()):
            term = frame.constant(1) if d < 0 else frame.dim(d)
            value = value.add(term.scale_val(isl.Val(v // step, context=value.get_ctx())))
        out.append(value)
    return out


def extent_value(flat: Flat, d: int, frame: Frame, affiner: Affiner) -> isl.PwAff:
    """The size of inner dimension d as an affine value."""
    size = flat.extent(d)
    if size is None or len(size[1]) > 1:
        raise NotAffine(c_ast.Constant("int", "0"), "its row length is a product of parameters")
    k, names = size
    value = frame.constant(1) if not names else frame.param(affiner.params[names[0]][0])
    return value.scale_val(isl.Val(k, context=value.get_ctx()))
