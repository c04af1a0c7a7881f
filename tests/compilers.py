"""The compilers that can be tried here."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

# The tests that sanitizers add cut loops into thousands of blocks, and gcc's register allocator looks at every nest of
# them by itself: up to five sixths of the time of a compilation. Allocating once for a function changes no test.
QUICK = "-fira-region=one"


@cache
def with_openmp() -> tuple[str, ...]:
    """Those of gcc and clang that are there and find their omp.h."""
    return tuple(name for name in ("gcc", "clang") if finds_openmp(name))


def finds_openmp(compiler: str) -> bool:
    """Whether a compiler is there and finds its omp.h."""
    words = [compiler, "-fopenmp", "-fsyntax-only", "-xc", "-"]
    if not shutil.which(compiler):
        return False
    return subprocess.run(words, input=b"#include <omp.h>\n", capture_output=True).returncode == 0


@cache
def sanitizes(compiler: str) -> bool:
    """Whether a compiler is there and has the library of its sanitizer of undefined behaviour."""
    words = [compiler, "-fsanitize=undefined", "-xc", "-", "-o", "/dev/null"]
    if not shutil.which(compiler):
        return False
    return subprocess.run(words, input=b"int main(void) { return 0; }\n", capture_output=True).returncode == 0


@cache
def quick(compiler: str) -> tuple[str, ...]:
    """What makes a compiler take less time for sanitized code that it optimizes, without another test in it."""
    words = [compiler, QUICK, "-fsyntax-only", "-xc", os.devnull]
    known = shutil.which(compiler) and subprocess.run(words, capture_output=True).returncode == 0
    return (QUICK,) if known else ()
