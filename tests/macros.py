"""Generated text as it would be without the macros for what is repeated, and with one statement on a line."""

from __future__ import annotations

import re

_DEFINED = re.compile(r"^#define (TW_(?:S\d|REGION_VALUE|REGION_STEPS)\w*)\(([^()]*)\) ?\\?\n?((?:.*\\\n)*.*)\n", re.M)


def without_macros(text: str) -> str:
    """The text with every use replaced by its body, in which names are replaced one by one."""
    macros = {name: (re.findall(r"\w+", names), body) for name, names, body in _DEFINED.findall(text)}
    text = re.sub(r"^#undef TW_(?:S\d|REGION_VALUE|REGION_STEPS)\w*\n", "", _DEFINED.sub("", text), flags=re.M)
    while found := re.search(rf"\b({'|'.join(macros) or 'TW_NONE'})\(([^()]*)\)", text):
        names, body = macros[found[1]]
        given = dict(zip(names, (x.strip() for x in found[2].split(",")), strict=False))
        body = re.sub(r"[A-Za-z_]\w*", lambda m, given=given: given.get(m[0], m[0]), body.replace("\\\n", "\n"))
        text = text[: found.start()] + body + text[found.end() :]
    return re.sub(r";[ \n]+(?![^()]*\))", ";\n", text)
