"""Finding regions in text as users write it."""
from __future__ import annotations

import pytest

from codegen.diagnostics import InputError
from codegen.source.regions import Hint, find_regions
from codegen.source.splice import splice
from tests.unmarked import unmarked


def test_offsets_lines_and_indent() -> None:
    text = "int a;\n  #pragma scop\n  x;\n  #pragma endscop\nint b;\n"
    (region,) = find_regions(text, "f.c")
    assert text[region.begin:region.end] == "  #pragma scop\n  x;\n  #pragma endscop\n"
    assert text[region.body_begin:region.body_end] == "  x;\n"
    assert (region.index, region.first_line, region.last_line, region.indent) == (1, 2, 4, "  ")


@pytest.mark.parametrize("pragma", [
    "#pragma scop", "# pragma  scop", "\t#\tpragma\tscop  ", "#pragma scop // here", "#pragma scop /* here\n there */",
    "#pragma \\\n scop", "%:pragma scop", "#pragma scop\r"])
def test_spellings(pragma: str) -> None:
    text = f"{pragma}\nx;\n#pragma endscop"
    (region,) = find_regions(text, "f.c")
    assert text[region.body_begin:region.body_end] == "x;\n"
    assert region.end == len(text)


@pytest.mark.parametrize("text", [
    "/* \n#pragma scop\n */", "// \\\n#pragma scop\n", 's = "\\\n#pragma scop\\\n";', "#pragma scope\n",
    "x = '\"';\n/*\n#pragma scop\n*/ y = '\"';", "#define P \\\n#pragma scop\n", "int scop;"])
def test_not_pragmas(text: str) -> None:
    assert find_regions(text, "f.c") == ()


def test_quotes_in_directives_do_not_open_strings() -> None:
    text = "#error don't\n#pragma scop\n#pragma endscop\n#warning it's\n#pragma scop\n#pragma endscop\n"
    assert [r.first_line for r in find_regions(text, "f.c")] == [2, 5]


@pytest.mark.parametrize(("text", "line", "words"), [
    ("\n#pragma endscop\n", 2, "without"),
    ("#pragma scop\n#pragma endscop\n  #pragma scop\n", 3, "without"),
    ("#pragma scop\n\n#pragma scop\n#pragma endscop\n", 3, "nest")])
def test_unbalanced(text: str, line: int, words: str) -> None:
    with pytest.raises(InputError) as caught:
        find_regions(text, "f.c")
    assert caught.value.id == "unbalanced-scop"
    assert (caught.value.loc.file, caught.value.loc.line) == ("f.c", line)
    assert words in caught.value.message and caught.value.hint


def test_hints_before_and_inside() -> None:
    text = ("#pragma tilewright stray\nint x;\n#pragma tilewright assume(n > 4) // why\n\n/* c */\n"
            "#pragma tilewright plan \\\n  a.plan\n#pragma scop\n#pragma tilewright inner\n#pragma endscop\n"
            "#pragma tilewright next\n#pragma scop\n#pragma endscop\n")
    first, second = find_regions(text, "f.c")
    assert first.hints == (Hint("assume(n > 4)", 3), Hint("plan   a.plan", 6), Hint("inner", 9))
    assert second.hints == (Hint("next", 11),)
    assert first.leading_lines == 3 and second.leading_lines == 1
    out = splice(text, [(first, "ONE\n")])
    before, after = text.index("#pragma tilewright assume"), text.index("#pragma tilewright next")
    assert out == unmarked(f"{text[:before]}\n/* c */\nONE\n{text[after:]}")


def test_splice_keeps_every_other_byte() -> None:
    text = "a\udcff\n#pragma scop\n1;\n#pragma endscop\nb\n#pragma scop\n2;\n#pragma endscop\nc"
    regions = find_regions(text, "f.c")
    assert splice(text, [(regions[1], "Y\n"), (regions[0], "X\n")]) == "a\udcff\nX\nb\nY\nc"
    assert splice(text, [(regions[1], "Y\n")]).startswith(unmarked(text[:regions[1].begin]))
    assert splice(text, []) == unmarked(text)


def test_splice_keeps_crlf() -> None:
    text = "a\r\n#pragma scop\r\n#pragma endscop\r\nb\r\n"
    (region,) = find_regions(text, "f.c")
    assert splice(text, [(region, "x\ny\r\n")]) == "a\r\nx\r\ny\r\nb\r\n"
