"""Kernels of several sparse operands, diagonals, scalars that divide, and names that generated code has, too."""
from __future__ import annotations

import numpy as np
import pytest

from codegen.sparse.kernels.notation import read_kernel
from codegen.sparse.python.call import ConversionError
from codegen.sparse.python.kernel import KernelCall
from tests.sparse.fuzz_kernels import judged, run
from tests.sparse.reference import Codec, encode

KERNELS = [
    ("y(i) = A(i,i)*x(i)", {"A": "CSR"}), ("s = A(i,i)", {"A": "DIA"}),
    ("y(j) = A(i,j)*B(j,j)*x(i)", {"A": "CSC", "B": "CSR"}),
    ("s = A(i,j)*B(i,j)", {"A": "CSR", "B": "CSC"}), ("s = x(i)*z(i)", {"x": "COO1", "z": "COO1"}),
    ("y(i) = A(i,j)*x(j)", {"A": "CSC", "x": "COO1"}), ("y(i) = A(i,j)*x(j)", {"A": "CSR", "x": "COO1", "y": "SCOO1"}),
    ("y(i) = A(i,j)*B(j,k)*x(k)", {"A": "CSR", "B": "COO"}), ("Y(i,k) = A(i,j)*B(j,k)", {"A": "ELL", "B": "CSR"}),
    ("C(i,l) = A(i,j)*B(j,k)*D(k,l)", {"A": "CSR", "B": "CSR", "D": "CSR", "C": "CSC"}),
    ("Y(i,j) = X(i,j,k)*v(k)", {"X": "CSF", "Y": "CSR"}), ("Y(i,j,r) = X(i,j,k)*U(k,r)", {"X": "COO3", "Y": "CSF"}),
    ("C(i,j) = A(j,i)", {"A": "CSR", "C": "BCSR"}),
    ("C(i,j) = A(i,j)*b(i)/d + 2e-1*B(j,i)", {"A": "CSR", "B": "ELL", "C": "CSR"}),
    ("y(i) = A(i,j)*(x(j) - 0.5*b(j))/d + 3*y(i)", {"A": "CSR"}),
    ("y(i) -= A(i,j)*x(j) + B(i,k)*z(k)", {"A": "CSR", "B": "DIA"}),
    ("Y(i,a) = sum*A(i,j)*X(j,a)", {"A": "CSR"}),
    ("C(i,j) = p*A(i,j) + c*B(i,j)", {"A": "CSR", "B": "CSR", "C": "CSR"}),
    ("made(i,k) = mark*rows(i,j)*q(j,k)", {"made": "CSR", "rows": "CSR", "q": "CSR"}),
]


@pytest.mark.parametrize("text, formats", KERNELS)
def test_against_einsum(text: str, formats: dict[str, str]) -> None:
    kernel = KernelCall(text, formats, flags=("-O1", "-Wall", "-Werror"))
    for seed in range(4):
        judged(kernel, read_kernel(text), formats, np.random.default_rng(seed))


def test_random_kernels_are_right_or_refused_by_name() -> None:
    """`python -m tests.sparse.fuzz_kernels --count 300` tries more."""
    right, _, wrong = run(12, 4000, ("-O0",))
    assert right and not wrong, wrong


def test_extents_must_agree() -> None:
    wide, tall = (encode("CSR", Codec(shape), []) for shape in ((3, 5), (5, 3)))
    x, y = np.zeros(5), np.zeros(3)
    with pytest.raises(ConversionError, match="out of range"):
        KernelCall("y(i) = A(i,j)*x(j) + B(i,j)*x(j)", {"A": "CSR", "B": "CSR"})(A=wide, B=tall, x=x, y=y)
    with pytest.raises(ConversionError, match="out of range"):
        KernelCall("y(i) = A(i,i)", {"A": "CSR"})(A=wide, y=y)
    with pytest.raises(ConversionError, match="out of range"):
        KernelCall("s = A(i,j)*B(i,j)", {"A": "CSR", "B": "CSR"})(A=wide, B=tall, s=np.zeros(1))


def test_values_are_added_where_the_kernel_says_so() -> None:
    a = encode("CSR", Codec((2, 2)), [((0, 1), 3.0), ((1, 0), 4.0)])
    c = np.array([10.0, 20.0])
    KernelCall("C(i,j) += 2*A(i,j)", {"A": "CSR", "C": "CSR"})(C=c, A=a)
    assert c.tolist() == [16.0, 28.0]


def test_a_system_s_triangle_may_be_said_in_either_order() -> None:
    a = encode("CSR", Codec((2, 2)), [((0, 0), 2.0), ((0, 1), 1.0), ((1, 1), 4.0)])
    for sign in ("j >= i", "i <= j"):
        x = np.zeros(2)
        KernelCall(f"L(i,j)*x(j) = b(i), {sign}", {"L": "CSR"})(x=x, L=a, b=np.array([4.0, 8.0]))
        assert x.tolist() == [1.0, 2.0]
