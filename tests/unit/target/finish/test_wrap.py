"""Long lines of generated text: how they are broken, and that nothing but white space changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.source.layout.lexis import blank_comments
from codegen.target.finish.lines import at_statements
from codegen.target.finish.links import spread
from codegen.target.finish.wrap import WIDTH, wrap, wrapped

GOLDEN = Path(__file__).parents[3] / "golden"
NARROW = 48


def narrow(text: str) -> str:
    return wrap(text, width=NARROW)[0]


@pytest.mark.parametrize(("line", "lines"), [
    # What a loop counts, its test and its step.
    ("  for (long i = tw_max(0, n - m); i < tw_min(n, m + 7); i++) {  /* tiles */",
     ["  for (long i = tw_max(0, n - m);",
      "       i < tw_min(n, m + 7);",
      "       i++) {  /* tiles */"]),
    # The comment above, if that is enough.
    ("  for (long i = 0; i < n; i++) {  /* all over again */",
     ["  /* all over again */",
      "  for (long i = 0; i < n; i++) {"]),
    # Behind the sign if it fits there, else in the brackets, not at the product around them.
    ("  const double value = first + second * third - 1;",
     ["  const double value =",
      "      first + second * third - 1;"]),
    ("  v = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j]);",
     ["  v = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1]",
      "             + A[i - 1][j]);"]),
    ("  if (a >= limit || (b == a - 1 && load(&other, now) >= c))",
     ["  if (a >= limit",
      "      || (b == a - 1 && load(&other, now) >= c))"]),
    ("  call(first_argument, second_argument, third);",
     ["  call(first_argument, second_argument, third);"]),
    ("  call(first_argument, second_argument, third + 1);",
     ["  call(first_argument, second_argument,",
      "       third + 1);"]),
    # The controlled statement first.
    ("  if (some_condition(a, b)) return of_a_function(c);",
     ["  if (some_condition(a, b))",
      "    return of_a_function(c);"]),
    # Directives go on behind a backslash.
    ("#pragma omp parallel for num_threads(some) if(parallel: n > 7)",
     ["#pragma omp parallel for num_threads(some) \\",
      "    if(parallel: n > 7)"]),
    ("#define TW_LONG(name) ((name) < 0 ? -(name) : (name))",
     ["#define TW_LONG(name) \\",
      "    ((name) < 0 ? -(name) : (name))"]),
    ("/* A comment of many words goes on in the next line. */",
     ["/* A comment of many words goes on in the next",
      " * line. */"]),
    # What cannot be broken stays: a string, a name, a comment to the end of the line.
    ('  puts("a string, however long, is one word: it stays");',
     ['  puts("a string, however long, is one word: it stays");']),
    ("  x = y; // a comment, which would not be one on a line of its own",
     ["  x = y; // a comment, which would not be one on a line of its own"]),
])  # fmt: skip
def test_lines(line: str, lines: list[str]) -> None:
    assert narrow(line).split("\n") == lines
    assert narrow("\n".join(lines)).split("\n") == lines


def test_comments_flow_on() -> None:
    text = "/* One two three four five six seven eight nine ten.\n * Eleven.\n *\n * Twelve. */\nint x;"
    assert narrow(text) == (
        "/* One two three four five six seven eight nine\n * ten. Eleven.\n *\n * Twelve. */\nint x;"
    )


def test_the_users_lines_stay_and_links_move() -> None:
    mine = "    x = some_function(of_mine, that_is, rather_long, too);"
    text = f"if (a) {{\n  y = another_function(of_the_tool, that_is, long);\n}} else {{\n{mine}\n}}"
    new, firsts = wrap(text, [mine], NARROW)
    assert firsts == (0, 1, 3, 4, 5)
    assert new.split("\n")[4] == mine
    assert spread(((1, "S1"), (3, "S2")), firsts) == ((1, "S1"), (2, "S1"), (4, "S2"))


def tokens(text: str) -> str:
    return re.sub(r"\s", "", blank_comments(text.replace("\\\n", " ")))


def words(text: str) -> list[str]:
    comments = re.findall(r"/\*.*?\*/", text, re.S)
    return sorted(w for c in comments for w in re.sub(r"\n\s*(?:\*(?!/))?", " ", c).split())


@pytest.mark.parametrize("path", sorted([*GOLDEN.glob("*.out.c"), *GOLDEN.glob("sparse/*.c")]), ids=lambda p: p.name)
@pytest.mark.parametrize("width", [30, 64])
def test_only_white_space_changes(path: Path, width: int) -> None:
    text = path.read_text(encoding="utf-8")
    new, firsts = wrap(text, width=width)
    assert tokens(new) == tokens(text) and words(new) == words(text)
    assert len(firsts) == text.count("\n") + 1 and list(firsts) == sorted(set(firsts))
    assert wrap(text)[0] == wrapped(text)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.out.c")), ids=lambda p: p.name)
def test_generated_files_are_narrow(path: Path) -> None:
    source = (GOLDEN / "src" / f"{path.name.partition('.')[0]}.c").read_text(encoding="utf-8")
    lines = path.read_text(encoding="utf-8").split("\n")
    assert [x for x in lines if len(x) > WIDTH and x.strip() not in source] == []


def test_every_line_counts_as_its_statements() -> None:
    text = "{\n  for (long i = 0;\n       i < n; i++)\n    a[i] = 1;\n}"
    made, links = at_statements(text, ((3, "S1"),), {"S1": 20}, 7, "x.c")
    assert made.split("\n") == [
        '#line 7 "x.c"', "{", '#line 7 "x.c"', "  for (long i = 0;", "       i < n; i++)",
        '#line 20 "x.c"', "    a[i] = 1;", '#line 7 "x.c"', "}",
    ]  # fmt: skip
    assert links == ((6, "S1"),)
