"""The test that arrays do not overlap, read back: one that leaves memory out is refused."""

from __future__ import annotations

from functools import cache

import pytest

from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.scop.model import Scop
from codegen.source_file import open_source
from codegen.target.guards.alias import alias_test
from codegen.verify.overlap import wrong_overlap

SOURCES = {
    "rows": """void f(int n, int m, double *a, const double *b, const double *c) {
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * m + j] = b[(i - 1) * m + j] + c[j + 2];
#pragma endscop
}
""",
    "members": """struct s { int n; double *x; float *y; };
void f(struct s *p, double (*a)[8]) {
#pragma scop
  for (int i = 0; i < p->n; i++)
    a[i + 1][3] = p->x[2 * i] + p->y[i];
#pragma endscop
}
""",
}


@cache
def printed(name: str) -> tuple[Scop, str]:
    options = GenOptions(target="c")
    (s,) = open_source("f.c", SOURCES[name], options).slices
    model = model_region(s, options)
    assert model is not None
    return model.program.scop, alias_test(model.program.scop, False, False).text


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_printed_is_proven(name: str) -> None:
    scop, text = printed(name)
    assert "TW_SPAN" in text and wrong_overlap(scop, text, False) == ""


# What is left out: the source, the text, what stands there instead.
CHANGES = {
    "the first row": ("rows", "TW_ROWS(a, 1,", "TW_ROWS(a, 2,"),
    "the last row": ("rows", "TW_ROWS(a, 1, n,", "TW_ROWS(a, 1, n - 1,"),
    "rows of another length": ("rows", "TW_ROWS(a, 1, n, m)", "TW_ROWS(a, 1, n, n)"),
    "elements in place of rows": ("rows", "TW_ROWS(a, 1, n, m)", "TW_SPAN(a, 1, n)"),
    "the last element": ("rows", "m + 2)", "m + 1)"),
    "another array": ("rows", "TW_ROWS(b,", "TW_ROWS(d,"),
    "nothing is written": ("rows", "tw_apart(1,", "tw_apart(0,"),
    "one part too few": ("rows", "tw_apart(1, 3,", "tw_apart(1, 2,"),
    "another order": (
        "rows", "TW_ROWS(a, 1, n, m), TW_ROWS(b, 0, (long)n - 1, m)",
        "TW_ROWS(b, 0, (long)n - 1, m), TW_ROWS(a, 1, n, m)",
    ),
    "the last row of a table": ("members", "TW_SPAN(a, 1, (long)p->n + 1)", "TW_SPAN(a, 1, p->n)"),
    "every second element": ("members", "2 * (long)p->n - 1", "p->n"),
    "behind a member": ("members", "p->y, 0,", "p->y, 1,"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_tests_that_leave_memory_out_are_refused(what: str) -> None:
    name, old, new = CHANGES[what]
    scop, text = printed(name)
    assert old in text, text
    assert wrong_overlap(scop, text.replace(old, new, 1), False)
