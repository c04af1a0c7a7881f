"""Pointers to the rows that vectors of a loop go along, kept in variables: `float *const p_row0 = p[i];`.

Stores of vectors may change anything, as compilers see it, so they would read `p[i]` of a `float **p` anew for each
vector. No store of the region changes such a pointer; so it is read once, where enough iterations are left that one
of them follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from codegen.ast.lowered import Enough, Lead, While
from codegen.scop.model import Array, Scop
from codegen.target.text.pieces import View, fresh, texts_of

_WORD = re.compile(r"[A-Za-z_]\w*")
# Where C may leave out what stands behind.
PERHAPS = re.compile(r"\?|&&|\|\|")


def row_type(scop: Scop, array: Array) -> str:
    """The type of a variable for a pointer to one of its rows."""
    written = any(a.array == array.name and a.write for s in scop.statements for a in s.accesses)
    return f"{'' if written else 'const '}{array.elem.spelling} *const"


def rows_in(scop: Scop, text: str) -> dict[str, Array]:
    """The rows behind pointers that a text follows, `p[i]` or `q[t][i]`, by their spelling."""
    found: dict[str, Array] = {}
    for array in scop.arrays.values():
        if array.depth > 1 and not array.inside and not array.mixed and array.part is None and array.declarable:
            row = rf"(?<![\w.>\])]){re.escape(array.base)}(?:\[[^][]*\]){{{array.depth - 1}}}(?=\[)"
            found |= {m[0]: array for m in re.finditer(row, text)}
    return found


def runs_at_once(p: Enough) -> bool:
    """Do all iterations that it asks for begin with one of its first part?"""
    first = p.then[0] if p.then else None
    return isinstance(first, Lead) or (isinstance(first, While) and first.step == p.step)


def with_rows(
    scop: Scop, p: Enough, variable: str, views: Sequence[View], first: Sequence[View], taken: frozenset[str]
) -> tuple[View, ...]:
    """The views of a part, with variables ahead for the rows that its `first` views follow for certain."""
    if not runs_at_once(p):
        return tuple(views)
    certain = _certain(first if isinstance(p.then[0], Lead) else first[-1].body)
    known = {row: array for text in certain for row, array in rows_in(scop, text).items()}
    rows = {row: array for row, array in known.items() if not re.search(rf"\b{variable}\b", row)}
    names: dict[str, str] = {}
    declared = []
    for row, array in rows.items():
        word = fresh(_WORD.findall(array.base)[-1] + "_row", taken, tuple(map(str, range(len(rows)))))
        names[row] = f"{word}{len([x for x in names.values() if x.startswith(word)])}"
        declared.append(View("decl", f"{row_type(scop, array)} {names[row]} = {row};"))
    return (*declared, *_replaced(views, names))


def _certain(views: Iterable[View]) -> list[str]:
    """Texts of statements that are carried out whole wherever the views are."""
    out = []
    for v in views:
        if v.kind == "block":
            out += _certain(v.body)
        elif v.kind in ("stmt", "decl") and not PERHAPS.search(v.head):
            out.append(v.head)
    return out


def _replaced(views: Sequence[View], names: dict[str, str]) -> tuple[View, ...]:
    if not names or not texts_of(views):
        return tuple(views)
    rows = "|".join(re.escape(row) for row in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w.>\])])(?:{rows})(?=\[)")

    def new(v: View) -> View:
        head = pattern.sub(lambda m: names[m[0]], v.head)
        return replace(v, head=head, body=tuple(map(new, v.body)), orelse=tuple(map(new, v.orelse)))

    return tuple(map(new, views))
