"""Validates a format descriptor: raises a located error for reserved, repeated or undeclared names, for a map that is
no function, and for wrong numbers of arguments. A wrong one must not reach the synthesis, which could only guess."""
from __future__ import annotations

import re

from codegen.diagnostics import Loc
from codegen.sparse.algebra.lexer import bad
from codegen.sparse.algebra.relation import function_of
from codegen.sparse.algebra.terms import calls, names
from codegen.sparse.formats.model import Descriptor

BUILTIN_KEYS = ("MORTON", "LEX")
_DIM = re.compile(r"dim(\d+)$")
KEYWORDS = frozenset((
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
))
# Names that C or the generated functions need for themselves.
_RESERVED = KEYWORDS | frozenset((
    "src", "dst", "status", "done", "threads", "packet", "bucket", "shift", "in_order", "entries", "distinct", "found",
    "seen", "start", "segment", "taken", "to", "to0", "to1", "to2", "to3", "tov", "o", "q", "v", "x",
))


def check(d: Descriptor, places: dict[str, Loc]) -> None:
    """Raise a located error for a descriptor that cannot be meant."""
    _names(d, places)
    _calls(d, places)
    if len(d.map.outs) != d.rank:
        raise bad(f"the map has {len(d.map.outs)} dense coordinates and the shape {d.rank}", places["map"])
    if function_of(d.map) is None:
        raise bad("the map is no function: a dense coordinate does not follow from the tuple", places["map"],
                  "every coordinate needs an equality over tuple variables and functions")
    for q in d.quantifiers:
        for c in calls(q.key):
            dim = _DIM.match(c.id)
            if c.id == "MORTON" and len(c.args) > 4:
                raise bad(f"MORTON of {len(c.args)} numbers; it takes four at most", q.loc)
            if dim and int(dim[1]) >= d.rank:
                raise bad(f"{c.id}: the format has {d.rank} dimensions", q.loc)


def _names(d: Descriptor, places: dict[str, Loc]) -> None:
    used = [*d.shape, *d.map.ins, *(f.name for f in d.functions), d.data, *(n for n, _ in d.lets),
            *((d.permutation.array,) if d.permutation else ())]
    for n in used:
        if n in _RESERVED or n.startswith("tw_"):
            raise bad(f"'{n}' cannot be a name in a descriptor", places["map"], "it means something in C")
        if used.count(n) > 1:
            raise bad(f"'{n}' is used for two things", places["map"])
    for f in d.functions:
        free = {s for c in (*f.domain.cons, *f.range.cons) for s in names(c.exp)} - {*f.domain.ins, *f.range.ins}
        if free & set(d.map.ins):
            raise bad(f"domain and range of {f.name} may only use symbols", f.loc)


def _calls(d: Descriptor, places: dict[str, Loc]) -> None:
    in_map = [c for con in d.map.cons for c in calls(con.exp)]
    for c in in_map:
        f = d.function(c.id)
        if f is None:
            raise bad(f"{c.id} is used in the map but not declared", places["map"], "declare it with 'uf'")
        if len(c.args) != len(f.domain.ins):
            raise bad(f"{c.id} takes {len(f.domain.ins)} arguments, not {len(c.args)}", places["map"])
    for f in d.functions:
        if f.name not in {c.id for c in in_map}:
            raise bad(f"{f.name} is declared but the map does not use it", f.loc)
    known = {*(f.name for f in d.functions), *(k.name for k in d.keys), *BUILTIN_KEYS}
    for q in d.quantifiers:
        for c in calls(q.key):
            if c.id not in known and not _DIM.match(c.id):
                raise bad(f"{c.id} is not known", q.loc, "declare a key with: key NAME(a, b) { C body }")
