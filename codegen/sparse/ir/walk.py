"""Traversal and rewriting of the sparse IR: subterms and expressions of any node, replaced or renamed."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from codegen.sparse.algebra.expr import Exp
from codegen.sparse.algebra.terms import rename_calls

T = TypeVar("T")


def parts(node: object) -> Iterator[object]:
    """Every record inside a node, itself first."""
    if isinstance(node, tuple):
        for x in node:
            yield from parts(x)
    elif is_dataclass(node) and not isinstance(node, Exp):
        yield node
        for f in fields(node):
            yield from parts(getattr(node, f.name))


def expressions(node: object) -> Iterator[Exp]:
    if isinstance(node, Exp):
        yield node
    elif isinstance(node, tuple):
        for x in node:
            yield from expressions(x)
    elif is_dataclass(node):
        for f in fields(node):
            yield from expressions(getattr(node, f.name))


def rewrite_exps(node: T, f: Callable[[Exp], Exp]) -> T:
    """Every expression replaced."""
    if isinstance(node, Exp):
        return f(node)  # type: ignore[return-value]
    if isinstance(node, tuple):
        return tuple(rewrite_exps(x, f) for x in node)  # type: ignore[return-value]
    if is_dataclass(node) and not isinstance(node, type):
        changes = {x.name: rewrite_exps(getattr(node, x.name), f) for x in fields(node)}
        return replace(node, **changes)
    return node


def rename_array(node: T, old: str, new: str) -> T:
    """An array under another name, read or written."""
    if isinstance(node, Exp):
        return rename_calls(node, {old: new})  # type: ignore[return-value]
    if isinstance(node, tuple):
        return tuple(rename_array(x, old, new) for x in node)  # type: ignore[return-value]
    if isinstance(node, str):
        return new if node == old else node  # type: ignore[return-value]
    if is_dataclass(node) and not isinstance(node, type):
        changes: dict[str, Any] = {x.name: rename_array(getattr(node, x.name), old, new)
                                   for x in fields(node) if x.name not in ("note", "op", "status", "sign", "kind")}
        return replace(node, **changes)
    return node
