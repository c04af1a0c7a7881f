"""Work in a child process: its answer, its end, and what the parent did before."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.children.worker import Died, run_again_after_crashes, run_ahead, run_limited
from codegen.limits import MIB, LimitPassed, Limits

USUAL = Limits(10, 512 * MIB, 2 * MIB, 60)


def test_answers_and_ends() -> None:
    assert run_limited(lambda: os.getpid(), USUAL) != os.getpid()
    with pytest.raises(ZeroDivisionError):
        run_limited(lambda: 1 // 0, USUAL)
    with pytest.raises(Died):
        run_limited(lambda: os._exit(3), USUAL)
    with pytest.raises(Died):
        run_limited(_crash, USUAL)


def _crash() -> None:
    faulthandler.disable()  # no word of it among those of the tests
    signal.raise_signal(signal.SIGSEGV)


def test_memory_of_the_parent_is_not_the_childs() -> None:
    held = bytearray(b"x" * 400 * MIB)
    with pytest.raises(Died):
        run_limited(_crash, USUAL)
    assert len(held) == 400 * MIB


def _spin() -> None:
    while True:
        pass


def test_limits() -> None:
    """Each says which one it was; none of them counts as a crash, after which a simpler plan would be tried."""
    for work, limits, says in (
        (_spin, replace(USUAL, cpu=1), "1 s of processor time"),
        (lambda: bytearray(2048 * MIB), USUAL, "512 MiB of memory"),
        (lambda: b"x" * 3 * MIB, USUAL, "wrote more than 2 MiB"),
        (lambda: time.sleep(30), replace(USUAL, wall=0.2), "did not end within 0.2 s"),
    ):  # fmt: skip
        with pytest.raises(LimitPassed, match=says):
            run_again_after_crashes(lambda _, w=work: w(), 2, limits)  # type: ignore[misc]


def test_a_child_that_is_forked_ahead_needs_no_others() -> None:
    here, there, part = run_ahead(lambda: (os.getppid(), os.getpid(), run_limited(os.getpid, USUAL)))
    assert here == os.getpid() != there == part
    with pytest.raises(ZeroDivisionError):
        run_ahead(lambda: 1 // 0)


@pytest.mark.parametrize("end", [_crash, lambda: os._exit(0), lambda: run_limited(_too_much, USUAL)])
def test_work_that_a_child_ahead_does_not_survive_is_done_anew(end: Callable[[], None]) -> None:
    """In the process that asked, where parts of it have children of their own."""
    here = os.getpid()

    def work() -> tuple[int, int]:
        if os.getpid() != here:
            end()
        return os.getpid(), run_limited(os.getpid, USUAL)

    process, part = run_ahead(work)
    assert process == here != part


def _too_much() -> None:
    bytearray(2048 * MIB)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_child_does_not_outlive_its_parent(how: signal.Signals) -> None:
    """Nor does a parent that is interrupted wait until it has done its work."""
    script = (
        "import os, signal, time\nfrom codegen.children.worker import run_ahead\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which shells ignore in the background
        "run_ahead(lambda: (os.write(1, b'%d\\n' % os.getpid()), time.sleep(30)))\n"
    )
    words = [sys.executable, "-c", script]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        assert int(parent.stdout.readline()) != parent.pid
        begin = time.monotonic()
        parent.send_signal(how)
        assert parent.stdout.read() == ""  # until the child, which has this pipe too, is gone
        assert time.monotonic() - begin < 15 and parent.wait() != 0


def test_the_child_of_a_process_that_used_threads(tmp_path: Path) -> None:
    """Helpers of OpenMP do not come along into a child, and it must not wait for them."""
    source = "int count(void)\n{\n    int n = 0;\n#pragma omp parallel num_threads(3) reduction(+ : n)\n    n += 1;\n"
    (tmp_path / "count.c").write_text(source + "    return n;\n}\n")
    words = ["cc", "-fopenmp", "-shared", "-fPIC", "count.c", "-o", "count.so"]
    if subprocess.run(words, cwd=tmp_path, capture_output=True).returncode:
        pytest.skip("needs OpenMP")
    script = (
        "import cffi\nfrom codegen.limits import Limits\n"
        "from codegen.children.worker import run_limited\nffi = cffi.FFI()\nffi.cdef('int count(void);')\n"
        "lib = ffi.dlopen('./count.so')\nprint(lib.count(), run_limited(lib.count, Limits(20, 0)), lib.count())\n"
    )
    env = {**os.environ, "OMP_DYNAMIC": "false", "OMP_THREAD_LIMIT": "8"}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["3", "3", "3"], done.stderr
