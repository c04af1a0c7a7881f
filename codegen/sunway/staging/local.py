"""Nodes of a staged C tree: `LocalBuffer`, a box of an array copied to a core's local memory, and `Stage`, a body that
runs on its buffers; and queries of such trees. `stage.py` builds them."""

from __future__ import annotations

from math import prod
from typing import Union

from codegen.ast.ctree import Block, CExpr, CNode, Declare, For, If, Instance, node_kids, walk
from codegen.diagnostics import Unsupported
from codegen.record import record
from codegen.scop.model import Scop


@record
class LocalBuffer:
    """A box of an array in local memory. `lows` and `lens` are in terms of the loops around its `Stage`."""

    name: str
    array: str
    most: tuple[int, ...]
    lows: tuple[CExpr, ...]
    lens: tuple[CExpr, ...]
    get: bool
    put: bool
    ahead: bool  # fetched one iteration early, into the other of two copies
    when: CExpr | None  # needed only where this holds
    keys: frozenset[tuple[int, int]]  # the accesses that use it
    bytes: int  # of one element
    note: str = ""
    enlarged: bool = False  # the box holds elements that nothing here touches
    common: bool = False  # the same for all cores, and fetched once for all of them

    @property
    def size(self) -> int:
        """Elements of one copy."""
        n = 1
        for k in self.most:
            n *= k
        return n

    @property
    def footprint(self) -> int:
        return self.size * self.bytes * (2 if self.ahead else 1)


@record
class Stage:
    """Buffers are filled, the body runs on them, and they are written back."""

    buffers: tuple[LocalBuffer, ...]
    body: "SNode"


SNode = Union[CNode, Stage]


def buffers_of(node: SNode) -> list[LocalBuffer]:
    """All buffers of a staged tree, in its order."""
    if isinstance(node, Stage):
        return [*node.buffers, *buffers_of(node.body)]
    if isinstance(node, Block):
        return [b for c in node.children for b in buffers_of(c)]
    if isinstance(node, (For, Declare)):
        return buffers_of(node.body)
    if isinstance(node, If):
        return [*buffers_of(node.then), *([] if node.orelse is None else buffers_of(node.orelse))]
    return []


def staged_nodes(node: SNode) -> list[CNode]:
    """All nodes of a staged tree but the stages, in its order."""
    if isinstance(node, Stage):
        return staged_nodes(node.body)
    return [node, *(x for k in node_kids(node) for x in staged_nodes(k))]


def has_stage(node: SNode) -> bool:
    """Are there transfers in a staged tree?"""
    return isinstance(node, Stage) or any(map(has_stage, node_kids(node)))


def stored_directly(scop: Scop, node: SNode) -> frozenset[str]:
    """Arrays that a staged tree stores to in main memory, without a buffer between."""
    keys = frozenset[tuple[int, int]]().union(*(b.keys for b in buffers_of(node)))
    return frozenset(
        a.array
        for n in staged_nodes(node) if isinstance(n, Instance)
        for k, a in enumerate(scop.statement(n.stmt).accesses)
        if a.write and (id(n), k) not in keys and not scop.arrays[a.array].inside
    )  # fmt: skip


def loaded_directly(scop: Scop, node: SNode) -> frozenset[str]:
    """Arrays that a staged tree loads from in main memory, without a buffer between; sums load what they add to."""
    keys = frozenset[tuple[int, int]]().union(*(b.keys for b in buffers_of(node)))
    return frozenset(
        a.array
        for n in staged_nodes(node) if isinstance(n, Instance)
        for k, a in enumerate(scop.statement(n.stmt).accesses)
        if (id(n), k) not in keys and not scop.arrays[a.array].inside
        and (not a.write or scop.statement(n.stmt).op != "=")
    )  # fmt: skip


def declared_bytes(scop: Scop, kernel: CNode) -> dict[str, int]:
    """Bytes of the region's own variables that are kept in local memory, by name."""
    out: dict[str, int] = {}
    for h in (h for n in walk(kernel) if isinstance(n, Declare) for h in n.slots):
        array = scop.arrays[h.array]
        sizes = [array.extents[k - array.scope] if s < 0 else str(max(s, 1)) for k, s in enumerate(h.sizes)]
        if not all(s.isdigit() for s in sizes):
            raise Unsupported("sunway-ldm", f"`{h.array}` has no constant size, so local memory may overflow", scop.loc,
                              "declare it outside the region, or give it a fixed size")
        out[h.array] = array.elem.bytes * prod(map(int, sizes))
    return out
