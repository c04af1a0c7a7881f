"""Parses DMA commands and waits in a mesh product: rows of matrices to and from local memory."""

from __future__ import annotations

from typing import NamedTuple

from codegen.verify.cores.commands import WAITS
from codegen.verify.cores.memory import MainArray
from codegen.verify.cores.mesh.names import LocalPlace, MeshScope, check_zero
from codegen.verify.cores.mesh.sizes import BYTES, MeshSizes
from codegen.verify.poly import ONE, Poly
from codegen.verify.text.lanes import show
from codegen.verify.text.read import Node, Unread


class MatrixMove(NamedTuple):
    """A command: rows of a matrix to or from local memory. `row` and `column` are subscripts of its first element."""

    put: bool
    name: str
    outside: MainArray
    row: Poly
    column: Poly
    local: LocalPlace
    bytes: Poly
    gap: Poly
    block: Poly
    reply: str


def move_of(x: MeshSizes, sc: MeshScope, s: Node) -> MatrixMove:
    """The command that a statement gives. Raises Unread where it gives none."""
    e = s.kids[0] if s.kind == "do" else s
    mask = Node("number", "0")
    if e.kind == "call" and e.text == "athread_get" and len(e.kids) == 8:
        mode, mem, ldm, size, reply, mask, gap, block = e.kids
    elif e.kind == "call" and e.text == "athread_put" and len(e.kids) == 7:
        mode, ldm, mem, size, reply, gap, block = e.kids
    elif e.kind == "call" and e.text == "athread_dma_iget_stride" and len(e.kids) == 6:
        ldm, mem, size, block, gap, reply = e.kids
        mode = Node("name", "PE_MODE")
    elif e.kind == "call" and e.text == "athread_dma_iput_stride" and len(e.kids) == 6:
        mem, ldm, size, block, gap, reply = e.kids
        mode = Node("name", "PE_MODE")
    else:
        raise Unread(f"`{e.text or e.kind}` in place of a command")
    if mode != Node("name", "PE_MODE") or mask != Node("number", "0"):
        raise Unread(f"a command in another mode: {mode.text}")
    name, outside, row, column = _matrix(x, sc, mem)
    put = e.text in ("athread_put", "athread_dma_iput_stride")
    return MatrixMove(put, name, outside, row, column, x.place(sc, ldm), sc.value(size), sc.value(gap), sc.value(block),
                word_of(reply))  # fmt: skip


def _matrix(x: MeshSizes, sc: MeshScope, e: Node) -> tuple[str, MainArray, Poly, Poly]:
    """The array whose address is taken, and the element."""
    if e.kind != "unary" or e.text != "&":
        raise Unread("a command without an address")
    base, subscripts = e.kids[0], list[Node]()
    while base.kind == "index":
        subscripts.insert(0, base.kids[1])
        base = base.kids[0]
    outside = x.outside(base.text if base.kind == "name" else "")
    found = [sc.value(k) for k in subscripts]
    if len(outside.strides) != 2 or outside.strides[1] != ONE or len(found) != (1 if outside.flat else 2):
        raise Unread(f"`{outside.array}` is no matrix")
    if outside.bytes != BYTES:
        raise Unread(f"`{outside.array}` has elements of another size")
    if outside.flat:
        pitch = outside.strides[0]
        if len(pitch.terms) != 1:
            raise Unread(f"rows of `{outside.array}` are a sum apart")
        found = list(found[0].divided(pitch))
    return base.text, outside, found[0], found[1]


def check_rows(sc: MeshScope, m: MatrixMove, rows: Poly, columns: Poly) -> None:
    """The command moves so many rows of so many elements, one behind the other in local memory."""
    what = f"what is moved of `{m.name}`"
    check_zero(sc.facts, f"a row of {what}", m.block, columns * BYTES)
    check_zero(sc.facts, what, m.bytes, rows * columns * BYTES)
    check_zero(sc.facts, f"between rows of {what}", m.gap, (m.outside.strides[0] - columns) * BYTES)


def word_of(e: Node) -> str:
    """The word that an address is of."""
    if e.kind == "cast" and e.text == "void *":
        e = e.kids[0]
    if e.kind != "unary" or e.text != "&":
        raise Unread("a reply that lies nowhere")
    return show(e.kids[0])


def check_wait(x: MeshSizes, s: Node, reply: str, count: Node) -> None:
    """A statement waits until so many commands with this reply word are done."""
    e = s.kids[0] if s.kind == "do" else s
    if e.kind != "call" or e.text not in WAITS or len(e.kids) != 2 or reply not in x.replies:
        raise Unread(f"`{reply}` is not waited for")
    if word_of(e.kids[0]) != reply or e.kids[1] != count:
        raise Unread(f"a wait for something else than `{reply}`")


def is_set(s: Node, name: str, value: str) -> bool:
    """Does a statement give a variable this number?"""
    return s == Node("do", "", (Node("assign", "=", (Node("name", name), Node("number", value))),))


def message_waited(x: MeshSizes, s: Node) -> str:
    """The word of a statement that waits until a core's own message is gone."""
    e = s.kids[0] if s.kind == "do" else s
    one = e.kind == "call" and e.text == "athread_rma_wait_value" and e.kids[1:] == (Node("number", "1"),)
    word = word_of(e.kids[0]) if one else ""
    if word not in x.messages:
        raise Unread("something is done while a message may be on its way")
    return word
