"""Which subscripts that are polynomials wrap around: `i * n + j` in unsigned numbers of 32 bits, or in any of those
under -fwrapv.

Products of parameters have no bounds that isl could state as conditions on them. But sums, differences and products
that wrap around are right modulo 2^32. So their value is that of the polynomial wherever this fits, which
`memory/arrays.py` tests.
"""

from __future__ import annotations

from pycparser import c_ast

from codegen.frontend.context.frame import Frame
from codegen.frontend.expressions.affine import Affiner, NotAffine, c_text
from codegen.frontend.expressions.polynomials import is_affine, polynomial
from codegen.frontend.syntax.constants import int_constant, literal_type
from codegen.record import record
from codegen.scop.types import INT, CType, promote


@record
class Arithmetic:
    """How a polynomial is computed: its type, whether it is `modular`, right modulo 2^32 only, and, if it was `widened`
    since, the sums of which it has become a part, with their signs."""

    ctype: CType
    modular: bool = False
    widened: bool = False
    added: tuple[tuple[int, c_ast.Node], ...] = ()

    def converted(self, to: CType, affiner: Affiner) -> Arithmetic | None:
        """After a conversion; None where it may have changed what is not known to be exact."""
        if not to.is_int or to.bits < 32:
            return None
        if to.bits > 32 and (affiner.bits(to) > 32 or self.modular):  # a modular one is of fewer bits in either case
            return Arithmetic(to, self.modular, self.modular, self.added)
        if self.widened:
            return None
        same = affiner.bits(self.ctype) == affiner.bits(to) and self.ctype.signed == to.signed
        return Arithmetic(to, self.modular or not same)


def arithmetic(node: c_ast.Node, frame: Frame, affiner: Affiner) -> Arithmetic | None:
    """How a polynomial is computed; None where it is more than one conversion away from what is known."""
    if isinstance(node, c_ast.Constant):
        number = int_constant(node)
        return None if number is None else Arithmetic(literal_type(node, number))
    if isinstance(node, c_ast.ID):
        return _named(node.name, frame, affiner)
    if isinstance(node, c_ast.Cast):
        inner = arithmetic(node.expr, frame, affiner)
        return None if inner is None else inner.converted(affiner.types.shape(node.to_type).elem, affiner)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"):
        inner = arithmetic(node.expr, frame, affiner)
        return None if inner is None or inner.widened else _computed(promote(inner.ctype), inner.modular, affiner)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*"):
        return _binary(node, frame, affiner)
    return _affine(node, frame, affiner)


def _affine(node: c_ast.Node, frame: Frame, affiner: Affiner) -> Arithmetic | None:
    """A part that is a parameter, or has a value in the model."""
    if isinstance(node, c_ast.StructRef) and (found := affiner.member(c_text(node), frame)) is not None:
        return Arithmetic(found[1])
    try:
        return Arithmetic(affiner.value(node, frame)[1])
    except NotAffine:
        return None


def _named(name: str, frame: Frame, affiner: Affiner) -> Arithmetic | None:
    if name in frame.bindings:
        b = frame.bindings[name]
        if b.value is not None:
            return Arithmetic(b.ctype)
        inner = arithmetic(b.node, b.frame, affiner)
        return None if inner is None else inner.converted(b.ctype, affiner)
    it = frame.iterator(name)
    if it is not None:
        return Arithmetic(it.ctype)
    return Arithmetic(affiner.params[name][1] if name in affiner.params else INT)


def _binary(node: c_ast.BinaryOp, frame: Frame, affiner: Affiner) -> Arithmetic | None:
    left, right = arithmetic(node.left, frame, affiner), arithmetic(node.right, frame, affiner)
    if left is None or right is None:
        return None
    ctype = affiner.common(left.ctype, right.ctype)
    if affiner.bits(ctype) <= 32 and not left.widened and not right.widened:
        return _computed(ctype, left.modular or right.modular, affiner)
    left, right = (_exact(*x, frame, affiner) for x in ((left, node.left), (right, node.right)))
    if not left.modular and not right.modular:
        return Arithmetic(ctype)
    return _with_more(node, left, right, ctype)


def _exact(how: Arithmetic, node: c_ast.Node, frame: Frame, affiner: Affiner) -> Arithmetic:
    """What has no products has a value in the model and is exact: where it would not be, the region does not run."""
    poly = polynomial(node, frame, affiner) if how.modular else None
    return (_affine(node, frame, affiner) or how) if poly is not None and is_affine(poly) else how


def _with_more(node: c_ast.BinaryOp, left: Arithmetic, right: Arithmetic, ctype: CType) -> Arithmetic | None:
    """A sum in 64 bits of something modular and something that is exact."""
    if node.op == "*" or (left.modular and right.modular):
        return None
    if right.modular and node.op == "-":
        return None
    first, other, sign = (left, node.right, -1) if left.modular and node.op == "-" else (left, node.right, 1)
    first, other = (first, other) if left.modular else (right, node.left)
    return Arithmetic(ctype, True, True, (*first.added, (sign, other)))


def _computed(ctype: CType, modular: bool, affiner: Affiner) -> Arithmetic:
    """The result of an operation in this type."""
    return Arithmetic(ctype, modular or (affiner.bits(ctype) == 32 and (not ctype.signed or affiner.dialect.wraps)))
