"""check, inspect, machine, doctor."""
from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostic, Loc, Severity
from codegen.machine.load import load, names
from codegen.machine.toml import parse
from tests.cli.fakes import Fake, Region, Run


def test_check_agrees(fake: Fake, folder: Path, run: Run) -> None:
    assert run("check", "in.c") == (0, "region 1: 12 sizes agree\n", "")
    assert run("check", "in.c", "-q") == (0, "", "")
    assert run("check", "in.c", "-v")[2] == "compiling\n"
    assert run("check", "in.c", "-v", "--diagnostics-format=json")[2] == "[]\n"


def test_check_of_several(fake: Fake, folder: Path, run: Run) -> None:
    (folder / "other.c").write_text((folder / "in.c").read_text(encoding="utf-8"), encoding="utf-8")
    assert run("check", "in.c", "other.c")[1] == "in.c: region 1: 12 sizes agree\nother.c: region 1: 12 sizes agree\n"


def test_check_differs(fake: Fake, folder: Path, run: Run) -> None:
    fake.report = replace(fake.report, ok=False, lines=("region 1: N = 7 differs",))
    assert run("check", "in.c", "-q")[:2] == (4, "region 1: N = 7 differs\n")


def test_check_bad_input(fake: Fake, folder: Path, run: Run) -> None:
    error = Diagnostic(Severity.ERROR, "does-not-compile", "the original does not compile", Loc("in.c"))
    fake.report = replace(fake.report, ok=False, diagnostics=(error,))
    assert run("check", "in.c")[0] == 1


def test_inspect(fake: Fake, folder: Path, run: Run) -> None:
    assert run("inspect", "in.c") == (0, "regions of in.c\n", "")


def test_machine_list(run: Run) -> None:
    code, out, err = run("machine", "list")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == [*names(), "native"]


@pytest.mark.parametrize("name", ["generic", "zen4"])
def test_machine_show_can_be_fed_back(run: Run, name: str) -> None:
    code, out, _ = run("machine", "show", name)
    assert code == 0 and parse("shown", out) == load(name)


def test_machine_detect_can_be_fed_back(run: Run) -> None:
    code, out, _ = run("machine", "detect")
    assert code == 0 and out.startswith("# ") and parse("detected", out).name == "native"


def test_machine_unknown(run: Run) -> None:
    code, out, err = run("machine", "show", "zen5x")
    assert (code, out) == (1, "") and "unknown machine 'zen5x' [unknown-machine]" in err and "did you mean" in err


def test_doctor(fake: Fake, folder: Path, run: Run) -> None:
    code, out, _ = run("doctor")
    assert code == 0, out
    fake.made = replace(fake.made, regions=(Region(transformed=False),))
    code, out, _ = run("doctor")
    assert code == 1 and "FAIL generation" in out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("words", "shown"), [
    ((), "\r\x1b[Kcompiling\r\x1b[K"),
    (("-q",), ""),
    (("-v",), "compiling\n"),
    (("--diagnostics-format=json",), "[]\n"),
])
def test_progress_on_a_terminal(words: tuple[str, ...], shown: str, fake: Fake, folder: Path, run: Run,
                                monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    run("check", "in.c", "--color=never", *words)
    assert terminal.getvalue() == shown
