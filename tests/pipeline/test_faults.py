"""A fault of the tool at one region leaves that region as it is, with a report, and never touches the others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from codegen.cli.main import main

FIRST = """\
    for (int i = 0; i < n; i++)
        A[i] = 2.0 * B[i];
"""
SOURCE = f"""\
void f(int n, double A[n], double B[n])
{{
#pragma scop
{FIRST}#pragma endscop
}}
void g(int n, double A[n][n], double B[n][n])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = B[j][i];
#pragma endscop
}}
"""
SECOND = "region 2 of g: "  # as the second region's comment says
STAGES = {
    "read": "codegen.region_model.extract",
    "dependences": "codegen.region_model.compute_dependences",
    "recognise": "codegen.region_model.privatize",
    "strategy": "codegen.region.default_plan",
    "storage": "codegen.region.place_storage",
    "loops": "codegen.region.generate_ast",
    "lower": "codegen.region.lowered",
    "verify": "codegen.region.prove",
    "print": "codegen.hosts.region.region_text",
    "read back": "codegen.hosts.region.overlap_test",
}
Gen = Callable[..., tuple[int, str, list[dict[str, Any]]]]


@pytest.fixture
def gen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Gen:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    Path("in.c").write_text(SOURCE, encoding="utf-8")

    def go(*words: str) -> tuple[int, str, list[dict[str, Any]]]:
        code = main(["gen", "in.c", "--diagnostics-format", "json", "-Wno-alias", *words])
        out, err = capsys.readouterr()
        return code, out, json.loads(err) if err.startswith("[") else []

    return go


def plant(monkeypatch: pytest.MonkeyPatch, name: str, error: Callable[[], object]) -> None:
    """The function fails while the first region is taken through."""
    module, _, function = name.rpartition(".")
    real, process = getattr(import_module(module), function), import_module("codegen.region").process_region
    first = False

    def followed(s: Any, *rest: Any) -> Any:
        nonlocal first
        first = s.region.index == 1
        return process(s, *rest)

    def failing(*words: Any, **named: Any) -> Any:
        return error() if first else real(*words, **named)

    monkeypatch.setattr("codegen.region.process_region", followed)
    monkeypatch.setattr(name, failing)


def raising(error: BaseException) -> Callable[[], object]:
    def fail() -> object:
        raise error

    return fail


def report(messages: list[dict[str, Any]], id: str = "internal-error") -> dict[str, Any]:
    (warning,) = (m for m in messages if m["id"] == "region-refused")
    (note,) = warning["notes"]
    assert (warning["line"], note["line"], note["id"]) == (3, 3, id)
    return {**warning, "note": note}


@pytest.mark.parametrize("stage", STAGES)
def test_a_fault_in_each_stage(stage: str, gen: Gen, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, STAGES[stage], raising(KeyError("S2")))
    code, out, messages = gen()
    assert code == 0 and FIRST in out and "region 1" not in out and SECOND in out
    said = report(messages)
    assert "internal error: KeyError: 'S2'" in said["message"]
    (saved,) = Path("tmp").iterdir()
    assert str(saved) in said["note"]["hint"]
    assert "KeyError: 'S2'" in (saved / "traceback.txt").read_text(encoding="utf-8")
    assert (saved / "input.c").read_text(encoding="utf-8") == SOURCE


@pytest.mark.parametrize(
    ("error", "id"),
    [
        (AssertionError("no"), "internal-error"),
        (RecursionError("deep"), "nesting-too-deep"),
        (MemoryError(), "out-of-memory"),
        (isl.Error("no luck"), "internal-error"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_faults_of_each_kind(error: Exception, id: str, gen: Gen, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "codegen.hosts.region.region_text", raising(error))
    code, out, messages = gen()
    assert code == 0 and FIRST in out and SECOND in out
    report(messages, id)
    assert gen("--strict")[0] == 3


def test_a_child_that_ends(gen: Gen, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "codegen.hosts.region.region_text", lambda: os._exit(9))
    code, out, messages = gen()
    assert code == 0 and FIRST in out and SECOND in out
    report(messages, "worker-died")


@pytest.mark.parametrize("most", [1, 2])
def test_children_side_by_side(most: int, gen: Gen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.pipeline.at_once", lambda: most)
    plant(monkeypatch, "codegen.region.lowered", raising(KeyError("S2")))
    code, out, messages = gen()
    assert code == 0 and FIRST in out and SECOND in out
    report(messages)


def test_a_fault_while_the_region_is_cut_out(gen: Gen, monkeypatch: pytest.MonkeyPatch) -> None:
    real = import_module("codegen.source.slice")._slice

    def failing(unit: Any, file: str, region: Any, *rest: Any) -> Any:
        return raising(KeyError("chunk"))() if region.index == 1 else real(unit, file, region, *rest)

    monkeypatch.setattr("codegen.source.slice._slice", failing)
    code, out, messages = gen()
    assert code == 0 and FIRST in out and SECOND in out
    assert "chunk" in report(messages)["message"]


def test_a_fault_while_the_file_is_printed(gen: Gen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions that lead to it by themselves are left as they are."""
    real = import_module("codegen.target.text.checks").with_checks

    def failing(text: str, *rest: Any) -> Any:
        return raising(KeyError("row"))() if "region 1" in text else real(text, *rest)

    monkeypatch.setattr("codegen.target.text.checks.with_checks", failing)
    code, out, messages = gen()
    assert code == 0 and FIRST in out and "region 1" not in out and SECOND in out
    assert "row" in report(messages)["message"]


def test_interruptions_pass_through(gen: Gen, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "codegen.region.lowered", raising(KeyboardInterrupt()))
    assert gen("-o", "out.c")[0] == 130
    assert not Path("out.c").exists() and not list(Path("tmp").iterdir())
