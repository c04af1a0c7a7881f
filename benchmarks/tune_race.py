"""The winners of all methods in turns in one process, with the tool's own product and NumPy."""

from __future__ import annotations

import ctypes
import subprocess
import time
from pathlib import Path

import numpy as np
from codegen.target.nest.emit import prelude

from benchmarks.tune_report import Case
from codegen.api.generate import generate
from codegen.tune.children import alone
from codegen.tune.contraction import Contraction
from codegen.tune.measure.clock import Effort, figures
from codegen.tune.measure.measurer import Measurer
from codegen.tune.measure.texts import c_for
from codegen.tune.measure.tree_compiler import clock_text
from codegen.tune.tree import Tree, key, show_nest

ROUNDS = 12
SECONDS = 0.02  # of each in a round
AGAIN = "policy"  # whose tree runs a second time, as another function: the difference is noise
PRODUCT = """
void product(const float *restrict a, const float *restrict b, float *restrict c)
{{
  const float (*A)[{k}] = (const float (*)[{k}])a;
  const float (*B)[{n}] = (const float (*)[{n}])b;
  float (*C)[{n}] = (float (*)[{n}])c;
#pragma scop
  for (int i = 0; i < {m}; i++)
    for (int j = 0; j < {n}; j++)
      for (int k = 0; k < {k}; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""

# The same loops left to the compiler, in the order of the source and in that of the untuned tree.
PLAIN = """
void plain_{name}(const float *restrict a, const float *restrict b, float *restrict c)
{{
  for (int i = 0; i < {m}; i++)
    for (int {x} = 0; {x} < {nx}; {x}++)
      for (int {y} = 0; {y} < {ny}; {y}++)
        c[i * {n} + j] += a[i * {k} + k] * b[k * {n} + j];
}}
"""
LEFT = {"compiler, ijk": "plain_ijk", "compiler, ikj": "plain_ikj"}


def race(bench: Measurer, problem: Contraction, found: dict[str, Tree], seconds: dict[str, float]) -> Case:
    """GFLOPS of each method, best of many; a tree that two methods found runs once."""
    nests = list({key(t): t for t in found.values()}.values())
    path = _library(bench, problem, [*nests, found[AGAIN]])
    names = [*(f"tree_{n}" for n in range(len(nests) + 1)), "product", *LEFT.values()]
    best = alone(lambda: _times(path, problem, names, bench.effort.busy), 60.0 + ROUNDS * len(names) * SECONDS * 3)
    speed = {name: problem.flops / s / 1e9 for name, s in best.items()}
    place = {key(t): n for n, t in enumerate(nests)}
    gflops = {method: speed[f"tree_{place[key(t)]}"] for method, t in found.items()}
    others = {**{x: speed[name] for x, name in LEFT.items()}, "gen": speed["product"], "numpy": speed["numpy"]}
    sizes = dict(problem.sizes)
    return Case(
        f"{sizes['i']}x{sizes['j']}x{sizes['k']}",
        {**gflops, **others},
        {**seconds, **dict.fromkeys(others, 0.0)},
        {method: show_nest(t.compute) for method, t in found.items()},
        abs(gflops[AGAIN] / speed[f"tree_{len(nests)}"] - 1),
    )


def _library(bench: Measurer, problem: Contraction, trees: list[Tree]) -> Path:
    compiler, sizes = bench.compiler, dict(problem.sizes)
    texts = [c_for(t, compiler.isa, f"tree_{n}", compiler.options) for n, t in enumerate(trees)]
    clock = clock_text(compiler.isa)
    race_c, product_c, out = (compiler.folder / x for x in ("race.c", "race_product.c", "race.so"))
    race_c.write_text("\n".join([clock[0], prelude(compiler.isa, [*texts, *clock]), clock[1], *texts]))
    numbers = {"m": sizes["i"], "n": sizes["j"], "k": sizes["k"]}
    made = generate(PRODUCT.format(**numbers), machine="native", target="c").text
    plain = [PLAIN.format(name=f"i{x}{y}", x=x, y=y, nx=sizes[x], ny=sizes[y], **numbers) for x, y in ("jk", "kj")]
    product_c.write_text("\n".join([made, *plain]))
    out = out.with_name(f"race{len(list(compiler.folder.glob('race*.so')))}.so")
    shared = ("-shared", "-fPIC", "-std=gnu11", "-w")
    subprocess.run([*compiler.words, *compiler.flags, *shared, race_c, product_c, "-o", out], check=True, timeout=120)
    return out


def _times(path: Path, problem: Contraction, names: list[str], busy: bool) -> dict[str, float]:
    """In a child: seconds of the best run of each, rounds in turn."""
    sizes = dict(problem.sizes)
    draw = np.random.default_rng(1)
    a = draw.random((sizes["i"], sizes["k"]), np.float32)
    b = draw.random((sizes["k"], sizes["j"]), np.float32)
    c = np.zeros((sizes["i"], sizes["j"]), np.float32)
    _agree(path, names, a, b)
    best = dict.fromkeys([*names, "numpy"], float("inf"))
    for _ in range(ROUNDS):
        for name, x in zip(names, figures(path, problem, names, Effort(SECONDS, busy, 1)), strict=True):
            best[name] = min(best[name], x.timing.best)
        best["numpy"] = min(best["numpy"], _numpy(a, b, c, busy))
    return best


def _numpy(a: np.ndarray, b: np.ndarray, c: np.ndarray, busy: bool) -> float:
    clock = time.thread_time if busy else time.perf_counter
    best, end = float("inf"), time.perf_counter() + SECONDS
    runs = max(1, int(2e-4 / (a.shape[0] * b.shape[1] * a.shape[1] * 2 / 3e10)))
    while time.perf_counter() < end:
        first = clock()
        for _ in range(runs):
            np.matmul(a, b, out=c)
        best = min(best, (clock() - first) / runs)
    return best


def _agree(path: Path, names: list[str], a: np.ndarray, b: np.ndarray) -> None:
    """Every function computes the product."""
    lib, exact = ctypes.CDLL(str(path)), a.astype(np.float64) @ b.astype(np.float64)
    for name in names:
        c = np.ones(exact.shape, np.float32)
        getattr(lib, name)(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)))
        if not np.allclose(c, exact + 1, rtol=1e-4):
            raise ValueError(f"{name} of {path} computes something else")
