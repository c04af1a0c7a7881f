"""Array contraction: drops from the declarations of the region's own arrays those dimensions in which all accesses
below a declaration have one and the same subscript, which no loop in between changes. `verify/storage.py` proves that
what remains is large enough."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ast.ctree import (
    CExpr,
    CNode,
    Declare,
    For,
    Held,
    Instance,
    Int,
    ProductNode,
    expr_names,
    walk,
    with_kids,
)
from codegen.scop.model import Scop


def contracted(scop: Scop, tree: CNode) -> CNode:
    """A tree whose variables have only the dimensions they need."""
    places = [(h, d) for d in walk(tree) if isinstance(d, Declare) for h in d.slots]
    needless = {}
    for name in sorted({h.array for h, _ in places}):
        array = scop.arrays[name]
        if array.rank and not array.roomy:
            found = [_fixed(scop, d.body, h) for h, d in places if h.array == name]
            needless[name] = frozenset.intersection(*found)
    wanted = {name: dims for name, dims in needless.items() if dims}
    return _without(tree, wanted) if wanted else tree


def _fixed(scop: Scop, body: CNode, held: Held) -> frozenset[int]:
    """The dimensions in which everything below a declaration touches one element."""
    inner = {x.var for x in walk(body) if isinstance(x, For)}
    indices = list(_indices(scop, body, held.array))
    if not indices or any(isinstance(x, ProductNode) for x in walk(body)):
        return frozenset()
    dims = (k for k, size in enumerate(held.sizes) if size and len({x[k] for x in indices}) == 1)
    return frozenset(k for k in dims if not expr_names(indices[0][k]) & inner)


def _indices(scop: Scop, body: CNode, array: str) -> Iterator[tuple[CExpr, ...]]:
    for x in walk(body):
        if isinstance(x, Instance):
            accesses = scop.statement(x.stmt).accesses
            yield from (index for a, index in zip(accesses, x.accesses, strict=True) if a.array == array)


def _without(node: CNode, dims: dict[str, frozenset[int]]) -> CNode:
    inner = with_kids(node, lambda x: _without(x, dims))
    if isinstance(inner, Declare):
        return Declare(tuple(_narrowed(h, dims.get(h.array, frozenset())) for h in inner.slots), inner.body)
    return inner


def _narrowed(h: Held, dims: frozenset[int]) -> Held:
    sizes = tuple(0 if k in dims else size for k, size in enumerate(h.sizes))
    return Held(h.array, sizes, tuple(Int(0) if k in dims else start for k, start in enumerate(h.starts)))
