"""Ways over KernelIR trees: what is below a node, what a statement binds, and equality up to names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from codegen.kir.nodes import (
    EXPRESSIONS,
    STATEMENTS,
    Alloc,
    Bind,
    Buffer,
    Decl,
    Function,
    Let,
    Parallel,
    Seq,
    Stmt,
    Sym,
    Unit,
)

_NODES = (*EXPRESSIONS, *STATEMENTS, Function, Unit, Seq, Parallel)


def children(x: Any) -> Iterator[Any]:
    """The nodes directly below one, in the order of its fields; symbols and buffers are none."""
    for name in x.__match_args__:
        value = getattr(x, name)
        for y in value if isinstance(value, tuple) else (value,):
            if isinstance(y, _NODES):
                yield y


def walk(x: Any) -> Iterator[Any]:
    """A node and everything below it, parents first."""
    yield x
    for y in children(x):
        yield from walk(y)


def bound(s: Stmt) -> Sym | Buffer | None:
    """What a statement makes known to those after it in its block."""
    if isinstance(s, (Let, Decl)):
        return s.sym
    if isinstance(s, Alloc):
        return s.buffer
    return s.view if isinstance(s, Bind) else None


def alike(x: Any, y: Any, names: dict[object, object] | None = None) -> bool:
    """Whether two trees are equal but for the identity of what is bound in them: symbols of the one stand for symbols
    of the other, one for each, with the same type and role."""
    return _Pairing({} if names is None else names).alike(x, y)


class _Pairing:
    def __init__(self, names: dict[object, object]) -> None:
        self.there = names
        self.back = {b: a for a, b in names.items()}

    def alike(self, x: Any, y: Any) -> bool:
        if isinstance(x, (Sym, Buffer)):
            return self._paired(x, y)
        if isinstance(x, tuple):
            return isinstance(y, tuple) and len(x) == len(y) and all(map(self.alike, x, y))
        if not isinstance(x, _NODES):
            return bool(x == y)
        if x.__class__ is not y.__class__:
            return False
        return all(self.alike(getattr(x, n), getattr(y, n)) for n in x.__match_args__)

    def _paired(self, x: Sym | Buffer, y: Any) -> bool:
        if x in self.there or y in self.back:
            return self.there.get(x) is y and self.back.get(y) is x
        if x.__class__ is not y.__class__ or _kind(x) != _kind(y):
            return False
        self.there[x], self.back[y] = y, x
        return True


def _kind(x: Sym | Buffer) -> tuple[object, ...]:
    """What two symbols that stand for each other have in common."""
    if isinstance(x, Buffer):
        return (x.elem, x.memory, x.shape, x.const)
    return (x.type, x.role, x.hint if x.role == "user" else "")
