"""Variables that hide others which the region uses, too, get names of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.unit.frontend.test_sound import MAIN, behaviour

LOOP = "for (int i = 0; i < n; i++) "
HIDING = {
    "counter hides counter": LOOP + "{ for (int i = 0; i < 5; i++) b[i] += i; a[i] = b[i]; }",
    "three of one name": LOOP + "for (int i = 0; i < 4; i++) for (int i = 0; i < 3; i++) b[i]++;",
    "data hides a counter": LOOP + "{ b[i]++; { int i = b[0] & 7; a[i] = i; } }",
    "data hides a formula": LOOP + "{ int k = i; { int k = b[i]; a[i] = k; } b[i] = k; }",
    "own variable of a loop of data": LOOP
    + "{ int s = 1; for (int k = 0; k < b[i]; k++) { int s = 2 * k; a[i] += s; } b[i] += s; }",
    "array hides array": LOOP + "{ int *p = a + i; { int *a = b; a[i] += p[0]; } }",
    "in a function": LOOP + "a[i] = twice(b[i]);",
}
HELPER = "static int twice(int x) { int t = x; if (t > 3) { int x = 3; return t + x; } return t * x; }\n"


@pytest.mark.parametrize("what", HIDING)
def test_hidden_names(what: str, tmp_path: Path) -> None:
    marked = f"#pragma scop\n{HIDING[what]}\n#pragma endscop"
    text = f"{HELPER}void f(int n, int *restrict a, int *restrict b)\n{{\n{marked}\n}}\n"
    run = "int a[20], b[20]; for (int n = 0; n < 12; n++) { "
    run += "for (int i = 0; i < 20; i++) { a[i] = i; b[i] = 7 * i % 9; }"
    run += ' f(n, a, b); for (int i = 0; i < 20; i++) printf("%d %d\\n", a[i], b[i]); }'
    got = generate("f.c", text, GenOptions(machine="neoverse-n1"))
    assert got.regions[0].transformed, got.diagnostics
    main = MAIN.format(run)
    assert behaviour(tmp_path, "new", got.text, main) == behaviour(tmp_path, "old", text, main)
