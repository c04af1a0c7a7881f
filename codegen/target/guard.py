"""The run-time test in front of a region whose model needs one."""

from __future__ import annotations

import islpy as isl

from codegen.ast.generate import expression
from codegen.scop.model import Scop
from codegen.target.cexpr import IntPrinter


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
    return " && ".join(tests)
