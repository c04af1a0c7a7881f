"""Returns the `firstprivate(...)` clause of an OpenMP parallel loop: integer parameters, base pointers and scalars of
the region that the loop does not change; an empty text where there are none. Without such copies clang passes captured
variables by reference.

A variable with an address stays in memory in the whole function, also where there is one thread and other loops run
than those of the clause: clang then neither counts their iterations ahead nor keeps their coefficients. Cascade Lake,
clang 19, times as fast with copies: means of 3 x 3 elements, whose source is run on one thread, 8; square roots behind
`float **` 1.2; 3 x 3 filters of planes 1.1. With gcc 12 there is no difference.
Inside the loop, a store that may change such a variable, as far as types tell, makes clang read it again at every
iteration: the loop then has no vectors, or narrow ones. `y[j] = (x[j] + y[j]) >> 1` over rows of bytes: 2 lanes without
copies, 16 with them; jacobi-2d, which stores vectors, took clang 1.27 times gcc's time; a pass of deriche, with
coefficients that the region computes, 35.2 ms, with copies 33.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from codegen.ast.ctree import For, Instance, mentions, walk
from codegen.scop.model import Scop, Statement
from codegen.target.text.pieces import View, words_of

_POINTERS = ("sub", "deref", "flat", "arrow")  # the first step from a parameter that is a pointer
_CLAUSE = re.compile(r" firstprivate\(([\w, ]*)\)")
_TEMPLATES = ("product", "matvec", "nested")


def copied(scop: Scop, node: For) -> str:
    """The clause for a parallel loop; "" where no variable around it stays as it is."""
    names = sorted({n.stmt for n in walk(node) if isinstance(n, Instance)})
    inside = [scop.statement(name) for name in names]
    idle = {c.param for c in scop.computed if not mentions(node, c.param)}  # perhaps nothing else needs them, either
    integers = (p.text for p in scop.params if p.is_variable and p.name not in idle)
    found = sorted({*integers, *_pointers(scop, inside), *_scalars(scop, inside)})
    return f" firstprivate({', '.join(found)})" if found else ""


def named_alone(clauses: str, printed: Sequence[View]) -> str:
    """Clauses with copies of variables that the text of a loop names: of what is known to be 0, nothing may be left,
    and compilers warn of parameters that stand in a clause alone. Texts of products name more than can be seen here."""
    found = _CLAUSE.search(clauses)
    if found is None or any(v.kind in _TEMPLATES for v in _all(printed)):
        return clauses
    words = words_of(printed)
    names = ", ".join(n for n in found[1].split(", ") if n in words)
    return clauses.replace(found[0], f" firstprivate({names})" if names else "")


def _all(views: Sequence[View]) -> Iterator[View]:
    for v in views:
        yield v
        yield from _all((*v.body, *v.orelse))


def _pointers(scop: Scop, inside: list[Statement]) -> Iterator[str]:
    for s in inside:
        for a in s.accesses:
            array = scop.arrays[a.array]
            if array.place == "param" and a.path and a.path[0].kind in _POINTERS and array.base.isidentifier():
                yield array.base


def _scalars(scop: Scop, inside: list[Statement]) -> Iterator[str]:
    """Scalars of the region that these statements only read."""
    written = {a.array for s in inside for a in s.writes}
    read = {a.array for s in inside for a in s.reads}
    return (name for name in sorted(read - written) if scop.arrays[name].of_region)
