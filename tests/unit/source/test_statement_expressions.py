"""Statement expressions that only name values, in plain C."""

from __future__ import annotations

import pytest

from codegen.source.statement_expressions import plain_statement_expressions

LESS = "({ __typeof__ (%s) _a = (%s); __typeof__ (%s) _b = (%s); _a < _b ? _a : _b; })"


def less(a: str, b: str) -> str:
    return LESS % (a, a, b, b)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (less("x", "a[i]"), "(((x))<((a[i]))?((x)):((a[i])))"),
        (less("x", less("y", "z")), "(((x))<(((((y))<((z))?((y)):((z)))))?((x)):(((((y))<((z))?((y)):((z))))))"),
        ("({ typeof(x) p = (x); typeof(y) q = (y); (void)(&p == &q); p + q; })", "(((x))+((y)))"),
        ("({ const __auto_type v = f(x); v; })", "((f(x)))"),
        (less("fabs(x)", "sqrt(y)"), "(((fabs(x)))<((sqrt(y)))?((fabs(x))):((sqrt(y))))"),
    ],
)
def test_in_place(text: str, plain: str) -> None:
    made = plain_statement_expressions(f"r = {text};")
    assert len(made) == len(text) + 5 and "".join(made.split()) == f"r={plain};"


@pytest.mark.parametrize(
    "text",
    [
        less("next(x)", "y"),  # to be called once
        less("i++", "y"),
        less("_a", "y"),  # means the new one
        "({ typeof(x) v = (y); v * 2 + v; })",  # of another type
        "({ int i = 0; i++; })",
        "({ typeof(x) v = (x); y = v; })",
        "({ 1; })",
        "({ typeof(x) v = (x); if (v) y; })",
        "({ typeof(x) v",
    ],
)
def test_others_stay(text: str) -> None:
    assert plain_statement_expressions(text) == text
