"""Products in tiles: results equal to the original's, proofs that find what is wrong, and what the compiler says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codegen.cli.main import main
from codegen.diagnostics import InputError
from codegen.gpu.tiles import find, model, prove
from codegen.gpu.tiles.model import DEEP, UNITS, WIDE, Copies, DepthStaging, StagedOperand, ThreadTile
from codegen.gpu.tiles.order import (
    BARRIER,
    COMMIT,
    COPY,
    LOAD,
    STEP,
    WAIT,
    TileEvent,
    TileProgram,
    loading_ahead,
    pipelined,
)
from codegen.gpu.tiles.synchronization import wrong_order
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.gpu.programs import build, needs_cxx, run_program

SOURCE = """#include <stdio.h>
#include <stdlib.h>
static void f(int n, int m, int l, TYPE A[ROWS][LINE], TYPE B[DEEP][WIDE], TYPE C[n][m], TYPE alpha)
{
  (void)alpha;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        BODY
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
  f(n, m, l, (void *)A, (void *)B, (void *)C, 3);
  double sum = 0;
  for (int k = 0; k < n * m; k++)
    sum = sum * 0.99 + C[k];
  printf("%.17g %d\\n", sum, argc);
  return 0;
}
"""
PLAIN = "C[i][j] += A[i][k] * B[k][j];"
KINDS = {  # type of elements, statement, and whether A and B have their depth along rows of the array
    "float": ("float", PLAIN, "row", "column"),
    "double": ("double", PLAIN, "row", "column"),
    "short": ("short", PLAIN, "row", "column"),
    "left turned": ("float", "C[i][j] += A[k][i] * B[k][j];", "column", "column"),
    "right turned": ("double", "C[i][j] += A[i][k] * B[j][k];", "row", "row"),
    "both turned": ("float", "C[i][j] += A[k][i] * B[j][k];", "column", "row"),
    "scaled": ("double", "C[i][j] += alpha * A[i][k] * B[k][j];", "row", "column"),
    "least sums": ("float", "C[i][j] = C[i][j] < A[i][k] + B[k][j] ? C[i][j] : A[i][k] + B[k][j];", "row", "column"),
    "taken off": ("double", "C[i][j] -= A[i][k] * B[k][j];", "row", "column"),
}


def source(kind: str) -> str:
    elem, body, a, b = KINDS[kind]
    left, right = {"row": ("n", "l"), "column": ("l", "n")}[a], {"row": ("m", "l"), "column": ("l", "m")}[b]
    text = SOURCE.replace("ROWS", left[0]).replace("LINE", left[1]).replace("DEEP", right[0]).replace("WIDE", right[1])
    return text.replace("TYPE", elem).replace("BODY", body)


def plan(tile: str, pad: int = 4) -> str:
    stages = "".join(f"  stage {a} in shared at S1.k:16 stages 3 pad {pad}\n" for a in "AB")
    return f"region 1\n  grid i:4, j:32\n  registers {tile}\n{stages}"


UNIT = "S1.i:2, S1.j:4 threads 8 by 8 on m16n8k4"


@needs_cxx
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_product(tmp_path: Path, emulator: Path, kind: str) -> None:
    tile = UNIT if kind in ("double", "right turned") else f"S1.i:4, S1.j:{4 if kind == 'short' else 2} threads 8 by 8"
    tile = "S1.i:4, S1.j:4 threads 16 by 16" if kind == "both turned" else tile  # alone on a multiprocessor
    built = build("product", tmp_path, emulator, source(kind), plan_text=plan(tile, 8 if kind == "short" else 4))
    assert "f_r1_1_tile<" in built.made.extra.file(".tw.cu")
    for sizes in ((37, 20, 33), (36, 36, 16), (1, 1, 1), (5, 3, 0)):
        ran = built.agree(*sizes)
        assert bool(ran.counts["barriers"]) == (sizes[2] > 0)


@needs_cxx
def test_products_in_batches(tmp_path: Path, emulator: Path) -> None:
    stages = "".join(f"  stage {a} in shared at S1.l:16 stages 2 pad 4\n" for a in "AB")
    directives = f"region 1\n  grid b:1, i:4, j:32\n  registers S1.i:4, S1.j:2 threads 8 by 8\n{stages}"
    built = build("batched-gemm", tmp_path, emulator, plan_text=directives)
    assert "const long batch = (long)blockIdx.z;" in built.made.extra.file(".tw.cu")
    assert built.agree(3, 20, 18, 35).counts["barriers"] > 0


@needs_cxx
def test_many_tiles_below_each_other(tmp_path: Path, emulator: Path) -> None:
    """Blocks in groups, the last of which is not full."""
    built = build("product", tmp_path, emulator, source("float"), plan_text=plan("S1.i:4, S1.j:2 threads 8 by 8"))
    ran = built.agree(64 * 32 + 40, 3, 2)
    assert ran.counts["threads"] == 72 * 64


@needs_cxx
@pytest.mark.parametrize("sign", ["", "-"])
def test_units_round_once(tmp_path: Path, emulator: Path, sign: str) -> None:
    """Without TW_NO_FMA a unit's products are added without being rounded, or subtracted, as C allows; the order is the
    source's."""
    from codegen.gpu.emulation import emulator_folder
    from tests.gpu.programs import CXX, C, compiled

    text = source("double").replace(PLAIN, PLAIN.replace("+", sign or "+"))
    built = build("product", tmp_path, emulator, text, plan_text=plan(UNIT))
    flags = [x for x in CXX if x != "-DTW_NO_FMA"]
    words = ["g++", "-x", "c++", *flags, "-fsanitize=thread", "-I", str(emulator_folder()), "-c"]
    compiled([*words, str(tmp_path / "product.tw.cu"), "-o", str(tmp_path / "fused.o")])
    files = [str(tmp_path / "product.host.o"), str(tmp_path / "fused.o"), str(emulator)]
    compiled(["g++", *files, "-lm", "-lpthread", "-o", str(tmp_path / "fused")])
    text = source("double").replace(PLAIN, f"C[i][j] = __builtin_fma({sign}A[i][k], B[k][j], C[i][j]);")
    (tmp_path / "chain.c").write_text(text)
    compiled(["gcc", *C, str(tmp_path / "chain.c"), "-lm", "-o", str(tmp_path / "chain")])
    words = ["21", "18", "29"]
    fused, chain, plain = (run_program(tmp_path / p, words).out for p in ("fused", "chain", "product_original"))
    assert fused == chain != plain and built.agree(21, 18, 29)


def test_the_tools_own_plan_can_be_used_again() -> None:
    units = (("h200", "double", " on m16n8k4"), ("a100", "double", " on m8n8k4"), ("h200", "float", ""))
    for device, elem, unit in units:
        options = GenOptions(target="cuda", stem="f", device=device)
        made = generate("f.c", source(elem), options)
        (region,) = made.regions
        tile = "4, S1.j:16 threads 32 by 8" if unit else "8, S1.j:8 threads 8 by 16"
        assert f"registers S1.i:{tile}{unit}" in region.plan
        again = generate("f.c", source(elem), replace(options, plan_text=region.plan))
        first, second = (x.extra.file(".tw.cu").partition("*/")[2] for x in (made, again))
        assert first == second


@pytest.mark.parametrize(
    ("directives", "why"),
    [
        (plan("S1.i:4, S1.j:2 threads 3 by 8"), "threads are no multiples of 4 by 8"),
        (plan("S1.j:4, S1.i:2 threads 8 by 8"), "rows and columns of S1 are i and j"),
        (plan("S1.i:4, S1.j:2 threads 8 by 8 on m16n8k4"), "matrix units add up products of two numbers in double"),
        (plan("S1.i:4, S1.j:2 threads 8 by 8 on m1n1k1"), "there is no matrix unit m1n1k1"),
        (plan("S1.i:4, S1.j:2 threads 8 by 8", 1), "loads of `A` begin where 16 bytes cannot"),
        ("region 1\n  grid i:4, j:32\n  registers S1.i:4, S1.j:2 threads 8 by 8\n", "are staged along k"),
        ("region 1\n  grid i:4, j:32\n  stage A in shared at S1.k:8 stages 3\n", "S1 has no tile in registers"),
        ("region 1\n  registers S1.i:4, S1.j:2 threads 8 by 8\n", "has no threads of a grid"),
        (plan("S1.i:4, S1.j:2 threads 40 by 40"), "a block has 1 to 1024 threads"),
        (plan("S1.i:4, S1.j:2 threads 8 by 8").replace("stages 3", "stages 1"), "two stages at least"),
        (plan("S1.i:64, S1.j:64 threads 16 by 16"), "no device has so much shared memory"),
    ],
)
def test_a_plan_that_is_refused(directives: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        generate("f.c", source("float"), GenOptions(target="cuda", stem="f", plan_text=directives))


@pytest.mark.parametrize(("stages", "steps"), [(2, 1), (2, 4), (3, 2), (4, 8), (5, 1)])
def test_orders_are_proven(stages: int, steps: int) -> None:
    for order in (pipelined(stages, steps), *([] if steps % 2 else [loading_ahead(stages, steps)])):
        assert wrong_order(order, stages) == ""
        assert wrong_order(order, stages - 1) != ""  # with one room less


def changed(order: TileProgram, kind: str, **changes: Any) -> TileProgram:
    return replace(order, loop=tuple(replace(e, **changes) if e.kind == kind else e for e in order.loop))


ORDER, AHEAD = pipelined(3, 2), loading_ahead(3, 4)
FIRST = TileEvent(LOAD, 1, 0, only=1)  # the first step of the next part
WRONG = {
    "one set of registers": changed(changed(AHEAD, LOAD, registers=0), STEP, registers=0),
    "the other set": changed(AHEAD, STEP, registers=0),
    "the next part ahead of the barrier": replace(AHEAD, loop=(FIRST, *(e for e in AHEAD.loop if e != FIRST))),
    "the next part is not loaded": replace(AHEAD, loop=tuple(e for e in AHEAD.loop if e != FIRST)),
    "the first part is not loaded": replace(AHEAD, before=AHEAD.before[:-1]),
    "the first part without a wait": replace(AHEAD, before=tuple(e for e in AHEAD.before if e.kind != WAIT)),
    "loads of a part that is not there": replace(
        AHEAD, loop=tuple(replace(e, only=-1) if e == FIRST else e for e in AHEAD.loop)
    ),
    "the room that is read is written": replace(
        AHEAD, loop=tuple(replace(e, part=3, only=3) if e.kind == COPY else e for e in AHEAD.loop)
    ),
    "no barrier": replace(ORDER, loop=tuple(e for e in ORDER.loop if e.kind != BARRIER)),
    "no wait": replace(ORDER, loop=tuple(e for e in ORDER.loop if e.kind != WAIT)),
    "waits for too little": changed(ORDER, WAIT, behind=2),
    "a barrier for some threads": changed(ORDER, BARRIER, divergent=True),
    "copies ahead of the barrier": replace(ORDER, loop=(*ORDER.loop[2:4], *ORDER.loop[:2], *ORDER.loop[4:])),
    "parts the other way": replace(ORDER, before=(*ORDER.before[2:], *ORDER.before[:2])),
    "no group": replace(ORDER, loop=tuple(e for e in ORDER.loop if e.kind != COMMIT)),
    "a part too far ahead": changed(ORDER, COPY, part=3),
    "parts that are not there": changed(ORDER, COPY, only=1),
    "nothing ahead of the loop": replace(ORDER, before=()),
    "steps the wrong way": replace(ORDER, loop=(*ORDER.loop[:4], *ORDER.loop[6:], *ORDER.loop[4:6])),
    "registers of another step": replace(ORDER, loop=(*ORDER.loop[:5], ORDER.loop[6], ORDER.loop[5], ORDER.loop[7])),
    "a step without registers": replace(ORDER, loop=tuple(e for e in ORDER.loop if e != TileEvent(LOAD, 0, 1))),
    "a step left out": replace(ORDER, loop=tuple(e for e in ORDER.loop if e != TileEvent(STEP, 0, 1))),
}


@pytest.mark.parametrize("what", sorted(WRONG))
def test_a_wrong_order_is_found(what: str) -> None:
    assert wrong_order(WRONG[what], 3) != ""


TURNED = StagedOperand(1, "A", "float", 4, 0, "l", "1", "depth", WIDE, 4)  # by copies of single elements
LEFT = StagedOperand(1, "A", "float", 4, 0, "l", "1", "depth", DEEP, 4)
RIGHT = StagedOperand(2, "B", "float", 4, 1, "1", "m", "own", WIDE, 4)
TILE, STAGING = ThreadTile((8, 8), (4, 4)), DepthStaging(16, 3)
UNITS_TILE = ThreadTile((16, 8), (2, 8), UNITS["m16n8k4"])


def wrong(tile: ThreadTile = TILE, operands: tuple[StagedOperand, ...] = (LEFT, RIGHT)) -> str:
    return prove.wrong_tile(tile, STAGING, operands, 4, pipelined(3, 4))


@pytest.mark.parametrize("tile", [TILE, ThreadTile((4, 8), (8, 4)), ThreadTile((8, 16), (4, 2)), UNITS_TILE])
def test_layouts_are_proven(tile: ThreadTile) -> None:
    assert wrong(tile) == ""
    assert tile.unit or wrong(tile, (TURNED, RIGHT)) == ""


def test_a_wrong_turned_layout_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "loads of `A` begin where 16 bytes cannot" in wrong(operands=(replace(TURNED, pad=1), RIGHT))
    monkeypatch.setattr(prove, "copied", lambda o: replace(model.copied(o), step="THREADS / DEPTH + 1"))
    assert "copied by no thread, or twice" in wrong(operands=(TURNED, RIGHT))


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("PLAIN_ROW", "i % GI", "0 * i", "has no thread, or two"),
        ("PLAIN_COLUMN", "8 * GJ", "4 * GJ", "has no thread, or two"),
        ("PLAIN_COLUMN", "8 * GJ + j / GJ * (8 * GJ) + j % GJ", "8 + j * 8", "are no neighbours"),
        ("TILE_ROW", "z * GROUP", "z * 4", "a row of tiles has no block, or two"),
        ("UNIT_ROW", "thread % 32 / 4", "thread % 8", "has no thread, or two"),
        ("RIGHT_COLUMN", "thread % 32 / 4", "thread % 8", "lanes hand other elements of `B`"),
        ("LEFT_ROW", "8 * i", "8 * i + 8", "lanes hand other elements of `A`"),
        ("UNIT_DEPTH", "thread % 4", "thread / 4 % 4", "lanes hand other elements of `A`"),
    ],
)
def test_a_wrong_formula_is_found(monkeypatch: pytest.MonkeyPatch, name: str, old: str, new: str, why: str) -> None:
    if name == "PLAIN_ROW":
        monkeypatch.setattr(prove, "groups", lambda *_: {"GI": 2, "GJ": 4})
    monkeypatch.setattr(prove, name, getattr(model, name).replace(old, new))
    assert why in wrong(UNITS_TILE if name not in ("PLAIN_ROW", "PLAIN_COLUMN") else TILE)


@pytest.mark.parametrize(
    ("function", "text", "why"),
    [
        ("copied", Copies("thread / 4", "thread % 4 * V", "row", "8", "2"), "by no thread, or twice"),
        ("place", "slot * 100 + x * (DEPTH + 4) + k", "have one place in shared memory"),
        ("place", "slot * (ROWS * 17) + x * 17 + k", "begin where 16 bytes cannot"),
        ("place", "slot * (ROWS * 16) + k * ROWS + x", "are apart in shared memory"),
        ("room", "1 * (ROWS * (DEPTH + 4))", "or one has none"),
    ],
)
def test_a_wrong_place_is_found(monkeypatch: pytest.MonkeyPatch, function: str, text: object, why: str) -> None:
    real = getattr(model, function)
    monkeypatch.setattr(prove, function, lambda o: text if o is LEFT else real(o))
    assert why in wrong()


@needs_cxx
def test_without_the_proof_the_emulator_finds_a_missing_barrier(
    tmp_path: Path, emulator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(stages: int, steps: int) -> TileProgram:
        order = pipelined(stages, steps)
        return replace(order, loop=tuple(e for e in order.loop if e.kind != BARRIER))

    monkeypatch.setattr(find, "loading_ahead", without)
    directives = plan("S1.i:4, S1.j:2 threads 8 by 8")
    with pytest.raises(InputError, match="there is no barrier"):
        generate("f.c", source("float"), GenOptions(target="cuda", stem="f", plan_text=directives))
    monkeypatch.setattr(prove, "wrong_order", lambda *_: "")
    built = build("product", tmp_path, emulator, source("float"), plan_text=directives)
    ran = run_program(built.emulated, ["37", "20", "33"])
    assert ran.code == 3 and "device emulator: " in ran.err


@pytest.mark.parametrize("body", ["C[i][j] += A[i][k] * B[k][j] * k;", "C[i][j] += A[i][k] * B[k][j] + C[k][j];"])
def test_what_is_no_such_product_runs_element_by_element(body: str) -> None:
    made = generate("f.c", source("float").replace(PLAIN, body), GenOptions(target="cuda", stem="f", device="h200"))
    assert "_tile<" not in made.extra.file(".tw.cu")


def test_what_inspect_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.c").write_text(source("double"))
    assert main(["inspect", "--target", "cuda", "--device", "h200", str(tmp_path / "f.c")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "S1 in tiles of 64 by 64: 128 threads, each with 4 by 8 elements in registers, 75776 bytes of shared" in told


def test_names_of_the_region_and_of_the_kernel_are_apart() -> None:
    text = source("float").replace("int l,", "int rows,").replace("k < l", "k < rows")
    text = text.replace("A[n][l]", "A[n][rows]").replace("B[l][m]", "B[rows][m]")
    device = generate("f.c", text, GenOptions(target="cuda", stem="f")).extra.file(".tw.cu")
    assert "const int tw_rows = " in device and "const int parts = " in device
