"""Kernels whose threads wait for one another: the results of one thread bit for bit, at odd sizes, in all types,
without errors of memory and without races."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codegen.sparse.api import Options
from codegen.sparse.emit.types import INDICES, VALUES, Types
from codegen.sparse.formats.load import load
from codegen.sparse.kernels.compose import kernel_file
from tests import threads

KERNELS = {"solve": "A(i,j)*x(j) = b(i)", "upper": "A(i,j)*x(j) = b(i), j >= i", "sides": "A(i,j)*X(j,k) = B(i,k)",
           "add": "C(i,j) = 2*A(i,j) - B(i,j)", "mul": "C(i,j) = A(i,j) * B(i,j)", "spgemm": "C(i,k) = A(i,j) * B(j,k)",
           "masked": "C(i,k) = A(i,k) * A(i,j) * B(j,k)", "sddmm": "D(i,j) = A(i,j) * X(i,k) * Y(j,k)"}
SMALL = "#define TW_WORTH 0\n#define TW_TURN 20\n#define TW_CHUNK 50\n"  # threads for everything, however small
MAIN = r"""
#include <stdio.h>
#include <omp.h>
enum { SIDES = 3, WIDTH = 11 };
static unsigned seed = 1;
static unsigned number(unsigned below) { seed = seed * 1103515245u + 12345u; return (seed >> 8) % below; }

/* Rows of `each` columns or fewer, only every `step`-th; with a diagonal and what is below it (triangle -1), or above
   (1), or everything (0). */
static matrix made(int64_t n, unsigned each, int64_t step, int triangle)
{
    matrix a = {.NR = n, .NC = n};
    a.rowptr = calloc(n + 1, sizeof *a.rowptr);
    a.col = malloc((n * (each + 1) + 1) * sizeof *a.col);
    a.val = malloc((n * (each + 1) + 1) * sizeof *a.val);
    unsigned char *in = calloc(n + 1, 1);
    for (int64_t i = 0; i < n; i++) {
        for (unsigned e = number(each + 1); e > 0; e--)
            in[number(n) / step * step] = 1;
        if (triangle)
            in[i] = 1;
        for (int64_t j = triangle > 0 ? i : 0; j < (triangle < 0 ? i + 1 : n); j++)
            if (in[j]) {
                a.col[a.NNZ] = j;
                a.val[a.NNZ++] = triangle && j == i ? 33 + number(9) : number(3);
            }
        a.rowptr[i + 1] = a.NNZ;
        for (int64_t j = 0; j < n; j++)
            in[j] = 0;
    }
    free(in);
    return a;
}

static int differ(const void *a, const void *b, size_t bytes) { return bytes && memcmp(a, b, bytes); }

static int64_t systems(int64_t n, const matrix *lower, const matrix *upper, value *x, value *y, const value *b)
{
    waits w = {0}, v = {0}, s = {0};
    int bad = solve_waits(lower, &w) || upper_waits(upper, &v) || sides_waits(lower, &s);
    const int64_t blocks = w.count;
    for (int team = 1; !bad && team < 5; team += 2) {
        omp_set_num_threads(team);
        value *to = team == 1 ? x : y;
        bad |= solve(to, lower, b, &w) || upper_(to + n, upper, b, &v) || sides(to + 2 * n, lower, b, &s, SIDES);
        bad |= team > 1 && differ(x, y, (2 + SIDES) * n * sizeof *x);
    }
    waits_free(&w), waits_free(&v), waits_free(&s);
    return bad ? -1 : blocks;
}

static int rows(const matrix *a, const matrix *b, int kind)
{
    matrix c[2] = {{0}};
    int bad = 0;
    for (int t = 0; t < 2; t++) {
        omp_set_num_threads(t ? 3 : 1);
        bad |= kind == 0 ? add(&c[t], a, b) : kind == 1 ? mul(&c[t], a, b)
               : kind == 2 ? spgemm(&c[t], a, b) : masked(&c[t], a, b);
    }
    bad = bad || c[0].NNZ != c[1].NNZ || differ(c[0].rowptr, c[1].rowptr, (a->NR + 1) * sizeof *a->rowptr)
          || differ(c[0].col, c[1].col, c[0].NNZ * sizeof *a->col)
          || differ(c[0].val, c[1].val, c[0].NNZ * sizeof *a->val);
    matrix_free(&c[0]), matrix_free(&c[1]);
    return bad;
}

static int dots(const matrix *a, const value *x)
{
    value *d = calloc(2 * a->NNZ + 1, sizeof *d);
    int bad = 0;
    for (int width = 0; width <= WIDTH; width += 1 + width / 4) {
        for (int t = 0; t < 2; t++) {
            omp_set_num_threads(t ? 3 : 1);
            bad |= sddmm(d + t * a->NNZ, a, x, x, width);
        }
        bad |= differ(d, d + a->NNZ, a->NNZ * sizeof *d);
        for (int64_t i = 0; i < a->NR; i++)
            for (int64_t p = a->rowptr[i]; p < a->rowptr[i + 1]; p++) {
                value want = 0;
                for (int k = 0; k < width; k++)
                    want += x[i * width + k] * x[a->col[p] * width + k];
                bad |= d[p] != a->val[p] * want;
            }
    }
    free(d);
    return bad;
}

int main(void)
{
    int64_t most = 0;
    for (int64_t n = 0, more = 1; n < 500; n += more, more = more * 2 + 1) {
        value *x = calloc((3 * SIDES + 2 * WIDTH) * (n + 1), sizeof *x), *y = x + (2 + SIDES) * n;
        value *b = y + (2 + SIDES) * n;
        for (int64_t i = 0; i < SIDES * n; i++)
            b[i] = number(1000);
        for (int round = 0; round < 2; round++) {
            matrix lower = made(n, 16, round ? 32 : 1, -1), upper = made(n, 16, round ? 32 : 1, 1);
            matrix left = made(n, 9, 1, 0), right = made(n, 7, round + 1, 0);
            const int64_t blocks = systems(n, &lower, &upper, x, y, b);
            most = blocks > most ? blocks : most;
            int bad = blocks < 0;
            for (int kind = 0; kind < 4; kind++)
                bad |= rows(&left, &right, kind) << (kind + 1);
            for (int64_t i = 0; i < WIDTH * n; i++)
                x[i] = number(5);
            bad |= dots(&left, x) << 5;
            matrix_free(&lower), matrix_free(&upper), matrix_free(&left), matrix_free(&right);
            if (bad) {
                fprintf(stderr, "n %d, round %d: %x\n", (int)n, round, bad);
                return 1;
            }
        }
        free(x);
    }
    return most < 2;
}
"""


def program(types: Types) -> str:
    """All kernels, and a main that compares three threads with one."""
    text = SMALL
    for name, notation in KERNELS.items():
        formats = {t: load("CSR") for t in "ACD" if f"{t}(" in notation}
        if name != "sides" and "B(" in notation:
            formats["B"] = load("CSR")
        named = f"{name}_" if name == "upper" else name
        text += kernel_file(notation, formats, Options(types, name=named), "", {}).file.source
    kind, waits = f"csr_{types.suffix}", f"tw_waits_i{types.index}"
    text += f"#define value {types.c_value}\n#define matrix {kind}\n#define matrix_free {kind}_free\n"
    return text + f"#define waits {waits}\n#define waits_free {waits}_free\n#define upper_waits upper__waits\n" + MAIN


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("index", INDICES)
def test_threads_give_what_one_gives_in_memory_of_their_own(value: str, index: str, tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(program(Types(value, index)))
    words = ["cc", "-std=gnu11", "-O1", "-Wall", "-fopenmp", "-fsanitize=address,undefined", "-ffp-contract=off",
             "-fno-sanitize-recover=all", "k.c", "-o", "k"]
    made = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "cannot find" in made.stderr:
        pytest.skip("no sanitizers here")
    assert made.returncode == 0, made.stderr[:3000]
    leaks = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1"}
    done = subprocess.run([tmp_path / "k"], capture_output=True, text=True, check=False, env=leaks)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize("value, index", [("f64", "32"), ("i32", "64")])
def test_no_races(value: str, index: str) -> None:
    found = threads.run(threads.sanitizer(), program(Types(value, index)))
    assert found is not None and not found.races, found
