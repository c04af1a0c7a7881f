"""Kernels that fetch the next block of the right operand: they read nothing there, and no address is computed of what
does not exist."""

from __future__ import annotations

import pytest

from codegen.isa.load import load as load_isa
from codegen.target.product.microkernel import micro_kernel
from codegen.target.product.microkernel_rolled import far_columns, looks_further
from codegen.verify.text.blocked.product import wrong_products
from codegen.verify.text.kernel import wrong_kernel
from tests.unit.verify.text.blocked.test_product import SOURCE, changed, printed
from tests.unit.verify.text.test_kernel import ROLLED as AVX2

ROLLED = ("avx512", AVX2[1])
HERE = "&B[kb][tw_over]"
FAR, APART = f"tw_far = tw_fetch ? {HERE}", f"&B[kb + 1][tw_over] - {HERE}"
CHANGES = {
    "a column behind the last": (" && tw_over < m", "", 0),
    "a column ahead of the first": ("tw_over = jb + tw_nc", "tw_over = jb - tw_nc", 0),
    "a depth behind the last": ("&& tw_k > 1", "", 0),
    "another array": (FAR, FAR.replace("B", "A"), 0),
    "another column": (FAR, FAR.replace("tw_over", "tw_over + 1"), 0),
    "a later depth": (FAR, FAR.replace("kb", "kb + 2"), 0),
    "what lies there": (FAR, FAR.replace("&", ""), 0),
    "whatever the condition": (f"{FAR} : tw_b", f"tw_far = {HERE}", 0),
    "the other way round": ("tw_fetch ? &B[kb][tw_over] : tw_b", "tw_fetch ? tw_b : &B[kb][tw_over]", 0),
    "something that is not there": (f"{FAR} : tw_b", f"{FAR} : tw_q", 0),
    "a distance from another array": (APART, APART.replace("&B[kb]", "&A[kb]"), 0),
    "a distance to a later depth": (APART, APART.replace("kb + 1", "kb + 2"), 0),
    "an address from nowhere": ("tw_far, tw_apart", "tw_q, tw_apart", 0),
    "a distance from nowhere": ("tw_far, tw_apart", "tw_far, A[0][0]", 0),
}
FETCH = "TW_PREFETCH_FAR(far, p * apart);"
KERNELS = {
    "a value is read there": ("y[j] = _mm512_loadu_pd(b", "y[j] = _mm512_loadu_pd(far"),
    "a value of the left operand is read there": ("part = a + i", "part = far + i"),
    "something is stored there": (FETCH, "_mm512_storeu_pd(far, y[0]);"),
    "the count of steps is where b is": ("pd(b +", "pd(b + p +"),
    "the address moves": (FETCH, f"{FETCH} far += apart;"),
    "another call": (FETCH, "TW_PREFETCHED(far, p * apart);"),
    "what lies there tells how far": (FETCH, "TW_PREFETCH_FAR(far, far[p]);"),
    "what lies there tells whether": ("if (apart)", "if (far[p])"),
    "what lies there tells how near": ("if (a_step > 1)", "if (far[p] > 1)"),
    "the question moves": ("if (apart)", "if (apart++)"),
    "b moves if asked": (FETCH, "b += 16;"),
    "a row changes if asked": (FETCH, "acc[0][0] = acc[1][0];"),
    "something else if not asked": (FETCH, f"{FETCH} else a += 2;"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_addresses_are_refused(what: str) -> None:
    emitted = printed("c", SOURCE, "avx512")
    assert wrong_products(changed(emitted.plain, *CHANGES[what]), emitted.products)


@pytest.mark.parametrize("what", KERNELS)
def test_kernels_that_do_more_than_fetch_are_refused(what: str) -> None:
    (isa, kernel), (old, new) = ROLLED, KERNELS[what]
    text = micro_kernel(load_isa(isa), kernel)
    assert old in text
    assert wrong_kernel(load_isa(isa), kernel, text.replace(old, new))


def test_long_vectors_fetch_whole_slivers() -> None:
    isa, kernel = ROLLED
    assert far_columns(load_isa(isa), kernel) == 16
    for short in (load_isa("generic"), load_isa(AVX2[0])):
        assert not looks_further(short, kernel) and not far_columns(short, kernel)


def test_right_operands_in_the_order_of_columns_are_not_fetched() -> None:
    apart = SOURCE.replace("B[k][j]", "B[j][k]").replace("B[l][m]", "B[m][l]")
    emitted = printed("c", apart, "avx512")
    assert "tw_far" not in emitted.plain and "tw_b, tw_at, tw_ld, tw_b, 0" in emitted.plain
    assert wrong_products(emitted.plain, emitted.products) == ""
