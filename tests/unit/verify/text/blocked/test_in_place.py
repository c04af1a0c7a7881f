"""Products that read their left operand where it lies: which ones may, and that damaged text is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.verify.text.blocked.product import wrong_products
from codegen.verify.text.check import wrong_text
from tests.unit.verify.text.blocked.test_product import SOURCE, TRIANGLE, changed, printed

PLAIN = SOURCE.replace("alpha * A[i][k]", "A[i][k]")
LIES = "tw_panels(tw_columns, tw_nr) <= TW_SIZE(32)"  # when it is read there

# What is damaged, the text, what stands there instead, and which of several places.
CHANGES = {
    "another row": ("tw_there ? &A[ib + it][kb]", "tw_there ? &A[ib + it + 1][kb]", 0),
    "another depth": ("tw_there ? &A[ib + it][kb]", "tw_there ? &A[ib + it][kb + 1]", 0),
    "another array": ("tw_there ? &A[ib + it][kb]", "tw_there ? &B[ib + it][kb]", 0),
    "the first rows": ("tw_there ? &A[ib + it][kb]", "tw_there ? &A[ib][kb]", 0),
    "every second row": ("&A[ib + it + 1][kb] - &A", "&A[ib + it + 2][kb] - &A", 0),
    "rows in the target's distance": (
        "&A[ib + it + 1][kb] - &A[ib + it][kb]",
        "&C[ib + it + 1][jb + jt] - &C[ib + it][jb + jt]",
        0,
    ),
    "rows as if they were packed": ("tw_lda = tw_there ? &A[ib + it + 1][kb] - &A[ib + it][kb] : 1", "tw_lda = 1", 0),
    "rows that are not there": ("it + 6 <= tw_r", "it + 5 <= tw_r", 0),
    "rows of the next block": ("it + 6 <= tw_r", "it + 6 <= tw_mc", 0),
    "what is not packed is read from the buffer": ("tw_there = tw_lies &&", "tw_there = !tw_lies &&", 0),
    "packed rows as if they lay apart": ("if (tw_there)", "if (tw_lies)", 0),
    "rows that lie apart as if they were packed": ("if (tw_there)", "if (!tw_there)", 0),
    "the last rows are not packed": ("tw_filled : 0", "tw_r : 0", 0),
    "nothing else is packed": ("tw_lies ? tw_filled : 0", "tw_filled", 0),
    "too few rows are packed": ("tw_r - tw_r % 6", "tw_r - tw_r % 4", 0),
    "packed where later columns read it, not where the first do": (LIES, "jb == 0", 0),
    "the same by columns that nothing is known of": (LIES, "jb % 7 == 0", 0),
    "the distance in another type": ("const long tw_lda", "const int tw_lda", 0),
}
CHOICES = {
    "packed in another distance": ("k, a, 1, 6, b", "k, a, 1, 8, b", 0),
    "packed rows apart": ("k, a, 1, 6, b", "k, a, 6, 1, b", 0),
    "steps apart": ("k, a, lda, 1, b", "k, a, lda, 6, b", 0),
    "rows side by side": ("k, a, lda, 1, b", "k, a, 1, lda, b", 0),
    "fewer rows": ("_tile(6, 2, k, a, lda", "_tile(3, 2, k, a, lda", 0),
    "fewer columns": ("_tile(6, 2, k, a, lda", "_tile(6, 1, k, a, lda", 0),
}


def test_blocks_beside_very_few_columns_are_deep() -> None:
    """Where tiles are gone through along rows; a depth of nothing is refused."""
    emitted = printed("c", PLAIN, "avx512", "sapphire-rapids")
    assert "TW_SIZE(tw_long ? 1024 : " in emitted.plain and "tw_long" not in printed("c", PLAIN).plain
    assert wrong_text(emitted) == ""
    assert wrong_products(changed(emitted.plain, "tw_long ? 1024", "tw_long ? 0", 0), emitted.products)


@pytest.mark.parametrize("target", ["c", "openmp"])
@pytest.mark.parametrize("isa", ["avx2", "generic"])
def test_a_left_operand_in_lines_is_read_where_it_lies(target: str, isa: str) -> None:
    emitted = printed(target, PLAIN, isa)
    assert "tw_lies" in emitted.plain
    assert wrong_text(emitted) == ""


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_products_are_refused(what: str) -> None:
    emitted = printed("c", PLAIN)
    assert wrong_products(changed(emitted.plain, *CHANGES[what]), emitted.products)


@pytest.mark.parametrize("what", ["another row", "rows that are not there", "the last rows are not packed"])
def test_damaged_teams_are_refused(what: str) -> None:
    emitted = printed("openmp", PLAIN)
    assert wrong_products(changed(emitted.plain, *CHANGES[what]), emitted.products)


@pytest.mark.parametrize("what", CHOICES)
def test_damaged_choices_are_refused(what: str) -> None:
    emitted = printed("c", PLAIN)
    (view,) = emitted.products
    assert wrong_products(emitted.plain, [replace(view, chosen=changed(view.chosen, *CHOICES[what]))])


OTHERS = {
    "steps are no neighbours": PLAIN.replace("A[n][l]", "A[l][n]").replace("A[i][k]", "A[k][i]"),
    "a value that is computed": SOURCE,
    "rows behind pointers": PLAIN.replace("double A[n][l]", "double **A"),
    "another type": PLAIN.replace("double A[n][l]", "float A[n][l]"),
    "a triangle": TRIANGLE,
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_operands_are_packed(what: str) -> None:
    emitted = printed("c", OTHERS[what])
    assert emitted.products and "tw_lies" not in emitted.plain
    assert wrong_text(emitted) == ""


def test_an_operand_that_is_spread_over_vectors_is_packed() -> None:
    step = "C[i][j] -= A[i][k] * B[k][j] + A[i][k]"
    source = PLAIN.replace("double", "short").replace("C[i][j] += A[i][k] * B[k][j]", step)
    emitted = printed("c", source, "neon")
    assert "_spread(" in emitted.plain and "tw_lies" not in emitted.plain
    assert wrong_text(emitted) == ""


def test_an_operand_whose_steps_are_apart_is_not_read_where_it_lies() -> None:
    """The text of a product, with another claim of its left operand."""
    emitted = printed("c", PLAIN)
    (view,) = emitted.products
    turned = replace(view.wanted, left=("A[tw_K][tw_I]",))
    text = emitted.plain.replace("A[ib + it + ir][kb + kr]", "A[kb + kr][ib + it + ir]")
    text = text.replace("A[ib + it][kb]", "A[kb][ib + it]").replace("A[ib + it + 1][kb]", "A[kb][ib + it + 1]")
    assert "has to be packed" in wrong_products(text, [replace(view, wanted=turned)])
