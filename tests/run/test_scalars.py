"""Integer variables that hold formulas, counters behind their loops, and loops that count in other words."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run_together

HEAD = (
    "int f(int n, int m, unsigned u, double *restrict a, const double *restrict b)\n{\n"
    "  const int S = 4;\n  int i = 7, j = 3, k = 1;\n"
)
ALL = "return i + 10 * j + 100 * k;"
NONE = "return 0;"

FORMS = {
    "flat index": ("for (i = 0; i < n; i++) for (j = 0; j < m; j++) { k = i * m + j; a[k] = b[k] + 1; }", NONE),
    "flat index seen": ("for (i = 0; i < n; i++) for (j = 0; j < m; j++) { k = i * m + j; a[k] = b[k] + 1; }", ALL),
    "set twice": ("for (i = 0; i < n; i++) { k = i; a[k] = 1; k = k + 1; a[k] += b[k]; k += 2; a[k] = k; }", NONE),
    "chosen": ("for (i = 0; i < n; i++) { k = i == 0 ? 1 : i - 1; a[i] = b[k] * k; }", ALL),
    "conditional": ("for (i = 0; i < n; i++) { k = i; if (i > 3) k = 3; a[i] = b[k]; }", NONE),
    "clamped": ("for (i = 0; i < n; i++) { k = i - 2; if (b[i] > 0) k = 0; a[i] = k; }", NONE),
    "carried": ("k = 0; for (i = 0; i < n; i++) { a[i] = k; k = i + 1; }", ALL),
    "by hand and counting": (
        "for (j = 0; j < m; j++) { i = 0; a[i] = j; for (i = 1; i < n; i++) a[i] = b[j]; i = n; a[i] += b[i]; }", NONE
    ),
    "by hand, counting, seen": ("for (i = 0; i < n; i++) a[i] = b[i]; i = 5; for (j = 0; j < m; j++) a[i] += j;", ALL),
    "behind its loop": ("for (i = 0; i < n; i++) a[i] = 1; a[i] = i;", NONE),
    "between loops": ("for (i = 2; i < n; i++) a[i] = i; for (j = i; j < i + 4; j++) a[j] = b[j];", ALL),
    "before the condition": ("for (i = n; --i >= 0;) a[i] = i;", ALL),
    "down to zero": ("for (i = n > 0 ? n : 0; i--;) a[i] = i;", NONE),
    "up before the condition": ("for (i = -1; ++i < n;) a[i] = i;", ALL),
    "while": ("i = 0; while (i < n) { a[i] += b[i]; i++; }", ALL),
    "while down": ("i = n - 1; k = 5; while (i >= 0) { a[i] = k; i -= 1; }", ALL),
    "nested while": ("for (j = 0; j < m; j++) { i = 0; while (i < n) { a[i] += j; ++i; } }", ALL),
    "two counters": ("for (i = 0, j = n - 1; i < n; i++, j--) a[i] = b[j];", ALL),
    "two counters in steps": ("for (i = 0, k = 0; i < n; i++, k += 3) a[k] = i;", NONE),
    "counters that meet": ("for (i = 0, j = n; i < j; i++, j--) a[i] = b[j];", NONE),
    "three in a header": ("for (i = 0, j = 1, k = n; i < n; i += 2, j++, k -= 3) a[j] = b[i] * k;", ALL),
    "a header that sets more": ("for (i = 0, k = 7; i < n; i += m) a[i] = b[i] * k;", ALL),
    "a header and continue": ("for (i = 0, k = 7; i < n; i++) { if (b[i] > 3) continue; a[i] = k; }", ALL),
    "one is added to": ("for (i = 0; i < n; i++) { a[k] = b[i]; k += 2; }", ALL),
    "sum of rows": ("for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[k++] = b[j];", ALL),
    "sum of rows unseen": ("k = 0; for (i = 0; i < n; i++) for (j = 0; j < m; j++) a[k++] = b[j];", NONE),
    "pairs": ("for (i = 0; i < n; i++) { a[k++] = b[i]; a[k++] = -b[i]; }", "return k;"),
    "before it is used": ("for (i = 0; i < n; i++) { a[++k] = 1; a[k += 2] += b[i]; }", ALL),
    "chains": (
        "k = 0; for (i = 0; i < n; i++) { int p = k; for (j = 0; j < m; j++) { a[p] = b[j]; p += 1; } k += m; }",
        ALL,
    ),
    "a stride": ("for (i = 0, k = 0; i < n; i++, k += m) for (j = 0; j < m; j++) a[k + j] = b[j];", ALL),
    "down": ("k = 3 * n; for (i = n - 1; i >= 0; i--) { k -= 3; a[k] = b[i]; }", ALL),
    "in steps": ("k = 0; for (i = 1; i <= n; i += 3) a[k++] = b[i];", ALL),
    "behind the loop": ("k = 0; for (i = 0; i < n; i++) a[k++] = 1; for (j = 0; j < k; j++) a[j] += b[j];", ALL),
    "unsigned sum": ("unsigned q = u; for (i = 0; i < n; i++) { a[q] = b[i]; q += 2; }", NONE),
    "as data": ("for (i = 0; i < n; i++) { a[i] = k; k += m; }", ALL),
    "in a condition": ("k = 0; for (i = 0; i < n; i++) { if (k < m) a[i] = b[k]; k += 2; }", NONE),
    "goes on": ("for (; i < n; i++) a[i] = b[i];", ALL),
    "goes on after a loop": ("for (i = 0; i < n && i < m; i++) a[i] = 1; for (; i < n; i++) a[i] = b[i];", ALL),
    "while from before": ("while (i < n) { a[i] = b[i]; i++; }", ALL),
    "step under a condition": ("for (i = 0; i < n; i++) { a[i] = b[i]; if (b[i] > 0) k++; }", ALL),
    "by a parameter": ("for (i = 0; i < n; i += m) a[i] = b[i];", NONE),
    "by a parameter seen": ("for (i = 2; i <= n; i += m) a[i] = i;", ALL),
    "down by a parameter": ("for (i = n; i >= 0; i -= m) a[n - i] = b[n - i];", NONE),
    "nested by a parameter": ("for (i = 0; i < 9; i += m) for (j = 0; n > j; j += m) a[i * n + j] = 1;", NONE),
    "assigned in a condition": ("for (i = 0; i < n; i++) if ((k = (int)b[i]) > 3) a[i] = k; else a[i] = 1;", NONE),
    "continue by a parameter": ("for (i = 0; i < n; i += m) { if (i == 3) continue; a[i] = b[i]; }", NONE),
    "constant step": ("for (i = 0; i < n; i += S) a[i] = S;", NONE),
    "unsigned down": ("for (unsigned p = u - 1; p < u; p--) a[p] = b[p];", NONE),
    "declared and set again": ("for (int p = 0; p < n; p++) { int q = p + 1; a[q] = 1; q = 2 * p; a[q] += 2; }", NONE),
}


def source(body: str, end: str) -> str:
    return f"{HEAD}#pragma scop\n{body}\n#pragma endscop\n  {end}\n}}\n"


@pytest.mark.parametrize("target", ["c", "openmp"])
def test_forms_agree(target: str) -> None:
    forms = {name: source(*form) for name, form in sorted(FORMS.items()) if (name < "d") == (target == "c")}
    for name, line in run_together(forms, GenOptions(target=target)).items():
        assert "agree" in line, (name, line)


GOES_ON = "for (i = i + 1; i < 2 * n; i++) a[i] = 1; return i;"


def test_a_later_loop_that_goes_on_with_the_counter_finds_it() -> None:
    made = generate("in.c", source("for (i = 0; i < n; i++) a[i] = b[i];", GOES_ON), GenOptions(target="c"))
    assert "i = (int)(n <= 0 ? 0 : n);" in made.text, made.text


def test_a_global_counter_keeps_its_last_value() -> None:
    loop = "  for (g = 0; g < n; g++) a[g] = 0;"
    text = f"int g;\nvoid f(int n, double *a)\n{{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"
    made = generate("in.c", text, GenOptions(target="c"))
    assert "g = (int)(n <= 0 ? 0 : n);" in made.text, made.text


def test_sizes_with_the_names_of_loops_in_the_tree() -> None:
    text = (
        "void f(int c0, int c1, int d0, double a[restrict 40][40])\n{\n#pragma scop\n"
        "  for (int i = c0; i < c1; i++)\n    for (int j = d0; j < c1; j++)\n      a[j][i] += c0;\n#pragma endscop\n}\n"
    )
    made = generate("in.c", text, GenOptions(target="c"))
    assert made.regions[0].transformed, made.diagnostics


def test_formulas_leave_no_trace() -> None:
    out = generate("in.c", source(*FORMS["flat index"]), GenOptions(target="c")).text
    assert "k =" not in out.split("tilewright: region")[1]
    assert "a[i * m + j] = b[i * m + j] + 1;" in out


@pytest.mark.parametrize(
    ("body", "id"),
    [
        ("i = 0; while (a[i] > 0) { a[i] = 0; i++; }", "nonaffine-bound"),
        ("i = 0; while (i < n) { if (a[i] > 0) i++; a[i] = 1; i++; }", "while-loop"),
        ("for (i = 0, j = 0; i < n; j++) { a[j] = 1; i += j; }", "loop-form"),
    ],
)
def test_what_stays_out(body: str, id: str) -> None:
    made = generate("in.c", source(body, NONE), GenOptions(target="c"))
    assert [n.id for d in made.diagnostics for n in d.notes] == [id]
