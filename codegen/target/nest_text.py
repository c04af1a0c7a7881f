"""Text of contractions in exactly their given loop order: functions, and what stands above them in a file."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.isa.helpers import definitions, guarded
from codegen.isa.model import Isa
from codegen.isa.text import BARRIER, PREFETCH
from codegen.lower.nest.build import kernel_function, nest_function
from codegen.lower.nest.kernel import NestKernel, Options
from codegen.lower.nest.loops import Loop
from codegen.lower.nest.schedule import NestSchedule
from codegen.print.printer import print_function
from codegen.print.templates import environment
from codegen.target.finish.index_type import defined


def nest_text(name: str, compute: tuple[Loop, ...], plan: NestSchedule, isa: Isa, options: Options) -> str:
    """The function `void name(const T *a, const T *b, T *c)`; what it needs above it is `prelude`'s."""
    return print_function(nest_function(name, compute, plan, isa, options), isa)


def nest_kernel(isa: Isa, kernel: NestKernel) -> str:
    """C text of the static function."""
    return print_function(kernel_function(isa, kernel), isa)


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
    text = prelude(isa, texts) + "\n" + "\n".join(texts)
    return defined(text) + text
