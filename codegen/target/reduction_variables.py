"""Puts temporary variables around the text of a loop with an OpenMP reduction clause, where the source's own variable
cannot stand in the clause: because others may see it, or its partial results may overflow.

OpenMP stores what is gathered even if no iteration stores anything: what others may see is gathered in a variable of
the same name, and stored if it has changed. Partial results of signed numbers may overflow where those of the source do
not: that variable has no sign, and is as wide as the arithmetic if the element is not wide enough.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ast.ctree import For, Instance, walk
from codegen.recognize.reductions import unsigned_for
from codegen.scop.model import Array, Scop
from codegen.scop.types import CType
from codegen.target.pragmas import Pragma
from codegen.target.text.pieces import View


def gathered_apart(scop: Scop, node: For, pragma: Pragma) -> tuple[str, ...]:
    """What a loop gathers in variables of its own."""
    named = " reduction(" in pragma.clauses + pragma.alone
    arrays = [a for _, a in node.loop.reductions if named]
    return tuple(a for a in arrays if not scop.arrays[a].unshared or _unsigned(scop, node, a) is not None)


def with_variables(scop: Scop, node: For, apart: Sequence[str], loop: View) -> View:
    """The text of a loop among variables for what it gathers apart."""
    for name in apart:
        array, wide = scop.arrays[name], _unsigned(scop, node, name)
        loop = _copied(array, loop) if wide is None else _without_sign(array, wide, loop)
    return loop


def _unsigned(scop: Scop, node: For, array: str) -> CType | None:
    stmts = (scop.statement(x.stmt) for x in walk(node) if isinstance(x, Instance))
    return unsigned_for(scop, (s for s in stmts if s.accesses[s.target].array == array))


def _copied(a: Array, loop: View) -> View:
    kind, name, at = a.elem.spelling, a.base, f"tw_{a.base}"
    before = (f"{kind} *const {at} = &{name};", f"{kind} {name} = *{at};")
    return _among(before, loop, f"if (__builtin_memcmp(&{name}, {at}, sizeof {name})) *{at} = {name};")


def _without_sign(a: Array, wide: CType, loop: View) -> View:
    kind, unsigned, name = a.elem.spelling, wide.spelling, a.name if a.inside else a.base
    at = f"tw_{name}"
    inner = _among((f"{unsigned} {name} = {at};",), loop, f"{at} = {name};")
    changed = "" if a.unshared else f"if (({kind}){at} != {name}) "
    return _among((f"{unsigned} {at} = ({unsigned}){name};",), inner, f"{changed}{name} = ({kind}){at};")


def _among(before: Sequence[str], loop: View, after: str) -> View:
    return View("block", body=(*(View("decl", text) for text in before), loop, View("decl", after)))
