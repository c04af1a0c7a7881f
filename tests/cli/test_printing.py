"""tilewright --print-...: places, completion for shells, the manual page."""
from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from codegen import __version__
from codegen.cli.commands import COMMANDS
from codegen.cli.options import TABLE
from codegen.cli.shell.completion import SHELLS, completion
from codegen.cli.shell.manual import manual
from codegen.cli.shell.printing import PRINTS
from codegen.cli.shell.share import files
from tests.cli.fakes import Run


def test_places_and_version(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for option, name in (("make", "tilewright.mk"), ("ninja", "tilewright.ninja"), ("cmake-dir", "cmake")):
        code, out, err = run(f"--print-{option}")
        assert (code, err) == (0, "") and Path(out.strip()).exists() and Path(out.strip()).name == name
    monkeypatch.setattr("codegen.cli.shell.printing.share_dir", lambda: Path("/a b/share"))
    assert run("--print-make") == (0, "/a\\ b/share/tilewright.mk\n", "")  # make takes words apart
    assert run("--print-version") == (0, f"{__version__}\n", "")
    assert run("--print-completion", "fish") == run("--print-completion=fish") == (0, completion("fish"), "")
    assert run("--print-man")[1] == manual()


def test_what_is_installed_is_current() -> None:
    for path, text in files().items():
        assert path.read_text(encoding="utf-8") == text, "run python -m codegen.cli.shell.share"


@pytest.mark.parametrize("words", [
    ("--print-make", "x"), ("--print-completion",), ("--print-completion", "tcsh"), ("--print-nothing",),
    ("--print-completion", "bash", "zsh"),
])
def test_mistakes(run: Run, words: tuple[str, ...]) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "") and "--print-" in err


def complete(*words: str) -> set[str]:
    """What bash offers for the last word."""
    line = " ".join(f"'{w}'" for w in words)
    text = f"{completion('bash')}COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _tilewright; " \
           'printf "%s\\n" "${COMPREPLY[@]}"'
    return set(subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash() -> None:
    assert complete("tilewright", "") == {*(c.name for c in COMMANDS), *(p.flag for p in PRINTS), "--help", "--version"}
    assert complete("tilewright", "che") == {"check"}
    assert complete("tilewright", "gen", "--target", "") == {"c", "openmp", "sunway", "mpi", "cuda", "hip", "opencl"}
    assert complete("tilewright", "gen", "--ta") == {"--target"}
    assert complete("tilewright", "machine", "") == {"list", "show", "detect"}
    assert complete("tilewright", "gen", "fil") == set()  # left to the shell: names of files
    assert complete("tilewright", "--print-completion", "") == set(SHELLS)


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_can_read_it(shell: str) -> None:
    text = completion(shell)
    assert all(c.name in text for c in COMMANDS)
    assert all(f.lstrip("-") in text for o in TABLE for f in o.flags)
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_manual() -> None:
    text = manual()
    assert all(f.replace("-", "\\-") in text for o in TABLE for f in o.flags)
    assert not [line for line in text.splitlines() if line.startswith("'")]
    if shutil.which("groff"):
        command = ["groff", "-man", "-Tascii", "-ww"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        assert done.stderr == "" and "internal error" in done.stdout
