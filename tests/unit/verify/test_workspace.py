"""The memory of a region is read back: parts that overlap, are too small or belong to others are refused."""

from __future__ import annotations

from functools import cache

import pytest

from codegen.ast.ctree import CNode
from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.region import make
from codegen.region_model import model_region
from codegen.scop.model import Scop
from codegen.source_file import open_source
from codegen.target.emit import Surroundings, emit_region
from codegen.verify.workspace import wrong_room
from tests.corpus import KERNELS

OWN = """void f(int n, int m, double A[n][m], double B[n][m])
{
  double t[m]; float u[m];
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) t[j] = A[i][j] + i;
    for (int j = 0; j < m; j++) u[j] = t[m - 1 - j];
    for (int j = 0; j < m; j++) B[i][j] = u[j] - t[j];
  }
#pragma endscop
}
"""


ARRAY = """void f(int n, double *tw_memory)
{
#pragma scop
  for (int i = 0; i < n; i++)
    tw_memory[i] += 1;
#pragma endscop
}
"""
SOURCES = {"own": OWN, "array": ARRAY}


@cache
def printed(name: str) -> tuple[Scop, CNode, str]:
    options = GenOptions(target="openmp")
    source = SOURCES[name] if name in SOURCES else (KERNELS / f"{name}.c").read_text()
    (s,) = open_source(str(KERNELS / "in.c"), source, options).slices
    model = model_region(s, options)
    assert model is not None
    made = make(model, options, load_for("generic", "generic"))
    return made.program.scop, made.code, emit_region(made.program.scop, made.code, Surroundings("x;"), True).plain


@pytest.mark.parametrize("name", ["own", "symm"])
def test_memory_is_proven(name: str) -> None:
    assert "tw_memory" in printed(name)[2]
    assert wrong_room(*printed(name)) == ""


def test_an_array_of_that_name() -> None:
    """Nothing is asked for; a region that needs memory, or asks for some, is not let through that way."""
    scop, tree, text = printed("array")
    assert "tw_memory" in text and wrong_room(scop, tree, text) == ""
    assert wrong_room(scop, tree, f"{text}void *const tw_memory = tw_alloc(8);")
    for name in ("own", "symm"):
        assert wrong_room(*printed(name)[:2], text)


CHANGES = {
    "too little": ("symm", "tw_alloc((long)m * n", "tw_alloc((long)m * m"),
    "another type": ("symm", "real *const tw_all_above", "float *const tw_all_above"),
    "no rows": ("symm", "m > 0 && ", ""),
    "a sum that wraps": ("symm", "(double)m * n", "m * n"),
    "the second is forgotten": ("own", " + 64 + tw_most_threads()", " + 64 + 0 * tw_most_threads()"),
    "parts overlap": ("own", "tw_own_t + tw_most_threads() * tw_bytes_t", "tw_own_t + tw_bytes_t"),
    "the second begins where the first does": ("own", "*const tw_own_u = tw_align(", "*const tw_own_u = (tw_own_t"),
    "threads step over less than they use": ("own", "tw_bytes_u = ((long)m *", "tw_bytes_u = ((long)1 *"),
    "threads step over nothing": ("own", "const long tw_bytes_u = ((long)m *", "const long tw_bytes_u = ((long)0 *"),
    "threads step over more than there is": ("own", "tw_bytes_t = ((long)m *", "tw_bytes_t = ((long)m * m *"),
    "the amount is not asked for": ("symm", "(double)m * n * sizeof(real) <=", "(double)1 <="),
    "the amount for one thread": ("own", "tw_most_threads() * (double)m * sizeof(float)", "(double)m * sizeof(float)"),
    "another limit": ("own", "<= 1073741824", "<= 9223372036854775807"),
    "of another thread": ("own", "tw_own_t + tw_thread() * tw_bytes_t", "tw_own_t + tw_thread() * tw_bytes_u"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_damaged_memory_is_refused(name: str) -> None:
    source, old, new = CHANGES[name]
    scop, tree, text = printed(source)
    assert old in text, text[:4000]
    assert wrong_room(scop, tree, text.replace(old, new, 1))


ROWS = """void nearest(float **point, float **centre, int *nearest_centre, int points, int centres, int axes)
{
#pragma scop
  for (int i = 0; i < points; i++) {
    int index = 0;
    float least = 3.4e38f;
    for (int k = 0; k < centres; k++) {
      float far = 0;
      for (int f = 0; f < axes; f++)
        far += (point[i][f] - centre[k][f]) * (point[i][f] - centre[k][f]);
      if (far < least) {
        least = far;
        index = k;
      }
    }
    nearest_centre[i] = index;
  }
#pragma endscop
}
"""


def test_memory_beside_a_test_of_rows() -> None:
    """The test whether rows behind pointers overlap says nothing of sizes, and is no obstacle."""
    made = generate("in.c", ROWS, GenOptions(reassociate=True))
    assert "tw_rows_apart(" in made.text and "tw_memory" in made.text and "blocked product" in made.text
    assert not [d for d in made.diagnostics if d.id in ("fallback", "unproven")]


SUMS = """void sums(long n, long C[9][n][n], long A[9][n][n], long B[n][n][n])
{
#pragma scop
  for (long k = 0; k < n; k++)
    for (long a = 1; a < 3; a++)
      for (long j = 0; j < n; j++)
        for (long i = 0; i < n; i++) {
          long acc = 0;
          for (long s = 0; s < n; s++)
            acc += A[a][i][s] - B[j][s][k];
          C[a][j][i] = C[a][j][i] > 0 ? acc : C[a][j][i];
        }
#pragma endscop
}
"""


def test_one_thread_steps_over_nothing() -> None:
    """How much each thread has is said where one reads it, and must be said there."""
    text = printed("own")[2]
    assert text.count("tw_bytes_t") > 1 and text.count("tw_bytes_u") > 1
    made = generate("in.c", SUMS, GenOptions(target="c")).text
    assert "tw_memory" in made and "tw_own_" in made and "tw_bytes_" not in made
    scop, tree, _ = printed("own")
    line = next(x for x in text.split("\n") if "const long tw_bytes_u = " in x)
    assert wrong_room(scop, tree, text.replace(f"{line}\n", ""))
