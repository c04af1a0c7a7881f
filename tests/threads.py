"""Generated OpenMP code under ThreadSanitizer, with a witness in every loop that threads share.

OpenMP runtimes hide their barriers from ThreadSanitizer; clang's has a tool, archer, that tells them to it. A compiler
is tried on a racy and a sound program first: it counts only if it tells them apart.

A loop that happens to run on one thread cannot race. So every iteration of a shared loop notes its thread, in a place
of that thread's own, and the program says at its end which loops had one thread only. With `planted` all threads note
themselves in one place: a race in every loop that threads really share, which must be found.
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
from codegen.record import record
from tests.corpus import KERNELS

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
FLAGS = ("-O1", "-g", "-w", "-fopenmp", "-fsanitize=thread", "-DDRIVER", f"-I{KERNELS}", *SMALL)
SECONDS = 120
# Caches so small that tiles are: with small arrays, too, there are several for threads to share.
CACHES = Path(__file__).parent / "run" / "small-caches.toml"
WITNESS = """#include <omp.h>
#include <stdio.h>
unsigned char seen_on[{count}][64];
#ifdef PLANTED
#define SEEN(k) (seen_on[k][0] = 1)
#else
#define SEEN(k) (seen_on[k][omp_get_thread_num() % 64] = 1)
static void __attribute__((destructor)) seen(void)
{{
  for (int k = 0; k < {count}; k++) {{
    int threads = 0;
    for (int t = 0; t < 64; t++)
      threads += seen_on[k][t];
    fprintf(stderr, "loop %d ran on %d threads\\n", k, threads);
  }}
}}
#endif
"""


@record
class Run:
    """What ThreadSanitizer says of a program, and how many threads took part in each shared loop."""

    races: str
    threads: tuple[int, ...] = ()


@cache
def sanitizer() -> str:
    """A clang whose ThreadSanitizer understands its OpenMP; skips where there is none."""
    found = [shutil.which(c) for c in ("clang", *(f"clang-{n}" for n in range(30, 13, -1)))]
    for cc in dict.fromkeys(c for c in found if c):
        sound = run(cc, CONTROL.replace("CLAUSE", "reduction(+ : s)"))
        racy = run(cc, CONTROL.replace("CLAUSE", ""))
        if sound is not None and racy is not None and not sound.races and racy.races:
            return cc
    pytest.skip("no clang with ThreadSanitizer and an OpenMP runtime that it understands")


def run(cc: str, text: str, args: str = "", planted: bool = False, threads: int = 3) -> Run | None:
    """Compile a program and run it; None where it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "x.c"), Path(folder, "x")
        source.write_text(text, encoding="utf-8")
        flags = (*FLAGS, "-DPLANTED") if planted else FLAGS
        made = subprocess.run([cc, *flags, str(source), "-o", str(program), "-lm"], capture_output=True, text=True)
        if made.returncode:
            return None
        env = {
            **os.environ,
            "OMP_NUM_THREADS": str(threads),
            "OMP_TOOL_LIBRARIES": _archer(cc),
            "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 exitcode=66 symbolize=0",
        }
        done = subprocess.run([str(program), *args.split()], capture_output=True, text=True, timeout=SECONDS, env=env)
        races = "\n".join(re.findall(r"WARNING: ThreadSanitizer.*", done.stderr))
        assert done.returncode == (66 if races else 0), done.stderr[-2000:]
        return Run(races, tuple(int(n) for n in re.findall(r"^loop \d+ ran on (\d+) threads$", done.stderr, re.M)))


@cache
def _archer(cc: str) -> str:
    return subprocess.run([cc, "-print-file-name=libarcher.so"], capture_output=True, text=True).stdout.strip()


def generated(name: str, reassociate: bool = False, machine: str = str(CACHES)) -> str:
    """A kernel of the corpus as it comes out."""
    path = KERNELS / name
    options = GenOptions(
        cpp=CppOptions(args=(f"-I{KERNELS}",)), reassociate=reassociate, machine=machine, timeout=SECONDS
    )
    made = generate(str(path), path.read_text(encoding="utf-8"), options)
    assert all(r.transformed for r in made.regions)
    return made.text


def witnessed(text: str) -> str:
    """The program with a note of its thread in every iteration of every loop that threads share. Tasks are dealt out in
    turn, so that no thread takes all of them while the others start."""
    text = text.replace("schedule(dynamic)", "schedule(static, 1)")
    out, at, count = [], 0, 0
    pragma = r"^ *#pragma omp (?:parallel )?for\b(?:.*\\\n)*.*\n"  # long ones go on in the next line
    for head in re.finditer(pragma + r"(?:#line.*\n)* *for \(", text, re.M):
        end = _closing(text, head.end() - 1) + 1
        if "collapse(2)" in head[0]:  # two loops, with nothing in between
            end = _closing(text, text.index("for (", end) + 4) + 1
        out += [text[at:end], f" if (SEEN({count}))"]
        at, count = end, count + 1
    return WITNESS.format(count=max(count, 1)) + "".join((*out, text[at:]))


def _closing(text: str, at: int) -> int:
    """Where the parenthesis at `at` closes."""
    depth = 0
    for k in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        if not depth:
            return k
    raise AssertionError("a loop without an end")
