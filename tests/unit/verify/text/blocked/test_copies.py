"""Slivers that are copied as they lie in memory: the right elements, as many as there are, of the buffer's type."""

from __future__ import annotations

import pytest

from codegen.verify.text.blocked.product import wrong_products
from tests.unit.verify.text.blocked.test_product import SOURCE, changed, printed

COPY = "__builtin_memcpy(tw_to, &B[kb + kr][jb + jt], 8 * sizeof *tw_to);"
CHANGES = {
    "elements of another array": COPY.replace("&B", "&A"),
    "the next column's": COPY.replace("jb + jt", "jb + jt + 1"),
    "another depth's": COPY.replace("kb + kr", "kb"),
    "fewer": COPY.replace("8 *", "7 *"),
    "more than a sliver": COPY.replace("8 *", "9 *"),
    "bytes in place of elements": COPY.replace("8 * sizeof *tw_to", "8"),
    "elements of another size": COPY.replace("*tw_to)", "*tw_tile)"),
    "fewer than none": COPY.replace("8 *", "(tw_n - 9) *"),
    "back": COPY.replace("tw_to, &B[kb + kr][jb + jt]", "&B[kb + kr][jb + jt], tw_to"),
    "into the tile": COPY.replace("tw_to,", "tw_tile,"),
    "what lies there as an address": COPY.replace("&", ""),
    "by another function": COPY.replace("memcpy", "memmove"),
    "twice as far": COPY.replace("memcpy(tw_to", "memcpy(tw_to + 8"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_copies_are_refused(what: str) -> None:
    emitted = printed("c")
    assert wrong_products(changed(emitted.plain, COPY, CHANGES[what], 0), emitted.products)


def test_elements_of_other_types_are_converted_one_by_one() -> None:
    for old, new in (("double B", "float B"), ("* B[k][j]", "* (B[k][j] + 1)")):
        emitted = printed("c", SOURCE.replace(old, new))
        assert emitted.products and "memcpy" not in emitted.plain
        assert wrong_products(emitted.plain, emitted.products) == ""


@pytest.mark.parametrize("kind", ["int tw_v[8]", "float tw_v[8]", "double tw_v[8][8]"])
def test_values_on_their_way_have_the_type_of_the_buffer(kind: str) -> None:
    emitted = printed("c", SOURCE.replace("double B", "float B"))
    assert wrong_products(changed(emitted.plain, "double tw_v[8]", kind, 0), emitted.products)


def test_a_copy_of_another_type_is_refused() -> None:
    emitted = printed("c", SOURCE.replace("double B", "float B"))
    loops = (
        "double tw_v[8]; /* all is read before it is written: nothing to be said about overlaps */ "
        "for (long jr = 0; jr < 8; jr++) tw_v[jr] = B[kb + kr][jb + jt + jr]; "
        "for (long tw_l = 0; tw_l < 8; tw_l++) tw_to[tw_l] = tw_v[tw_l];"
    )
    assert "__builtin_memcpy" in wrong_products(changed(emitted.plain, loops, COPY, 0), emitted.products)
