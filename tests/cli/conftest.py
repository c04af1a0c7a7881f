"""Fixtures of the command-line tests."""
from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from codegen.cli.main import main
from tests.cli.fakes import SOURCE, Fake, Run


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    it = Fake()
    pipeline: Any = types.ModuleType("codegen.pipeline")
    pipeline.generate = it.generate
    report: Any = types.ModuleType("codegen.report.text")
    report.describe_file = it.describe
    checker: Any = types.ModuleType("codegen.checking.compare")
    checker.check = it.check
    monkeypatch.setitem(sys.modules, "codegen.pipeline", pipeline)
    monkeypatch.setitem(sys.modules, "codegen.checking.compare", checker)
    monkeypatch.setitem(sys.modules, "codegen.report.text", report)
    monkeypatch.setattr("codegen.cli.gen.run_ahead", lambda work, _: work())  # here one sees what is asked
    return it


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with in.c in it; temporary files of the tool land there too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "in.c").write_text(SOURCE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """run(*words) -> exit status, standard output, standard error."""

    def go(*words: str) -> tuple[int, str, str]:
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return go
