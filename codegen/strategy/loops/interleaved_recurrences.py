"""Decides where recurrences are interleaved: rows of a free outer loop take turns in the innermost one, so that
dependence chains overlap. Returns the statements and the directives (blocks of rows, the sequential loops around the
rows, an element of each private variable for every row), or None."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import islpy as isl

from codegen.machine import Machine
from codegen.plan.model import Directive, Distribute, Interleave, LoopRef, Order, Skew, StoreIn, Tile
from codegen.recognize.access.invariant_values import alike
from codegen.recognize.access.strides import coefficients, move
from codegen.recognize.stores import conditional
from codegen.scop.expr import Gather, is_code, walk
from codegen.scop.model import Statement
from codegen.scop.tree import Band, Loop, Node, Seq, enclosing, has_band, statements
from codegen.scop.tree import loops as all_loops
from codegen.strategy.cost.latency import divides, waiting, worth_rows
from codegen.strategy.cost.tile_sizes import constant_extent
from codegen.strategy.loops.wavefronts import ROWS
from codegen.transform.program import Program, carried
from codegen.transform.tile import tiles_of

# Values of the loop around a recurrence that run along rows: enough for whole vectors and pages, few enough for the
# values in between to stay in the first-level cache. deriche, 4096 x 2160, f64: 0.178 s with 64, 0.138 with 256, 0.130
# with 512.
ALONG = 256
# Rows that take turns where each keeps its last values in an array, or in registers where they are written out.
# deriche: 0.138 s one by one, 0.109 with 4 rows, 0.130 with 8; written out 0.105, with clang 0.19 and 0.14.
KEPT_ROWS = 4


# Iterations that compilers write out. 1000 x 1500 points in f32, gcc 12: 49 taps 10.0 ms as written, 16.8 with lines
# innermost; 81 taps 82 ms and 27 ms.
WRITTEN_OUT = 64
Found = tuple[tuple[str, ...], tuple[Directive, ...]]


def chain_of(p: Program, node: Band, free: Callable[[Band], bool], machine: Machine) -> Found | None:
    """For a nest that ends in sequential loops right inside a parallel one: all statements concerned, and what to do:
    blocks of rows, and in each the sequential loops around the rows. Then a row's next point need not wait for the
    last one, and what lies along columns is read by whole lines. `free` says that no variable of the region lives
    along the loops of a band; those that do get an element for each row of a block."""
    if node.product is not None:
        return None
    row = node.loops[-1]
    if not has_band(node.child):
        ordered = len(node.loops) > 1 and not row.coincident and node.loops[-2].coincident
        if not ordered or not free(node) or not worth_rows(p, statements(node), machine):
            return None
        name = statements(node)[0]
        if _fewer(p, node.loops[-2], name, ROWS):
            return None
        rows, inner = LoopRef(node.loops[-2].name, name), LoopRef(row.name, name)
        cut = (Tile(((rows, ROWS), (inner, 0))), Order((inner, rows)))
        return statements(node), (*cut, *_abreast(p, node.child, rows, node.loops[-2]))
    if not row.coincident or not isinstance(node.child, Seq):
        return None
    inside = [k for k in node.child.children if isinstance(k, Band)]
    return _below(p, node, inside[0], free, machine) if len(inside) == 1 else None


def _below(
    p: Program, node: Band, inside: Band, free: Callable[[Band], bool], machine: Machine
) -> Found | None:
    """For a loop around other statements and the nest `inside`."""
    loops = _chain(p, inside)
    if not loops:
        return None
    row, names = node.loops[-1], statements(node)
    if _used_elsewhere(p, names) or divides(p, statements(inside), machine) or _members(p, row, statements(inside)):
        return None
    if all(_window(p.scop.statement(n), loops) for n in statements(inside)):
        return None
    shifts = _shifts(p, row, loops, statements(inside)) if _along(p, node, inside) else None
    along = shifts is not None
    if not along and not waiting(p, statements(inside), machine):
        return None  # compilers make vectors of it as it is: extremes and sums of integers
    single = len(loops) == 1 and len(node.loops) == 1
    stays = single and free(inside) and free(node)
    if not along and not stays and (not single or len(statements(inside)) == 1):
        return None  # a sum: it stays in a register
    if stays and not along and not worth_rows(p, statements(inside), machine):
        return None
    size = ROWS if stays else ALONG if along else KEPT_ROWS
    name, first = statements(inside)[0], LoopRef(row.name, names[0])
    if not along and _fewer(p, row, name, size):
        return None
    rows, inner = LoopRef(row.name, name), tuple(LoopRef(lp.name, name) for lp in loops)
    last = _abreast(p, inside.child, rows, row) if stays else tuple(_kept(p, row, names, size))
    if not stays and not along and all(_plain(p, n) for n in statements(inside)):
        last = (*last, Interleave(rows))
    skews = (Skew(LoopRef(lp.name, name), factor, rows) for lp, factor in shifts or ())
    return names, (*skews, Tile(((first, size),)), Distribute(first), Order((*inner, rows)), *last)


def _fewer(p: Program, row: Loop, name: str, size: int) -> bool:
    """Are there never as many rows as take turns? Then none do: points times a matrix of 4 x 4, f64, Neoverse N1, 0.82
    of gcc's speed with a test for 8 rows."""
    most = constant_extent(p.scop, row, name)
    return most is not None and most < size


def _plain(p: Program, name: str) -> bool:
    """Does a statement store one value, of one type, in any case? Those of several rows can be written out then."""
    s = p.scop.statement(name)
    return not (p.scop.arrays[s.accesses[s.target].array].mixed or conditional(s) or is_code(s.rhs))


def has_chains(p: Program) -> bool:
    """May there be recurrences through variables of the region?"""
    return any(a.inside and a.scope and not a.rank for a in p.scop.arrays.values())


def _along(p: Program, outer: Band, chain: Band) -> bool:
    """Does the outer loop run along rows of all arrays? Where data decide about a subscript, nobody knows."""
    for name in statements(chain):
        s, around = p.scop.statement(name), enclosing(p.tree, name)
        if any(isinstance(e, Gather) for e in walk(s.rhs)):
            return False
        which = next(k for k, lp in enumerate(around) if lp.name == outer.loops[-1].name)
        moves = [move(p.scop, s, a, around, which) for a in s.accesses if p.scop.arrays[a.array].rank]
        if not all(m.unit or m.still for m in moves):
            return False
    return True


def _members(p: Program, row: Loop, names: Sequence[str]) -> bool:
    """Do rows read members of structs of their own? Neighbours lie apart then, and vectors would have to gather them.
    nbody-forces, f32: 0.91 of gcc's speed with rows innermost."""
    for s in (p.scop.statement(n) for n in names):
        around = enclosing(p.tree, s.name)
        which = next(k for k, lp in enumerate(around) if lp.name == row.name)
        apart = (a for a in s.accesses if any(x.kind == "member" for x in a.path))
        if any(not move(p.scop, s, a, around, which).still for a in apart):
            return True
    return False


def _used_elsewhere(p: Program, names: Sequence[str]) -> bool:
    """Does a variable of the region carry values from these statements to others? Rows would not keep it for them."""
    own = {a.array for n in names for a in p.scop.statement(n).accesses if _of_a_row(p, a.array)}
    return any(a.array in own for s in p.scop.statements if s.name not in names for a in s.accesses)


def _of_a_row(p: Program, array: str) -> bool:
    """Is it a variable of the region that each iteration has for itself?"""
    found = p.scop.arrays[array]
    return bool(found.inside and found.scope and not found.rank)


def _window(s: Statement, chain: Sequence[Loop]) -> bool:
    """Do the loops go over a small box of numbers? Compilers write them out and make vectors of what is around."""
    box, size = s.domain, 1
    for k in (_iterator(lp, s.name) for lp in chain):
        low, high = s.domain.dim_min_val(k), s.domain.dim_max_val(k)
        if not low.is_int() or not high.is_int():
            return False
        size *= high.to_python() - low.to_python() + 1
        box = box.eliminate(isl.dim_type.set, k, 1)
        box = box.lower_bound_val(isl.dim_type.set, k, low).upper_bound_val(isl.dim_type.set, k, high)
    return size <= WRITTEN_OUT and bool(box.is_subset(s.domain))


def _shifts(
    p: Program, row: Loop, chain: Sequence[Loop], names: Sequence[str]
) -> tuple[tuple[Loop, int], ...] | None:
    """Loops of a chain that go around the row, and how to count them from there, so that there are long rows for given
    values of the other loops: the longest, where one way has all rows of the others. None if there is no such way."""
    stmts = [p.scop.statement(n) for n in names]
    ways: list[tuple[tuple[Loop, int], ...]] = [(), *(((lp, factor),) for lp in chain for factor in (-1, 1))]
    best, spans = None, list[isl.Set]()
    for way in ways:
        found = [_span(s, row, enclosing(p.tree, s.name), way) for s in stmts]
        if all(map(_long, found)) and (best is None or _longer(found, spans)):
            best, spans = way, found
    return best


def _span(s: Statement, row: Loop, around: Sequence[Loop], shifts: Sequence[tuple[Loop, int]]) -> isl.Set:
    """How far apart rows are for given values of the other loops. A point may have its neighbours alone."""
    same = isl.Map.from_domain_and_range(s.domain, s.domain)
    for lp in around:
        if lp.name == row.name:
            continue
        value = lp.exprs[s.name]
        for other, factor in shifts:
            if other is lp:
                value = value.add(row.exprs[s.name].scale_val(isl.Val(factor)))
        at = isl.Map.from_pw_aff(value)
        same = same.intersect(at.apply_range(at.reverse()))
    d, apart = _iterator(row, s.name), same.deltas()
    beyond = apart.dim(isl.dim_type.set) - d - 1
    return apart.project_out(isl.dim_type.set, d + 1, beyond).project_out(isl.dim_type.set, 0, d)


def _long(span: isl.Set) -> bool:
    """Are there more than a few rows?"""
    apart = span.dim_max_val(0)
    return bool(apart.is_infty()) or apart.to_python() >= ALONG // 4


def _longer(found: Sequence[isl.Set], spans: Sequence[isl.Set]) -> bool:
    """Are there more rows, whatever the parameters? A window around each point, of 7 by 7 in 500 by 600 points in f32:
    0.90 of gcc's speed with rows as long as the window, 6.8 times with taps counted from the point."""
    pairs = list(zip(found, spans, strict=True))
    return all(old.is_subset(new) for new, old in pairs) and not all(new.is_subset(old) for new, old in pairs)


def _kept(p: Program, row: Loop, names: Sequence[str], size: int) -> Iterator[Directive]:
    """An element for each row of a block, for every variable of the region that is used in these statements alone."""
    stmts = [p.scop.statement(n) for n in names]
    for array in sorted({a.array for s in stmts for a in s.accesses}):
        if _of_a_row(p, array):
            user = next(s for s in stmts if any(a.array == array for a in s.accesses))
            tile = tiles_of(p.scop, enclosing(p.tree, user.name), [row.name])[row.name]
            yield StoreIn(array, LoopRef(tile, user.name), ((user.iterators[_iterator(row, user.name)], tile, size),))


def _iterator(row: Loop, name: str) -> int:
    """Which of the statement's iterators a loop steps through."""
    value = row.exprs[name]
    found = coefficients(value, value.dim(isl.dim_type.in_)) or ()
    return next((k for k, c in enumerate(found) if c), 0)


def _chain(p: Program, band: Band) -> tuple[Loop, ...]:
    """The loops of a nest that run in order, or fold into a variable in any, one in the other, around plain statements;
    none for other nests."""
    places = [q for q in all_loops(p.tree) if q.band is band]
    if band.product is not None or any(q.loop.coincident and not carried(p, q).reductions for q in places):
        return ()
    if not has_band(band.child):
        return band.loops
    below = _chain(p, band.child) if isinstance(band.child, Band) else ()
    return (*band.loops, *below) if below else ()


def _abreast(p: Program, body: Node, rows: LoopRef, row: Loop) -> tuple[Directive, ...]:
    """Written out side by side for one statement; for several the registers would not do. Those whose value is the same
    in all rows do not count: they take one value, and one division less in each row of adi (`invariant_values.py`)."""
    names = statements(body)
    own = [n for n in names if len(names) == 1 or not alike(p.scop, p.deps, n, _iterator(row, n))]
    return (Interleave(rows),) if len(own) == 1 else ()
