"""Reads a nest of a device as a matrix product (`product_nest`), and lays out how given tiles carry it out (`tiled`):
layouts of staged operands, and steps in their order. NoTiles says why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import CExpr, CNode, For, Instance, Name, expr_names
from codegen.gpu.body import plain_type
from codegen.gpu.tiles.cut import CutBox, NoCut, cut_box, wrong_cut
from codegen.gpu.tiles.model import DEEP, WIDE, DepthStaging, StagedOperand, ThreadTile
from codegen.gpu.tiles.order import TileProgram, loading_ahead, pipelined
from codegen.gpu.transfers import strides_of
from codegen.recognize.access.ctypes import type_of
from codegen.recognize.access.strides import coefficients
from codegen.recognize.products.contraction import NoContraction, contraction
from codegen.record import record
from codegen.scop.expr import Affine, Binary, Expr, Ref, Sym, Unary, is_code, walk
from codegen.scop.lanes import Lane
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.product import Contraction
from codegen.scop.tree import GRID, SEQUENTIAL
from codegen.scop.types import CType

LEAST_COPY = 4  # bytes that can be on their way to shared memory while a thread goes on


class NoTiles(Exception):
    """Why a nest is no product of this kind."""


@record
class Nest:
    """The loops of a product on a device, over rows, columns and depth, and what they run; `batch` is a loop of threads
    around them, each iteration of which is a product of its own."""

    rows: For
    columns: For
    depth: For
    instance: Instance
    statement: Statement
    what: Contraction
    batch: For | None = None
    cut: CutBox | None = None  # where rows and columns are no box


@record
class TiledProduct:
    """A product with everything that is proven and printed of it."""

    nest: Nest
    tiles: tuple[ThreadTile, ...]
    staging: DepthStaging
    operands: tuple[StagedOperand, ...]
    order: TileProgram
    step: int  # depths that are loaded and computed at once
    guarded: bool  # are there depths beyond the last one that must not be computed?
    vector: int  # elements of 16 bytes, if all arrays have equal ones

    @property
    def unit(self) -> str:
        return self.tiles[0].unit.name if self.tiles[0].unit else ""


def product_nest(scop: Scop, node: CNode) -> Nest:
    """The product that a nest is. Raises NoTiles."""
    loops: list[For] = []
    while isinstance(node, For):
        loops.append(node)
        node = node.body
    kinds = [lp.loop.kind for lp in loops]
    if not isinstance(node, Instance) or kinds[-3:] != [GRID, GRID, SEQUENTIAL] or kinds[:-3] not in ([], [GRID]):
        raise NoTiles("its threads run over two loops or three, and inside them over one")
    s, names = scop.statement(node.stmt), {lp.var for lp in loops}
    ends = {lp.var: (expr_names(lp.lower) | expr_names(lp.upper)) & names for lp in loops}
    changes = any(ends.values())
    if ends.pop(loops[-2].var) - {loops[-3].var} or any(ends.values()):
        raise NoTiles("the bounds of one of its loops change with another")
    plain = [*loops[:-3], loops[-1]] if changes else loops  # others have the bounds of the box around them
    if any(lp.step != 1 or lp.otherwise or lp.carried for lp in loops) or any(lp.op != "<" for lp in plain):
        raise NoTiles("its loops do not count one by one")
    where = {e.name: d for d, e in enumerate(node.iterators) if isinstance(e, Name) and e.name in names}
    if len(where) != len(loops):
        raise NoTiles("its loops are not those of the statement")
    inner = {where[lp.var] for lp in loops[-3:]}
    try:
        found = contraction(scop, s, [d for d in range(len(s.iterators)) if d not in inner])
    except NoContraction as error:
        raise NoTiles(str(error)) from None
    roles = [next((lp for lp in loops[-3:] if (where[lp.var],) == part), None) for part in
             (found.rows, found.columns, found.depth)]  # fmt: skip
    if None in roles or found.step.careful or is_code(s.rhs):
        raise NoTiles("it is a product of other loops, or writes under a condition")
    if roles[2] is not loops[-1]:
        raise NoTiles("its depth is shared out among threads")
    rows, columns, depth = roles
    assert rows is not None and columns is not None and depth is not None
    cut = _cut(scop, node, found, depth) if changes else None
    return Nest(rows, columns, depth, node, s, found, loops[0] if len(loops) > 3 else None, cut)


def _cut(scop: Scop, at: Instance, what: Contraction, depth: For) -> CutBox:
    """Rows and columns that are no box, proven to be all that the statement has."""
    s = scop.statement(at.stmt)
    try:
        box = cut_box(scop, s, at, what)
    except NoCut as error:
        raise NoTiles(str(error)) from None
    problem = wrong_cut(scop, s, at, what, box, depth)
    if problem:
        raise NoTiles(problem)
    return box


def tiled(
    scop: Scop, nest: Nest, tiles: Sequence[ThreadTile], staging: DepthStaging, pads: Mapping[str, int]
) -> TiledProduct:
    """How tiles carry a product out. `pads` are elements behind lines of arrays in shared memory. Raises NoTiles."""
    if not tiles:
        raise NoTiles("there are no tiles")
    s, unit = nest.statement, tiles[0].unit
    if any(t.unit != unit for t in tiles):
        raise NoTiles("its tiles are computed in different ways")
    if any(isinstance(e, Affine) for e in walk(s.rhs)):
        raise NoTiles("it computes with indices")
    filled = sum_of_products(scop, nest, unit is not None)
    deep = unit is not None or not filled
    operands = tuple(_operand(scop, nest, k, pads, deep) for k in _read(s, nest.what.own))
    arrays = {s.accesses[o.access].array for o in operands}
    if s.accesses[s.target].array in arrays and not _apart(scop, nest, operands):
        raise NoTiles("it reads elements that it writes elsewhere")
    if {o.side for o in operands} != {0, 1} or {o.name for o in operands} != pads.keys():
        raise NoTiles("operands of rows and of columns are staged, and nothing else")
    kinds = {o.bytes for o in operands} | {scop.arrays[s.accesses[s.target].array].elem.bytes}
    same = len(kinds) == 1
    if unit is not None and not (filled and kinds == {8} and len(operands) == 2 and _is_float(scop, s)):
        raise NoTiles("matrix units add up products of two numbers in double precision")
    step = unit.depth if unit else max(1, 8 // max(kinds)) if any(o.layout == DEEP for o in operands) else 1
    if filled:
        operands = tuple(replace(o, fill=_fill(o, _is_float(scop, s)), factor=_factor(nest, o)) for o in operands)
    if staging.depth % step:
        raise NoTiles(f"the depth that is staged is no multiple of {step}")
    steps, ahead = staging.depth // step, filled and unit is None and not staging.depth // step % 2
    order = loading_ahead(staging.stages, steps) if ahead else pipelined(staging.stages, steps)
    vector = 16 // max(kinds) if same else 1
    return TiledProduct(nest, tuple(tiles), staging, operands, order, step, not filled, vector)


def _apart(scop: Scop, nest: Nest, operands: Sequence[StagedOperand]) -> bool:
    """Does no block read what another one writes, for any values of the loops around the product? Operands read what
    the statement reads and nothing else: where rows and columns are cut off, they are so at all depths alike."""
    s, what = nest.statement, nest.what
    inner = sorted((*what.rows, *what.columns, *what.depth), reverse=True)
    if nest.batch is not None:
        return False

    def touched(number: int) -> isl.Map:
        """From the values of the loops around to elements."""
        found = s.accesses[number].relation.intersect_domain(s.domain.intersect_params(scop.context))
        found = found.set_tuple_name(isl.dim_type.in_, "") if found.has_tuple_id(isl.dim_type.in_) else found
        for d in inner:
            found = found.project_out(isl.dim_type.in_, d, 1)
        return found

    array, written = s.accesses[s.target].array, touched(s.target)
    return all(written.intersect(touched(o.access)).is_empty() for o in operands if s.accesses[o.access].array == array)


def _is_float(scop: Scop, s: Statement) -> bool:
    return scop.arrays[s.accesses[s.target].array].elem.kind == "float"


def _fill(o: StagedOperand, floating: bool) -> str:
    """x + -0.0 * 0.0 is x, whatever x is; so is x + 0 * 0 in integers."""
    return "-0.0" if floating and o.side == 0 else "0"


def sum_of_products(scop: Scop, nest: Nest, scaled: bool = False) -> bool:
    """Is a step target + left * right, of two elements as they are? Or, if they may be `scaled`, of what is computed
    from one element and values that do not change: once for each that a thread loads; so is the factor of another sign
    where the step subtracts, which rounds as an addition of that does."""
    s, step = nest.statement, nest.what.step
    signs = ("add", "sub") if scaled else ("add",)
    wanted = {Lane(op, (Lane("acc"), Lane("mul", x))) for x in _EITHER for op in signs}
    factors = (*step.left, *step.right)
    plain = len(step.left) == len(step.right) == 1 and all(isinstance(e, Ref) for e in factors)
    if scaled and not plain:
        plain = len(step.left) == len(step.right) == 1 and all(_of_one(scop, s, e) for e in factors)
    target = scop.arrays[s.accesses[s.target].array].elem
    return plain and step.lane in wanted and all(_same(scop.arrays[a.array].elem, target) for a in s.accesses)


_EITHER = ((Lane("a"), Lane("b")), (Lane("b"), Lane("a")))


def _of_one(scop: Scop, s: Statement, e: Expr) -> bool:
    """Is it computed from one element and constants, by arithmetic in the element's type?"""
    refs, rest = ([x for x in walk(e) if isinstance(x, Ref) == wanted] for wanted in (True, False))
    if len(refs) != 1:
        return False
    (ref,), kind = refs, type_of(scop, s, e)
    assert isinstance(ref, Ref)
    plain = all(isinstance(x, Sym) or (isinstance(x, Binary) and x.op in ("+", "-", "*", "/")) for x in rest)
    return plain and kind is not None and _same(kind, scop.arrays[s.accesses[ref.access].array].elem)


def _factor(nest: Nest, o: StagedOperand) -> Expr | None:
    """What is multiplied, where that is not the staged element itself."""
    e = (*nest.what.step.left, *nest.what.step.right)[o.side]
    if nest.what.step.lane.op == "sub" and o.side == 0:
        return Unary("-", e)
    return None if isinstance(e, Ref) else e


def _same(a: CType, b: CType) -> bool:
    return (a.kind, a.bits, a.signed) == (b.kind, b.bits, b.signed)


def _read(s: Statement, own: int) -> list[int]:
    """Accesses that bring operands, each element once."""
    out: list[int] = []
    for e in walk(s.rhs):
        if not isinstance(e, Ref) or e.access in (own, s.target, *out):
            continue
        if not any(s.accesses[k].relation.is_equal(s.accesses[e.access].relation) for k in out):
            out.append(e.access)
    return out


def staged_arrays(scop: Scop, nest: Nest) -> dict[str, int]:
    """The arrays that a product reads, with the bytes of their elements."""
    s = nest.statement
    found = (scop.arrays[s.accesses[k].array] for k in _read(s, nest.what.own))
    return {a.base: a.elem.bytes for a in found}


def _operand(scop: Scop, nest: Nest, number: int, pads: Mapping[str, int], deep: bool) -> StagedOperand:
    """How an array is staged. Lanes of a unit, and threads with much to do in a step, load neighbouring depths. Others
    load neighbouring rows (or columns) of one depth, so these lie side by side even where that takes copies of single
    elements, if such copies run beside the computation."""
    s, what = nest.statement, nest.what
    a = s.accesses[number]
    array = scop.arrays[a.array]
    moves = {d: stride(scop, s, a, d) for d in (what.rows[0], what.columns[0], what.depth[0])}
    own = [d for d in (what.rows[0], what.columns[0]) if moves[d]]
    if len(own) != 1 or not moves[what.depth[0]] or array.inside:
        raise NoTiles(f"`{array.base}` does not vary with the depth and one of rows and columns")
    side = 0 if own[0] == what.rows[0] else 1
    line = "own" if moves[own[0]] == "1" else "depth" if moves[what.depth[0]] == "1" else ""
    layout = DEEP if line == "depth" and (deep or array.elem.bytes < LEAST_COPY) else WIDE
    return StagedOperand(number, array.base, plain_type(array.elem), array.elem.bytes, side, moves[own[0]],
                   moves[what.depth[0]], line, layout, pads.get(array.base, 0))  # fmt: skip


def target_strides(scop: Scop, nest: Nest) -> tuple[str, str]:
    """How far rows, and columns, of the target are apart. Raises NoTiles."""
    s = nest.statement
    row, column = (stride(scop, s, s.accesses[s.target], part[0]) for part in (nest.what.rows, nest.what.columns))
    return row, column


def stride(scop: Scop, s: Statement, a: Access, d: int) -> str:
    """How far elements are apart that an iterator's neighbours touch; empty where it does not move the access."""
    array = scop.arrays[a.array]
    found = ""
    for k, text in enumerate(strides_of(array, a)):
        c = coefficients(a.index.get_pw_aff(k), len(s.iterators))
        if c is None or c[d] not in (0, 1) or (c[d] and found):
            raise NoTiles(f"elements of `{array.base}` are no fixed distance apart")
        found = text if c[d] else found
    return found


def bounds(nest: Nest) -> tuple[tuple[CExpr, CExpr], ...]:
    """First and past-the-last values of rows, columns and depth; of what is no box, those of the box around it."""
    ends = tuple((lp.lower, lp.upper) for lp in (nest.rows, nest.columns, nest.depth))
    return ends if nest.cut is None else (nest.cut.rows, nest.cut.columns, ends[2])
