"""Instruction sets from users' files."""
from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

import codegen
from codegen.isa import known as isas
from codegen.isa.known import use
from codegen.isa.load import load

PRODUCT = """\
void mm(int n, double A[n][n], double B[n][n], double C[n][n], double x[n], double y[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i] += A[j][i] * x[j];
#pragma endscop
}
"""


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    isas._own.clear()
    load.cache_clear()


def write(folder: Path, text: str) -> str:
    (folder / "own.toml").write_text(text, encoding="utf-8")
    return str(folder / "own.toml")


def test_a_copy_under_another_name_gives_the_same_kernels(tmp_path: Path) -> None:
    table = (resources.files("codegen.isa") / "data" / "avx2.toml").read_text(encoding="utf-8")
    path = write(tmp_path, table.replace('name = "avx2"', 'name = "mine"', 1))
    mine, built_in = (codegen.generate(PRODUCT, isa=isa, banner=False) for isa in (path, "avx2"))
    assert "tw_mine_" in mine.text and "isa mine bits 256" in str(mine.plan)
    assert re.sub(r"mine", "avx2", mine.text.replace("MINE", "AVX2")) == built_in.text


def test_machines_and_plans_know_it_by_its_name(tmp_path: Path) -> None:
    path = write(tmp_path, 'name = "half"\nlike = "generic"\nvector_bits = 64\nregisters = 8\n')
    made = codegen.generate(PRODUCT, isa=path)
    assert "--isa=own.toml" in made.text and str(tmp_path) not in made.text
    assert "isa half bits 64" in str(made.plan) and made.plan.apply(PRODUCT, isa=path, banner=False).transformed
    machine = tmp_path / "m.toml"
    shown = resources.files("codegen.machine") / "data" / "generic.toml"
    machine.write_text(shown.read_text(encoding="utf-8").replace('isa = "generic"', 'isa = "half"'), encoding="utf-8")
    assert "isa half" in str(codegen.generate(PRODUCT, isa=path, machine=str(machine)).plan)
    isas._own.clear()
    load.cache_clear()
    with pytest.raises(codegen.InputError, match=r"unknown isa 'half'.*--isa FILE"):
        codegen.generate(PRODUCT, machine=str(machine))
    with pytest.raises(codegen.InputError, match="no instruction set half with vectors of 64 bits"):
        made.plan.apply(PRODUCT)


HEAD = 'name = "own"\nlike = "generic"\nvector_bits = 128\n'


@pytest.mark.parametrize(("text", "line", "says"), [
    ("name = \n", 1, "not TOML"),
    ('name = "avx2"\nlike = "generic"\n', 1, "no built-in name"),
    ('name = "A-b"\n', 1, "'name' must be a word"),
    ('name = "own"\nlike = "mmx"\n', 2, "'like' must be one of generic"),
    ('name = "own"\nlike = "generic"\n', 1, "'vector_bits' must be a whole number"),
    ('name = "own"\nlike = "generic"\nvector_bits = 100\n', 3, "power of two"),
    ('name = "own"\nheader = ""\ntarget = ""\nregisters = 8\nvector_bits = 64\n', 1, r"no table \[words\]"),
    (HEAD + "color = 1\n", 4, "unknown key 'color'"),
    (HEAD + '[ops.all]\nsqrt = "sqrt({0})"\n', 5, r"\[ops.all\] has an operation 'sqrt' that nobody asks for"),
    (HEAD + "[ops.all]\nadd = 1\n", 5, "'add' in .* must be a string"),
    (HEAD + '[ops.f64]\nadd = "{0} + {2}"\n', 5, r"'add' must use \{0\}, \{1\}"),
    (HEAD + '[ops.f64]\nadd = "{0} + {1} {"\n', 5, "braces of C are written twice"),
    (HEAD + '[ops.f64]\nadd = "<plus>({0}, {1})"\n', 1, "nothing says what <plus> means"),
    (HEAD + '[ops.i8]\nlt = ""\n', 1, "there is no 'lt' for i8"),
])
def test_bad_tables(text: str, line: int, says: str, tmp_path: Path) -> None:
    with pytest.raises(codegen.InputError, match=says) as caught:
        use(write(tmp_path, text))
    assert (caught.value.id, caught.value.loc.line) == ("bad-isa", line)


def test_no_such_file() -> None:
    with pytest.raises(codegen.InputError, match="cannot read"):
        use("nowhere/isa.toml")
