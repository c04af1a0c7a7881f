"""Structs in rows of one flat array: `cells[i + j*nx].speeds[k]`."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

HEAD = "typedef struct { float v[3]; int n; double x, y; } cell;\n"

SHARED = """
void turn(int nx, int ny, cell *a, const cell *b)
{
#pragma scop
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++) {
      for (int k = 0; k < 3; k++)
        a[i + j * nx].v[k] = b[(nx - 1 - i) + j * nx].v[2 - k];
      a[i + j * nx].n += b[i + ((j + 1) % ny) * nx].n;
    }
#pragma endscop
}
"""

# Members share the rows of their array: the span of `x` and `y` behind one pointer is counted in the same rows.
ONE_ROW = """
void copy(int nx, int ny, cell *a, cell *b)
{
#pragma scop
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++) {
      cell *c = &a[j * nx + i];
      c->x = b[j * nx + i].y;
      a[i].y = b[j].x;
    }
#pragma endscop
}
"""

THROUGH = """
typedef struct { int nx, ny; cell *at; } grid;
void shift(const grid *from, grid *to, double by)
{
#pragma scop
  for (int j = 1; j < from->ny; j++)
    for (int i = 0; i < from->nx; i++)
      to->at[j * to->nx + i].x = from->at[(j - 1) * from->nx + i].x * from->at[j * from->nx + i].n + by;
#pragma endscop
}
"""

# A recurrence from one member to another of the row before: the order counts.
CARRIED = """
void march(int nx, int ny, cell *a)
{
#pragma scop
  for (int j = 1; j < ny; j++)
    for (int i = 1; i < nx; i++) {
      a[j * nx + i].x = a[(j - 1) * nx + i - 1].y + 1;
      a[j * nx + i].y = a[j * nx + i - 1].x - 1;
    }
#pragma endscop
}
"""


@pytest.mark.parametrize("text", [SHARED, ONE_ROW, THROUGH, CARRIED], ids=["shared", "one row", "through", "carried"])
def test_rows_of_structs(text: str) -> None:
    report = run(HEAD + text)
    assert report.ok, report.lines
    assert any("size vectors agree" in line for line in report.lines), report.lines


LISTS = """
typedef struct { double re, im; } number;
#define TIMES(a, b) (number){(a).re * (b).re - (a).im * (b).im, (a).re * (b).im + (a).im * (b).re}
void f(int n, int m, number y[restrict n][m], number x[restrict n][m], number u)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      const double w[3] = {0.25, 0.5, 0.25};
      double t[] = {y[i][j].re, i}, z[4] = {0};
      number c = {t[0], w[1]}, d = (number){c.im};
      for (int k = 0; k < 2; k++)
        z[k + 1] += t[k] * w[k];
      y[i][j] = TIMES(y[i][j], u);
      x[i][j] = (number){z[0] + z[1] + z[2], c.re + d.re - d.im};
    }
#pragma endscop
}
"""


def test_lists_of_values() -> None:
    report = run(LISTS)
    assert report.ok and "threads over" in report.lines[0], report


MEMBERS = """
typedef struct { double re, im; } number;
typedef struct { float low; int whole; unsigned char byte; } mixed;
#define LESS(a, b) (number){(a).re - (b).re, (a).im - (b).im}
#define TIMES(a, b) (number){(a).re * (b).re - (a).im * (b).im, (a).re * (b).im + (a).im * (b).re}
void f(int n, int m, number y[n][m], number x[n][m], number u, double z[n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      z[i][j] = ((mixed){x[i][j].re / 3}).low + ((mixed){1, x[i][j].im * 7.5}).whole + ((mixed){2, 3, 300 + j}).byte
                + ((mixed){4}).whole;
      y[i][j] = TIMES(u, LESS(x[i][j], y[i][j]));
    }
#pragma endscop
}
"""


def test_members_of_literals_have_their_types() -> None:
    report = run(MEMBERS)
    assert report.ok and "size vectors agree" in report.lines[0], report


def test_a_literal_that_does_something_stays() -> None:
    text = MEMBERS.replace("{x[i][j].re / 3}", "{x[i][j].re++ / 3, 1}")
    (region,) = generate("in.c", text, GenOptions()).regions
    assert not region.transformed, region.summary


COPIED = """
typedef struct { double re, im[2]; } number;
typedef struct { double *at; } view;
static int size, block = 4;
void f(number y[8][8], number x[16][8], view *v)
{
#pragma scop
  for (int jj = 0; jj <= size - block; jj += block)
    for (int j = 0; j < block; j++)
      for (int i = 0; i < 8; i++)
        y[j][i] = x[j + jj][i];
#pragma endscop
  v[0] = v[1];
}
"""


def test_a_struct_of_numbers_brings_no_address_along() -> None:
    report = run(COPIED)
    assert report.ok and "threads over" in report.lines[0], report
