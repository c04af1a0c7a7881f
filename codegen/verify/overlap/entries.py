"""Parses the printed overlap test into a list of the memory that it compares: ranges of elements, and rows behind
tables of pointers. Raises Unread for any other text."""

from __future__ import annotations

import re
from typing import NamedTuple

from codegen.verify.text.read import Node, Unread, read_expression

_TEST = re.compile(r"(tw_apart|tw_rows_apart)\((\d+), (\d+), \((tw_span|tw_table)\[\]\)\{ (.*) \}\)", re.S)
_NOWHERE = Node("name", "TW_NOWHERE")
_LISTS = {"tw_apart": "tw_span", "tw_rows_apart": "tw_table"}


class ComparedMemory(NamedTuple):
    """Elements of a pointer, or rows of `stride` elements, from one on and below another, where a condition holds."""

    pointer: Node
    first: Node
    past: Node
    stride: Node | None
    when: Node | None


class ComparedRows(NamedTuple):
    """Of the rows behind a table of pointers, from one row on and below another, the elements from `low` on and below
    `high`, where a condition holds. `row` is the pointer to the first row."""

    table: Node
    row: Node
    first: Node
    past: Node
    low: Node
    high: Node
    when: Node | None


Compared = ComparedMemory | ComparedRows


class ReadTest(NamedTuple):
    """What is compared; the first so many with each other and with all others."""

    written: int
    entries: tuple[Compared, ...]


def read_test(text: str) -> ReadTest:
    """Raises Unread where it is another text than such a test."""
    if not text:
        return ReadTest(0, ())
    m = _TEST.fullmatch(text)
    if m is None or _LISTS[m[1]] != m[4]:
        raise Unread("the test is of another form")
    listed = read_expression(f"tw_list({m[5]})").kids
    if len(listed) != int(m[3]) or int(m[2]) > len(listed):
        raise Unread("the test compares more or fewer parts of memory than it has")
    return ReadTest(int(m[2]), tuple(_compared(e, m[1] == "tw_rows_apart") for e in listed))


def _compared(e: Node, rows: bool) -> Compared:
    if e.kind == "choose":
        found = _compared(e.kids[1], rows)
        nowhere = Node("call", "tw_line", (_NOWHERE,)) if rows else _NOWHERE
        if found.when is not None or e.kids[2] != nowhere:
            raise Unread("memory is compared under a condition of another form")
        return found._replace(when=e.kids[0])
    if rows and e.kind == "call" and e.text == "tw_line" and len(e.kids) == 1:
        return _compared(e.kids[0], False)
    if not rows and e.kind == "call" and e.text == "TW_SPAN" and len(e.kids) == 3:
        return ComparedMemory(*e.kids, None, None)
    if not rows and e.kind == "call" and e.text == "TW_ROWS" and len(e.kids) == 4:
        return ComparedMemory(*e.kids, None)
    if rows and e.kind == "call" and e.text == "TW_TABLE" and len(e.kids) == 6:
        return ComparedRows(*e.kids, None)
    raise Unread(f"memory of another form: {e.kind} `{e.text}`")
