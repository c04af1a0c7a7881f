"""Where a register kernel finds the packed operands and the tile (`KernelLayout`): what callers take for granted and
the proof of its text shows."""

from __future__ import annotations

from codegen.isa.model import Isa
from codegen.record import record
from codegen.target.product.microkernel import is_rolled
from codegen.target.product.microkernel_model import MicroKernel
from codegen.target.product.microkernel_rolled import looks_further
from codegen.verify.poly import Poly, poly, var


@record
class KernelLayout:
    """Where a kernel finds things. Of step p and row r, value q of a is element `(p * lefts + q) * a_rows + r`, as
    often as `copies` in a row; of step p and column j, value q of b is element `(p * rights + q) * b_columns + j`.
    Where a kernel is `strided`, a has one value for each row and step, element `p * a_step + r * a_row`, and its call
    says how far these are apart. With `further`, a call also says which lines to fetch."""

    mr: int
    columns: Poly
    lanes: Poly
    a_rows: int
    b_columns: Poly
    lefts: int
    rights: int
    copies: int
    strided: bool
    further: bool


def layout(isa: Isa, mk: MicroKernel, lanes: Poly | None = None) -> KernelLayout:
    """What a kernel promises. `lanes` is the length of a vector where only the processor knows."""
    one = poly(isa.lanes_max(mk.elem)) if isa.bits else lanes if lanes is not None else var("vl")
    copies = isa.lanes_max(mk.elem) if mk.spread else 1
    return KernelLayout(
        mk.mr,
        one * mk.nv,
        one,
        mk.a_rows or mk.mr,
        one * (mk.b_vectors or mk.nv),
        mk.lefts,
        mk.rights,
        copies,
        is_rolled(isa, mk) and mk.strided,
        looks_further(isa, mk),
    )
