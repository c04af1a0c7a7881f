"""Formats that are not built in, from files: to and from built-in ones, both chains."""
from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from codegen.cli.main import main
from codegen.sparse.python.call import Converter
from codegen.sparse.python.kernel import KernelCall
from tests.sparse.inputs import cases
from tests.sparse.reference import Codec, Entry, decode, encode

FOLDER = Path(__file__).parent / "formats"
NAMES = ("square", "wide", "tall", "one", "nothing", "last", "hollow", "no rows", "sparse")


def read_ellt(a: dict, shape: tuple[int, int]) -> list[Entry]:
    col, val = a["col"].reshape(a["K"], shape[0]), a["val"].reshape(a["K"], shape[0])
    assert (val[col < 0] == 0).all()
    return [((int(i), int(col[s, i])), val[s, i].item()) for s, i in zip(*np.nonzero(col >= 0), strict=True)]


def read_bcoo(a: dict, shape: tuple[int, int]) -> list[Entry]:
    val = a["val"].reshape(-1, 3, 2)
    blocks = list(zip(a["brow"].tolist(), a["bcol"].tolist(), strict=True))
    assert blocks == sorted(set(blocks))
    return [((3 * blocks[b][0] + r, 2 * blocks[b][1] + c), val[b, r, c].item())
            for b, r, c in itertools.product(range(a["NB"]), range(3), range(2)) if val[b, r, c]]


def read_anti(a: dict, shape: tuple[int, int]) -> list[Entry]:
    out = Codec(shape).get_coo(a)
    keys = [(i + j, i) for (i, j), _ in out]
    assert keys == sorted(keys)
    return out


def read_down(a: dict, shape: tuple[int, int]) -> list[Entry]:
    out = Codec(shape).get_coo(a)
    rows = [i for (i, _), _ in out]
    assert rows == sorted(rows, reverse=True)
    return out


def read_diat(a: dict, shape: tuple[int, int]) -> list[Entry]:
    off = a["off"].tolist()
    assert off == sorted(set(off), reverse=True)
    val = a["val"].reshape(len(off), shape[0])
    return [((int(i), int(i) + off[d]), val[d, i].item()) for d, i in zip(*np.nonzero(val), strict=True)]


READ = {"ellt": read_ellt, "bcoo": read_bcoo, "anti": read_anti, "down": read_down, "diat": read_diat}


@pytest.mark.parametrize("name", sorted(READ))
def test_there_and_back(name: str) -> None:
    path = str(FOLDER / f"{name}.fmt")
    there, plain, threads = (Converter("COO", path, **k) for k in ({}, {"optimize": False}, {"threads": 2}))
    back, rows = Converter(path, "CSR"), Converter("CSR", path)
    spmv = KernelCall("y(i) = A(i,j)*x(j)", {"A": path}, flags=("-O1",))
    for case in NAMES:
        shape, entries = cases(2)[case]
        codec = Codec(shape)
        made = there(**encode("COO", codec, entries))
        assert sorted(READ[name](made, shape)) == sorted(entries), case
        for other in (plain, threads):
            again = other(**encode("COO", codec, entries))
            assert all(np.array_equal(made[k], again[k]) for k in made), case
        assert sorted(decode("CSR", codec, back(**made))) == sorted(entries), case
        assert sorted(READ[name](rows(**encode("CSR", codec, entries)), shape)) == sorted(entries), case
        x, y = np.arange(shape[1], dtype=float), np.zeros(shape[0])
        spmv(y=y, A=made, x=x)
        full = np.zeros(shape)
        for c, v in entries:
            full[c] += v
        np.testing.assert_allclose(y, full @ x)


def test_files_work_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(FOLDER / "anti.fmt")
    assert main(["sparse", "convert", "--from", "CSR", "--to", path, "-o", str(tmp_path / "c.c")]) == 0
    assert "tw_key_DIAGONAL" in (tmp_path / "c.c").read_text() and "anti_f64_i32" in (tmp_path / "c.h").read_text()
    assert main(["sparse", "formats", path]) == 0
    assert "key DIAGONAL" in capsys.readouterr().out
