"""Proves that every index array of a format is filled: each element once, within its bounds, with values in range;
raises a located error otherwise."""
from __future__ import annotations

from codegen.sparse.algebra.affine import implied
from codegen.sparse.algebra.expr import Call, num, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import calls, names, subst
from codegen.sparse.formats.model import Function
from codegen.sparse.prove.facts import end_call, entry_facts, sizes_facts
from codegen.sparse.synth.bounds import extents
from codegen.sparse.synth.members import stored_calls
from codegen.sparse.synth.model import Layout, Position, unsolved


def filled_arrays(lay: Layout) -> None:
    for f in lay.desc.functions:
        values = [p for p in lay.positions if f.name in dict(p.values)]
        bounds = [p for p in lay.positions if f.name in (p.segment.low, p.segment.high)]
        steps = [p for p in lay.positions if p.stair and p.stair.ptr == f.name]
        if not values and not bounds and not steps:
            raise unsolved(lay.desc, f"{f.name} is never filled: no condition of the map says what it holds",
                           f"it must be stored at a position, {f.name}(k) = i, or bound one", f.loc)
        if len(values) + len(bounds) + len(steps) > 1:
            raise unsolved(lay.desc, f"{f.name} is used for more than one position", loc=f.loc)
        _box(lay, f)
        ends = {Call(f.name, (x,)) for p in steps for x in (var(p.var), var(p.var) + 1)}
        _one_way(lay, f, {k for p in bounds for k in _segment_calls(p)} | ends)
        _in_domain(lay, f)
        if values:
            _stored(lay, f, values[0])
        elif steps:
            _diagonals(lay, f, steps[0])
        else:
            _bounding(lay, f, bounds[0])


def _segment_calls(p: Position) -> tuple[Call, ...]:
    args = tuple(var(u) for u in p.segment.above)
    return (Call(p.segment.low, args), end_call(p)) if p.segment.low else (end_call(p),)


def _box(lay: Layout, f: Function) -> None:
    """The domain is a box that begins at 0, since that is how elements are numbered."""
    sizes = extents(f.domain)
    box = tuple(c for x, n in zip(f.domain.ins, sizes, strict=True) for c in (Constraint(var(x)),
                                                                            Constraint(n - var(x) - 1)))
    same = all(implied((*box, *sizes_facts(lay)), c) for c in f.domain.cons) and \
        all(implied((*f.domain.cons, *sizes_facts(lay)), c) for c in box)
    if not same or any(names(n) & set(f.domain.ins) for n in sizes):
        raise unsolved(lay.desc, f"the domain of {f.name} is no box that begins at 0",
                       "each argument needs its bounds: 0 <= x < SYMBOL", f.loc)


def _one_way(lay: Layout, f: Function, bounds: set[Call]) -> None:
    """The map asks for one element of the function at each tuple; of pointers for the two that bound a segment."""
    asked = dict.fromkeys(k for c in lay.desc.map.cons for k in calls(c.exp) if k.id == f.name)
    stored = {k for k in stored_calls(lay) if k.id == f.name and k not in bounds}
    if (bounds and set(asked) - bounds) or (not bounds and len(stored | set(asked)) > 1):
        raise unsolved(lay.desc, f"{f.name} is used in two ways: {', '.join(map(_shown, asked))}", loc=f.loc)


def _shown(k: Call) -> str:
    return f"{k.id}({', '.join(map(str, k.args))})"


def _in_domain(lay: Layout, f: Function) -> None:
    """The elements that the map asks for are there."""
    facts = entry_facts(lay)
    for k in dict.fromkeys(k for c in lay.desc.map.cons for k in calls(c.exp) if k.id == f.name):
        at = dict(zip(f.domain.ins, k.args, strict=True))
        for c in f.domain.cons:
            if not implied(facts, Constraint(subst(c.exp, at), c.equal)):
                raise unsolved(lay.desc, f"{_shown(k)} may lie outside the domain of {f.name}", loc=f.loc)


def _stored(lay: Layout, f: Function, p: Position) -> None:
    """A function that holds something of each thing that the position counts."""
    k = next(k for k in stored_calls(lay) if k.id == f.name)
    v, size = p.at
    if k.args.count(var(v)) != 1:
        raise unsolved(lay.desc, f"{_shown(k)} has {v} twice", loc=f.loc)
    if f.fill is not None:
        _fill(lay, f, f.fill)
        return
    if p.group and not p.counts and not p.stair:
        raise unsolved(lay.desc, f"{f.name} has elements without an entry, since {p.var} is counted for each "
                       f"{', '.join(map(str, p.group))}", f"say what they hold: uf {f.name} ... fill -1", f.loc)
    if p.counts:
        _fill(lay, f, 0)  # what the counts do not speak of
    at = k.args.index(var(v))
    if not implied((*f.domain.cons, *sizes_facts(lay)), Constraint(var(size) - var(f.domain.ins[at]) - 1)):
        raise unsolved(lay.desc, f"the domain of {f.name} has elements beyond {size}, which nothing fills", loc=f.loc)


def _up_to(lay: Layout, f: Function, v: str, size: str) -> None:
    """A function that bounds a variable: it holds 0 up to the size."""
    if f.fill is not None:
        raise unsolved(lay.desc, f"{f.name} bounds {v}, so every element of it has a value", "leave its fill out",
                       f.loc)
    y = f.range.ins[0]
    within = (Constraint(var(y)), Constraint(var(size) - var(y)), *sizes_facts(lay))
    if not all(implied(within, c) for c in f.range.cons):
        raise unsolved(lay.desc, f"{f.name} may hold anything from 0 to {size}, but its range is smaller", loc=f.loc)


def _diagonals(lay: Layout, f: Function, p: Position) -> None:
    """A function that says where jagged diagonals begin. They have no gaps where rows have ever fewer entries."""
    _up_to(lay, f, *p.at)
    if extents(f.domain) != (var(p.size) + 1,):
        raise unsolved(lay.desc, f"{f.name} needs one element for each diagonal and one more: 0 <= x <= {p.size}",
                       loc=f.loc)
    if not lay.desc.falling:
        raise unsolved(lay.desc, f"diagonals from {f.name} on have gaps where a row is longer than the one before",
                       "sort the rows by their lengths: permute perm", f.loc)


def _bounding(lay: Layout, f: Function, p: Position) -> None:
    """A function that says where segments begin and end, or how long groups are."""
    _up_to(lay, f, p.var, p.size)
    other = lay.desc.function(p.segment.low or f.name)
    assert other is not None
    if extents(other.domain) != extents(f.domain):
        raise unsolved(lay.desc, f"{p.segment.low} and {p.segment.high} bound {p.var}, but their domains differ",
                       loc=f.loc)
    above = lay.position(p.parent)
    last = f.domain.ins[-1]
    if above and not implied((*f.domain.cons, *sizes_facts(lay)), Constraint(var(above.size) - var(last))):
        raise unsolved(lay.desc, f"the domain of {f.name} has elements beyond {above.size}, which nothing fills",
                       loc=f.loc)


def _fill(lay: Layout, f: Function, fill: int) -> None:
    """The fill lies within the range. There are elements only where no extent is 0."""
    facts = (*sizes_facts(lay), *(Constraint(var(n) - 1) for n in lay.desc.shape))
    if not all(implied(facts, Constraint(subst(c.exp, {f.range.ins[0]: num(fill)}), c.equal)) for c in f.range.cons):
        raise unsolved(lay.desc, f"{f.name} is filled with {fill}, which lies outside its range", loc=f.loc)
