"""Work in a child process: its answer, its end, and what the parent did before."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codegen.worker import Died, TimedOut, run_with_deadline


def test_answers_and_ends() -> None:
    assert run_with_deadline(lambda: os.getpid(), 10) != os.getpid()
    with pytest.raises(ZeroDivisionError):
        run_with_deadline(lambda: 1 // 0, 10)
    with pytest.raises(Died):
        run_with_deadline(lambda: os._exit(3), 10)
    with pytest.raises(TimedOut):
        run_with_deadline(lambda: time.sleep(30), 0.2)


def test_the_child_of_a_process_that_used_threads(tmp_path: Path) -> None:
    """Helpers of OpenMP do not come along into a child, and it must not wait for them."""
    source = "int count(void)\n{\n    int n = 0;\n#pragma omp parallel num_threads(3) reduction(+ : n)\n    n += 1;\n"
    (tmp_path / "count.c").write_text(source + "    return n;\n}\n")
    words = ["cc", "-fopenmp", "-shared", "-fPIC", "count.c", "-o", "count.so"]
    if subprocess.run(words, cwd=tmp_path, capture_output=True).returncode:
        pytest.skip("needs OpenMP")
    script = (
        "import cffi\nfrom codegen.worker import run_with_deadline\nffi = cffi.FFI()\nffi.cdef('int count(void);')\n"
        "lib = ffi.dlopen('./count.so')\nprint(lib.count(), run_with_deadline(lib.count, 20), lib.count())\n"
    )
    env = {**os.environ, "OMP_DYNAMIC": "false", "OMP_THREAD_LIMIT": "8"}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["3", "3", "3"], done.stderr
