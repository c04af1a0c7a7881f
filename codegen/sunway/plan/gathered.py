"""Says why cores cannot each reduce a part of a variable (empty where they can: single variables, operators whose parts
can be joined, no signed overflow), and hints where `--reassociate` would let them."""

from __future__ import annotations

from codegen.recognize.reductions import find_reductions
from codegen.scop.model import Scop
from codegen.transform.program import Program

OPERATORS = ("+", "-", "*", "^", "&", "|", "max", "min")  # of parts that can be joined


def why_not(scop: Scop, array: str, op: str) -> str:
    """Why cores cannot gather parts of a variable; empty where they can."""
    a = scop.arrays[array]
    if a.rank or any(x.path for _, x in scop.accesses() if x.array == array):
        return f"every core would add to elements of `{a.base}`: across cores only single variables are gathered"
    if op not in OPERATORS:
        return f"every core would change `{a.base}` by `{op}`, whose parts are not joined across cores"
    exact = a.elem.kind == "float" or not a.elem.signed or op not in ("+", "-", "*")
    return "" if exact and not a.elem.plain_char else (
        f"every core would add to `{a.base}`: parts of a sum of signed integers could overflow where the sum does not"
    )


def with_permission(p: Program) -> str:
    """A hint where cores could gather parts if the order of sums were free; empty where it is, or that would not
    help."""
    scop = p.scop
    if p.reassociate:
        return ""
    found = [r.array for r in find_reductions(scop) if not r.exact and not why_not(scop, r.array, r.op)]
    return f"--reassociate lets each core gather a part of `{found[0]}`" if found else ""
