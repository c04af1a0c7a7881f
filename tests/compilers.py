"""The compilers that can be tried here."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache


@cache
def with_openmp() -> tuple[str, ...]:
    """Those of gcc and clang that are there and find their omp.h."""
    found = []
    for name in ("gcc", "clang"):
        words = [name, "-fopenmp", "-fsyntax-only", "-xc", "-"]
        if shutil.which(name):
            tried = subprocess.run(words, input=b"#include <omp.h>\n", capture_output=True)
            found += [name] if tried.returncode == 0 else []
    return tuple(found)
