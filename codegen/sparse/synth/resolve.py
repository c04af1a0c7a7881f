"""Tuple variables that equalities give, and positions that arrays and symbols bound."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Call, Div, Exp, Mod, Name, as_name, div, mod, num, single, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import calls, coefficient, functions, names, solve, subst
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.synth.model import Position, unsolved


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
        if all(limit in d.map.cons for limit in limits) or size * sign == 1:
            return [{b: div(whole, size * sign), e: mod(whole, size * sign)}]
    return []


def parent_of(d: Descriptor, v: str) -> tuple[str, str]:
    """(ptr, u) when the map has ptr(u) <= v < ptr(u+1)."""
    for c in d.map.cons:
        low = solve(c.exp, Name(v)) if not c.equal and coefficient(c.exp, Name(v)) == 1 else None
        call = single(low) if low is not None else None
        if isinstance(call, Call) and len(call.args) == 1:
            u = as_name(call.args[0])
            high = Call(call.id, (call.args[0] + 1,))
            if u and Constraint(Exp(((high, 1),), -1) - var(v)) in d.map.cons:
                return call.id, u
    return "", ""


def _size(d: Descriptor, v: str) -> str:
    """SYM when the map has 0 <= v < SYM."""
    for c in d.map.cons:
        if not c.equal and coefficient(c.exp, Name(v)) == -1 and Constraint(var(v)) in d.map.cons:
            name = as_name(c.exp + var(v) + 1)
            if name and name not in d.map.ins and name not in d.map.outs:
                return name
    return ""


def position_of(d: Descriptor, v: str, resolved: dict[str, Exp], done: tuple[Position, ...]) -> Position:
    ptr, parent = parent_of(d, v)
    size = _size(d, v)
    if not size:
        raise unsolved(d, f"the tuple variable {v} is neither given by the coordinates nor counted",
                       f"bound it with 0 <= {v} < SYMBOL, or give an equality")
    values, group = _values(d, v, resolved)
    above = next((p for p in done if p.var == parent), None)
    base = above.key if above else (resolved[parent],) if parent else ()
    key = tuple(dict.fromkeys((*base, *group, *(e for _, e in values))))
    if not values:
        raise unsolved(d, f"no function is stored at {v}", f"the map needs an equality such as f({v}) = i")
    return Position(v, size, ptr, parent, values, group, key, _determines(key, d.map.outs))


def _values(d: Descriptor, v: str, resolved: dict[str, Exp]) -> tuple[tuple[tuple[str, Exp], ...], tuple[Exp, ...]]:
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
            values.setdefault(call.id, value)
            group = others or group
    return tuple(values.items()), group


def _determines(key: tuple[Exp, ...], coords: tuple[str, ...]) -> bool:
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
