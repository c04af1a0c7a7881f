"""The examples as users build them: make, make run; the programs compare their results themselves."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus import ALL, some

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZES = {
    "conjugate-gradient": ("1", "7", "150"),
    "coupled-cluster": ("1 1", "3 5", "6 11"),
    "dense-layer": ("1 1 1 1", "5 7 9 3", "40 90 70 30"),
    "heat-spreading": ("1 1", "2 3", "37 9", "150 20"),
    "linear-system": ("1", "7", "150"),
    "sequence-alignment": ("1 1", "3 70", "300 257"),
    "tuned-plan": ("1 1", "7 33", "90 101"),
    "plan-by-hand": ("1 1", "65 17", "130 200"),
    "thread-owners": ("1 2", "33 7", "300 200"),
    "shortest-paths": ("1 1", "2 5", "33 8", "70 16"),
}
FLAGS = "-std=c11 -O2 -fopenmp -Wall -Wextra -Werror"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="needs make and cc"),
]


def make(example: str, out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")} | {"OMP_NUM_THREADS": "2"}
    command = ["make", "-C", str(EXAMPLES / example), f"TILEWRIGHT={sys.executable} -m codegen", f"OUT={out}",
               f"CFLAGS={FLAGS}", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def made(example: str, out: Path, *words: str) -> str:
    done = make(example, out, *words)
    assert done.returncode == 0, f"{example} {words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_every_example_is_here() -> None:
    others = {"auto-flow", "auto-net", "auto-photo", "auto-wave", "builds", "core-group", "cpp", "device", "heat-mpi",
              "notebook", "quickstart", "real-style", "sparse-matrix", "unchanged-build"}
    assert {p.parent.name for p in EXAMPLES.glob("*/Makefile")} == {*SIZES, *others}


@pytest.mark.parametrize("example", [*SIZES, "quickstart"])
def test_example(example: str, tmp_path: Path) -> None:
    made(example, tmp_path)
    (generated,) = tmp_path.glob("*.tw.c")
    assert "/* tilewright: region 1 of" in generated.read_text(encoding="utf-8")
    for sizes in SIZES.get(example, ()):
        lines = [line for line in made(example, tmp_path, "run", f"SIZES={sizes}").splitlines() if ", plain " in line]
        assert lines and all(line.endswith(": ok") for line in lines), lines
        assert make(example, tmp_path, "run", f"SIZES={sizes}x").returncode != 0

    # Nothing is done twice, and a change of the source or a header reaches the generated file.
    assert make(example, tmp_path, "-q").returncode == 0
    source = generated.name.replace(".tw.c", ".c")
    for read in (source, *(p.name for p in (EXAMPLES / example).glob("*.h"))):
        done = make(example, tmp_path, "-n", "-W", read)
        assert f"gen {source}" in done.stdout, f"{read}\n{done.stdout}\n{done.stderr}"


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
def test_cpp(tmp_path: Path) -> None:
    flags = "CXXFLAGS=-std=c++11 -O2 -fopenmp -ffp-contract=off -Wall -Wextra -Werror"
    for sizes in ("1 1", "5 7", "64 48"):
        lines = made("cpp", tmp_path, "run", f"SIZES={sizes}", flags).splitlines()
        plain, fast = (x.split()[-2:] for x in lines if x.startswith(("as written", "transformed")))
        assert plain == fast
    assert "-o " + str(tmp_path / "blur.tw.cpp") in make("cpp", tmp_path, "-n", "-W", "blur.hpp", flags).stdout
    done = make("cpp", tmp_path / "wrapped", "run", f"CXX={sys.executable} -m codegen.cli.wrap.wrapper g++", flags)
    assert done.returncode == 0, done.stderr


def test_real_style(tmp_path: Path) -> None:
    """What its nests compute is compared in tests/run/test_real_style.py: here one of the files is made."""
    flags = "CFLAGS=-std=c11 -O1 -fopenmp -ffp-contract=off"
    if ALL:
        assert "functions: the same results" in made("real-style", tmp_path, "all", "check", flags)
        return
    made("real-style", tmp_path, f"{tmp_path}/plain", f"{tmp_path}/indirect.tw.o", flags)
    assert subprocess.run([tmp_path / "plain"], capture_output=True, text=True, check=True).stdout.count("\n") > 60
    rest = make("real-style", tmp_path, "-n", "check", flags).stdout
    assert "gen indirect.c" not in rest and all(f"gen {name}.c" in rest for name in ("image", "cfd", "stats")), rest


def test_core_group(tmp_path: Path) -> None:
    flags = "CFLAGS=-std=gnu11 -O1 -Wall -Wextra -Werror"
    for sizes in ("1 1", "3 70", "60 41"):
        assert "emulated cores" in made("core-group", tmp_path, "run", f"SIZES={sizes}", flags)
    assert make("core-group", tmp_path, "-q", flags).returncode == 0
    assert make("core-group", tmp_path, "run", "SIZES=x", flags).returncode != 0
    done = make("core-group", tmp_path, "-n", "-W", "blur.h", flags)
    assert "gen --target sunway blur.c" in done.stdout, done.stdout + done.stderr


def test_device(tmp_path: Path) -> None:
    """A solver whose grids stay on the device, a product and shortest paths, on the emulator."""
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler")
    assert made("device", tmp_path, "run").count("equal to the plain loops") == 4


def test_unchanged_build(tmp_path: Path) -> None:
    own = (f"TILEWRIGHT_CC={sys.executable} -m codegen.cli.wrap.wrapper", f"CFLAGS={FLAGS} -Wno-unknown-pragmas")
    for sizes in ("1 1", "3 5", "90 20"):
        assert "the same: ok" in made("unchanged-build", tmp_path, "check", f"SIZES={sizes}", *own)
    first = (tmp_path / "fast" / "ripple.o").stat().st_mtime_ns
    made("unchanged-build", tmp_path, *own)
    assert (tmp_path / "fast" / "ripple.o").stat().st_mtime_ns == first
    assert "ripple.h" in (tmp_path / "fast" / "ripple.d").read_text(encoding="utf-8")


def test_a_changed_plan_is_a_changed_file(tmp_path: Path) -> None:
    made("plan-by-hand", tmp_path)
    assert "gen turn.c" in make("plan-by-hand", tmp_path, "-n", "-W", "turn.plan").stdout


def test_a_program_without_pragmas(tmp_path: Path) -> None:
    wrapper = f"TILEWRIGHT_CC={sys.executable} -m codegen.cli.wrap.wrapper"
    done = make("auto-wave", tmp_path, "check", "SIZES=150 30", wrapper)
    assert done.returncode == 0 and "both programs print the same: ok" in done.stdout, done.stderr
    assert "step.c: 3 nests, 2 transformed" in done.stderr
    assert "camera.c:108" in done.stderr and "its loops carry dependences" in done.stderr


THOUSANDS = [
    ("auto-flow", "nx=40 ny=36 steps=6 sweeps=7", "advect.c: 6 nests, 5 transformed"),
    ("auto-photo", "-s 90 70", "morph.c:34  morph_dilate     2      transformed"),
    ("auto-net", "4 24 12", "layers.c:"),
]


@pytest.mark.parametrize(("example", "sizes", "row"), some(THOUSANDS, 1, 3))  # `make examples` builds them all, too
def test_programs_of_a_thousand_lines(example: str, sizes: str, row: str, tmp_path: Path) -> None:
    files = [p for p in (EXAMPLES / example).iterdir() if p.suffix in (".c", ".h")]
    assert sum(len(p.read_text(encoding="utf-8").splitlines()) for p in files) >= 1000
    wrapper = f"TILEWRIGHT_CC={sys.executable} -m codegen.cli.wrap.wrapper"
    done = make(example, tmp_path, "check", f"SIZES={sizes}", wrapper, f"CFLAGS={FLAGS} -ffp-contract=off")
    assert done.returncode == 0 and "both programs print the same: ok" in done.stdout, done.stderr
    assert row in done.stderr and " transformed" in done.stderr, done.stderr
