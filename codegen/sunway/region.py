"""One region for a core group: plan, proof, text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.diagnostics import Diagnostic, Severity, Unsupported
from codegen.options import GenOptions
from codegen.scop.tree import Loop
from codegen.sunway.emit import SunwayText, emit_sunway
from codegen.sunway.launch import has_kernel
from codegen.sunway.machine import CoreGroup, group_for
from codegen.sunway.strategy import Sizes, sunway_plan
from codegen.sunway.threads import Grid, parse_grid
from codegen.transform.program import Program


def fixed_sizes(size: int) -> Sizes:
    """The published scheme: one size for all loops."""

    def sizes(p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], width: int) -> Mapping[str, int]:
        return {lp.name: size for lp in loops}

    return sizes


def author_of(options: GenOptions, program: Program) -> tuple[Grid, CoreGroup, Sizes]:
    grid = parse_grid(options.threads)
    return grid, group_for(options.machine), fixed_sizes(32)


__all__ = ["Diagnostic", "Severity", "SunwayText", "Unsupported", "author_of", "emit_sunway", "has_kernel",
           "sunway_plan"]
