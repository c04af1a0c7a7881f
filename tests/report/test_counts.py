"""Figures and pictures of tiles, against what can be counted by hand."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.plan.model import LoopRef, Parallel, Skew, Tile
from codegen.region_model import model_region
from codegen.report.html.distances import distances
from codegen.report.html.slices import cuts
from codegen.report.sample import Sample, sample, tile_sizes
from codegen.report.traffic import operations, work_of
from codegen.scop.model import Statement
from codegen.source_file import open_source
from codegen.transform.apply import apply
from codegen.transform.program import Program

MATMUL = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
    c[i][j] += a[i][k] * b[k][j];"""
SWEEP = "for (int i = 1; i < n; i++) for (int j = 1; j < n - 1; j++) a[i][j] = a[i - 1][j - 1] + a[i - 1][j + 1];"


def _program(body: str, *directives: object) -> tuple[Program, Statement, Sample]:
    head = "void f(int n, double a[n][n], double b[n][n], double c[n][n])\n{\n#pragma scop\n"
    text = f"{head}{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    p = model.program
    for d in directives:
        p = apply(p, d)  # type: ignore[arg-type]
    s = p.scop.statements[0]
    at = sample(p.scop, p.tree, s)
    assert at is not None
    return p, s, at


def _tile(*sizes: tuple[str, int]) -> Tile:
    return Tile(tuple((LoopRef(name), n) for name, n in sizes))


def test_data_of_a_tile() -> None:
    p, s, at = _program(MATMUL, _tile(("i", 16), ("j", 32), ("k", 8)))
    assert tile_sizes(p.tree, s) == (16, 32, 8)
    work = work_of(p.scop, p.tree, s, at)
    assert dict(work.parts) == {"a": 16 * 8 * 8, "b": 8 * 32 * 8, "c": 16 * 32 * 8}
    assert work.moved == sum(n for _, n in work.parts) + 16 * 32 * 8
    assert operations(s) == 2 and work.operations == 2 * 16 * 32 * 8


def test_data_of_a_skewed_tile() -> None:
    """Four rows, each one further to the left: fewer elements than the box around them has."""
    p, s, at = _program(SWEEP, Skew(LoopRef("j"), 1, LoopRef("i")), _tile(("i", 4), ("j", 8)))
    work = work_of(p.scop, p.tree, s, at)
    assert dict(work.parts)["a"] == 4 * (8 + 3 + 2) * 8
    assert work.operations == 4 * 8


def test_cells_know_their_tile_and_thread() -> None:
    p, s, at = _program(MATMUL, _tile(("i", 4), ("j", 4), ("k", 4)), Parallel(LoopRef("it")))
    cut = next(c for c in cuts(p.tree, s, at) if (c.down, c.across) == (0, 1))
    assert len(cut.cells) == cut.shape[0] * cut.shape[1] and cut.steps == (1, 1)
    by_tile: dict[tuple[int, ...], set[tuple[int, int]]] = {}
    for c in cut.cells:
        by_tile.setdefault(c.tile, set()).add((c.row // 4, c.column // 4))
        assert c.lane is not None and c.lane // 4 == c.row // 4
    assert all(len(x) == 1 for x in by_tile.values()) and len({c.step for c in cut.cells}) == 1


@pytest.mark.parametrize("body, expected", [(SWEEP, {(1, -1), (1, 1)}), (MATMUL, {(0, 0)})])
def test_distances(body: str, expected: set[tuple[int, int]]) -> None:
    p, s, at = _program(body)
    shown, rest = distances(s, p.deps, at, 0, 1)
    assert {d.by for d in shown if d.kind == "flow"} == expected and not rest
