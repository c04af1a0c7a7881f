"""Whether anything may be kept from run to run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codegen.startup import files


def test_nothing_is_kept_where_nothing_may_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for name, may in (("kept", True), ("__pycache__/kept", True), ("none/__pycache__/kept", False)):
        monkeypatch.setattr(files, "kept_file", lambda _, name=name: str(tmp_path / name))
        assert files.may_keep() == may
    monkeypatch.setattr(files, "kept_file", lambda _: str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert not files.may_keep()
