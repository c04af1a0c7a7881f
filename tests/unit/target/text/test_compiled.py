"""Compiled templates are kept beside their source, and never outlive it."""

from __future__ import annotations

import os
from importlib.util import cache_from_source
from pathlib import Path

import jinja2
import pytest

from codegen.print.compiled import Compiled


def render(folder: Path, monkeypatch: pytest.MonkeyPatch, write: bool = True) -> str:
    monkeypatch.setattr("sys.dont_write_bytecode", not write)
    loader = jinja2.FileSystemLoader(str(folder))
    return jinja2.Environment(loader=loader, bytecode_cache=Compiled(folder)).get_template("deep/a.c.j2").render(x=3)


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.c.j2").write_text("int a = {{ x }};")
    return tmp_path


@pytest.fixture()
def kept(folder: Path) -> Path:
    return Path(cache_from_source(str(folder / "deep" / "a.c.j2")))


def test_kept_and_used(folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert render(folder, monkeypatch) == "int a = 3;"
    assert [p.name for p in kept.parent.iterdir()] == [kept.name]
    monkeypatch.setattr("jinja2.Environment.compile", lambda *_: pytest.fail("compiled again"))
    assert render(folder, monkeypatch) == "int a = 3;"


def test_a_changed_template_is_compiled_anew(folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    render(folder, monkeypatch)
    (folder / "deep" / "a.c.j2").write_text("int b = {{ x + 1 }};")
    assert render(folder, monkeypatch) == "int b = 4;"


@pytest.mark.parametrize("junk", [b"", b"j2", b"\0" * 400])
def test_a_damaged_file_is_replaced(folder: Path, kept: Path, junk: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    render(folder, monkeypatch)
    good = kept.read_bytes()
    kept.write_bytes(junk)
    assert render(folder, monkeypatch) == "int a = 3;"
    assert kept.read_bytes() == good
    kept.write_bytes(good[:-10])
    assert render(folder, monkeypatch) == "int a = 3;"


def test_nothing_is_written_when_python_may_not(folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert render(folder, monkeypatch, write=False) == "int a = 3;"
    assert not kept.exists()


def test_a_folder_that_cannot_be_written_to(folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "makedirs", refuse)
    assert render(folder, monkeypatch) == "int a = 3;"
    assert not kept.exists()
