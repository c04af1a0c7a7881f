"""Subscripts through index arrays whose elements all differ, `y[idx[i]]`, `out[to[i] * m + j]`: returns the affine
indices that stand for such a subscript in the model.

Where no two elements of `idx` are equal, iterations that read different elements of it use different elements of `y`.
So the place in `idx` can stand for the subscript of `y`, if the region finds all elements of `y` in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
from pycparser import c_ast

from codegen.frontend.context.frame import Frame
from codegen.frontend.expressions.affine import Affiner, NotAffine, c_text
from codegen.frontend.syntax.symbols import RegionSite
from codegen.record import record
from codegen.scop.types import CType

_WIDE = ("long", "long int", "long long", "ptrdiff_t", "int64_t")
LEAST_BITS = 32  # of an element; few narrower ones can differ


@record
class KnownIndex:
    """One index of an element: a value, or the place in an index array where the subscript stands (`through` tells that
    array, and how the subscript is made of it). One with `room` has to be below that, and not negative."""

    value: isl.PwAff
    through: str = ""
    room: isl.PwAff | None = None


def index_arrays(site: RegionSite, written: frozenset[str]) -> dict[str, CType]:
    """Arrays of distinct integers that the region leaves as they are, with the types of their elements."""
    out: dict[str, CType] = {}
    for name in sorted(site.unequal - written):
        var = site.variables.get(name)
        if var is None or len(var.shape.declarators) != 1 or var.shape.special:
            continue
        if var.shape.elem.is_int and var.shape.elem.bits >= LEAST_BITS:
            out[name] = var.shape.elem
    return out


def through_distinct(node: c_ast.Node, frame: Frame, affiner: Affiner) -> list[KnownIndex]:
    """The indices that stand for a subscript through such an array; none for other subscripts. Raises NotAffine."""
    at = _element(node, frame, affiner.distinct)
    if at is not None:
        return [_place(at, str(at.name.name), frame, affiner)]
    product, rest = _sum(node, frame, affiner.distinct)
    if product is None:
        return []
    return _row(product, rest, frame, affiner)


def _row(product: c_ast.BinaryOp, rest: c_ast.Node | None, frame: Frame, affiner: Affiner) -> list[KnownIndex]:
    """`to[i] * m + j`: row i, and in it column j. Unsigned products may wrap, and different rows fall together."""
    left, right = product.left, product.right
    if _element(left, frame, affiner.distinct) is None:
        left, right = right, left
    at = _element(left, frame, affiner.distinct)
    assert at is not None
    size, kind = affiner.value(right, frame)
    column, other = (frame.zero(), kind) if rest is None else affiner.value(rest, frame)
    loops = size.involves_dims(isl.dim_type.in_, 0, size.dim(isl.dim_type.in_))
    if loops or not all(_exact(t) for t in (affiner.distinct[at.name.name], kind, other)):
        raise NotAffine(product, f"`{c_text(product)}` may be the same for different elements of `{at.name.name}`")
    name = f"{at.name.name} * {isl.Map.from_pw_aff(size).range()}"  # the text may mean something else elsewhere
    return [_place(at, name, frame, affiner), KnownIndex(column, f"+ {name}", size)]


def _place(at: c_ast.ArrayRef, through: str, frame: Frame, affiner: Affiner) -> KnownIndex:
    """The place of an element, among those that are known to differ."""
    value, most = affiner.value(at.subscript, frame)[0], affiner.filled.get(at.name.name)
    return KnownIndex(value, through, None if most is None else affiner.value(most, frame)[0])


def _exact(t: CType) -> bool:
    """Does arithmetic in this type not wrap? Narrow ones become `int`."""
    return t.signed or t.bits < LEAST_BITS


def _element(node: c_ast.Node, frame: Frame, distinct: Mapping[str, CType]) -> c_ast.ArrayRef | None:
    """The element of such an array that a node is; conversions to wide signed integers keep its value."""
    if isinstance(node, c_ast.Cast) and c_text(node.to_type) in _WIDE:
        node = node.expr
    if not isinstance(node, c_ast.ArrayRef) or not isinstance(node.name, c_ast.ID):
        return None
    name = str(node.name.name)
    hidden = name in frame.locals or name in frame.bindings
    return node if name in distinct and not hidden else None


def _sum(
    node: c_ast.Node, frame: Frame, distinct: Mapping[str, CType]
) -> tuple[c_ast.BinaryOp | None, c_ast.Node | None]:
    """A sum as the product with such an element, and the rest of it."""
    if not isinstance(node, c_ast.BinaryOp):
        return None, None
    if node.op == "*":
        mine = [x for x in (node.left, node.right) if _element(x, frame, distinct) is not None]
        return (node if len(mine) == 1 else None), None
    if node.op != "+":
        return None, None
    for one, other in ((node.left, node.right), (node.right, node.left)):
        product, rest = _sum(one, frame, distinct)
        if product is not None:
            return product, other if rest is None else c_ast.BinaryOp("+", rest, other, node.coord)
    return None, None
