"""Proof about halos of time-tiled stencils: how far around its tile a core has right values, step by step.

A tile is fetched with a margin. In every step, statements run on margins that become smaller; a value is right where
all that it was computed from was right. All widths grow by one number for each step that is still to come, so one step
stands for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.verify.cores.steps.model import GridSweep
from codegen.verify.text.read import Unread


def check_margins(
    scop_arrays: Mapping[str, Sequence[str]], sweeps: Sequence[GridSweep], widths: Sequence[int], growth: int, halo: int
) -> None:
    """Raises Unread unless the tile itself is right after the last step. `scop_arrays` has the arrays of each
    statement's accesses, `widths` the margin of each sweep in the last step, `halo` what is fetched for one step."""
    written = {x.target for x in sweeps}
    if growth < 0 or min(widths) < 0:
        raise Unread("margins that are less than nothing")
    # Before a step: what the step before it left, at most what was fetched.
    left = {x.target: w for x, w in zip(sweeps, widths, strict=True)}
    right = {a: min(halo, left[a] + growth) if a in written else halo for n in scop_arrays for a in scop_arrays[n]}
    for x, width in zip(sweeps, widths, strict=True):
        for array, shift in zip(scop_arrays[x.instance.stmt], x.shifts, strict=True):
            far = max((abs(c) for c in shift), default=0) if shift is not None else 0
            if shift is not None and right[array] < width + far:
                raise Unread(f"{x.instance.stmt} reads `{array}` where it is not right any more")
        if right[x.target] < width:
            raise Unread(f"`{x.target}` is not right where {x.instance.stmt} does not run")
        right[x.target] = width


def check_unfetched(
    array: str, scop_arrays: Mapping[str, Sequence[str]], writes: Mapping[str, Sequence[bool]],
    sweeps: Sequence[GridSweep], widths: Sequence[int],
) -> None:  # fmt: skip
    """The same for an array that was not fetched, on tiles where each sweep that writes it writes all of its margin:
    in every step it is written before it is read. `writes` tells which accesses write."""
    right: int | None = None
    for x, width in zip(sweeps, widths, strict=True):
        names, stores = scop_arrays[x.instance.stmt], writes[x.instance.stmt]
        for name, write, shift in zip(names, stores, x.shifts, strict=True):
            if name != array or write or shift is None:
                continue
            if right is None or right < width + max((abs(c) for c in shift), default=0):
                raise Unread(f"{x.instance.stmt} reads `{array}`, which was not fetched")
        if x.target == array:
            right = width
    if right is None:
        raise Unread(f"`{array}` is not fetched, and nobody writes it")
