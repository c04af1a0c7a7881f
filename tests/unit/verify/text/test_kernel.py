"""What register kernels carry from step to step: nothing but the tile and the places of the two operands."""

from __future__ import annotations

import re

import pytest

from codegen.isa.load import load as load_isa
from codegen.scop.lanes import Lane
from codegen.target.product.microkernel import MicroKernel, micro_kernel
from codegen.verify.text.kernel import wrong_kernel

ADD = Lane("add", (Lane("acc"), Lane("mul", (Lane("a"), Lane("b")))))
ROLLED = ("avx2", MicroKernel("f64", ADD, 0, 4, 2))
TALL = ("avx512", MicroKernel("f64", ADD, 0, 7, 2))
UNROLLED = ("sve", MicroKernel("f64", ADD, 0, 2, 1, unroll=2))
EACH = "for (long p = 0; p < k; p++) {"
STEPS = f"TW_STEPS {EACH}"
VALUE = "_mm256_set1_pd(part[i % 5 * a_row - a_step])"
MORE = "for (; p < k; p++) {"

# What is damaged, in which kernel, and the texts that stand in place of others.
DAMAGED = {
    "another pointer to b stays": (ROLLED, (STEPS, f"const double *q = b;\n  {STEPS}"), ("pd(b + 4", "pd(q + 4")),
    "another pointer to a moves otherwise": (
        ROLLED,
        (STEPS, f"const double *q = a;\n  {STEPS}"),
        (VALUE, "_mm256_set1_pd(q[i * a_row - a_step])"),
        ("a += a_step;", "a += a_step; q += 2 * a_step;"),
    ),
    "a row of the tile moves": (ROLLED, ("a += a_step;", "a += a_step; row[1] += ldc;")),
    "a value of the first step": (
        ROLLED,
        (STEPS, f"const __m256d z = _mm256_set1_pd(a[0]);\n  {STEPS}"),
        (VALUE, "z"),
    ),
    "an element of the first step": (
        ROLLED,
        (STEPS, f"const double z = a[0];\n  {STEPS}"),
        (VALUE, "_mm256_set1_pd(z)"),
    ),
    "rows from another one on": (TALL, ("part = a + i * a_row", "part = a + a_row")),
    "rows counted from another one": (TALL, ("i % 5 == 0", "i % 4 == 0")),
    "rows from none on": (TALL, ("part = a + i * a_row;", "")),
    "rows from where b is": (TALL, ("part = a + i * a_row;", "part = b + i * a_row;")),
    "the first of rows moves": (TALL, ("TW_HOLD(part, a_row);", "part += a_row;")),
    "another row is held": (TALL, ("TW_HOLD(part, a_row);", "TW_HOLD(part, b[0]);")),
    "another tile in a block": (ROLLED, (STEPS, f"{{ double *c = c + 1; }}\n  {STEPS}")),
    "all steps after some": (UNROLLED, (MORE, EACH)),
    "the count begins again": (UNROLLED, (MORE, f"long p = 0;\n  {MORE}")),
    "the operands begin again": (
        UNROLLED,
        ("long p = 0;", "const double *first = a;\n  long p = 0;"),
        (MORE, f"a = first;\n  {MORE}"),
    ),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_kernels_are_refused(what: str) -> None:
    (isa, kernel), *changes = DAMAGED[what]
    table = load_isa(isa)
    text = micro_kernel(table, kernel)
    assert wrong_kernel(table, kernel, text) == ""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    assert wrong_kernel(table, kernel, text)


def test_steps_that_are_left_over_are_taken() -> None:
    table, kernel = load_isa(UNROLLED[0]), UNROLLED[1]
    text = micro_kernel(table, kernel)
    without = re.sub(r"  for \(; p < k; p\+\+\) \{.*?\n  \}\n", "", text, flags=re.DOTALL)
    assert without != text
    assert wrong_kernel(table, kernel, without) == "it leaves steps out"
