"""Text that was proven before is not proven again; everything else is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.hosts import region
from codegen.target.emit import RegionText
from codegen.target.isa.model import Isa
from codegen.target.microkernel import MicroKernel
from codegen.verify import remembered
from codegen.verify.text import check

TEXT = RegionText("a = 1;\n", frozenset({"tw_min", "tw_max"}), frozenset(), plain="a = 1;\n")


class _Proof:
    """Stands for the proof, and counts."""

    def __init__(self, problem: str = "") -> None:
        self.problem, self.asked = problem, 0

    def __call__(self, emitted: RegionText) -> str:
        self.asked += 1
        return self.problem


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "kept"))
    remembered._stamp.cache_clear()
    return tmp_path / "kept"


def _asked(monkeypatch: pytest.MonkeyPatch, *texts: RegionText, problem: str = "") -> int:
    proof = _Proof(problem)
    monkeypatch.setattr(check, "wrong_text", proof)
    assert [region._wrong_text(t) for t in texts] == [problem] * len(texts)
    return proof.asked


def test_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = replace(TEXT, products=("a product",))
    assert _asked(monkeypatch, text, text, text) == 1
    assert (folder / remembered.FILE).stat().st_size == remembered.LENGTH


def test_other_text_and_other_claims(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = replace(TEXT, products=("a product",))
    others = [replace(text, plain="a = 2;\n"), replace(text, products=("another",)), replace(text, sweeps=("a sweep",))]
    assert _asked(monkeypatch, text, *others) == 4


def test_what_was_not_proven_is_asked_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = replace(TEXT, products=("a product",))
    assert _asked(monkeypatch, text, text, problem="wrong") == 2
    assert not folder.exists()


def test_other_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = replace(TEXT, products=("a product",))
    assert _asked(monkeypatch, text) == 1
    monkeypatch.setattr(remembered, "_stamp", lambda: "another version")
    assert _asked(monkeypatch, text) == 1


def test_other_tables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's instruction set is known by its name, and its table may change."""
    from codegen.target.isa import load

    text = replace(TEXT, kernels=frozenset({("avx2", 0, "kernel")}))
    assert _asked(monkeypatch, text, text) == 1
    changed: Isa = replace(load.load("avx2", 0), name="avx2 of another kind")
    monkeypatch.setattr(load, "load", lambda name, bits: changed)
    assert _asked(monkeypatch, text) == 1


def test_switched_off_or_not_writable(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = replace(TEXT, products=("a product",))
    monkeypatch.setenv("TILEWRIGHT_CACHE", "off")
    assert _asked(monkeypatch, text, text) == 2
    (tmp_path / "file").touch()
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "file" / "inside"))
    assert _asked(monkeypatch, text, text) == 2


def test_the_file_does_not_grow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST", 4)
    for k in range(20):
        remembered.remember_proof(bytes([k]) * remembered.LENGTH)
        assert remembered.proven_before(bytes([k]) * remembered.LENGTH)
    assert (folder / remembered.FILE).stat().st_size <= 4 * remembered.LENGTH


def test_the_code_is_told_by_its_files() -> None:
    remembered._stamp.cache_clear()
    stamp = remembered._stamp()
    for part in ("text/facts.py", "kernel.c.j2", "isa/data", "remembered.py", MicroKernel.__module__.split(".")[-1]):
        assert part in stamp
