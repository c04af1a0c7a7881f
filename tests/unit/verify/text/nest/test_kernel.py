"""Kernels in a given order of loops, and their calls, are proven from their text: damaged text is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from codegen.isa.load import load as load_isa
from codegen.isa.model import Isa
from codegen.lower.nest.contraction import parse
from codegen.lower.nest.kernel import NestKernel, OrderedContraction, kernel_of
from codegen.lower.nest.loops import parse_nest
from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.region import make
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.target.emit import RegionText, Surroundings, emit_region
from codegen.target.nest.emit import nest_kernel
from codegen.verify.text.check import wrong_text
from codegen.verify.text.nest.call import wrong_calls
from codegen.verify.text.nest.kernel import wrong_nest

NESTS = {
    "rows left over, right packed": ("f64 C[i,j] += A[i,k] * B[k,j] : i=7 k=18 j=13", "i1+3 k18[B] i4 j13"),
    "left packed": ("f64 C[i,j] += A[i,k] * B[k,j] : i=8 k=9 j=24", "i1+3[A] j1+8 k9 i5 j16"),
    "threads": ("f32 C[i,j] += A[i,k] * B[k,j] : i=20 k=12 j=28", "i4[T] j1+12[B] k12 i5 j16"),
    "convolution": ("f32 C[o,r] += A[c,r+x] * B[o,c,x] : o=6 c=5 x=3 r=40", "o2 c5 x3 o3 r40"),
    "two sums": ("f32 C[i,j] += A[i,k,l] * B[k,l,j] : i=8 k=4 l=6 j=12", "i2 k4 l6 i4 j12"),
}


@cache
def kernel(name: str, isa: str = "avx2") -> tuple[Isa, NestKernel, str]:
    problem = parse(NESTS[name][0])
    made = kernel_of("k", OrderedContraction(problem, parse_nest(NESTS[name][1], problem)[0]), load_isa(isa))
    return load_isa(isa), made, nest_kernel(load_isa(isa), made)


@pytest.mark.parametrize("isa", ["avx2", "avx512", "neon"])
@pytest.mark.parametrize("name", NESTS)
def test_kernels_are_proven(name: str, isa: str) -> None:
    assert wrong_nest(*kernel(name, isa)) == ""


ROWS, LEFT, THREADS, CONV = list(NESTS)[:4]
# What is damaged, in which nest, the text, what stands there instead, and which of several places.
CHANGES = {
    "a row of the copy too few": (ROWS, "p0 < 18", "p0 < 17", 0),
    "the copy is of the next column": (ROWS, "b + p0 * 13", "b + 1 + p0 * 13", 0),
    "rows of the copy lie one on the other": (ROWS, "pack_b + p0 * 16", "pack_b + p0 * 12", 0),
    "the copy is read in another width": (ROWS, "pack_b + k_1 * 16", "pack_b + k_1 * 13", 0),
    "the copy has no room": (ROWS, "pack_b[288]", "pack_b[287]", 0),
    "more is copied than there is": (ROWS, "sizeof *(from0) * 13", "sizeof *(from0) * 14", 0),
    "a wrong lane": (ROWS, "*(pc2 + 12) = part[0]", "*(pc2 + 12) = part[1]", 0),
    "a lost tail": (ROWS, "        *(c + 90) = part[0];\n", "", 0),
    "a stale sum is stored": (ROWS, "_mm256_storeu_pd(part, c3)", "_mm256_storeu_pd(part, c7)", 0),
    "the next element is stored": (ROWS, "_mm256_storeu_pd(pc2 + 4, c1)", "_mm256_storeu_pd(pc2 + 5, c1)", 0),
    "a sum goes on in another register": (ROWS, "c0 = tw_avx2_fma_f64(c0", "c0 = tw_avx2_fma_f64(c1", 0),
    "a step is taken twice": (ROWS, "c0 = tw_avx2_fma_f64(c0, va0, vb0);",
                              "c0 = tw_avx2_fma_f64(c0, va0, vb0); c0 = tw_avx2_fma_f64(c0, va0, vb0);", 0),
    "another row of the left operand": (ROWS, "_mm256_set1_pd(*(pa2 + 18))", "_mm256_set1_pd(*(pa2 + 36))", 0),
    "a read past the end": (ROWS, "_mm256_set1_pd(*(pa1 + 36))", "_mm256_loadu_pd(pa1 + 36)", 0),
    "the rows that are left begin one row early": (ROWS, "a + 72 + k_1", "a + 54 + k_1", 0),
    "a turn too few": (ROWS, "k_1 < 18", "k_1 < 17", 0),
    "a turn too many": (ROWS, "i_2 < 2", "i_2 < 3", 0),
    "rows are taken twice": (ROWS, "c + i_2 * 26", "c + i_2 * 13", 0),
    "the left operand goes on too far": (THREADS, "pa2 += 1;", "pa2 += 2;", 0),
    "an operand does not go on": (THREADS, "pb2 += 16;", "", 0),
    "columns of the left copy are exchanged": (LEFT, "a + p0 * 1", "a + p0 * 9", 0),
    "threads share a copy": (THREADS, " private(pack_b)", "", 0),
    "channels in another order": (CONV, "c_1 * 42", "c_1 * 41", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_damaged_kernels_are_refused(name: str) -> None:
    nest, old, new, which = CHANGES[name]
    isa, made, text = kernel(nest)
    at = [m.start() for m in re.finditer(re.escape(old), text)]
    assert at, f"{old} is not in the text\n{text}"
    assert wrong_nest(isa, made, text[: at[which]] + new + text[at[which] + len(old) :])


def test_sums_in_another_order_are_refused() -> None:
    """The source runs through k first; a kernel that is right for sums over l first is none."""
    isa, made, text = kernel("two sums")
    problem = made.nest.problem
    sizes = dict(problem.sizes)
    turned = replace(problem, sizes=tuple((n, sizes[n]) for n in ("i", "l", "k", "j")))
    other = replace(made, nest=OrderedContraction(turned, made.nest.compute))
    assert wrong_nest(isa, other, text)


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
