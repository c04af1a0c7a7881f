"""Factorizations and triangular solves in panels against the source, bit for bit, with blocks that small sizes fill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.strategy.products import panels
from tests.corpus import some
from tests.run.products import Case, loops, region
from tests.run.test_microkernel import compiler, runners
from tests.run.test_products import MACHINES, Build, made_of

UPDATE = "C[i][j] -= C[i][k] * C[k][j];"
CROUT = f"""  for (int i = 0; i < n; i++) {{
    for (int j = 0; j < i; j++) {{
      for (int k = 0; k < j; k++) {UPDATE}
      C[i][j] /= C[j][j];
    }}
    for (int j = i; j < n; j++)
      for (int k = 0; k < i; k++) {UPDATE}
  }}"""
RIGHT = f"""  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {{
      C[i][k] /= C[k][k];
      for (int j = k + 1; j < n; j++) {UPDATE}
    }}"""
CHOLESKY = """  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        C[i][j] -= C[i][k] * C[j][k];
      C[i][j] /= C[j][j];
    }
    for (int k = 0; k < i; k++)
      C[i][i] -= C[i][k] * C[i][k];
    C[i][i] = sqrt(fabs(C[i][i]) + 1);
  }"""
SCALAR = """  double acc;
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      acc = C[i][j];
      for (int k = 0; k < j; k++)
        acc -= C[i][k] * C[k][j];
      C[i][j] = acc / C[j][j];
    }
    for (int j = i; j < n; j++) {
      acc = C[i][j];
      for (int k = 0; k < i; k++)
        acc -= C[i][k] * C[k][j];
      C[i][j] = acc;
    }
  }
  for (int i = 0; i < n; i++) {
    acc = A[i][0];
    for (int j = 0; j < i; j++)
      acc -= C[i][j] * B[j][0];
    B[i][0] = acc;
  }
#pragma endscop"""
SQUARE = ("double C[restrict n][n]", "double A[restrict n][n]", "double B[restrict n][n]")
SIDES = ("double C[restrict n][m]", "double A[restrict n][n]", "double B[restrict m][m]")


def _typed(texts: tuple[str, str, str], t: str) -> tuple[str, str, str]:
    c, a, b = (x.replace("double", t) for x in texts)
    return c, a, b


def cases() -> Iterator[Case]:
    def case(name: str, body: str, arrays: tuple[str, str, str], t: str = "double", blocked: bool = True) -> Case:
        text = region(name, body, *_typed(arrays, t))
        if "#pragma scop" in body:
            text = text.replace(f"#pragma scop\n{body}\n#pragma endscop", body)
        return Case(name, text, (t,) * 3, data="small", blocked=blocked)

    for t in ("double", "float"):
        yield case(f"crout_{t}", CROUT, SQUARE, t)
        yield case(f"right_{t}", RIGHT, SQUARE, t)
    yield case("cholesky", CHOLESKY, SQUARE)
    yield case("scalar", SCALAR, SQUARE)
    # Without divisions: integers that wrap, and the shortest ways through lower numbers.
    for t in ("uint32_t", "int64_t", "uint8_t"):
        yield case(f"unit_{t}", loops("k:0:n", "i:k + 1:n", "j:k + 1:n") + UPDATE, SQUARE, t)
    way = "C[i][j] = MIN(C[i][j], C[i][k] + C[k][j]);"
    yield case("ways", loops("k:0:n", "i:k + 1:n", "j:k + 1:n") + way, SQUARE)
    # From other first values on, over a band beside the diagonal, and counted from below zero.
    yield case("later", loops("k:2:n - 1", "i:k + 2:n", "j:k + 1:n") + UPDATE, SQUARE)
    yield case(
        "below",
        loops("k:-3:n - 3", "i:k + 1:n - 3", "j:k + 1:n - 3") + "C[i + 3][j + 3] -= C[i + 3][k + 3] * C[k + 3][j + 3];",
        SQUARE,
    )
    lower = "{ for (int k = 0; k < i; k++) C[i][j] -= A[i][k] * C[k][j]; C[i][j] /= A[i][i]; }"
    yield case("lower", loops("i:0:n", "j:0:m") + lower, SIDES)
    # From the right, and from the last row on: the sum begins with what was finished first.
    yield case(
        "side",
        loops("j:0:m", "i:0:n") + "{ for (int k = 0; k < j; k++) C[i][j] -= C[i][k] * B[k][j]; C[i][j] /= B[j][j]; }",
        SIDES,
    )
    upper = "{ for (int k = n - 1; k > i; k--) C[i][j] -= A[i][k] * C[k][j]; C[i][j] /= A[i][i]; }"
    yield case("upper", "  for (int i = n - 1; i >= 0; i--)\n    for (int j = 0; j < m; j++)\n" + upper, SIDES)
    yield case(
        "order",
        "  for (int i = n - 1; i >= 0; i--)\n    for (int j = 0; j < m; j++)\n"
        + upper.replace("k = n - 1; k > i; k--", "k = i + 1; k < n; k++"),
        SIDES,
        blocked=False,
    )
    both = (
        loops("i:0:n", "j:0:m") + lower + "\n" + loops("i:0:n", "j:0:m") + "C[i][j] += 1;\n" + loops("i:0:n", "j:0:m")
    )
    yield case("both", both + lower, SIDES)
    # What lies beyond is looked at while the block runs; what it needs is changed while the block runs.
    yield case(
        "watched",
        loops("k:0:n") + "{ A[0][k] = C[n - 1][n - 1]; " + loops("i:k + 1:n", "j:k + 1:n") + UPDATE + " }",
        SQUARE,
        blocked=False,
    )
    yield case("jordan", loops("k:0:n", "i:0:n") + "if (i != k) " + loops("j:k + 1:n") + UPDATE, SQUARE, blocked=False)


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "size"), [("generic", 5), ("neoverse-n1", 8), ("haswell", 3)])
def test_same_bits(machine: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isa, family, models = MACHINES[machine]
    cc, ways = compiler(family), runners(isa, family, models)
    monkeypatch.setattr(panels, "size", lambda *_: size)
    every = list(cases())
    mine = some(every, list(MACHINES).index(machine) % 2, 2 if machine == "generic" else 4)
    build = Build(tmp_path, mine, made_of(mine, machine).text, cc)
    for words in ways:
        assert build.output(*words) == "0 bad\n", words
