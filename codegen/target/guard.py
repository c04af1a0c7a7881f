"""The run-time test in front of a region whose model needs one."""
from __future__ import annotations

import islpy as isl

from codegen.ast.generate import expression
from codegen.scop.model import Scop
from codegen.target.cexpr import IntPrinter


def guard_text(scop: Scop, ints: IntPrinter) -> str:
    """C condition for the scop's guard; empty when nothing has to hold."""
    valid = scop.guard.valid
    if valid.plain_is_universe() or not scop.guard.reasons:
        return ""
    build = isl.AstBuild.from_context(isl.Set.universe(valid.get_space()))
    return ints.text(expression(build.expr_from_set(valid)))
