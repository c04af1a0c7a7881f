"""Which statements are reductions, and which of those give the same bits in any order."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.recognize.reductions import find_reductions
from codegen.region_model import model_region
from codegen.source_file import open_source

HEAD = """#include <math.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
struct acc { unsigned n; };
int x, k;
unsigned u;
unsigned char c;
short h;
long l;
float f;
double d;
char p;
_Bool b;
"""
PARAMS = "int n, const int *I, const unsigned *U, short *H, const unsigned char *C, const double *D, const float *F"

# Any order gives the same bits.
EXACT = {
    "x = x > I[i] ? x : I[i];": "max",
    "x = x < I[i] ? I[i] : x;": "max",
    "x = I[i] >= x ? I[i] : x;": "max",
    "x = MAX(x, I[i]);": "max",
    "x = MAX(I[i] * 2 - 1, x);": "max",
    "if (I[i] > x) x = I[i];": "max",
    "if (x <= I[i]) { x = I[i]; }": "max",
    "if (x > I[i]) ; else x = I[i];": "max",
    "x = x < I[i] ? x : I[i];": "min",
    "x = I[i] > x ? x : I[i];": "min",
    "if (H[i] + 1 < x) x = H[i] + 1;": "min",
    "if (I[i] > l) l = I[i];": "max",
    "if (C[i] > u) u = C[i];": "max",
    "if (u < 5) u = 5;": "max",
    "if (H[i] > h) h = H[i];": "max",
    "if (D[i] > 0.5) x = x > I[i] ? x : I[i];": "max",
    "if (C[i] > 3) c = c < 7 ? c : 7;": "min",
    "u += I[i];": "+",
    "u = U[i] + u;": "+",
    "if (D[i] > 0.5) u++;": "+",
    "if (D[i] > 0.5) u += U[i]; else u -= I[i];": "+",
    "u = D[i] > 0.5 ? u : u * 3;": "*",
    "c += C[i];": "+",
    "x |= I[i] & U[i];": "|",
    "if (I[i] > 0) x = x & I[i];": "&",
    "if (H[i + n] > H[i]) H[i] = H[i + n];": "max",  # another element of its array
}
# Only with --reassociate.
INEXACT = {
    "d = D[i] > d ? D[i] : d;": "max",
    "if (D[i] < d) d = D[i];": "min",
    "d = fmax(d, D[i] / 2);": "max",
    "f = fminf(F[i], f);": "min",
    "f = fmin(F[i], f);": "min",
    "if (I[i] > 0) d += D[i];": "+",
    "x += I[i];": "+",
    "if (I[i] > 0) x++;": "+",
    "c += I[i];": "+",  # as an int, the sum could overflow in another order
}
# The order shows, or a clause would do something else.
NONE = (
    "if (I[i] > c) c = I[i];",  # cut to a byte
    "if (U[i] > x) x = U[i];",  # compared as unsigned, folded as signed
    "if (I[i] > u) u = I[i];",
    "if (C[i] > p) p = C[i];",
    "x = I[i] > x ? I[i] + 1 : x;",
    "x = I[i] > x ? x : x;",
    "x = x > I[i] ? x : I[i + 1];",
    "x = x > I[i] ? I[i] - x : x;",
    "if (I[i] != x) x = I[i];",
    "if (x > 3) x = I[i];",
    "if (x > 3) x += I[i];",
    "if (I[i] > 0) x += x;",
    "if (I[i] > 0) u += U[i]; else u *= 3;",
    "if (I[i] > 0) u += U[i]; else u = 0;",
    "x = I[i] || x;",
    "x = x || I[i];",
    "x = x && I[i];",
    "b |= I[i];",
    "x = x - (I[i] - x);",
    "x = I[i] - x;",
    "x += D[i];",
    "if (D[i] > x) x = D[i];",
    "d = fmaxf(d, F[i]);",  # cut to a float
    "x = fmax(x, I[i]);",
    "if (H[2 * i] > H[i]) H[i] = H[2 * i];",  # may be the same element
    "H[i] = H[i] + H[i + n];",  # factorizations are for panels
    "s.n += U[i];",  # a clause cannot name it
)


def found(body: str) -> list[tuple[str, bool]]:
    loop = f"#pragma scop\n  for (int i = 0; i < n; i++)\n    {body}\n#pragma endscop\n"
    text = f"{HEAD}unsigned f1({PARAMS})\n{{\n  struct acc s = {{0}};\n{loop}  return s.n;\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return [(r.op, r.exact) for r in find_reductions(model.program.scop)]


@pytest.mark.parametrize("body", EXACT)
def test_exact(body: str) -> None:
    assert found(body) == [(EXACT[body], True)]


@pytest.mark.parametrize("body", INEXACT)
def test_inexact(body: str) -> None:
    assert found(body) == [(INEXACT[body], False)]


@pytest.mark.parametrize("body", NONE)
def test_none(body: str) -> None:
    assert found(body) == []


def test_clauses() -> None:
    text = (
        "int f(int n, int m, const int *A, const double *D)\n{\n  double t = 0;\n#pragma scop\n"
        "  for (int i = 0; i < n; i++)\n    if (A[i] > m) m = A[i];\n"
        "  for (int i = 0; i < n; i++)\n    t = D[i] < t ? D[i] : t;\n#pragma endscop\n  return m + (t < 0);\n}\n"
    )
    made = generate("in.c", text, GenOptions()).text
    assert "reduction(max:m)\n      for (tw_index i = 0; i < n; i++)\n        m = A[i] > m ? A[i] : m;" in made
    assert "reduction(min:t)" not in made
    assert "reduction(min:t)" in generate("in.c", text, GenOptions(reassociate=True)).text
