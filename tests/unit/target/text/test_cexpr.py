"""Sums read as a person writes them: what is subtracted stands behind what is added, and nothing is computed in less
than 64 bits."""
from __future__ import annotations

import pytest

from codegen.ast.ctree import Bin, CExpr, Int, Name, Neg
from codegen.scop.model import Param
from codegen.scop.types import INT
from codegen.target.text.cexpr import IntPrinter

B, K, N = Name("b"), Name("k"), Name("n")
LESS = Bin("*", Int(-16), B)
PRINTER = IntPrinter({"n": Param("n", "n", INT)}, {})


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (Bin("+", LESS, K), "k - 16 * b"),
        (Bin("+", K, LESS), "k - 16 * b"),
        (Bin("+", Bin("+", LESS, K), Int(2)), "k + 2 - 16 * b"),
        (Bin("+", Bin("+", Bin("+", LESS, K), Int(2)), N), "k + 2 + n - 16 * b"),
        (Bin("+", LESS, Bin("*", Int(-3), K)), "-16 * b - 3 * k"),
        (Bin("+", LESS, Int(5)), "5 - 16 * b"),
        (Bin("-", LESS, Int(5)), "-16 * b - 5"),
        (Bin("-", K, Bin("+", LESS, N)), "k - (n - 16 * b)"),
        (Bin("+", Bin("*", Int(-1), N), Int(1)), "1 - (long)n"),
        (Bin("+", Bin("*", Int(-7), N), N), "n - 7 * (long)n"),
        (Bin("+", Neg(K), LESS), "-16 * b - k"),
    ],
)
def test_what_is_subtracted_comes_last(e: CExpr, text: str) -> None:
    assert PRINTER.text(e) == text
