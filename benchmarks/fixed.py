"""Kernels of the corpus with numbers in place of the sizes that they are given: what a program with fixed sizes has."""

from __future__ import annotations

import re

_SIZES = re.compile(r"^ \* sizes: *small (.*?) *\| *large (.*)$", re.M)
_DRIVER = "\n#ifdef DRIVER"
# The head of a function with the brace that opens it; the last one of a kernel is its own.
_HEAD = re.compile(r"^\w[\w ]*[ *]\w+\(([^;{}]*)\)\s*\{", re.M)
_INTEGER = r"\b(?:const )?(?:int|long|size_t)\s+"


def with_numbers(text: str, large: bool) -> str | None:
    """The kernel's function for its large sizes or its small ones; None where it takes no sizes."""
    sizes = _SIZES.search(text)
    text = text.partition(_DRIVER)[0] + "\n"
    heads = list(_HEAD.finditer(text))
    if sizes is None or not heads:
        return None
    begin, end = heads[-1].span(1)
    given = dict(x.split("=") for x in sizes[1 + large].split())
    known = {n: v for n, v in given.items() if re.search(rf"{_INTEGER}{n}\s*(,|$)", text[begin:end])}
    if not known:
        return None
    names = "|".join(known)
    rest = re.sub(rf"{_INTEGER}({names})\s*(,\s*|$)", "", text[begin:end]).rstrip(", \n")
    return text[:begin] + re.sub(rf"\b({names})\b", lambda m: known[m[1]], rest + text[end:])
