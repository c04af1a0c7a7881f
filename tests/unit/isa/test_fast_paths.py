"""Which chains of minima and maxima have a cheaper form, and which must not."""

from __future__ import annotations

import pytest

from codegen.isa.fast_paths import FastPath, extreme, fast_path_of
from codegen.isa.load import load
from codegen.scop.lanes import Lane
from codegen.target.product.microkernel import MicroKernel, micro_kernel

A, B, ACC, S = Lane("a"), Lane("b"), Lane("acc"), Lane("const")


def op(kind: str, *args: Lane) -> Lane:
    return Lane(kind, args)


SUM = op("add", A, B)
LEAST, MOST = (FastPath(op(kind, SUM, ACC), "nought") for kind in ("anymin", "anymax"))


@pytest.mark.parametrize(("step", "wanted"), [
    (op("min", ACC, SUM), LEAST),
    (op("min", SUM, ACC), LEAST),
    (op("max", SUM, ACC), MOST),
    (op("select", op("le", ACC, SUM), ACC, SUM), LEAST),
    (op("select", op("ge", SUM, ACC), ACC, SUM), LEAST),
    (op("select", op("lt", ACC, SUM), SUM, ACC), MOST),
    (op("min", ACC, op("max", A, B)), FastPath(op("anymin", op("anymax", A, B), ACC), "nought")),
    (op("max", ACC, op("mul", S, op("min", A, B))),
     FastPath(op("anymax", op("mul", S, op("anymin", A, B)), ACC), "nought")),
    # The sign of a zero makes infinities of both signs, and a comparison drops NaN: what is below stays as it is.
    (op("min", ACC, op("div", A, op("max", A, B))),
     FastPath(op("anymin", op("div", A, op("max", A, B)), ACC), "nought")),
    (op("min", ACC, op("fmax", A, B)), FastPath(op("anymin", op("fmax", A, B), ACC), "nought")),
    # No chains, or nothing to gain.
    (op("fmin", ACC, SUM), None),
    (op("min", ACC, op("add", ACC, A)), None),
    (op("min", A, B), None),
    (op("add", ACC, op("min", A, B)), None),
    (op("select", op("lt", ACC, SUM), ACC, A), None),
    (op("select", op("eq", ACC, SUM), ACC, SUM), None),
])  # fmt: skip
def test_neon(step: Lane, wanted: FastPath | None) -> None:
    for isa in ("neon", "sve"):
        assert fast_path_of(load(isa).vec("f64"), step) == wanted


def test_elsewhere() -> None:
    """x86 has the ternary in one instruction, and fmin in none."""
    for isa in ("avx2", "avx512"):
        vec = load(isa).vec("f32")
        assert fast_path_of(vec, op("min", ACC, SUM)) is None
        assert fast_path_of(vec, op("fmin", ACC, SUM)) == FastPath(op("min", SUM, ACC), "nan")
        assert fast_path_of(vec, op("fmax", SUM, ACC)) == FastPath(op("max", SUM, ACC), "nan")
        inner = op("fmax", A, B)  # exact: min would not see its NaN
        assert fast_path_of(vec, op("fmin", ACC, inner)) == FastPath(op("min", inner, ACC), "nan")
    assert fast_path_of(load("neon").vec("i32"), op("min", ACC, SUM)) is None
    assert fast_path_of(load("generic").vec("f64"), op("min", ACC, SUM)) is None


def test_extremes() -> None:
    assert extreme(op("select", op("gt", A, B), A, B)) == ("max", (A, B))
    assert extreme(op("select", op("gt", A, B), B, A)) == ("min", (A, B))
    assert extreme(SUM) == extreme(op("fmin", A, B)) == ("", ())


def test_kernel_text() -> None:
    """Both loops, the exact one only after doubt."""
    text = micro_kernel(load("neon"), MicroKernel("f64", op("min", ACC, SUM), 0, 2, 1, unroll=2))
    quick, exact = text.index("vminq_f64("), text.index("tw_neon_min_f64(")
    assert quick < text.index("if (doubtful) {") < exact and text.count("doubtful = ") == 2
    assert "doubtful" not in micro_kernel(load("neon"), MicroKernel("f64", op("fmin", ACC, SUM), 0, 2, 1))
