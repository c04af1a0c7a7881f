"""Tests of macros ahead of a region: any text may be a macro's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import codegen
from codegen.target.text.checks import _is_expression

SOURCE = """
#ifdef OTHER
#define OP +
#define TYPE float
#define REL <=
#define OPEN { a[0] =
#define NOTHING a[i - 1] = 0;
#define PART 1 +
#else
#define OP -
#define TYPE double
#define REL <
#define OPEN {
#define NOTHING
#define PART 2 *
#endif
void f(int *a, int n) {
#pragma scop
  for (int i = 1; i REL n; i++) OPEN NOTHING a[i] = a[i] OP (TYPE)a[i - 1] * (PART 3); }
#pragma endscop
}
"""


@pytest.mark.parametrize("text", ["1", "-1", "(3)", "(1 + 2) * A", "1<<4", "~0u", "!(A && B)", "1 ? 2 : 3", "1 - -1"])
def test_expressions(text: str) -> None:
    assert _is_expression(text)


@pytest.mark.parametrize("text", ["", "-", "<=", "1 +", "1 2", "(1", "1)", "1 ? 2", ": 3", "1 + )2(", "* 3", "1 ~ 2"])
def test_parts_of_expressions(text: str) -> None:
    assert not _is_expression(text)


def test_operators_and_other_parts_of_statements(tmp_path: Path) -> None:
    made = codegen.generate(SOURCE)
    assert made.regions[0].transformed
    (tmp_path / "out.c").write_text(made.text)
    words = ["gcc", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-fsyntax-only", str(tmp_path / "out.c")]
    subprocess.run(words, check=True)
    other = subprocess.run([*words, "-DOTHER"], capture_output=True, text=True, check=False)
    assert other.returncode and all(f"{n} was" in other.stderr for n in ("OP", "TYPE", "REL", "NOTHING", "PART"))
