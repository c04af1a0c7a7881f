"""The schedule tree: named loops around statements, in execution order.

It is isl's tree with names: a `Band` is a group of loops (outermost first) that may be interchanged freely
when `permutable`; a `Seq` runs its children one after the other; a `Leaf` is one statement. `Hold` says where
the storage of variables declared inside the region lives. Trees are immutable; transformations make new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Union

import islpy as isl

from codegen.record import record
from codegen.scop.product import Product

SEQUENTIAL, PARALLEL, VECTOR, UNROLL = "", "parallel", "vector", "unroll"
PARALLEL_VECTOR = "parallel and vector"
PACKED = "packed"  # a row or column loop of a product whose operands are copied first: see verify/products.py
BLOCKED = "blocked"  # a row or column loop of a product: runs in tiles, in any order and on threads
FOLDED = "folded"  # the depth loop of a product whose steps are joined in an order of their own
JAMMED = "jammed"  # several iterations run side by side in the loop inside
PIPELINED = "pipelined"  # iterations on threads, each a few stages behind the one before it: see verify/pipelines.py
STAGE = "stage"  # the loop inside a pipelined one that says how far an iteration has come
SHARED = "shared"  # the loop right inside a parallel one whose iterations are shared out together with it
INTERLEAVED = "interleave"  # the few iterations of an innermost loop, written out side by side when all are there
GRID = "grid"  # iterations on threads of a device, `factor` of them in a block
# Kinds that must carry no dependence.
CONCURRENT = frozenset({PARALLEL, VECTOR, PARALLEL_VECTOR, BLOCKED, JAMMED, INTERLEAVED, SHARED, GRID})
THREADED = frozenset({PARALLEL, PARALLEL_VECTOR})
# Kinds whose iterations run on threads, in whatever way.
ON_THREADS = THREADED | {PIPELINED}


@record
class Loop:
    """One loop. `exprs` gives each statement below it its value, as a function of the statement's instance.

    `tile` is the step of a tile loop (0 for others); `note` says in words what the loop is. `width` is the size, in
    bytes, of the vectors that a vector loop is written with, `factor` of them side by side; 0 leaves it to compilers.
    """

    name: str
    exprs: Mapping[str, isl.PwAff]
    kind: str = SEQUENTIAL
    coincident: bool = False
    tile: int = 0
    of: str = ""  # the loop whose tiles a tile loop counts
    start: isl.Aff | None = None  # of parameters: where tiles of it begin; None: at its first value
    note: str = ""
    factor: int = 0
    width: int = 0
    share: int = 0  # how many iterations of a parallel loop a thread takes at a time, in turn; 0: an equal part
    carry: bool = False  # elements that iterations use again stay in variables
    alike: tuple[tuple[str, int], ...] = ()  # reads, as (statement, access), that find one value in all iterations
    reductions: tuple[tuple[str, str], ...] = ()  # (operator, array)
    fixed: Mapping[str, frozenset[int]] = field(default_factory=dict)  # iterators that loops around it set


@record
class Leaf:
    stmt: str


@record
class Seq:
    children: tuple[Node, ...]


@record
class Band:
    """`split` asks for full tiles to be separated from partial ones (tile bands only). With `product` the loops are
    those of one statement's product (rows, columns, depth) and are carried out in blocks as it says."""

    loops: tuple[Loop, ...]
    child: Node
    permutable: bool = False
    split: bool = False
    product: Product | None = None


@record
class Slot:
    """Storage for one inside variable, per model dimension: its size and the loop it is counted from.

    Size 0 means the dimension is not kept (one object serves all its values in turn), -1 as declared.
    """

    array: str
    sizes: tuple[int, ...]
    starts: tuple[str, ...]


@record
class Hold:
    """The variables in `slots` are declared here, once per iteration of the loops above."""

    slots: tuple[Slot, ...]
    child: Node


Node = Union[Leaf, Seq, Band, Hold]
Path = tuple[int, ...]  # child numbers from the root; Band and Hold have the one child 0


@record
class FoundLoop:
    """A loop found in a tree."""

    path: Path
    member: int
    loop: Loop
    band: Band
    names: tuple[str, ...] = field(default=())  # loops around it, outermost first


def kids(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Seq):
        return node.children
    return (node.child,) if isinstance(node, (Band, Hold)) else ()


def parts_of(tree: Node) -> tuple[Node, ...]:
    """What a region consists of, one after the other."""
    return kids(tree) if isinstance(tree, Seq) else (tree,)


def with_kids(node: Node, children: tuple[Node, ...]) -> Node:
    if isinstance(node, Seq):
        return Seq(children)
    return replace(node, child=children[0]) if isinstance(node, (Band, Hold)) else node


def statements(node: Node) -> tuple[str, ...]:
    """Statements below, in textual order."""
    if isinstance(node, Leaf):
        return (node.stmt,)
    known: tuple[str, ...] | None = node.__dict__.get("_statements")
    if known is None:  # asked for again and again; the answer stays with the node, which never changes
        known = tuple([s for k in kids(node) for s in statements(k)])
        node.__dict__["_statements"] = known
    return known


def at(node: Node, path: Path) -> Node:
    for k in path:
        node = kids(node)[k]
    return node


def put(node: Node, path: Path, new: Node) -> Node:
    """The tree with the node at `path` replaced."""
    if not path:
        return new
    children = list(kids(node))
    children[path[0]] = put(children[path[0]], path[1:], new)
    return with_kids(node, tuple(children))


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """All nodes with their paths, parents first."""
    yield path, node
    for k, child in enumerate(kids(node)):
        yield from walk(child, (*path, k))


def loops(node: Node) -> tuple[FoundLoop, ...]:
    """All loops, outermost first, with the names around them."""
    known: tuple[FoundLoop, ...] | None = node.__dict__.get("_all_loops")
    if known is None:  # as for statements
        known = node.__dict__["_all_loops"] = tuple(_loops(node, (), ()))
    return known


def _loops(node: Node, above: tuple[str, ...], path: Path) -> Iterator[FoundLoop]:
    if isinstance(node, Band):
        for m, loop in enumerate(node.loops):
            yield FoundLoop(path, m, loop, node, above)
            above = (*above, loop.name)
    for k, child in enumerate(kids(node)):
        yield from _loops(child, above, (*path, k))


def enclosing(node: Node, stmt: str) -> tuple[Loop, ...]:
    """Loops around a statement, outermost first."""
    if isinstance(node, Band):
        return (*node.loops, *enclosing(node.child, stmt))
    for child in kids(node):
        if stmt in statements(child):
            return enclosing(child, stmt)
    return ()


def seq(children: tuple[Node, ...] | list[Node]) -> Node:
    """A sequence without nested sequences."""
    flat: list[Node] = []
    for c in children:
        flat.extend(c.children if isinstance(c, Seq) else [c])
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def order(node: Node, stmt: str) -> tuple[isl.PwAff | int, ...]:
    """Execution order of a statement: positions in sequences (ints) and loop values."""
    if isinstance(node, Leaf):
        return ()
    known: dict[str, tuple[isl.PwAff | int, ...]] = node.__dict__.setdefault("_orders", {})  # as for statements
    found = known.get(stmt)
    if found is None:
        found = known[stmt] = _order(node, stmt)
    return found


def _order(node: Node, stmt: str) -> tuple[isl.PwAff | int, ...]:
    if isinstance(node, Seq):
        k = next(k for k, c in enumerate(node.children) if stmt in statements(c))
        return (k, *order(node.children[k], stmt))
    assert isinstance(node, (Band, Hold))
    rest = order(node.child, stmt)
    return (*[lp.exprs[stmt] for lp in node.loops], *rest) if isinstance(node, Band) else rest


def has_band(node: Node) -> bool:
    """Is there a loop in this part of the tree?"""
    return any(isinstance(n, Band) for _, n in walk(node))
