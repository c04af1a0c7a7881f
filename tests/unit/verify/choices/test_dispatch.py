"""The check of versions finds what is not as the default text is at their level."""

from __future__ import annotations

import pytest

from codegen.target.dispatch.levels import Level, level_text
from codegen.verify.choices.dispatch import wrong_versions

WHENS = ("defined(__BIG__)", "defined(__SMALL__)", "")
SUPPORT = """\
#define tw_twice(x) (2 * (x))
#if defined(__BIG__)
#define TW_BYTES 64
#elif defined(__SMALL__)
#define TW_BYTES 32
#else
#define TW_BYTES 16
#endif
#define TW_LANES (TW_BYTES / 8)
typedef double tw_v __attribute__((vector_size(TW_BYTES)));
typedef double tw_w __attribute__((vector_size(16)));
#if TW_LANES == 8
#define tw_turned(x) big(x)
#else
#define tw_turned(x) small(x)
#endif
#ifndef TW_KERNEL_
#define TW_KERNEL_
static void tw_kernel(tw_v *a)
{
  a[0] = a[TW_LANES] + tw_twice(TW_BYTES);
}
#endif
#define TW_BETWEEN 1
static int tw_other(void) { return TW_BETWEEN; }
#undef TW_BETWEEN
"""
FUNCTION = "(tw_v *a, tw_w *b) { tw_kernel(a + TW_LANES); tw_turned(tw_twice(b)); tw_other(); }"


def made(chosen: int) -> tuple[str, dict[str, str], str]:
    words = ("tw_v", "tw_w", "tw_kernel", "TW_LANES", "tw_turned", "tw_twice", "tw_other")
    level = level_text(SUPPORT, WHENS, chosen, Level("big"), words)
    copy = "(tw_v_big *a, tw_w *b) { tw_kernel_big(a + TW_LANES_BIG); tw_turned_big(tw_twice(b)); tw_other(); }"
    return level.text.replace("TW_BIG ", ""), dict(level.names), copy


def test_what_differs_has_names_of_its_own() -> None:
    text, names, copy = made(0)
    assert set(names) == {"TW_BYTES", "TW_LANES", "tw_v", "tw_turned", "TW_KERNEL_", "tw_kernel", "TW_BETWEEN"} | {
        "tw_other"
    }
    assert "#define TW_BYTES_BIG 64\n" in text and "#if TW_LANES_BIG == 8\n" in text and "tw_w" not in text
    copy = copy.replace("tw_other", "tw_other_big")
    assert wrong_versions(SUPPORT, WHENS, 0, (text, names), [(FUNCTION, copy)]) == ""


@pytest.mark.parametrize(
    "chosen, old, new, words",
    [
        (1, "", "", "another function"),  # the text of a level under the condition of another one
        (0, "tw_kernel_big(a + TW_LANES_BIG)", "tw_kernel_big(a + TW_LANES)", "another function"),
        (0, "tw_v_big *a, tw_w", "tw_v *a, tw_w", "another one where defined(__SMALL__)"),
        (0, "tw_kernel_big(", "tw_kernel(", "`tw_kernel_big` is not defined"),
        (0, "vector_size(TW_BYTES_BIG)", "vector_size(TW_BYTES)", "is another one than `tw_v`"),
        (0, "a[TW_LANES_BIG]", "a[1]", "is another one than `tw_kernel`"),
        (0, "BYTES_BIG 64", "BYTES_BIG 32", "another function"),
        (0, "#if TW_LANES_BIG == 8", "#if TW_LANES == 8", "is another one than `tw_turned`"),
        (0, "#define tw_turned_big(x) small(x)", "", "shorter"),
    ],
)
def test_mistakes_are_found(chosen: int, old: str, new: str, words: str) -> None:
    text, names, copy = made(0)
    copy = copy.replace("tw_other", "tw_other_big")
    assert old in text + copy
    found = wrong_versions(
        SUPPORT, WHENS, chosen, (text.replace(old, new or "") if old else text, names),
        [(FUNCTION, copy.replace(old, new) if old else copy)],
    )  # fmt: skip
    assert words in found
