"""Macros for what generated text repeats: what becomes one, that it expands to what it was, and links to statements."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from codegen.target.finish.alike import NOTHING, Offset, Substitution, added_up, substitution, tokens
from codegen.target.finish.outline import outlined, same_code
from codegen.target.finish.rows import laid_out, side_by_side
from tests.macros import without_macros

VALUE = ("(real)0.2 * ({0}[{1}][j] + {0}[{1}][j - 1] + {0}[{1}][j + 1] + {0}[{2}][j] + {0}[{3}][j]"
         " + some_other[{1}][j] * (some_other[{1}][j - 1] + some_other[{1}][j + 1] + some_other[{1}][j + 2]"
         " + some_other[{1}][j + 3] + some_other[{1}][j + 4]))")  # fmt: skip


def region(*lines: str) -> str:
    body = "\n".join(f"      {line}" for line in lines)
    return f"    /* tilewright: region 1 of f */\n    {{\n{body}\n    }}\n"


def rows(array: str, to: str) -> list[str]:
    values = [VALUE.format(array, f"i{a}", f"i{b}", f"i{c}") for a, b, c in
              (("", " + 1", " - 1"), (" + 1", " + 2", ""), (" + 2", " + 3", " + 1"))]  # fmt: skip
    return [f"{to}[i + {k}][j] = {value};" for k, value in enumerate(values)]


@pytest.mark.parametrize(("one", "two", "names"), [
    ("a[i][j + 1] = b0;", "a[i + 2][j + 1] = b1;", {"i": ("i", Offset(2)), "b0": ("b1", NOTHING)}),
    ("a[i - 1] + a[i + 1]", "a[i] + a[i + 2]", {"i": ("i", Offset(1))}),
    ("*(v *)(p + j)", "*(v *)(p + j + 4)", {"j": ("j", Offset(4))}),
    ("a[j]", "a[j + 2 * TW_F64_LANES + 1]", {"j": ("j", Offset(1, 2, "TW_F64_LANES"))}),
    ("a[j + TW_F64_LANES]", "a[j + 2 * TW_F64_LANES]", {"j": ("j", Offset(0, 1, "TW_F64_LANES"))}),
    ("a[j + TW_F64_LANES]", "a[j + TW_F32_LANES]", None),
    ("a[j]", "a[j + TW_F64_LANES / 2]", None),
    ("a[2 * i]", "a[2 * i + 1]", None),  # `2 * i + 1` would stand there, and read as if it were twice that
    ("a[i] + a[i + 1]", "a[i] + a[i + 2]", None),
    ("low(a)", "high(a)", None),  # functions and macros keep their names
    ("s.x + x", "s.x + y", None),  # a macro would replace the member, too
    ("a - i", "a - i + 1", None),
    ("f(x + 1.5)", "f(x + 2.5)", None),
    ("a[i] = 1;", "a[i] = 2;", None),
])  # fmt: skip
def test_what_makes_one_of_the_other(one: str, two: str, names: Substitution | None) -> None:
    found = substitution([tokens(one)], [tokens(two)])
    assert (found and {n: to for n, to in found.items() if to != (n, NOTHING)}) == names


def test_sums_in_subscripts() -> None:
    assert added_up(tokens("a[i + 2 - 1] + x + 2 - 1")) == tokens("a[i + 1] + x + 2 - 1")
    twice = tokens("a[j + TW_F64_LANES + 1 + TW_F64_LANES - 3]")
    assert added_up(twice) == tokens("a[j + 2 * TW_F64_LANES - 2]")
    assert added_up(tokens("a[2 * i + 1 - 1]")) == tokens("a[2 * i + 1 - 1]")  # nobody asks for more


def test_a_value_becomes_a_macro() -> None:
    """For two statements that differ in arrays, too; its body is the text of its first use."""
    text = region(*rows("a", "b"), "for (;;) {", *rows("b", "a"), "}")
    links = tuple((n, "S1" if n < 5 else "S2") for n in (2, 3, 4, 6, 7, 8))
    made, moved, names = outlined(text, (), links)
    assert names == {"TW_S1_S2"} and made.count("0.2") == 1 and made.count("#undef TW_S1_S2\n") == 1
    assert f"#define TW_S1_S2(a, i) ({VALUE.format('a', 'i', 'i + 1', 'i - 1')})\n" in made
    assert "b[i + 0][j] = TW_S1_S2(a, i);" in made and "a[i + 2][j] = TW_S1_S2(b, i + 2);" in made
    assert {made.split("\n")[n].strip()[:10] for n, _ in moved} == {f"{x}[i + {k}][j" for x in "ab" for k in range(3)}
    assert same_code(made, text)


def test_steps_become_a_macro() -> None:
    step = [f"const v x{k} = of_a_row(some_array, a[i + {k}][j]);" for k in range(8)]
    step += [f"b[x{k}] = of_a_row(some_array, x{k} * y);" for k in range(8)]
    later = [line.replace("[j]", "[j + 2]").replace("y)", "z)") for line in step]
    text = region("{", *step, "}", "{", *later, "}", "{", *step, "}")
    made, _, names = outlined(text)
    assert names == {"TW_REGION_STEPS"} and "TW_REGION_STEPS(j + 2, z);" in made
    assert made.count("TW_REGION_STEPS(j, y);") == 2
    assert laid_out(made)[0].count("\n      { TW_REGION_STEPS(j") == 3
    assert same_code(made, text) and made.count("of_a_row") == 16 and without_macros(made).count("of_a_row") == 48


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a preprocessor")
def test_the_preprocessor_agrees() -> None:
    text = region(*rows("a", "b"), *rows("b", "a"))
    made, _, names = outlined(text)
    assert names

    def through(source: str) -> str:
        ran = subprocess.run(["gcc", "-E", "-P", "-"], input=source, capture_output=True, text=True, check=True)
        return re.sub(r"= \(\(real\)(.*)\);", r"= (real)\1;", ran.stdout)  # parentheses around all that is assigned

    assert added_up(tokens(through(made))) == added_up(tokens(through(text)))


def test_what_stays() -> None:
    """The user's text, what is short, what stands there twice only, and what macros with other names stand for."""
    text = region(*rows("a", "b"), *rows("b", "a"))
    assert outlined(text, ["\n".join(text.split("\n")[2:8])]) == (text, (), frozenset())
    assert outlined(text, (), (), range(20)) == (text, (), frozenset())
    short = region("b[i] = a[i];", "b[i + 1] = a[i + 1];", "b[i + 2] = a[i + 2];")
    assert outlined(short) == (short, (), frozenset())
    taken = region(*rows("a", "b"), *rows("b", "a"), "TW_REGION_VALUE = TW_REGION_VALUE_2;")
    assert outlined(taken)[2] == {"TW_REGION_VALUE_3"}


def test_a_wrong_macro_is_found() -> None:
    text = region(*rows("a", "b"), *rows("b", "a"))
    made, _, _ = outlined(text)
    assert same_code(made, text)
    other = ("TW_REGION_VALUE(b, i)", "TW_REGION_VALUE(a, i)")
    for old, new in ((" + 3]", " + 4]"), other, ("0.2", "0.3"), ("- 1]", "- 1 * 2]")):
        assert old in made or old == " + 3]"
        assert made == made.replace(old, new) or not same_code(made.replace(old, new), text)


def test_rows() -> None:
    lines = [f"  c{r}{j} = c{r}{j} + (b{j} * a{r});" for r in range(2) for j in range(3)]
    assert side_by_side(lines) == (["  " + " ".join(x.strip() for x in lines[k : k + 3]) for k in (0, 3)],
                                   [0, 0, 0, 1, 1, 1])  # fmt: skip
    other = ["  x = 1;", "  y = 1;", "  for (;;)", "    a0 = 1;", "  b0 = 1;", "  {", "    b1 = 1;", "  }"]
    other += ["/* b0 = 1;", "b1 = 1; */", "#define X \\", "  b0 = 1; \\", "  b1 = 1;"]
    assert side_by_side(other)[0] == other
    assert side_by_side(lines, range(6))[0] == lines
