"""Lazily compiled regular expressions.

A run needs about half of those in the modules it loads, and compiling one takes a tenth of a millisecond and more.
"""

from __future__ import annotations

import re
from typing import Any, cast

_USED = ("findall", "finditer", "flags", "fullmatch", "groupindex", "groups", "match", "pattern", "scanner", "search",
         "split", "sub", "subn")  # fmt: skip


LATER: list[tuple[str, int]] = []  # the text of each that modules of this process have, and its flags


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, for use by its methods."""
    LATER.append((text, int(flags)))
    return cast("re.Pattern[str]", _Later(text, flags))


class _Later:
    """A pattern that takes on the methods of the compiled one as soon as it is asked for any."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _USED:
            raise AttributeError(name)
        compiled = re.compile(self._text, self._flags)
        self.__dict__.update((n, getattr(compiled, n)) for n in _USED)
        return self.__dict__[name]
