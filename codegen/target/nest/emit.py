"""Prints a contraction in exactly its given loop order as a C function."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.isa.helpers import definitions, guarded
from codegen.isa.model import Isa
from codegen.isa.text import BARRIER, PREFETCH
from codegen.lower.nest.contraction import show as show_problem
from codegen.lower.nest.kernel import KEPT, NestKernel, Options
from codegen.lower.nest.loops import Loop, show_nest
from codegen.lower.nest.schedule import NestSchedule
from codegen.target.nest.writer import NestWriter
from codegen.target.text.templates import environment


def nest_text(
    name: str, compute: tuple[Loop, ...], plan: NestSchedule, isa: Isa, options: Options, static: bool = False
) -> str:
    """The function `void name(const T *a, const T *b, T *c)`; what it needs above it is `prelude`'s."""
    return (
        environment()
        .get_template("nest.c.j2")
        .render(
            problem=show_problem(plan.problem),
            nest=show_nest(compute),
            name=name,
            static=static,
            target=isa.target,
            scalar=isa.vec(plan.problem.elem).scalar,
            buffers=plan.buffers,
            body=NestWriter(isa, plan, options).body(),
        )
    )


def nest_kernel(isa: Isa, kernel: NestKernel) -> str:
    """C text of the static function."""
    return nest_text(kernel.name, kernel.nest.compute, kernel.schedule, isa, KEPT, static=True)


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
