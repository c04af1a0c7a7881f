"""Subscripts as polynomials: sums of products of parameters, each with an affine coefficient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from math import gcd
from typing import Union

import islpy as isl
from pycparser import c_ast

from codegen.frontend.context.frame import Frame
from codegen.frontend.expressions.affine import Affiner, NotAffine, c_text
from codegen.frontend.syntax.constants import int_constant
from codegen.record import record
from codegen.scop.types import CType

Monomial = tuple[str, ...]  # sorted C texts of parameters
# A polynomial in parameters alone: products with their factors, the highest degree first.
Params = tuple[tuple[Monomial, int], ...]


@record
class Atom:
    """An affine value that is no sum of loop variables: `i / 2`, `(i + 1) % n`, `min(i, j)`. Its text tells it."""

    text: str
    value: isl.PwAff = field(compare=False)


# What a factor counts: a loop variable by its set dimension, an atom, or -1 for the constant.
Variable = Union[int, Atom]
CONSTANT = -1
Poly = Mapping[Monomial, Mapping[Variable, int]]

_OPAQUE = (c_ast.ArrayRef, c_ast.StructRef, c_ast.UnaryOp, c_ast.BinaryOp, c_ast.TernaryOp, c_ast.FuncCall)


def polynomial(node: c_ast.Node, frame: Frame, affiner: Affiner) -> Poly | None:
    """`node` as a polynomial that is at most linear in loop variables, or None."""
    if isinstance(node, c_ast.Constant):
        value = int_constant(node)
        return None if value is None else {(): {CONSTANT: value}}
    if isinstance(node, c_ast.ID):
        return _name(node.name, frame, affiner)
    if isinstance(node, c_ast.StructRef) and affiner.member(c_text(node), frame) is not None:
        return {(c_text(node),): {CONSTANT: 1}}
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
        if is_affine(left) != is_affine(right):
            _unwrapped(node.left if is_affine(left) else node.right, frame, affiner)
        if node.op == "*":
            return _multiply(left, right)
        return _add(left, right if node.op == "+" else _scale(right, -1))
    return _opaque(node, frame, affiner) if isinstance(node, _OPAQUE) else None


def _unwrapped(node: c_ast.Node, frame: Frame, affiner: Affiner) -> None:
    """An operand beside a product of parameters must not have wrapped around: `j - 1` of an unsigned j is far from -1
    where it is widened."""
    if not isinstance(node, (c_ast.ID, c_ast.Constant)) and _narrow_unsigned(node, frame, affiner):
        affiner.value(node, frame)


def _narrow_unsigned(node: c_ast.Node, frame: Frame, affiner: Affiner) -> bool:
    """Is it computed in an unsigned type that could be widened?"""
    if isinstance(node, c_ast.ID):
        it, bound = frame.iterator(node.name), frame.bindings.get(node.name)
        ctype = bound.ctype if bound else it.ctype if it else affiner.params.get(node.name, (None, None))[1]
        return _is_narrow(ctype)
    if isinstance(node, c_ast.StructRef):
        return _is_narrow(affiner.params.get(c_text(node), (None, None))[1])
    return any(_narrow_unsigned(child, frame, affiner) for child in node)


def _is_narrow(ctype: CType | None) -> bool:
    return ctype is not None and ctype.bits == 32 and not ctype.signed


def _opaque(node: c_ast.Node, frame: Frame, affiner: Affiner) -> Poly | None:
    """A parameter that is computed ahead of the region, or anything else that is affine."""
    known = affiner.known(node, frame)
    if known is not None:
        return {(known[0],): {CONSTANT: 1}}
    try:
        value, _ = affiner.value(node, frame)
    except NotAffine:
        return None
    return {(): {Atom(c_text(node), value): 1}}


def _converted(poly: Poly | None, node: c_ast.Node, to: CType, frame: Frame, affiner: Affiner) -> Poly | None:
    """A polynomial after a conversion to an integer type, which must not change it.

    Affine values leave an assumption behind. Products of parameters cannot be bounded that way; whether types of 32
    bits hold them is asked of the subscript as a whole (`modular.py`).
    """
    if poly is None or not to.is_int:
        return None
    if is_affine(poly):
        try:
            affiner.value(node, frame)
        except NotAffine:
            return None
        return poly
    return poly if to.bits >= 32 else None


def _name(name: str, frame: Frame, affiner: Affiner) -> Poly | None:
    if name in frame.bindings:
        b = frame.bindings[name]
        if b.value is not None:
            return _opaque(c_ast.ID(name), frame, affiner)
        return _converted(polynomial(b.node, b.frame, affiner), c_ast.ID(name), b.ctype, frame, affiner)
    it = frame.iterator(name)
    if it is not None:
        return {(): {it.pos: 1}}
    if name in affiner.params:
        return {(name,): {CONSTANT: 1}}
    return {(): {CONSTANT: affiner.enums[name]}} if name in affiner.enums else None


def is_affine(poly: Poly) -> bool:
    """No parameter is multiplied by anything but a number."""
    return all(len(m) <= 1 and (not m or not set(c) - {CONSTANT}) for m, c in poly.items())


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
            if set(ca) - {CONSTANT} and set(cb) - {CONSTANT}:
                return None
            one, other = (ca, cb) if not set(cb) - {CONSTANT} else (cb, ca)
            term = {d: v * other.get(CONSTANT, 0) for d, v in one.items()}
            total = _add(total, {tuple(sorted(ma + mb)): term})
    return total


# -- polynomials in parameters -------------------------------------------------------------------------


def params(terms: Iterable[tuple[Monomial, int]]) -> Params:
    """The sum of these terms."""
    total: dict[Monomial, int] = {}
    for m, k in terms:
        total[m] = total.get(m, 0) + k
    return tuple((m, total[m]) for m in sorted(total, key=lambda m: (-len(m), m)) if total[m])


ONE = params([((), 1)])


def factors(poly: Poly) -> dict[Variable, Params]:
    """What each loop variable, each atom and 1 are multiplied by, loop variables first."""
    found: dict[Variable, list[tuple[Monomial, int]]] = {}
    for m, c in poly.items():
        for d, k in c.items():
            found.setdefault(d, []).append((m, k))
    order = sorted(found, key=lambda d: (isinstance(d, Atom), d.text if isinstance(d, Atom) else str(d).zfill(4)))
    return {d: params(found[d]) for d in order}


def degree(p: Params) -> int:
    return max((len(m) for m, _ in p), default=0)


def content(p: Params) -> int:
    """The greatest number that divides it."""
    return gcd(*(k for _, k in p)) if p else 0


def times(p: Params, k: int) -> Params:
    return params((m, v * k) for m, v in p)


def plus(p: Params, q: Params) -> Params:
    return params((*p, *q))


def divide(p: Params, by: Params) -> tuple[Params, Params]:
    """Quotient and remainder: no term of the remainder is a multiple of the first term of `by`."""
    (lead, k), *_ = by
    quotient: list[tuple[Monomial, int]] = []
    rest, kept = p, []
    while rest:
        m, v = rest[0]
        left = _without(m, lead)
        if left is None or v % k:
            kept.append(rest[0])
            rest = rest[1:]
            continue
        quotient.append((left, v // k))
        rest = params((*rest, *((tuple(sorted((*left, *x))), -v // k * y) for x, y in by)))
    return params(quotient), params(kept)


def _without(m: Monomial, lead: Monomial) -> Monomial | None:
    rest = list(m)
    for name in lead:
        if name not in rest:
            return None
        rest.remove(name)
    return tuple(rest)


def text(p: Params) -> str:
    """As C, to stand in a product. Sums are computed in 64 bits."""
    if len(p) == 1:
        return _product(p[0][1], p[0][0])
    out = ""
    for m, k in p:
        wide = m and (not out or abs(k) > 1 or len(m) > 1)
        term = _product(abs(k), (f"(long){m[0]}", *m[1:]) if wide else m)
        out += f" {'-' if k < 0 else '+'} {term}" if out else f"{'-' if k < 0 else ''}{term}"
    return f"({out})"


def _product(k: int, m: Monomial) -> str:
    return " * ".join(([str(k)] if k != 1 or not m else []) + list(m))
