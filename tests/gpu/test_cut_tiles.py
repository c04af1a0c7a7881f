"""Products in tiles whose rows and columns are no box (triangles, bands): results equal to the original's, no element
beside them touched, and proofs that find other elements than the product has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.ast.ctree import Bin, Int
from codegen.gpu.dialect import CUDA
from codegen.gpu.region import made_for_device
from codegen.gpu.tiles.choose import nest_of
from codegen.gpu.tiles.cut import Cut, CutBox, wrong_cut
from codegen.gpu.tiles.find import Nest
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.region_model import model_region
from codegen.scop.model import Scop
from codegen.source_file import open_source
from tests.gpu.programs import build, needs_cxx

SOURCE = """#include <stdio.h>
#include <stdlib.h>
static void f(int n, int m, int l, TYPE A[n][l], TYPE B[l][m], TYPE C[n][m], TYPE alpha, int w)
{
  (void)alpha, (void)w;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = FIRST; j < PAST; j++)
      for (int k = 0; k < l; k++)
        C[i][j] += FACTOR A[i][k] * B[k][j];
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = atoi(argv[1]), m = atoi(argv[2]), l = atoi(argv[3]);
  TYPE *A = malloc(sizeof(TYPE) * n * l), *B = malloc(sizeof(TYPE) * m * l), *C = malloc(sizeof(TYPE) * n * m);
  for (int k = 0; k < n * l; k++)
    A[k] = (TYPE)(k * 7 % 23 * 0.37 - 3);
  for (int k = 0; k < m * l; k++)
    B[k] = (TYPE)(k * 5 % 19 * 0.61 - 4);
  for (int k = 0; k < n * m; k++)
    C[k] = (TYPE)(k % 13 ? k % 13 * 0.21 : -0.0);
  f(n, m, l, (void *)A, (void *)B, (void *)C, 3, 9);
  double sum = 0;
  for (int k = 0; k < n * m; k++)
    sum = sum * 0.99 + C[k];
  printf("%.17g %d\\n", sum, argc);
  return 0;
}
"""
MIN, MAX = "({0} < {1} ? {0} : {1})", "({0} > {1} ? {0} : {1})"
KINDS = {  # type, first and past-the-last column, and a factor
    "lower": ("float", "0", MIN.format("i + 1", "m"), ""),
    "strictly upper": ("double", "i + 1", "m", ""),
    "scaled": ("double", "0", MIN.format("i + 1", "m"), "alpha *"),
    "band": ("double", MAX.format("i - w", "0"), MIN.format("i + w", "m"), ""),
    "far corner": ("float", MAX.format("n - i", "0"), "m", "alpha *"),
}
TILES = {"float": "S1.i:4, S1.j:2 threads 8 by 8", "double": "S1.i:2, S1.j:4 threads 8 by 8 on m16n8k4"}
STAGES = "".join(f"  stage {a} in shared at S1.k:16 stages 3 pad 4\n" for a in "AB")


def source(kind: str) -> str:
    elem, first, past, factor = KINDS[kind]
    text = SOURCE.replace("FIRST", first).replace("PAST", past).replace("FACTOR ", f"{factor} ".lstrip())
    return text.replace("TYPE", elem)


@needs_cxx
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_product(tmp_path: Path, emulator: Path, kind: str) -> None:
    tile = TILES["float" if kind == "scaled" else KINDS[kind][0]]
    plan = f"region 1\n  grid i:4, j:32\n  registers {tile}\n{STAGES}"
    made = build("cut", tmp_path, emulator, source(kind), plan_text=plan)
    text = made.made.extra.file(".tw.cu")
    assert "f_r1_1_tile<" in text and "inside(first_i + row" in text
    for sizes in ((70, 50, 17), (36, 36, 16), (33, 64, 3), (1, 1, 1), (5, 3, 0)):
        ran = made.agree(*sizes)
        assert ran.counts["barriers"] or sizes[0] < 9


def test_the_tools_own_plan_has_tiles() -> None:
    made = generate("cut.c", source("strictly upper"), GenOptions(target="cuda", device="h200", stem="cut"))
    assert "registers S1.i:" in made.regions[0].plan and "m16n8k4" in made.regions[0].plan


@needs_cxx
def test_a_depth_that_changes_with_rows_has_tiles_beside_its_triangle(tmp_path: Path, emulator: Path) -> None:
    """In blocks of depth: what lies in the triangle of a block runs without tiles, the box behind it in some."""
    text = source("lower").replace("k = 0; k < l", "k = i; k < l")
    made = build("cut", tmp_path, emulator, text, device="h200")
    plan = made.made.regions[0].plan
    assert "registers S2.i:" in plan and "registers S1" not in plan
    for sizes in ((70, 50, 97), (36, 36, 16), (1, 1, 1), (5, 3, 0)):
        made.agree(*sizes)


def _nest(kind: str) -> tuple[Scop, Nest, CutBox]:
    options = GenOptions(target="cuda", device="h200")
    (found,) = open_source("cut.c", source(kind), options).slices
    model = model_region(found, options)
    assert model is not None
    made = made_for_device(model, options, CUDA)
    nest = nest_of(made.program.scop, made.code, "S1")
    assert nest.cut is not None
    return made.program.scop, nest, nest.cut


@pytest.mark.parametrize("kind", ["lower", "band"])
def test_other_elements_are_found(kind: str) -> None:
    scop, nest, box = _nest(kind)

    def wrong(changed: CutBox) -> str:
        return wrong_cut(scop, nest.statement, nest.instance, nest.what, changed, nest.depth)

    assert not wrong(box)
    first, *rest = box.cuts
    more = replace(first, value=Bin("+", first.value, Int(1)))
    less = replace(first, value=Bin("-", first.value, Int(1)))
    for cuts in ((more, *rest), (less, *rest), tuple(rest)):
        assert "other elements" in wrong(replace(box, cuts=cuts))
    assert "other elements" in wrong(replace(box, rows=(Bin("+", box.rows[0], Int(1)), box.rows[1])))
    assert "other elements" in wrong(replace(box, columns=(box.columns[0], Bin("-", box.columns[1], Int(1)))))
    for other in (replace(first, row=-first.row), replace(first, column=0), Cut(first.value, first.column, first.row)):
        assert "corners" in wrong(replace(box, cuts=(other, *rest)))
