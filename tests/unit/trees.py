"""The sources of the package as syntax trees, read once for all tests that look at them."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

CODEGEN = Path(__file__).parents[2] / "codegen"
SOURCES = tuple(sorted(CODEGEN.rglob("*.py")))


@cache
def _trees() -> dict[Path, ast.Module]:
    """All of them, without searches for garbage among a million nodes that stay: a third of the time."""
    gc.disable()
    try:
        return {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
    finally:
        gc.freeze()
        gc.enable()


def tree_of(path: Path) -> ast.Module:
    return _trees()[path]


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))
