"""What a step costs on an instruction set: operations, registers, and how the left operand is best read."""

from __future__ import annotations

import pytest

from codegen.isa.live_registers import Demand, demand
from codegen.isa.load import load
from codegen.isa.text import spreads
from codegen.scop.lanes import Lane

A, B, C, S = Lane("a"), Lane("b"), Lane("acc"), Lane("const")


def op(kind: str, *args: Lane) -> Lane:
    return Lane(kind, args)


GEMM = op("add", C, op("mul", A, B))
MIN_PLUS, FMIN_PLUS = (op(kind, C, op("add", A, B)) for kind in ("min", "fmin"))
PAIR = op("add", C, op("add", op("mul", A, B), op("mul", Lane("a", (), 1), Lane("b", (), 1))))


@pytest.mark.parametrize(("isa", "elem", "step", "wanted"), [
    ("neon", "f64", GEMM, Demand(1, 0, 0)),
    ("neon", "f64", FMIN_PLUS, Demand(2, 1, 0)),
    ("neon", "f64", MIN_PLUS, Demand(3, 2, 0)),  # the sum waits for its comparison
    ("neon", "i32", MIN_PLUS, Demand(2, 1, 0)),
    ("neon", "f64", PAIR, Demand(3, 1, 0)),
    ("neon", "i64", op("wrap8", GEMM), Demand(5, 1, 2)),
    ("avx2", "f64", MIN_PLUS, Demand(2, 1, 0)),
    ("avx2", "f64", FMIN_PLUS, Demand(4, 2, 0)),
    ("generic", "f64", GEMM, Demand(1, 0, 0)),  # where the processor has one
    ("generic", "i32", GEMM, Demand(2, 1, 0)),
    ("neon", "f64", C, Demand(0, 0, 0)),
])  # fmt: skip
def test_demand(isa: str, elem: str, step: Lane, wanted: Demand) -> None:
    assert demand(load(isa).vec(elem), step) == wanted


@pytest.mark.parametrize(("isa", "elem", "step", "wanted"), [
    ("neon", "f64", GEMM, False),  # lanes
    ("neon", "f64", op("max", C, op("mul", A, B)), False),
    ("neon", "f64", MIN_PLUS, True),
    ("neon", "u8", op("or", C, op("and", A, B)), True),
    ("neon", "i64", GEMM, True),  # no products of lanes
    ("sve", "f64", MIN_PLUS, False),  # loads that fill all lanes, and vectors of any length
    ("avx2", "f64", MIN_PLUS, False),
    ("avx2", "i16", GEMM, True),
    ("avx512", "f32", MIN_PLUS, False),
    ("generic", "f64", GEMM, False),  # a scalar beside a vector: compilers know best
    ("generic", "f64", MIN_PLUS, True),
])  # fmt: skip
def test_who_spreads(isa: str, elem: str, step: Lane, wanted: bool) -> None:
    assert spreads(load(isa), elem, step) is wanted
