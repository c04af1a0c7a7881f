"""Which message ids the source uses, read from its syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.unit.trees import CODEGEN, SOURCES, nodes_of, tree_of

# Position of the id among the arguments of the classes that carry one.
_CLASSES = {"Unsupported": 0, "InputError": 0, "InternalError": 0, "TilewrightError": 0, "Diagnostic": 1}


@cache
def ids_in_source() -> dict[str, str]:
    """Every id with a place that uses it. Raises when an id is neither a literal nor passed on under its name."""
    found: dict[str, str] = {}
    for path in SOURCES:
        positions = {**_CLASSES, **_functions(path), **_imported(path)}
        file = path.relative_to(CODEGEN.parent)
        for node in nodes_of(path):
            if not isinstance(node, (ast.Call, ast.Assign)):
                continue
            place = f"{file}:{node.lineno}"
            if isinstance(node, ast.Call) and _called(node) in positions:
                found.update(dict.fromkeys(_literals(_argument(node, positions[_called(node)]), place), place))
            if isinstance(node, ast.Assign):
                found.update(dict.fromkeys(_unpacked(path, node), place))
    return found


@cache
def _functions(path: Path) -> dict[str, int]:
    """Functions with a parameter called `id`, and its position in a call."""
    return _with_id(nodes_of(path))


def _with_id(nodes: Iterable[ast.AST]) -> dict[str, int]:
    out = {}
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            names = [a.arg for a in node.args.args if a.arg != "self"]
            if "id" in names:
                out[node.name] = names.index("id")
    return out


def _imported(path: Path) -> dict[str, int]:
    """Such functions of other modules of the tool, and such methods of their classes."""
    out = {}
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("codegen"):
            other = CODEGEN.parent / ((node.module or "").replace(".", "/") + ".py")
            if other.exists():
                known, names = _functions(other), {a.name for a in node.names}
                out.update({name: known[name] for name in names if name in known})
                for part in tree_of(other).body:
                    if isinstance(part, ast.ClassDef) and part.name in names:
                        out.update(_with_id(ast.walk(part)))
    return out


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def _argument(node: ast.Call, position: int) -> ast.expr | None:
    named = [k.value for k in node.keywords if k.arg == "id"]
    return named[0] if named else (node.args[position] if position < len(node.args) else None)


def _literals(node: ast.expr | None, place: str) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _literals(node.body, place)
        yield from _literals(node.orelse, place)
    elif getattr(node, "id", getattr(node, "attr", "")) != "id":
        raise AssertionError(f"{place}: write the id of a message as a literal")


def _unpacked(path: Path, node: ast.Assign) -> Iterator[str]:
    """`id, message, hint = TABLE[key]`: the ids in TABLE."""
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Subscript):
        return
    names = [getattr(e, "id", "") for e in target.elts]
    if "id" not in names:
        return
    for other in nodes_of(path):
        if isinstance(other, ast.Assign) and getattr(other.targets[0], "id", "") == getattr(value.value, "id", "?"):
            assert isinstance(other.value, ast.Dict)
            for row in other.value.values:
                assert isinstance(row, ast.Tuple)
                yield from _literals(row.elts[names.index("id")], "")
