"""Solves a format's constraints for its tuple variables: those that equalities determine, and positions that arrays and
symbols bound, in segments or along jagged diagonals."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Call, Div, Exp, Mod, Name, as_name, atom, div, mod, num, single, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import calls, coefficient, functions, names, solve, subst
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.synth.model import Position, Segment, Stair, unsolved


def resolve(d: Descriptor) -> dict[str, Exp]:
    """Tuple variables as functions of the dense coordinates: the least fixed point."""
    out: dict[str, Exp] = {}
    dense = frozenset(d.map.outs)
    while True:
        found = next((r for c in d.map.cons if c.equal for r in _solve(d, c, out, dense)), None)
        if found is None:
            return out
        out.update(found)


def _solve(d: Descriptor, c: Constraint, done: dict[str, Exp], dense: frozenset[str]) -> list[dict[str, Exp]]:
    exp = subst(c.exp, done)
    if functions(exp):
        return []
    free = sorted((names(exp) & frozenset(d.map.ins)) - dense)
    if len(free) == 1:
        value = solve(exp, Name(free[0]))
        return [{free[0]: value}] if value is not None else []
    return _euclid(d, exp, free) if len(free) == 2 else []


def _euclid(d: Descriptor, exp: Exp, free: list[str]) -> list[dict[str, Exp]]:
    """x = B*b + e with 0 <= e < B gives b = x div B and e = x mod B."""
    for b, e in (free, free[::-1]):
        size, sign = coefficient(exp, Name(b)), coefficient(exp, Name(e))
        if sign not in (1, -1) or size * sign < 1:
            continue
        whole = (exp - var(b) * size - var(e) * sign) * -sign
        limits = (Constraint(var(e)), Constraint(num(size * sign - 1) - var(e)))
        if all(limit in d.map.cons for limit in limits):
            return [{b: div(whole, size * sign), e: mod(whole, size * sign)}]
    return []


def segment_of(d: Descriptor, v: str) -> Segment:
    """The arrays that bound a variable: ptr(u) <= v < ptr(u+1), begin(u) <= v < end(u), or 0 <= v < length(u)."""
    lows, highs = _array_bounds(d, v, 1), _array_bounds(d, v, -1)
    for low in lows:
        above = tuple(as_name(a) or "" for a in low.args)
        for high in highs:
            chained = high == Call(low.id, (*low.args[:-1], low.args[-1] + 1))
            if all(above) and (chained or (high.id != low.id and high.args == low.args)):
                return Segment(low.id, high.id, above)
    if not lows and Constraint(var(v)) in d.map.cons:
        for high in highs:
            above = tuple(as_name(a) or "" for a in high.args)
            if all(above):
                return Segment("", high.id, above)
    return Segment()


def _array_bounds(d: Descriptor, v: str, sign: int) -> tuple[Call, ...]:
    """Elements of arrays that v is not below (sign 1), or below (-1)."""
    out: list[Call] = []
    for c in d.map.cons:
        bound = solve(c.exp, Name(v)) if not c.equal and coefficient(c.exp, Name(v)) == sign else None
        found = single(bound + (sign < 0)) if bound is not None else None
        out += [found] if isinstance(found, Call) else []
    return tuple(out)


def size_of(d: Descriptor, v: str) -> str:
    """SYM when the map has 0 <= v < SYM."""
    for c in d.map.cons:
        if not c.equal and coefficient(c.exp, Name(v)) == -1 and Constraint(var(v)) in d.map.cons:
            name = as_name(c.exp + var(v) + 1)
            if name and name not in d.map.ins and name not in d.map.outs:
                return name
    return ""


def position_of(d: Descriptor, v: str, resolved: dict[str, Exp], done: tuple[Position, ...]) -> Position:
    segment = segment_of(d, v)
    size = size_of(d, v)
    if not size:
        raise unsolved(d, f"the tuple variable {v} is neither given by the coordinates nor counted",
                       f"bound it with 0 <= {v} < SYMBOL, or give an equality")
    values, group = values_at(d, v, resolved)
    base = _segment_key(d, v, segment, resolved, done)
    if segment.low and group:
        group = tuple(dict.fromkeys((*base, *group)))
    if segment.high and not segment.low and set(group) != set(base):
        raise unsolved(d, f"{segment.high} counts {v} for each of {', '.join(segment.above)}, but no function is "
                       f"stored at these and {v} alone")
    key = tuple(dict.fromkeys((*base, *group, *(e for _, e in values))))
    if not values:
        raise unsolved(d, f"no function is stored at {v}", f"the map needs an equality such as f({v}) = i")
    return Position(v, size, segment, values, group, key, determines(key, d.map.outs))


def _segment_key(d: Descriptor, v: str, segment: Segment, resolved: dict[str, Exp],
                 done: tuple[Position, ...]) -> tuple[Exp, ...]:
    """What tells one segment from another."""
    out: list[Exp] = []
    for u in segment.above:
        above = next((p for p in done if p.var == u), None)
        if above is None and u not in resolved:
            raise unsolved(d, f"{v} lies in segments of {u}, which is no variable of the tuple")
        if above is not None and (len(segment.above) > 1 or not segment.chained):
            raise unsolved(d, f"{v} lies in segments that are counted by {u} and more than one array or variable",
                           f"bound it with ptr({u}) <= {v} < ptr({u}+1)")
        out += above.key if above is not None else (resolved[u],)
    return tuple(dict.fromkeys(out))


def values_at(
    d: Descriptor, v: str, resolved: dict[str, Exp]
) -> tuple[tuple[tuple[str, Exp], ...], tuple[Exp, ...]]:
    """The functions stored at a variable, as coordinates, and the other arguments that they share."""
    values: dict[str, Exp] = {}
    group: tuple[Exp, ...] = ()
    for c in (c for c in d.map.cons if c.equal):
        for call in calls(c.exp):
            value = solve(c.exp, call)
            if value is None or not any(as_name(a) == v for a in call.args):
                continue
            value = subst(value, resolved)
            others = tuple(subst(a, resolved) for a in call.args if as_name(a) != v)
            if functions(value) or not names(value) <= frozenset(d.map.outs):
                continue
            if any(names(o) - frozenset(d.map.outs) for o in others):
                raise unsolved(d, f"{call.id} mixes positions in its arguments")
            if values and others != group:
                raise unsolved(d, f"{call.id} is stored at {v} for each {_list(others)}, and {next(iter(values))} for "
                               f"each {_list(group)}", "functions of one position need the same other arguments")
            if values.setdefault(call.id, value) != value:
                raise unsolved(d, f"{call.id} would have to hold both {values[call.id]} and {value}")
            group = others
    return tuple(values.items()), group


def _list(parts: tuple[Exp, ...]) -> str:
    return ", ".join(map(str, parts)) or "entry"


def determines(key: tuple[Exp, ...], coords: tuple[str, ...]) -> bool:
    """Do the values of `key` fix every coordinate?"""
    known: set[str] = set()
    grown = True
    while grown:
        grown = False
        for x in coords:
            if x not in known and any(_gives(k, x, key, known) for k in key):
                known.add(x)
                grown = True
    return known == set(coords)


def _gives(k: Exp, x: str, key: tuple[Exp, ...], known: set[str]) -> bool:
    value = solve(k, Name(x))
    if value is not None and names(value) <= known:
        return True
    a = single(k)
    return isinstance(a, Div) and a.of == var(x) and Exp(((Mod(a.of, a.by), 1),)) in key


def stairs(d: Descriptor, resolved: dict[str, Exp]) -> tuple[Position, ...]:
    """Jagged diagonals: entry number s of row r is stored at k = ptr(s) + r, where ptr(s) <= k < ptr(s + 1). The
    position that counts the entries of each row; none without such diagonals, or where rows are not the first
    coordinate."""
    free = [v for v in d.map.ins if v not in resolved]
    for k in free:
        segment = segment_of(d, k)
        if not segment.chained or len(segment.above) != 1 or segment.above[0] not in free:
            continue
        (s,) = segment.above
        row = _row(d, k, segment, resolved)
        values, others = values_at(d, k, resolved)
        if row is None or not values or others or not size_of(d, s) or not size_of(d, k):
            continue
        key = tuple(dict.fromkeys((row, *(e for _, e in values))))
        return (Position(s, size_of(d, s), Segment(), values, (row,), key, determines(key, d.map.outs),
                         stair=Stair(k, segment.low, size_of(d, k))),)
    return ()


def _row(d: Descriptor, k: str, segment: Segment, resolved: dict[str, Exp]) -> Exp | None:
    """The first coordinate, where the map says that it is k less the start of its segment."""
    row = var(d.map.outs[0])
    start = atom(Call(segment.low, tuple(var(u) for u in segment.above)))
    said = (Constraint(subst(c.exp, resolved), True) for c in d.map.cons if c.equal)
    wanted = row + start - var(k)
    return row if any(c.exp in (wanted, wanted * -1) for c in said) else None
