"""Chooses the micro-kernels of a blocked product: one for full register tiles, smaller ones for the edges, and the C
conditions by which tiles are assigned to them."""

from __future__ import annotations

from codegen.isa.common import is_common
from codegen.isa.load import load as load_isa
from codegen.isa.model import longer
from codegen.record import record
from codegen.scop.lanes import rounds
from codegen.scop.product import Blocking, Contraction
from codegen.target.product.microkernel import MicroKernel, row_unit, smaller
from codegen.target.product.microkernel import name as kernel_name
from codegen.target.product.microkernel_model import low_unit

# Bits of vectors with which products of two rows or steps are left to the plain nest below so many steps. Its speed of
# the packed product's, AVX-512, f64 and f32: 2 x 40 x 40 1.40 and 1.37, 2 x 100 x 20 1.05 and 1.25, 2 x 100 x 100 1.02
# and 1.99, 2 x 300 x 300 0.95 and 1.11, 100 x 50 x 2 0.92 and 1.51, 100 x 100 x 2 0.89 and 0.83; AVX2: 1.11 and 1.61,
# 1.37 and 1.27, 1.13 and 1.14, 1.16 and 0.87, 1.10 and 1.20, 0.87 and 1.09.
LONG_VECTORS, THIN_STEPS = 256, 20000


@record
class EdgeKernel:
    """A kernel for tiles of at most so many rows and columns; "" and 0 stand for all of a tile."""

    kernel: str
    rows: int
    columns: str


def micro_kernel_of(what: Contraction, how: Blocking, direct: bool = False) -> MicroKernel:
    """The register kernel that a product calls; it takes a step of several rounds for as many steps."""
    step = what.step
    once, times = rounds(step.lane, len(step.left), len(step.right))
    isa = load_isa(how.isa, how.bits)
    narrow = step.narrow if not direct and not how.spread and longer(isa, step.elem) is not None else ""
    return MicroKernel(
        step.elem,
        once,
        len(step.consts),
        how.mr,
        how.nv,
        direct,
        lefts=len(step.left) // times,
        rights=len(step.right) // times,
        spread=how.spread,
        narrow=narrow,
        along=bool(how.run) and not direct,
    )


def thin_steps(how: Blocking) -> int:
    """Steps below which the plain nest is faster for products of two rows or two steps whose columns lie side by side.
    With one row or one step each copy would be used once, and the plain nest is faster whatever the size: 1.2 to 2.5
    times on a Neoverse N1, where it has 0.75 of the packed speed at 2 x 100 x 20. Long vectors make long rows cheap,
    and what memory and sizes of blocks cost a packed product stays the same."""
    return max(how.direct, THIN_STEPS) if how.bits >= LONG_VECTORS else how.direct


def edge_kernels(what: Contraction, how: Blocking) -> tuple[tuple[MicroKernel, ...], tuple[MicroKernel, ...]]:
    """Kernels for edges of a product's tiles: of fewer columns, and of fewer rows."""
    return smaller(micro_kernel_of(what, how), row_unit(load_isa(how.isa, how.bits), what.step.elem, how.bits))


def all_kernels(what: Contraction, how: Blocking) -> tuple[MicroKernel, ...]:
    """Every kernel that a product calls."""
    narrow, lows = edge_kernels(what, how)
    return (micro_kernel_of(what, how), *narrow, *lows)


def edges(what: Contraction, how: Blocking, nr: str) -> tuple[EdgeKernel, ...]:
    """What the edges of a product call, in the order in which to ask. `nr` is the C text of a tile's columns."""
    isa = load_isa(how.isa, how.bits)
    narrow, lows = edge_kernels(what, how)
    found = [EdgeKernel(kernel_name(isa, k), 0, part(nr, how, k.nv)) for k in narrow]
    return (*found, *(EdgeKernel(kernel_name(isa, k), k.mr, "") for k in lows))


def part(nr: str, how: Blocking, vectors: int = 1) -> str:
    """Columns of so many vectors as C text."""
    if nr.isdigit():
        return str(int(nr) * vectors // how.nv)
    return nr if how.nv == 1 else f"{nr} / {how.nv}" + (f" * {vectors}" if vectors > 1 else "")


def in_place(what: Contraction, how: Blocking, nr: str) -> str:
    """When a tile of tw_m x tw_n elements is exactly what one of the kernels covers, so that it can work on C."""
    isa, lanes = load_isa(how.isa, how.bits), part(nr, how)
    low = low_unit(how.mr, row_unit(isa, what.step.elem, how.bits))
    columns = f"tw_n % {lanes} == 0" if lanes.isdigit() else f"tw_n % ({lanes}) == 0"
    if low < (1 if is_common(isa) else 2):  # the text for several machines has one form
        return f"tw_m == {how.mr} && {columns}"
    return f"(tw_m == {how.mr} ? {columns} : tw_m % {low} == 0 && tw_n == {nr})"
