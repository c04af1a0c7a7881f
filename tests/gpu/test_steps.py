"""Time steps of stencils in tiles that overlap: results equal to the original's, and proofs that find what is wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from codegen.diagnostics import Unsupported
from codegen.gpu.dialect import CUDA
from codegen.gpu.emit import device_part
from codegen.gpu.region import device_code
from codegen.gpu.steps import cells, prove, text
from codegen.gpu.steps.model import BARRIER, BlockShape, CarriedArray, StepEvent, StepTile
from codegen.gpu.steps.prove import wrong_steps
from codegen.gpu.steps.read_back import read_cell
from codegen.gpu.tiles.text import RegisterBody
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.region import ProvenRegion
from codegen.verify.text.read import Unread
from tests.gpu.programs import build, device_region, needs_cxx, why_refused

SOURCE = """#include <stdio.h>
#include <stdlib.h>
static void f(int t, int n, int m, TYPE A SIDES, TYPE B SIDES, const TYPE C SIDES, const TYPE *clock)
{
  (void)C, (void)clock, (void)m;
#pragma scop
  for (int s = 0; s < t; s++) {
    BODY
  }
#pragma endscop
}
int main(int argc, char **argv)
{
  int t = atoi(argv[1]), n = atoi(argv[2]), m = atoi(argv[3]), all = COUNT;
  TYPE *A = malloc(8 * all + 8), *B = malloc(8 * all + 8), *C = malloc(8 * all + 8), *clock = malloc(8 * t + 8);
  double sum = 0;
  for (int k = 0; k < all; k++)
    A[k] = k * 7 % 23 * 0.37, B[k] = k % 5 - 2, C[k] = k % 11 * 0.1;
  for (int k = 0; k < t; k++)
    clock[k] = k % 3 - 0.5;
  f(t, n, m, (void *)A, (void *)B, (void *)C, clock);
  for (int k = 0; k < all; k++)
    sum = sum * 0.99 + A[k] + B[k];
  printf("%.17g %d\\n", sum, argc);
  return 0;
}
"""
LOOPS = (
    "for (int i = {0}; i < n - {1}; i++) ",
    "for (int j = {0}; j < m - {1}; j++) ",
    "for (int k = {0}; k < m - {1}; k++) ",
)
SHAPE = {1: ("[n]", "n", "S1.i:64", "S2.i:64"), 2: ("[n][m]", "n * m", "S1.i:4, S1.j:64", "S2.i:4, S2.j:64"),
         3: ("[n][m][m]", "n * m * m", "S1.i:1, S1.j:4, S1.k:64", "S2.i:1, S2.j:4, S2.k:64")}  # fmt: skip
STAR = "0.2 * ({0}[i][j] + {0}[i][j - 1] + {0}[i][j + 1] + {0}[i + 1][j] + {0}[i - 1][j]);"
SOLID = "0.1 * {0}[i][j][k] + 0.2 * ({0}[i-1][j][k] + {0}[i+1][j][k] + {0}[i][j-1][k] + {0}[i][j][k+1]);"
KINDS = {  # type, axes, first and last points that are left out, the two sweeps, and the tile
    "star": ("double", 2, (1, 1), "B[i][j] = " + STAR.format("A"), "A[i][j] = " + STAR.format("B"),
             "2 of 16, 32 threads 128"),
    "float": ("float", 2, (1, 1), "B[i][j] = " + STAR.format("A"), "A[i][j] = " + STAR.format("B"),
              "3 of 24, 32 threads 64"),
    "far and to one side": ("double", 2, (2, 3), "B[i][j] = A[i][j - 2] + 0.5 * A[i + 3][j] - A[i - 2][j + 1];",
                            "A[i][j] = 0.5 * B[i][j];", "2 of 32, 32 threads 256"),
    "copied back": ("double", 2, (1, 1), "B[i][j] = C[i - 1][j] * A[i][j] + C[i][j] * A[i][j + 1];",
                    "A[i][j] = B[i][j] + clock[s];", "4 of 8, 32 threads 256"),
    "added to": ("double", 2, (1, 1), "B[i][j] = A[i - 1][j - 1] - A[i + 1][j + 1];", "A[i][j] += 0.1 * B[i][j];",
                 "1 of 8, 16 threads 64"),
    "choices": ("float", 2, (1, 1), "B[i][j] = A[i][j] > 1 ? A[i][j - 1] : 0.5f * A[i + 1][j];",
                "A[i][j] = B[i][j - 1] < 0 || B[i][j] > 2 ? 1 : B[i][j + 1];", "2 of 16, 16 threads 32"),
    "both kept": ("double", 2, (1, 1), "B[i][j] -= 0.5 * (A[i][j] - A[i - 1][j]);",
                  "A[i][j] = A[i][j] - 0.7 * (B[i + 1][j] - B[i][j] + B[i][j + 1]);", "2 of 16, 32 threads 128"),
    "line": ("double", 1, (1, 1), "B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]);",
             "A[i] = 0.3 * (B[i - 1] + B[i] + B[i + 1]);", "5 of 96 threads 32"),
    "solid": ("double", 3, (1, 1), "B[i][j][k] = " + SOLID.format("A"), "A[i][j][k] = " + SOLID.format("B"),
              "1 of 12, 8, 16 threads 256"),
}


def source(kind: str) -> str:
    elem, axes, ends, first, second, _ = KINDS[kind]
    loops = "".join(LOOPS[:axes]).format(*ends)
    text = SOURCE.replace("SIDES", SHAPE[axes][0]).replace("COUNT", SHAPE[axes][1]).replace("TYPE", elem)
    return text.replace("BODY", f"{loops}{first}\n    {loops}{second}")


def plan(kind: str, tile: str = "") -> str:
    grids = SHAPE[KINDS[kind][1]][2:]
    return f"region 1\n  grid {grids[0]}\n  grid {grids[1]}\n  steps S1.s by {tile or KINDS[kind][5]}\n"


@needs_cxx
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_steps(tmp_path: Path, emulator: Path, kind: str) -> None:
    built = build("stencil", tmp_path, emulator, source(kind), plan_text=plan(kind))
    assert "s += f_r1_1_steps(t - s, " in built.made.extra.file(".tw.cu")
    sizes = ((9, 12, 11), (23, 9, 7)) if KINDS[kind][1] == 3 else ((11, 40, 37), (23, 70, 19))
    for t, n, m in (*sizes, (0, 8, 8), (1, 8, 8), (24, 2, 5), (24, 6, 6), (24, 1, 1), (3, 0, 0)):
        built.agree(t, n, m)


@needs_cxx
@pytest.mark.parametrize(("kernel", "sizes"), [("fdtd-2d", (11, 30, 70)), ("jacobi-1d", (80, 900))])
def test_kernels(tmp_path: Path, emulator: Path, kernel: str, sizes: tuple[int, ...]) -> None:
    """With a sweep along one line, second copies of three arrays, and values by time."""
    built = build(kernel, tmp_path, emulator, device="h200")
    assert "_steps(" in built.made.extra.file(".tw.cu")
    built.agree(*sizes)
    built.agree(*sizes, env={"EMU_MEMORY": "60000"})  # too little for second copies: plain launches


@needs_cxx
def test_launches_are_few(tmp_path: Path, emulator: Path) -> None:
    """Two iterations in each: of 11, eight in four launches, and three plain ones of two launches each."""
    built = build("stencil", tmp_path, emulator, source("star"), plan_text=plan("star"))
    assert built.agree(11, 40, 37).counts["launches"] == 10
    assert built.agree(4, 40, 37).counts["launches"] == 8
    assert built.agree(5, 40, 37).counts["launches"] == 4


@needs_cxx
def test_the_last_launches_do_what_is_left(tmp_path: Path, emulator: Path) -> None:
    """Of 50 iterations, 32 in two launches of 16, 16 in two of 8, and two plain ones of two launches each. Of 4, less
    than is worth a launch are left."""
    built = build("jacobi-1d", tmp_path, emulator, device="h200")
    assert "STEPS = 16, LEAST = 2," in built.made.extra.file(".tw.cu")
    assert [built.agree(t, 900).counts["launches"] for t in (50, 5, 4)] == [8, 4, 8]


@pytest.mark.parametrize(
    ("kind", "tile", "why"),
    [
        ("star", "2 of 8, 32 threads 64", "all overlap"),
        ("star", "2 of 32 threads 32", "has 2 sides"),
        ("star", "2 of 32, 32 threads 48", "whole lines"),
        ("star", "2 of 30, 32 threads 128", "no equal parts"),
        ("star", "2 of 128, 128 threads 1024", "bytes of shared memory"),
        ("star", "2 of 32, 32", "whole lines"),
    ],
)
def test_a_plan_that_is_refused(kind: str, tile: str, why: str) -> None:
    assert why in why_refused(source(kind), plan(kind, tile))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("double A", "int A", "divide by zero"),
        ("A[i][j] = 0.2 * (B[i][j] + B[i][j - 1]", "A[j][i] = 0.2 * (B[i][j] + B[i][j - 1]", "sweeps of a stencil"),
    ],
)
def test_what_has_no_tiles(old: str, new: str, why: str) -> None:
    text = source("star").replace(old, new)
    assert text != source("star")
    assert why in why_refused(text, plan("star"))


@cache
def region(kind: str) -> tuple[ProvenRegion, StepTile]:
    options = GenOptions(target="cuda", plan_text=plan(kind))
    made = device_region(source(kind), options)
    (tile,) = device_code(made, options).steps
    return made, tile


def wrong(tile: StepTile) -> str:
    return wrong_steps(tile, 49152, 1024)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_right_is_proven(kind: str) -> None:
    assert wrong(region(kind)[1]) == ""


def test_margins_are_as_wide_as_values_travel() -> None:
    assert region("star")[1].margins == (4, 4) and region("line")[1].margins == (10,)
    assert region("far and to one side")[1].margins == (6, 4)
    assert region("copied back")[1].margins == (0, 4)  # nothing moves along the first axis


def test_planted_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each makes another proof fail."""
    tile = region("star")[1]
    s, loop = tile.stencil, tile.loop
    assert "come from cells that it does not have" in wrong(replace(tile, margins=(3, 4)))
    assert "come from cells that it does not have" in wrong(replace(tile, margins=(4, 3)))
    assert "come from cells" in wrong(replace(tile, shape=BlockShape(3, tile.shape.sides, tile.shape.threads)))
    for k in (1, 3):
        assert "do not meet" in wrong(replace(tile, loop=(*loop[:k], *loop[k + 1 :])))
    assert "before they were brought" in wrong(replace(tile, before=tile.before[:1]))
    assert "left out" in wrong(replace(tile, loop=loop[:2]))
    assert "another order" in wrong(replace(tile, loop=(*loop[2:], *loop[:2])))
    assert "handed on" in wrong(replace(tile, carried=()))
    assert "whose own ones are needed" in wrong(replace(tile, carried=(CarriedArray("A", "A"),)))
    swapped = replace(s, sweeps=(s.sweeps[1], s.sweeps[0]))
    assert "read before it is written" in wrong(replace(tile, stencil=swapped))
    own = replace(s.sweeps[0], arrays=("B", "B", *s.sweeps[0].arrays[2:]))
    assert "read before it is written" in wrong(replace(tile, stencil=replace(s, sweeps=(own, s.sweeps[1]))))
    twice = replace(s.sweeps[1], target="B")
    assert wrong(replace(tile, stencil=replace(s, sweeps=(s.sweeps[0], twice))))
    assert "others write in the same sweep" in prove.wrong_meetings(
        replace(tile, stencil=replace(s, sweeps=(replace(s.sweeps[0], target="A"), s.sweeps[1])))
    )
    assert wrong(replace(tile, loop=(*loop, StepEvent(BARRIER)))) == ""  # one more does no harm
    for name, value, why in (
        ("ROW", "chunk * ROWS + r / 2", "belongs to no thread, or to two"),
        ("ROW", "chunk * ROWS + r + 1", "belongs to no thread, or to two"),
        ("PLACE", {2: "p0 * (SIDE_1 - 1) + p1"}, "one place in shared memory"),
        ("first", lambda k: f"block * (SIDE_{k} - MARGIN_{k}) - MARGIN_{k}", "by no block, or by two"),
        ("first", lambda k: f"block * (SIDE_{k} - 2 * MARGIN_{k} - 1) - MARGIN_{k}", "by no block, or by two"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(prove if name == "PLACE" else cells, name, value)
            assert why in wrong(tile)


def test_a_point_that_is_computed_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = region("star")
    code = device_code(made, GenOptions(target="cuda"))
    plain = RegisterBody.statement
    faults = (("0.2", "0.3"), ("tw_p1 - 1", "tw_p1 - 2"), ("tw_r < ROWS - 1", "tw_r < ROWS"), ("tw_own[tw_r] + ", ""))
    for old, new in faults:
        with monkeypatch.context() as patch:
            patch.setattr(RegisterBody, "statement",
                          lambda self, s, at, a=old, b=new: plain(self, s, at).replace(a, b, 1))  # fmt: skip
            with pytest.raises(Unsupported):
                device_part(made.program.scop, made.program.deps, code, CUDA, "host")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A_tile[tw_row(tw_r + 2) * SIDE_1 + tw_within(tw_p1 - 1, SIDE_1)]", ("A_tile", (2, -1))),
        ("A_tile[tw_row(tw_r) * SIDE_1 + tw_p1]", ("A_tile", (0, 0))),
        ("tw_own[tw_r]", ("B_tile", (0, 0))),
        ("(tw_r >= 1 ? tw_own[tw_r - 1] : B_tile[tw_row(tw_r - 1) * SIDE_1 + tw_p1])", ("B_tile", (-1, 0))),
        ("(tw_r < ROWS - 2 ? tw_own[tw_r + 2] : B_tile[tw_row(tw_r + 2) * SIDE_1 + tw_p1])", ("B_tile", (2, 0))),
        ("(tw_r >= 0 ? tw_own[tw_r - 1] : B_tile[tw_row(tw_r - 1) * SIDE_1 + tw_p1])", None),
        ("(tw_r < ROWS - 1 ? tw_own[tw_r + 2] : B_tile[tw_row(tw_r + 2) * SIDE_1 + tw_p1])", None),
        ("(tw_r >= 1 ? tw_own[tw_r + 1] : B_tile[tw_row(tw_r + 1) * SIDE_1 + tw_p1])", None),
        ("(tw_r >= 1 ? tw_own[tw_r - 1] : A_tile[tw_row(tw_r - 1) * SIDE_1 + tw_p1])", None),
        ("(tw_r >= 2 ? tw_own[tw_r - 1] : B_tile[tw_row(tw_r - 2) * SIDE_1 + tw_p1])", None),
        ("A_tile[tw_row(tw_r) * SIDE_1 + tw_within(tw_p1 - 1, SIDE_0)]", None),
        ("A_tile[tw_row(tw_r) * SIDE_1 + tw_p1 - 1]", None),
        ("tw_own[tw_r + 1]", None),
    ],
)
def test_cells_are_read(text: str, wanted: tuple[str, tuple[int, ...]] | None) -> None:
    if wanted is not None:
        assert read_cell(text, "B_tile", 2) == wanted
        return
    with pytest.raises(Unread):
        read_cell(text, "B_tile", 2)


def test_a_cell_of_another_point_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = region("star")
    code = device_code(made, GenOptions(target="cuda"))
    place = text._Context._place
    monkeypatch.setattr(text._Context, "_place", lambda self, shift: place(self, [-d for d in shift]))
    with pytest.raises(Unsupported):
        device_part(made.program.scop, made.program.deps, code, CUDA, "host")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s += f_r1_1_steps(t - s, ", "s += f_r1_1_steps(t - s + 1, "),
        ("s += f_r1_1_steps(t - s, ", "s = f_r1_1_steps(t - s, "),
        ("s += f_r1_1_steps(t - s, n, m, A, B);", ""),
        ("n, m, A, B);", "n, m, B, A);"),
    ],
)
def test_a_call_that_is_another_one_is_refused(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    from codegen.gpu import read_back

    made, _ = region("star")
    code = device_code(made, GenOptions(target="cuda"))
    printed = read_back.printed_lines
    seen = printed(device_part(made.program.scop, made.program.deps, code, CUDA, "host")[0].body)
    assert old in seen
    monkeypatch.setattr(read_back, "printed_lines", lambda views: printed(views).replace(old, new))
    with pytest.raises(Unsupported):
        device_part(made.program.scop, made.program.deps, code, CUDA, "host")


def test_tiles_are_chosen_where_they_pay() -> None:
    """By the description of the device: one whose arithmetic is slower than its memory has nothing to gain."""
    plans = {d: generate("f.c", source("star"), GenOptions(target="cuda", stem="f", device=d)).plan
             for d in ("h200", "generic")}  # fmt: skip
    assert "steps S1.s by 3 of 64, 64 threads 512" in plans["h200"] and "steps" not in plans["generic"]
    assert "steps" not in generate("f.c", source("star"), GenOptions(target="opencl", stem="f", device="h200")).plan


@pytest.mark.parametrize("target", ["hip", "cuda"])
def test_both_interfaces(target: str) -> None:
    made = generate("f.c", source("star"), GenOptions(target=target, stem="f", plan_text=plan("star")))
    text = made.extra.file(".tw.hip" if target == "hip" else ".tw.cu")
    assert f"{target}FuncSetAttribute(" in text and "template <int STEPS> static __global__" in text
