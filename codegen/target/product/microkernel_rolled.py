"""Makes the texts of one C function for all micro-kernels of a product (`RolledView`, printed by `kernel_rolled.c.j2`):
loops over arrays of vectors, which compilers unroll for constant arguments. `is_rolled` decides which kernels are
printed so.

gcc 12 and clang 19 make of it what they make of a function with a variable for each vector and a statement for each
step, from -O2 on. A function of its own chooses the kernel for a tile, the smallest that holds it. Not where lanes of a
register are operands (their numbers have to be constants before anything is unrolled), nor where only the processor
knows how long a vector is (there are no arrays of such).
"""

from __future__ import annotations

from dataclasses import replace

from codegen.isa.common import is_common
from codegen.isa.fast_paths import fast_path_of
from codegen.isa.live_registers import demand
from codegen.isa.model import Isa, bits_of
from codegen.isa.text import LINE_BYTES, PREFETCH, ScalarOperand, bare, expression
from codegen.record import record
from codegen.scop.lanes import Lane
from codegen.target.product.microkernel_model import UNROLL, MicroKernel
from codegen.target.product.microkernel_view import KernelTile, plus, times

# Steps of shorter vectors are short themselves, so that lines are asked for faster than memory gives them, and their
# products take so long that copies matter less: kernels that fetch the next block take 1.00 to 1.02 of the time on a
# Neoverse N1, and with AVX2 in f64 1.06 at 64 x 2000 x 2000 and 1.12 at 16 x 2000 x 2000.
FAR_BITS = 512
# Beside vectors of so many bits there are 16 registers, and a tile's step is 12 multiply-adds: 26 instructions with
# loads and counting, of which cores start four in a cycle, where the units take two multiply-adds. Share of the units'
# rate with steps one by one and four at a time, tiles of 6 rows in the caches, a Cascade Lake: f64 and f32 0.84 and
# 0.94. With 512 bits and 28 multiply-adds in a step there is no difference (f64 0.92, f32 0.97), and with more than one
# operation for each element the units are what takes the time; there, clang 19 spills registers.
SHORT_STEPS = 256
STEPS = "TW_STEPS"
# Rows whose values are addressed from one register: x86-64 adds another one, or 2, 4 or 8 times that, and the third row
# takes one of its own. Without this, compilers keep the distances of all rows from the first, half of them on the
# stack. One Cascade Lake with AVX-512, of MKL's speed, before and now: f32 200 x 200 x 200 0.86 and 0.94, 500 0.93 and
# 1.01, 1000 0.91 and 0.96, 2000 x 64 x 2000 1.05 and 1.13, 100 x 100 x 2000 0.87 and 0.96; f64 200 0.91 and 0.98, 500
# 0.84 and 0.92, 4000 x 100 x 100 0.84 and 0.92.
HELD_ROWS = 5


@record
class TileTexts:
    """The sizes of a tile as C texts: numbers, or macros that stand for them."""

    mr: str
    nv: str
    lanes: str
    nr: str
    further: str  # how far the next tile is
    far: str  # columns whose lines are fetched for the next block, "" where a call does not say from where


@record
class PrefetchLoop:
    """Asks for `count` elements of a packed operand from element `first` on, a cache line of `line` elements a time."""

    operand: str
    first: str
    count: str
    line: int
    when: str = ""

    @property
    def call(self) -> str:
        return f"{PREFETCH}({self.operand}, {self.first} + l, 0);"


@record
class RolledView:
    """C texts of the function's parts: element [i][j] of the tile is `acc[i][j]`, a vector of b `y[j]`, a value of a
    `x` or `x[i]`. `load_a` are declarations or, with `ahead`, values of row i of arrays that are filled so many rows
    before they are used. The fields of the quicker loop are those of `KernelView`."""

    tile: TileTexts
    scalar: str
    packed: str  # the type of packed operands
    vector: str
    setup: list[str]
    line: int  # elements of c in a cache line; 0: nothing is asked for ahead
    load_c: str
    prefetch: list[PrefetchLoop]
    together: str  # what says that compilers take several steps of the loop at a time
    row_type: str
    rows: list[str]  # names of arrays for the vectors of b
    load_b: list[str]
    held: int  # rows of a whose addresses come from one; 0: all come from the first
    ahead: int
    value_type: str
    values: list[str]  # names of arrays for the values of a
    load_a: list[str]
    load_first: list[list[str]]  # the same of the first rows, `ahead` of them
    load_later: list[str]  # the same of the row that comes `ahead` rows later
    update: str
    ready: str  # what goes on to the values of a, ahead of a step
    advance: list[str]
    store_c: str
    quick: str
    mask: str
    doubt: str
    more_doubt: str
    any_doubt: str
    zeros: bool


def is_rolled(isa: Isa, mk: MicroKernel) -> bool:
    """Whether a kernel is one of those of a function with loops, as all parts of a tile are, or none."""
    return bool(isa.bits) and not mk.direct and mk.unroll == UNROLL and not KernelTile(isa, whole_of(mk)).lane_rows


def looks_further(isa: Isa, mk: MicroKernel) -> bool:
    """Whether a call says what else to fetch meanwhile, a line with each step. Kernels that are printed for all
    instruction sets have room for it; it is done where vectors have `FAR_BITS`."""
    simple = is_rolled(isa, mk) and mk.strided and mk.rights == 1 and not mk.narrow and bool(mk.ahead)
    return simple and (is_common(isa) or isa.bits >= FAR_BITS)


def takes_steps_together(isa: Isa) -> bool:
    """Whether compilers are told to write out several steps of the loop over them."""
    return isa.bits == SHORT_STEPS


def _short_steps(isa: Isa, whole: MicroKernel) -> bool:
    """Whether the loop over steps says so, or a macro that knows the instruction set."""
    told = is_common(isa) or takes_steps_together(isa)
    return told and demand(isa.vec(whole.elem), whole.step).operations == 1


def far_columns(isa: Isa, whole: MicroKernel) -> int:
    """Columns of a sliver of b whose lines kernels fetch for the next block."""
    return whole.nv * isa.lanes_max(whole.elem) if isa.bits >= FAR_BITS and looks_further(isa, whole) else 0


def whole_of(mk: MicroKernel) -> MicroKernel:
    """The kernel for a whole tile, of which this one takes a part."""
    return replace(mk, mr=mk.a_rows or mk.mr, nv=mk.b_vectors or mk.nv, a_rows=0, b_vectors=0)


def rolled_view(isa: Isa, whole: MicroKernel, sizes: TileTexts) -> RolledView:
    """The parts of the function for a whole tile and all smaller ones.

    Where loads fill all lanes, values of a are loaded where they are used: of one that is loaded a row ahead for a
    single vector, gcc 12 makes an operation of the vector units.
    """
    tile = KernelTile(isa, whole)
    hurry = fast_path_of(isa.vec(whole.elem), whole.step)
    steps = [whole.step, hurry.step] if hurry else [whole.step]
    free = is_common(isa) or not tile.vec.broadcast  # loads fill all lanes, or may do
    ahead = 0 if free else min(tile.rows_ahead(s) for s in steps)
    held = HELD_ROWS if free and whole.strided else 0
    streams = bool(whole.ahead)
    doubt = bare(tile._call(hurry.doubt, "acc[i][j]")) if hurry else ""
    element = plus("row[i]", scaled(sizes.lanes, "j"))
    return RolledView(
        tile=sizes,
        scalar=tile.vec.scalar,
        packed=tile.value,
        vector=tile.vec.vector,
        setup=tile.setup()[1:],
        line=LINE_BYTES * 8 // bits_of(whole.elem) if streams else 0,
        load_c=bare(tile._call("load", element)),
        prefetch=_prefetch(whole, sizes) if streams else [],
        together=f"{STEPS} " if _short_steps(isa, whole) else "",
        row_type=tile.operand,
        rows=[_b(whole, q) for q in range(whole.rights)],
        load_b=[bare(tile._call(tile._packed("load"), _b_at(sizes, q))) for q in range(whole.rights)],
        held=held,
        ahead=ahead,
        value_type=tile.vec.vector if whole.spread else tile.value if tile.scalar_rows else tile.operand,
        values=[_a(whole, q) for q in range(whole.lefts)],
        load_a=[_a_value(tile, sizes, q, "i", held) for q in range(whole.lefts)],
        load_first=[[_a_value(tile, sizes, q, str(r)) for q in range(whole.lefts)] for r in range(ahead)],
        load_later=[_a_value(tile, sizes, q, f"i + {ahead}") for q in range(whole.lefts)],
        update=_update(tile, whole.step, ahead),
        ready="" if whole.spread else _next_a(whole, sizes),
        advance=[*([_next_a(whole, sizes)] if whole.spread else []), f"b += {times(whole.rights, sizes.nr)};"],
        store_c=bare(tile._call("store", element, "acc[i][j]")),
        quick=_update(tile, hurry.step, ahead) if hurry else "",
        mask=tile.vec.mask,
        doubt=doubt,
        more_doubt=bare(tile._call("mor", "odd", doubt)) if hurry else "",
        any_doubt=tile.any_doubt() if hurry else "",
        zeros=hurry is not None and hurry.doubt == "nought",
    )


def scaled(n: str, unit: str) -> str:
    """n units as C text; n may be a macro."""
    return times(int(n), unit) if n.isdigit() else f"{n} * {unit}"


def _a_step(mk: MicroKernel, sizes: TileTexts) -> str:
    """The elements of a for one step."""
    values = times(mk.lefts, sizes.mr)
    if not mk.spread:
        return values
    return times(int(sizes.lanes), values) if sizes.lanes.isdigit() else f"{values} * {sizes.lanes}"


def _advance(mk: MicroKernel, sizes: TileTexts) -> str:
    """How far the next step's are, which a call may say."""
    return "a_step" if mk.strided else _a_step(mk, sizes)


def _next_a(mk: MicroKernel, sizes: TileTexts) -> str:
    return f"a += {_advance(mk, sizes)};"


def _prefetch(mk: MicroKernel, sizes: TileTexts) -> list[PrefetchLoop]:
    """What a step reads, but `ahead` steps later."""
    line = LINE_BYTES * 8 // bits_of(mk.narrow or mk.elem)
    a, b = _a_step(mk, sizes), times(mk.rights, sizes.nr)
    far = times(mk.ahead - (not mk.spread), _advance(mk, sizes))
    near = "a_step > 1" if mk.strided else ""  # processors fetch neighbours by themselves
    return [PrefetchLoop("a", far, a, line, near), PrefetchLoop("b", times(mk.ahead, b), b, line)]


def _a(mk: MicroKernel, q: int) -> str:
    return "x" if mk.lefts == 1 else f"x{q}"


def _b(mk: MicroKernel, q: int) -> str:
    return "y" if mk.rights == 1 else f"y{q}"


def _b_at(sizes: TileTexts, q: int) -> str:
    return plus("b", times(q, sizes.nr), scaled(sizes.lanes, "j"))


def _a_value(tile: KernelTile, sizes: TileTexts, q: int, row: str, held: int = 0) -> str:
    """The value of a for a row. Where `a` went on already, they lie before it: of a value at the address itself gcc
    makes a load into all lanes, which the vector units take part in, and of others one that multiply-adds spread.
    Neoverse N1, f64, 400 x 400 x 400, tiles of 9 x 6: 8.2 ms with one such load in a step, 7.8 ms without."""
    mk, at = tile.mk, plus(times(q, sizes.mr), row)
    base, at = ("part", f"{at} % {held}") if held else ("a", at)
    if mk.strided and at != "0":
        at = f"{f'({at})' if ' ' in at and not held else at} * a_row"
    if mk.spread:
        alone = at if at.isalnum() else f"({at})"
        return bare(tile._call("load", plus("a", scaled(sizes.lanes, alone))))
    at = f"{at} - {_advance(mk, sizes)}"
    return f"{base}[{at}]" if tile.scalar_rows else bare(tile._call(tile._packed("dup"), f"{base}[{at}]"))


def _update(tile: KernelTile, step: Lane, ahead: int) -> str:
    """The new value of element [i][j]."""
    mk, at = tile.mk, "[i]" if ahead else ""

    def leaf(x: Lane) -> str:
        if x.op == "acc":
            return "acc[i][j]"
        return f"{_a(mk, x.index)}{at}" if x.op == "a" else f"{_b(mk, x.index)}[j]" if x.op == "b" else f"s{x.index}v"

    operand = (lambda q: ScalarOperand("_n", (f"{_a(mk, q)}{at}",))) if tile.scalar_rows else None
    return bare(expression(tile.isa, tile.elem, step, leaf, operand))
