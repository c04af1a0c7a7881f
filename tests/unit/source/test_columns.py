"""Carets stand where the user wrote something, whatever macros made of the line."""

from __future__ import annotations

import pytest

import codegen
from codegen.source.columns import source_column

HEAD = """\
#define N 1024
#define SQ(x) ((x) * (x))
#define PUT(a, i) a[next(i)] = 0
#define EACH(i, n) for (int i = 0; (i) < (n); i = next(i))
int next(int);
void f(int n, double *x, double *y, int *idx)
{
#pragma scop
"""


@pytest.mark.parametrize(("line", "at"), [
    ("  for (int i = 0; i < n; i++) x[next(i)] = 0;", "next"),
    ("  for (int i = 0; i < N; i++) x[next(i)] = 0;", "next"),
    ("  for (int i = 0; i < n; i++) x[i + N] = SQ(y[i]) + SQ(N) + y[next(i)];", "next"),
    ("  for (int i = 0; i < N; i++) PUT(x, i);", "PUT"),
    ("  for (int i = 0; i < N; i++) { x[N] = 0; PUT (x, i); }", "PUT"),
    ("  EACH(i, N) x[i] = 0;", "EACH"),
    ("\tfor (int i = 0; i < n; i++) /* N */ x[ /* PUT */ next(N + i)] = SQ(1);", "next"),
])  # fmt: skip
def test_columns(line: str, at: str) -> None:
    made = codegen.generate(f"{HEAD}{line}\n#pragma endscop\n}}\n", name="x.c")
    ((note,),) = (d.notes for d in made.diagnostics)
    assert (note.loc.line, note.loc.col) == (HEAD.count("\n") + 1, line.index(at) + 1), note


def test_columns_of_lines_that_have_nothing_in_common() -> None:
    assert source_column("a b c", "", 3) == 3
    assert source_column("a b c", "M", 5) == 1
    assert source_column("a b", "a b", 9) == 9


@pytest.mark.parametrize(("code", "id", "says"), [
    ("for (int i = 0; i < n; i++) if (idx[i]) { y[0] = i; break; }", "jump", "`break`"),
    ("for (int i = 0; i < n; i++) { if (idx[i] == 7) goto out; x[i] = 0; }", "jump", "`goto`"),
    ("for (double t = 0; t < 1; t += 0.1) x[0] = t;", "loop-form", "`t`, which is no integer"),
    ("for (int *p = idx; *p; p++) x[0] += *p;", "loop-form", "`p`, which is a pointer"),
    ("for (int i = 0; i < n; i++) x[i] = 0", "parse-error", "syntax error before the `#pragma`"),
])  # fmt: skip
def test_reasons_come_first(code: str, id: str, says: str) -> None:
    ((note,),) = (d.notes for d in codegen.generate(f"{HEAD}{code}\n#pragma endscop\nout: ;\n}}\n").diagnostics)
    assert note.id == id and says in note.message
