"""Nests in the styles of code that people have: all are transformed, and agree with their originals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from codegen.checking.compare import check
from codegen.diagnostics import Diagnostic
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import some

FOLDER = Path(__file__).parents[2] / "examples" / "real-style"
NESTS = sorted(p.stem for p in FOLDER.glob("*.c") if p.stem != FOLDER.name)
RUN = some(NESTS, 0, 2)  # and compared with the source; the others are generated, and run by `make corpus`
LEAST = 60  # nests in all of them


def test_there_are_enough() -> None:
    texts = [(FOLDER / f"{name}.c").read_text(encoding="utf-8") for name in NESTS]
    assert sum(text.count("#pragma scop") for text in texts) >= LEAST


def refused(diagnostics: Iterable[Diagnostic]) -> list[str]:
    return [d.message for d in diagnostics if d.id in ("region-refused", "region-partly")]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NESTS if name not in RUN])
def test_all_are_in(name: str) -> None:
    path = FOLDER / f"{name}.c"
    made = generate(str(path), path.read_text(encoding="utf-8"), GenOptions())
    assert not refused(made.diagnostics), refused(made.diagnostics)
    assert all(r.transformed for r in made.regions)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_all_are_in_and_agree(name: str) -> None:
    path = FOLDER / f"{name}.c"
    text = path.read_text(encoding="utf-8")
    report = check(str(path), text, GenOptions(), lambda line: None)
    assert report.ok, report.lines
    assert not refused(report.diagnostics), refused(report.diagnostics)
    assert len(report.lines) == text.count("#pragma scop")
    assert all(re.search(r"\d size vectors agree", line) for line in report.lines), report.lines
