"""Small files with one region each, of the kinds that are awkward to call from outside."""

from __future__ import annotations

import re
from collections.abc import Mapping

from codegen.checking.compare import CheckReport, check
from codegen.options import GenOptions


def run(text: str, options: GenOptions | None = None, path: str = "in.c") -> CheckReport:
    """Check a source without a word on the way."""
    return check(path, text, options or GenOptions(), lambda line: None)


def run_together(texts: Mapping[str, str], options: GenOptions, head: str = "") -> dict[str, str]:
    """Check functions `f` of one region each as one file, compiled once: what is said about each, by its name.

    The functions are numbered; `head` stands above them all.
    """
    numbered = (re.sub(r"\bf\(", f"f{k}(", text, count=1) for k, text in enumerate(texts.values()))
    report = run(head + "\n".join(numbered), options)
    assert report.ok, report.lines
    return dict(zip(texts, report.lines, strict=True))


STRUCTS = """
typedef struct { double x, y; int n; float v[3]; char *name; } point;
static point cloud[50];
void move(int n, point p[n], point *q)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    p[i].x += q->x;
    for (int k = 0; k < 3; k++)
      p[i].v[k] *= 2;
    cloud[i].n += p[i].n;
  }
#pragma endscop
}
"""

MEMBERS = """
struct grid { struct { int nx, ny; } size; double (*cells)[64]; union { int i; float f; } tag[4]; unsigned b : 3; };
void step(struct grid *g, const int shift, double (*out)[64])
{
  struct { double a[5]; int b; } loc[10];
#pragma scop
  for (int y = 0; y < g->size.ny; y++)
    for (int x = 1; x < g->size.nx; x++)
      out[y][x] = g->cells[y][x - 1] + shift;
  for (int k = 0; k < 10; k++)
    loc[k].a[k / 2] = k;
#pragma endscop
  (void)loc;
}
"""

GLOBALS = """
enum { N = 40 };
double A[N][N], *heap;
static double s;
static const double w[] = {0.25, 0.5, 0.25};
static const int M = 17;
extern int limit;
void elsewhere(void);
void smooth(void)
{
  int i, j, k;
  elsewhere();
#pragma scop
  for (i = 0; i < limit; i++)
    for (j = 1; j < N - 1; j++)
      for (k = 0; k < 3; k++)
        A[i][j] += w[k] * heap[i + k - 1];
  for (i = 0; i < M; i++)
    s += A[i][i];
#pragma endscop
}
"""

STATIC = """
static void scale(int n, float a[static n], long by)
{
#pragma scop
  for (int i = n - 1; i >= 0; i--)
    a[i] = a[i] * by;
#pragma endscop
}
"""

FLAT = """
void transpose(int n, int m, int lda, const double *A, double *B)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      B[j * n + i] = A[i * lda + j];
#pragma endscop
}
"""

ROWS = """
void scale(int n, int m, double **A, double *row[], _Bool *odd, double _Complex *z, long double *e)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] = 2 * A[i][j] + row[i][j + 1];
  for (int i = 0; i < n; i++) {
    odd[i] = !odd[i];
    z[i] = z[i] * z[i];
    e[i - 2] = e[i - 2] / 3;
  }
#pragma endscop
}
"""

MAIN = """
#include <stdio.h>
int main(void)
{
  enum { SIDE = 20 };
  typedef float cell;
  struct acc { double sum; long n; } acc = {0, 0};
  cell A[SIDE][SIDE], B[SIDE];
  static int hits[SIDE];
  int i, j, n = 15;
  for (i = 0; i < SIDE; i++)
    B[i] = i;
#pragma scop
  for (i = 0; i < n; i++) {
    for (j = 0; j < SIDE; j++)
      A[i][j] = B[j] * i;
    hits[i] += 1;
    acc.sum += A[i][0];
  }
#pragma endscop
  printf("%d %g %d %g\\n", i, (double)A[3][4], hits[2], acc.sum);
  return 0;
}
"""

DIVIDES = """
void quotients(int n, int a[restrict n], const int b[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = a[i] / b[i];
#pragma endscop
}
"""

WRAPS = """
void f(unsigned n, unsigned char m, double *a, double *b)
{
#pragma scop
  for (unsigned i = 0; i < n - 1; i++)
    a[i] = b[i + 1];
  for (unsigned char c = 0; c < m; c++)
    b[c] = 2;
#pragma endscop
}
"""

SUM = """
double sum(int n, const double a[n])
{
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += a[i];
#pragma endscop
  return s;
}
"""

COPY = """
void copy(int n, double a[n], double b[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = a[j];
#pragma endscop
}
"""

CHOICES = """
#define MAX(a, b) ((a) > (b) ? (a) : (b))
typedef struct { double at; int hits; } bin;
void choose(int n, int key, const short m[n], short s[n], unsigned char c[n], float x[n], long w[n], _Bool b[n], bin *h,
            bin *g)
{
  double t;
#pragma scop
  for (int i = 0; i < n; i++) {
    if (m[i] > key) s[i] += 30000; else if (m[i] == 0) { { s[i] = 2; } }
    if (i > 0 && m[i - 1] > 0) s[i] = m[i] * 2.5; else s[i]--;
    if (m[i] < 0 || i == 3) c[i] -= 200u;
    if (x[i] < 1) { if (m[i] > 0) ; else x[i] = w[i]; } else x[i] = 0.5;
    if (m[i] & 1) w[i] = x[i]; else w[i] = 16777217;
    if (w[i] > 1 && m[i] != 0) w[i] /= m[i];
    if (!(m[i] > 1)) b[i] = 0.25;
    if (b[i]) h[i] = g[i];
    t = 1;
    if (m[i] > 0) t = m[i];
    g[i].at = h[i].at = t;
    g[i].hits = w[i] = m[i] + 0.75;
  }
#pragma endscop
}
"""

FOLDS = """
#include <math.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
int folds(int n, const int a[n], const short h[n], const double d[n], const unsigned u[n])
{
  int most = a[0], least = 0, least2 = 4, wrapped = 0, some = 0, all = 5;
  short high = 0, cut = 0;
  unsigned sum = 0, bits = 0, count = 0;
  double top = d[0], bottom = 0;
  long wide = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    most = MAX(most, a[i]);
    least = least < a[i] ? least : a[i];
    if (least2 >= a[i] - 2) least2 = a[i] - 2;
    if (a[i] > wide) wide = a[i];
    if (h[i] > high) high = h[i];
    if (d[i] > 1.0) count++;
    if (a[i] & 1) sum += u[i]; else sum -= 3;
    bits |= a[i] & u[i];
  }
  for (int i = 0; i < n; i++) {
    if (h[i] + 30000 * a[i] > cut) cut = h[i] + 30000 * a[i];
    if (u[i] > wrapped) wrapped = u[i];
    top = top > d[i] ? top : d[i];
    bottom = fmin(bottom, -d[i]);
    some = some || (a[i] && h[i]);
    all = a[i] && all;
  }
#pragma endscop
  return most + least + least2 + high + cut + (int)(sum + bits + count) + wrapped + some + all + (top > bottom + wide);
}
"""

PERIODIC = """\
void torus(int n, int m, double a[n][m], double b[n][m], int c[m])
{
#pragma scop
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                b[i][j] = a[(i + 1) % n][j] + a[(i - 1 + n) % n][j] + a[i][(j + 1) % m] - a[i][(j + m - 1) % m];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                a[i][j] = b[i][j] / 4;
    }
    for (int j = 1 - m; j < 2 * m; j++)
        if (j / m == 0 && (j - 1) % m != -1)
            c[j % m < 0 ? 0 : j % m] += j / m + j;
#pragma endscop
}
"""

COUNTS_BEFORE = """\
#include <stddef.h>
int down(size_t n, unsigned m, int a[n], long b[m][m])
{
    int i, k = n < 50 ? (int)n : 50;
#pragma scop
    for (size_t j = n; j-- > 0;)
        a[j] += (int)j;
    for (unsigned p = m; p-- > 0;)
        for (unsigned q = p; q-- != 0;)
            b[p][q] += p;
    for (i = k; i-- > 0;)
        a[i] = a[i] + 1;
#pragma endscop
    return i;
}
"""

EDGES = """\
void edges(int steps, int n, size_type m, double a[n], double b[n], int c[m])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            b[i] = a[i] + (i > 0 ? a[i - 1] : 0) + (i < n - 1 && t != 1 ? a[i + 1] : 0);
        for (int i = 0; i < n; i++)
            if (!(i == 0 || b[i - 1] < 0))
                a[i] = b[i];
    }
    for (size_type j = 0; j < m; j++)
        c[j] = j + 1 < m ? c[j + 1] + 1 : 7;
#pragma endscop
}
""".replace("size_type", "unsigned long")

IMAGE = """\
typedef struct { int width, height, pitch; unsigned char *data; struct { float *at; long row; } sums; } image;
void blur(const image *in, image *out)
{
    image local = *out;
#pragma scop
    for (int y = 1; y < in->height - 1; y++)
        for (int x = 1; x < in->width - 1; x++) {
            int sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    sum += in->data[(y + dy) * in->pitch + x + dx];
            out->data[y * out->pitch + x] = (unsigned char)(sum / 9);
            local.sums.at[y * local.sums.row + x] += (float)sum;
        }
#pragma endscop
}
"""

ALL = {
    "image": IMAGE,
    "periodic": PERIODIC, "counts before": COUNTS_BEFORE, "edges": EDGES,
    "choices": CHOICES, "folds": FOLDS,
    "structs": STRUCTS, "members": MEMBERS, "globals": GLOBALS, "static": STATIC, "flat": FLAT, "rows": ROWS,
    "main": MAIN, "divides": DIVIDES, "wraps": WRAPS, "sum": SUM, "copy": COPY,
}  # fmt: skip
