"""Conditions that types decide are not printed: compilers warn of them."""
from __future__ import annotations

import pytest

from codegen.ast.ctree import Bin, CExpr, Cond, Int, Name, Neg
from codegen.scop.model import Param
from codegen.scop.types import INT, UNSIGNED
from codegen.target.text.cexpr import IntPrinter

N, M, K = Name("n"), Name("m"), Name("i")
PARAMS = {"n": Param("n", "n", INT), "m": Param("m", "m", UNSIGNED[32])}
ALWAYS = Bin(">=", M, Int(-1))  # for a type without a sign


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (ALWAYS, "1"),
        (Bin("<=", M, Int(-1)), "0"),
        (Bin("<=", M, Int(4294967295)), "1"),
        (Bin("<", Bin("-", Neg(M), Int(1)), Int(0)), "1"),
        (Bin("==", M, Int(-2)), "0"),
        (Bin(">", M, Int(0)), "(long)m > 0"),
        (Bin("<=", N, Int(2147483646)), "n <= 2147483646"),
        (Bin(">=", K, Int(-1)), "i >= -1"),
        (Bin("&&", ALWAYS, Bin("==", N, Int(3))), "n == 3"),
        (Bin("||", Bin("==", N, Int(3)), Bin("&&", Bin("<", M, Int(0)), Bin("<", N, K))), "n == 3"),
        (Bin("||", Bin("==", N, Int(3)), ALWAYS), "1"),
        (Cond(Bin("<", M, Int(0)), K, Bin("+", K, Int(1))), "i + 1"),
    ],
)
def test_what_types_decide_is_left_out(e: CExpr, text: str) -> None:
    assert IntPrinter(PARAMS, {}).text(e) == text
