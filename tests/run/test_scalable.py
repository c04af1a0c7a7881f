"""The default text where compilers are told how long scalable vectors of AArch64 are: vectors and register tiles have
that length, and results are the source's."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.options import GenOptions
from tests.run.test_dispatch import SOURCE, compiled, made, printed
from tests.run.test_microkernel import compiler, runners

USUAL = GenOptions(fp_contract="off")
# What compilers are told beside -march, vectors of 16 bytes in qemu's processor, bytes of a vector, rows of a tile.
LENGTHS = [
    ((), 4, 16, 6),
    (("-msve-vector-bits=128",), 1, 16, 6),
    (("-msve-vector-bits=256",), 2, 32, 9),
    (("-msve-vector-bits=512",), 4, 64, 14),
]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    words = ["gcc", "-O1", "-ffp-contract=off", "-Wno-unknown-pragmas"]
    return printed(compiled(SOURCE, words, tmp_path_factory.mktemp("original")))


@pytest.mark.parametrize(("told", "length", "size", "rows"), LENGTHS, ids=str)
def test_vectors_of_told_length(
    tmp_path: Path, expected: str, told: tuple[str, ...], length: int, size: int, rows: int
) -> None:
    text = made(USUAL).text
    sizes = f"_Static_assert(TW_VECTOR_BYTES == {size} && TW_F64_ADD_MUL_MR == {rows}, \"\");\n"
    words = ["-O2", "-march=armv8.2-a+sve", *told, "-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    built = compiled(text + sizes, [compiler("aarch64"), *words, "-fopenmp", "-static"], tmp_path)
    for before in runners("sve", "aarch64", (f"max,sve-max-vq={length}",)):
        assert printed([*before, *built]) == expected
