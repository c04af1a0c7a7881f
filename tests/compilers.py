"""The compilers that can be tried here."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

from codegen.verify.check_build import QUICK, takes


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


def quick(compiler: str) -> tuple[str, ...]:
    """What makes a compiler take less time for sanitized code, without another test in it."""
    return (QUICK,) if shutil.which(compiler) and takes((compiler,), QUICK) else ()
