"""Leaves the vector width of a matrix-vector product open: a kernel in vectors of the default width becomes one whose
text is right for every width, among which the compiler's macros choose. Order and number of steps stay as they are."""

from __future__ import annotations

from dataclasses import replace

from codegen.isa.widths import OPEN, WIDTHS, lanes_at
from codegen.scop.lanes import walk
from codegen.scop.product import MatrixVector, Product

# Rows that are transposed take no more than this. 4 x 4 elements take 8 shuffles, 8 x 8 take 24: the same for each
# element but for the ports, of which shorter vectors have more.
TRANSPOSED = 32
_OPERATIONS = ("add", "sub", "mul", "div", "neg")  # those that are one operator of C on vectors of any width


def opened(product: Product) -> Product:
    """The product with vectors of any width, where its form and its step have that."""
    what, how = product.what, product.how
    if not isinstance(how, MatrixVector) or how.isa != "generic" or how.bits != 8 * WIDTHS[0]:
        return product
    elem = what.step.elem
    most = {"lanes": WIDTHS[-1], "across": TRANSPOSED}.get(how.form)
    plain = all(x.op in _OPERATIONS for x in walk(what.step.lane) if x.args)
    if most is None or not plain or elem not in ("f64", "f32"):
        return product
    if how.form == "across" and how.streams % lanes_at(elem, most):
        return product
    return replace(product, how=replace(how, isa=OPEN, bits=8 * most))
