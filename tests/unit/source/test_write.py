"""Dependency files, and reading and writing without loss."""
from __future__ import annotations

import io
import os
import stat
import sys
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.source.depfile import depfile
from codegen.source.write import GENERATED, read_source, write_if_changed

BANNER = f"/* {GENERATED} */\n"


def refused(path: Path | str, text: str) -> str:
    with pytest.raises(InputError) as caught:
        write_if_changed(str(path), text)
    return caught.value.id


def test_depfile_escapes_and_wraps() -> None:
    assert depfile(["o ut.c"], ["a#.c", "b$.h", "c d.h"]) == "o\\ ut.c: a\\#.c b$$.h c\\ d.h\n"
    assert depfile(["t"], ["a.c", "b.h", "a.c"], phony=True) == "t: a.c b.h\nb.h:\n"
    assert depfile(["$(T)"], ["a.c"], quote_targets=False) == "$(T): a.c\n"
    long = depfile(["t.c"], [f"include/header_{i}.h" for i in range(20)])
    assert all(len(line) <= 80 for line in long.splitlines())
    assert long.replace(" \\\n", "").split() == ["t.c:", *(f"include/header_{i}.h" for i in range(20))]


def test_write_is_atomic_and_keeps_timestamps(tmp_path: Path) -> None:
    path = tmp_path / "out.c"
    assert write_if_changed(str(path), BANNER + "a\r\n\udcff")
    assert path.read_bytes() == BANNER.encode() + b"a\r\n\xff"
    os.utime(path, (1, 1))
    assert not write_if_changed(str(path), BANNER + "a\r\n\udcff")
    assert path.stat().st_mtime == 1
    path.chmod(0o750)
    assert write_if_changed(str(path), BANNER + "b")
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert os.listdir(tmp_path) == ["out.c"]


def test_new_files_follow_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_if_changed(str(tmp_path / "n.c"), BANNER)
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "n.c").stat().st_mode) == 0o640


def test_only_generated_files_are_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mine.c"
    path.write_text("int precious;\n")
    assert refused(path, "x") == "not-generated"
    assert path.read_text() == "int precious;\n"
    assert write_if_changed(str(path), "x", force=True)
    path.write_text("")
    assert write_if_changed(str(path), "y")
    path.write_text(" " * 2000 + BANNER)
    assert refused(path, "z") == "not-generated"


def test_links_and_devices(tmp_path: Path) -> None:
    real, link = tmp_path / "real.c", tmp_path / "link.c"
    real.write_text(BANNER)
    link.symlink_to(real)
    assert write_if_changed(str(link), BANNER + "x")
    assert link.is_symlink() and real.read_text().endswith("x")
    assert write_if_changed("/dev/null", "x")


def test_unwritable(tmp_path: Path) -> None:
    assert refused(tmp_path, "x") == "cannot-write"
    assert refused(tmp_path / "no" / "such.c", "x") == "cannot-write"
    assert refused("bad\0name", "x") == "cannot-write"


def test_read_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.c"
    path.write_bytes(b"a\r\n\xff\xc3\xa9")
    assert read_source(str(path)) == "a\r\n\udcffé"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\r\n")))
    assert read_source("-") == "x\r\n"
    path.write_bytes(b"a\0b")
    for bad in (path, tmp_path, tmp_path / "absent.c"):
        with pytest.raises(InputError) as caught:
            read_source(str(bad))
        assert caught.value.id == "cannot-read" and caught.value.loc.file == str(bad)
