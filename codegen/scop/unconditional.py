"""What a statement evaluates whatever the data are: whether every instance makes an access, read or write (`certain`),
and which struct pointers (`a->`, `a->b->`) are always dereferenced, with the parameter values for which that holds
(`followed`). Also finds members and their pointers in C text (`chains`, `leads`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from codegen.scop.expr import Expr, Ref, Sym, may_skip, sure_parts
from codegen.scop.model import Access, Scop, Statement

_CHAIN = re.compile(r"[A-Za-z_]\w*(?:(?:->|\.)[A-Za-z_]\w*)*")


def chains(text: str) -> tuple[str, ...]:
    """The variables and members in a C text: `a->b->n` and `m` for `m * a->b->n`."""
    return tuple(dict.fromkeys(m.group() for m in _CHAIN.finditer(text)))


def leads(text: str) -> tuple[str, ...]:
    """What has to be followed to read the members in a C text: `a->` and `a->b->` for `a->b->n`."""
    return tuple(dict.fromkeys(chain[: m.end()] for chain in chains(text) for m in re.finditer("->", chain)))


def may_be_skipped(text: str) -> bool:
    """Are there parts of a C text that are not evaluated whenever it is?"""
    return re.search(r"\?|&&|\|\|", text) is not None


def certain(s: Statement, a: Access) -> bool:
    """Does every instance make the access, whatever the data?"""
    number = next(k for k, x in enumerate(s.accesses) if x is a)
    if a.write or number == s.target:
        return not may_skip(s.rhs)
    return any(isinstance(e, Ref) and e.access == number for e in _always(s.rhs))


def _always(e: Expr) -> Iterator[Expr]:
    """The expression and those of its parts that no condition in it stands before."""
    yield e
    for part in sure_parts(e):
        yield from _always(part)


def followed(scop: Scop) -> Iterator[tuple[str, isl.Set]]:
    """The pointers that statements follow whatever the data are, as `leads` gives them, and for which parameters."""
    for s in scop.statements:
        for e in _always(s.rhs):
            if isinstance(e, Sym):
                yield from ((lead, s.domain.params()) for lead in leads(e.text))
        for a in s.accesses:
            found = leads(_way(scop, a))
            if found and certain(s, a):
                yield from ((lead, s.instances(a).params()) for lead in found)


def _way(scop: Scop, a: Access) -> str:
    """The C text of an access up to its first subscript."""
    text = scop.arrays[a.array].base
    for step in a.path:
        if step.kind not in ("member", "arrow"):
            break
        text += ("->" if step.kind == "arrow" else ".") + step.text
    return text
