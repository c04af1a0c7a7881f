"""Returns the `firstprivate(...)` clause of an OpenMP parallel loop: integer parameters, base pointers and scalars of
the region that the loop's stores may change, as far as C types tell; an empty text where there are none. Without such
copies clang passes captured variables by reference, which blocks its vectorizer.

A store that may change such a variable, as far as types tell, makes clang read it again at every iteration: the loop
then has no vectors, or narrow ones. `y[j] = (x[j] + y[j]) >> 1` over rows of bytes: 2 lanes without copies, 16 with
them. A vector of the text may lie on anything: jacobi-2d, which stores vectors, took clang 1.27 times gcc's time.
Coefficients that the region computes were read again for every element: a pass of deriche 35.2 ms, with copies 33.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.ast.ctree import For, Instance, mentions, walk
from codegen.ast.lowered import Strips
from codegen.scop.model import Scop, Statement
from codegen.scop.types import CType

_POINTERS = ("sub", "deref", "flat", "arrow")  # the first step from a parameter that is a pointer


def copied(scop: Scop, node: For) -> str:
    """The clause for a parallel loop; "" where types tell that its stores change no variable around it."""
    names = sorted({n.stmt for n in walk(node) if isinstance(n, Instance)})
    inside = [scop.statement(name) for name in names]
    stored = [_element(scop, a.array) for s in inside for a in s.writes]
    anything = any(_may_be_anything(t) for t in stored) or _in_vectors(node)
    alike = {t.bits for t in stored if t.is_int}
    idle = {c.param for c in scop.computed if not mentions(node, c.param)}  # perhaps nothing else needs them, either
    fitting = (p for p in scop.params if anything or p.ctype.bits in alike)
    integers = [p.text for p in fitting if p.text.isidentifier() and p.name not in idle]
    pointers = _pointers(scop, inside) if anything else ()
    found = sorted({*integers, *pointers, *_scalars(scop, inside, None if anything else stored)})
    return f" firstprivate({', '.join(found)})" if found else ""


def _element(scop: Scop, array: str) -> CType:
    return scop.arrays[array].part or scop.arrays[array].elem


def _may_be_anything(t: CType) -> bool:
    """Characters may be a part of any object; clang takes the same of complex numbers, structs and unions."""
    return t.kind == "other" or t.bits == 8


def _in_vectors(node: For) -> bool:
    """Is one of the loops printed in strips, which are of vectors as a rule?"""
    return any(isinstance(n, For) and isinstance(n.form, Strips) for n in walk(node))


def _pointers(scop: Scop, inside: list[Statement]) -> Iterator[str]:
    for s in inside:
        for a in s.accesses:
            array = scop.arrays[a.array]
            if array.place == "param" and a.path and a.path[0].kind in _POINTERS and array.base.isidentifier():
                yield array.base


def _scalars(scop: Scop, inside: list[Statement], stored: list[CType] | None) -> Iterator[str]:
    """Scalars of the region that these statements only read, of a type that is `stored` (None: any)."""
    written = {a.array for s in inside for a in s.writes}
    like = None if stored is None else {(t.kind, t.bits) for t in stored}
    for name in sorted({a.array for s in inside for a in s.reads} - written):
        array = scop.arrays[name]
        if array.of_region and (like is None or (array.elem.kind, array.elem.bits) in like):
            yield array.name
