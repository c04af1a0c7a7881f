"""One region for a core group: plan, proof, text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.options import GenOptions
from codegen.record import record
from codegen.scop.tree import Loop
from codegen.sunway.machine import CoreGroup, group_for
from codegen.sunway.strategy import Sizes
from codegen.sunway.style import STYLES
from codegen.sunway.threads import Grid, parse_grid
from codegen.sunway.tiles import TileModel
from codegen.transform.program import Program


@record
class FixedSizes:
    """The published scheme: one size for all loops."""

    size: int

    def __call__(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...], width: int) -> Mapping[str, int]:
        return {lp.name: self.size for lp in loops}

    def diagonal(self, p: Program, loops: Sequence[Loop], stmts: tuple[str, ...]) -> tuple[int, ...]:
        return ()


# Parts of local memory that tiles are planned for, one after the other: boxes may turn out larger than estimated.
SHARES = (1.0, 0.5, 0.25)


def author_of(options: GenOptions, share: float = 1.0) -> tuple[Grid, CoreGroup, Sizes]:
    """Who decides on tiles, for tiles that take this part of local memory."""
    grid = parse_grid(options.threads)
    group = group_for(options.machine)
    return grid, group, FixedSizes(32) if options.scheme.startswith("published") else TileModel(
        group, grid, STYLES[options.scheme].mesh, share
    )
