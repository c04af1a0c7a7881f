"""From a tree to the text of a C function that runs its points in exactly its order of loops."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.isa.helpers import definitions, guarded
from codegen.isa.model import Isa, bits_of
from codegen.isa.text import BARRIER, PREFETCH
from codegen.target.nest.contraction import show as show_problem
from codegen.target.nest.loops import Ordered, show_nest
from codegen.target.nest.schedule import CannotEmit, Schedule, schedule
from codegen.target.nest.writer import ADDED, Options, Writer
from codegen.target.text.templates import environment

__all__ = ["CannotEmit", "Options", "c_for", "check", "file_for", "prelude"]

# Packed operands stand on the stack; threads have a few megabytes of it.
STACK_BYTES = 512 * 1024


def check(plan: Schedule, options: Options = ADDED, more: int = 0) -> Schedule:
    """The same schedule; CannotEmit where there is no code for it. `more` elements stand on the stack of its caller."""
    if not options.reassociate and plan.vector not in plan.problem.c:
        raise CannotEmit(f"vectors along {plan.vector} sum in another order than the source")
    if (more + sum(n for _, n in plan.buffers)) * bits_of(plan.problem.elem) // 8 > STACK_BYTES:
        raise CannotEmit("copies of operands would take too much of the stack")
    return plan


def c_for(tree: Ordered, isa: Isa, name: str, options: Options = ADDED, static: bool = False) -> str:
    """The function `void name(const T *a, const T *b, T *c)`; what it needs above it is `prelude`'s."""
    plan = check(schedule(tree, isa), options)
    elem = tree.problem.elem
    return (
        environment()
        .get_template("nest.c.j2")
        .render(
            problem=show_problem(tree.problem),
            nest=show_nest(tree.compute),
            name=name,
            static=static,
            target=isa.target,
            scalar=isa.vec(elem).scalar,
            buffers=plan.buffers,
            body=Writer(isa, plan, options).body(),
        )
    )


def prelude(isa: Isa, texts: Iterable[str]) -> str:
    """Headers, vector types and helpers for the functions."""
    texts = tuple(texts)
    return (
        environment()
        .get_template("kernel_prelude.c.j2")
        .render(
            headers=["stdint.h", "string.h", *([isa.header] if isa.header else [])],
            barrier=any(BARRIER in t for t in texts),
            prefetch=any(PREFETCH in t for t in texts),
            literal=True,
            definitions=guarded(definitions(isa, texts)),
        )
    )


def file_for(functions: Iterable[str], isa: Isa) -> str:
    """A C file of several functions."""
    texts = tuple(functions)
    return prelude(isa, texts) + "\n" + "\n".join(texts)
