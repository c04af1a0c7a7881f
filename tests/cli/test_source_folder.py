"""The folder that a compiler cache sees twice, and flags of builds."""
from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import codegen
import tilewright
from codegen.cli.argv import normalize
from codegen.cli.wrap.source_folder import source_folder
from codegen.cli.wrap.wrapper import main as wrapper


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_the_same_text_has_the_same_place(temporary: Path) -> None:
    seen = []
    for text in (b"a", b"a", b"b"):
        with source_folder([(b"x.c", text)]) as folder:
            assert os.listdir(folder) == []
            Path(folder, "left").touch()
            seen.append(folder)
    assert seen[0] == seen[1] != seen[2]
    assert not list((temporary / f"tilewright-{os.getuid()}").iterdir())


def test_one_at_a_time(temporary: Path) -> None:
    inside: list[int] = []

    def use() -> None:
        with source_folder([(b"x.c", b"same")]) as folder:
            inside.append(len(os.listdir(folder)))
            Path(folder, "file").touch()

    threads = [threading.Thread(target=use) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert inside == [0] * 8


def test_a_folder_of_somebody_else_is_not_used(temporary: Path) -> None:
    base = temporary / f"tilewright-{os.getuid()}"
    base.mkdir()
    base.chmod(0o777)
    with source_folder([(b"x.c", b"a")]) as folder:
        assert base not in Path(folder).parents


def test_flags_of_compilers() -> None:
    words = ["gen", "x.c", "-g3", "-pipe", "-MMD", "-O", "-c", "-ggdb", "-gdwarf-4", "-pedantic", "-ansi", "-fopenmp"]
    assert normalize(words) == ["gen", "x.c", "-MD", "-O1", "-std=c90", "-fopenmp"]
    assert normalize(["gen", "--", "-g"]) == ["gen", "--", "-g"]


def test_version_of_the_wrapper(capsys: pytest.CaptureFixture[str]) -> None:
    assert wrapper(["--version"]) == 0
    assert capsys.readouterr().out == f"tilewright-cc {codegen.__version__}\n"


def test_public_name() -> None:
    assert tilewright.generate is codegen.generate and tilewright.__version__ == codegen.__version__
    assert set(codegen.__all__) <= set(dir(tilewright))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tilewright.nothing
