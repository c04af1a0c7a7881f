"""Stores through index arrays: side by side where no two indices are equal, in the order of the source elsewhere."""

from __future__ import annotations

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

DISTINCT = {
    "elements": """void f(int n, double *restrict y, const double *restrict x, const int *restrict idx)
{
#pragma tilewright distinct(idx)
#pragma scop
  for (int i = 0; i < n; i++)
    y[idx[i]] += x[i];
#pragma endscop
}""",
    "rows": """void f(int n, int m, float *restrict out, const float *restrict in, const int *restrict to)
{
#pragma tilewright distinct(to)
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      out[to[i] * m + j] = in[i * m + j];
#pragma endscop
}""",
    "rows under a condition": """
void f(int n, int m, double (*restrict a)[m], const double (*restrict b)[m], const long *restrict q)
{
  int t, i, j;
#pragma tilewright distinct(q)
#pragma scop
  for (t = 0; t < 3; t++)
    for (i = 0; i < n; i++)
      for (j = 0; j < m; j++)
        if (b[i][j] > 0.75) a[q[i]][j] = a[q[i]][j] * 0.5 + b[i][j];
#pragma endscop
}""",
    "a variable": """
void f(int n, double *restrict y, double *restrict z, const double *restrict x, const int *restrict idx)
{
  int i, k;
#pragma tilewright distinct(idx)
#pragma scop
  for (i = 0; i < n; i++) {
    k = idx[i];
    y[k] = x[i];
    if (x[i] > 0.9) z[k] -= y[k];
  }
#pragma endscop
}""",
    "pointers": """void f(float *restrict w, const float *restrict d, const int *restrict inp, int n, int m)
{
#pragma tilewright distinct(inp)
#pragma scop
  for (int t = 0; t < n; t++) {
    int row = inp[t];
    float *p = w + row * m;
    for (int i = 0; i < m; i++)
      p[i] += d[t * m + i];
  }
#pragma endscop
}""",
}


def test_distinct_indices_are_stored_side_by_side() -> None:
    text = "\n".join(t.replace("void f(", f"void f{k}(", 1) for k, t in enumerate(DISTINCT.values()))
    report = run(text, GenOptions())
    assert report.ok and all("size vectors agree" in line for line in report.lines), report
    assert all("threads over" in line for line in report.lines), report


def shared(body: str, hint: str = "distinct(idx, to)") -> bool:
    """Do threads share out what is generated for a region?"""
    given = "int n, int m, unsigned u, double *restrict y, double *restrict x, int *restrict idx, int *restrict to"
    text = f"void f({given}, short *s)\n{{\n#pragma tilewright {hint}\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    made = generate("in.c", text, GenOptions())
    assert not any(d.id == "region-refused" for d in made.diagnostics)
    return "omp" in made.text


LOOP = "for (int i = 0; i < n; i++)\n"
ROWS = f"{LOOP}  for (int j = 0; j < m; j++)\n"


@pytest.mark.parametrize(
    "body, apart",
    [
        (f"{LOOP} y[idx[i]] += x[i];", True),
        (f"{LOOP} y[idx[2 * i + m]] += x[i];", True),
        (f"{LOOP} y[idx[i / 2]] += x[i];", False),  # two iterations, one element
        (f"{LOOP} y[idx[i]] += y[i];", False),  # found in two ways
        (f"{LOOP} {{ y[idx[i]] = x[i]; y[to[i]] += 1; }}", False),
        (f"{LOOP} y[idx[i] / 2] = x[i];", False),
        (f"{LOOP} y[idx[to[i]]] = x[i];", False),  # as far as is known
        (f"{LOOP} y[idx[i]] = y[idx[i + 1]];", False),
        (f"{LOOP} {{ y[idx[i]] = x[i]; idx[i] = 0; }}", False),  # not what the hint speaks of any more
        (f"{LOOP} {{ int k = idx[i]; k = k / 2; y[k] = x[i]; }}", False),
        (f"{LOOP} {{ short k = idx[i]; y[k] = x[i]; }}", False),
        (f"{ROWS} y[idx[i] * m + j] += x[j];", True),
        (f"{ROWS} y[j + m * (long)idx[i]] += x[j];", True),
        (f"{ROWS} y[idx[i] * u + j] += x[j];", False),  # unsigned products wrap
        (f"{ROWS} y[idx[i] * j + j] += x[j];", False),
    ],
)
def test_what_is_known_to_be_apart(body: str, apart: bool) -> None:
    assert shared(body) == apart


def test_without_the_hint_nothing_is_known() -> None:
    assert not shared(f"{LOOP} y[idx[i]] += x[i];", "distinct(x)")


FILLED = """void f(int n, int m, double *restrict y, const double *restrict x, int *restrict idx, int *restrict to)
{{
  int k;
  for (k = 0; k < n; k++)
    idx[k] = {value};
  {between}
#pragma scop
  for (int i = 0; i < {most}; i++)
    y[idx[i]] += x[i];
#pragma endscop
  {after}
}}
"""


@pytest.mark.parametrize(
    "value, between, after, most, apart",
    [
        ("n - 1 - k", "", "", "n", True),
        ("m + 2 * k", "m = 3;", "idx[0] = 0;", "n - 1", True),
        ("k", "for (int t = 0; t < m; t++) {", "}", "n", True),
        ("k", "m = abs(m);", "", "n", False),  # calls may change anything
        ("k / 2", "", "", "n", False),
        ("m", "", "", "n", False),
        ("to[k]", "", "", "n", False),
        ("k", "idx[1] = 0;", "", "n", False),
        ("k", "to[1] = 0;", "", "n", False),  # which may be an element of idx
        ("k", "idx = to;", "", "n", False),
        ("k", "n = m;", "", "n", False),
        ("k", "", "", "n + m", True),  # where that is no more than n
        ("k", "", "", "m", False),  # the region does not know of n
        ("k", "for (int t = 0; t < m; t++) {", "idx[t] = 0; }", "n", False),
        ("k", "if (m) {", "}", "n", True),
        ("k", "if (m) for (k = 0; k < n; k++) idx[k] = 0;", "", "n", False),
    ],
)
def test_arrays_that_the_function_fills(value: str, between: str, after: str, most: str, apart: bool) -> None:
    made = generate("in.c", FILLED.format(value=value, between=between, after=after, most=most), GenOptions())
    assert ("omp" in made.text) == apart
    assert most != "n + m" or "m <= 0" in made.text


def test_elements_have_to_hold_what_they_get() -> None:
    for counter, apart in (("int", True), ("long", False), ("unsigned", False)):
        text = FILLED.replace("int k;", "").replace("for (k", f"for ({counter} k")
        made = generate("in.c", text.format(value="2 * k", between="", after="", most="n"), GenOptions())
        assert ("omp" in made.text) == apart


def test_filled_arrays_of_the_function_agree() -> None:
    text = FILLED.replace("{after}", "free(own);").replace("int k;", "int k, *own = malloc(n * sizeof *own);")
    text = "#include <stdlib.h>\n" + text.replace("idx[", "own[").format(
        value="n - k", between="to[0] = 1;", most="n", after=""
    )
    report = run(text, GenOptions())
    assert report.ok and "threads over i" in report.lines[0], report


def test_short_integers_can_hardly_differ() -> None:
    assert not shared(f"{LOOP} y[s[i]] = x[i];", "distinct(s)")


def test_columns_have_to_stay_in_their_rows() -> None:
    text = DISTINCT["rows"].replace("j < m", "j < n")
    made = generate("in.c", text, GenOptions())
    assert "n <= m" in made.text or "m >= n" in made.text, made.text


def test_the_hint_is_one_of_those_that_are_known() -> None:
    text = DISTINCT["elements"].replace("distinct(", "distinkt(")
    with pytest.raises(InputError, match=r"did you mean `distinct\(array, ...\)`"):
        generate("in.c", text, GenOptions())
