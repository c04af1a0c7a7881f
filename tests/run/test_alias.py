"""The overlap test against the source where arrays do overlap: parameters, members, global pointers and scalars."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from codegen.checking.compare import check
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.target.guards.alias import AliasTest
from tests.compilers import quick
from tests.run.test_microkernel import compiler

SOURCE = """\
struct line { int n; int *data; int *more; };
struct pair { int re, im; };
extern int *from, *to, total, limit;
void shift(int n, int *a, const int *b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 1;
#pragma endscop
}
void structs(struct line *a, const struct line *b)
{
#pragma scop
    for (int i = 0; i < a->n; i++)
        a->data[i] = b->data[i] + 1;
#pragma endscop
}
void members(struct line *p)
{
#pragma scop
    for (int i = 0; i < p->n; i++)
        p->data[i] = p->more[i] + 1;
#pragma endscop
}
void globals(int n)
{
#pragma scop
    for (int i = 0; i < n; i++)
        to[i] = from[i] + 1;
#pragma endscop
}
void scalar(int n, int *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        total += a[i];
#pragma endscop
}
void elements(int n, struct pair *x)
{
#pragma scop
    for (int i = 0; i < n; i++)
        x[i].re = x[i].im + 1;
#pragma endscop
}
void bound(int *a)
{
#pragma scop
    for (int i = 0; i < limit; i++)
        a[i] = limit + i;
#pragma endscop
}
void apart(int n, int *restrict a, const int *b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 1;
#pragma endscop
}
"""
DRIVER = r"""
#include <stdio.h>
#include <string.h>
int *from, *to, total, limit;
#define TRY(NAME, ...) do { \
  for (int k = 0; k < 100; k++) x[k] = y[k] = k * k % 37; \
  from = x; to = x + 1; l.data = x + 1; l.more = m.data = x; old_##NAME(__VA_ARGS__);  \
  from = y; to = y + 1; l.data = y + 1; l.more = m.data = y; now = y; new_##NAME(__VA_ARGS__); \
  if (memcmp(x, y, sizeof x)) printf(#NAME " differs\n"); now = x; } while (0)
int main(void)
{
  static int x[100], y[100], *now = x;
  struct line l = { 64, 0, 0 }, m = { 64, 0, 0 };
  TRY(shift, 64, now + 1, now);
  TRY(structs, &l, &m);
  TRY(members, &l);
  TRY(globals, 64);
  TRY(elements, 32, (struct pair *)now);
  TRY(shift, -3, now + 1, now);
  l.n = 0;
  new_structs(&l, 0); /* no iteration: the second pointer leads nowhere */
  return 0;
}
"""


def test_overlapping_arrays(tmp_path: Path) -> None:
    made = generate("new.c", SOURCE, GenOptions())
    assert all(r.transformed for r in made.regions)
    texts = made.text.split("\nvoid ")[1:]
    assert ["tw_apart(" in t for t in texts] == [True, True, True, True, True, False, True, False]
    assert "TW_SPAN(&total, 0, 1)" in texts[4]  # one C object each, so nothing to run
    assert "TW_SPAN(&limit, 0, 1)" in texts[6]  # read only, and it may be among what is written
    assert "(a->n >= 1 ? TW_SPAN(b->data, 0, a->n) : TW_NOWHERE)" in " ".join(texts[1].split())
    assert "const int *const b_data = b->data;" not in texts[1]  # b is read by the loop alone: it may lead nowhere
    assert "int *const p_data = p->data;" in texts[2] and "const int *const p_more = p->more;" in texts[2]
    words = re.compile(r"\bvoid (\w+)\(")
    (tmp_path / "new.c").write_text(words.sub(r"void new_\1(", made.text))
    (tmp_path / "old.c").write_text(words.sub(r"void old_\1(", SOURCE))
    heads = "".join(f"void {p}_{h};\n" for p in ("old", "new") for h in re.findall(r"^void (.*)$", SOURCE, re.M))
    types = "".join(re.findall(r"^struct \w+ \{.*$", SOURCE, re.M))
    (tmp_path / "driver.c").write_text(types + "\n" + heads + DRIVER)
    files = [str(tmp_path / f) for f in ("old.c", "new.c", "driver.c")]
    flags = ("-O2", "-w", "-fopenmp", "-fsanitize=address,undefined", *quick(compiler("")))
    subprocess.run([compiler(""), *flags, *files, "-o", str(tmp_path / "run")], check=True)
    run = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_promise_takes_the_tests_away() -> None:
    made = generate("new.c", SOURCE, GenOptions(assume_no_alias=True))
    assert "tw_apart" not in made.text and all(r.transformed for r in made.regions)


def test_both_refusing_and_testing() -> None:
    """What no test can tell is taken not to overlap, with a word about it; --check-alias refuses it."""
    rows = "void f(int n, double ***a, const double *b)\n{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
    rows += "    a[i][0][0] = b[i];\n#pragma endscop\n}\n"
    made = generate("new.c", rows, GenOptions())
    assert made.regions[0].transformed and "tw_apart" not in made.text
    assert [d.loc.line for d in made.diagnostics if d.id == "overlap"] == [5]
    assert not generate("new.c", rows, GenOptions(check_alias=True)).regions[0].transformed


def test_fresh_and_local_memory_needs_none() -> None:
    text = """void *malloc(unsigned long);
void use(double *);
void fresh(int n, double *b)
{
  double *t = malloc(n * sizeof *t), u[64];
#pragma scop
  for (int j = 0; j < n; j++) {
    t[j] = b[j] + 1;
    u[j % 64] = b[j] * 2;
  }
#pragma endscop
  use(t);
  use(u);
}
"""
    made = generate("new.c", text, GenOptions(target="c"))
    assert made.regions[0].transformed and "tw_apart" not in made.text


def test_check_finds_a_missing_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "shift.c"
    path.write_text("void f(int n, double *a, const double *b)\n{\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
                    "    a[i] = b[i] + 1;\n#pragma endscop\n}\n")  # fmt: skip
    report = check(str(path), path.read_text(), GenOptions(), lambda _: None)
    assert report.ok and "more with arrays that overlap" in report.lines[0]
    monkeypatch.setattr("codegen.hosts.region.overlap_test", lambda *_: AliasTest())
    report = check(str(path), path.read_text(), GenOptions(), lambda _: None)
    assert not report.ok and "` one element after `" in report.lines[0]


def test_a_pointer_that_only_data_lead_to_is_tested_where_its_struct_is_read() -> None:
    """Of `to` the region is sure to read `n`, so `to->at` can be read as well, before the loops."""
    text = """\
typedef struct { int n, *at; } grid;
void f(const grid *from, grid *to)
{
#pragma scop
  for (int i = 1; i < to->n; i++)
    if (from->at[i] > 0)
      to->at[i] = from->at[i - 1] + 2;
#pragma endscop
}
"""
    made = generate("in.c", text, GenOptions())
    assert made.regions[0].transformed and "TW_SPAN(to->at," in made.text
    assert check("in.c", text, GenOptions(), lambda line: None).ok


def test_a_pointer_followed_elsewhere_is_not_tested_where_only_data_lead_to_it() -> None:
    """With k = 0 the test would not look at `to->x`, which the second loop may use all the same."""
    text = """\
typedef struct { double w, *x; } grid;
void f(int n, int k, const int *c, grid *to, double *y)
{
#pragma scop
  for (int i = 0; i < k; i++)
    y[i] += to->w;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 100; j++)
      if (c[j])
        y[i] += to->x[j];
#pragma endscop
}
"""
    made = generate("in.c", text, GenOptions())
    assert not made.regions[0].transformed
    assert any("`to->x` is read only under conditions on data" in d.message for d in made.diagnostics)
    assert generate("in.c", text, GenOptions(assume_no_alias=True)).regions[0].transformed


VALUE = """\
typedef struct grid { double w; struct grid *in; } grid;
void f(int n, int m, const grid *to, double *y, const int *c)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i * 30 + j] = c[j] ? to->in->w * y[i * 30 + j] : 0;
#pragma endscop
}
"""


def test_a_value_behind_a_pointer_in_memory_is_tested() -> None:
    sure = VALUE.replace("c[j] ? ", "c[j] + ").replace(" : 0", "")
    assert "TW_SPAN(&to->in->w, 0, 1)" in generate("in.c", sure, GenOptions()).text
    made = generate("in.c", VALUE, GenOptions())
    assert not made.regions[0].transformed
    assert any("`to->in->w` is read only under conditions on data" in d.message for d in made.diagnostics)


TWICE = """\
struct cell { int n; double *r; };
void rows(int n, int m, double **a, double **b)
{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = b[i - 1][j] + 1;
#pragma endscop
}
void cells(int n, int m, struct cell *a, const struct cell *b)
{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 1; j < m; j++)
      if (b[i].n)
        a[i].r[j] = b[i - 1].r[j - 1] + 1;
#pragma endscop
}
void pick(int n, int m, double *a, const double *b, const int *at)
{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i] += b[at[i]] * j;
#pragma endscop
}
"""
TWICE_DRIVER = """\
#include <string.h>
enum { N = 40, M = 30 };
static double old[N][M], new[N][M], *of_old[N], *of_new[N];
static struct cell old_cells[N], new_cells[N];
static int at[N];
static void start(void)
{
  for (int i = 0; i < N; i++) {
    of_old[i] = old_cells[i].r = old[i], of_new[i] = new_cells[i].r = new[i];
    old_cells[i].n = new_cells[i].n = i % 5, at[i] = i - 1;
    for (int j = 0; j < M; j++)
      old[i][j] = new[i][j] = i * 3 - j;
  }
}
static int same(void) { return memcmp(old, new, sizeof old) == 0; }
int main(void)
{
  start();
  old_rows(N, M, of_old, of_old), new_rows(N, M, of_new, of_new);
  int ok = same();
  start();
  old_cells_(N, M, old_cells, old_cells), new_cells_(N, M, new_cells, new_cells);
  ok += 2 * same();
  start();
  old_pick(M, N, old[3], old[3], at), new_pick(M, N, new[3], new[3], at);
  return ok + 4 * same();
}
"""


def test_an_array_that_is_passed_twice_is_found(tmp_path: Path) -> None:
    """Rows are compared, or else the pointers to them, and where an array begins that data choose from."""
    made = generate("new.c", TWICE, GenOptions())
    assert all(r.transformed for r in made.regions)
    texts = [" ".join(t.split()) for t in made.text.split("\nvoid ")[1:]]
    assert "TW_TABLE(a, a[0], 1, n, 0, m), TW_TABLE(b, b[0], 0, (tw_index)n - 1, 0, m)" in texts[0]
    assert "TW_SPAN(a, 1, n), TW_SPAN(b, 0, (tw_index)n - 1)" in texts[1]
    assert "TW_SPAN(a, 1, n), TW_SPAN(at, 1, n), TW_SPAN(b, 0, 2)" in texts[2]
    parts = [re.sub(r"\bvoid (\w+)\(", rf"void {p}_\1(", t) for p, t in (("old", TWICE), ("new", made.text))]
    parts[1] = re.sub(r"^struct cell .*$", "", parts[1], flags=re.M)
    parts = [re.sub(r"_cells\(", "_cells_(", t) for t in parts]
    (tmp_path / "z.c").write_text("".join(parts) + TWICE_DRIVER)
    flags = ("-O1", "-w", "-fopenmp", "-DTW_PARALLEL_MIN=0")
    subprocess.run([compiler(""), *flags, str(tmp_path / "z.c"), "-o", str(tmp_path / "z")], check=True)
    assert subprocess.run([str(tmp_path / "z")], timeout=60).returncode == 7


def test_rows_that_only_data_lead_to_are_left_alone() -> None:
    text = """\
struct e { int n; double x; };
struct g { struct e *at, **rows; };
void f(int m, const struct g *f, struct g *t)
{
#pragma scop
  for (int j = 1; j < m; j++)
    if (f->at[j].n)
      t->rows[j]->x = f->rows[j - 1]->x * 2;
#pragma endscop
}
"""
    made = generate("in.c", text, GenOptions())
    assert not made.regions[0].transformed
    assert any("`t->rows` is read only under conditions on data" in d.message for d in made.diagnostics)
    assert generate("in.c", text, GenOptions(assume_no_alias=True)).regions[0].transformed


STORED_OVER = """\
struct one { int n; };
struct line { int *data; int n; int rest[60]; };
struct text { char *from; char rest[40]; };
extern int counts[100];
void objects(const int *n)
{
#pragma scop
    for (int i = 0; i < *n; i++)
        counts[i] = i;
#pragma endscop
}
void lengths(struct line *p)
{
#pragma scop
    for (int i = 0; i < p->n; i++)
        p->data[i] = 0;
#pragma endscop
}
void pointers(int n, char *to, const struct text *t)
{
#pragma scop
    for (int i = 0; i < n; i++)
        to[i] = t->from[i];
#pragma endscop
}
void rows(int n, int **a, const struct one *p)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = p->n + j;
#pragma endscop
}
"""
STORED_OVER_DRIVER = r"""
#include <stdio.h>
#include <string.h>
int counts[100];
int main(void)
{
  static int r[4][4];
  static struct line l;
  static struct text t;
  static _Alignas(256) char m[256];
  int *table[4] = { r[0], r[1], r[2], r[3] };
  counts[9] = 60;
  objects(counts + 9);
  l.data = &l.n;
  l.n = 50;
  memset(l.rest, 1, sizeof l.rest);
  lengths(&l);
  char *second = m + 128;
  for (int k = 0; k < 128; k++) m[k] = 1, second[k] = 2;
  memcpy(m, &second, sizeof second);
  memcpy(second, &second, sizeof second);
  t.from = m;
  pointers(32, (char *)&t, &t);
  rows(4, table, (struct one *)&r[1][1]);
  printf("%d %d %d %d %d\n", counts[30], l.rest[20], t.rest[9], r[0][3], r[3][3]);
  return 0;
}
"""


def test_what_is_read_by_its_name_may_be_stored_over(tmp_path: Path) -> None:
    """Lengths and pointers: by an array of the file, through a pointer beside them, as characters, and row by row."""
    made = generate("new.c", STORED_OVER, GenOptions(target="c"))
    assert all(r.transformed for r in made.regions)
    (tmp_path / "driver.c").write_text(
        "\n".join([*re.findall(r"^struct .*$", STORED_OVER, re.M),
                   *(f"void {h};" for h in re.findall(r"^void (.*)$", STORED_OVER, re.M)), STORED_OVER_DRIVER])
    )  # fmt: skip
    found = []
    for name, text in (("old", STORED_OVER), ("new", made.text)):
        (tmp_path / f"{name}.c").write_text(text)
        files = [str(tmp_path / f"{name}.c"), str(tmp_path / "driver.c")]
        subprocess.run([compiler(""), "-O1", "-w", *files, "-o", str(tmp_path / name)], check=True)
        found.append(subprocess.run([str(tmp_path / name)], capture_output=True, text=True, timeout=60).stdout)
    assert found[0] == found[1] != ""
