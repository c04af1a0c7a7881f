"""Nests in the styles of code that people have: all are transformed, and agree with their originals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.verify.check import check

FOLDER = Path(__file__).parents[2] / "examples" / "real-style"
NESTS = sorted(p.stem for p in FOLDER.glob("*.c") if p.stem != FOLDER.name)
LEAST = 60  # nests in all of them


def test_there_are_enough() -> None:
    texts = [(FOLDER / f"{name}.c").read_text(encoding="utf-8") for name in NESTS]
    assert sum(text.count("#pragma scop") for text in texts) >= LEAST


@pytest.mark.slow
@pytest.mark.parametrize("name", NESTS)
def test_all_are_in_and_agree(name: str) -> None:
    path = FOLDER / f"{name}.c"
    text = path.read_text(encoding="utf-8")
    report = check(str(path), text, GenOptions(), lambda line: None)
    assert report.ok, report.lines
    refused = [d.message for d in report.diagnostics if d.id in ("region-refused", "region-partly")]
    assert not refused, refused
    assert len(report.lines) == text.count("#pragma scop")
    assert all(re.search(r"\d size vectors agree", line) for line in report.lines), report.lines
