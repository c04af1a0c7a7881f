"""Variables of which each thread has its own: other threads must not do the work that is done with them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codegen.checking.compare import check
from codegen.diagnostics import Diagnostic
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.compilers import quick

SANITIZE = ("-fsanitize=undefined,address", "-fno-sanitize-recover=all", *quick("gcc"))
# Before the function, in it before the region, the region, and what shows in the variables afterwards.
CASES: dict[str, tuple[str, str, str, str]] = {
    "scalar that is read": (
        "_Thread_local double k = 1;",
        "k = 3;",
        "for (int i = 0; i < n; i++) b[i] = k * a[i];",
        "k",
    ),
    "scalar that is written": (
        "static __thread double k;",
        "",
        "for (int i = 0; i < n; i++) { k = a[i] * 2; b[i] = k + 1; }",
        "k",
    ),
    "reduction": ("static _Thread_local long k;", "k = 5;", "for (int i = 0; i < n; i++) k += (long)a[i];", "k"),
    "array": (
        "_Thread_local double k[900];",
        "for (int i = 0; i < n; i++) k[i] = i % 17;",
        "for (int i = 0; i < n; i++) b[i] = k[i] + a[i];",
        "k[3]",
    ),
    "array that is written": (
        "double _Thread_local k[900];",
        "",
        "for (int i = 0; i < n; i++) k[i] = 2 * a[i];",
        "k[3] + k[800]",
    ),
    "bound": ("__thread int k;", "k = 700;", "for (int i = 0; i < k; i++) b[i] = a[i] + 1;", "k"),
    "offset": (
        "extern __thread int k; __thread int k;",
        "k = 9;",
        "for (int i = 0; i < n - 9; i++) b[i] = a[i + k];",
        "k",
    ),
    "pointer": ("static _Thread_local double *k;", "k = a;", "for (int i = 0; i < n; i++) b[i] = k[i];", "k[2]"),
    "struct": (
        "static struct { double x; int m; } _Thread_local k;",
        "k.x = 4; k.m = n;",
        "for (int i = 0; i < k.m; i++) b[i] = k.x * a[i];",
        "k.x",
    ),
    "static of the function": (
        "",
        "static _Thread_local double k = 2; k += 1;",
        "for (int i = 0; i < n; i++) b[i] = k * a[i];",
        "k",
    ),
    "from threads.h": (
        "#include <threads.h>\nthread_local double k;",
        "k = 3;",
        "for (int i = 0; i < n; i++) b[i] = k * a[i];",
        "k",
    ),
    "threadprivate": (
        "static double k;\n#pragma omp threadprivate(k)",
        "k = 3;",
        "for (int i = 0; i < n; i++) b[i] = k * a[i];",
        "k",
    ),
    "threadprivate, of the function": (
        "",
        "static double j, k;\n#pragma omp threadprivate(j, \\\n  k)\n  k = 3; j = 2;",
        "for (int i = 0; i < n; i++) b[i] = k * a[i];",
        "k + j",
    ),
    "product": (
        "static _Thread_local double k[30][30];",
        "for (int i = 0; i < 900; i++) k[i / 30][i % 30] = i % 7;",
        "for (int i = 0; i < 30; i++) for (int j = 0; j < 30; j++) for (int l = 0; l < 30; l++)"
        " b[i * 30 + j] += k[i][l] * a[l * 30 + j];",
        "k[1][1]",
    ),
}


def program(head: str, before: str, body: str, shown: str) -> str:
    return f"""#include <stdio.h>
{head}
static double f(int n, double *restrict a, double *restrict b)
{{
  {before}
#pragma scop
  {body}
#pragma endscop
  (void)n, (void)a, (void)b;
  return (double)({shown});
}}
int main(void)
{{
  static double a[900], b[900];
  for (int i = 0; i < 900; i++) a[i] = i % 13;
  double sum = f(900, a, b);
  for (int i = 0; i < 900; i++) sum = sum * 0.99 + b[i];
  printf("%.17g\\n", sum);
  return 0;
}}
"""


def output(text: str, folder: Path) -> str:
    (folder / "x.c").write_text(text)
    flags = ("-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-fopenmp")
    flags = (*flags, "-Wno-old-style-declaration", "-ffp-contract=off", "-DTW_NO_FMA", "-DTW_PARALLEL_MIN=0", *SANITIZE)
    subprocess.run(["gcc", *flags, "-o", folder / "x", folder / "x.c", "-lm"], check=True, timeout=60)
    env = {**os.environ, "OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "passive"}
    return subprocess.run([folder / "x"], check=True, capture_output=True, text=True, timeout=60, env=env).stdout


def told(found: tuple[Diagnostic, ...], id: str) -> list[str]:
    return [n.message for d in found for n in (d, *d.notes) if n.id == id]


@pytest.mark.parametrize("name", CASES)
def test_the_region_stays_on_its_thread(name: str, tmp_path: Path) -> None:
    source = program(*CASES[name])
    made = generate("own.c", source, GenOptions())
    assert made.regions[0].transformed and "omp parallel" not in made.text
    assert told(made.diagnostics, "one-thread") in (
        [f"the region stays on one thread: each thread has its own `{k}`"] for k in "jk"
    )
    assert output(made.text, tmp_path) == output(source, tmp_path)


def test_a_plan_cannot_take_it_to_others(tmp_path: Path) -> None:
    source = program(*CASES["scalar that is read"])
    made = generate("own.c", source, GenOptions(plan_text="region 1\n  parallel S1.i\n"))
    assert "omp parallel" not in made.text
    assert output(made.text, tmp_path) == output(source, tmp_path)


def test_without_threads_there_is_nothing_to_say() -> None:
    made = generate("own.c", program(*CASES["scalar that is read"]), GenOptions(target="c"))
    assert made.regions[0].transformed and not told(made.diagnostics, "one-thread")


def test_other_names_and_shadows_use_threads() -> None:
    """A parameter of the same name is no such variable, and `thread_local` may be one of the user's own."""
    loop = "for (int i = 0; i < n; i++) b[i] = a[i] + "
    text = program("static double k;\n#pragma omp threadprivate(k)", "", f"{loop}1;", "k")
    assert "omp parallel for" in generate("own.c", text, GenOptions()).text
    text = program("", "int thread_local = 3;", f"{loop}thread_local;", "0")
    assert "omp parallel for" in generate("own.c", text, GenOptions()).text


@pytest.mark.parametrize("name", ["scalar that is read", "array", "threadprivate"])
def test_compute_cores_cannot_reach_it(name: str) -> None:
    made = generate("own.c", program(*CASES[name]), GenOptions(target="sunway"))
    assert told(made.diagnostics, "thread-local") == ["each thread has its own `k`, and compute cores have none"]


def test_check_runs_them() -> None:
    """Also those that another file may define."""
    text = """_Thread_local double acc; extern __thread int more; static __thread double t[100];
void f(int n, double *restrict a)
{
#pragma scop
  for (int i = 0; i < n; i++) { acc = a[i] * 2; a[i] = acc + t[i % 7] + more; }
#pragma endscop
}
"""
    report = check("in.c", text, GenOptions(), lambda line: None)
    assert report.ok and "size vectors agree" in report.lines[0], report.lines
