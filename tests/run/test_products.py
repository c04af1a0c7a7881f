"""Blocked products against the source, bit for bit: operators, types, shapes and surroundings on several processors.

All functions of a kind are one program: the source's functions, the generated ones, and a driver that calls both.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from codegen.diagnostics import Severity
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from tests.corpus import ALL, some
from tests.run import products
from tests.run.products import Case
from tests.run.test_microkernel import HOST, compiler, runners

# Instruction set, what the processor is called in cross tools, what qemu must pretend to be.
MACHINES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "generic": ("generic", "", ()),
    "neoverse-n1": ("neon", "aarch64", ("max",)),
    "haswell": ("avx2", "x86_64", ("max",)),
    "neoverse-v1": ("sve", "aarch64", ("max,sve-max-vq=1", "max,sve-max-vq=2", "max,sve-max-vq=4")),
}
KINDS = {
    "numbers": (products.semirings, products.extremes, products.pairs, products.mixtures),
    "places": (products.shapes, products.parts, products.surroundings, products.refused),
    "temporaries": (products.hidden, products.named, products.guarded),
}
HEAD = """#include <math.h>
#include <stdint.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
"""
# Small blocks, so that small sizes have all kinds of edges, and the source's roundings.
SMALL = ("-DTW_SIZE(n)=((n) < 20 ? (n) : 20)",)
EXACT = ("-DTW_NO_FMA", "-ffp-contract=off")
COMMON = ("-w", "-fopenmp", "-fwrapv", "-std=gnu11")
Sizes = Sequence[tuple[int, int, int]]
SIZES: Sizes = (
    *((0, 5, 7), (5, 0, 7), (7, 5, 0), (1, 1, 1), (2, 1, 5), (1, 9, 3), (4, 4, 4), (13, 7, 5), (8, 16, 20)),
    *((23, 41, 29), (47, 31, 43)),
)
FEW = (
    *("ring1_double", "ring12_float", "box0", "box5", "box13", "tensor4", "tensor7", "rank1"),
    *("part2", "part6", "part9", "own9"),
    *("symm0", "fibre1", "hidden2", "lasting0"),
)

DRIVER = r"""
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { ROOM = 8192, MARGIN = 64, ALL = ROOM + 2 * MARGIN, MOST = 48 };
typedef void call(int, int, int, void *, void *, void *);
struct test { const char *name; call *old, *new; char kind[3]; int size[3], small, signless, rows; };

static uint64_t state = 1;
static uint64_t next(void) { state = state * 6364136223846793005u + 1442695040888963407u; return state >> 29; }

static double number(int small)
{
  const double odd[] = { NAN, INFINITY, -INFINITY, 0, -0.0, 1, -1, 1e-310 };
  const uint64_t u = next();
  return !small && u % 9 == 0 ? odd[u / 9 % 8] : (double)((int64_t)(u % 4001) - 2000) / 512;
}

static void put(char *at, char kind, int size, int small)
{
  const double d = number(small);
  const float f = (float)d;
  const uint64_t low = (uint64_t)1 << (8 * size - 1), odd[] = { 0, 1, low, low - 1, ~(uint64_t)0, 2 };
  const uint64_t u = next() << 32 ^ next();
  const uint64_t wild = u % 5 == 0 ? odd[u / 5 % 6] : u;
  const int64_t i = kind == 'b' ? u & 1 : small ? (int64_t)(u % 41) - 20 * (kind != 'u') : (int64_t)wild;
  memcpy(at, kind == 'd' ? (void *)&d : kind == 'f' ? (void *)&f : (void *)&i, size);
}

static int same(const char *x, const char *y, char kind, int size, int signless)
{
  double a, b;
  float f, g;
  if (!memcmp(x, y, size))
    return 1;
  if (kind == 'd')
    memcpy(&a, x, 8), memcpy(&b, y, 8);
  else if (kind == 'f')
    memcpy(&f, x, 4), memcpy(&g, y, 4), a = f, b = g;
  else
    return 0;
  if (fabs(a - b) <= TOLERANCE * (kind == 'f' ? 536870912 : 1)) /* floats have 29 bits less */
    return 1;
  return (a != a && b != b) || (signless && a == b);
}

static void run(const struct test *t, call *f, const int *s, char **buffer)
{
  static void *row[3][MOST];
  void *at[3];
  const int length[3] = { s[1], s[2], s[1] };
  for (int b = 0; b < 3; b++) {
    at[b] = buffer[b] + MARGIN * t->size[b];
    if (t->rows) { /* rows in any order, with gaps */
      for (int r = 0; r < MOST; r++)
        row[b][r] = (char *)at[b] + (r * 31 % MOST * (length[b] + 1) + r % 2) * t->size[b];
      at[b] = row[b];
    }
  }
  f(s[0], s[1], s[2], at[0], at[1], at[2]);
}

static int check(const struct test *t, const int *s, char in[3][8 * ALL])
{
  static char old[3][8 * ALL], new[3][8 * ALL];
  char *olds[3] = { old[0], old[1], old[2] }, *news[3] = { new[0], new[1], new[2] };
  memcpy(old, in, sizeof old);
  memcpy(new, in, sizeof new);
  run(t, t->old, s, olds);
  run(t, t->new, s, news);
  for (int b = 0; b < 3; b++)
    for (int e = 0; e < ALL && memcmp(old[b], new[b], sizeof old[b]); e++)
      if (!same(old[b] + e * t->size[b], new[b] + e * t->size[b], t->kind[b], t->size[b], t->signless)) {
        printf("%s differs at %d, %d, %d: array %d, element %d\n", t->name, s[0], s[1], s[2], b, e - MARGIN);
        return 1;
      }
  return 0;
}

int main(void)
{
  static const int sizes[][3] = { SIZES };
  int bad = 0;
  setbuf(stdout, 0);
  for (const struct test *t = tests; t->name; t++) {
    static char in[3][8 * ALL];
    for (int b = 0; b < 3; b++)
      for (int e = 0; e < ALL; e++)
        put(in[b] + e * t->size[b], t->kind[b], t->size[b], t->small);
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++)
      bad += check(t, sizes[k], in);
  }
  printf("%d bad\n", bad);
  return bad != 0;
}
"""


def _kind(t: str) -> tuple[str, int]:
    """How the driver fills and compares an element, and its size."""
    if t in products.REALS:
        return t[0], 8 if t == "double" else 4
    if t in ("_Bool", "char"):
        return ("b" if t == "_Bool" else "i"), 1
    return ("u" if t[0] == "u" else "i"), 8 if "long" in t else int(t.strip("uint_")) // 8


def source(cases: Sequence[Case], prefix: str = "") -> str:
    """The functions, with a prefix to their names."""
    texts = (re.sub(rf"\bvoid {c.name}\(", f"void {prefix}{c.name}(", c.text) for c in cases)
    return HEAD + "\n".join(texts)


def driver(cases: Sequence[Case], tolerance: float = 0, sizes: Sizes = SIZES) -> str:
    """A program that calls old_<name> and <name> for every case."""
    declared = "".join(f"call {p}{c.name};\n" for c in cases for p in ("", "old_"))
    rows = []
    for c in cases:
        kinds, bytes_ = zip(*map(_kind, c.types), strict=True)
        flags = (int(c.data != "any" or bool(tolerance)), int(c.signless), int(c.data == "rows"))
        rows.append(
            f'  {{ "{c.name}", old_{c.name}, {c.name}, {{ {", ".join(map(repr, kinds))} }}, '
            f"{{ {', '.join(map(str, bytes_))} }}, {', '.join(map(str, flags))} }},\n"
        )
    table = f"static const struct test tests[] = {{\n{''.join(rows)}  {{ 0 }}\n}};\n"
    start = DRIVER.index("static uint64_t state")
    called = ", ".join(f"{{ {n}, {m}, {k} }}" for n, m, k in sizes)
    return f"#define TOLERANCE {tolerance!r}\n#define SIZES {called}\n{DRIVER[:start]}{declared}{table}{DRIVER[start:]}"


def made_of(cases: Sequence[Case], machine: str, target: str = "openmp", reassociate: bool = False) -> Generated:
    """The generated functions. Those that are products must be found, and others must not be taken for one."""
    text = source(cases)
    # Sizes here are small, so that there are many edges; and what pays is another question.
    pays: Any = dict.fromkeys(("too_small", "needs_wide_product", "written_out"), lambda *_: "")
    with patch.multiple("codegen.strategy.products.selection", **pays):
        made = generate("in.c", text, GenOptions(machine=machine, target=target, reassociate=reassociate))
    lines = text.splitlines()
    heads = [k for k, line in enumerate(lines, 1) if line.startswith("void ")]
    names = {re.split(r"\W+", lines[max(h for h in heads if h <= at) - 1])[1] for at in _product_lines(made)}
    assert names == {c.name for c in cases if c.blocked}
    weak = [d for d in made.diagnostics if d.severity in (Severity.WARNING, Severity.ERROR)]
    assert not weak, weak
    return made


def _product_lines(made: Generated) -> list[int]:
    return [d.loc.line for d in made.diagnostics if d.id == "product" and d.message.startswith("a product")]


@dataclass(frozen=True)
class Build:
    """Compiles and runs the source's functions and those of `text` in one program."""

    folder: Path
    cases: Sequence[Case]
    text: str
    cc: str
    flags: tuple[str, ...] = EXACT
    tolerance: float = 0
    sizes: Sizes = SIZES

    def output(self, *runner: str) -> str:
        """What the driver prints."""
        if not (self.folder / "all").exists():
            self._compile()
        env = {**os.environ, "OMP_NUM_THREADS": "5", "OMP_WAIT_POLICY": "passive"}
        done = subprocess.run(
            [*runner, "./all"], cwd=self.folder, env=env, capture_output=True, text=True, timeout=300, check=False
        )
        return f"{done.stdout}{done.stderr}" if done.returncode < 2 else f"{done.stdout}status {done.returncode}"

    def _compile(self) -> None:
        called = driver(self.cases, self.tolerance, self.sizes)
        texts = {"old": source(self.cases, "old_"), "new": self.text, "driver": called}
        for name, text in texts.items():
            (self.folder / f"{name}.c").write_text(text)
            # What the compiler makes of the kernels is the point: the rest need not be fast.
            level = "-O1" if name == "new" else "-O0"
            words = [self.cc, level, *COMMON, *SMALL, *self.flags, "-c", f"{name}.c"]
            subprocess.run(words, cwd=self.folder, check=True, timeout=300)
        objects = [f"{name}.o" for name in texts]
        subprocess.run([self.cc, "-fopenmp", *objects, "-o", "all", "-lm"], cwd=self.folder, check=True, timeout=60)


TYPES = 12  # steps of an integer type in products.semirings, about


def share(kind: str, number: int) -> list[Case]:
    """The cases that one of the processors runs: a share of half of them, the even and the odd ones of one type after
    the other. For `make corpus`, each runs them all."""
    cases = [c for make in KINDS[kind] for c in make()]
    if not ALL:
        cases = [c for k, c in enumerate(cases) if (k + k // TYPES) % 2 == 0]
    return some(cases, number, len(MACHINES))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("machine", MACHINES)
def test_same_bits(machine: str, kind: str, tmp_path: Path) -> None:
    isa, family, models = MACHINES[machine]
    cc, ways = compiler(family), runners(isa, family, models)
    cases = share(kind, list(MACHINES).index(machine))
    build = Build(tmp_path, cases, made_of(cases, machine).text, cc)
    for words in ways:
        assert build.output(*words) == "0 bad\n", words


@pytest.mark.slow
def test_rows_read_in_place_beside_columns_of_several_loops(tmp_path: Path) -> None:
    isa, family, models = MACHINES["haswell"]
    cc, ways = compiler(family), runners(isa, family, models)
    cases = [c for c in products.shapes() if c.name in ("tensor2", "tensor9", "tensor10")]
    made = made_of(cases, "haswell")
    assert made.text.count("tw_there ?") >= len(cases)
    assert Build(tmp_path, cases, made.text, cc).output(*ways[0]) == "0 bad\n"


NAMED = (
    *("minplus_ternary_double", "minplus_if_three_float", "maxplus_if_int32_t", "call_minplus_double"),
    *(
        "maxmin0_double",
        "call_maxmin_float",
        "plustimes_double",
        "plustimes_sum_double",
        "plustimes_line_float",
        "orand_two_int8_t",
    ),
    *("maxmin1_int32_t", "named_cut", "named_narrow", "named_changed", "named_before"),
)


@pytest.mark.slow
def test_steps_behind_names(tmp_path: Path) -> None:
    """Some of `products.named`, each time."""
    isa, family, models = MACHINES["haswell"]
    cc, ways = compiler(family), runners(isa, family, models)
    cases = [c for c in products.named() if c.name in NAMED]
    assert len(cases) == len(NAMED)
    made = made_of(cases, "haswell")
    assert sum(d.id == "substituted" for d in made.diagnostics) == sum(c.blocked for c in cases)
    assert Build(tmp_path, cases, made.text, cc).output(*ways[0]) == "0 bad\n"


@pytest.mark.slow
@pytest.mark.parametrize("target", some(["c", "openmp"], 1, 2))
def test_without_memory(target: str, tmp_path: Path) -> None:
    """The plain nest takes over where none can be had; without OpenMP there are no threads."""
    makers = (products.shapes, products.parts, products.surroundings, products.hidden)
    cases = [c for make in makers for c in make() if c.name in FEW]
    text = made_of(cases, "generic", target).text
    assert ("#pragma omp" in text) == (target == "openmp")
    for name, flags in (("with", EXACT), ("without", (*EXACT, "-D__builtin_malloc(n)=((void)(n), (void *)0)"))):
        (tmp_path / name).mkdir()
        assert Build(tmp_path / name, cases, text, compiler(""), flags).output() == "0 bad\n"


READ_ONLY = r"""
#define _GNU_SOURCE
#include <sys/mman.h>
void f(int n, double C[n][n], double A[n][n], double B[n][n]);
double A[40][40], B[40][40];
int main(void)
{
  void *const C = mmap(0, sizeof A, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int n = 1; n <= 40; n += 13)
    f(n, C, (void *)A, (void *)B);
  return 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("inner", ["int k = 0", "int k = i"])
def test_what_no_step_changes_is_not_written(inner: str, tmp_path: Path) -> None:
    head = "void f(int n, double C[n][n], double A[n][n], double B[n][n])\n{\n#pragma scop\n"
    body = loops_of(f"for ({inner}; k < n; k++) if (A[i][k] > B[k][j]) C[i][j] += 1 + A[i][k];")
    made = generate("in.c", f"{head}{body}\n#pragma endscop\n}}\n", GenOptions(machine="generic"))
    assert len(_product_lines(made)) == 1
    (tmp_path / "new.c").write_text(made.text)
    (tmp_path / "main.c").write_text(READ_ONLY)
    words = [compiler(""), "-O1", *COMMON, *SMALL, "new.c", "main.c", "-o", "all", "-lm"]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=100)
    subprocess.run(["./all"], cwd=tmp_path, check=True, timeout=100)


def loops_of(body: str) -> str:
    return f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {body}"


@pytest.mark.slow
def test_fused(tmp_path: Path) -> None:
    """Multiply-adds that round once, and contraction as compilers like it.

    Every step rounds a sum of at most 48 numbers below 16 + 48 * 16 in magnitude, in one way or another: the results
    are at most 48 * 2 roundings of numbers below 1024 apart, that is 96 * 1024 * 2^-53 for doubles.
    """
    cases = [c for c in chain(products.semirings(), products.shapes(), products.parts()) if c.name in FEW]
    machine = "neoverse-n1" if HOST == "aarch64" else "generic"
    build = Build(tmp_path, cases, made_of(cases, machine).text, compiler(""), ("-O2",), 96 * 1024 * 2.0**-53)
    assert build.output() == "0 bad\n"


@pytest.mark.slow
def test_rounds(tmp_path: Path) -> None:
    """Pairs of products summed up one after the other: another order of the sums, for the same tolerance.

    A step adds two numbers below 16 + 36; 48 of them stay below 4096, and each rounds twice or less often.
    """
    cases = [c for c in products.pairs() if c.types[0] == "double"]
    machine = "neoverse-n1" if HOST == "aarch64" else "generic"
    made = made_of(cases, machine, reassociate=True).text
    assert re.search(r"\btw_k \* 2, ", made) and re.search(r"\btw_steps \* 2, ", made)
    build = Build(tmp_path, cases, made, compiler(""), EXACT, 96 * 4096 * 2.0**-53)
    assert build.output() == "0 bad\n"
