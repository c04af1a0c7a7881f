"""Bounds, conditions and subscripts made of memory that stays, of products and of quotients of parameters."""

from __future__ import annotations

import re

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run_together

HEAD = """\
#include <stddef.h>
typedef struct { int h, w, c, batch; int dim[3]; struct { short n[2]; long row; } in; float *data; } layer;
static int grid[3];
static const int table[4] = {3, 5, 7, 9};
extern long many;
void *given(layer *s, double **b);
"""

FORMS = {
    "product": "void f(layer l, float *restrict x) { for (int i = 0; i < l.h * l.w * l.c; i++) x[i] += 1; }",
    "sum": "void f(int n, int m, float *x) { for (int i = 0; i < n + n * m - 1; i++) x[i] += 1; }",
    "quotient": "void f(int c, int heads, float *x) { for (int i = 0; i < c / heads; i++) x[i] += 1; }",
    "element": "void f(double a[16][16]) {"
    " for (int i = 0; i < grid[0]; i++) for (int j = 1; j < grid[1]; j++) a[i][j] = i; }",
    "pinned": "void f(double a[16][16]) {"
    " for (int i = 0; i < table[1]; i++) for (int j = 0; j < table[2]; j++) a[i][j] = i; }",
    "pointer": "void f(const int *n, double *a) { for (int i = 0; i < *n; i++) a[i] *= 2; }",
    "member": "void f(layer *s, double *a) { for (int i = s->in.n[0]; i < s->dim[2]; i++) a[i] *= 2; }",
    "inner member": "void f(int y, int n, layer l, float *x) { for (int i = 0; i < n; i++) x[y * l.in.row + i] += 1; }",
    "long": "void f(double *a) { for (long i = 0; i < many; i++) a[i] *= 2; }",
    "wide": "void f(size_t n, size_t m, double *a) { for (size_t i = 0; i < n * m; i++) a[i] *= 2; }",
    "chosen": "void f(int n, int level, const int *sizes, double *a) {"
    " if (level >= 0 && level < 4) for (int i = 0; i < sizes[level]; i++) a[i] *= 2; }",
    "formula": "void f(layer l, int k, double *a) {"
    " for (int b = 0; b < k; b++) { int size = l.h * l.w; for (int i = b; i < size; i++) a[i] += b; } }",
    "condition": "void f(int n, const int *flag, double *a) {"
    " for (int i = 0; i < n; i++) if (flag[1] > 0) a[i] += 1; else a[i] -= 1; }",
    "shift": "void f(int n, unsigned m, double *a) { for (unsigned i = 0; i < (m >> 1 | 3u); i++) a[i] += n; }",
    "turns under a condition": "void f(int n, int m, int s, const int *g, double *a) {"
    " if (s < 9) for (int i = 0; i < n; i += s) if (g[i] > 0) for (int j = 0; j < m; j += s) a[j] += g[i]; }",
    "no type": "void f(const void *of, float *x) { for (int i = 0; i < ((const layer *)of)->h; i++) x[i] += 1; }",
    "elements without a type": "void f(void *x, int n) { for (int i = 0; i < n; i++) ((float *)x)[i] += 1; }",
    "index": "void f(int n, const int *at, double *a) { for (int i = 0; i < n; i++) a[i + at[0]] = i; }",
}


def marked(text: str, head: str = HEAD) -> str:
    """The loops of a one-line function as a region."""
    start, end = text.index("{") + 1, text.rindex("}")
    return f"{head}{text[:start]}\n#pragma scop\n{text[start:end]}\n#pragma endscop\n}}\n"


@pytest.mark.parametrize("target", ["c", "openmp"])
def test_forms_are_taken_and_agree(target: str) -> None:
    forms = {name: marked(text, "") for name, text in sorted(FORMS.items()) if (name < "f") == (target == "c")}
    for name, line in run_together(forms, GenOptions(target=target), HEAD).items():
        assert re.search(r"size vectors? agree", line), (name, line)


@pytest.mark.parametrize(("kind", "taken"), [("double", True), ("float", True), ("int", False), ("char", False)])
def test_types_tell_memory_apart(kind: str, taken: bool) -> None:
    """What a function has made of the struct may lead into it, but a double is no int."""
    text = HEAD + f"""void f(layer *s, {kind} *b)
{{
  {kind} *a = ({kind} *)given(&s->h, &b);
#pragma scop
  for (int i = 0; i < s->h; i++)
    for (int j = 0; j < s->w; j++)
      a[i] += b[j];
#pragma endscop
}}
"""
    made = generate("in.c", text.replace("given(layer *s, double **b)", f"given(int *s, {kind} **b)"), GenOptions())
    ids = [x.id for d in made.diagnostics for x in d.notes]
    assert (ids == []) == taken and ("nonaffine-bound" in ids) != taken, ids


def test_evaluated_once_and_only_where_the_source_does() -> None:
    text = marked("void f(int n, const int *p, const int *q, double *a) {"
                  " for (int i = 0; i < p[0]; i++) for (int j = 0; j < n / q[1]; j++) a[i] += j; }")  # fmt: skip
    out = generate("in.c", text, GenOptions(target="c")).text
    assert "const int p_0 = p[0];" in out
    assert re.search(r"const int n_q_1 = p_0 >= 1 \? n / q\[1\] : 0;", out)
    assert out.count("q[1]") == 1


def test_names_are_free() -> None:
    text = marked("void f(int p_0, const int *p, double *a) { for (int i = p_0; i < p[0]; i++) a[i] += p_0; }")
    out = generate("in.c", text, GenOptions(target="c")).text
    assert "const int p_0_2 = p[0];" in out


@pytest.mark.parametrize(
    "text",
    [
        "void f(int *n, double *a) { for (int i = 0; i < *n; i++) { a[i] = 0; *n = 3; } }",
        "void f(layer *s, double *a) { for (int i = 0; i < s->dim[2]; i++) { a[i] = 0; s->dim[i] = 3; } }",
        "void f(volatile int *n, double *a) { for (int i = 0; i < *n; i++) a[i] = 0; }",
    ],
)
def test_what_may_change_is_no_parameter(text: str) -> None:
    made = generate("in.c", marked(text), GenOptions(target="c"))
    assert not made.regions[0].transformed


def test_what_counters_divide_is_no_parameter() -> None:
    """The loop runs as written, and divides by i where the source does."""
    text = "void f(int n, double *a) { for (int i = 1; i < n; i++) for (int j = 0; j < n / i; j++) a[j] += i; }"
    made = generate("in.c", marked(text), GenOptions(target="c"))
    assert made.regions[0].transformed and "j1 < n / (int)i;" in made.text and "const int n" not in made.text
