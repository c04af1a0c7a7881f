"""Checks before planning that a region suits a core group. Raises Unsupported for bounds or subscripts that data
decide, structs used in parts, stores under a condition into tiles that are sent back whole, and too many cases of
remainders."""

from __future__ import annotations

import islpy as isl

from codegen.diagnostics import Unsupported
from codegen.recognize.stores import conditional, left_alone
from codegen.scop.expr import is_code
from codegen.scop.model import Scop

REMAINDERS = 4  # cases of a statement that remainders tell apart, as `i % 3 == 0 || (i + j) % 5 == 2` does


def check_region(scop: Scop) -> None:
    """Raises Unsupported."""
    _check_elements(scop)
    _check_stores(scop)
    _check_remainders(scop)


def _check_elements(scop: Scop) -> None:
    """Local copies hold numbers of one type each, of which it is known beforehand which are needed."""
    for s in scop.statements:
        if is_code(s.rhs) and not scop.arrays[s.accesses[s.target].array].opaque:
            words = "data decide how often a loop runs: what a core needs is not known before it runs"
            raise Unsupported("nonaffine-bound", words, s.loc, "compute the bound before the region")
    for s, a in scop.accesses():
        if scop.arrays[a.array].opaque:
            raise Unsupported(
                "data-dependent-subscript",
                f"data decide which elements of `{scop.arrays[a.array].base}` are used: which of them a core needs is "
                "not known before it runs",
                a.loc,
                "subscripts may use loop variables and integers the region does not change",
            )
        if scop.arrays[a.array].mixed:
            raise Unsupported(
                "sunway-array",
                f"`{a.array}` is a struct or union of which parts are used",
                s.loc,
                "use variables and arrays of plain numbers",
            )


def _check_stores(scop: Scop) -> None:
    """Cores send whole tiles back: what the source leaves alone there would be stored, too."""
    for s in scop.statements:
        array = s.accesses[s.target].array
        if conditional(s) and left_alone(scop, array):
            raise Unsupported(
                "sunway-store",
                f"elements of `{array}` are stored only where a condition holds, but cores send whole tiles back",
                s.loc,
                "give them a value in any case, as in `x = cond ? a : b;`, if the program allows that",
            )


def _check_remainders(scop: Scop) -> None:
    """Tiles of what is told by remainders in many cases take isl minutes, and come out as tests of each point."""
    for s in scop.statements:
        cases = sum(part.dim(isl.dim_type.div) > 0 for part in s.domain.get_basic_sets())
        if cases > REMAINDERS:
            raise Unsupported(
                "sunway-remainders",
                f"remainders tell in {cases} cases which iterations of {s.name} run, too many to cut into tiles",
                s.loc,
                "compute a value for every iteration, and choose by `?:` between it and the old one",
            )
