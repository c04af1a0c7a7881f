"""Chooses small sizes of the parameters at which a statement is drawn or counted (`sample`): a few tiles along every
iterator. None where no such sizes were found."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from codegen.recognize.access.instances import fixed
from codegen.record import record
from codegen.scop.isl_helpers import val
from codegen.scop.model import Scop, Statement
from codegen.scop.product import Blocking, Product
from codegen.scop.tree import Band, Loop, Node, enclosing, statements, walk

TILES = 3  # shown along an iterator
PLAIN = 8  # iterations shown of a loop without tiles
OTHER = 4  # value of a parameter that bounds no iterator


@record
class Sample:
    """A statement at fixed parameters: `domain` has them in it, `sizes` are tile sizes by iterator (0: none), and
    `shown` are the parameters that the source has, too."""

    params: Mapping[str, int]
    domain: isl.Set
    sizes: tuple[int, ...]
    shown: frozenset[str] = frozenset()


def product_of(tree: Node, stmt: str) -> Product | None:
    """The product that a statement is carried out as."""
    for _, node in walk(tree):
        if isinstance(node, Band) and node.product is not None and stmt in statements(node):
            return node.product
    return None


def blocks(product: Product | None) -> dict[int, int]:
    """Iterator and size of each block of a blocked product; of several iterators of one kind the last is cut."""
    if product is None or not isinstance(product.how, Blocking):
        return {}
    what, how = product.what, product.how
    cut = ((what.columns, how.nc), (what.depth, how.kc), (what.rows, how.mc))
    return {dims[-1]: size for dims, size in cut if dims}


def uses(lp: Loop, stmt: str, d: int) -> bool:
    """Does the loop's value depend on the statement's iterator number `d`?"""
    return bool(lp.exprs[stmt].involves_dims(isl.dim_type.in_, d, 1))


def tile_sizes(tree: Node, s: Statement) -> tuple[int, ...]:
    """The smallest tile that cuts each iterator, 0 where none does."""
    cut = blocks(product_of(tree, s.name))
    tiled = [lp for lp in enclosing(tree, s.name) if lp.tile]
    found = [[lp.tile for lp in tiled if uses(lp, s.name, d)] for d in range(len(s.iterators))]
    return tuple(min(sizes, default=cut.get(d, 0)) for d, sizes in enumerate(found))


def sample(scop: Scop, tree: Node, s: Statement, shown: frozenset[str] = frozenset()) -> Sample | None:
    """None where no sizes with something to show were found."""
    sizes = tile_sizes(tree, s)
    wanted = [TILES * size if size else PLAIN for size in sizes]
    start = {q.name: OTHER for q in scop.params}
    for d, extent in enumerate(wanted):
        for name in _bounding(s, d):
            start[name] = max(start[name], extent + 2)
    whole = s.domain.intersect_params(scop.context)
    for factor in (1, 2, 4, 8):
        params = {name: value * factor for name, value in start.items()}
        domain = fixed(whole, params)
        if not domain.is_empty() and all(domain.dim_is_bounded(isl.dim_type.set, d) for d in range(len(sizes))):
            return Sample(params, domain, sizes, shown)
    return None


def _bounding(s: Statement, d: int) -> list[str]:
    """Parameters that the end of an iterator depends on."""
    if not s.domain.dim_is_bounded(isl.dim_type.set, d):
        return []
    end = s.domain.dim_max(d)
    names = [end.get_dim_name(isl.dim_type.param, k) for k in range(end.dim(isl.dim_type.param))]
    values = [value for _, value in end.get_pieces()]
    return [n for k, n in enumerate(names) if n and any(v.involves_dims(isl.dim_type.param, k, 1) for v in values)]


def span(set_: isl.Set, d: int) -> tuple[int, int]:
    """First and last value of a bounded dimension, parameters fixed."""
    low, high = set_.dim_min_val(d), set_.dim_max_val(d)
    return int(low.to_str()), int(high.to_str())


def point_at(set_: isl.Set, params: Mapping[str, int]) -> isl.Point:
    """A point of the set's space with its parameters filled in and all else 0."""
    point = isl.Point.zero(set_.get_space())
    for k in range(set_.dim(isl.dim_type.param)):
        name = set_.get_dim_name(isl.dim_type.param, k)
        point = point.set_coordinate_val(isl.dim_type.param, k, val(params[name or ""]))
    return point
