"""The mapping of a product's tile to a block of threads, as formulas that are both printed and proven.

A formula is the text of an integer expression of C. Its names are `thread`, the number of a thread in its block, the
number of what it copies or reads, and the constants of the tile. The kernel prints the text, `prove.py` parses it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codegen.ast.ctree import Bin, CExpr, Int, Name
from codegen.record import record
from codegen.scop.expr import Expr

WARP = 32
WIDE, DEEP = "wide", "deep"  # elements that differ in row (or column) lie side by side, or those that differ in depth


@record
class MatrixUnit:
    """A matrix unit: rows, columns and depth of what a warp multiplies at once, in f64. By PTX, a lane has elements
    (lane / 4, lane % 4) of the left operand, (lane % 4, lane / 4) of the right one, and two neighbours of a row of
    the target; further ones are 8 rows or columns, or 4 depths on."""

    rows: int
    columns: int
    depth: int

    @property
    def name(self) -> str:
        return f"m{self.rows}n{self.columns}k{self.depth}"


UNITS = {u.name: u for u in (MatrixUnit(8, 8, 4), MatrixUnit(16, 8, 4), MatrixUnit(16, 8, 8), MatrixUnit(16, 8, 16))}


@record
class ThreadTile:
    """Threads of a block along rows and columns, and the elements that each has in registers along them."""

    threads: tuple[int, int]
    registers: tuple[int, int]
    unit: MatrixUnit | None = None
    helpers: int = 0  # threads that copy, and compute nothing

    @property
    def count(self) -> int:
        return self.threads[0] * self.threads[1] + self.helpers

    @property
    def sides(self) -> tuple[int, int]:
        """Rows and columns of a block."""
        return self.threads[0] * self.registers[0], self.threads[1] * self.registers[1]


@record
class StagedOperand:
    """An array that is staged: `side` 0 varies with rows, 1 with columns. `line` is the one of its two strides, own or
    depth, that is one element; `pad` elements stand behind each line of shared memory."""

    access: int
    name: str
    kind: str  # C type of elements
    bytes: int
    side: int
    own: str  # strides, as C texts
    depth: str
    line: str  # "own", "depth", or "" where neither is one
    layout: str
    pad: int
    fill: str = "0"  # what stands beyond the last depth
    alone: bool = False  # one line for all threads, which some of them copy
    factor: Expr | None = None  # what is multiplied, computed from the element, where that is not the element itself

    @property
    def vector(self) -> int:
        """Elements that one copy of 16 bytes brings, where that is possible at all."""
        along = "own" if self.layout == WIDE else "depth"
        return 16 // self.bytes if self.line == along else 1


@record
class DepthStaging:
    """How much depth is staged at a time, and how often there is room for it."""

    depth: int
    stages: int


def constants(t: ThreadTile, s: DepthStaging) -> dict[str, int]:
    """What the names of formulas stand for."""
    (ti, tj), (ri, rj), (rows, columns) = t.threads, t.registers, t.sides
    return {"TI": ti, "TJ": tj, "RI": ri, "RJ": rj, "ROWS": rows, "COLUMNS": columns, "THREADS": t.count,
            "DEPTH": s.depth, "STAGES": s.stages}  # fmt: skip


# Which row and column of a block's tile register number `i` or `j` of a thread is. A warp has 4 by 8 threads without a
# matrix unit, each with groups of GI by GJ neighbours; with one, the unit says who has what.
PLAIN_ROW = "thread / 32 / (TJ / 8) * (4 * RI) + thread % 32 / 8 * GI + i / GI * (4 * GI) + i % GI"
PLAIN_COLUMN = "thread / 32 % (TJ / 8) * (8 * RJ) + thread % 8 * GJ + j / GJ * (8 * GJ) + j % GJ"
UNIT_ROW = "thread / 32 / (TJ / 4) * (8 * RI) + 8 * i + thread % 32 / 4"
UNIT_COLUMN = "thread / 32 % (TJ / 4) * (4 * RJ) + j / 2 * 8 + thread % 4 * 2 + j % 2"
# Which row of tiles a block computes one of. Blocks that start one after the other take GROUP tiles below each other,
# then those of the next column: they read the same lines while these are near.
TILE_ROW = "z * GROUP + x"
GROUPS = (1, 8)
# What a lane hands to a unit: row, or column, number `i` of eight, and which depth from `k` on.
LEFT_ROW = UNIT_ROW
RIGHT_COLUMN = "thread / 32 % (TJ / 4) * (4 * RJ) + 8 * i + thread % 32 / 4"
UNIT_DEPTH = "k + thread % 4"


def place(o: StagedOperand) -> str:
    """Where element `x` at depth `k` lies in shared memory, in room number `slot`."""
    side, line = ("ROWS", "COLUMNS")[o.side], _line(o)
    if o.layout == WIDE:
        return f"slot * (DEPTH * {line}) + k * {line} + x"
    return f"slot * ({side} * {line}) + x * {line} + k"


def room(o: StagedOperand) -> str:
    """Elements of all rooms of an operand."""
    side = ("ROWS", "COLUMNS")[o.side]
    one = f"DEPTH * {_line(o)}" if o.layout == WIDE else f"{side} * {_line(o)}"
    return f"STAGES * ({one})"


def _line(o: StagedOperand) -> str:
    """Elements from one line of shared memory to the next."""
    along = ("ROWS", "COLUMNS")[o.side] if o.layout == WIDE else "DEPTH"
    return f"({along} + {o.pad})" if o.pad else along


@record
class Copies:
    """What a thread copies of an operand, V elements `times` times: row (or column) and depth of its first copy, and
    how far the next one is along one of the two."""

    row: str
    depth: str
    along: str  # "row" or "depth"
    step: str
    times: str

    @property
    def which(self) -> tuple[str, str]:
        """Row (or column) and depth of copy number `r`."""
        onward = f" + r * ({self.step})"
        return (self.row + onward, self.depth) if self.along == "row" else (self.row, self.depth + onward)


def copied(o: StagedOperand) -> Copies:
    """How threads share the copies of an operand. Of a line that stands alone, those with row 0 make one."""
    side, v = ("ROWS", "COLUMNS")[o.side], "V" if o.vector > 1 else "1"
    times = f"{side} * DEPTH / ({v} * THREADS)"
    if o.line == "own" and not o.alone:
        line = f"({side} / {v})"
        return Copies(f"thread % {line} * {v}", f"thread / {line}", "depth", f"THREADS / {line}", times)
    line = f"(DEPTH / {v})"
    times = "1" if o.alone else times
    return Copies(f"thread / {line}", f"thread % {line} * {v}", "row", f"THREADS / {line}", times)


def parsed(text: str, values: Mapping[str, int]) -> CExpr:
    """A formula as an expression, with numbers for the names that are known."""
    return _expression(ast.parse(text, mode="eval").body, values)


_SIGNS: Mapping[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%"}


def _expression(e: ast.expr, values: Mapping[str, int]) -> CExpr:
    if isinstance(e, ast.BinOp):
        return Bin(_SIGNS[type(e.op)], _expression(e.left, values), _expression(e.right, values))
    if isinstance(e, ast.Name):
        return Int(values[e.id]) if e.id in values else Name(e.id)
    assert isinstance(e, ast.Constant) and isinstance(e.value, int)
    return Int(e.value)


def number(text: str, values: Mapping[str, int]) -> int:
    """The value of a formula of constants."""
    return value(parsed(text, values), {})


def value(e: CExpr, names: Mapping[str, int]) -> int:
    """The value of an expression without negative numbers, where its names have these."""
    if isinstance(e, Int):
        return e.value
    if isinstance(e, Name):
        return names[e.name]
    assert isinstance(e, Bin)
    a, b = value(e.left, names), value(e.right, names)
    found = {"*": a * b, "+": a + b, "-": a - b}
    return found[e.op] if e.op in found else a // b if e.op == "/" else a % b
