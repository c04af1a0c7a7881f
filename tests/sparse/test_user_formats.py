"""Formats that are not built in, from files: to and from built-in ones, both chains."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.cli.main import main
from codegen.sparse.python.call import Converter
from codegen.sparse.python.kernel import KernelCall
from tests.sparse.inputs import cases
from tests.sparse.reference import Codec, decode, encode
from tests.sparse.test_conversions import pairs

FOLDER = Path(__file__).parent / "formats"
NAMES = ("square", "wide", "tall", "one", "nothing", "last", "hollow", "no rows", "sparse")


USER = ("anti", "bcoo", "diat", "down", "ellt", "jds")


@pytest.mark.parametrize("name", USER)
def test_there_and_back(name: str) -> None:
    path = str(FOLDER / f"{name}.fmt")
    there, plain, threads = (Converter("COO", path, **k) for k in ({}, {"optimize": False}, {"threads": 2}))
    back, rows = Converter(path, "CSR"), Converter("CSR", path)
    spmv = KernelCall("y(i) = A(i,j)*x(j)", {"A": path}, flags=("-O1",))
    for case in NAMES:
        shape, entries = cases(2)[case]
        codec = Codec(shape)
        made = there(**encode("COO", codec, entries))
        assert sorted(decode(path, codec, made)) == sorted(entries), case
        for other in (plain, threads):
            again = other(**encode("COO", codec, entries))
            assert all(np.array_equal(made[k], again[k]) for k in made), case
        assert sorted(decode("CSR", codec, back(**made))) == sorted(entries), case
        assert sorted(decode(path, codec, rows(**encode("CSR", codec, entries)))) == sorted(entries), case
        x, y = np.arange(shape[1], dtype=float), np.zeros(shape[0])
        spmv(y=y, A=made, x=x)
        full = np.zeros(shape)
        for c, v in entries:
            full[c] += v
        np.testing.assert_allclose(y, full @ x)


@pytest.mark.slow
def test_every_pair_with_sanitizers() -> None:
    """With one another, and with built-in formats of every family; duplicates are added."""
    mine = ",".join(str(FOLDER / f"{name}.fmt") for name in USER)
    assert " 0 failures" in pairs("2", "--formats", f"COO,CSR,CSC,DIA,ELL,BCSR:3x2,HICOO2,{mine}", "--with", mine,
                                  "--policies", "sum")


def test_files_work_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(FOLDER / "anti.fmt")
    assert main(["sparse", "convert", "--from", "CSR", "--to", path, "-o", str(tmp_path / "c.c")]) == 0
    assert "tw_key_DIAGONAL" in (tmp_path / "c.c").read_text() and "anti_f64_i32" in (tmp_path / "c.h").read_text()
    assert main(["sparse", "formats", path]) == 0
    assert "key DIAGONAL" in capsys.readouterr().out
