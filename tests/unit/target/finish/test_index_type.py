"""The type of indices in what stands in the file."""

from __future__ import annotations

import pytest

from codegen.target.finish.index_type import defined, index_typed


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("for (long i = 0; i < (long)n; i++)", "for (tw_index i = 0; i < (tw_index)n; i++)"),
        ("x[2 * i - 1L] = 12L;", "x[2 * i - 1LL] = 12LL;"),
        ("const long int *const row = a;", "const long *const row = a;"),
        ("(unsigned long int)x", "(unsigned long)x"),
        ("long long a; unsigned long long b; long double c; unsigned long d;",) * 2,
        ("x = 1.0L + 0x1L + 2UL + 3LL + y1L;",) * 2,
        ("/* as long as\n * 1L */ s = \"long \\\" 1L\"; c = 'L'; // long",) * 2,
        ("a(); /* long */ long b;", "a(); /* long */ tw_index b;"),
        ("long *const tw_o = (long *)tw_alloc(n * (long)sizeof(long));",
         "tw_index *const tw_o = (tw_index *)tw_alloc(n * (tw_index)sizeof(tw_index));"),
    ],
)  # fmt: skip
def test_indices_have_their_own_type(text: str, wanted: str) -> None:
    assert index_typed(text) == wanted


def test_types_are_defined_where_they_are_used() -> None:
    assert defined("long x;") == "" == defined("tw_indexed;")
    assert defined("", {"tw_index"}).count("typedef") == 1 == defined("(tw_address)p").count("typedef")
    assert defined("tw_index a; tw_address b;").count("typedef") == 2
