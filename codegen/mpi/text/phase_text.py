"""Checks what is printed for ranks, and raises Unproven if it is not what was proven: the views of a phase are its
proven loops (`check_phase`), and the region's text is that of its views under the guard (`check_text`)."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ast.ctree import CNode
from codegen.mpi.phases import Unproven
from codegen.scop.model import Scop
from codegen.target.text.pieces import View
from codegen.verify.loops.views import wrong_text_of, wrong_views
from codegen.verify.pragmas import wrong_pragmas


def check_phase(scop: Scop, code: CNode, views: Sequence[View]) -> None:
    """Raises Unproven unless loops, conditions, statements and directives of a phase are what was proven of it."""
    problem = wrong_views(scop, code, views) or wrong_pragmas(scop, views, team=False)
    if problem:
        raise Unproven(f"what was printed for a phase could not be proven: {problem}")


def check_text(text: str, guard: str, ahead: Sequence[str], views: tuple[View, ...]) -> None:
    """Raises Unproven unless a text runs the views where its guard holds, and else what is put there later."""
    whole = View("if", guard, body=views, orelse=(View("block"),))
    problem = wrong_text_of(text, (*(View("decl", line) for line in ahead), whole))
    if problem:
        raise Unproven(f"what was printed for ranks is not what was proven: {problem}")
