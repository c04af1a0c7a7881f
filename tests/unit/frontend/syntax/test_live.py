"""Which variables are live behind a region."""

from __future__ import annotations

import pytest
from pycparser import c_ast, c_parser

from codegen.frontend.syntax.live import live_behind

# The region is the statement `R;`, or all of `R = ...;`.
CASES = {
    "read": ("R; y = x;", True),
    "set": ("R; x = 1; y = x;", False),
    "set from itself": ("R; x = x + 1;", True),
    "added to": ("R; x += 1;", True),
    "chain": ("R; y = x = 2; y = x;", False),
    "in one branch": ("R; if (y) x = 1; y = x;", True),
    "in both branches": ("R; if (y) x = 1; else x = 2; y = x;", False),
    "in a condition": ("R; if (x) y = 1;", True),
    "returned": ("R; return x;", True),
    "after a return": ("R; return y; y = x;", False),
    "next round": ("while (y) { y = x; R; }", True),
    "next round set": ("while (y) { x = 1; y = x; R; }", False),
    "round may not set": ("while (y) { for (; y < 3;) x = 1; y = x; R; }", True),
    "head of a for": ("R; for (x = 0; x < 3; x++) y = x;", False),
    "head goes on": ("R; for (x = x + 1; x < 3; x++) y = x;", True),
    "empty head": ("R; for (; x < 3; x++) y = 0;", True),
    "behind a for": ("R; for (y = 0; y < 3; y++) x = 1; y = x;", True),
    "break": ("while (y) { R; if (y > 3) break; x = 1; } y = x;", True),
    "continue": ("while (y) { y = x; R; if (y > 3) continue; x = 1; }", True),
    "do": ("do { R; x = 1; } while (x);", False),
    "do reads": ("do { R; } while (x);", True),
    "in a case": ("switch (y) { case 1: R; break; case 2: y = x; }", False),
    "falls through": ("switch (y) { case 1: R; case 2: y = x; }", True),
    "switch may set": ("R; switch (y) { case 1: x = 1; } y = x;", True),
    "declared again": ("R; { int x = 1; y = x; } y = x;", True),
    "goto past": ("R; if (y) goto end; x = 1; end: y = x;", True),
    "goto behind": ("R; if (y) goto end; x = 1; y = x; end: y = 2;", False),
    "goto back": ("again: y = x; R; if (y) goto again;", True),
    "right of and": ("R; y && (x = 1); y = x;", True),
    "part of a struct": ("R; s.x = 1;", False),
    "size": ("R; { int v[x]; y = v[0]; }", True),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_live(case: str) -> None:
    body, live = CASES[case]
    text = f"struct t {{ int x; }}; int f(int x, int y, struct t s) {{ int R; {body} return 0; }}"
    function = c_parser.CParser().parse(text).ext[-1]
    found: list[c_ast.Node] = []

    def visit(node: c_ast.Node) -> None:
        if isinstance(node, c_ast.ID) and node.name == "R":
            found.append(node)
        for child in node:
            visit(child)

    visit(function.body)
    behind = live_behind(function, frozenset({id(found[0])}))
    assert behind is not None and ("x" in behind) == live


def test_a_statement_that_is_not_there_has_no_answer() -> None:
    ast = c_parser.CParser().parse("int f(int x) { return x; }")
    assert live_behind(ast.ext[0], frozenset({0})) is None
