"""Names of kernels say what they compute, and different kernels have different names."""

from __future__ import annotations

from dataclasses import replace

from codegen.isa.load import load
from codegen.scop.lanes import Lane, spelled
from codegen.target.matvec.kernel import MatvecKernel, name

ACC, A, B, S = Lane("acc"), Lane("a"), Lane("b"), Lane("const")
MUL = Lane("mul", (A, B))


def test_steps_are_spelled() -> None:
    two = Lane("add", (Lane("add", (ACC, MUL)), Lane("mul", (Lane("a", (), 1), Lane("b", (), 1)))))
    assert spelled(Lane("add", (ACC, MUL)), (1, 1, 0)) == "add_mul"
    assert spelled(Lane("add", (MUL, ACC)), (1, 1, 0)) == "add_mul_a_b_acc"
    assert spelled(two, (2, 2, 0)) == "add_add_acc_mul_a_b_mul_a1_b1"
    assert spelled(Lane("and", (ACC, Lane("number", (), -1))), (0, 1, 0)) == "and_acc_numberm1_of_0_1_0"
    assert spelled(Lane("sub", (ACC, Lane("mul", (S, A)))), (1, 0, 1)) == "sub_acc_mul_s0_a"


def test_matrix_vector_kernels_are_told_apart() -> None:
    one = MatvecKernel("lanes", "f64", Lane("add", (ACC, MUL)), 1, 1, 0, 7, 4, 8, 64)
    assert name(load("generic"), one) == "tw_v128_f64_lanes_7x4or8_add_mul_p64"
    others = [replace(one, form="across"), replace(one, elem="f32"), replace(one, streams=6), replace(one, vectors=2)]
    others += [replace(one, alone=4), replace(one, ahead=8), replace(one, matrices=2), replace(one, operands=2)]
    others += [replace(one, consts=1), replace(one, step=Lane("sub", (ACC, MUL)))]
    assert len({name(load("generic"), x) for x in (one, *others)}) == 1 + len(others)
