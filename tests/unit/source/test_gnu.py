"""`assert` as GNU headers have it, in words of plain C."""

from __future__ import annotations

from codegen.source.gnu import plain_assertions


def test_in_place() -> None:
    text = 'f(); ({ if (a < (b)) ; else __assert_fail ("a)", "x.c", 2, __PRETTY_FUNCTION__); }); g();\n'
    made = plain_assertions(text)
    assert len(made) == len(text) and made.index("g();") == text.index("g();")
    plain = 'f(); ( (a < (b)) ?0: __assert_fail ("a)", "x.c", 2, __PRETTY_FUNCTION__) ); g();'
    assert " ".join(made.split()) == plain


def test_lines_stay() -> None:
    text = "({ if (a\n&& b)\n; else\n__assert_fail (1);\n});\n"
    made = plain_assertions(text)
    assert made.count("\n") == text.count("\n") and "?0:" in made


def test_others_stay() -> None:
    others = ("({ if (a) ; else f(1); })", "({ if (a) g(); else __assert_fail(1); })", "({ 1; })", "({ if (a")
    for text in others:
        assert plain_assertions(text) == text
