"""Local memory in plans: what is staged where, shared on the mesh, or taken through several steps; what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"


def made(kernel: str, plan: str | None = None) -> Generated:
    text = (KERNELS / f"{kernel}.c").read_text(encoding="utf-8")
    return generate(str(KERNELS / f"{kernel}.c"), text, GenOptions(target="sunway", plan_text=plan, plan_name="p.plan"))


@pytest.fixture(scope="module")
def gemm() -> str:
    return made("gemm").regions[0].plan


def about(plan: str) -> list[str]:
    return re.findall(r"^  ((?:stage|mesh|steps|lanes) .*)$", plan, re.M)


def test_a_plan_says_what_is_in_local_memory(gemm: str) -> None:
    assert about(gemm) == ["stage C at S1.jt", "stage A at S2.kt ahead", "stage B at S2.kt ahead", "mesh S2",
                           "lanes S1.j"]  # fmt: skip


def test_a_plan_that_is_given_back_is_obeyed(gemm: str) -> None:
    without = gemm.replace("  mesh S2\n", "").replace("stage A at S2.kt ahead", "stage A at S2.kt")
    again = made("gemm", without).regions[0]
    assert about(again.plan) == ["stage C at S1.jt", "stage A at S2.kt", "stage B at S2.kt ahead", "lanes S1.j"]


def test_vectors_are_where_a_plan_says_so_and_blocks_have_its_shape(gemm: str) -> None:
    """What is printed of a block is read back, whatever its shape."""
    without = gemm.replace("  mesh S2\n", "").replace("  lanes S1.j\n", "")
    plain, block = made("gemm", without), made("gemm", without + "  lanes S2.j by 3 with i by 2\n")
    assert "simd_" not in slave(plain) and "lanes" not in plain.regions[0].plan
    assert "acc[2][3]" in slave(block) and about(block.regions[0].plan)[-1] == "lanes S2.j by 3 with i by 2"


def slave(result: Generated) -> str:
    return result.extra.file("_slave.c")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("stage C at S1.jt", "stage C at S1.jt ahead", "`C` cannot be fetched ahead"),
        ("stage C at S1.jt", "stage C at S1.i", "loop `i` is no tile loop"),
        ("stage B at S2.kt ahead", "", "S2 cannot be shared across the mesh"),
        ("stage A at", "stage Z at", "there is no array `Z`"),
        ("mesh S2", "mesh S9", "there is no statement `S9`"),
        ("mesh S2", "steps S1.it by 4 of 32, 32", "loop `it` cannot run in steps"),
        ("mesh S2", "lanes S2.k", "loop `k` cannot run in lanes"),
        ("lanes S1.j", "lanes S1.j by 4", "loop `j` has no such block: nothing is added up"),
        ("mesh S2", "lanes S2.j by 4 with k by 4", "has no such block: a block stays in registers, for rows of"),
        ("mesh S2", "lanes S2.j by 4 with j by 4", "loop `j` cannot be the one of the rows"),
        ("mesh S2", "lanes S2.j by 8 with i by 4", "32 vectors do not stay in 32 registers"),
    ],
)
def test_what_cannot_be_done_is_refused(gemm: str, old: str, new: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        made("gemm", gemm.replace(old, new))
