"""Matrix-vector products against the source they come from, bit for bit, at sizes around all the edges."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.checking.compare import check
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import ALL
from tests.run.test_microkernel import EXACT, WARN, compiler, runners

# Name, element type, statement. A and B are matrices of m rows and n columns; x and y are long enough for anything.
CASES = [
    ("n_f64", "double", "y[i] += A[i][j] * x[j]"),
    ("t_f64", "double", "y[j] += A[i][j] * x[i]"),
    ("n_f32", "float", "y[i] -= 3 * A[i][j] * x[j]"),
    ("t_f32", "float", "y[j] = y[j] + x[i] * A[i][j] * s"),
    ("n_i32", "int", "y[i] += A[i][j] * x[j]"),
    ("t_i32", "int", "y[j] -= A[i][j] * x[i]"),
    ("n_u32", "unsigned", "y[i] += A[i][j] * x[j]"),
    ("n_u16", "unsigned short", "y[i] ^= A[i][j] & x[j]"),
    ("t_i16", "short", "y[j] += A[i][j] * x[i]"),
    ("n_i64", "long", "y[i] += A[i][j] + x[j]"),
    ("n_i8", "signed char", "y[i] += A[i][j] * x[j]"),
    ("n_min", "double", "y[i] = A[i][j] + x[j] < y[i] ? A[i][j] + x[j] : y[i]"),
    ("t_min", "float", "y[j] = y[j] < A[i][j] + x[i] ? y[j] : A[i][j] + x[i]"),
    ("n_max", "int", "y[i] = y[i] > A[i][j] + x[j] ? y[i] : A[i][j] + x[j]"),
    ("n_sum", "double", "y[i] += A[i][j]"),
    ("t_sum", "float", "y[j] += A[i][j]"),
    ("n_apart", "double", "y[2 * i] += A[i][j] * x[3 * j]"),
    ("t_apart", "float", "y[2 * j + 1] -= A[i][j] * (x[i] + i)"),
    ("n_two", "double", "y[i] += A[i][j] * x[j] + B[i][j] * x[j + 1]"),
    ("t_two", "int", "y[j] += A[i][j] * x[i] - B[i][j]"),
    ("n_mul", "unsigned", "y[i] *= A[i][j] - x[j]"),
]
HEAD = "void {name}(int m, int n, {t} A[m][n], {t} B[m][n], {t} x[3 * m + 3 * n + 9], {t} y[3 * m + 3 * n + 9], {t} s)"
# What is more than one statement in two loops.
MORE = {
    "twice": "for (int i = 0; i < m; i++) { for (int j = 0; j < n; j++) { y[i] += A[i][j] * x[j]; "
    "B[0][j] += A[i][j] * x[i]; } }",
    "scalar": "for (int i = 0; i < m; i++) { double a = 0, b = 1; for (int j = 0; j < n; j++) { a += A[i][j] * x[j]; "
    "b -= B[i][j] * x[j]; } y[i] = a * s + b; }",
    "down": "for (int i = m - 1; i >= 0; i--) for (int j = 0; j < n; j++) y[j] += A[i][j] * x[i];",
    "many": "for (int t = 0; t < 3; t++) { for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) "
    "y[i] += A[i][j] * x[j]; for (int i = 0; i < m; i++) x[i] = y[i] * s + t; }",
}


def region(name: str, t: str, body: str) -> str:
    return f"{HEAD.format(name=name, t=t)}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def source() -> str:
    """All cases as one file."""
    loops = "for (int i = 0; i < m; i++)\nfor (int j = 0; j < n; j++)\n"
    texts = [region(name, t, f"{loops}{statement};") for name, t, statement in CASES]
    return "".join([*texts, *(region(name, "double", body) for name, body in MORE.items())])


def driver() -> str:
    """Calls every function and its original with the same data. Sums of WHOLE data are exact in any order."""
    kinds = {name: t for name, t, _ in CASES} | dict.fromkeys(MORE, "double")
    lines = []
    for name, t in kinds.items():
        lines.append(f"{HEAD.format(name=name, t=t)};\n{HEAD.format(name='old_' + name, t=t)};")
        lines.append(f"CHECK({name}, {t})")
    calls = "\n".join(f"  bad += check_{name}(m, n);" for name in kinds)
    return f"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned state = 1;
static int next(void) {{ state = state * 1103515245u + 12345u; return (int)(state >> 16) % 19 - 9; }}
#define CHECK(F, T) \\
static int check_##F(int m, int n) {{ \\
  const size_t a = (size_t)m * n + 1, v = 3 * (size_t)m + 3 * (size_t)n + 9, all = 2 * a + 2 * v; \\
  T *const old = malloc(all * sizeof(T)), *const new = malloc(all * sizeof(T)); \\
  for (size_t i = 0; i < all; i++) \\
    old[i] = WHOLE ? (T)next() : (T)(next() / (T)3 + next()); \\
  memcpy(new, old, all * sizeof(T)); \\
  old_##F(m, n, (void *)old, (void *)(old + a), old + 2 * a, old + 2 * a + v, 2); \\
  F(m, n, (void *)new, (void *)(new + a), new + 2 * a, new + 2 * a + v, 2); \\
  const int bad = memcmp(old, new, all * sizeof(T)) != 0; \\
  if (bad) printf("%s differs at %d x %d\\n", #F, m, n); \\
  free(old); free(new); \\
  return bad; }}
{chr(10).join(lines)}
int main(void)
{{
  static const int sizes[] = {{ 0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 40 }};
  enum {{ N = sizeof sizes / sizeof *sizes }};
  int bad = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {{
      const int m = sizes[i], n = sizes[j];
{calls}
    }}
  for (int n = 4095; n <= 4096; n++) {{  /* rows that meet in the first cache */
    const int m = 19;
{calls}
  }}
  return bad != 0;
}}
"""


RUNS = [
    ("generic", "generic", "", ()),
    ("neoverse-n1", "neon", "aarch64", ("max",)),
    ("haswell", "avx2", "x86_64", ("max",)),
]


# Every processor and both orders; all of one with the other for `make corpus`.
EDGES = [(run, free) for run in RUNS for free in (False, True) if ALL or free is (run[0] == "haswell")]


@pytest.mark.slow
@pytest.mark.parametrize(("run", "free"), EDGES, ids=lambda x: x[0] if isinstance(x, tuple) else str(x))
def test_all_edges(tmp_path: Path, run: tuple[str, str, str, tuple[str, ...]], free: bool) -> None:
    """With all sizes small, blocks, groups and single lines end everywhere."""
    machine, isa, family, models = run
    cc, before = compiler(family), runners(isa, family, models)
    made = generate("in.c", source(), GenOptions(machine=machine, target="c", reassociate=free, banner=False))
    alone, pairs = (made.text.count(f"{x} matrix-vector product") for x in ("A", "Two"))
    assert alone + 2 * pairs >= len(CASES) + 5
    names = [name for name, *_ in CASES] + list(MORE)
    (tmp_path / "new.c").write_text(made.text, encoding="utf-8")
    (tmp_path / "old.c").write_text(source(), encoding="utf-8")
    (tmp_path / "main.c").write_text(driver(), encoding="utf-8")
    flags = [*EXACT, "-O1", "-fwrapv", "-Wno-psabi", "-DTW_SIZE(n)=((n) < 12 ? (n) : 12)", f"-DWHOLE={int(free)}"]
    objects = []
    for part, more in (("new", WARN), ("old", tuple(f"-D{n}=old_{n}" for n in names)), ("main", ())):
        objects.append(str(tmp_path / f"{part}.o"))
        quiet = ["-Wno-unknown-pragmas", "-Wno-unused-parameter"]
        command = [cc, "-c", str(tmp_path / f"{part}.c"), "-o", objects[-1], *flags, *more, *quiet]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
    subprocess.run([cc, *objects, "-o", str(tmp_path / "t")], check=True)
    for words in before:
        done = subprocess.run([*words, str(tmp_path / "t")], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True], ids=["ordered", "reassociate"])
def test_check_agrees(free: bool) -> None:
    """Threads and sanitizers find nothing either."""
    texts = [region(n, t, f"for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {b};") for n, t, b in CASES[:2]]
    texts += [region("twice", "double", MORE["twice"]), region("scalar", "double", MORE["scalar"])]
    report = check("in.c", "".join(texts), GenOptions(reassociate=free), lambda line: None)
    assert report.ok, report.lines
    assert all("product" in line for line in report.lines)
