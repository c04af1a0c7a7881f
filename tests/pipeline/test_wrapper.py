"""tilewright-cc in place of a compiler: same objects, messages, depfiles and exit codes, from the generated text."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.cli.cc.ccline import parse
from tests.pipeline.tools import PROJECT, ROOT, script

COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
WRAPPER = (sys.executable, "-m", "codegen.cli.wrap.wrapper")
pytestmark = pytest.mark.skipif(not COMPILERS, reason="needs gcc or clang")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """src/ with the project; smooth.c says where it is and has a line to warn about."""
    shutil.copytree(PROJECT, tmp_path / "src")
    with open(tmp_path / "src" / "smooth.c", "a", encoding="utf-8") as stream:
        stream.write("const char *where(void) { return __FILE__; }\nint here(void) { int unused; return __LINE__; }\n")
    return tmp_path


def run(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT), "LC_ALL": "C"} | env,
                          capture_output=True, text=True, check=False, timeout=120)


def wrapped(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return run(folder, *WRAPPER, *words, **env)


@pytest.mark.slow
@pytest.mark.parametrize("cc", COMPILERS)
def test_as_the_compiler(cc: str, folder: Path) -> None:
    """Same warnings, same dependencies, the original's name inside; but the generated code."""
    flags = ("-O1", "-g", "-Wall", "-Wno-unknown-pragmas", "-c", "src/smooth.c", "-MD")
    plain = run(folder, cc, *flags, "-o", "plain.o", "-MT", "x.o")
    made = wrapped(folder, cc, *flags, "-o", "made.o", "-MT", "x.o")
    assert (made.returncode, made.stdout, made.stderr) == (0, plain.stdout, plain.stderr)
    assert "src/smooth.c:13:22: warning: unused variable" in made.stderr

    def deps(name: str) -> list[str]:
        return (folder / name).read_text(encoding="utf-8").replace("\\\n", " ").split()

    assert deps("made.d") == deps("plain.d")
    data = (folder / "made.o").read_bytes()
    assert b"src/smooth.c" in data and b"tilewright-" not in data and data != (folder / "plain.o").read_bytes()
    # Lines inside the nest have a name of their own, with the numbers that gen prints.
    listing = wrapped(folder, cc, "-E", "src/smooth.c").stdout
    shown = run(folder, sys.executable, "-m", "codegen", "gen", "--line", "--target", "c", "src/smooth.c").stdout
    number = 1 + next(i for i, line in enumerate(shown.splitlines()) if "/* tilewright: region 1" in line)
    assert f'# {number} "src/smooth.tw.c"' in listing and '# 11 "src/smooth.c"' in listing
    # The whole program in one command, every option of the wrapper's kind.
    (folder / "flags").write_text("-O1 -fopenmp 'src/main.c'", encoding="utf-8")
    done = wrapped(folder, "--machine", "generic", "--", cc, "@flags", "src/smooth.c", "-lm", "-o", "app",
                   TILEWRIGHT_FLAGS="--context 'n > 2'")
    if done.returncode and "omp" in done.stderr:
        pytest.skip(f"{cc} has no OpenMP here")
    assert (done.returncode, done.stderr) == (0, "")
    assert run(folder, "./app").stdout == "smooth: ok\n"
    listing = run(folder, "nm", "app").stdout if shutil.which("nm") else "omp"
    assert "omp" in listing.lower() or "kmpc" in listing


@pytest.mark.slow
def test_failures_are_the_compilers(folder: Path) -> None:
    cc = COMPILERS[0]
    source = folder / "src" / "main.c"
    text = source.read_text(encoding="utf-8")
    for broken in (text + "int f( {\n", text.replace("grid.h", "grit.h"), "#error no\n" + text):
        source.write_text(broken, encoding="utf-8")
        plain, made = (f(folder, cc, "-c", "src/main.c", "-o", "main.o") for f in (run, wrapped))
        assert made.returncode == plain.returncode != 0 and made.stderr == plain.stderr
        assert not (folder / "main.o").exists()
    source.write_text(text.replace("#pragma endscop", ""), encoding="utf-8")
    made = wrapped(folder, cc, "-c", "src/main.c")
    assert made.returncode == 1 and "src/main.c:12:1: error:" in made.stderr and not (folder / "main.o").exists()
    assert wrapped(folder, "no-such-compiler", "-c", "src/smooth.c").returncode == 127
    both = wrapped(folder, cc, "src/smooth.c", str(source))
    assert both.returncode == 2 and "one by one" in both.stderr
    missing = wrapped(folder, cc, "-c", "none.c")
    assert (missing.returncode, missing.stderr) == (1, run(folder, cc, "-c", "none.c").stderr)


def test_everything_else_goes_through(folder: Path) -> None:
    """Word for word, with the compiler's exit status; and no compiler sees a bad option of ours."""
    script(folder / "fake", 'for w; do echo "[$w]"; done; exit 7')
    words = ("-O2", "a b.c", "-DX='y z'", "-o", "src/smooth.c", "@nothing", "")
    (folder / "nothing").write_text("-x objective-c src/main.c", encoding="utf-8")
    done = wrapped(folder, "./fake", *words)
    assert (done.returncode, done.stdout) == (7, "".join(f"[{w}]\n" for w in words))
    for words in (("-M", "src/smooth.c"), ("-x", "objective-c", "-c", "src/smooth.c"), ("-E", "-x", "c", "-")):
        assert wrapped(folder, "./fake", *words).stdout.split() == [f"[{w}]" for w in words]
    for words in (("--strict", "fake"), ("--strict", "--")):
        assert wrapped(folder, *words).returncode == 2
    for own in ("-o x", "--no-such", "'"):
        assert wrapped(folder, "./fake", "-c", "src/smooth.c", TILEWRIGHT_FLAGS=own).returncode == 2
    assert wrapped(folder, "--help").stdout.startswith("usage: tilewright-cc")


def test_command_lines() -> None:
    text = "ccache gcc -O2 -Iinc -I inc2 -fopenmp -c x.c y.o -o d/x.o -MD -Wl,-z -lm -x c z.inc -x none w.s"
    line = parse(text.split())
    assert line.c_inputs == ("x.c", "z.inc") and line.openmp and not line.debug
    assert line.preprocessor() == ("ccache", "gcc", "-O2", "-Iinc", "-I", "inc2", "-fopenmp", "w.s", "-E")
    assert "d/x.d" in line.depfiles()
    words = line.with_inputs({"x.c": "/t/x.c"}, ["-iquote", "."])
    assert words[:5] == ["ccache", "gcc", "-iquote", ".", "-O2"] and "/t/x.c" in words and "x.c" not in words
    assert parse(["cc", "x.c", "-MMD", "-MFa.d"]).depfiles() == ("a.d",)
    assert parse(["cc", "x.c", "-Wp,-MMD,b.d"]).depfiles() == ("b.d",)
    assert parse(["cc", "x.c", "-fopenmp", "-fno-openmp"]).openmp is False
    assert parse(["cc", "-o"]).parts[0].words == ("-o",)
