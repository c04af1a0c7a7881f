"""Rewrites a region so that struct members behind pointers are read once, into variables ahead of its loops, such as
`float *const img_data = img->data;`. Returns the new region and the declarations; a member is hoisted only where the
pointers to it are followed in any case.

Compilers read them anew in every iteration where a store might change them, which a store of characters always might
and one of integers might for sizes. Then there are no vectors. The region does not change them: the model says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from codegen.scop.expr import Expr, Sym, walk, with_leaves
from codegen.scop.model import Access, AccessStep, Scop, Statement
from codegen.target.guards.pointers import ElementPointer, pointer_of
from codegen.target.text.pieces import fresh

_MEMBER = re.compile(r"(\w+)((?:\s*(?:->|\.)\s*\w+)+)")


def with_locals(scop: Scop, read: str, taken: frozenset[str]) -> tuple[Scop, Mapping[str, str]]:
    """The region with variables in place of members, and their declarations by name.

    Members behind a pointer only where `read`, C text that is always evaluated, goes through it: the loops may run not
    at all, and the pointer lead nowhere.
    """
    out: dict[str, str] = {}
    # What only the model calls an array by is free.
    names = (taken - {a.name for a in scop.arrays.values() if not a.inside and a.name != a.base}) | scop.names
    values: dict[str, str] = {}
    for text, kind in _values(scop).items():
        if _safe(text, read):
            values[text] = fresh("_".join(re.findall(r"\w+", text)), names)
            names |= {values[text]}
            out[values[text]] = f"const {kind} {values[text]} = {text};"
    pointers: dict[str, tuple[ElementPointer, str]] = {}
    written = {a.array for _, a in scop.accesses() if a.write}
    for array in scop.arrays.values():
        at = pointer_of(scop, array.name)
        if at is not None and at.steps and at.flat and array.elem.kind != "other" and _safe(at.text, read):
            name = fresh("_".join(re.findall(r"\w+", at.text)), names)
            names |= {name}
            pointers[array.name] = at, name
            const = "" if array.name in written else "const "
            out[name] = f"{const}{array.elem.spelling} *const {name} = {at.text};"
    if not out:
        return scop, out
    arrays = {n: replace(a, base=pointers[n][1]) if n in pointers else a for n, a in scop.arrays.items()}
    return (
        replace(
            scop,
            params=tuple(replace(p, text=values.get(p.text, p.text)) for p in scop.params),
            arrays=arrays,
            statements=tuple(_statement(s, values, pointers) for s in scop.statements),
            names=names,
        ),
        out,
    )


def _safe(text: str, read: str) -> bool:
    """Whether there are pointers on the way, and `read` follows all of them, too."""
    ways = [text[: m.start()] for m in re.finditer(r"->", text)]
    return bool(ways) and all(re.search(rf"(?<![\w.>]){re.escape(way)}->", read) for way in ways)


def _values(scop: Scop) -> dict[str, str]:
    """Members that are integers of the model or symbols of an expression, and their types."""
    out = {p.text: p.ctype.spelling for p in scop.params}
    symbols = (e for s in scop.statements for e in walk(s.rhs) if isinstance(e, Sym))
    out |= {e.text: e.ctype.spelling for e in symbols if e.ctype and e.ctype.kind != "other"}
    return {text: kind for text, kind in out.items() if _MEMBER.fullmatch(text)}


def _statement(
    s: Statement, values: Mapping[str, str], pointers: Mapping[str, tuple[ElementPointer, str]]
) -> Statement:
    def named(e: Expr) -> Expr:
        return replace(e, text=values[e.text]) if isinstance(e, Sym) and e.text in values else e

    return replace(
        s, rhs=with_leaves(s.rhs, named), accesses=tuple(_access(a, values, pointers) for a in s.accesses)
    )


def _access(a: Access, values: Mapping[str, str], pointers: Mapping[str, tuple[ElementPointer, str]]) -> Access:
    path = a.path[pointers[a.array][0].steps :] if a.array in pointers else a.path
    return replace(a, path=tuple(_step(x, values) for x in path))


def _step(x: AccessStep, values: Mapping[str, str]) -> AccessStep:
    return replace(x, strides=tuple(_replaced(t, values) for t in x.strides)) if x.strides else x


def _replaced(text: str, values: Mapping[str, str]) -> str:
    return _MEMBER.sub(lambda m: values.get(m.group(), m.group()), text)
