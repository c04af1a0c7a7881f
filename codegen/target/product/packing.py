"""The `Packing` record, which tells `pack.c.j2` how to copy an operand of a blocked product into slivers, and the
functions that choose its loop order, by the way the operand's elements lie in memory."""

from __future__ import annotations

from codegen.isa.model import bits_of
from codegen.recognize.products.contraction import unit_stride
from codegen.record import record
from codegen.scop.expr import Binary, Expr, Ref, Ternary, walk
from codegen.scop.model import Scop, Statement

# Where an operand's rows or columns are neighbours in memory, one step of the depth is read over so many cache lines
# before the next, so that memory and the page table are not asked for something else with every line. f64
# products of 64 x 4000 x 256 on a Neoverse N1, GFlop/s: 11.5 with 1 line, 13.8 with 2, 15.4 with 4, 15.9 with 8, 15.7
# with 16; f32: 27.8, 27.8, 28.7, 30.3, 30.7.
LINES = 8
LINE_BYTES = 64
# At least so many slivers of the right operand are copied side by side where lines of its next block are fetched
# meanwhile: one thread takes blocks of so many beside few rows. 64 x 2000 x 2000 in f64 with AVX-512, of MKL: 0.68
# with blocks that fill the second cache, copied by 2 slivers, 0.83 with these (Emerald Rapids); 0.78 and 0.90
# (Cascade Lake).
SLIVERS = 8
# Steps of the depth by which their lines are fetched before they are copied. The same f64 product: 16.0 GFlop/s
# without, 16.9 with 2 or 4, 16.7 with 8, 16.6 with 16.
AHEAD = 2
# Where neither rows (or columns) nor the depth are neighbours in memory, the lines of so many steps are read by all
# slivers before the next steps are, while they are in L1.
# abcdef-gdab-efgc in f64 on a Neoverse N1, of the speed of the plain product: 0.87 without, 0.92 with 8 or 32, 0.89
# with 128; abcdef-degc-gfab: 0.91, 0.96, 0.93.
STEPS = 16


@record
class Packing:
    """One operand: C texts of its values, and how many of its slivers are filled side by side (1: one by one)."""

    values: tuple[str, ...]
    slivers: str
    along: bool  # neighbours of the rows or columns are neighbours in memory
    fixed: bool  # the width of a sliver is a number
    ahead: tuple[str, ...]  # elements to fetch, tw_ahead being the depth, tw_l every `line` of a sliver of known width
    copies: int = 1  # how often every value is stored
    distance: int = AHEAD
    line: int = 1
    steps: int = 0  # of the depth that are copied at a time, 0: all
    moved: str = ""  # the first element of a full sliver, where neighbours are copied as they are
    few: int | None = None  # rows or columns there are at most, where that does not fill a sliver

    @property
    def full(self) -> bool:
        """Can a sliver be full at all? Compilers see it reach beyond arrays where it cannot."""
        return self.few is None


def along(scop: Scop, s: Statement, operands: tuple[Expr, ...], d: int) -> tuple[int, ...]:
    """The accesses of an operand that move by one element along iterator `d`."""
    found = {x.access for e in operands for x in walk(e) if isinstance(x, Ref)}
    return tuple(n for n in sorted(found) if unit_stride(scop, s, n, d))


def always_read(operands: tuple[Expr, ...]) -> bool:
    """Is no access under a condition, so that all its places exist?"""
    parts = [x for e in operands for x in walk(e)]
    return not any(isinstance(x, Ternary) or (isinstance(x, Binary) and x.op in ("&&", "||")) for x in parts)


def line(elem: str) -> int:
    """Elements of a cache line."""
    return LINE_BYTES * 8 // bits_of(elem)


def slivers(elem: str, width: str, least: int = 1) -> str:
    """How many slivers of `width` elements are copied side by side, as C text: those that fill the lines that are read
    together, and `least` where these are fewer."""
    room = LINES * LINE_BYTES * 8 // bits_of(elem)
    return str(max(least, room // int(width))) if width.isdigit() else f"tw_max({least}, {room} / {width})"
