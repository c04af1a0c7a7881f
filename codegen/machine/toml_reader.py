"""Checks single values of a machine's TOML (type, positive numbers), and raises InputError `bad-machine` at the line of
the key."""

from __future__ import annotations

import math
import re
from typing import cast

from codegen.diagnostics import InputError, Loc


class TomlReader:
    """Knows the text, so that a complaint about a key can name the line the key stands on."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.lines = text.splitlines()

    def fail(self, message: str, key: str = "", nth: int = 0, hint: str = "", table: str = "") -> InputError:
        """The error for the `nth` line that begins with `key`, looked for below the header of `table`."""
        return InputError("bad-machine", message, self._locate(key, nth, table), hint)

    def _locate(self, key: str, nth: int, table: str) -> Loc:
        header = re.compile(rf"\s*\[\s*{re.escape(table)}\s*\]")
        first = next((i for i, line in enumerate(self.lines) if table and header.match(line)), 0)
        pattern = re.compile(rf"\s*\[?\[?\s*{re.escape(key)}\s*(=|\]|\.)")
        hits = [i for i, line in enumerate(self.lines[first:], first) if key and pattern.match(line)]
        if len(hits) > nth:
            return Loc(self.file, hits[nth] + 1, self.lines[hits[nth]].index(key) + 1)
        return Loc(self.file, 1, 1)


def check_value(
    reader: TomlReader,
    key: str,
    value: object,
    types: tuple[type, ...],
    nth: int = 0,
    within: tuple[str, str] = ("", ""),
) -> None:
    """Complain unless `value` is of one of `types` and, if a number, positive; `within` names the table and the key to
    point to, where it is another."""
    table, at = within
    where = at or key
    if isinstance(value, bool) or not isinstance(value, types):
        wanted = {str: "a string", int: "a whole number"}.get(types[-1], "a number")
        raise reader.fail(f"'{key}' must be {wanted}", where, nth, table=table)
    # Only the register count may be 0: that is a machine without vectors.
    lowest_is_zero = key in ("registers", "parallel_overhead_cycles")
    number = cast("float | str", value)
    if isinstance(number, str):
        return
    if not math.isfinite(number) or number < 0 or (number == 0 and not lowest_is_zero):
        raise reader.fail(f"'{key}' must be positive", where, nth, table=table)
