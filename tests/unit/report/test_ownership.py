"""The ownership table that `inspect` prints."""

from __future__ import annotations

from codegen.machine import load_for
from codegen.options import GenOptions
from codegen.plan.model import LoopRef, Tile
from codegen.region_model import model_region
from codegen.report.ownership import ownership
from codegen.report.text import describe_file
from codegen.source_file import open_source
from codegen.transform import tile
from tests.unit.recognize.ownership.test_decide import FLOYD, MATMUL

HEAD = "void f(int n, double a[n][n], double b[n][n], double c[n][n])\n{\n#pragma scop\n"


def _tiled(body: str) -> list[str]:
    text = f"{HEAD}{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    p = tile.apply(model.program, Tile(tuple((LoopRef(n), 64) for n in "kij")))
    return [" ".join(line.split()) for line in ownership(p, p.tree, load_for("generic", ""))]


def test_table_with_conditions() -> None:
    lines = _tiled(FLOYD)
    assert "S1: inside k, i, j; a block is one iteration of kt, it, jt" in lines
    assert any(x.startswith("a[i][j] i, j when it != kt and jt != kt else ") for x in lines)
    assert any(x.startswith("a[i][j] k no iterations (1, 0, 0) apart") for x in lines)
    assert any(x.startswith("a[i][k] i when not (it == kt and jt == kt) else ") for x in lines)
    best = [x for x in lines if x.startswith("best ")]
    assert len(best) == 1 and best[0].startswith("best when it != kt and jt != kt: threads over i, j with 6 x 4")


def test_inspect_prints_it() -> None:
    text = describe_file("in.c", f"{HEAD}{MATMUL}\n#pragma endscop\n}}\n", GenOptions())
    rows = [" ".join(x.split()) for x in text.splitlines()]
    assert "c[i][j] i, j yes all references have the same subscripts, which fix i, j (theorem 2)" in rows
    assert "b[k][j] j yes the subscripts fix j (theorem 1)" in rows


def test_inspect_tells_of_variables_in_the_words_of_openmp() -> None:
    """A scalar of an iteration's own, and a line whose ends come from before and whose last values are kept."""
    body = """  double t;
#pragma scop
  for (int i = 0; i < n; i++) {
    t = a[i][0];
    for (int j = 1; j < 7; j++) row[j] = t * a[i][j];
    for (int j = 1; j < 7; j++) b[i][j] = row[j - 1] + row[j + 1];
  }
#pragma endscop
}
"""
    head = "void f(int n, double a[n][n], double b[n][n], double row[8])\n{\n"
    rows = [x.strip() for x in describe_file("in.c", head + body, GenOptions()).splitlines()]
    assert "t: private to each iteration of i" in rows
    assert "row: firstprivate and lastprivate to each iteration of i" in rows
