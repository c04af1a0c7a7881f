"""Respells generated C for C++ files, in the finished text: `restrict`, static assertions, casts of untyped memory,
arrays without a name."""

from __future__ import annotations

import re

from codegen.patterns import pattern
from codegen.source.language import CXX, Language

# Words of C that C++ has others for.
_WORDS = {"restrict": "__restrict", "_Static_assert": "static_assert", "_Alignas": "alignas"}
_WORD = pattern(r"\b(?:restrict|_Static_assert|_Alignas)\b")
# Pointers to memory of no type, which C converts by itself.
_MEMORY = pattern(
    r"^(?P<head> *(?P<type>[A-Za-z_][\w ]*?[ *]*)\*const (?P<name>(?:__restrict )?\w+) = )"
    r"(?P<value>(?:.* )?tw_al(?:loc|ign)\(.*|tw_memory|\(void \*\)\(.*\));$", re.M)  # fmt: skip
_ROWS = pattern(
    r"^(?P<head> *(?P<type>[A-Za-z_][\w ]*?) \(\*const (?:__restrict )?\w+\)(?P<rows>(?:\[[^\]]*\])+) = )"
    r"\(void \*\)(?P<value>\(.*\));$", re.M)  # fmt: skip
# A list of values without a name, of which C++ has no address.
_LIST = pattern(r"\(tw_(?:span|table)\[\]\)\{ ([^{}]*) \}")


def in_language(text: str, language: Language) -> str:
    """Generated C text as the language of the file has it; the same number of lines."""
    if language is not CXX:
        return text
    text = _WORD.sub(lambda m: _WORDS[m.group()], text)
    text = _MEMORY.sub(_cast, text)
    text = _ROWS.sub(lambda m: f"{m['head']}({m['type']} (*){m['rows']}){m['value']};", text)
    return _LIST.sub(r"\1", text)


def _cast(m: re.Match[str]) -> str:
    kind = f"{m['type']}*"
    if kind == "void *":
        return m.group()
    value = m["value"].removeprefix("(void *)")
    whole = value == "tw_memory" or (value.startswith(("tw_al", "(")) and " ? " not in value)
    return f"{m['head']}({kind}){value if whole else f'({value})'};"
