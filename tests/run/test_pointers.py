"""Pointers that the region sets itself, arithmetic on pointers, and tests of pointers: old and new compared."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run
from tests.run.test_microkernel import compiler

HEAD = """\
#include <stddef.h>
typedef struct { double v[3]; int hits; } cell;
typedef struct { int n, m; double *data; double **rows; cell *cells; const double *bias; } grid;
"""
BOARD = "static double board[9][8];\n"
# Bodies of `void NAME(int n, int m, double *a, const double *b, double **r, grid *g)`, with 0 <= n, m <= 8 and room for
# n * m elements behind every pointer; what stands in {{...}} is the region.
FORMS = {
    "row": "{{for (int i = 0; i < n; i++) { double *x = a + i * m; const double *y = b + i * m;"
    " for (int j = 0; j < m; j++) x[j] += 2 * y[j]; }}}",
    "element_of": "{{for (int i = 0; i < n; i++) { double *x = &a[i * m];"
    " for (int j = 0; j < m; j++) x[j] = b[j] + i; }}}",
    "two_parts": "{{for (int i = 0; i < n; i++) { const double *x = 1 + b + i * m - 1;"
    " for (int j = 0; j < m; j++) a[i * m + j] = x[j]; }}}",
    "chain": "{{for (int i = 0; i < n; i++) { double *x = a + i, *y = x + 3; const double *z = y - 2;"
    " y[0] = z[0] + x[0]; }}}",
    "star": "{{for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    " *(a + i * m + j) = (b + i * m)[j] + *(j + b) + *&b[i] + (&b[2])[i]; }}",
    "rows": "{{for (int i = 0; i < n; i++) { double *x = r[i]; const double *y = g->rows[i];"
    " for (int j = 0; j < m; j++) x[j] += y[j] * 3; }}}",
    "rows_of_array": "{{for (int i = 0; i < n; i++) { double *x = board[i + 1]; const double *y = board[i];"
    " for (int j = 0; j < m; j++) x[j] = y[j] + a[j]; }}}"
    " for (int i = 0; i < 72; i++) a[i] += board[i / 8][i % 8];",
    "member": "{{for (int i = 0; i < n; i++) { double *x = g->data + i * g->m;"
    " for (int j = 0; j < g->m; j++) x[j] = x[j] * 0.5 + i; }}}",
    "structs": "{{for (int i = 0; i < n; i++) { cell *c = &g->cells[i], *d = g->cells + i; c->v[1] += d->v[0];"
    " (*c).hits += 1; c->v[2] = b[i]; }}}",
    "inner_array": "{{for (int i = 0; i < n; i++) { double *v = g->cells[i].v;"
    " for (int k = 0; k < 3; k++) v[k] += b[i]; }}}",
    "chosen": "{{for (int i = 0; i < n; i++) { double *x = i % 2 == 0 ? a : g->data;"
    " const double *y = i < m ? b : b + 1; for (int j = 0; j < m; j++) x[i * m + j] += y[j]; }}}",
    "chosen_by_data": "{{for (int i = 0; i < n; i++) { double *x = b[i] > 0 ? a + i : a + 2 * i + 9; x[0] += b[i];"
    " if (x[1] > 1) x[1] = 0.5; }}}",
    "chosen_in_turn": "double *x; {{for (int t = 0; t < n; t++) { x = t & 1 ? a : g->data; for (int i = 0; i < m; i++)"
    " { const double *y = t > 3 ? b : b + 2; x[i] = y[i] + t; } x[0] -= 1; }}}",
    "swapped": "double *t, *x = a, *y = a + 40; {{for (int k = 0; k < n; k++) { t = x; x = y; y = t;"
    " for (int i = 1; i + 1 < m; i++) y[i] = x[i - 1] + x[i + 1] * b[k]; }}}",
    "swapped_parameters": "double *x = r[0], *y = r[1]; int k; {{for (k = 1; k <= n; k++) { for (int i = 0; i < m; i++)"
    " y[i] = x[i] + b[k]; double *t = x; x = y; y = t; y[0] += x[1]; }}}",
    "swapped_by_a_macro": "double *x = a, *y = a + 40; {{for (int k = 0; k < n; k += 1) {"
    " for (int i = 1; i + 1 < m; i++) y[i] = x[i - 1] + x[i + 1] * b[k];"
    " do { double *t = x; x = y; y = t; } while (0); y[0] += x[1]; }}}",
    "swapped_in_a_block": "double *t, *x = a, *y = a + 40; {{for (int k = 2; k < n; k++) { { t = x; x = y; y = t; };"
    " for (int i = 1; i + 1 < m; i++) y[i] = x[i - 1] + x[i + 1] * b[k]; }}}",
    "assigned": "double *x; const double *y; int i, j; {{for (i = 0; i < n; i++) { x = a + i * m; y = b + i;"
    " for (j = 0; j < m; j++) x[j] = y[j]; }}}",
    "twice": "double *x; {{for (int i = 0; i < n; i++) { x = a + i * m; for (int j = 0; j < m; j++) x[j] += 1;"
    " x = g->data + i; x[0] += b[i]; }}}",
    "stepped": "{{for (int i = 0; i < n; i++) { double *x = a; x += i; x++; x[0] = b[i]; --x; x[2] += x[0]; }}}",
    "promises": "{{for (int i = 0; i < n; i++) { double *restrict x = (double *)__builtin_assume_aligned(a, 8);"
    " const double *y = (const double *)g->data; x[i] = y[i] + 1; }}}",
    "shadow": "int i = 3; {{double *x = a + i; for (int i = 0; i < n; i++) x[i] += b[i]; }}",
    "unsigned_offset": "{{for (unsigned i = 1; i < (unsigned)n; i++) { double *x = a + (i - 1u);"
    " x[1] = x[0] + b[i]; }}}",
    "one_object": "double s = 0; {{for (int i = 0; i < n; i++) { double t = b[i]; double *p = &t, *q = &s;"
    " *p += 1; *q += p[0]; }}} a[0] = s;",
    "walked_parameters": "const double *end = b + n; {{while (b < end) { *a++ = b[0] + b[1]; b++; }}}",
    "goes_on": "const double *end = b + n; b += 1; {{for (; b < end; b += 2) *a++ = *b; }}",
    "copy": "{{double *d = a; const double *s = b; for (int i = 0; i < n; i++) *d++ = *s++; }}",
    "copy_2d": "{{double *d = a; for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) *d++ = b[y * m + x] + 1; }}",
    "padded": "{{double *d = a; for (int y = 0; y < n; y++) { for (int x = 0; x < m; x++) { *d = b[x]; d += 1; }"
    " d += 2; }}}",
    "backwards": "{{double *d = a + 8; for (int i = n - 1; i >= 0; i--) { *d = b[i]; d--; }}}",
    "strided": "{{const double *s = b; for (int i = 0; i < n; i += 2) { a[i] = *s; s += 3; }}}",
    "in_header": "double *d; int i; {{for (i = 0, d = a; i < n; i++, d += 2) *d = b[i] + d[1]; }} a[0] += i;",
    "after_eight": "{{double *d = a; for (int i = 0; i < 8; i++) *d++ = b[i];"
    " for (int i = 0; i < n; i++) d[i] += 1; }}",
    "from_before": "{{for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) *a++ = 2 * *b++; }}",
    "set_before": "double *d = a + 1; {{for (int i = 0; i < n; i++) { d[0] = b[i]; d += 2; }}}",
    "both_before": "double *d = a; const double *s = b; {{for (int i = 0; i < n; i++) { *d = *s; s++; d++; d[1] = 3; }"
    " s = b; d = a; for (int i = 0; i < n; i++) d[i] += s[i]; }}",
    "set_anew": "double *d; {{for (int i = 0; i < n; i++) { d = a + i * m; for (int j = 0; j < m; j++) d[j] = b[j]; }}}"
    " for (int i = 0; i < n; i++) { d = a + i; *d += 1; } d = a + 3; if (n > 4) d = a + 5; *d = 7;",
    "in_a_loop": "double *d; for (int t = 0; t < 3; t++) { d = a + t;"
    " {{for (int i = 0; i < n; i++) *d++ = b[i] + t; }} }",
    "as_counter": "double *p; {{for (p = a; p < a + n; p++) *p += *b; }}",
    "own_counter": "{{for (const double *p = b + m; p != b; p--) a[p - b] = *p; }}",
    "two_steps": "double *end = a + m; {{for (double *p = a + 1; end > p; p += 2) { p[0] = 1; p[1] = *b; }}}",
    "distance_before": "const double *e = b + n, *s; {{for (s = b; s < e; ++s) a[s - b] += *s * m; }}",
    "members_before": "double *e = g->data + m; {{for (int i = 0; i < n; i++) for (double *p = g->data; p < e; p++)"
    " *p += i; }}",
    "triangle": "{{double *d = a; for (int i = 0; i < 3; i++) { for (int j = 0; j < n; j++) d[j] += b[i]; d += 4; }}}",
    "distance": "{{for (int i = 0; i < n; i++) { double *x = a + i; a[x - a] += x > a ? 1 : 2; }}}",
    "null": "{{for (int i = 0; i < n; i++) { const double *c = g->bias; if (c != NULL) a[i] += c[i]; else a[i] += 3;"
    " a[i] += NULL == g->bias ? 5 : g->bias[0]; if (!c) a[i] *= 2; if (c && b[i] > 1) a[i] -= c[1]; }}}",
    "null_argument": "const double *bias = m > 4 ? b : NULL; {{for (int i = 0; i < n; i++)"
    " { double v = (bias != NULL) ? bias[i] : 0.25; for (int j = 0; j < m; j++) v += b[j]; a[i] = v; }}}",
    "null_below_data": "const double *bias = m > 4 ? b : 0; {{for (int i = 0; i < n; i++)"
    " if (b[i] > 2) { if (bias) a[i] += bias[i]; else a[i] = 0; }}}",
    "next_time": "double *d = a; for (int t = 0; t < 3; t++) { {{for (int i = 0; i < n; i++) *d++ = b[i]; }} }",
    "sometimes": "double *d = a; {{for (int i = 0; i < n; i++) *d++ = b[i]; }} if (m > 4) d = a; *d = 1;",
    "behind": "double *d = a; {{for (int i = 0; i < n; i++) *d++ = b[i]; }} *d = 1;",
    "rows_behind": "const double *s = b; {{for (int i = 0; i < n; i++, a += m, s = s + 2) for (int j = 0; j < m; j++)"
    " a[j] += *s; }} *a = *s;",
    "down_behind": "double *d = a + 2 * n; {{for (int i = 0; i < n; i++) { *--d = b[i]; d -= 1; }}} *d = 1;",
    "packed_behind": "double *d = a; {{for (int i = 0; i < n; i++) if (b[i] > 0) *d++ = b[i]; }} *d = 1;",
}
REFUSED = {
    "either": "double *x; x = a + n; {{for (int i = 0; i < n; i++) { if (b[i] > 0) x = a; x[i] = 1; }}}",
    "carried": "{{double *x = a; for (int i = 0; i < n; i++) { if (b[i] > 0) x++; *x = 1; }}}",
    "trips": "{{double *d = a; for (int y = 0; y < n; y++) { for (int x = 0; x < m; x++) d++; *d = b[y]; }}}",
    "uneven": "{{double *d = a; for (int i = 0; i < n; i++) { *d = b[i]; d += i; }}}",
    "moved_in_body": "double *p; {{for (p = a; p < a + n; p++) { *p = 1; if (*b > 0) p++; }}}",
    "set_and_behind": "double *d = a; {{for (int i = 0; i < n; i++) { d = a + i; *d = b[i]; }}} *d = 1;",
    "swapped_and_behind": "double *t, *x = a, *y = a + 40; {{for (int k = 0; k < n; k++) { t = x; x = y; y = t;"
    " for (int i = 0; i < m; i++) y[i] = x[i] + 1; }}} x[0] = 3;",
    "swapped_under_a_condition": "double *t, *x = a, *y = a + 40; {{for (int k = 0; k < n; k++) { if (b[k] > 0)"
    " { t = x; x = y; y = t; } for (int i = 0; i < m; i++) y[i] = x[i] + 1; }}}",
    "swapped_again_and_again": "double *x = a, *y = a + 40; {{for (int k = 0; k < n; k++) { for (int i = 0; i < m; i++)"
    " y[i] = x[i] + 1; do { double *t = x; x = y; y = t; } while (n > 40); }}}",
    "swapped_in_other_steps": "double *x = a, *y = a + 40; {{for (int k = 0; k < n; k += 2) {"
    " for (int i = 0; i < m; i++) y[i] = x[i] + 1; { double *t = x; x = y; y = t; } }}}",
    "swapped_with_other_rows": "double (*x)[8] = (void *)a, (*y)[4] = (void *)(a + 40); {{for (int k = 0; k < n; k++) {"
    " for (int i = 0; i < 4; i++) y[i][1] = x[i][1] + 1; { void *t = x; x = y; y = t; } }}}",
    "swapped_by_another_of_its_name": "double *t, *x = a, *y = a + 40; {{for (int k = 0; k < n; k++) {"
    " for (int i = 0; i < m; i++) y[i] = x[i] + 1; t = x; double *x = y; y = t; x[0] += 1; }}}",
    "swapped_and_spared": "double *t, *x = a, *y = a + 40; {{for (int k = 0; k < n; k++) { t = x; x = y; y = t;"
    " for (int i = 0; i < m; i++) t[i] = x[i] + 1; }}}",
    "another_type": "{{for (int i = 0; i < n; i++) { int *x = (int *)a; x[i] = 1; }}}",
    "chosen": "int k = 0; {{for (int i = 0; i < n; i++) { double *x = k++ > 2 ? a : g->data; x[i] = 1; }}}",
    "skipped": "{{double *d = a; for (int i = 0; i < n; i++) { if (b[i] > 0) continue; *d++ = b[i]; }}}",
    "next_object": "double s = 0; {{for (int i = 0; i < n; i++) { double *p = &s; p[i] += 1; }}} a[0] = s;",
}
ARGUMENTS = "(int n, int m, double *a, const double *b, double **r, grid *g)"


def source(forms: dict[str, str]) -> str:
    """A function for each."""
    out = HEAD + BOARD
    for name, body in forms.items():
        before, rest = body.split("{{", 1)
        inside, after = rest.rsplit("}}", 1)
        region = f"{before}\n#pragma scop\n{inside}\n#pragma endscop\n{after}"
        uses = " ".join(f"(void){x};" for x in ("n", "m", "a", "b", "r", "g", "board"))
        out += f"void {name}{ARGUMENTS}\n{{\n{uses}\n{region}\n}}\n"
    return out


def driver() -> str:
    names = [f"{p}_{n}" for p in ("old", "new") for n in FORMS]
    heads = "".join(f"void {name}{ARGUMENTS};\n" for name in names)
    tries = "\n".join(f"    TRY({name});" for name in FORMS)
    return (
        f"#include <stdio.h>\n#include <string.h>\n{HEAD}{heads}"
        """
typedef struct { double a[100], b[100], data[100], r[10][10], rows[10][10]; cell cells[10]; } memory;
static memory x[2];
static void fill(memory *x)
{
  double *p = (double *)x;
  memset(x, 0, sizeof *x);
  for (unsigned long i = 0; i < sizeof *x / sizeof *p; i++) p[i] = (i * i % 37) * 0.25 - 2;
  for (int i = 0; i < 10; i++) x->cells[i].hits = i;
}
static void call(void (*f)(int, int, double *, const double *, double **, grid *), int n, int m, memory *x)
{
  double *r[10], *rows[10];
  for (int i = 0; i < 10; i++) r[i] = x->r[i], rows[i] = x->rows[i];
  grid g = {n, m, x->data, rows, x->cells, m > 4 ? x->b : NULL};
  f(n, m, x->a, x->b, r, &g);
}
#define TRY(NAME) do { fill(&x[0]); fill(&x[1]); call(old_##NAME, n, m, &x[0]); call(new_##NAME, n, m, &x[1]); \\
  if (memcmp(&x[0], &x[1], sizeof x[0])) printf(#NAME " differs at %d %d\\n", n, m); } while (0)
int main(void)
{
  for (int n = 0; n <= 8; n += 2) for (int m = 0; m <= 8; m += 3) {
"""
        + tries + "\n  }\n  return 0;\n}\n"
    )  # fmt: skip


def test_pointers_of_the_region(tmp_path: Path) -> None:
    made = generate("new.c", source(FORMS), GenOptions(target="c"))
    left = [(name, r.summary) for name, r in zip(FORMS, made.regions, strict=True) if not r.transformed]
    assert not left, (left, [d.message for d in made.diagnostics])
    words = re.compile(rf"^void ({'|'.join(FORMS)})\(", re.M)
    (tmp_path / "new.c").write_text(words.sub(r"void new_\1(", made.text))
    (tmp_path / "old.c").write_text(words.sub(r"void old_\1(", source(FORMS)))
    (tmp_path / "driver.c").write_text(driver())
    files = [str(tmp_path / f) for f in ("old.c", "new.c", "driver.c")]
    flags = ("-O1", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-misleading-indentation", "-fsanitize=address")
    done = subprocess.run(
        [compiler(""), *flags, *files, "-o", str(tmp_path / "run")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    ran = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_what_is_not_one_array_with_an_offset_is_refused() -> None:
    made = generate("in.c", source(REFUSED), GenOptions(target="c"))
    reasons = {name: r.summary for name, r in zip(REFUSED, made.regions, strict=True)}
    assert set(reasons.values()) == {"left as it is (pointer-unknown)"}, reasons


def test_a_choice_by_data_between_arrays_that_may_overlap_is_refused() -> None:
    """Only data lead to `g->data`: it cannot be read for a test whether the arrays overlap."""
    form = "{{for (int i = 0; i < n; i++) { double *x = b[i] > 0 ? a : g->data; x[i] = 1; }}}"
    (region,) = generate("in.c", source({"chosen": form}), GenOptions(target="c")).regions
    assert region.summary == "left as it is (alias-unknown)"


def test_a_pointer_that_leaves_its_row_takes_the_source(tmp_path: Path) -> None:
    """`p = &a[0][0]; p[k]` with k beyond a row: the fast version speaks of rows, and is guarded."""
    text = (
        "void f(int n, double a[8][8], const double *b)\n{\n#pragma scop\n  const double *p = a[0];\n"
        "  for (int i = 0; i < n; i++)\n    a[1][i] = p[i] + b[i];\n#pragma endscop\n}\n"
    )
    made = generate("in.c", text, GenOptions(target="c"))
    assert made.regions[0].transformed and "n <= 8" in made.text, made.text


@pytest.mark.parametrize(
    "name",
    ["row", "rows", "assigned", "null_argument", "structs", "from_before", "distance_before", "behind", "swapped"],
)
def test_check_can_call_them(name: str) -> None:
    report = run(source({name: FORMS[name]}), GenOptions(target="c"))
    assert report.ok and "size vectors agree" in report.lines[0], report
