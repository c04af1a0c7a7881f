"""Rows behind pointers to pointers that overlap: the test ahead of the loops sees it, and the source's loops run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.compilers import quick
from tests.run.test_microkernel import compiler

HEAD = "typedef struct { int n, m; unsigned **rows; } image;\ntypedef struct { int k; unsigned *v; } vec;\n"
SOURCE = HEAD + """\
void step(int n, int m, unsigned **a, unsigned **b)
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      a[i][j] = b[i - 1][j] + b[i + 1][j] + 2 * b[i][j - 1] + 3 * b[i][j + 1];
#pragma endscop
}
void alone(int n, int m, unsigned **a, const unsigned *x)
{
#pragma scop
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++)
      a[i][j] = 3 * a[i][j] + x[j];
#pragma endscop
}
void member(const image *in, image *out)
{
#pragma scop
  for (int i = 0; i < in->n; i++)
    for (int j = 1; j < in->m; j++)
      out->rows[i][j] = in->rows[i][j - 1] + 5;
#pragma endscop
}
void packed(int n, int m, vec *p, const unsigned *x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      p[i].v[j] = 7 * p[i].v[j] + x[i];
#pragma endscop
}
void shown(int n, unsigned **a, unsigned *x)
{
  a[0] = x; /* the function itself says that they overlap */
#pragma scop
  for (int i = 0; i < n; i++)
    a[i][0] = x[i] + 1;
#pragma endscop
}
void some(int n, int m, unsigned **a, const unsigned *x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (x[i] > 0)
        a[i][j] = x[j];
#pragma endscop
}
"""
DRIVER = r"""
#include <stdio.h>
#include <string.h>
enum { N = 12, M = 40, ALL = 3 * N * M };
static unsigned x[ALL], y[ALL], *a[N], *b[N];
static vec p[N];
/* Row k of a and of b begins there. */
static void lay(unsigned *at, const int *one, const int *two)
{
  for (int k = 0; k < N; k++) {
    a[k] = at + one[k];
    b[k] = at + two[k];
    p[k].v = a[k];
  }
}
#define TRY(NAME, ...) do { \
  for (int k = 0; k < ALL; k++) x[k] = y[k] = k * k % 37; \
  unsigned *now = x; lay(now, one, two); old_##NAME(__VA_ARGS__); \
  now = y; lay(now, one, two); new_##NAME(__VA_ARGS__); \
  if (memcmp(x, y, sizeof x)) printf("%s: " #NAME " differs\n", how); } while (0)
static void tried(const char *how, const int *one, const int *two)
{
  image in = { N, M, b }, out = { N, M, a };
  TRY(step, N, M, a, b);
  TRY(alone, N, M, a, now);
  TRY(alone, N, M, a, now + ALL - M);
  TRY(member, &in, &out);
  TRY(packed, N, M, p, now + ALL - M);
  TRY(shown, N, a, now);
  TRY(shown, N, a, now + ALL - M);
  TRY(some, N, M, a, now + ALL - M);
}
int main(void)
{
  int apart[N], behind[N], near[N], down[N], turned[N], among[N], between[N], none[N] = { 0 };
  for (int k = 0; k < N; k++) {
    apart[k] = k * M, behind[k] = (N + k) * M, near[k] = k * (M - 1), down[k] = (N - k) * M;
    turned[k] = k * 5 % N * M, among[k] = 2 * k * M, between[k] = (2 * k + 1) * M;
  }
  const int *all[] = { apart, behind, near, down, turned, among, between, none };
  for (int k = 0; k < 8; k++)
    for (int l = 0; l < 8; l++)
      tried("rows", all[k], all[l]);
  new_step(0, 9, 0, 0);
  new_step(9, 0, 0, 0);
  new_alone(3, 0, 0, 0);
  new_packed(0, 3, 0, 0);
  image empty = { 0, 5, 0 };
  new_member(&empty, 0); /* no iteration: the pointers lead nowhere */
  x[0] = 0;
  new_some(1, 1, 0, x);
  return 0;
}
"""


def test_rows_that_overlap(tmp_path: Path) -> None:
    made = generate("new.c", SOURCE, GenOptions())
    texts = made.text.split("\nvoid ")[1:]
    assert all(r.transformed for r in made.regions[:5])
    assert ["tw_rows_apart(" in t for t in texts] == [True, True, True, True, True, False]
    words = re.compile(r"^void (\w+)\(", re.M)
    (tmp_path / "new.c").write_text(words.sub(r"void new_\1(", made.text))
    (tmp_path / "old.c").write_text(words.sub(r"void old_\1(", SOURCE))
    heads = "".join(f"void {p}_{h};\n" for p in ("old", "new") for h in re.findall(r"^void (.*)$", SOURCE, re.M))
    (tmp_path / "driver.c").write_text(HEAD + heads + DRIVER)
    files = [str(tmp_path / f) for f in ("old.c", "new.c", "driver.c")]
    flags = ("-O1", "-w", "-fopenmp", "-fsanitize=address,undefined", *quick(compiler("")))
    subprocess.run([compiler(""), *flags, *files, "-o", str(tmp_path / "run")], check=True)
    run = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


HELPER = r"""
#include <stdio.h>
static int *a[4], *b[4], memory[100];
static int apart(const int *one, const int *two)
{
  for (int k = 0; k < 4; k++) {
    a[k] = memory + one[k];
    b[k] = memory + two[k];
  }
  return tw_rows_apart(1, 2, (tw_table[]){ TW_TABLE(a, a[0], 0, 4, 0, 3), TW_TABLE(b, b[0], 0, 4, 0, 3) });
}
int main(void)
{
  const int up[] = { 0, 3, 6, 9 }, far[] = { 50, 53, 56, 59 }, down[] = { 59, 56, 53, 50 }, odd[] = { 50, 56, 53, 59 };
  const int wide[] = { 0, 6, 12, 18 }, among[] = { 3, 9, 15, 21 }, back[] = { 21, 15, 9, 3 }, same[] = { 9, 9, 9, 9 };
  const int hit[] = { 3, 9, 14, 21 }, close[] = { 0, 3, 5, 9 };
  printf("%d%d%d%d ", apart(up, far), apart(far, up), apart(up, down), apart(down, up));
  printf("%d%d%d ", apart(wide, among), apart(wide, back), apart(back, wide));
  printf("%d%d ", apart(up, odd), apart(wide, same));
  printf("%d%d%d%d%d\n", apart(up, up), apart(wide, hit), apart(close, far), apart(odd, up), apart(same, far));
  return 0;
}
"""


def test_the_test_itself(tmp_path: Path) -> None:
    """Rows up, down, among others and in no order; where they overlap, it says so."""
    made = generate("new.c", SOURCE, GenOptions(target="c")).text
    (tmp_path / "helper.c").write_text(made[: made.index("typedef struct { int n, m;")] + HELPER)
    flags = ("-O2", "-std=c11", "-Wall", "-Wextra", "-Werror")
    subprocess.run([compiler(""), *flags, str(tmp_path / "helper.c"), "-o", str(tmp_path / "run")], check=True)
    run = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, timeout=60)
    assert run.stdout == "1111 111 11 00000\n"


def test_rows_of_further_pointers_are_a_remark() -> None:
    text = """void deep(int n, double ***a, const double *x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        a[i][j][k] = x[k];
#pragma endscop
}
"""
    made = generate("new.c", text, GenOptions())
    assert made.regions[0].transformed and "tw_rows_apart" not in made.text
    assert [d.loc.line for d in made.diagnostics if d.id == "overlap"] == [7]
    assert not generate("new.c", text, GenOptions(check_alias=True)).regions[0].transformed


BYTES = """\
void store(int n, int m, unsigned char **rows, const unsigned char *x)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      rows[i][j] = x[j];
#pragma endscop
}
void clear(int n, int m, double **a, char *c)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      a[i][j] += 1.0;
      c[i * m + j] = 0;
    }
#pragma endscop
}
"""
OVER = r"""
#include <stdio.h>
#include <string.h>
enum { N = 12, M = 8 };
void store(int n, int m, unsigned char **rows, const unsigned char *x);
int main(void)
{
  static unsigned char home[2][N][M], x[M], *rows[N];
  for (int k = 0; k < N; k++)
    rows[k] = home[0][k];
  rows[0] = (unsigned char *)&rows[1];   /* characters stored in row 0 make row 1 another one */
  unsigned char *other = home[1][1];
  memcpy(x, &other, sizeof other);
  store(N, M, rows, x);
  unsigned sum = 0;
  for (int k = 0; k < M; k++)
    sum += home[1][1][k] == x[k];
  printf("%d %u\n", rows[1] == other, sum);
  return 0;
}
"""


def test_characters_stored_over_the_pointers_to_rows(tmp_path: Path) -> None:
    """The table is memory like other memory where characters are stored."""
    made = generate("new.c", BYTES, GenOptions())
    assert all(r.transformed for r in made.regions)
    assert "TW_SPAN(rows, 0, n)" in made.text and "TW_SPAN(a, 0, n)" in made.text
    for name, text in (("old", BYTES), ("new", made.text)):
        (tmp_path / f"{name}.c").write_text(text)
        (tmp_path / "driver.c").write_text(OVER)
        files = [str(tmp_path / f) for f in (f"{name}.c", "driver.c")]
        flags = ("-O1", "-w", "-fopenmp", *quick(compiler("")))
        subprocess.run([compiler(""), *flags, *files, "-o", str(tmp_path / name)], check=True)
        run = subprocess.run([str(tmp_path / name)], capture_output=True, text=True, timeout=60)
        assert (run.returncode, run.stdout) == (0, "1 8\n"), name
