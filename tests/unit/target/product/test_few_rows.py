"""Blocks of columns beside few rows."""

from __future__ import annotations

import re

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

SOURCE = """
void f(int rows, int n, int deep, {real} C[rows][n], {real} A[rows][deep], {real} B[deep][n])
{{
#pragma scop
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < deep; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""


def beside(isa: str, real: str = "double", target: str = "openmp") -> str:
    """How many columns of the right operand are packed at a time."""
    text = generate("f.c", SOURCE.format(real=real), GenOptions(isa=isa, target=target)).text
    found = re.search(r"const tw_index tw_beside =([^;]*);", text)
    assert found
    return " ".join(found[1].split())


@pytest.mark.parametrize("target", ["openmp", "c"])
@pytest.mark.parametrize("real", ["double", "float"])
def test_one_thread_packs_what_it_fetches_meanwhile(real: str, target: str) -> None:
    assert "tw_team == 1 ? 8 * tw_nr :" in beside("avx512", real, target)


@pytest.mark.parametrize("isa", ["neon", "avx2", "sve"])
def test_others_pack_what_their_cache_holds(isa: str) -> None:
    assert beside(isa).startswith("tw_few ? tw_team * (")


def test_the_default_asks_the_compiler() -> None:
    assert re.search(r"tw_team == 1 && \w+_FAR > 0 \? \w+_GROUP \* tw_nr :", beside(""))
