"""Rewrites GNU statement expressions that only name values as expressions of plain C, in place, such as
`({ __typeof__(a) _a = (a); ...; _a < _b ? _a : _b; })`; others stay.

Macros for minima and maxima are made of them. With each value in place of its name they are expressions of plain C.
"""

from __future__ import annotations

import re

from codegen.patterns import pattern
from codegen.source.layout.lexis import closing

_OPENING = pattern(r"\(\s*\{")
_DECLARED = pattern(r"\s*(?:const\s+)?(?:__auto_type\b|(?:__typeof__|__typeof|typeof)\s*(?P<of>\())")
_NAMED = pattern(r"\s*(?:const\s+)?([A-Za-z_]\w*)\s*=(?!=)")
_SAME_TYPE = pattern(r"\s*\(\s*void\s*\)\s*\(\s*&\s*\w+\s*==\s*&\s*\w+\s*\)\s*")  # asks that types agree
_EFFECT = pattern(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=|[{}\"'#]|\b(?:if|else|for|while|do|switch|return|goto)\b")
_CALL = pattern(r"\b([A-Za-z_]\w*)\s*\(")
_MATH = (
    "abs acos asin atan atan2 cbrt ceil cos cosh erf exp exp2 expm1 fabs floor fma fmax fmin fmod hypot log log10 log1p"
    " log2 pow round sin sinh sqrt tan tanh trunc"
)
_PURE = frozenset({"sizeof", *(w + end for w in _MATH.split() for end in ("", "f", "l"))})


def plain_statement_expressions(text: str) -> str:
    """The text with such expressions in plain C, each in its place; others stay."""
    parts: list[str] = []
    at = 0
    while (match := _OPENING.search(text, at)) is not None:
        end = closing(text, match.start())
        if end < 0:
            break
        parts += [text[at : match.end()], plain_statement_expressions(text[match.end() : end])]
        made = _plain("".join(parts[-1:]))
        if made is not None and len(made) <= end - match.start() and "\n" not in text[match.start() : end]:
            parts[-2:] = [text[at : match.start()], made.ljust(end - match.start())]
        at = end
    return "".join([*parts, text[at:]])


def _plain(body: str) -> str | None:
    """What statements up to `})` that declare values, and end with an expression of them, stand for."""
    *declarations, last, end = _statements(body)
    if not declarations or "".join(end.split()) != "})" or _EFFECT.search(last):
        return None
    values: dict[str, str] = {}
    for text in declarations:
        if _SAME_TYPE.fullmatch(text):
            continue
        found = _declared(text)
        if found is None or found[0] in values:
            return None
        values[found[0]] = f"({_with(found[1], values)})"
    for name, value in values.items():
        once = len(re.findall(rf"\b{name}\b", last)) == 1
        if not once and not set(_CALL.findall(value)) <= _PURE:
            return None  # a call that may have an effect, to be made once
    return f"({_with(last.strip(), values)})"


def _statements(body: str) -> list[str]:
    """What stands between semicolons; those of inner blocks count, too, and nothing with blocks is understood."""
    return ["", "", *body.split(";")] if body.count(";") < 2 else body.split(";")


def _declared(text: str) -> tuple[str, str] | None:
    """The name that `__typeof__(value) name = (value)` gives, and the value; None for other statements and types."""
    head = _DECLARED.match(text)
    if head is None:
        return None
    at = closing(text, head.start("of")) if head["of"] else head.end()
    named = _NAMED.match(text, at) if at > 0 else None
    if named is None:
        return None
    value = text[named.end() :].strip()
    same = not head["of"] or _bare(text[head.start("of") : at]) == _bare(value)
    own = re.search(rf"\b{named[1]}\b", value)
    return None if not same or own or _EFFECT.search(value) else (named[1], value)


def _with(text: str, values: dict[str, str]) -> str:
    """Values in place of names."""
    if not values:
        return text
    return re.sub(rf"\b(?:{'|'.join(values)})\b", lambda m: values[m[0]], text)


def _bare(text: str) -> str:
    """Without white space, and without brackets around it."""
    text = "".join(text.split())
    while text.startswith("(") and closing(text, 0) == len(text):
        text = text[1:-1]
    return text


__all__ = ["plain_statement_expressions"]
