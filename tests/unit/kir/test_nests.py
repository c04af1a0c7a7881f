"""Kernels in a given order of loops are proven from their trees, and what the proof accepts runs right: faults planted
at every node are refused, or compute the same."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from codegen.isa.load import load as load_isa
from codegen.isa.model import Isa
from codegen.kir.evaluate import Run, Wrong
from codegen.kir.nodes import Function
from codegen.kir.wellformed import check
from codegen.lower.nest.build import kernel_function
from codegen.lower.nest.contraction import TENSORS, Contraction, elements, parse, strides
from codegen.lower.nest.kernel import NestKernel, OrderedContraction, kernel_of
from codegen.lower.nest.loops import parse_nest
from codegen.verify.kernel.nest import wrong_nest
from tests.kir.mutants import sampled

NESTS = {
    "rows left over, right packed": ("f64 C[i,j] += A[i,k] * B[k,j] : i=7 k=18 j=13", "i1+3 k18[B] i4 j13"),
    "left packed": ("f64 C[i,j] += A[i,k] * B[k,j] : i=8 k=9 j=24", "i1+3[A] j1+8 k9 i5 j16"),
    "threads": ("f32 C[i,j] += A[i,k] * B[k,j] : i=20 k=12 j=28", "i4[T] j1+12[B] k12 i5 j16"),
    "convolution": ("f32 C[o,r] += A[c,r+x] * B[o,c,x] : o=6 c=5 x=3 r=40", "o2 c5 x3 o3 r40"),
    "two sums": ("f32 C[i,j] += A[i,k,l] * B[k,l,j] : i=8 k=4 l=6 j=12", "i2 k4 l6 i4 j12"),
}


@cache
def kernel(name: str, isa: str = "avx2") -> tuple[Isa, NestKernel, Function]:
    problem = parse(NESTS[name][0])
    made = kernel_of("k", OrderedContraction(problem, parse_nest(NESTS[name][1], problem)[0]), load_isa(isa))
    return load_isa(isa), made, kernel_function(load_isa(isa), made)


def proven(isa: Isa, problem: Contraction, f: Function) -> bool:
    return wrong_nest(isa, problem, f) == ""


class Terms:
    """Values that say how they were computed; equal ones are one object, so that they are quick to compare."""

    def __init__(self) -> None:
        self.known: dict[tuple[Any, ...], str] = {}

    def of(self, op: str, *args: Any) -> str:
        """The value of an operation; factors in one order, since a product of two numbers does not depend on it."""
        parts = (op, *(sorted(args, key=str) if op == "*" else args))
        return self.known.setdefault(parts, f"term {len(self.known)}")


TERMS = Terms()


def expected(problem: Contraction) -> list[Any]:
    """Elements of C after the source's nest."""
    found: list[Any] = [TERMS.of("c", n) for n in range(elements(problem, "C"))]
    order = [n for n in problem.names if n in problem.c] + list(problem.reductions)
    moves = [strides(problem, t) for t in TENSORS]
    for point in itertools.product(*(range(dict(problem.sizes)[n]) for n in order)):
        a, b, c = (sum(m[n] * x for n, x in zip(order, point, strict=True)) for m in moves)
        found[c] = TERMS.of("+", found[c], TERMS.of("*", TERMS.of("a", a), TERMS.of("b", b)))
    return found


def computed(problem: Contraction, f: Function) -> list[Any] | None:
    """Elements of C after the kernel; None where it goes wrong."""
    arrays = [[TERMS.of(t.lower(), n) for n in range(elements(problem, t))] for t in TENSORS]
    try:
        Run(TERMS.of).function(f, arrays)
    except Wrong:
        return None
    return arrays[2]


@pytest.mark.parametrize("isa", ["avx2", "avx512", "neon"])
@pytest.mark.parametrize("name", NESTS)
def test_kernels_are_proven_and_compute_the_contraction(name: str, isa: str) -> None:
    table, made, f = kernel(name, isa)
    check(f)
    assert wrong_nest(table, made.nest.problem, f) == ""
    assert computed(made.nest.problem, f) == expected(made.nest.problem)


@pytest.mark.parametrize("name", NESTS)
def test_planted_faults_are_refused(name: str) -> None:
    table, made, f = kernel(name)
    problem = made.nest.problem
    want, survivors, classes = expected(problem), [], set()
    for kind, mutant in sampled(f, 12):
        classes.add(kind)
        if proven(table, problem, mutant) and (kind == "a buffer shared" or computed(problem, mutant) != want):
            survivors.append((kind, mutant))
    assert not survivors, [kind for kind, _ in survivors]
    assert {"constant more", "statements exchanged", "another buffer", "Assign dropped", "Store repeated"} <= classes


def test_sums_in_another_order_are_refused() -> None:
    """The source runs through k first; a kernel that is right for sums over l first is none."""
    table, made, f = kernel("two sums")
    problem = made.nest.problem
    sizes = dict(problem.sizes)
    turned = replace(problem, sizes=tuple((n, sizes[n]) for n in ("i", "l", "k", "j")))
    assert wrong_nest(table, turned, f)
