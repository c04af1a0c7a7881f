"""Loops of threads that read shared memory: results equal to the original's, and proofs that find what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.diagnostics import InputError
from codegen.gpu.staged.prove import block_of, wrong_loop
from codegen.gpu.tiles import model, prove
from codegen.gpu.tiles.model import DEEP, WIDE, DepthStaging, StagedOperand
from codegen.gpu.tiles.order import STEP, TileEvent, pipelined
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.gpu.programs import build, needs_cxx

SOURCE = """#include <stdio.h>
#include <stdlib.h>
static void f(int n, int m, TYPE A[ROWS][LINE], TYPE B[ROWS][LINE], TYPE *x, TYPE *y, TYPE *z)
{
  (void)x, (void)B, (void)z;
#pragma scop
  for (int i = FIRST; i < n; i++) {
    BODY
  }
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = atoi(argv[1]), m = atoi(argv[2]), all = n * m;
  TYPE *A = malloc(sizeof(TYPE) * all + 1), *B = malloc(sizeof(TYPE) * all + 1), *x = calloc(m + 1, sizeof(TYPE));
  TYPE *y = calloc(n + 1, sizeof(TYPE)), *z = calloc(n + 1, sizeof(TYPE));
  for (int k = 0; k < all; k++)
    A[k] = (TYPE)(k * 7 % 23 * 0.37 - 3), B[k] = (TYPE)(k * 5 % 19 * 0.61 - 4);
  for (int k = 0; k < m; k++)
    x[k] = (TYPE)(k % 11 * 0.7 - 1);
  for (int k = 0; k < n; k++)
    y[k] = (TYPE)(k % 13 * 0.21);
  f(n, m, (void *)A, (void *)B, x, y, z);
  double sum = 0;
  for (int k = 0; k < n; k++)
    sum = sum * 0.99 + y[k] + 3 * z[k];
  printf("%.17g %d\\n", sum, argc);
  return 0;
}
"""
LOOP = "for (int j = 0; j < m; j++) "
KINDS = {  # type of elements, what a thread does, whether rows of the array are its own, and its first iteration
    "rows": ("double", LOOP + "y[i] += A[i][j] * x[j];", True, "0"),
    "columns": ("double", LOOP + "y[i] += A[j][i] * x[j];", False, "0"),
    "float rows": ("float", LOOP + "y[i] -= A[i][j] * x[j];", True, "0"),
    "short columns": ("short", LOOP + "y[i] += A[j][i];", False, "0"),
    "two": ("float", LOOP + "{ y[i] += A[i][j] * x[j]; z[i] += B[i][j] * A[i][j]; }", True, "0"),
    "least": ("double", LOOP + "y[i] = A[i][j] < y[i] ? A[i][j] : y[i];", True, "0"),
    "before and behind": ("double", "y[i] = 1; " + LOOP + "y[i] += A[i][j] * x[j]; z[i] = y[i] * 2;", True, "0"),
    "own sums": ("double", "double left = 0; " + LOOP + "left += A[i][j] * x[j]; y[i] = left;", True, "0"),
    "later": ("double", "for (int j = 3; j < m; j++) y[i] += A[i][j] * x[j];", True, "2"),
}


def source(kind: str) -> str:
    elem, body, rows, first = KINDS[kind]
    sides = ("n", "m") if rows else ("m", "n")
    text = SOURCE.replace("ROWS", sides[0]).replace("LINE", sides[1]).replace("FIRST", first)
    return text.replace("TYPE", elem).replace("BODY", body)


@needs_cxx
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_loop(tmp_path: Path, emulator: Path, kind: str) -> None:
    built = build("loop", tmp_path, emulator, source(kind))
    text = built.made.extra.file(".tw.cu")
    assert "f_r1_1_tile<" in text and ("_kept" in text or kind == "own sums")
    for sizes in ((70, 33), (64, 64), (40, 80), (133, 9), (1, 1), (5, 0)):
        built.agree(*sizes)


def test_blocks_that_copy_single_elements_read_longer_lines() -> None:
    """Rows of a matrix whose columns threads add up; lines of rows that threads add up are as long as they are."""
    assert "enum { ROWS = V > 1 ? 64 : 128," in planned("grid i:64\n  stage A in shared at S1.j:16 stages 4", "columns")
    assert "enum { ROWS = 64," in planned("grid i:64\n  stage A in shared at S1.j:16 stages 4 pad 2")
    text = planned("grid i:64\n  stage A in shared at S1.j:16 stages 4", "columns")
    assert "const int threads = wide ? 64 : 128, bytes = wide ? 32768 : 65536;" in text


def planned(directives: str, kind: str = "rows") -> str:
    plan = f"region 1\n  {directives}\n"
    made = generate("f.c", source(kind), GenOptions(target="cuda", stem="f", plan_text=plan))
    return made.extra.file(".tw.cu")


def test_inspect_says_what_a_block_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.c"
    path.write_text(source("rows"))
    assert main(["inspect", "--target", "cuda", "--device", "h200", str(path)]) == 0
    want = "S1 with A and x in shared memory: 64 threads, 32 iterations of j at a time, 70656 bytes, at most 3 blocks"
    assert want in capsys.readouterr().out


def test_sizes_by_the_plan() -> None:
    text = planned("grid i:32\n  stage A in shared at S1.j:8 stages 3 pad 2")
    assert "enum { ROWS = V > 1 ? 32 : 64, THREADS = V > 1 ? 32 : 128, DEPTH = 8, STAGES = 3 };" in text


@pytest.mark.parametrize(
    ("directives", "why"),
    [
        ("grid i:64\n  stage y in shared at S1.j:16 stages 4", "`y` is written"),
        ("grid i:4\n  stage x in shared at S1.j:16 stages 4", "too few threads to copy a line of `x`"),
        ("grid i:64\n  stage A in shared at S1.j:16 stages 4 pad 1", "loaded at once are no neighbours"),
        ("grid i:64\n  stage A in shared at S1.j:24 stages 4", "cannot copy equal parts of `A`"),
        ("grid i:64\n  stage A in shared at S1.j:256 stages 4", "no device has so much shared memory"),
    ],
)
def test_a_plan_that_is_refused(directives: str, why: str) -> None:
    with pytest.raises(InputError) as error:
        planned(directives)
    assert why in error.value.message


@pytest.mark.parametrize(
    "body",
    [
        "for (int j = 0; j < i; j++) y[i] += A[i][j] * x[j];",  # threads run through different iterations
        LOOP + "y[i] += x[j] > 0 ? A[i][j] : 0;",  # not always read
        LOOP + "{ A[i][j] = A[i][j] * 2; }",  # written
    ],
)
def test_what_is_not_staged(body: str) -> None:
    text = source("rows").replace(KINDS["rows"][1], body)
    assert "TW_SHARED(" not in generate("f.c", text, GenOptions(target="cuda", stem="f")).extra.file(".tw.cu")


ROWS = StagedOperand(1, "A", "double", 8, 0, "(long)n", "1", "depth", DEEP, 2)
ALONE = replace(ROWS, name="x", side=1, own="0", pad=0, alone=True)
COLUMNS = replace(ROWS, own="1", depth="(long)n", line="own", layout=WIDE, pad=0)
STAGING = DepthStaging(16, 4)


@pytest.mark.parametrize("operand", [ROWS, COLUMNS, ALONE])
@pytest.mark.parametrize("vector", [1, 2])
def test_what_is_right_is_proven(operand: StagedOperand, vector: int) -> None:
    assert wrong_loop(block_of(64), STAGING, [operand], vector, pipelined(4, 1)) == ""


def test_planted_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each makes another proof fail."""
    order = pipelined(4, 1)

    def found(operand: StagedOperand = ROWS, staging: DepthStaging = STAGING, late: bool = False) -> str:
        loop = (*order.loop[:-2], order.loop[-1], order.loop[-2]) if late else order.loop
        return wrong_loop(block_of(64), staging, [operand], 2, replace(order, loop=loop))

    assert "room for one part" in found(staging=DepthStaging(16, 1))
    assert "equal parts" in found(staging=DepthStaging(24, 4))
    assert "begin where" in found(replace(ROWS, pad=1))
    assert wrong_loop(block_of(64), STAGING, [replace(ROWS, pad=1)], 1, order) == ""
    assert "loaded at once are no neighbours" in wrong_loop(block_of(64), STAGING, [replace(ROWS, pad=1)], 1, order, 2)
    assert wrong_loop(block_of(64, 64), STAGING, [ROWS, ALONE], 1, order) == ""  # some only copy
    assert "equal parts" in wrong_loop(block_of(64, 32), STAGING, [ROWS], 1, order)
    assert "too few threads" in wrong_loop(block_of(4), STAGING, [ALONE], 2, order)
    assert "registers" in found(late=True)
    ahead = replace(order, loop=(TileEvent(STEP), *order.loop))
    assert wrong_loop(block_of(64), STAGING, [ROWS], 2, ahead) != ""
    assert "written while other threads" in wrong_loop(block_of(64), DepthStaging(16, 3), [ROWS], 2, order)
    monkeypatch.setattr(prove, "place", lambda o: "slot * (ROWS * DEPTH) + x * (DEPTH - 2) + k")
    assert "one place in shared memory" in found()
    monkeypatch.setattr(prove, "place", model.place)
    monkeypatch.setattr(prove, "copied", lambda o: replace(model.copied(o), depth="thread % (DEPTH / V)"))
    assert "copied by no thread, or twice" in found()
