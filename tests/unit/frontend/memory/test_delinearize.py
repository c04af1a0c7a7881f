"""Flat subscripts: strides, indices in their rows, what is left to the run, and what is refused."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import codegen
from codegen.frontend.expressions.polynomials import ONE, Atom, Params, Poly, divide, params, plus, text, times
from codegen.frontend.memory.delinearize import Flat, _layouts, _split

N, M = ("n",), ("m",)


def test_polynomials_divide() -> None:
    """p = quotient * by + rest, with nothing in the rest that the first term of `by` divides."""
    row = params([(("x",), 1), ((), 4)])
    p = params([(("x", "y"), -1), (("y",), -4), (("x",), 2), ((), 9), (("z",), 3)])
    quotient, rest = divide(p, row)
    assert quotient == params([(("y",), -1), ((), 2)]) and rest == params([(("z",), 3), ((), 1)])
    assert divide(params([(N, 3)]), params([(N, 2)])) == ((), params([(N, 3)]))
    assert divide(params([(("m", "n"), 6)]), params([(M, 2)])) == (params([(N, 3)]), ())
    assert plus(row, times(row, -1)) == ()


@pytest.mark.parametrize("p, c", [
    (params([(("m", "n"), 1)]), "m * n"),
    (params([(N, 4)]), "4 * n"),
    (ONE, "1"),
    (params([(("x",), 1), ((), 5)]), "((long)x + 5)"),
    (params([(("a",), 1), (("b",), -1), ((), -1)]), "((long)a - b - 1)"),
    (params([(("a", "b"), 1), (("b",), 2)]), "((long)a * b + 2 * (long)b)"),
])
def test_strides_as_c(p: Params, c: str) -> None:
    assert text(p) == c


def layout(*polys: Poly) -> Flat:
    return next(_layouts(polys))


def test_strides_come_from_the_loops() -> None:
    """i*n*m + j*m + k, an offset that is a parameter, a factor that all share, n + 1 beside n."""
    volume: Poly = {("m", "n"): {0: 1}, M: {1: 1, -1: -1}, (): {2: 1}}
    assert layout(volume).stride_texts() == ("m * n", "m", "1")
    shifted: Poly = {N: {0: 1}, M: {-1: 1}, (): {1: 1}}
    assert layout(shifted).stride_texts() == ("n", "1")
    assert layout({N: {0: 6}, (): {1: 1}}, {N: {0: 4, -1: 2}}).stride_texts() == ("2 * n", "1")
    assert layout({N: {0: 1}, (): {1: 1}}, {N: {0: 1}, (): {0: 1}}).stride_texts() == ("n", "1")
    rows: Poly = {("x", "y"): {0: 1}, ("x",): {0: 2, 1: 1}, ("y",): {0: 3}, (): {0: 6, 1: 3, 2: 1}}
    assert layout(rows).stride_texts() == ("((long)y + 2) * ((long)x + 3)", "((long)x + 3)", "1")


def test_indices_divide_what_is_left() -> None:
    found = _split({("x",): {0: 1, -1: 1}, (): {0: 5, 1: 1, -1: 6}}, (params([(("x",), 1), ((), 5)]), ONE))
    assert found is not None
    assert [(dict(i.counts), i.offset) for i in found] == [({0: 1}, ONE), ({1: 1}, ONE)]
    assert _split({("m", "n"): {-1: 1}, (): {0: 1}}, (ONE,)) is None
    atom = Atom("i / 2", None)  # type: ignore[arg-type]
    half = _split({N: {atom: 1}, (): {0: 1}}, (params([(N, 1)]), ONE))
    assert half is not None and dict(half[0].counts) == {atom: 1}


# Subscript, loops around it, and the test at run time; empty where all is proven.
FORMS = {
    "mirrored": ("(i+1)*m - 1 - j", "i < n", "0; j < m", ""),
    "mirrored first": ("(m-j-1) + m*i", "i < n", "0; j < m", ""),
    "with a border": ("(m+5)*(i+1) + j + 1", "i < n", "0; j < m", ""),
    "border of two": ("((j) - (p-2)) + (m+4)*((i) - (q-2))", "i < n", "p; j <= m", "p >= -1"),
    "from an offset": ("p*i + j - (q-2)", "i < n", "q; j <= m", "(tw_index)q + p >= (tw_index)m + 3"),
    "upwards": ("(n-i)*m - 1 - j", "i < n", "0; j < m", ""),
    "rows of two": ("2*i*m + m - 1 - j", "i < n", "0; j < m", ""),
    "a part of a row": ("i*m + j", "i < n", "0; j < p", "m >= p"),
    "every other row": ("(i/2)*m + j", "i < n", "0; j < m", ""),
    "around": ("((i+1)%n)*m + j", "i < n", "0; j < m", ""),
    "diagonal": ("i*(m+1) + j*0", "i < m", "0; j < m", ""),
    "in fours": ("i*p + (j/4)*4 + j%4", "i < n", "0; j < m", "p >= m"),
}


def source(subscript: str, outer: str, inner: str) -> str:
    return f"""\
void f(int n, int m, int p, int q, double *restrict a)
{{
#pragma scop
  for (int i = 0; {outer}; i++)
    for (int j = {inner}; j++)
      a[{subscript}] = 2 * a[{subscript}] + i + 3 * j;
#pragma endscop
}}
"""


@pytest.mark.parametrize("name", FORMS)
def test_accepted(name: str) -> None:
    subscript, outer, inner, test = FORMS[name]
    made = codegen.generate(source(subscript, outer, inner), name="a.c", target="c")
    assert all(r.transformed for r in made.regions), made.diagnostics
    assert (f"if ({test})" in made.text) if test else "stays within its row" not in " ".join(made.text.split())


SUB_ROWS = """\
void f(int T, int NH, int hs, int C3, float *restrict out, const float *restrict q)
{
#pragma scop
  for (int t = 0; t < T; t++)
    for (int h = 0; h < NH; h++)
      for (int i = 0; i < hs; i++)
        out[t*C3 + h*hs + i] = 2.0f * q[t*C3 + h*hs + i];
#pragma endscop
}
"""
WHOLE_ROWS = """\
void f(int n, int m, int r, double *restrict a)
{
#pragma scop
  for (int i = 0; i < r; i++)
    for (int j = 0; j < n * m; j++)
      a[i*n*m + j] *= 2;
#pragma endscop
}
"""


def test_strides_that_do_not_divide() -> None:
    """How many rows of hs fit into one of C3 is computed, where hs is positive, and tested."""
    text = codegen.generate(SUB_ROWS, name="a.c", target="c").text
    assert "const tw_index C3_hs = T >= 1 && NH >= 1 && hs >= 1 ? C3 / hs : 0;" in text
    assert "C3_hs >= NH" in text
    text = codegen.generate(WHOLE_ROWS, name="a.c", target="c").text
    assert "j < n_m" in text and "stays within its row" not in text


# Sizes for which the test at run time holds, and for which rows overlap: the results are the source's.
OVERLAPPING = """\
#include <stdio.h>
int main(void)
{{
  static double a[4000], sum;
  for (int m = 3; m < 12; m++)
    for (int p = 0; p < 14; p++) {{
      f(9, m, p, 2, a + 1000);
      for (int k = 0; k < 4000; k++)
        sum = sum / 3 + a[k], a[k] = (k * 7) % 11;
    }}
  printf("%.17g\\n", sum);
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["from an offset", "a part of a row", "in fours", "border of two", "mirrored"])
def test_rows_that_overlap(name: str, tmp_path: Path) -> None:
    subscript, outer, inner, _ = FORMS[name]
    given = source(subscript, outer, inner)
    said = []
    for kind, body in (("source", given), ("made", codegen.generate(given, name="a.c", target="c").text)):
        path = tmp_path / f"{kind}.c"
        path.write_text(body + OVERLAPPING.format(), encoding="utf-8")
        words = ["cc", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-unused-parameter",
                 "-fsanitize=undefined", "-fno-sanitize-recover=all", str(path), "-o", str(tmp_path / kind)]
        subprocess.run(words, check=True)
        said.append(subprocess.run([tmp_path / kind], check=True, capture_output=True, text=True).stdout)
    assert said[0] == said[1]


@pytest.mark.slow
@pytest.mark.parametrize("body", [SUB_ROWS, WHOLE_ROWS, source(*FORMS["mirrored"][:3])])
def test_check_agrees(body: str, tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(body, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "codegen", "check", str(path), "--target", "c"], check=False,
                          cwd=Path(__file__).parents[4], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("subscript, inner, why", [
    ("i*m + j", "m; j < 3*m", "it never holds that `(i * m) + j` stays within its row"),
])
def test_refused(subscript: str, inner: str, why: str) -> None:
    made = codegen.generate(source(subscript, "i < n", inner), name="a.c", target="c")
    notes = [note.message for d in made.diagnostics for note in d.notes]
    assert not any(r.transformed for r in made.regions) and any(why in x for x in notes), notes


@pytest.mark.parametrize("subscript", ["i*i + j", "i*m*j"])
def test_products_of_loop_variables_may_lead_anywhere(subscript: str) -> None:
    made = codegen.generate(source(subscript, "i < n", "0; j < m"), name="a.c", target="c")
    assert made.regions[0].transformed and "sequential" in made.regions[0].summary


def test_narrow_unsigned_parts_must_not_wrap() -> None:
    """`j - 1` of an unsigned j is far from -1 once it is widened: a row is not taken from it."""
    made = codegen.generate("""\
void f(unsigned n, unsigned long pitch, double *restrict b)
{
#pragma scop
  for (unsigned k = 1; k < n; k++)
    for (unsigned j = 0; j < 1; j++)
      b[k*pitch + (j - 1)] += 1;
#pragma endscop
}
""", name="a.c", target="c")
    notes = [note.message for d in made.diagnostics for note in d.notes]
    assert any("it never holds that `j - 1` does not wrap around" in x for x in notes), notes


ATTENTION = """void scores(float *att, const float *qkv, int B, int T, int C, int C3, int NH, int hs)
{
#pragma scop
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++)
            for (int h = 0; h < NH; h++) {
                const float *query = qkv + b * T * C3 + t * C3 + h * hs;
                float *row = att + b * NH * T * T + h * T * T + t * T;
                for (int t2 = 0; t2 <= t; t2++) {
                    const float *key = qkv + b * T * C3 + t2 * C3 + h * hs + C;
                    float val = 0.0f;
                    for (int i = 0; i < hs; i++)
                        val += query[i] * key[i];
                    row[t2] = val;
                }
            }
#pragma endscop
}
"""


def test_an_offset_that_is_in_its_row_for_one_size_alone_is_a_stride() -> None:
    """Queries, keys and values lie beside each other in a row: `+ C` is the second part of it, not a column of `hs`,
    in which it could be for C = 0 alone."""
    made = codegen.generate(ATTENTION, name="scores.c", target="c")
    assert "C == 0" not in made.text
    assert "C3_C >= 2 && C_hs >= NH" in made.text
