"""What a descriptor's constraints say about each tuple variable, seen from the dense coordinates.

A variable is resolved when equalities give it as a function of the coordinates; it is a position when an array or a
symbol bounds it, and then its key says which entries share one: the values of the functions at that position, and
what its parent is keyed on.
"""
from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from codegen.diagnostics import InputError
from codegen.record import record
from codegen.sparse.algebra.expr import (
    Call,
    Div,
    Exp,
    Mod,
    Name,
    as_name,
    calls,
    coefficient,
    div,
    functions,
    mod,
    names,
    num,
    rewrite,
    single,
    solve,
    subst,
    var,
)
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.formats.model import Descriptor

_DIM = re.compile(r"dim(\d+)$")


@record
class Order:
    """Entries sorted lexicographically by `parts`, expressions of the dense coordinates.

    `free`: how many of the last parts nobody promises; they only tell different keys apart.
    """

    parts: tuple[Exp, ...] = ()
    down: bool = False
    free: int = 0


@record
class Position:
    """A tuple variable that counts stored things. `values`: the functions stored at it, as coordinates.

    `group`: it counts anew for each value of these. `full`: its key tells one dense element from another.
    """

    var: str
    size: str
    ptr: str
    parent: str
    values: tuple[tuple[str, Exp], ...]
    group: tuple[Exp, ...]
    key: tuple[Exp, ...]
    full: bool
    order: Order = Order()


@record
class Layout:
    """A descriptor solved for its tuple variables."""

    desc: Descriptor
    resolved: tuple[tuple[str, Exp], ...]
    positions: tuple[Position, ...]

    def __hash__(self) -> int:
        return hash(self.desc)

    @property
    def coords(self) -> tuple[str, ...]:
        return self.desc.map.outs

    @property
    def full(self) -> Position | None:
        return next((p for p in self.positions if p.full), None)

    @property
    def unique(self) -> bool:
        """Every dense element has one place, so two entries of the same coordinates cannot both be kept."""
        return self.full is None

    def position(self, name: str) -> Position | None:
        return next((p for p in self.positions if p.var == name), None)


def unsolved(d: Descriptor, message: str, hint: str = "") -> InputError:
    """The synthesis cannot go on; the message names what is missing."""
    return InputError("unsolved-format", f"{d.name}: {message}", d.loc, hint)


@lru_cache(maxsize=256)
def layout(d: Descriptor) -> Layout:
    resolved = resolve(d)
    todo = [v for v in d.map.ins if v not in resolved]
    done: list[Position] = []
    while todo:
        ready = [v for v in todo if _parent(d, v)[1] not in todo]
        if not ready:
            raise unsolved(d, f"the positions {', '.join(todo)} depend on one another")
        done.append(_position(d, ready[0], resolved, tuple(done)))
        todo.remove(ready[0])
    out = Layout(d, tuple(resolved.items()), tuple(done))
    return replace(out, positions=tuple(replace(p, order=_order(out, p)) for p in done))


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


def _parent(d: Descriptor, v: str) -> tuple[str, str]:
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


def _position(d: Descriptor, v: str, resolved: dict[str, Exp], done: tuple[Position, ...]) -> Position:
    ptr, parent = _parent(d, v)
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


def _order(lay: Layout, p: Position) -> Order:
    """The order of a position's numbers: its quantifier, its parent's order, or its key."""
    own = [q for q in lay.desc.quantifiers if q.variable == p.var and q.key != Exp() and not _is_ptr(lay.desc, q.key)]
    if own:
        parts = tuple(_coordinates(lay, p, part) for part in _parts(own[0].key))
        base = _base(lay, p)
        if base and not _refines(parts, base):
            raise unsolved(lay.desc, f"the order of {p.var} contradicts {p.ptr}, which sorts by "
                           + ", ".join(map(str, base)))
        if not p.full and not set(p.key) <= {e for part in parts for e in _arguments(part)} | set(base):
            more = tuple(k for k in p.key if k not in parts)
            return Order((*parts, *more), own[0].down, len(more))
        return Order(parts, own[0].down)
    if p.full:
        return Order(_base(lay, p))
    below = [c for c in lay.positions if c.parent == p.var]
    for child in below:
        order = _order(lay, child)
        prefix = _prefix_for(order.parts, p.key)
        if prefix and any(q.variable == child.var for q in lay.desc.quantifiers):
            return Order(prefix, order.down)
    return Order(p.key)


def _is_ptr(d: Descriptor, key: Exp) -> bool:
    call = single(key)
    return isinstance(call, Call) and any(_parent(d, v)[0] == call.id for v in d.map.ins)


def _parts(key: Exp) -> tuple[Exp, ...]:
    call = single(key)
    return call.args if isinstance(call, Call) and call.id == "LEX" else (key,)


def _arguments(part: Exp) -> tuple[Exp, ...]:
    call = single(part)
    return call.args if isinstance(call, Call) else (part,)


def _coordinates(lay: Layout, p: Position, e: Exp) -> Exp:
    """A key over functions at a position, or dimK, as a key over coordinates."""
    stored = {f: value for q in lay.positions for f, value in q.values}

    def f(a: object) -> Exp | None:
        if isinstance(a, Call):
            dim = _DIM.match(a.id)
            if dim:
                return var(lay.coords[int(dim[1])])
            return stored.get(a.id)
        return None

    return rewrite(e, f)


def _base(lay: Layout, p: Position) -> tuple[Exp, ...]:
    """What the segments of the parent already force."""
    if not p.parent:
        return ()
    above = lay.position(p.parent)
    if above:
        return above.order.parts or _prefix_of_child(lay, above)
    return (dict(lay.resolved)[p.parent],)


def _prefix_of_child(lay: Layout, above: Position) -> tuple[Exp, ...]:
    return _order(lay, above).parts if not any(
        q.variable == c.var for c in lay.positions if c.parent == above.var for q in lay.desc.quantifiers) else ()


def _refines(parts: tuple[Exp, ...], base: tuple[Exp, ...]) -> bool:
    return parts[:len(base)] == base


def _prefix_for(parts: tuple[Exp, ...], key: tuple[Exp, ...]) -> tuple[Exp, ...]:
    """The shortest prefix of an order that tells the keys apart and depends on nothing else."""
    seen: set[Exp] = set()
    for n, part in enumerate(parts, 1):
        seen |= set(_arguments(part))
        if not seen <= set(key):
            return ()
        if seen == set(key):
            return parts[:n]
    return ()
