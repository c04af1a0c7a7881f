"""Looking at and rewriting any part of a computation: statements, nests and steps are records all the way down."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from codegen.sparse.algebra.expr import Exp
from codegen.sparse.algebra.terms import functions, names, rename_calls
from codegen.sparse.ir.counting import Count, Distinct, Gather, Max, Number, Prefix, Scatter
from codegen.sparse.ir.model import Alloc, Copy, Define, Shrink, Sweep
from codegen.sparse.ir.nest import For, Let, Tick
from codegen.sparse.ir.sorting import Radix, SortList, SortSegments
from codegen.sparse.ir.statement import OnChange, Recall, Reject, Store

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


_WRITES = {Store: ("target",), Alloc: ("array",), Define: ("name",), Count: ("counter",), Prefix: ("array",),
           Scatter: ("counter",), Sweep: ("array",), Max: ("name",), Number: ("table", "name"),
           Gather: ("values",), Copy: ("target",), SortList: ("list", "name"), Radix: ("arrays", "values"),
           SortSegments: ("array",), Shrink: ("array",), Distinct: ("seen", "found", "ptr", "name"),
           Recall: ("table",), Reject: ("seen",), OnChange: ("var",)}
_READS = {Count: ("counter",), Prefix: ("array",), Scatter: ("counter",), Sweep: ("array",), Max: ("array",),
          Number: ("table",), Gather: ("table",), Copy: ("source",), SortSegments: ("array", "ptr"),
          Shrink: ("array",), Distinct: ("seen",), Recall: ("table", "values"), Reject: ("seen",)}


def _named(node: object, table: dict[type, tuple[str, ...]]) -> frozenset[str]:
    out: set[str] = set()
    for x in parts(node):
        for field in table.get(type(x), ()):
            value = getattr(x, field)
            out |= set(value) if isinstance(value, tuple) else {value}
    return frozenset(out - {""})


def writes(node: object) -> frozenset[str]:
    """Arrays and symbols that a node changes."""
    return _named(node, _WRITES)


def reads(node: object) -> frozenset[str]:
    """Arrays, symbols and variables that a node looks at; a field of an array, and so the array."""
    out = set(_named(node, _READS))
    for x in parts(node):
        if isinstance(x, Store) and x.op != "=":
            out.add(x.target)
    for e in expressions(node):
        out |= functions(e) | names(e)
    return frozenset({*out, *(n.partition("[")[0] for n in out)})


def bound(nest: tuple[object, ...]) -> frozenset[str]:
    """Variables a nest defines."""
    return frozenset(x.var for x in nest if isinstance(x, (For, Let, Tick)))


