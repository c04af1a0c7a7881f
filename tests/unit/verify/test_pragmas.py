"""Directives for threads and lanes are read back: one that asks for more than was proven of its loop is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.region import make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.region_views import RegionViews, region_views
from codegen.target.text.pieces import View
from codegen.verify.pragmas import read_directive, wrong_pragmas
from codegen.verify.text.read import Unread

SOURCES = {
    "sums": """extern int total;
void f(int n, int *a, double *b) {
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    total += a[i];
    s += b[i];
  }
#pragma endscop
  b[0] = s;
}
""",
    "least": """extern double least;
void f(int n, double *b) {
#pragma scop
  for (int i = 0; i < n; i++)
    least = b[i] < least ? b[i] : least;
#pragma endscop
}
""",
    "bytes": """void f(int n, int m, unsigned char *a, const unsigned char *b) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * m + j] = (b[i * m + j] + a[i * m + j]) >> 1;
#pragma endscop
}
""",
    "arrays": """void f(int n, int m, short A[n][m], signed char B[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      B[i][j] = A[i][j] / 256;
#pragma endscop
}
""",
    "own": """void f(int n, int m, double A[n][m], double B[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double t = A[i][j] * 2;
      t = t * t;
      B[i][j] = t - A[i][j];
    }
#pragma endscop
}
""",
    "branches": """extern int more, less;
void f(int n, int p, const int *a) {
#pragma scop
  if (p > 3) {
    for (int i = 0; i < n; i++)
      more += a[i];
  } else {
    for (int i = 0; i < n; i++)
      less -= a[i];
  }
#pragma endscop
}
""",
    "pipeline": """void f(int t, int n, double A[n][n]) {
#pragma scop
  for (int k = 0; k < t; k++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5;
#pragma endscop
}
""",
}


@cache
def made(name: str) -> RegionViews:
    options = GenOptions(target="openmp", reassociate=True, assume_no_alias=True)
    (s,) = open_source("in.c", SOURCES[name], options).slices
    model = model_region(s, options)
    assert model is not None
    found = make(model, options, load_for("generic", "generic"))
    return region_views(found.program.scop, found.code, True)


def wrong(x: RegionViews, team: bool = False) -> str:
    return wrong_pragmas(x.short, x.views, team)


def changed(views: tuple[View, ...], how: Callable[[View], View]) -> tuple[View, ...]:
    return tuple(how(replace(v, body=changed(v.body, how), orelse=changed(v.orelse, how))) for v in views)


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_printed_is_proven(name: str) -> None:
    assert wrong(made(name)) == ""


# A source, a part of a directive or a line, and what stands there instead.
CHANGES = {
    "a sum that races": ("sums", " reduction(+:s)", ""),
    "a sum that is none": ("bytes", "parallel for firstprivate(", "parallel for reduction(+:n) firstprivate("),
    "another operator": ("sums", "reduction(+:s)", "reduction(*:s)"),
    "another variable": ("sums", "reduction(+:s)", "reduction(+:n)"),
    "twice": ("sums", " reduction(+:s)", " reduction(+:s) reduction(+:s)"),
    "a sum with a sign": ("sums", "unsigned int total = tw_total;", "int total = tw_total;"),
    "a sum that is lost": ("sums", "tw_total = total;", "(void)total;"),
    "a sum of a branch that is lost": ("branches", "tw_more = more;", "(void)more;"),
    "a sum of the other branch that begins anew": ("branches", "tw_less = (unsigned int)less;", "tw_less = 0;"),
    "a sum that is not given back": ("sums", "total = (int)tw_total;", "(void)tw_total;"),
    "a sum that begins anew": ("sums", "unsigned int tw_total = (unsigned int)total;", "unsigned int tw_total = 0;"),
    "a store that the source has not": ("least", "if (__builtin_memcmp(&least, tw_least, sizeof least)) ", ""),
    "a result for others to see": ("least", "double least = *tw_least;", "(void)*tw_least;"),
    "the greatest in place of the least": ("least", "reduction(min:", "reduction(max:"),
    "a copy of what changes": ("own", "parallel for", "parallel for firstprivate(t)"),
    "a copy that has an address": ("bytes", "(b[i * m + j]", "(*&b[i * m + j] + !&m"),
    "a copy of a result": ("sums", "reduction(+:s)", "firstprivate(s)"),
    "a copy of the counter": ("bytes", "firstprivate(", "firstprivate(i, "),
    "values that nobody sets": ("bytes", "firstprivate(", "private("),
    "one value for all": ("own", "double t;", "(void)0;"),
    "lanes where order counts": ("pipeline", "", "#pragma omp simd"),
    "threads where order counts": ("pipeline", "#pragma omp parallel num", "#pragma omp parallel for num"),
    "too many threads": ("pipeline", "tw_min(tw_max_threads(), TW_LINE)", "tw_max_threads()"),
    "a wait that is missing": ("pipeline", "tw_follow(tw_line, ", "(void)(tw_line, "),
    "a stage that nobody hears of": ("pipeline", "tw_reach(tw_line, TW_LAST);", "(void)0;"),
    "a turn that is left out": ("pipeline", "+= tw_team_size()", "+= 2 * tw_team_size()"),
    "a turn that begins late": ("pipeline", "16 * kt_turn - k_ahead < t", "16 * kt_turn < t"),
    "a turn that ends early": ("pipeline", "16 * kt_turn - k_ahead < t", "16 * kt_turn - k_ahead < t - 1"),
    "a turn of another size": ("pipeline", "const long kt = 16 * kt_turn - k_ahead;", "const long kt = kt_turn;"),
    "a line that never began": ("pipeline", "tw_begin(tw_line);", "(void)0;"),
    "two loops in one": ("own", "parallel for", "parallel for collapse(2)"),
    "parts of no size": ("own", "parallel for", "parallel for schedule(static, 0)"),
    "another directive": ("own", "parallel for", "parallel sections"),
    "a clause of another kind": ("own", "parallel for", "parallel for nowait(1)"),
    "a test that changes something": ("pipeline", "if(parallel: ", "if(parallel: t = "),
}


@pytest.mark.parametrize("what", CHANGES)
def test_directives_that_ask_for_more_are_refused(what: str) -> None:
    name, old, new = CHANGES[what]
    x = made(name)
    count = 0

    def edit(v: View) -> View:
        nonlocal count
        if not old:
            count += v.kind == "for" and not v.pragma
            return replace(v, pragma=v.pragma or new) if v.kind == "for" else v
        count += (old in v.pragma) + (old in v.head)
        return replace(v, pragma=v.pragma.replace(old, new), head=v.head.replace(old, new))

    views = changed(x.views, edit)
    assert count and wrong(replace(x, views=views))


def test_a_team_shares_out_every_statement() -> None:
    x = made("own")
    views = changed(x.views[0].orelse, lambda v: replace(v, pragma=v.pragma.replace("parallel ", "")))
    assert wrong(replace(x, views=views), team=True) == ""
    assert wrong(replace(x, views=views), team=False)  # nobody is there to share with
    assert wrong(x, team=True)  # each would start threads of its own
    assert wrong(replace(x, views=changed(views, lambda v: replace(v, pragma=""))), team=True)


@pytest.mark.parametrize(
    "text", ["#pragma omp parallel for if(n", "#pragma once", "#pragma omp parallel for nowait", "TW_X"]
)
def test_directives_of_other_forms_are_not_read(text: str) -> None:
    with pytest.raises(Unread):
        read_directive(text)
