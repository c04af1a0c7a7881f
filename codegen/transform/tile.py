"""The directive `tile`: cuts loops of a nest into tiles, tile loops outside, point loops inside."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.plan.model import Tile
from codegen.scop.distance import bounds, constant
from codegen.scop.model import Scop
from codegen.scop.tree import Band, Loop, Node, Path, at, loops
from codegen.transform.find import chains, illegal, rebuild
from codegen.transform.program import Program


def apply(p: Program, d: Tile) -> Program:
    """Insert one tile loop per size; the listed loops become the point loops, in the listed order."""
    refs = tuple(ref for ref, _ in d.loops)
    if len({r.name for r in refs}) != len(refs):
        raise illegal("a loop is named twice", d.loc)
    sizes = {ref.name: size for ref, size in d.loops}
    cut = [ref.name for ref, size in d.loops if size]
    tree = p.tree
    for chain in reversed(chains(tree, refs, d.loc)):
        where = sorted(chain.index(r.name) for r in refs)
        listed = [chain.loops[chain.index(r.name)] for r in refs]
        low, high = where[0], where[-1]
        points = list(chain.loops[low : high + 1])
        for k, lp in zip(where, listed, strict=True):
            points[k - low] = lp
        names = tile_names(cut, names_on_paths(p.scop, tree, chain.path))
        tiles = [tile_loop(p.scop, lp, names[lp.name], sizes[lp.name]) for lp in points if sizes.get(lp.name)]
        points = [replace(lp, note=lp.note or "inside the tile") if sizes.get(lp.name) else lp for lp in points]
        tree = rebuild(
            tree,
            chain,
            [
                (chain.loops[:low], False),
                (tuple(tiles), d.full),
                (tuple(points), False),
                (chain.loops[high + 1 :], False),
            ],
        )
    return p.with_tree(tree)


def names_on_paths(scop: Scop, tree: Node, path: Path) -> set[str]:
    """The loops around the node at `path` and inside it, and all iterators, after which loops may be called later. A
    new loop there needs another name: a reference in a plan means one loop of a statement."""
    around = {lp.name for k in range(len(path)) if isinstance(n := at(tree, path[:k]), Band) for lp in n.loops}
    return {*around, *(q.loop.name for q in loops(at(tree, path))), *iterators(scop)}


def iterators(scop: Scop) -> frozenset[str]:
    """The iterators of all statements."""
    return frozenset(x for s in scop.statements for x in s.iterators)


def tiles_of(scop: Scop, around: Sequence[Loop], cut: Sequence[str]) -> dict[str, str]:
    """The names of the tile loops that a directive for some of the loops `around` a statement makes, in its order."""
    return tile_names(cut, {*iterators(scop), *(lp.name for lp in around)})


def tile_names(cut: Sequence[str], taken: Collection[str]) -> dict[str, str]:
    """The names of new tile loops of these loops, in this order, where others are `taken`."""
    out: dict[str, str] = {}
    for name in cut:
        out[name] = fresh_name(name + "t", {*taken, *out.values()})
    return out


def fresh_name(name: str, taken: Collection[str]) -> str:
    """The name, with more letters until it is new."""
    while name in taken:
        name += "t"
    return name


def tile_loop(scop: Scop, lp: Loop, name: str, size: int) -> Loop:
    """The loop over tiles of `lp`; its value is the first point of the tile."""
    exprs = {}
    constant = origin(scop, lp.exprs) if lp.start is None else 0
    for stmt, value in lp.exprs.items():
        start = _start(value, lp.start).add_constant_val(isl.Val(constant))
        floor = value.sub(start).scale_down_val(isl.Val(size)).floor()
        exprs[stmt] = floor.scale_val(isl.Val(size)).add(start)
    return Loop(name, exprs, coincident=lp.coincident, tile=size, of=lp.name, note=f"tiles of {size}")


def _start(value: isl.PwAff, start: isl.Aff | None) -> isl.PwAff:
    """The place where tiles begin, as a function of the same instances."""
    here = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(value.get_domain_space()))
    if start is None:
        return isl.PwAff.from_aff(here)
    here = here.align_params(start.get_domain_space().params())
    for k in range(start.dim(isl.dim_type.param)):
        at = here.find_dim_by_name(isl.dim_type.param, str(start.get_dim_name(isl.dim_type.param, k)))
        here = here.add_coefficient_val(isl.dim_type.param, at, start.get_coefficient_val(isl.dim_type.param, k))
    return isl.PwAff.from_aff(here.add_constant_val(start.get_constant_val()))


def origin(scop: Scop, exprs: Mapping[str, isl.PwAff]) -> int:
    """Where tiles are counted from: the loop's first value if it is a constant, else 0."""
    lows = []
    for stmt, value in exprs.items():
        image = isl.Map.from_pw_aff(value).intersect_domain(scop.statement(stmt).domain).range()
        low = constant(bounds(image, 0)[0]) if image.dim_has_lower_bound(isl.dim_type.set, 0) else None
        if low is None:
            return 0
        lows.append(low)
    return min(lows, default=0)
