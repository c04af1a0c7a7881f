"""Every ordered pair of formats, with sanitizers; the optimised chain against the one as derived; all types."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus import ALL

ROOT = Path(__file__).parents[2]


def pairs(*words: str, sanitize: bool = True) -> str:
    """Run tests.sparse.pairs, with the address sanitizer's library where the compiler has one."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    flags = "-O1 -Wall -Wextra -Werror"
    if sanitize:
        library = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
        if os.path.sep in library.stdout:
            flags = "-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
            env |= {"LD_PRELOAD": library.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0"}
    command = [sys.executable, "-m", "tests.sparse.pairs", *words, f"--flags={flags}"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def among(*formats: str) -> tuple[str, ...]:
    """Pairs of these formats; of all of them for `make corpus`."""
    return () if ALL else ("--formats", ",".join(formats))


@pytest.mark.slow
@pytest.mark.parametrize("rank", (1, 2, 3, 4))
def test_every_pair_with_sanitizers(rank: int) -> None:
    """Those of rank four are those of rank three with a loop more."""
    words = among("COO4", "CSF4", "HICOO4") if rank == 4 else ()
    assert " 0 failures" in pairs(str(rank), "--policies", "", *words)


@pytest.mark.slow
@pytest.mark.parametrize("rank, formats", ((2, "COO,CSC,ELL,MCOO,DIA"), (3, "COO3,CSF,HICOO")))
def test_duplicates_with_sanitizers(rank: int, formats: str) -> None:
    """Some formats; for `make corpus` all of them, and `keep` too."""
    policies = "keep,sum,reject" if ALL else "sum,reject"
    assert " 0 failures" in pairs(str(rank), "--policies", policies, *among(formats))


@pytest.mark.slow
def test_both_chains_agree() -> None:
    """Also that both are free of warnings."""
    matrices = among("COO", "MCOO", "CSR", "DIA", "BCSR:3x2")
    assert " 0 failures" in pairs("2", "--plain", "--policies", "sum", *matrices, sanitize=False)
    assert " 0 failures" in pairs("3", "--plain", *among("COO3", "CSF", "HICOO"), sanitize=False)


@pytest.mark.slow
def test_threads_give_the_same_bits() -> None:
    """On three, so that shares are uneven and some threads have nothing to do. Values are small integers."""
    matrices = among("CSC", "ELL", "BCSR:3x2", "CSF2", "HICOO2")
    assert " 0 failures" in pairs("2", "--threads", "3", "--policies", "sum", *matrices, sanitize=False)
    assert " 0 failures" in pairs("3", "--threads", "3", *among("MCOO3", "CSF", "HICOO"), sanitize=False)


@pytest.mark.parametrize("values, indices", (("f32", "32"), ("i32", "64"), ("i64", "32"), ("f64", "64")))
def test_types(values: str, indices: str) -> None:
    words = ("2", "--formats", "COO,CSR,DIA,BCSR,MCOO", "--values", values, "--indices", indices)
    assert " 0 failures" in pairs(*words, sanitize=False)
