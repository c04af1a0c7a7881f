"""Prints a dependency file for make and ninja, as `gcc -MD` writes it: one rule `targets: deps`, with `phony` an empty
rule for each header (-MP)."""
from __future__ import annotations

import re
from collections.abc import Sequence

_WIDTH = 76  # gcc wraps at 72 to 76 columns; nothing reads this but people


def depfile(targets: Sequence[str], deps: Sequence[str], phony: bool = False, quote_targets: bool = True) -> str:
    """A rule `targets: deps`. The first dependency is the source file itself.

    phony adds an empty rule for every other dependency (gcc -MP), so that a deleted header does not stop make.
    quote_targets=False takes the targets as they are (gcc -MT, as against -MQ).
    """
    left = " ".join(escape(t) for t in targets) if quote_targets else " ".join(targets)
    names = [escape(d) for d in dict.fromkeys(deps)]
    rules = [_wrapped(left + ":", names)]
    if phony:
        rules += [f"{name}:\n" for name in names[1:]]
    return "".join(rules)


def escape(name: str) -> str:
    """A file name as make reads it: backslashes count only before the white space they would otherwise escape."""
    name = re.sub(r"(\\*)([ \t])", lambda m: m.group(1) * 2 + "\\" + m.group(2), name)
    return name.replace("#", "\\#").replace("$", "$$")


def _wrapped(head: str, names: list[str]) -> str:
    lines, line = [], head
    for name in names:
        if len(line) + 1 + len(name) > _WIDTH and line != head:
            lines.append(line)
            line = ""
        line += " " + name
    return " \\\n".join([*lines, line]) + "\n"
