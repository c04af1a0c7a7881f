"""Generated OpenMP code under ThreadSanitizer: a sample of the corpus, and programs whose races it must find.

OpenMP runtimes hide their barriers from ThreadSanitizer; clang's has a tool, archer, that tells them to it. A compiler
is tried on a racy and a sound program first: it counts only if it tells them apart.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
CONTROL = """#include <stdio.h>
int main(void)
{
  static double a[900], b[900];
  double s = 0;
#pragma omp parallel for CLAUSE
  for (int i = 0; i < 900; i++) { a[i] = i; s += a[i]; }
#pragma omp parallel for
  for (int i = 0; i < 900; i++) b[i] = a[899 - i] + s;
  return b[7] < 0;
}
"""
# Threads for everything however small, and small blocks of products.
SMALL = ("-DTW_PARALLEL_MIN=1", "-DTW_SIZE(n)=((n)<20?(n):20)")
FLAGS = ("-O1", "-g", "-w", "-fopenmp", "-fsanitize=thread", "-DDRIVER", *SMALL)
SAMPLE = {  # kernel: its sizes
    "gemm.c": "23 25 27",
    "jacobi-2d.c": "5 60",
    "seidel-2d.c": "5 90",
    "correlation.c": "31 33",
    "atax.c": "41 43",
    "lu.c": "70",
    "closure-bits.c": "90",
    "gauss-jordan.c": "24 13",
    "fdtd-2d.c": "4 30 31",
    "softmax-rows.c": "20 30",
}


@cache
def sanitizer() -> str:
    """A clang whose ThreadSanitizer understands its OpenMP; skips where there is none."""
    found = [shutil.which(c) for c in ("clang", *(f"clang-{n}" for n in range(30, 13, -1)))]
    for cc in dict.fromkeys(c for c in found if c):
        sound = _reports(cc, CONTROL.replace("CLAUSE", "reduction(+ : s)"))
        racy = _reports(cc, CONTROL.replace("CLAUSE", ""))
        if sound == "" and racy:
            return cc
    pytest.skip("no clang with ThreadSanitizer and an OpenMP runtime that it understands")


def _reports(cc: str, text: str, args: str = "", flags: tuple[str, ...] = ()) -> str | None:
    """What ThreadSanitizer says of a program; None where it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "x.c"), Path(folder, "x")
        source.write_text(text, encoding="utf-8")
        made = subprocess.run(
            [cc, *FLAGS, *flags, str(source), "-o", str(program), "-lm"], capture_output=True, text=True
        )
        if made.returncode:
            return None
        archer = subprocess.run([cc, "-print-file-name=libarcher.so"], capture_output=True, text=True).stdout.strip()
        env = {
            **os.environ,
            "OMP_NUM_THREADS": "3",
            "OMP_TOOL_LIBRARIES": archer,
            "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 exitcode=66 symbolize=0",
        }
        run = subprocess.run([str(program), *args.split()], capture_output=True, text=True, timeout=120, env=env)
        races = "\n".join(re.findall(r"WARNING: ThreadSanitizer.*", run.stderr))
        assert run.returncode == (66 if races else 0), run.stderr[-2000:]
        return races


def _generated(name: str, reassociate: bool = False) -> str:
    path = KERNELS / name
    options = GenOptions(cpp=CppOptions(args=(f"-I{KERNELS}",)), reassociate=reassociate, timeout=120)
    made = generate(str(path), path.read_text(encoding="utf-8"), options)
    assert all(r.transformed for r in made.regions)
    return made.text


@pytest.mark.parametrize("name", SAMPLE)
def test_no_races(name: str) -> None:
    cc = sanitizer()
    text = _generated(name)
    assert "#pragma omp" in text
    assert _reports(cc, text, SAMPLE[name], (f"-I{KERNELS}",)) == ""


def test_a_reduction_without_its_clause_is_found() -> None:
    """The test can fail: the clause that the plan needs is what keeps the threads apart."""
    cc = sanitizer()
    text = _generated("dot.c", True)
    assert _reports(cc, text, "40000", (f"-I{KERNELS}",)) == ""
    broken, count = re.subn(r" reduction\(\+:\w+\)", "", text)
    assert count
    assert _reports(cc, broken, "40000", (f"-I{KERNELS}",))


def test_a_parallel_loop_that_carries_a_dependence_is_found() -> None:
    """Threads on the loop that the plan runs in order."""
    cc = sanitizer()
    text = _generated("gauss-jordan.c")
    head = re.search(r"^( *)(for \(long k = )", text, re.M)
    assert head is not None
    broken = text[: head.start()] + "#pragma omp parallel for\n" + text[head.start() :]
    assert _reports(cc, broken, SAMPLE["gauss-jordan.c"], (f"-I{KERNELS}",))
