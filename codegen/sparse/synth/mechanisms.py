"""Plans an optimised conversion: how each position gets its numbers, and in which order entries must come.

Mechanisms, chosen by what the constraints say and never by the format's name:

- full      one number for each entry, in the destination's order: as the entries come, or by counting into buckets
- rank      one number for each entry of a group: counting
- table     numbers for the distinct values of one bounded integer: mark, number, look up
- segment   numbers for distinct values within a parent of bounded range: a marker for each value, entries grouped
- run       numbers for runs of equal keys in sorted entries
"""
from __future__ import annotations

from codegen.record import record
from codegen.sparse.algebra.expr import Exp, num, var
from codegen.sparse.algebra.terms import subst
from codegen.sparse.ir.nest import For
from codegen.sparse.synth.bounds import bounds, is_key, linear
from codegen.sparse.synth.model import unsolved
from codegen.sparse.synth.pair import Pair, Place, room, sizes
from codegen.sparse.synth.scan import scan
from codegen.sparse.synth.stream import Stream, of_scan
from codegen.sparse.synth.visits import orders, sorted_by

FULL, RANK, TABLE, SEGMENT, RUN = "full", "rank", "table", "segment", "run"


@record
class ConversionPlan:
    """What was decided: a mechanism for each place, the order entries must come in, how they get into it."""

    how: tuple[str, ...]
    order: tuple[Exp, ...]
    down: bool
    stream: Stream
    move: str
    log: tuple[str, ...]


def choose(p: Pair, sorting: bool = False) -> ConversionPlan:
    """The plan for a pair; `sorting`: without counters and tables as long as an extent, as far as that can be."""
    how = tuple(_mechanism(p, place) for place in p.places)
    if sorting:
        how = tuple(RUN if h == TABLE or (h == SEGMENT and not place.pos.group) else h
                    for h, place in zip(how, p.places, strict=True))
    elif any(h in (RUN, FULL) and place.order.parts for h, place in zip(how, p.places, strict=True)):
        how = tuple(RUN if h == TABLE else h for h in how)  # sorted anyway, so runs cost less than a table
    if RUN in how:
        how = tuple(RUN if h == SEGMENT else h for h in how)
    wanted = [_wanted(p, place, h) for place, h in zip(p.places, how, strict=True)]
    order = max(wanted, key=len, default=())
    for w, place in zip(wanted, p.places, strict=True):
        if order[:len(w)] != w:
            raise unsolved(p.target.desc, f"{place.pos.var} needs an order of its own")
    down = any(place.order.down for place in p.places if place.order.parts)
    log = tuple(f"position {place.pos.var}: {h}, keyed on {', '.join(str(in_source(p, k)) for k in place.pos.key)}"
                for place, h in zip(p.places, how, strict=True))
    want = tuple(in_source(p, e) for e in order)
    for o in orders(p.source):
        s = scan(p.source, o)
        if sorted_by(p.source, s, want, down):
            note = f"order {listed(want)} already holds; no permutation, loops {', '.join(o)}"
            return ConversionPlan(how, order, down, of_scan(s), "none", (*log, note))
    stream = of_scan(scan(p.source))
    counting = len(order) == 1 and not is_key(order[0]) and not down and not sorting
    # Several threads put entries into places in no order, so pointers must come from counting.
    starts = all(owns_counts(p, place, order[0]) for place, h in zip(p.places, how, strict=True)
                 if h == FULL and place.pos.ptr)
    direct = counting and all(h in (FULL, RANK, TABLE) for h in how) and starts
    move = "scatter" if direct else "count" if counting else "radix"
    words = {"scatter": "counting, entries go straight to their places", "count": "counting into temporaries",
             "radix": "radix sort on precomputed keys"}
    return ConversionPlan(how, order, down, stream, move, (*log, f"permutation by {listed(want)}: {words[move]}"))


def in_source(p: Pair, e: Exp) -> Exp:
    """An expression over the destination's coordinates in the source's names."""
    return subst(e, {t: var(s) for t, s in zip(p.target.coords, p.source.coords, strict=True)})


def limits(p: Pair, e: Exp) -> tuple[Exp, Exp] | None:
    """The least and the greatest value of an expression over the destination's coordinates, where both are known."""
    return bounds(e, {x: var(n) for x, n in zip(p.target.coords, p.shape, strict=True)})


def _mechanism(p: Pair, place: Place) -> str:
    pos = place.pos
    if not place.dedup:
        return RANK if pos.group else FULL
    if pos.stair:
        raise unsolved(p.target.desc, f"entries that share a place cannot be counted along {pos.stair.ptr}")
    if not pos.ptr and not pos.group and len(place.order.parts) == 1 and limits(p, place.order.parts[0]):
        return TABLE
    grouped = owner_of(p, place) is not None
    found = limits(p, pos.values[0][1])
    small = found is not None and found[0] == num(0) and len(pos.values) == 1
    return SEGMENT if grouped and small and not place.order.down else RUN


def _wanted(p: Pair, place: Place, how: str) -> tuple[Exp, ...]:
    if how in (FULL, RUN):
        if how == RUN and place.pos.group:
            raise unsolved(p.target.desc, f"{place.pos.var} counts within groups and needs sorting too")
        return place.order.parts
    owner = owner_of(p, place)
    return (owner,) if how == SEGMENT and owner is not None else ()


def owner_of(p: Pair, place: Place) -> Exp | None:
    """The number of what a position is counted in, its group or its segment; None where that has none."""
    pos, resolved = place.pos, dict(p.target.resolved)
    one = pos.ptr and len(pos.segment.above) == 1 and pos.parent in resolved
    parts = pos.group or ((resolved[pos.parent],) if one else ())
    spans = [limits(p, e) for e in parts]
    if not parts or any(s is None or s[0] != num(0) for s in spans) or any(s and s[1].terms for s in spans[1:]):
        return None
    return linear(tuple(s[1] + 1 for s in spans if s), parts)


def owns_counts(p: Pair, place: Place, part: Exp) -> bool:
    """Are the starts of the position's segments the counts of the entries for each `part`?"""
    pos, found = place.pos, limits(p, part)
    if not pos.ptr or len(pos.segment.above) != 1 or found is None or found[0] != num(0):
        return False
    return part == dict(p.target.resolved).get(pos.parent) and room(p.target, sizes(p.target), pos.ptr) == found[1] + 2


def as_they_come(p: Pair, place: Place) -> bool:
    """Are keys that only differ in what nobody promises numbered as they are met? Both chains must agree on it."""
    return bool(place.order.free) and choose(p).how[p.places.index(place)] == SEGMENT


def listed(parts: tuple[Exp, ...]) -> str:
    return f"[{', '.join(map(str, parts))}]"


def may_be_sorted(p: Pair) -> tuple[Stream, tuple[Exp, ...]] | None:
    """Where entries must be moved, but a look at their integer keys may show that they need not be."""
    plan = choose(p)
    loops = [x for x in plan.stream.nest if isinstance(x, For)]
    if plan.move == "none" or plan.down or len(loops) != 1 or any(is_key(e) for e in plan.order):
        return None
    return plan.stream, tuple(plan.stream.at(p.target, e) for e in plan.order)
