"""Planted faults, made from the grammar of KernelIR: each mutant is a tree that differs in one node, with its class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from codegen.kir.nodes import (
    EXPRESSIONS,
    SEQ,
    STATEMENTS,
    Advance,
    Alloc,
    Assign,
    Bind,
    Buffer,
    Comment,
    Copy,
    Decl,
    Fill,
    For,
    Function,
    Hint,
    Int,
    Lane,
    Let,
    Load,
    Op,
    Parallel,
    Prefetch,
    Store,
    Sym,
    Var,
)
from codegen.kir.visit import walk

SILENT = (Comment, Hint, Prefetch)  # without meaning
BINDERS = (Alloc, Bind, Let, Decl)
OTHER = {"+": "-", "-": "+", "*": "+", "<": "<=", "==": "!=", "min": "max", "max": "min", "&&": "||"}

Mutant = tuple[str, Function]


def mutants(f: Function) -> Iterator[Mutant]:
    """All mutants of a function, by the positions of the tree."""
    names = _Names(f)
    for kind, body in _of_body(f.body, names):
        yield kind, replace(f, body=body)


def sampled(f: Function, each: int) -> list[Mutant]:
    """Some mutants of every class, spread evenly over the tree."""
    classes: dict[str, list[Function]] = {}
    for kind, mutant in mutants(f):
        classes.setdefault(kind, []).append(mutant)
    found: list[Mutant] = []
    for kind, of_kind in sorted(classes.items()):
        step = max(1, len(of_kind) // each)
        found += [(kind, m) for m in of_kind[::step][:each]]
    return found


class _Names:
    """Symbols and buffers by type: what may be taken for another."""

    def __init__(self, f: Function) -> None:
        self.symbols: dict[object, list[Sym]] = {}
        self.buffers: list[Buffer] = [x for x in f.params if isinstance(x, Buffer)]
        for x in walk(f):
            if isinstance(x, (Let, Decl, For)):
                self.symbols.setdefault(x.sym.type, []).append(x.sym)
            elif isinstance(x, Alloc):
                self.buffers.append(x.buffer)
            elif isinstance(x, Bind):
                self.buffers.append(x.view)

    def symbol(self, s: Sym) -> Sym | None:
        """The next symbol of the same type."""
        return _next(self.symbols.get(s.type, []), s)

    def buffer(self, b: Buffer) -> Buffer | None:
        """The next buffer with elements of the same type."""
        return _next([x for x in self.buffers if x.elem == b.elem and x.rank == b.rank], b)


def _next(among: list[Any], x: Any) -> Any:
    if x not in among or len(among) < 2:
        return None
    return among[(among.index(x) + 1) % len(among)]


def _of_body(body: tuple[Any, ...], names: _Names) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for n, s in enumerate(body):
        before, after = body[:n], body[n + 1 :]
        if not isinstance(s, (*SILENT, *BINDERS)):
            yield f"{s.__class__.__name__} dropped", (*before, *after)
            yield f"{s.__class__.__name__} repeated", (*body[: n + 1], *body[n:])
        if after and not isinstance(s, SILENT) and not isinstance(after[0], SILENT):
            yield "statements exchanged", (*before, after[0], s, *after[1:])
        for kind, other in _of_node(s, names):
            yield kind, (*before, other, *after)


def _of_node(x: Any, names: _Names) -> Iterator[tuple[str, Any]]:
    yield from _here(x, names)
    for name in x.__match_args__:
        value = getattr(x, name)
        if isinstance(value, tuple) and value and isinstance(value[0], STATEMENTS):
            yield from ((kind, replace(x, **{name: body})) for kind, body in _of_body(value, names))
        elif isinstance(value, tuple):
            for n, y in enumerate(value):
                if isinstance(y, EXPRESSIONS):
                    for kind, z in _of_node(y, names):
                        yield kind, replace(x, **{name: (*value[:n], z, *value[n + 1 :])})
        elif isinstance(value, EXPRESSIONS):
            yield from ((kind, replace(x, **{name: y})) for kind, y in _of_node(value, names))


def _here(x: Any, names: _Names) -> Iterator[tuple[str, Any]]:
    """Other nodes in place of this one."""
    if isinstance(x, Int):
        yield "constant more", Int(x.value + 1)
        yield "constant less", Int(x.value - 1)
    elif isinstance(x, Var):
        if (other := names.symbol(x.sym)) is not None:
            yield "another symbol", Var(other)
    elif isinstance(x, Op):
        if x.op in OTHER:
            yield "another operator", replace(x, op=OTHER[x.op])
        if len(x.args) == 2:
            yield "only one operand", x.args[0]
    elif isinstance(x, Lane):
        if len(x.args) > 1:
            yield "operands exchanged", replace(x, args=(*x.args[1:], x.args[0]))
            yield "another instruction", replace(x, op={"fma": "fms", "add": "sub"}.get(x.op, "add"))
    elif isinstance(x, (Load, Store)):
        yield from _elements(x, names)
    elif isinstance(x, (Copy, Fill)):
        yield "more copied", replace(x, count=x.count + 1)
        yield "less copied", replace(x, count=x.count - 1)
    elif isinstance(x, Bind):
        if (other := names.buffer(x.of)) is not None:
            yield "a view of another buffer", replace(x, of=other)
    elif isinstance(x, Advance):
        if (other := names.buffer(x.view)) is not None:
            yield "another view goes on", replace(x, view=other)
    elif isinstance(x, (Decl, Let)):
        if (other := names.symbol(x.sym)) is not None:
            yield "another symbol is bound", replace(x, sym=other)
    elif isinstance(x, Assign):
        if (other := names.symbol(x.sym)) is not None:
            yield "another symbol is set", replace(x, sym=other)
    elif isinstance(x, Alloc):
        shape = x.buffer.shape
        smaller = Buffer(x.buffer.sym.hint, x.buffer.elem, x.buffer.memory, (*shape[:-1], shape[-1] - 1))
        yield "a smaller buffer", replace(x, buffer=smaller)
    elif isinstance(x, For):
        yield from _loops(x)


def _elements(x: Load | Store, names: _Names) -> Iterator[tuple[str, Any]]:
    if (other := names.buffer(x.buffer)) is not None:
        yield "another buffer", replace(x, buffer=other)
    if len(x.index) > 1:
        yield "indices exchanged", replace(x, index=x.index[::-1])
    if x.lanes:
        yield "one lane in place of a vector", replace(x, lanes=0)


def _loops(x: For) -> Iterator[tuple[str, Any]]:
    if isinstance(x.exec, Parallel):
        yield "threads dropped", replace(x, exec=SEQ)
        for n in range(len(x.exec.private)):
            private = (*x.exec.private[:n], *x.exec.private[n + 1 :])
            yield "a buffer shared", replace(x, exec=Parallel(private))
    else:
        yield "threads added", replace(x, exec=Parallel())
