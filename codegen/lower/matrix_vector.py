"""Leaves the vector width of a matrix-vector product open: a kernel in vectors of the default width becomes one whose
text is right for every width, among which the compiler's macros choose. Order and number of steps stay as they are."""

from __future__ import annotations

from dataclasses import replace

from codegen.isa.model import bits_of
from codegen.isa.widths import OPEN, WIDE, WIDTHS, lanes_at
from codegen.scop.lanes import walk
from codegen.scop.product import MatrixVector, Product

# Rows that are transposed together in wide vectors: two vectors of sums, or one of 16. Emerald Rapids, 400 x 400 along
# and across, microseconds: f64 in vectors of 64 bytes 47 with 8 rows, 43 with 16, of 32 bytes 42 and 44; f32 in vectors
# of 32 bytes 37 with 8 rows, 30 with 16.
WIDE_ROWS = 16
# The first caches of processors with such vectors: addresses so many bytes apart share a set, of so many ways at least.
WIDE_PERIOD, WIDE_WAYS = 4096, 8
# Lines of the matrix that are taken together along the result in the shortest vectors: first caches there have as few
# ways as this. Neoverse N1, f64, microseconds for A x and A^T y with 7 lines and with 4: 342 x 342 65 and 63, 400 x 400
# 99 and 95, 800 x 800 491 and 458; one after the other 76, 106 and 471.
SHORT_LINES = 4
_OPERATIONS = ("add", "sub", "mul", "div", "neg")  # those that are one operator of C on vectors of any width


def opened(product: Product) -> Product:
    """The product with vectors of any width, where its form and its step have that."""
    what, how = product.what, product.how
    if not isinstance(how, MatrixVector) or how.isa != "generic" or how.bits != 8 * WIDTHS[0]:
        return product
    elem = what.step.elem
    plain = all(x.op in _OPERATIONS for x in walk(what.step.lane) if x.args)
    if how.form not in ("lanes", "across") or not plain or elem not in ("f64", "f32"):
        return product
    wide = replace(how, isa=OPEN, bits=8 * WIDTHS[-1])
    if how.form == "across":
        lanes = [lanes_at(elem, width) for width in WIDTHS]
        if any((how.streams if n < WIDE else WIDE_ROWS) % n for n in lanes) or how.streams >= WIDE_ROWS:
            return product
        fits = how.pair < WIDE_ROWS and not any(how.pair % n for n in lanes if n < WIDE)
        wide = replace(wide, wide=WIDE_ROWS, period=8 * WIDE_PERIOD // bits_of(elem), ways=WIDE_WAYS)
        wide = replace(wide, pair=how.pair if fits else 0)
    elif how.streams > SHORT_LINES:
        wide = replace(wide, streams=SHORT_LINES, wide=how.streams)
    return replace(product, how=wide)
