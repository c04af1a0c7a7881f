"""Calls of kernels in a given order of loops are proven from their text: damaged text is refused."""

from __future__ import annotations

import re
from functools import cache

import pytest

from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.region import make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.emit import RegionText, Surroundings, emit_region
from codegen.verify.text.check import wrong_text
from codegen.verify.text.nest_calls import wrong_calls

SOURCE = """void mm(int n, int m, int p, int lda, double s, double C[n][m], double A[n][lda], double B[p][m])
{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 2; k < p; k++)
        C[i][j] += s * A[i][k] * B[k][j];
#pragma endscop
}
"""
PLAN = """region 1
  schedule { loop i, k, j { S1 } }
  product S1 rows i columns j depth k
    isa generic bits 128 tile 4 by 2 vectors, block 64 by 64 by 64,
    direct 100 threads 100000
    or nest i:1 + 3, j:1 + 8, k:9, i:4, j:16
    or nest k:4, i:5, j:12
"""


@cache
def printed() -> RegionText:
    options = GenOptions(plan_text=PLAN, plan_name="p.plan")
    (s,) = open_source("in.c", SOURCE, options).slices
    model = model_region(s, options)
    assert model is not None
    made = make(model, options, load_for("generic", "generic"))
    return emit_region(made.program.scop, made.code, Surroundings(), True)


def test_calls_are_proven() -> None:
    assert len(printed().nests) == 2
    assert wrong_text(printed()) == ""


CALLS = {
    "another size": ("n - 1 == 7", "n - 1 == 6", 0),
    "a size that nobody asks for": ("(long)m == 24 && ", "", 0),
    "distances that nobody asks for": (" && &B[3][0] - &B[2][0] == 24", "", 0),
    "distances of other elements": ("&B[3][0] - &B[2][0] == 24", "&B[4][0] - &B[3][0] == 24", 0),
    "other distances": ("&C[2][0] - &C[1][0] == 24", "&C[2][0] - &C[1][0] == 25", 0),
    "the kernel of another size": ("_7x24x9_", "_8x24x9_", 0),
    "an operand from the next row": ("tw_left, &B[2][0]", "tw_left, &B[3][0]", 0),
    "the target from the first row": ("&C[1][0])", "&C[0][0])", 0),
    "a value lacks its factor": ("= s * A[", "= A[", 0),
    "a value of the next column": ("A[tw_y + 1][tw_x + 2]", "A[tw_y + 1][tw_x + 3]", 0),
    "a row too few is computed": ("tw_y < 7", "tw_y < 6", 0),
    "rows overlap": ("tw_left[tw_y * 9 + tw_x]", "tw_left[tw_y * 8 + tw_x]", 0),
    "the buffer is too small": ("tw_left[63]", "tw_left[62]", 0),
    "everything runs after it again": ("} else", "}", 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_damaged_calls_are_refused(name: str) -> None:
    old, new, which = CALLS[name]
    emitted = printed()
    at = [m.start() for m in re.finditer(re.escape(old), emitted.plain)]
    assert at, f"{old} is not in the text\n{emitted.plain[:3000]}"
    text = emitted.plain[: at[which]] + new + emitted.plain[at[which] + len(old) :]
    assert wrong_calls(text, emitted.nests)
