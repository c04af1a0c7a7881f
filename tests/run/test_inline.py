"""Calls of functions of the same file, written out in the region: old and new functions compared."""

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
#define NDEBUG 1
#include <assert.h>
#include <math.h>
#include <stddef.h>
typedef struct { int h, w, c; float *data; } image;
typedef struct { float re, im; } number;
static float gain = 0.5f;
static float board[8][8] = {{1, 2}, {3, 4}};
static float later(const float *p, int k);
static int clampi(int v, int lo, int hi) { if (v < lo) return lo; if (v > hi) return hi; return v; }
static float get(image m, int x, int y, int c) { assert(x < m.w); return m.data[c * m.h * m.w + y * m.w + x]; }
static float get_or_zero(image m, int x, int y, int c)
{
  if (x < 0 || x >= m.w || y < 0 || y >= m.h) return 0;
  return get(m, x, y, c);
}
static void set(image m, int x, int y, int c, float v)
{
  if (x < 0 || y < 0) return;
  m.data[c * m.h * m.w + y * m.w + x] = v;
}
static void add(image m, int x, int y, int c, float v) { m.data[c * m.h * m.w + y * m.w + x] += v; }
static float dot(int n, const float *a, const float *b)
{
  float s = 0;
  for (int i = 0; i < n; i++) s += a[i] * b[i];
  return s;
}
static void minmax(const float *p, int n, float *lo, float *hi)
{
  *lo = *hi = p[0];
  for (int i = 1; i < n; i++) { if (p[i] < *lo) *lo = p[i]; if (p[i] > *hi) *hi = p[i]; }
}
static float activate(float x, int kind)
{
  switch (kind) { case 0: return x * (x > 0); case 1: return gain * x; }
  return x;
}
static float soft(float x) { float t = x; if (t < 0) t = -t; t += gain; return x / t; }
static int narrow(short s, unsigned char b) { return gain > 9 ? 0 : s + b; }
static float half(int n, const float *a) { return a[n] / 2; }
static number mul(number a, number b)
{
  number r;
  r.re = a.re * b.re - a.im * b.im;
  r.im = a.re * b.im + a.im * b.re;
  r.re *= gain;
  return r;
}
static void scale_row(int n, int m, float a[n][m], int i, float by) { for (int j = 0; j < m; j++) a[i][j] *= by; }
static float magnitude(float *x, int n)
{
  int i;
  float sum = 0;
  for (i = 0; i < n; ++i) sum += x[i] * x[i];
  return sqrt(sum);
}
static void axpy(int n, float s, const float *x, int incx, float *y, int incy)
{
  int i;
  for (i = 0; i < n; ++i) y[i * incy] += s * x[i * incx];
}
static float from_table(float x)
{
  static const float table[3] = {0.5f, -1.f, 2.f};
  int k = (int)x;
  return k < 0 || k > 2 ? 1.f : table[k];
}
static float series(float x)
{
  float sum = 0, term = 1;
  int k = 0;
again:
  sum += term;
  term *= x / ++k;
  if (k < 9) goto again;
  while (1) { if (sum < 2) return sum; sum /= 2; }
}
static int find(const float *p, int n)
{
  int i;
  for (i = 0; i < n; i++)
    if (p[i] > 0.5f) return i;
  return -1;
}
static void both(float *a, int i) { a[i] += gain; a[i + 1] -= gain; }
"""
TAIL = "static float later(const float *p, int k) { return k > 1 ? p[k - 1] : p[k] + gain; }\n"
# Bodies of `void NAME(int n, int m, float *a, const float *b, image p, const image *q, number *z, int kind)`.
FORMS = {
    "getter": "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++)"
    " a[y * m + x] = get(p, x, y, 0) + get(*q, x, y, 1);",
    "edges": "for (int y = 0; y < q->h; y++) for (int x = 0; x < q->w; x++) { float s = 0;"
    " for (int dy = -1; dy <= 1; dy++) s += get_or_zero(*q, x - 1, y + dy, 0); set(p, x, y, 1, s); }",
    "setter": "for (int y = 0; y < p.h; y++) for (int x = 0; x < p.w; x++) {"
    " set(p, x, y, 0, 0.25f * x); add(p, x, y, 1, b[x]); }",
    "clamped": "for (int i = 0; i < n; i++) { int k = clampi(i - 2, 0, n - 1);"
    " a[i] = b[k] + b[clampi(i + 1, 0, n - 1)]; }",
    "loops": "for (int i = 0; i < n; i++) a[i] += 2 * dot(m, b + i, b);",
    "condition": "for (int i = 0; i < n; i++) { if (dot(m, b + i, b) > 2) a[i] = 1; else a[i] += half(i, b); }",
    "and_also": "for (int i = 0; i < n; i++) if (b[i] > 0 && dot(m, b + i, b) > 2) a[i] = 1;",
    "or_else": "for (int i = 0; i < n; i++) { int k = b[i] > 0 || soft(b[i]) < -0.5f; a[i] += k; }",
    "out": "for (int i = 0; i < n; i++) { float lo, hi; minmax(b + i, m + 1, &lo, &hi); a[i] = hi - lo; }",
    "out_elements": "for (int i = 0; i + 1 < n; i += 2) minmax(b + i, 3, &a[i], &a[i + 1]);",
    "kinds": "for (int i = 0; i < n; i++) a[i] = activate(b[i], kind);",
    "local": "for (int i = 0; i < n; i++) a[i] = soft(b[i]) + soft(a[i]);",
    "conversions": "for (int i = 0; i < n; i++) a[i] = narrow(b[i] * 20000 + 70000 * i, i * 100);",
    "named_alike": "for (int i = 0; i < n; i++) { float s = dot(i, b, b), t = soft(s); a[i] = t + s; }",
    "structs": "for (int i = 0; i < n; i++) z[i] = mul(z[i], z[n - 1 - i < 0 ? 0 : 2]);",
    "rows": "for (int i = 0; i < n; i++) scale_row(n, 8, board, i, 0.5f);",
    "old_style": "for (int i = 0; i < n; i++) { axpy(m, 2, b + i, 1, a + i, 1); a[i] += magnitude(a + i, m); }",
    "leaves_its_loop": "for (int i = 0; i < n; i++) a[i] += find(b, i) + 2 * find(b + 1, m);",
    "with_a_table": "for (int i = 0; i < n; i++) a[i] = from_table(b[i]);",
    "with_jumps": "for (int i = 0; i < n; i++) a[i] += series(b[i] * 0.1f);",
    "statement": "for (int i = 0; i < n; i++) both(a, i);",
    "defined_later": "for (int i = 0; i < n; i++) a[i] = later(b, i);",
    "chosen": "for (int i = 0; i < n; i++) a[i] = b[i] > 0 ? half(i, b) : get(p, 0, 0, 0);",
}
REFUSED = {
    "recursive": "static int fact(int n, float *a) { a[n] = 1; return n < 2 ? 1 : n * fact(n - 1, a); }"
    "|for (int i = 0; i < n; i++) a[i] = fact(i, a);",
    "counts_calls": "static float count(float x) { static int calls; return x + calls++; }"
    "|for (int i = 0; i < n; i++) a[i] = count(b[i]);",
    "changing_table": "static float step(float x) { static float t[2] = {1, 2}; t[0] += 1; return t[1] * x; }"
    "|for (int i = 0; i < n; i++) a[i] = step(b[i]);",
    "leaves_two_loops": "static int find2(const float *p, int n)"
    " { for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) if (p[i] > p[j]) return i; return -1; }"
    "|for (int i = 0; i < n; i++) a[i] = find2(b, i);",
    "hidden_global": "static float twice(float x, float *p) { gain = x; return p[0]; }"
    "|for (int i = 0; i < n; i++) { float gain = b[i]; a[i] = twice(gain, a); }",
    "order": "static float bump(float *p) { *p += 1; return *p; }"
    "|for (int i = 0; i < n; i++) a[i] = a[i + 1] + bump(&a[i + 1]);",
    "one_side": "|for (int i = 0; i < n; i++) a[i] = b[i] > 0 ? dot(m, b, b) : 0;",
    "in_header": "|for (int i = 0; i < (int)dot(m, b, b); i++) a[i] = 0;",
}
ARGUMENTS = "(int n, int m, float *a, const float *b, image p, const image *q, number *z, int kind)"
USES = " ".join(f"(void){x};" for x in ("n", "m", "a", "b", "p", "q", "z", "kind", "gain", "board"))


def source(forms: dict[str, str]) -> str:
    """A function for each."""
    out = HEAD
    for name, body in forms.items():
        before, nest = body.split("|for", 1) if "|for" in body else ("", body.removeprefix("for"))
        nest = f"for{nest}"
        out += f"{before}\nvoid {name}{ARGUMENTS}\n{{\n{USES}\n#pragma scop\n{nest}\n#pragma endscop\n}}\n"
    return out + TAIL


def driver() -> str:
    heads = "".join(f"void {p}_{n}{ARGUMENTS};\n" for p in ("old", "new") for n in FORMS)
    tries = "\n".join(f"    TRY({name});" for name in FORMS)
    types = "typedef struct { int h, w, c; float *data; } image;\ntypedef struct { float re, im; } number;\n"
    return (
        f"#include <stdio.h>\n#include <string.h>\n{types}{heads}"
        """
typedef struct { float a[100], b[100], p[200], q[200]; number z[20]; } memory;
static memory x[2];
static void fill(memory *x)
{
  float *p = (float *)x;
  for (unsigned long i = 0; i < sizeof *x / sizeof *p; i++) p[i] = (i * i % 37) * 0.125f - 1;
}
static void call(void (*f)ARGUMENTS, int n, int m, memory *x)
{
  image p = {n, m, 2, x->p}, q = {n, m, 2, x->q};
  f(n, m, x->a, x->b, p, &q, x->z, m % 3);
}
#define TRY(NAME) do { fill(&x[0]); fill(&x[1]); call(old_##NAME, n, m, &x[0]); call(new_##NAME, n, m, &x[1]); \\
  if (memcmp(&x[0], &x[1], sizeof x[0])) printf(#NAME " differs at %d %d\\n", n, m); } while (0)
int main(void)
{
  for (int n = 0; n <= 8; n += 2) for (int m = 0; m <= 8; m += 3) {
""".replace("ARGUMENTS", ARGUMENTS)
        + tries + "\n  }\n  return 0;\n}\n"
    )  # fmt: skip


def test_calls_are_written_out(tmp_path: Path) -> None:
    made = generate("new.c", source(FORMS), GenOptions(target="c"))
    left = [(name, r.summary) for name, r in zip(FORMS, made.regions, strict=True) if not r.transformed]
    assert not left, left
    words = re.compile(rf"^void ({'|'.join(FORMS)})\(", re.M)
    (tmp_path / "new.c").write_text(words.sub(r"void new_\1(", made.text))
    (tmp_path / "old.c").write_text(words.sub(r"void old_\1(", source(FORMS)))
    (tmp_path / "driver.c").write_text(driver())
    files = [str(tmp_path / f) for f in ("old.c", "new.c", "driver.c")]
    flags = ("-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-fsanitize=address")
    done = subprocess.run(
        [compiler(""), *flags, *files, "-lm", "-o", str(tmp_path / "run")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    ran = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_what_cannot_be_written_out_is_refused() -> None:
    made = generate("in.c", source(REFUSED), GenOptions(target="c"))
    reasons = {name: r.summary for name, r in zip(REFUSED, made.regions, strict=True)}
    assert set(reasons.values()) == {"left as it is (unknown-call)"}, reasons


@pytest.mark.parametrize("name", ["getter", "loops"])
def test_check_can_call_them(name: str) -> None:
    report = run(source({name: FORMS[name]}), GenOptions(target="c"))
    assert report.ok and "size vectors agree" in report.lines[0], report


def test_a_hint_names_functions_that_cannot_be_seen() -> None:
    text = (
        "double weight(double x, int k);\nvoid f(int n, double a[n])\n{\n"
        "#pragma tilewright pure(weight)\n#pragma scop\n"
        "  for (int i = 0; i < n; i++)\n    a[i] = weight(a[i], i);\n#pragma endscop\n}\n"
    )
    assert generate("in.c", text, GenOptions()).regions[0].transformed
    assert not generate("in.c", text.replace("pure(weight)", "pure(other)"), GenOptions()).regions[0].transformed
