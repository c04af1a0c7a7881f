"""Products whose panels cores share across the mesh are proven from their text: damaged text is refused.

Every change is one that a mistake in what comes, goes, is passed on or multiplied would make.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from codegen.cli.main import main
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.source_file import open_source
from codegen.sunway import read_back
from codegen.sunway.region import for_cores
from codegen.verify.cores.check import wrong_mesh
from tests.corpus import KERNELS
from tests.sunway.test_kernel_proofs import damaged

OLD, NEW = "sw26010-cpe", "sw26010-pro-cpe"
SHIFTED = """void f(int n, int m, int p, double C[n + 2][m + 3], double A[n + 1][p], double B[p + 2][m]) {
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = 1; j < m; j++)
      for (int k = 2; k < p; k++)
        C[i + 1][j + 2] += 2.0 * A[i][k - 1] * B[k + 1][j];
#pragma endscop
}
"""
SQUARE = """void f(int n, double C[n][n], double A[n][n], double s) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = s;
      for (int k = 0; k < n; k++)
        C[i][j] += (A[i][k] + 1.0) * A[k][j];
    }
#pragma endscop
}
"""


def products(source: str, machine: str, name: str = "f.c") -> list[tuple[Any, ...]]:
    """What the proof of each shared product of a source is asked."""
    chosen = GenOptions(target="sunway", stem="f", machine=machine)
    found: list[tuple[Any, ...]] = []

    def note(*asked: Any) -> str:
        found.append(asked)
        return ""

    (s,) = open_source(name, source, chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    with mock.patch.object(read_back, "wrong_mesh", note):
        for_cores(s, model, chosen, "")
    return found


@cache
def gemm(machine: str) -> tuple[Any, ...]:
    """By messages of vectors on the one machine, by broadcasts between local memories on the other."""
    (scop, deps, task, text, words) = products((KERNELS / "gemm.c").read_text(), machine, str(KERNELS / "gemm.c"))[0]
    return scop, deps, task, " ".join(text.split()), words


@pytest.mark.parametrize("machine", [OLD, NEW])
def test_products_are_proven(machine: str) -> None:
    assert wrong_mesh(*gemm(machine)) == ""


@pytest.mark.parametrize("source", [SHIFTED, SQUARE], ids=["shifted", "square"])
@pytest.mark.parametrize("machine", [OLD, NEW])
def test_products_of_other_forms_are_proven(machine: str, source: str) -> None:
    found = products(source, machine)
    assert found and [wrong_mesh(*asked) for asked in found] == [""] * len(found)


# What is damaged, on which machine, the text, what stands there instead, and which of several places (-1: all).
CHANGES = {
    # messages
    "cores have other numbers of rows": (OLD, "ni - it + rid * tall", "ni - it", 0),
    "cores have other numbers of columns": (OLD, "nj - jt + cid * wide", "nj - jt", 0),
    "some are not busy": (OLD, "if (t >= 0) {", "if (t * 8 + rid >= 0) {", 1),
    "steps of their own": (OLD, "nk - kt - s * deep", "nk - kt - s * deep - cid", 0),
    "nobody receives": (OLD, "right[w / 4] = simd_getc(right[w / 4]);", ";", 0),
    "along the row": (OLD, "simd_getc(right[w / 4]);", "simd_getr(right[w / 4]);", 0),
    "into another register": (OLD, "right[w / 4] = simd_getc(", "right[0] = simd_getc(", 0),
    "all of a column send": (OLD, "if (rid == half * 4 + s)", "if (cid == half * 4 + s)", 0),
    "several send": (OLD, "if (cid == from[u])", "if (cid <= from[u])", 0),
    "everybody is the sender": (OLD, "half * 4 + (i + u) / A_rows", "cid + (i + u) / A_rows", 0),
    "sent twice": (OLD, "simd_loader(left, ", "simd_putr(left, 8); simd_loader(left, ", 0),
    "sent by each for itself": (OLD, "simd_loader(left, ", "simd_loade(left, ", 0),
    "lanes are sent in place of one element": (OLD, "simd_loader(left, ", "simd_loadr(left, ", 0),
    "one element is sent in place of lanes": (OLD, "simd_loadc(", "simd_loadec(", 0),
    "loaded and sent along the row": (OLD, "simd_loadc(", "simd_loadr(", 0),
    "more vectors are sent than received": (OLD, "w < 16; w += 4) right[w / 4]", "w < 12; w += 4) right[w / 4]", 0),
    "vectors are received in another order": (OLD, "right[w / 4] = simd_getc(right[w / 4])",
        "right[3 - w / 4] = simd_getc(right[3 - w / 4])", 0),
    "some leave": (OLD, "if (ni <= 0 || nj <= 0)", "if (ni <= rid || nj <= 0)", 0),
    "halves of their own": (OLD, "half ^= 1", "half ^= rid", 0),
    "not all wait": (NEW, "tw_barrier();", "if (rid) tw_barrier();", 0),
    "the wrong ones broadcast": (NEW, "if (cid == half * 4 + s)", "if (rid == half * 4 + s)", 0),
    "some do not wait for a slice": (NEW, "nk - kt - (s - 1) * deep", "nk - kt - (s - 1) * deep - rid", 0),
    "the sender of the slice before": (OLD, "if (rid == half * 4 + s)", "if (rid == half * 4 + s / 2)", 0),
    "the half that fetches sends": (OLD, "rid == half * 4 + s", "rid == 4 - half * 4 + s", 0),
    # sizes and local memory
    "all leave too early": (OLD, "if (ni <= 0 || nj <= 0)", "if (ni <= 1 || nj <= 0)", 0),
    "tiles for more memory than there is": (OLD, "ni, nj, nk, 7552, 4", "ni, nj, nk, 7600, 4", 0),
    "slices for one copy": (NEW, "31616, 8, 3,", "31616, 8, 2,", 0),
    "slices lie over the tile": (OLD, "C_ldm + tall * wide", "C_ldm + tall", 0),
    "slices lie over each other": (OLD, "A_ldm + tall * deep", "A_ldm + deep", 0),
    "arrivals overlap": (NEW, "A_in[1] + (tall + wide) * deep", "A_in[1] + tall * deep", 0),
    "vectors begin elsewhere": (OLD, "C_ldm + tall * wide", "C_ldm + tall * wide + 1", 0),
    "too few columns of tiles": (OLD, "tw_panels(nj, 8 * wide)", "nj / (8 * wide) + 0 * wide", 0),
    "too few rows of tiles": (OLD, "across * tw_panels(ni, 8 * tall)", "across * tw_panels(ni, 16 * tall)", 0),
    "too few steps": (OLD, "tw_max(1, tw_panels(nk, 4 * deep))", "tw_max(1, tw_panels(nk, 5 * deep))", 0),
    "a step that is not there": (OLD, "tw_max(1,", "tw_max(0,", 0),
    "memory that begins anywhere": (OLD, "aligned(32)", "aligned(16)", 0),
    "an array that is too small": (OLD, "long from[4];", "long from[3];", 0),
    "too few registers": (OLD, "doublev4 left, right[4];", "doublev4 left, right[3];", 0),
    # tiles
    "the last turn is missing": (OLD, "t < tiles; t++", "t < tiles - 1; t++", 0),
    "the first turn is missing": (OLD, "long t = -1", "long t = 0", 0),
    "a turn too many": (OLD, "t < tiles; t++", "t <= tiles; t++", 0),
    "halves turn over once more": (OLD, "t < tiles; t++", "t < tiles; t++, half ^= 1", 0),
    "halves stay": (OLD, "q++, half ^= 1", "q++", 0),
    "steps ahead of the first turn": (OLD, "t < 0 ? steps - 1 : 0", "0", 0),
    "no step ahead of the first turn": (OLD, "t < 0 ? steps - 1 : 0", "t < 0 ? steps : 0", 0),
    "one step a turn": (OLD, "t < 0 ? steps - 1 : 0", "t < 1 ? steps - 1 : 0", 0),
    "cores have the tile of their neighbour": (OLD, "(t % across * 8 + cid) * wide",
        "(t % across * 8 + rid) * wide", 0),
    "tiles of another turn": (OLD, "it = (t / across * 8", "it = ((t + 1) / across * 8", 0),
    "slices are worked on as a tile": (OLD, "(void *)C_ldm;", "(void *)A_ldm;", 0),
    "a tile is used before it is there": (OLD, "dma_wait(&C_got, 1);", "", 0),
    "a wait for the wrong number": (OLD, "dma_wait(&C_got, 1)", "dma_wait(&C_got, C_out)", 0),
    "counts go on": (OLD, "C_got = 0;", "", 0),
    "rows are not brought to one distance": (OLD, "tw_widen(C_t[0], C_len0, C_len1, wide);", ";", 0),
    "rows of another length": (OLD, "C_t[0], C_len0, C_len1, wide", "C_t[0], C_len0, wide, wide", 0),
    "rows at another distance": (OLD, "C_t[0], C_len0, C_len1, wide", "C_t[0], C_len0, C_len1, tall", 0),
    "rows but the first": (OLD, "tw_widen(C_t[0], C_len0,", "tw_widen(C_t[1], C_len0,", 0),
    "a nest on another tile": (OLD, "i < tw_min(ni, it + tall)", "i < tw_min(ni, it + wide)", 0),
    "a nest leaves a row out": (OLD, "long i = it;", "long i = it + 1;", 0),
    "a nest of other elements": (OLD, "C_t[i - it][j - jt] *= beta;", "C_t[i - it][j - jt] *= alpha;", 0),
    "a nest in turns without a tile": (OLD, "if (t >= 0) { dma_wait", "{ dma_wait", 0),
    # what comes and goes
    "slices of this step": (OLD, "(q + 1) * 4 * deep", "q * 4 * deep", 0),
    "slices of another turn": (OLD, "q + 1 < steps ? t : t + 1", "q + 1 < steps ? t : t", 0),
    "slices are fetched over those that are handed out": (OLD, "cid / 4 != half", "cid / 4 == half", 0),
    "slices of another row": (OLD, "&A[it_next + cid % 4 * A_rows]", "&A[it_next + cid / 4 * A_rows]", 0),
    "slices of another depth": (OLD, "&B[kt_next + rid % 4 * deep]", "&B[kt_next + rid % 4 * wide]", 0),
    "slices of other columns": (OLD, "[jt_next], B_ldm", "[jt_next + 1], B_ldm", 0),
    "part of a slice": (OLD, "A_n0 * A_n1 * 8", "A_n0 * 8", 0),
    "rows too close": (OLD, "(nk - A_n1) * 8", "nk * 8", 0),
    "one row too many": (OLD, "A_n0 = tw_min(A_rows,", "A_n0 = tw_min(A_rows + 1,", 0),
    "beyond the array": (OLD, "B_n1 = tw_min(wide, nj - jt_next)", "B_n1 = wide", 0),
    "a reply that counts on": (OLD, "A_got = 0;", "", 0),
    "a slice is not waited for": (OLD, "dma_wait(&B_got, 1);", "", 0),
    "another slice is waited for": (OLD, "dma_wait(&B_got, 1);", "dma_wait(&A_got, 1);", 0),
    "a tile comes before the one before has gone": (OLD, "dma_wait(&C_put, C_out);", "", 0),
    "something else is waited for": (OLD, "dma_wait(&C_put, C_out);", "dma_wait(&C_got, C_out);", 0),
    "nobody waits in the end": (OLD, "dma_wait(&C_put, C_out);", "", 1),
    "more has gone than goes": (OLD, "C_out = 1;", "C_out = 2;", 0),
    "nobody knows that it goes": (OLD, "C_out = 1;", "", 0),
    "what has gone is counted on": (OLD, "C_put = 0; athread", "athread", 0),
    "one word for what comes and goes": (OLD, "C_got", "C_put", -1),
    "waits begin with a count": (OLD, "int C_out = 0;", "int C_out = 1;", 0),
    "another row comes": (OLD, "&C[it][jt], C_ldm", "&C[it + 1][jt], C_ldm", 0),
    "another column comes": (OLD, "&C[it][jt], C_ldm", "&C[it][jt + 1], C_ldm", 0),
    "a tile comes to its second row": (OLD, "&C[it][jt], C_ldm,", "&C[it][jt], C_ldm + wide,", 0),
    "another tile goes": (OLD, "C_ldm, &C[it][jt]", "C_ldm, &C[it][it]", 0),
    "slices go": (OLD, "PE_MODE, C_ldm, &C", "PE_MODE, A_ldm, &C", 0),
    "part of a tile goes": (OLD, "C_len0 * C_len1 * 8, (void *)&C_put", "C_len0 * 8, (void *)&C_put", 0),
    "whole rows of local memory go": (OLD, "&C_put, (nj - C_len1) * 8, C_len1 * 8",
        "&C_put, (nj - wide) * 8, wide * 8", 0),
    "rows go as they lie": (OLD, "tw_narrow(C_ldm, C_len0, C_len1, wide);", "", 0),
    "rows are put together twice": (OLD, "tw_narrow(C_ldm, C_len0, C_len1, wide);",
        "tw_narrow(C_ldm, C_len0, C_len1, wide); tw_narrow(C_ldm, C_len0, C_len1, wide);", 0),
    "narrow tiles do not go": (OLD, "if (C_len0 > 0 && C_len1 > 0) {", "if (C_len0 > 0 && C_len1 > 4) {", 1),
    "tiles come that are not there": (OLD, "if (C_len0 > 0 && C_len1 > 0) {", "if (C_len0 > 0) {", 0),
    "the last tile does not go": (OLD, "if (t >= 0) {", "if (t >= 0 && t + 1 < tiles) {", 2),
    "the first tile does not come": (OLD, "if (t >= 0) {", "if (t > 0) {", 0),
    # the product
    "a wrong packing of the left": (OLD, "(i + u) % A_rows * A_len1", "(i + u) % A_rows * deep", 0),
    "another row of the left": (OLD, "A_row[u][s * deep + k]", "A_row[u][k]", 0),
    "another row of the right": (OLD, "&B_ldm[k * wide + j + w]", "&B_ldm[k * deep + j + w]", 0),
    "lanes of the first vector": (OLD, "&B_ldm[k * wide + j + w]", "&B_ldm[k * wide + j]", 0),
    "the left is not scaled": (OLD, "left = simd_vmuld(left, simd_set_doublev4(alpha, alpha, alpha, alpha));", "", 0),
    "scaled by something else": (OLD, "simd_vmuld(left, simd_set_doublev4(alpha, alpha, alpha, alpha))",
                                 "simd_vmuld(left, simd_set_doublev4(beta, beta, beta, beta))", 0),
    "half of it is scaled": (OLD, "e < A_len0 * A_len1", "e < A_len0", 0),
    "rows of the right are too close": (OLD, "tw_widen(B_ldm, B_len0, B_len1, wide);", "", 0),
    "a row too many in registers": (OLD, "int u = 0; u < 4; u++", "int u = 0; u < 5; u++", -1),
    "a vector is left out": (OLD, "simd_store(acc[u][w / 4]", "simd_store(acc[u][0]", 0),
    "stored to another row": (OLD, "simd_store(acc[u][w / 4], &C_t[i + u]",
        "simd_store(acc[u][w / 4], &C_t[i + u + 1]", 0),
    "a stale sum": (OLD, "right[w / 4], acc[u][w / 4]);", "right[w / 4], acc[0][w / 4]);", 0),
    "a slice is left out": (OLD, "int s = 0; s < 4; s++", "int s = 1; s < 4; s++", 0),
    "slices in another order": (OLD, "const long here = tw_min(deep, nk - kt - s * deep);",
                                "const long here = tw_min(deep, nk - kt - (3 - s) * deep);", 0),
    "a depth is left out": (OLD, "long k = 0; k < here", "long k = 1; k < here", 0),
    "a depth too many": (OLD, "k < here", "k <= here", 0),
    "columns are left out": (OLD, "j < tw_min(wide, nj - jt + cid * wide); j += 16", "j < 16; j += 16", 0),
    "blocks with gaps": (OLD, "i += 4", "i += 8", 0),
    # between local memories
    "arrivals are not told apart": (NEW, "athread_rma_wait_value(&A_here[(s + 1) % 2], 1);", "", 0),
    "the wrong arrival": (NEW, "&B_in[(s + 1) % 2][k", "&B_in[s % 2][k", 0),
    "a copy that is worked on": (NEW, "athread_rma_row_ibcast(A_in[s % 2]",
        "athread_rma_row_ibcast(A_in[(s + 1) % 2]", 0),
    "counted in another word": (NEW, "&A_sent, &A_here[s % 2]", "&A_sent, &B_here[s % 2]", 0),
    "words are not set back": (NEW, "A_here[s % 2] = 0, B_here[s % 2] = 0;", "A_here[s % 2] = 0;", 0),
    "nobody meets": (NEW, "tw_barrier();", ";", 0),
    "part of a slice is sent": (NEW, "tall * tw_min(deep, nk - kt - s * deep) * 8",
        "tw_min(deep, nk - kt - s * deep) * 8", 0),
    "a slice is overwritten on its way": (NEW, "athread_rma_wait_value(&A_sent, 1);", "", 0),
    "fetched anew while it is sent": (NEW, "athread_rma_wait_value(&B_sent, 1); B_got = 0;", "B_got = 0;", 0),
    "changed while it is sent": (NEW, "&A_sent, &A_here[s % 2]);", "&A_sent, &A_here[s % 2]); A_ldm[0] = 0;", 0),
    "another message is waited for": (NEW, "athread_rma_wait_value(&A_sent, 1);",
        "athread_rma_wait_value(&B_sent, 1);", 0),
    "sent while one is on its way": (NEW, "athread_rma_wait_value(&B_sent, 1);", "", 1),
    "some wait for others": (NEW, "athread_rma_wait_value(&A_sent, 1);", "athread_rma_wait_value(&A_here[0], 1);", 0),
    "messages are not gone in the end": (NEW, "athread_rma_wait_value(&B_sent, 1);", "", 2),
    "another slice is handed out": (NEW, "if (rid == half * 4 + s) {", "if (rid == half * 4) {", 0),
    "rows of the whole panel": (NEW, "[(i + u) * here + k]", "[(i + u) * deep + k]", 0),
    "a slice too few": (NEW, "s <= 4; s++", "s < 4; s++", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_damaged_products_are_refused(name: str) -> None:
    machine, *change = CHANGES[name]
    scop, deps, task, text, words = gemm(machine)
    assert wrong_mesh(scop, deps, task, damaged(text, *change), words)  # type: ignore[arg-type]


HELPERS = """#include <stdio.h>
%s
int main(void)
{
  for (int lanes = 4; lanes <= 8; lanes += 4)
    for (long ni = 1; ni < 5000; ni += 1 + ni / 3)
      for (long nj = 1; nj < 5000; nj += 1 + nj / 3)
        for (long nk = -3; nk < 3000; nk += 7 + nk) {
          const int copies = lanes == 4 ? 1 : 3;
          const long room = lanes == 4 ? 7552 : 31616;
          const tw_shape s = tw_best_shape(ni, nj, nk, room, lanes, copies, 0.574, 27.3, 16.8);
          if (s.tall < 4 || s.wide < 4 * lanes || s.deep < 4 || s.tall %% 4 || s.wide %% (4 * lanes) || s.deep %% 4)
            return 1;
          if (s.tall * s.wide + copies * s.deep * (s.tall + s.wide) > room)
            return 2;
        }
  for (long rows = 0; rows < 6; rows++)
    for (long len = 1; len < 6; len++)
      for (long pitch = len; pitch < 8; pitch++) {
        double x[64], y[64];
        for (int k = 0; k < 64; k++)
          x[k] = y[k] = k;
        tw_widen(x, rows, len, pitch);
        for (long i = 0; i < rows; i++)
          for (long j = 0; j < len; j++)
            if (x[i * pitch + j] != i * len + j)
              return 3;
        for (long k = rows ? rows * pitch : 0; k < 64; k++)
          if (x[k] != k)
            return 4;
        tw_narrow(y, rows, len, pitch);
        for (long i = 0; i < rows; i++)
          for (long j = 0; j < len; j++)
            if (y[i * len + j] != i * pitch + j)
              return 5;
        for (long k = rows ? rows * pitch : 0; k < 64; k++)
          if (y[k] != k)
            return 6;
      }
  return 0;
}
"""


def test_shapes_and_rows_are_what_the_proofs_take_them_for(tmp_path: Path) -> None:
    """Shapes have whole units and fit; rows of any length are moved to any distance and back, and nothing else is."""
    assert main(["gen", str(KERNELS / "gemm.c"), "--target", "sunway", "-o", str(tmp_path / "g.c")]) == 0
    slave = (tmp_path / "g_slave.c").read_text()
    helpers = slave[slave.index("#define TW_INLINE") : slave.index("/* S1, S2")]
    (tmp_path / "t.c").write_text(HELPERS % helpers)
    subprocess.run(["cc", "-std=c11", "-O1", "-o", str(tmp_path / "t"), str(tmp_path / "t.c")], check=True)
    assert subprocess.run([str(tmp_path / "t")], check=False).returncode == 0
