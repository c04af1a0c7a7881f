"""The directive `diamond`: diamond tiles between a skewed space loop and its mirror image, which can all start at once.

A tile of the skewed loop X (a border that wanders right as time goes on) needs the one to its left first. The mirror
image of X wanders left as fast. Where the borders of both cut time and space, no tile of a row of diamonds needs
another one of that row.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from fractions import Fraction

import islpy as isl

from codegen.plan.model import Diamond
from codegen.recognize.access.strides import coefficients
from codegen.scop.isl_helpers import maps_of
from codegen.scop.tree import Loop, at, statements
from codegen.transform.find import Chain, chains, illegal, rebuild
from codegen.transform.program import Program
from codegen.transform.tile import fresh_name, names_on_paths, tile_loop


def apply(p: Program, d: Diamond) -> Program:
    """Insert a loop over rows of diamonds and one over the diamonds of a row around the nest of the two loops."""
    tree = p.tree
    for chain in reversed(chains(tree, (d.time, d.space), d.loc)):
        time, space = (chain.loops[chain.index(r.name)] for r in (d.time, d.space))
        slope = _slope(p, time, space, d)
        mirror = _mirror(p, statements(at(tree, chain.path)), time, space, 2 * slope)
        taken = names_on_paths(p.scop, tree, chain.path)
        tiles = _tiles(p, taken, space, mirror, d.size)
        tree = rebuild(tree, chain, [(tiles, False), (_inside(chain, d), False)])
    return p.with_tree(tree)


def diamond_names(space: str, taken: Set[str]) -> tuple[str, str]:
    """The names of the loops over rows of diamonds and over those of a row, where others are `taken`."""
    row = fresh_name(space + "t", taken)
    return row, fresh_name(space + "m", taken | {row})


def _inside(chain: Chain, d: Diamond) -> tuple[Loop, ...]:
    names = (d.time.name, d.space.name)
    return tuple(
        replace(lp, note=lp.note or "inside the diamond") if lp.name in names else lp for lp in chain.loops
    )


def _tiles(p: Program, taken: Set[str], space: Loop, mirror: Loop, size: int) -> tuple[Loop, Loop]:
    row, each = diamond_names(space.name, taken)
    right = tile_loop(p.scop, space, row, size)
    left = tile_loop(p.scop, mirror, each, size)
    sums = {s: v.add(left.exprs[s]) for s, v in right.exprs.items()}
    return (
        replace(right, exprs=sums, coincident=False, note="rows of diamonds"),
        replace(left, coincident=True, of=space.name, note=f"diamonds of {size}"),
    )


def _slope(p: Program, time: Loop, space: Loop, d: Diamond) -> Fraction:
    """How far the skewed loop moves with a step of time; the same for all statements."""
    found: set[Fraction] = set()
    for stmt, value in time.exprs.items():
        n = len(p.scop.statement(stmt).iterators)
        steps, moves = coefficients(value, n), coefficients(space.exprs[stmt], n)
        own = [k for k, c in enumerate(steps or ()) if c]
        if steps is None or moves is None or len(own) != 1:
            raise illegal(f"loop {d.time} does not count one iterator", d.loc, "name the loop over time steps")
        found.add(Fraction(moves[own[0]]) / Fraction(steps[own[0]]))
    (slope, *others) = sorted(found)
    if others or slope <= 0 or slope.denominator != 1:
        raise illegal(
            f"loop {d.space} is not skewed by loop {d.time}", d.loc, "skew it until tiles of the two loops are legal"
        )
    return slope


def _mirror(p: Program, names: tuple[str, ...], time: Loop, space: Loop, factor: Fraction) -> Loop:
    """The skewed loop turned around: factor * time - space, each statement shifted as little as dependences allow."""
    exprs = {
        n: time.exprs[n].scale_val(isl.Val(int(factor))).sub(space.exprs[n]) for n in names
    }
    shifts = dict.fromkeys(names, 0)
    steps = [step for m in maps_of(p.must) if (step := _least(m, exprs)) is not None]
    for _ in names:
        before = dict(shifts)
        for source, target, least in steps:
            shifts[target] = max(shifts[target], shifts[source] - least)
        if shifts == before:
            break
    else:  # no shifts will do; the order is refused, with the dependence that forbids it
        shifts = dict.fromkeys(names, 0)
    return Loop(space.name, {n: e.add_constant_val(isl.Val(shifts[n])) for n, e in exprs.items()})


def _least(m: isl.Map, exprs: dict[str, isl.PwAff]) -> tuple[str, str, int] | None:
    """By how much the value rises at least from one end of a dependence to the other, if that is bounded."""
    source, target = (str(m.get_tuple_name(t)) for t in (isl.dim_type.in_, isl.dim_type.out))
    if source not in exprs or target not in exprs:
        return None
    values = m.apply_domain(isl.Map.from_pw_aff(exprs[source])).apply_range(isl.Map.from_pw_aff(exprs[target]))
    rise = values.deltas()
    if rise.is_empty() or not rise.dim_has_any_lower_bound(isl.dim_type.set, 0):
        return None
    least = rise.dim_min_val(0)
    return (source, target, int(least.to_str())) if least.is_int() else None
