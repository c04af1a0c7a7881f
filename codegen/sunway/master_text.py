"""Proves that the text which the management core runs between launches is that of the proven tree; raises Unsupported
otherwise."""

from __future__ import annotations

from codegen.ast.ctree import CNode
from codegen.diagnostics import Unsupported
from codegen.scop.model import Scop
from codegen.target.text.pieces import View
from codegen.verify.loops.views import wrong_views


def proven_master(scop: Scop, part: CNode, views: tuple[View, ...]) -> tuple[View, ...]:
    """The views of a part of the tree. Raises Unsupported unless they are what it says."""
    problem = wrong_views(scop, part, views)
    if problem:
        raise Unsupported("no-proof", f"what was printed is not the proven tree: {problem}", scop.loc)
    return views
