"""Whether a C++ declarator is an integer constant (`const int n = 8`, `constexpr`), and its value; `writer.py` asks
where C wants a constant expression."""
from __future__ import annotations

import re
from collections.abc import Callable

from codegen.source.cxx.declare import CxxDeclarator
from codegen.source.cxx.tokens import Tokens

_LIMIT = 1 << 31
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_SIGNS = frozenset("+-*()")


def is_constant(kind: Tokens, d: CxxDeclarator, qualifiers: frozenset[str]) -> bool:
    """Is it declared as one, with a value?"""
    plain = not d.before and not d.behind and not d.round and d.style in ("=", "{", "(")
    return plain and [t.text for t in kind] == ["int"] and bool(qualifiers & {"const", "constexpr"})


def evaluated(found: Tokens, named: Callable[[str], int | None]) -> int | None:
    """Sums and products of numbers and of constants with a name; None where it is something else."""
    parts: list[str] = []
    for t in found:
        value = named(t.text) if t.kind == "word" else None
        if value is not None:
            parts.append(f"({value})")
        elif t.text in _SIGNS or _NUMBER.fullmatch(t.text):
            parts.append(t.text)
        else:
            return None
    try:
        made = eval(" ".join(parts), {"__builtins__": {}})  # digits, signs and parentheses
    except (SyntaxError, TypeError):
        return None
    return made if isinstance(made, int) and -_LIMIT < made < _LIMIT else None
