"""Parses DMA commands, reply counters and waits in the text of a core's kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from codegen.ast.ctree import Bin, CExpr, Int, Name
from codegen.verify.cores.expr import polynomial
from codegen.verify.cores.loop_heads import step_of, with_integer
from codegen.verify.cores.memory import MainArray, TransferCommand, place
from codegen.verify.cores.types import Plain, type_of
from codegen.verify.cores.values import NameScope
from codegen.verify.poly import ZERO
from codegen.verify.text.lanes import show
from codegen.verify.text.read import Node, Unread

BARRIERS = (Node("call", "tw_barrier"),)
WAITS = ("dma_wait", "athread_dma_wait_value")


class CoreBuffer(NamedTuple):
    """An array in local memory: elements of one copy, and how many copies."""

    elements: int
    copies: int
    elem: Plain


class Wait(NamedTuple):
    reply: str
    much: Node


def is_transfer(node: Node) -> bool:
    """Is it a command, a wait, or a value for a word that counts them?"""
    if node.kind == "block":
        return all(map(is_transfer, node.kids))
    if node.kind == "for":
        return is_transfer(node.kids[3])
    if node.kind != "do":
        return False
    e = node.kids[0]
    if e.kind == "call":
        return e in BARRIERS or e.text.startswith(("athread_", "dma_wait"))
    return False


def wait_of(e: Node) -> Wait | None:
    if e.kind != "call" or e.text not in WAITS or len(e.kids) != 2:
        return None
    return Wait(_word(e.kids[0]), e.kids[1])


def _word(e: Node) -> str:
    """The word that an address is of."""
    if e.kind == "cast" and e.text == "void *":
        e = e.kids[0]
    if e.kind != "unary" or e.text != "&":
        raise Unread("a reply that lies nowhere")
    return show(e.kids[0])


def command_of(sc: NameScope, buffers: Mapping[str, CoreBuffer], node: Node) -> TransferCommand | None:
    """The command that a statement gives, alone or in loops; None for any other statement."""
    steps: list[tuple[str, CExpr]] = []
    while node.kind in ("for", "block") and is_transfer(node):
        if node.kind == "block":
            if len(node.kids) != 1:
                raise Unread("several commands in a loop")
            node = node.kids[0]
            continue
        first, cond, step, node = node.kids
        plain = first.kind == "declare" and cond.kind == "binary" and cond.text == "<"
        if not plain or cond.kids[0] != Node("name", first.text) or step_of(step, first.text) != 1:
            raise Unread("a loop of commands that is not counted")
        if polynomial(sc.integer(first.kids[2])) != ZERO:
            raise Unread("a loop of commands that leaves some out")
        steps.append((first.text, sc.integer(cond.kids[1])))
        sc = with_integer(sc, first.text, Name(first.text))
    if node.kind != "do" or node.kids[0].kind != "call":
        return None
    found = _command(sc, buffers, node.kids[0])
    return None if found is None else found._replace(steps=tuple(steps))


def _command(sc: NameScope, buffers: Mapping[str, CoreBuffer], e: Node) -> TransferCommand | None:
    if e.text == "athread_get" and len(e.kids) == 8:
        mode, mem, ldm, size, reply, mask, gap, block = e.kids
    elif e.text == "athread_put" and len(e.kids) == 7:
        mode, ldm, mem, size, reply, gap, block = e.kids
        mask = Node("number", "0")
    elif e.text == "athread_dma_iget_stride" and len(e.kids) == 6:
        ldm, mem, size, block, gap, reply = e.kids
        mode, mask = Node("name", "PE_MODE"), Node("number", "0")
    elif e.text == "athread_dma_iput_stride" and len(e.kids) == 6:
        mem, ldm, size, block, gap, reply = e.kids
        mode, mask = Node("name", "PE_MODE"), Node("number", "0")
    else:
        return None
    shared = mode.text == "BCAST_MODE"
    all_cores = mask == Node("cast", "char", (Node("number", "0xff"),))
    known = mode.text in ("PE_MODE", "BCAST_MODE") and (all_cores if shared else mask == Node("number", "0"))
    if not known or (shared and e.text != "athread_get"):
        raise Unread(f"a command in another mode: {mode.text}")
    outside, at = _address(sc, mem)
    buffer, copy, offset = _local(sc, ldm)
    if buffer not in buffers or buffers[buffer].elem != type_of(sc.scop.arrays[outside.array].elem):
        raise Unread(f"`{buffer}` is no place for elements of `{outside.array}`")
    put = e.text in ("athread_put", "athread_dma_iput_stride")
    return TransferCommand(put, outside, at, buffer, copy, offset, sc.integer(size), sc.integer(gap),
                   sc.integer(block), _word(reply), shared=shared)  # fmt: skip


def _address(sc: NameScope, e: Node) -> tuple[MainArray, tuple[CExpr, ...]]:
    if e.kind != "unary" or e.text != "&":
        raise Unread("a command without an address")
    base, subscripts = e.kids[0], list[Node]()
    while base.kind == "index":
        subscripts.insert(0, base.kids[1])
        base = base.kids[0]
    if base.kind != "name" or base.text not in sc.outsides:
        raise Unread(f"a command for {show(base)}")
    outside = sc.outsides[base.text]
    return outside, place(outside, subscripts, sc.integers)


def _local(sc: NameScope, e: Node) -> tuple[str, str, CExpr]:
    """Name of the buffer, which copy of it, and how far into it."""
    offset: CExpr = Int(0)
    while e.kind == "binary" and e.text == "+":
        e, far = e.kids
        offset = Bin("+", offset, sc.integer(far))
    if e.kind == "index" and e.kids[0].kind == "name":
        return e.kids[0].text, show(e.kids[1]), offset
    if e.kind != "name":
        raise Unread("a command to no buffer")
    return e.text, "", offset
