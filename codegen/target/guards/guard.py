"""Prints a region's run-time guard as one C condition: the parameters have values for which the model is valid, and
those of 64-bit types leave room for the arithmetic of generated loops; empty where nothing has to hold."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from codegen.ast.generate import expression
from codegen.frontend.context.member_parameters import involves
from codegen.scop.model import Scop
from codegen.target.text.cexpr import IntPrinter


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

    64-bit parameters are compared as they are, before anything is computed with them, and members behind pointers when
    it is known that the source follows these.
    """
    guard = scop.guard
    behind = {p.name for p in scop.params if guard.first and "->" in p.text}
    early, late = [n for n in guard.wide if n not in behind], [n for n in guard.wide if n in behind]
    pointers = [] if involves(guard.rest, behind) else [guard.rest]
    tests = [_fits(scop, n, ints) for n in early]
    for test in (*pointers, *guard.first):
        tests += _holds(test, ints, bool(tests))
    tests += [_fits(scop, n, ints) for n in late]
    tests += [] if pointers else _holds(guard.rest, ints, bool(tests))
    return all_of(tests)


def _fits(scop: Scop, name: str, ints: IntPrinter) -> str:
    p = scop.param(name)
    helper = "tw_fits" if p.ctype.signed else "tw_fits_unsigned"
    ints.helpers.add(helper)
    return f"{helper}({p.text})"


def _holds(values: isl.Set, ints: IntPrinter, more: bool) -> list[str]:
    """A test that parameters are these, unless all are; `more` if other tests stand before it."""
    if values.plain_is_universe() or isl.Set.universe(values.get_space()).is_subset(values):
        return []
    build = isl.AstBuild.from_context(isl.Set.universe(values.get_space()))
    return [ints.text(expression(build.expr_from_set(values)), 2 if more else 0)]


def idle_elsewhere(scop: Scop) -> bool:
    """Does nothing run where the tests that stand before all others do not hold?"""
    runs = [s.domain.params() for s in scop.statements]
    return all(r.is_subset(test) for test in scop.guard.first for r in runs)
