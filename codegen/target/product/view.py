"""Records of a product's text: `ProductView` for the template `product.c.j2`, `NestsView` for `nested.c.j2`, and
`Wanted`, what the proof of the text compares with. `blocked.py` and `calls.py` make them."""

from __future__ import annotations

from codegen.lower.nest.kernel import NestKernel
from codegen.record import record
from codegen.scop.product import Blocking, Contraction
from codegen.target.product.corners import Bundle, CornerTexts
from codegen.target.product.microkernel_model import MicroKernel
from codegen.target.product.packing import Packing
from codegen.target.product.tiles import EdgeKernel, all_kernels


@record
class OffsetTable:
    """Offsets of one access along one bundle: the loops that fill it and the element whose offset it holds."""

    name: str
    size: str
    heads: tuple[str, ...]
    value: str


@record
class ComputedOperand:
    """An operand that is computed into a buffer before a call: `value` of row tw_y and column tw_x."""

    name: str
    rows: int
    columns: int
    value: str


@record
class WantedCall:
    """What a kernel for certain sizes is called for, as C texts: its loops, each from one value up to before another,
    in the source's order, which of them are summed over, and left, right and target where these loops are at tw_V0,
    tw_V1, ..., with the extents of their arrays behind the first."""

    elem: str
    loops: tuple[tuple[str, str, str], ...]
    depth: tuple[str, ...]
    elements: tuple[str, str, str]
    extents: tuple[tuple[str, ...], ...]


@record
class ExactCall:
    """When the code for certain sizes runs, always where there is no test, and what it is called with."""

    made: tuple[ComputedOperand, ...]
    test: str
    what: str
    kernel: NestKernel
    left: str
    right: str
    target: str
    wanted: WantedCall


@record
class WantedTable:
    """A table of offsets that the text should make: of `element` from `origin`, for the values tw_D0, tw_D1, ... of
    the loops of coordinate number `of`; with others at their first values, as in `origin`, whose address is `base`."""

    name: str
    base: str
    elem: str
    of: int
    element: str
    origin: str
    target: bool  # of the element that is updated


@record
class Wanted:
    """What a product has to do, for the proof of its text: C texts of its statement's parts in row tw_I, column tw_J
    and depth tw_K, from `first` up to before `past` of each, where no corner is negative. `names` are theirs in the
    text. Where several loops make a coordinate, with `loops` from one value up to before another, it counts through
    them, and their values are tw_I0, tw_I1, ...; arrays that move with such loops lie in one piece."""

    what: Contraction
    how: Blocking
    left: tuple[str, ...]
    right: tuple[str, ...]
    target: str
    consts: tuple[str, ...]
    first: tuple[str, str, str]
    past: tuple[str, str, str]
    corners: tuple[str, ...]
    names: tuple[str, str, str]
    loops: tuple[tuple[tuple[str, str], ...], ...]  # of each coordinate
    tables: tuple[WantedTable, ...]
    few: tuple[int | None, int | None]  # rows and columns there are at most, where no tile can be full
    elem: str  # the target's type, as it was declared
    packed: tuple[str, str]  # of left and right operands that are elements of the packed type: that type, else ""


@record
class OperandPlace:
    """Where kernels can read the left operand without a copy: C texts of its address at a tile's first row and a
    block's first depth, and of the distance to the next row; the function that does so; and beside how many tiles of
    columns it is worth it. Beside `slim` tiles at most, blocks are `deep` where it has more than `near` bytes."""

    pointer: str
    stride: str
    kernel: str
    tiles: int
    slim: int
    deep: int
    near: int


@record
class FarOperand:
    """The right operand's element at depth `kb`, the block's first, and column `tw_over`: C texts of its address and of
    the distance to the next depth's. Kernels fetch from there on, elements of a cache `line` apart."""

    pointer: str
    stride: str
    line: int
    columns: int  # so many of a sliver
    rows: int  # from so many on


@record
class DealtOut:
    """From which sizes on five threads and more take parts of the result as they come. Cores of a virtual machine
    differ in speed, and with equal parts all wait for the slowest; but parts move between caches, and beside few
    columns the left operand is packed that is read in place otherwise. Speed of the one over the other with AVX-512,
    16 threads, medians of f64 and f32: 800 cubed 1.67 and 1.10, 1000 1.61 and 0.96 (another time 1.20 and 1.13), 2000
    1.59 and 1.44, 4000 1.17 and 1.09, 200 x 2000 x 2000 1.20 and 1.31, 2000 x 600 x 2000 1.33 and 1.14; 700 0.98 and
    1.03, 500 0.86 and 1.02, 200 0.68 and 0.76, 64 x 2000 x 2000 1.04, 2000 x 128 x 2000 0.95, 2000 x 64 x 2000 0.88,
    2000 x 2000 x 100 0.93 and 0.98. With four threads 0.91 (f32, 128 x 2000 x 2000) to 1.12."""

    rows: int = 192
    columns: int = 512
    depth: int = 192
    work: int = 400_000_000


@record
class ProductView:
    """Everything the template prints."""

    comment: str
    elem: str
    packed: str  # the type of packed operands
    kernel: str
    edges: tuple[EdgeKernel, ...]
    rows: Bundle
    columns: Bundle
    depth: Bundle
    how: Blocking
    nr: str
    nr_value: str
    nr_max: int
    tables: tuple[OffsetTable, ...]
    bases: tuple[str, ...]
    left: Packing
    right: Packing
    target: str
    in_place: str  # condition under which the kernel works on C itself, "" when never
    c_pointer: str
    c_stride: str
    rounds: int  # steps of the kernel for each of the product
    consts: str
    const_decls: tuple[str, ...]
    threads: bool
    tasks: bool  # threads take parts of the result as they come, where the depth is cut or there is much work
    parallel_if: str
    careful: bool  # store only what has changed
    cut: CornerTexts | None
    wanted: Wanted
    exact: tuple[ExactCall, ...] = ()
    asked: str = ""  # sizes of a tile that the kernel is given first, of m and n
    chosen: str = ""  # text of the kernels, where the one that is called chooses by the tile's size
    dealt: DealtOut = DealtOut()
    place: OperandPlace | None = None  # of the left operand, where it need not be packed
    further: str = ""  # what kernels are told to fetch meanwhile, where they can be: ", address, distance"
    far: FarOperand | None = None  # where they fetch the next block of the right operand from
    thin: int = 0  # the same as `how.direct` for products of two rows or steps; 0: no matter how many there are

    @property
    def kernels(self) -> tuple[tuple[str, int, MicroKernel | NestKernel], ...]:
        """What it calls, with the instruction set and the width of vectors."""
        exact: tuple[MicroKernel | NestKernel, ...] = tuple(x.kernel for x in self.exact)
        return tuple((self.how.isa, self.how.bits, x) for x in (*all_kernels(self.wanted.what, self.how), *exact))


@record
class NestsView:
    """A product that runs in nests alone, and where none fits as its plain nest."""

    comment: str
    elem: str
    exact: tuple[ExactCall, ...]

    @property
    def always(self) -> bool:
        """Whether the first one fits whatever comes."""
        return bool(self.exact) and not self.exact[0].test
