"""Proof of the statements of a loop that reads shared memory, as printed: with the elements that shared memory,
registers and kept values stand for in their places, they are those of the plain loop, or Unread is raised."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from codegen.verify.text.read import Unread


def check_statements(
    printed: Sequence[str], plain: Sequence[str], elements: Mapping[str, str], kept: Mapping[str, str]
) -> None:
    """Raises Unread unless statements are the plain ones. `elements` has what each place and register stands for, and
    `kept` the elements that only a register has while the loop runs."""
    if len(printed) != len(plain):
        raise Unread("a statement of a staged loop is left out, or there is one more")
    for found, wanted in zip(printed, plain, strict=True):
        if any(re.search(rf"(?<!\w){re.escape(e)}", found) for e in kept.values()):
            raise Unread(f"`{found}` stands in a staged loop, which has one of its elements in a register")
        for name, element in sorted({**elements, **kept}.items(), key=lambda x: -len(x[0])):
            found = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", element.replace("\\", "\\\\"), found)
        if found != wanted:
            raise Unread(f"`{found}` stands in a staged loop where `{wanted}` should")
