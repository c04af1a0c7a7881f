"""Says when register kernels work on a product's arrays where these lie, and how: on the target instead of a copy of
the tile, and on the left operand instead of its packed slivers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codegen.ast.ctree import Bin, CExpr, Int, Name
from codegen.isa.common import underlying
from codegen.isa.load import load as load_isa
from codegen.isa.model import C_TYPES
from codegen.machine.formulas import DEEPEST, SECOND_TOLD
from codegen.recognize.products.contraction import unit_stride
from codegen.scop.expr import Expr, Ref
from codegen.scop.product import Blocking
from codegen.target.product.corners import Bundle
from codegen.target.product.packing import line
from codegen.target.product.view import FarOperand, OperandPlace

if TYPE_CHECKING:
    from codegen.target.product.blocked import ProductPrinter

# Copying a value of the left operand costs as much as using it for one tile, so that beside fewer tiles than this it is
# worth more than 3 %. Where tiles are gone through along rows, lines of these stay in the first cache meanwhile. f64
# and f32, one core with AVX-512, of MKL: 2000 x 64 x 2000 0.79 and 0.83 packed, 0.98 and 1.14 in place; of
# 4000 x 100 x 100 0.80 and 0.70, 0.88 and 0.79; of 500 x 500 x 500 0.98 and 1.03, 1.03 and 1.09; of 3000 x 3000 x 256
# 0.98 and 1.01, 0.93 and 1.03. Down columns, they come from the second cache, and addresses of more rows than one have
# to be there; it is done where kernels load single values in any case. One Cascade Lake with AVX2, of MKL, f32 and f64:
# 96 x 96 x 96 0.90 and 0.96 packed, 1.02 and 1.02 in place; 200 x 200 x 200 0.93 and 0.97, 0.98 and 0.97;
# 2000 x 64 x 2000 0.79 and 0.89, 0.97 and 0.94; 100 x 100 x 2000 0.85 and 0.92, 0.96 and 0.96; 4000 x 100 x 100 0.78
# and 0.91, 0.88 and 0.96; up to 8 tiles alone gains less.
TILES = 32

# Tiles of columns beside which such an operand comes from far memory for most of the work. Processors fetch lines of a
# row ahead by themselves, and past the end of a block of depth in vain: long pieces waste less, but no longer stay in
# the first cache for the other tiles. One core with AVX-512, time in blocks that fit the first cache over time in deep
# ones, best and median, f64: 2000 x 32 x 2000 1.06 and 1.22, 2000 x 64 x 2000 1.09 and 1.07, 4000 x 64 x 1000 1.06 and
# 0.99, 300 x 64 x 1000 1.04 and 1.03; f32: 2000 x 32 x 2000 1.11 and 1.02, 2000 x 64 x 2000 1.03 and 1.12,
# 2000 x 100 x 2000 1.02 and 0.99. Where the second cache holds the operand it is slower: 100 x 100 x 2000 0.93. Beside
# eight tiles f64 still gains (2000 x 128 x 2000 1.05), f32 does not (2000 x 256 x 2000 0.98).
SLIM = 4

# Rows with which a line is used as long as one takes to come: with fewer, kernels that fetch
# wait for it, and copies do that better. One core with AVX-512, f64 and f32, time without over time with it:
# 2 x 2000 x 2000 0.81 and 0.95, 16 x 2000 x 2000 0.93 and 0.99, 30 x 1000 x 1000 1.12 and 1.04, 64 x 2000 x 2000 1.06
# and 1.05.
FAR_ROWS = 28


def target_in_place(p: ProductPrinter) -> tuple[str, str, str]:
    """When and how the kernel can work on C itself, on tiles that it covers: (condition, pointer, row stride). No
    pointer: never."""
    if p.what.step.careful or not _in_lines(p, p.s.target, p.what.columns[-1]):
        return "", "", ""
    rows, columns = p.rows, p.columns
    here = {rows.name: p.coordinate(rows, "t"), columns.name: p.coordinate(columns, "t")}
    pointer = f"&{p.element(p.s.target, here)}"
    if rows.single and columns.single:
        below = {rows.name: Bin("+", here[rows.name], Int(1)), columns.name: here[columns.name]}
        return "", pointer, f"&{p.element(p.s.target, below)} - {pointer}"
    p.ints.helpers.add("tw_even")
    row, col = (p.entry(b, here) for b in (rows, columns))
    rt, ct = p.table(p.s.target, rows), p.table(p.s.target, columns)
    side = f"{ct}[{col} + (tw_n > 1)] - {ct}[{col}] == (tw_n > 1)"
    how = f"tw_even({rt} + {row}, tw_m) && tw_even({ct} + {col}, tw_n) && {side}"
    return f" && {how}", pointer, f"{rt}[{row} + (tw_m > 1)] - {rt}[{row}]"


def left_in_place(p: ProductPrinter, how: Blocking, kernel: str) -> OperandPlace | None:
    """Where the left operand is, if kernels can read it there: an element whose steps are neighbours. Nothing that the
    product writes is read as its left operand."""
    (left, *more), rows, depth = p.what.step.left, p.rows, p.depth
    if more or not isinstance(left, Ref) or not (rows.single and depth.single):
        return None
    if not _in_lines(p, left.access, p.what.depth[-1]):
        return None
    at = {rows.name: p.coordinate(rows, "t"), depth.name: p.coordinate(depth, "")}
    here = p.element(left.access, at)
    below = p.element(left.access, {**at, rows.name: Bin("+", at[rows.name], Int(1))})
    if not re.match(r"\w+\[", here):
        return None
    tiles = TILES if how.run or _by_values(p, how) else 0
    slim = SLIM if how.run else 0
    return OperandPlace(f"&{here}", f"&{below} - &{here}", kernel, tiles, slim, DEEPEST, SECOND_TOLD)


def _by_values(p: ProductPrinter, how: Blocking) -> bool:
    """Do loads of vectors of known length bring single values into all lanes?"""
    isa = load_isa(underlying(how.isa) or how.isa, how.bits)
    return bool(isa.bits) and not isa.vec(p.what.step.elem).broadcast


def right_ahead(p: ProductPrinter, width: int) -> FarOperand | None:
    """Where the right operand is, if the lines of a depth are those of an array's row: kernels can fetch the next
    block, so many columns of a sliver, while they work on this one."""
    (right, *more), columns, depth = p.what.step.right, p.columns, p.depth
    if more or not isinstance(right, Ref) or not (columns.single and depth.single):
        return None
    if not _in_lines(p, right.access, p.what.columns[-1]):
        return None
    at: dict[str, CExpr] = {columns.name: Name("tw_over"), depth.name: p.coordinate(depth, "")}
    here = p.element(right.access, at)
    below = p.element(right.access, {**at, depth.name: Bin("+", at[depth.name], Int(1))})
    if not re.match(r"\w+\[", here):
        return None
    return FarOperand(f"&{here}", f"&{below} - &{here}", line(p.what.step.elem), width, FAR_ROWS)


def packed_type(p: ProductPrinter, operands: tuple[Expr, ...]) -> str:
    """The packed type, where an operand is elements of it in an array; else ""."""
    (first, *more) = operands
    return C_TYPES[p.what.step.elem] if isinstance(first, Ref) and not more and _same_type(p, first.access) else ""


def moved_from(p: ProductPrinter, operands: tuple[Expr, ...], side: Bundle, d: int) -> str:
    """The first element of a full sliver at some depth, where those of the sliver are neighbours of the packed type:
    compilers copy them in their longest vectors. "" where they are not."""
    first = operands[0]
    if not (packed_type(p, operands) and side.single and p.depth.single):
        return ""
    if not isinstance(first, Ref) or not _in_lines(p, first.access, d):
        return ""
    place = p.element(first.access, {side.name: p.coordinate(side, "t"), p.depth.name: p.coordinate(p.depth, "r")})
    return place if re.match(r"\w+\[", place) else ""


def _in_lines(p: ProductPrinter, number: int, d: int) -> bool:
    """Are an access's elements of the kernel's type, in one array where those of iterator `d` are neighbours? Others go
    through the scratch tile."""
    access = p.s.accesses[number]
    array = p.scop.arrays[access.array]
    plain = all(x.kind in ("sub", "flat") for x in access.path) and array.depth <= 1
    return plain and _same_type(p, number) and unit_stride(p.scop, p.s, number, d)


def _same_type(p: ProductPrinter, number: int) -> bool:
    elem = p.scop.arrays[p.s.accesses[number].array].elem
    name = p.what.step.elem
    kind = "f" if elem.kind == "float" else "i" if elem.signed else "u"
    return elem.by_keyword and elem.bits == int(name[1:]) and kind == name[0]
