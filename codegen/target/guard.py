"""The run-time test in front of a region whose model needs one."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from codegen.ast.generate import expression
from codegen.scop.model import Scop
from codegen.target.cexpr import IntPrinter


def all_of(tests: Iterable[str]) -> str:
    """C conditions that must hold together; empty ones say nothing."""
    found = [t for t in tests if t]
    return found[0] if len(found) == 1 else " && ".join(f"({t})" if _has_or(t) else t for t in found)


def _has_or(text: str) -> bool:
    """Is there an operator outside of parentheses that binds looser than `&&`?"""
    depth = 0
    for k, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if depth == 0 and (c == "?" or text.startswith("||", k)):
            return True
    return False


def guard_text(scop: Scop, ints: IntPrinter) -> str:
    """C condition for the scop's guard; empty when nothing has to hold.

    64-bit parameters are compared as they are, before anything is computed with them.
    """
    tests = []
    for name in scop.guard.wide:
        p = scop.param(name)
        helper = "tw_fits" if p.ctype.signed else "tw_fits_unsigned"
        ints.helpers.add(helper)
        tests.append(f"{helper}({p.text})")
    rest = scop.guard.rest
    if not rest.plain_is_universe() and not isl.Set.universe(rest.get_space()).is_subset(rest):
        build = isl.AstBuild.from_context(isl.Set.universe(rest.get_space()))
        tests.append(ints.text(expression(build.expr_from_set(rest)), 2 if tests else 0))
    return all_of(tests)
