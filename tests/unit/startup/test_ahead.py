"""A command in a child that is forked before anything is loaded."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os
from codegen.children.worker import run_ahead, run_limited, stay
from codegen.limits import Limits
from codegen.startup.ahead import outcome

first = os.getpid()

def work():
    {work}
    return os.getpid()

def command():
    done = run_ahead(work, {again})
    print(done == os.getpid(), os.getppid() == first, flush=True)
    {behind}
    return 3

code = outcome(lambda: stay(lambda: os._exit(command()), limited_here=False))
print(code, flush=True)
"""
CRASH = "os.abort()"


@pytest.mark.parametrize(
    ("work", "again", "behind", "says"),
    [
        ("pass", True, "pass", ["True True", "3"]),
        ("pass", False, "pass", ["False True", "3"]),  # work that cannot be done again has a child of its own
        (CRASH, True, "pass", ["None"]),
        ("os._exit(0)", True, "pass", ["None"]),
        ("run_limited(lambda: bytearray(2 << 30), Limits(30, 512 << 20))", True, "pass", ["None"]),
        (f"os.getppid() != first and {CRASH}", False, "pass", ["True True", "3"]),
        ("pass", True, CRASH, ["True True", str(128 + signal.SIGABRT)]),  # something may have been seen of it
        ("run_limited(lambda: 1, Limits(1, 1 << 30))", True, "bytearray(2 << 20)", ["True True", "3"]),
    ],
)
def test_what_is_done_again(work: str, again: bool, behind: str, says: list[str]) -> None:
    """Where the child ends within its work, and nowhere else."""
    text = SCRIPT.format(work=work, again=again, behind=behind)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == says


REGION = """
void scale(int n, double *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] *= 2.0;
#pragma endscop
}
"""


def _gen(folder: Path, source: str, crashes: str, given: str | None = None) -> tuple[int, str]:
    """What the command prints where loading the analysis crashes in processes for which the condition holds."""
    text = (
        "import os, sys\nimport codegen.__main__ as command\nimport codegen.source_file as files\n"
        f"sys.argv = ['tilewright', 'gen', {source!r}, '-o', '-']\nfirst, usual = os.getpid(), files.load_all\n"
        f"def load_all(*given):\n    if {crashes}:\n        os.abort()\n    usual(*given)\n"
        "files.load_all = load_all\nsys.exit(command.run())"
    )
    words = [sys.executable, "-c", text]
    done = subprocess.run(words, capture_output=True, text=True, input=given, cwd=folder)
    return done.returncode, done.stdout


def test_a_command_whose_child_crashes_prints_its_result_once(tmp_path: Path) -> None:
    (tmp_path / "in.c").write_text(REGION)
    code, text = _gen(tmp_path, "in.c", "os.getpid() != first")
    assert code == 0 and text.count("@generated") == text.count("tilewright: region") == 1


def test_what_comes_through_a_pipe_is_read_once(tmp_path: Path) -> None:
    """The child that has read it has a child of its own, and does the work itself where that one crashes."""
    code, text = _gen(tmp_path, "-", "first not in (os.getpid(), os.getppid())", REGION)
    assert code == 0 and text.count("@generated") == text.count("tilewright: region") == 1
