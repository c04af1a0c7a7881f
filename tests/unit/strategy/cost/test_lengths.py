"""How often loops run when parameters are known, and estimates at such sizes."""

from __future__ import annotations

from math import prod

import pytest

from codegen.machine import load
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.scop.tree import enclosing
from codegen.source_file import open_source
from codegen.strategy.cost.cycles import cycles
from codegen.strategy.cost.lengths import mean_lengths
from codegen.transform.program import Program

MACHINE = load("neoverse-n1")
HEAD = "void f(int n, int m, double A[n][n], double x[n])"
TRIANGLE = "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) {inside}"
DEEP = TRIANGLE.format(inside="for (int k = 0; k < j; k++) A[i][j] += A[i][k] * A[j][k];")


def program(body: str) -> Program:
    text = f"{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


def lengths(body: str, **sizes: int) -> tuple[float, ...]:
    p = program(body)
    s = p.scop.statements[0]
    return mean_lengths(s, enclosing(p.tree, s.name), tuple(sizes.items()))


def test_boxes_are_counted() -> None:
    assert lengths("for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) A[i][j] = 0;", n=30, m=12) == (30, 11)


def test_triangles_are_counted() -> None:
    flat = lengths(TRIANGLE.format(inside="A[i][j] = 0;"), n=300)
    assert prod(flat) == pytest.approx(300 * 299 / 2, rel=0.01)
    assert prod(lengths(DEEP, n=300)) == pytest.approx(300 * 299 * 298 / 6, rel=0.02)


def test_steps_are_counted() -> None:
    assert lengths("for (int i = 0; i < n; i += 3) x[i] = 0;", n=30) == (10,)
    colours = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) if ((i + j) % 2 == 0) A[i][j] = 0;"
    assert lengths(colours, n=40) == (40, 20)


def test_nothing_runs_where_there_is_nothing() -> None:
    body = "for (int i = 5; i < n; i++) for (int j = 0; j < i; j++) A[i][j] = x[j];"
    assert prod(lengths(body, n=5)) == 0
    assert cycles(program(body), MACHINE, sizes=(("n", 5),)) == 0


def test_unknown_parameters_count_as_usual() -> None:
    assert lengths("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = 0;", n=30) == (30, 1000)


def test_triangles_take_their_part_of_the_time() -> None:
    p = program(DEEP)
    one, two = (cycles(p, MACHINE, sizes=(("n", n),)) for n in (400, 800))
    assert 6 < two / one < 10
