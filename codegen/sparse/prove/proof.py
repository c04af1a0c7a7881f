"""Proves that a format's descriptor determines all of its arrays; otherwise the format is refused, with the reason.

The synthesis takes what it recognises from a descriptor. Here it is shown that nothing was left over: every array is
filled, each element of it once; every condition of the map is one that the synthesis uses, tests or makes true; every
index lies within its array; what no entry owns can be told from an entry. isl decides what follows from what. It is
not asked how the arrays are filled: positions take the numbers from 0 on, segments follow one another (synth/).
"""
from __future__ import annotations

from functools import lru_cache

from codegen.sparse.algebra.affine import implied, possible
from codegen.sparse.algebra.expr import Call, Exp, num, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import functions, names, rewrite
from codegen.sparse.formats.model import Descriptor, Function
from codegen.sparse.prove.access import own_places
from codegen.sparse.prove.arrays import filled_arrays
from codegen.sparse.prove.facts import entry_facts, sizes_facts, symbols_of
from codegen.sparse.prove.orders import kept_orders
from codegen.sparse.synth.bounds import bounds
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.members import on_coordinates, stored_calls
from codegen.sparse.synth.model import Layout, unsolved
from codegen.sparse.synth.scan import scan


@lru_cache(maxsize=256)
def proven(d: Descriptor) -> Layout:
    """The layout of a format that was shown to be understood; a located error for any other."""
    lay = layout(d)
    _symbols(lay)
    filled_arrays(lay)
    _conditions(lay)
    _places(lay)
    _padding(lay)
    kept_orders(lay)
    if d.mirror and not triangle(lay):
        raise unsolved(d, f"a {'symmetric' if d.mirror > 0 else 'skew'} format has a place for one triangle",
                       f"add a condition such as {d.map.outs[1]} <= {d.map.outs[0]}", d.map_loc)
    return lay


def triangle(lay: Layout) -> int:
    """1 for a format of elements on and below the diagonal, -1 for those on and above it, 0 for others."""
    i, j = (var(x) for x in lay.coords)
    return next((s for s in (1, -1) if implied(entry_facts(lay), Constraint((i - j) * s))), 0)


def _symbols(lay: Layout) -> None:
    """Every symbol is an extent, follows from extents, or is the size of a position."""
    d, known = lay.desc, set(lay.desc.shape)
    for n, e in d.lets:
        for x in sorted(names(e) - known) + sorted(functions(e)):
            raise unsolved(d, f"{n} is made from {x}, which is no extent and does not follow from extents")
        known.add(n)
    symbols = symbols_of(lay)
    used = [(names(c.exp) - {*d.map.ins, *d.map.outs}, d.map_loc) for c in d.map.cons]
    used.append((names(d.access) - set(d.map.ins), d.access_loc))
    for f in d.functions:
        used += [(names(c.exp) - {*f.domain.ins, *f.range.ins}, f.loc) for c in (*f.domain.cons, *f.range.cons)]
    for found, loc in used:
        for x in sorted(found - symbols):
            raise unsolved(d, f"nothing says what {x} is", "a symbol is an extent, a `let`, or bounds a position: "
                           "0 <= k < SYMBOL", loc)
    for v, e in lay.resolved:
        if bounds(e, {x: var(n) for x, n in zip(lay.coords, d.shape, strict=True)}) is None:
            raise unsolved(d, f"{v} = {e} has no bounds that are known", loc=d.map_loc)


def _conditions(lay: Layout) -> None:
    """Every condition of the map holds for the tuple of an entry that was let in."""
    d, facts = lay.desc, entry_facts(lay)
    for c in d.map.cons:
        found = Constraint(on_coordinates(lay, c.exp), c.equal)
        if not names(found.exp) & {*d.map.ins, *d.map.outs} and not functions(found.exp):
            if not implied(sizes_facts(lay), found):
                raise unsolved(d, f"{c} is a condition on sizes alone", loc=d.map_loc)
        elif not implied(facts, found):
            named = sorted(functions(found.exp) | (names(found.exp) & {p.var for p in lay.positions}))
            raise unsolved(d, f"{c} is not understood: it does not follow from how {', '.join(named)} is counted",
                           "conditions may be on coordinates, or bound a position by a symbol or by pointers",
                           d.map_loc)


def _places(lay: Layout) -> None:
    if functions(lay.desc.access):
        raise unsolved(lay.desc, f"access reads {', '.join(sorted(functions(lay.desc.access)))}",
                       "let the segments of a position begin where the array says", lay.desc.access_loc)
    wrong = own_places(lay, entry_facts(lay))
    if wrong:
        raise unsolved(lay.desc, f"the access {lay.desc.access} may not give each entry a place of its own: {wrong}",
                       loc=lay.desc.access_loc)


def _padding(lay: Layout) -> None:
    """What no entry owns is filled, and its fill is no entry."""
    d = lay.desc
    holes = sorted(set(scan(lay).loops) - _counted(lay))
    if holes and not d.fill:
        raise unsolved(d, f"there are places without an entry, since {holes[0]} takes every value",
                       f"let them hold zeros: data {d.data} fill 0", d.map_loc)
    for f in (f for f in d.functions if f.fill is not None):
        k = next(k for k in stored_calls(lay) if k.id == f.name)
        cons = tuple(Constraint(_with(c.exp, k, f), c.equal) for c in d.map.cons)
        if possible((*cons, *sizes_facts(lay))):
            raise unsolved(d, f"{f.name} is filled with {f.fill}, which could be an entry",
                           "fill it with a value that the map's conditions rule out, such as -1", f.loc)


def _with(e: Exp, k: Call, f: Function) -> Exp:
    assert f.fill is not None
    fill = num(f.fill)
    return rewrite(e, lambda a: fill if a == k else None)


def _counted(lay: Layout) -> set[str]:
    """Loop variables that only take values of which each has an entry: a position, and what its segments belong to."""
    out = {v for p in lay.positions if p.stair and p.full for v in (p.var, p.stair.var)}
    todo = [lay.full.var] if lay.full and (not lay.full.group or lay.full.counts) else []
    while todo:
        v = todo.pop()
        p = lay.position(v)
        out.add(v)
        todo += p.segment.above if p else ()
    return out
