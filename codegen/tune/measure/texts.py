"""Prints a loop tree as a C function that runs its points in exactly its order of loops; raises CannotEmit where there
is no code for the tree."""

from __future__ import annotations

from codegen.isa.model import Isa
from codegen.lower.nest.kernel import ADDED, Options, check
from codegen.lower.nest.loops import Ordered
from codegen.lower.nest.schedule import schedule
from codegen.target.nest_text import nest_text


def c_for(tree: Ordered, isa: Isa, name: str, options: Options = ADDED) -> str:
    """The function `void name(const T *a, const T *b, T *c)`. Raises CannotEmit."""
    return nest_text(name, tree.compute, check(schedule(tree, isa), options), isa, options)
