"""What a compute core runs is proven from its text: damaged text is refused, one place at a time.

Every change is one that a mistake in staging, vectors or printers would make. Nothing here is compiled or run.
"""

from __future__ import annotations

import pytest

from codegen.cli.main import main
from tests.sunway.kernels import SOURCES, kernels_of, printed


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_kernels_are_proven(name: str) -> None:
    found = printed(name)
    assert found.wrong(found.text) == ""


# What is damaged: the kernel, the text, what stands there instead, and which of several places (-1: all).
CHANGES = {
    # vectors
    "a wrong lane": ("sums", "A_t[i + w + 2 - it][j - jt]", "A_t[i + w + 1 - it][j - jt]", 0),
    "lanes of another column": ("product", "&B_t[k - kt][j + w - jt]", "&B_t[k - kt][j - jt]", 0),
    "a vector one element off": ("grid", "&A_t[i - A_at0][j - A_at1 + 1]", "&A_t[i - A_at0][j - A_at1]", 0),
    "a vector of the row below": ("grid", "&A_t[i - A_at0 - 1][j - A_at1]", "&A_t[i - A_at0 + 1][j - A_at1]", 0),
    "stored to the next row": (
        "product",
        "simd_storeu(acc[u][w / 4], &C_t[i + u - it]",
        "simd_storeu(acc[u][w / 4], &C_t[i + u + 1 - it]",
        0,
    ),
    "half of the vectors": ("sums", "w < 16; w += 4", "w < 8; w += 4", -1),
    "a vector is not loaded": (
        "sums",
        "for (long w = 0; w < 16; w += 4)\n            simd_loadu(acc[w / 4], &x_t[i + w - it]);\n",
        "",
        0,
    ),
    "a vector is not stored": (
        "product",
        "simd_storeu(acc[u][w / 4], &C_t[i + u - it][j + w - jt]);",
        "simd_storeu(acc[0][w / 4], &C_t[i - it][j + w - jt]);",
        0,
    ),
    "a row too many": ("product", "int u = 0; u < 4; u++", "int u = 0; u < 5; u++", -1),
    "a stale vector": (
        "product",
        "acc[u][w / 4] = simd_vmad(x0, v2[w / 4], acc[u][w / 4]);",
        "acc[u][w / 4] = simd_vmad(x0, v2[w / 4], acc[0][w / 4]);",
        0,
    ),
    "an element of another row": ("product", "simd_loade(x0, &A_t[i + u - it]", "simd_loade(x0, &A_t[i - it]", 0),
    "another operation": ("grid", "simd_vaddd(v1, v2)", "simd_vsubd(v1, v2)", 0),
    "another constant": (
        "grid",
        "simd_set_doublev4(0.25, 0.25, 0.25, 0.25)",
        "simd_set_doublev4(0.25, 0.25, 0.25, 0.5)",
        0,
    ),
    "a factor is lost": (
        "triangle",
        "const double x0 = alpha * A_t[i - it][k - kt];",
        "const double x0 = A_t[i - it][k - kt];",
        0,
    ),
    "the depth begins late": (
        "product",
        "for (long k = kt; k < tw_min(l, kt + 8); k++) {",
        "for (long k = kt + 1; k < tw_min(l, kt + 8); k++) {",
        0,
    ),
    "a lost tail": (
        "grid",
        "for (; j < tw_min((long)n - 1, jt + 256); j++)",
        "for (; j + 1 < tw_min((long)n - 1, jt + 256); j++)",
        0,
    ),
    "vectors run past the end": (
        "grid",
        "j + 4 <= tw_min((long)n - 1, jt + 256)",
        "j <= tw_min((long)n - 1, jt + 256)",
        0,
    ),
    "a tail that begins again": ("product", "for (long j_e = j; j_e <", "for (long j_e = jt; j_e <", 0),
    "strips that overlap": ("product", "tw_min(m, jt + 96); j += 16", "tw_min(m, jt + 96); j += 8", 0),
    "rows are left over": (
        "product",
        "for (long i_e = i; i_e < i + 4; i_e++)",
        "for (long i_e = i; i_e < i + 3; i_e++)",
        0,
    ),
    "the rest of a row is left out": (
        "triangle",
        "for (; j < tw_min(jt + 95, i) + 1; j++)\n        C_t[i - it][j - jt] *= beta;\n",
        "",
        0,
    ),
    # boxes
    "one row short": (
        "product",
        "&C[it][jt], C_ldm, C_len0 * C_len1 * 8",
        "&C[it][jt], C_ldm, (C_len0 - 1) * C_len1 * 8",
        0,
    ),
    "a length in elements": ("sums", "x_ldm, x_len * 8, (void *)&x_got", "x_ldm, x_len, (void *)&x_got", 0),
    "the pitch for the gap": ("sums", "0, (n - A_len1) * 8, A_len1 * 8", "0, n * 8, A_len1 * 8", -1),
    "a gap for other rows": ("product", "(l - A_len1) * 8", "(m - A_len1) * 8", -1),
    "fetched from elsewhere": (
        "sums",
        "&x[it], x_ldm, x_len * 8, (void *)&x_got",
        "&x[it + 1], x_ldm, x_len * 8, (void *)&x_got",
        0,
    ),
    "brought back to elsewhere": ("sums", "x_ldm, &x[it], x_len", "x_ldm, &x[0], x_len", 0),
    "brought back to another array": ("sums", "x_ldm, &x[it], x_len", "x_ldm, &y[it], x_len", 0),
    "the halo is too small": (
        "grid",
        "const long A_len1 = tw_min(258, n - jt",
        "const long A_len1 = tw_min(257, n - jt",
        -1,
    ),
    "the halo begins late": ("grid", "const long A_at0 = it - 1;", "const long A_at0 = it;", -1),
    "a box beyond the array": ("sums", "const long x_len = tw_min(16, n - it);", "const long x_len = 16;", 0),
    "a buffer too small": ("grid", "double A_ldm[2][2580]", "double A_ldm[2][2560]", 0),
    "rows of another length": ("product", "double (*const C_t)[C_len1]", "double (*const C_t)[96]", 0),
    "layers in one place": ("layers", "A_ldm[jt_now ^ 1] + q0 * A_len1 * A_len2", "A_ldm[jt_now ^ 1] + q0 * A_len2", 0),
    "a layer is left out": ("layers", "q0 < B_len0", "q0 < B_len0 - 1", 0),
    "layers of another tile": ("layers", "&B[ht + q0][it][jt]", "&B[ht][it][jt]", 0),
    "rows on top of each other": ("rows", "A_ldm + q0 * A_len1", "A_ldm + q0", 0),
    "a flat address without its rows": ("flat", "&B[it * m + jt]", "&B[it + jt]", 0),
    "a flat address by the other size": ("flat", "&A[it * m + jt_next]", "&A[it * n + jt_next]", -1),
    "another array's pointer": ("sums", "double *const y = args->y;", "double *const y = args->x;", 0),
    # what comes and goes when
    "not fetched though it is read": (
        "triangle",
        "C_got = 0;\n    athread_get(PE_MODE, &C[it][jt], C_ldm, C_len0 * C_len1 * 8, "
        "(void *)&C_got, 0, (n - C_len1) * 8, C_len1 * 8);\n    dma_wait(&C_got, 1);\n",
        "",
        0,
    ),
    "a forgotten put": (
        "rows",
        "B_put = 0;\n    for (long q0 = 0; q0 < B_len0; q0++)\n      athread_put(PE_MODE, B_ldm + q0 * B_len1, "
        "&B[it + q0][jt], B_len1 * 8, (void *)&B_put, 0, 0);\n    dma_wait(&B_put, B_len0);\n",
        "",
        0,
    ),
    "no wait for a fetch": ("sums", "dma_wait(&x_got, 1);\n", "", 0),
    "no wait for what was fetched ahead": ("product", "dma_wait(&B_got[kt_now], 1);\n", "", 0),
    "a wait for the other copy": ("sums", "dma_wait(&A_got[jt_now], 1);", "dma_wait(&A_got[jt_now ^ 1], 1);", 0),
    "a wait for fewer commands": ("layers", "dma_wait(&A_got[jt_now], A_len0);", "dma_wait(&A_got[jt_now], 1);", 0),
    "no wait before a buffer is used again": ("grid", "dma_wait(&B_put, B_out);\n", "", 0),
    "no wait at the end": ("sums", "dma_wait(&x_put, x_out);", "", 1),
    "puts that nobody counts": ("sums", "x_out = 1;", "", 0),
    "a reply word that is not reset": ("table", "y_got = 0;\n", "", 0),
    "the copy that is in use is filled": ("sums", "A_ldm[jt_now ^ 1]", "A_ldm[jt_now]", 0),
    "the same tile is fetched again": ("sums", "const long jt_next = jt + 192;", "const long jt_next = jt;", 0),
    "the last tile is not fetched": ("sums", "if (jt + 192 < n) {", "if (jt + 384 < n) {", 0),
    "the first tile is not fetched": ("sums", "if (0 < n) {", "if (1 < n) {", 0),
    "copies are not exchanged": ("sums", "jt += 192, jt_now ^= 1", "jt += 192", 0),
    "fetched for all before all are ready": ("table", "tw_barrier();\n", "", 0),
    "only half of the cores get it": ("table", "(char)0xff", "(char)0x0f", 0),
    "all cores fetch for all": ("table", "if (id == 0)", "if (id >= 0)", 0),
    "fetched where it is not needed": ("product", "if (l >= 1) {\n      C_put", "if (l >= 2) {\n      C_put", 0),
    "bytes of a block before its gap": (
        "pro",
        "A_len1 * 8, (n - A_len1) * 8, &A_got",
        "(n - A_len1) * 8, A_len1 * 8, &A_got",
        -1,
    ),
    # who runs what
    "a skipped tile": ("sums", "it += 1024", "it += 2048", 0),
    "tiles of two cores": ("sums", "long it = id * 16", "long it = id * 8", 0),
    "every core runs every tile": ("product", "if (turn++ % 32 != id)\n      continue;\n", "", 0),
    "dealt to more cores than there are": ("product", "turn++ % 32", "turn++ % 64", 0),
    "rows and columns of cores exchanged": ("grid", "rid = id / 8, cid = id % 8", "rid = id % 8, cid = id / 8", 0),
    "a column of cores runs all": ("rows", "jt = cid * 32; jt < n; jt += 256", "jt = 0; jt < n; jt += 32", 0),
    "a tile ends early": ("rows", "i < tw_min(n, it + 32)", "i < tw_min(n, it + 31)", 0),
    "a statement on another element": ("rows", "A_t[i - it][j - jt] * 2.0", "A_t[i - it][i - it] * 2.0", 0),
    "a statement twice": (
        "rows",
        "B_t[i - it][j - jt] = A_t[i - it][j - jt] * 2.0;",
        "{ B_t[i - it][j - jt] = A_t[i - it][j - jt] * 2.0; B_t[i - it][j - jt] = A_t[i - it][j - jt] * 2.0; }",
        0,
    ),
    "a statement from main memory": ("sums", "x_t[i - it] += A_t", "x[i] += A_t", 0),
}


def damaged(text: str, old: str, new: str, which: int) -> str:
    assert text.count(old) > max(which, 0), old
    if which < 0:
        return text.replace(old, new)
    parts = text.split(old)
    return old.join(parts[: which + 1]) + new + old.join(parts[which + 1 :])


@pytest.mark.parametrize("what", CHANGES)
def test_damage_is_found(what: str) -> None:
    name, old, new, which = CHANGES[what]
    found = printed(name)
    assert found.wrong(damaged(found.text, old, new, which)) != ""


CONVOLUTION = """void f(int n, double y[n][64], double a[n][32], double b[n][32]) {
#pragma scop
for (int r = 0; r < n; r++)
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++)
      y[r][i + j] %s a[r][i] * b[r][j];
#pragma endscop
}
"""


@pytest.mark.parametrize("op", ["+=", "="])
def test_sums_keep_their_order_where_two_loops_move_one_subscript(tmp_path, capsys, op: str) -> None:
    """Lanes along i would add up from the last i to the first, or leave another value."""
    source, plan = tmp_path / "f.c", tmp_path / "f.plan"
    source.write_text(CONVOLUTION % op)
    plan.write_text("region 1\n  tile S1.r:8\n  parallel S1.rt\n")
    assert main(["check", "--target", "sunway", "--plan", str(plan), str(source)]) == 0


BESIDE = """void f(int n, double A[n][n]) {
#pragma scop
for (int k = 0; k < n; k++)
  for (int i = 0; i < n; i++)
    if (i != k) A[i][k] += 1.0;
#pragma endscop
}
"""


def test_what_stands_beside_a_bound_loop_runs_once(tmp_path, capsys) -> None:
    """A tile of one row is taken out of the inner of two bound loops: all cores of a row come to it."""
    source = tmp_path / "f.c"
    source.write_text(BESIDE)
    assert main(["check", "--target", "sunway", str(source)]) == 0
    (kernel,) = kernels_of(BESIDE)
    assert "if (cid == 0) {" in kernel.text
    assert kernel.wrong(kernel.text.replace("if (cid == 0) {", "{")).endswith("runs on more than one core")
    assert kernel.wrong(kernel.text.replace("if (cid == 0) {", "if (rid == 0) {")) != ""
