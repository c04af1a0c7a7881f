"""Counts the bytes and operations of one tile of a statement, at the sizes of a sample (`work_of`); of a blocked
product, those of its blocks."""

from __future__ import annotations

from math import prod

import islpy as isl

from codegen.machine.processor import element_size
from codegen.record import record
from codegen.report.sample import Sample, point_at, product_of, span
from codegen.scop.expr import Binary, Call, Unary, walk
from codegen.scop.isl_helpers import val
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.product import Blocking, Product
from codegen.scop.tree import Node, enclosing

COUNTED = 20_000  # points up to which a set is counted one by one; beyond, the box around it is taken


@record
class TileWork:
    """A tile, or the whole sample where it is not `tiled`: bytes by array, bytes moved, operations."""

    stmt: str
    tiled: bool
    parts: tuple[tuple[str, int], ...]
    moved: int
    operations: int

    @property
    def intensity(self) -> float:
        """Operations for each byte, when a tile's data are read and written once."""
        return self.operations / max(1, self.moved)


def work_of(scop: Scop, tree: Node, s: Statement, at: Sample) -> TileWork:
    product = product_of(tree, s.name)
    if product is not None and isinstance(product.how, Blocking):
        return _product_work(scop, s, product, product.how)
    tiles = [lp for lp in enclosing(tree, s.name) if lp.tile]
    points = at.domain
    if tiles:
        middle = _middle(at)
        for lp in tiles:
            here = lp.exprs[s.name]
            same = isl.Map.from_pw_aff(here).fix_val(isl.dim_type.out, 0, here.eval(middle))
            points = points.intersect(same.domain())
    reads, writes = (_boxes(scop, points, accesses) for accesses in (s.reads, s.writes))
    parts = tuple((a, max(reads.get(a, 0), writes.get(a, 0))) for a in sorted({*reads, *writes}))
    moved = sum(reads.values()) + sum(writes.values())
    return TileWork(s.name, bool(tiles), parts, moved, _count(points) * operations(s))


def _middle(at: Sample) -> isl.Point:
    """A point well inside, where tiles are whole."""
    domain, point = at.domain, point_at(at.domain, at.params)
    for d in range(len(at.sizes)):
        low, high = span(domain, d)
        middle = val((low + high) // 2)
        inside = domain.fix_val(isl.dim_type.set, d, middle)
        if inside.is_empty():
            middle = val(low)
            inside = domain.fix_val(isl.dim_type.set, d, middle)
        domain, point = inside, point.set_coordinate_val(isl.dim_type.set, d, middle)
    return point


def _boxes(scop: Scop, points: isl.Set, accesses: tuple[Access, ...]) -> dict[str, int]:
    """Bytes of the rows that are accessed, by array; scalars stay in registers."""
    touched: dict[str, isl.Set] = {}
    for a in accesses:
        if scop.arrays[a.array].rank:
            image = points.apply(a.relation)
            touched[a.array] = touched[a.array].union(image) if a.array in touched else image
    out = {}
    for name, elements in touched.items():
        array = scop.arrays[name]
        out[name] = 0 if elements.is_empty() else _cells(elements, array.scope) * array.elem.bytes
    return out


def _cells(elements: isl.Set, scope: int) -> int:
    """Elements in whole rows: the rows are counted, since a skewed tile slides over many more than it touches."""
    last = elements.dim(isl.dim_type.set) - 1
    low, high = span(elements, last)
    rows = elements.project_out(isl.dim_type.set, last, 1).project_out(isl.dim_type.set, 0, scope)
    return (high - low + 1) * _count(rows)


def _count(points: isl.Set) -> int:
    spans = [span(points, d) for d in range(points.dim(isl.dim_type.set))]
    box = prod(high - low + 1 for low, high in spans)
    return int(points.count_val().to_str()) if box <= COUNTED else box


def operations(s: Statement) -> int:
    """Arithmetic of one instance."""
    own = s.op not in ("=", "")
    return int(own) + sum(isinstance(e, (Binary, Call)) or (isinstance(e, Unary) and e.op == "-") for e in walk(s.rhs))


def _product_work(scop: Scop, s: Statement, product: Product, how: Blocking) -> TileWork:
    """The blocks of a product: a sliver of the right operand, a block of the left, the panel that all blocks share."""
    step = product.what.step
    size = element_size(step.elem)
    nr = how.nv * max(1, how.bits // (8 * size))
    left, right = (size * max(1, len(values)) for values in (step.left, step.right))
    parts = (
        (f"right sliver, {how.kc} x {nr}", how.kc * nr * right),
        (f"left block, {how.mc} x {how.kc}", how.mc * how.kc * left),
        (f"right panel, {how.kc} x {how.nc}", how.kc * how.nc * right),
    )
    result = 2 * how.mc * how.nc * scop.arrays[s.accesses[s.target].array].elem.bytes
    moved = how.mc * how.kc * left + how.kc * how.nc * right + result
    return TileWork(s.name, True, parts, moved, how.mc * how.kc * how.nc * operations(s))
