"""Gives indices in generated C a type of 64 bits on every machine.

`long` has 32 bits on many: those with 32-bit addresses, and 64-bit Windows. Text is made and proven with `long` for
indices, as wide as the proofs assume, and this pass spells it `tw_index` in what stands in the file. Data of the user's
keep their type: until then they are called `long int` and `unsigned long int`, which no printer calls an index.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from codegen.patterns import pattern

INDEX, ADDRESS = "tw_index", "tw_address"
# Comments and literals stay; longer types are found before the shorter ones in them.
_TOKEN = pattern(
    r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|\b(?:long[ ]+long|long[ ]+double|unsigned[ ]+long[ ]+long)\b"
    r"|(?P<data>\b(?:unsigned[ ]+)?long)[ ]+int\b"
    r"|\bunsigned[ ]+long\b|(?P<index>\blong\b)"
    r"|(?<![\w.])(?P<number>\d+)L\b", re.S)  # fmt: skip

_TYPES = ((INDEX, "long long", "64 bits on every machine"), (ADDRESS, "__UINTPTR_TYPE__", "as wide as a pointer"))


def defined(text: str, helpers: Collection[str] = ()) -> str:
    """The definitions of the types that a text uses, or what calls these helpers."""
    return "".join(
        f"#ifndef {name.upper()}\n#define {name.upper()}\ntypedef {kind} {name}; /* {why} */\n#endif\n"
        for name, kind, why in _TYPES
        if name in helpers or re.search(rf"\b{name}\b", text)
    )


def index_typed(text: str) -> str:
    """Text with indices of the type `tw_index`, and the user's data of the type `long`."""
    return _TOKEN.sub(_spelled, text) if "long" in text or "L" in text else text


def _spelled(m: re.Match[str]) -> str:
    if m["data"]:
        return m["data"]
    if m["number"]:
        return f"{m['number']}LL"
    return INDEX if m["index"] else m[0]
