"""Gives each thread several iterations of the outermost loop (thread coarsening), where neighbours read the same
elements: stencils. Returns the program with the tile and order directives for it; none where nothing is shared.

A thread then loads an element once that the plain kernel loads in several threads, and computes its place once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import islpy as isl

from codegen.plan.model import Directive, LoopRef, Order, Tile
from codegen.recognize.access.strides import move
from codegen.scop.model import Access, Scop
from codegen.scop.tree import Band, Leaf, Loop, enclosing
from codegen.transform.apply import apply
from codegen.transform.program import Program

# Iterations of a thread, by the loops of the grid. In three dimensions four of them keep too many planes under way: on
# an H200 heat-3d of 512 runs at 0.94 of the plain kernel, with two of them, and narrow blocks, at 1.06.
STRIPS = {2: 4, 3: 2}


def strip_loop(p: Program, band: Band) -> tuple[Program, tuple[Directive, ...]]:
    """The nest with strips of its first loop innermost, and the directives for it; none where nothing is shared."""
    loops = [lp for lp in band.loops if lp.coincident]
    if not isinstance(band.child, Leaf) or len(loops) != len(band.loops) or len(loops) not in STRIPS:
        return p, ()
    stmt = band.child.stmt
    if not all(_is_iterator(lp, stmt) for lp in loops) or not _shares(p.scop, stmt, loops):
        return p, ()
    tile = Tile(((LoopRef(loops[0].name, stmt), STRIPS[len(loops)]),))
    cut = apply(p, tile)
    strips = next(lp.name for lp in enclosing(cut.tree, stmt) if lp.of == loops[0].name)
    names = (strips, *(lp.name for lp in loops[1:]), loops[0].name)
    order = Order(tuple(LoopRef(n, stmt) for n in names))
    return apply(cut, order), (tile, order)


def _is_iterator(lp: Loop, stmt: str) -> bool:
    """Is the loop one of the statement's own? Strips of others, of wavefronts, would be cut at either end."""
    found = lp.exprs[stmt]
    if found.n_piece() != 1:
        return False
    value = found.get_pieces()[0][1]
    names = [value.get_coefficient_val(isl.dim_type.in_, k) for k in range(value.dim(isl.dim_type.in_))]
    return sum(not c.is_zero() for c in names) == 1


def _shares(scop: Scop, stmt: str, loops: Sequence[Loop]) -> bool:
    """Does the iteration after this one of the first loop, or one of the next, read an element that this one reads?"""
    s, length = scop.statement(stmt), STRIPS[len(loops)]
    reads = [a for a in s.reads if not a.partial and not scop.arrays[a.array].inside]
    for n, a in enumerate(reads):
        steps = move(scop, s, a, loops, 0).steps
        if steps is None or not any(steps):
            continue
        for b in reads[:n] + reads[n + 1 :]:
            if a.array == b.array and any(tuple(k * x for x in steps) == (*_apart(a, b),) for k in range(1, length)):
                return True
    return False


def _apart(a: Access, b: Access) -> Iterator[Fraction]:
    """How far the subscripts of two accesses are apart, as far as that is fixed."""
    for k in range(a.index.dim(isl.dim_type.out)):
        found = b.index.get_pw_aff(k).sub(a.index.get_pw_aff(k)).coalesce()
        if found.n_piece() != 1 or not found.is_cst():
            return
        value = found.get_pieces()[0][1].get_constant_val()
        yield Fraction(value.get_num_si(), value.get_den_val().get_num_si())
