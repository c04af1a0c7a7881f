"""The loop nest that visits a format's entries, and what is known about the order it visits them in."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache
from itertools import permutations

from codegen.record import record
from codegen.sparse.algebra.expr import (
    Call,
    Div,
    Exp,
    Name,
    as_name,
    calls,
    coefficient,
    div,
    names,
    rename_calls,
    single,
    solve,
    subst,
    var,
)
from codegen.sparse.algebra.relation import Constraint, Relation
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.ir.nest import For, Guard, Let, Level, Nest
from codegen.sparse.synth.layout import Layout, unsolved


@record
class Scan:
    """A format's entries as a nest. `coords`: dense coordinates as printed; `raw`: in loop variables and functions."""

    nest: Nest
    loops: tuple[str, ...]
    coords: tuple[Exp, ...]
    raw: tuple[Exp, ...]
    value: Exp
    count: Exp | None
    position: str | None
    env: dict[str, Exp] = field(default_factory=dict)


@lru_cache(maxsize=256)
def prefixed(d: Descriptor, prefix: str, shape: tuple[str, ...]) -> Descriptor:
    """The descriptor with `prefix` before its own names, and its extents named as the caller says."""
    own = {*(s for c in d.map.cons for s in names(c.exp)), *(n for n, _ in d.lets),
           *(s for f in d.functions for c in (*f.domain.cons, *f.range.cons) for s in names(c.exp))}
    own -= {*d.map.ins, *d.map.outs, *d.shape, *(v for f in d.functions for v in (*f.domain.ins, *f.range.ins))}
    values = {**{s: var(prefix + s) for s in own}, **{s: var(n) for s, n in zip(d.shape, shape, strict=True)}}
    calls_ = {f.name: prefix + f.name for f in d.functions}

    def new(e: Exp) -> Exp:
        return rename_calls(subst(e, values), calls_)

    def rel(r: Relation) -> Relation:
        return Relation(r.ins, r.outs, tuple(Constraint(new(c.exp), c.equal) for c in r.cons))

    from dataclasses import replace

    return replace(
        d, shape=shape, map=rel(d.map), access=new(d.access), data=prefix + d.data,
        lets=tuple((prefix + n, new(e)) for n, e in d.lets),
        functions=tuple(replace(f, name=calls_[f.name], domain=rel(f.domain), range=rel(f.range))
                        for f in d.functions),
        quantifiers=tuple(replace(q, key=new(q.key)) for q in d.quantifiers),
    )


@lru_cache(maxsize=256)
def scan(lay: Layout, order: tuple[str, ...] | None = None) -> Scan:
    """The nest in the order of the tuple, or with its loops in another order."""
    return _Scanner(lay).run(order)


class _Scanner:
    """Variables become defined one after the other: by an equality as soon as there is one, else by a loop."""

    def __init__(self, lay: Layout) -> None:
        self.lay, self.d = lay, lay.desc
        self.rel = lay.desc.map
        self.shown: dict[str, Exp] = {}
        self.raw: dict[str, Exp] = {}
        self.levels: list[Level] = []
        self.loops: list[str] = []
        self.facts: set[Exp] = set()
        self.pending = [c for c in self.rel.cons if not c.equal]
        # Without padding every stored thing is an entry, so its coordinates are in range.
        self.padded = lay.desc.fill or any(f.fill is not None for f in lay.desc.functions)

    def run(self, order: tuple[str, ...] | None) -> Scan:
        self.settle()
        while True:
            todo = [v for v in (order or self.rel.ins) if v not in self.raw]
            if not todo:
                break
            for v in todo:
                if self.loop(v):
                    break
            else:
                raise unsolved(self.d, f"{todo[0]} cannot be scanned: it has no bounds that are known in time")
            self.settle()
        value = Exp(((Call(self.d.data, (self.show(self.d.access),)), 1),))
        if self.d.skips_zeros:
            self.levels.append(Guard((), value))
        return self.result(value)

    def result(self, value: Exp) -> Scan:
        full = self.lay.full
        plain = not any(isinstance(x, Guard) for x in self.levels)
        counted = full is not None and not full.group and plain
        position = full.var if full and counted and as_name(self.d.access) == full.var else None
        coords = tuple(self.shown[x] for x in self.rel.outs)
        return Scan(tuple(self.levels), tuple(self.loops), coords, tuple(self.raw[x] for x in self.rel.outs), value,
                    var(full.size) if full and counted else None, position, dict(self.shown))

    def show(self, e: Exp) -> Exp:
        return subst(e, self.shown)

    def loop(self, v: str) -> bool:
        low: list[Exp] = []
        high: list[Exp] = []
        for c in self.rel.cons:
            sign = 0 if c.equal else coefficient(c.exp, Name(v))
            bound = solve(c.exp, Name(v)) if sign else None
            if bound is None or not self.defined(bound):
                continue
            (low if sign > 0 else high).append(bound if sign > 0 else bound + 1)
        if not low or not high:
            return False
        best = [next((b for b in side if calls(b)), side[0]) for side in (low, high)]
        self.levels.append(For(v, self.show(best[0]), self.show(best[1])))
        self.loops.append(v)
        self.raw[v] = self.shown[v] = var(v)
        self.facts |= {var(v) - b for b in low} | {b - var(v) - 1 for b in high}
        return True

    def defined(self, e: Exp) -> bool:
        return all(n in self.raw or n not in (*self.rel.ins, *self.rel.outs) for n in names(e))

    def settle(self) -> None:
        """Everything that equalities give now, then the guards that can be tested now."""
        while self.step():
            pass
        ready = [c for c in self.pending if self.defined(c.exp)]
        self.pending = [c for c in self.pending if c not in ready]
        kept = [Constraint(self.show(c.exp)) for c in ready if self.padded and not self.implied(subst(c.exp, self.raw))]
        if kept and self.loops:
            self.levels.append(Guard(tuple(dict.fromkeys(kept))))

    def step(self) -> bool:
        for v in (*self.rel.ins, *self.rel.outs):
            if v in self.raw:
                continue
            for c in (c for c in self.rel.cons if c.equal):
                value = solve(c.exp, Name(v))
                if value is not None and self.defined(value):
                    self.define(v, value)
                    return True
        return False

    def define(self, v: str, value: Exp) -> None:
        self.raw[v] = subst(value, self.raw)
        shown = self.show(value)
        if as_name(shown) or not shown.terms:
            self.shown[v] = shown
            return
        self.levels.append(Let(v, shown))
        self.shown[v] = var(v)
        for call in calls(self.raw[v]):
            self.range_facts(call)

    def range_facts(self, call: Call) -> None:
        f = self.d.function(call.id)
        if f is not None:
            at = {f.range.ins[0]: Exp(((call, 1),))}
            self.facts |= {subst(c.exp, at) for c in f.range.cons}

    def implied(self, e: Exp) -> bool:
        """e >= 0 by a fact, or as a sum of things that are not negative."""
        if e in self.facts or any(not (e - f).terms and (e - f).const >= 0 for f in self.facts):
            return True
        return e.const >= 0 and all(c > 0 and Exp(((a, 1),)) in self.facts for a, c in e.terms)


def orders(lay: Layout) -> Iterator[tuple[str, ...]]:
    """Loop orders to try: that of the tuple first."""
    base = scan(lay).loops
    yield base
    if lay.desc.fill and len(base) <= 5:
        yield from (p for p in permutations(base) if p != base and _possible(lay, p))


def _possible(lay: Layout, order: tuple[str, ...]) -> bool:
    """Bounds are known in time, so the scan keeps this order."""
    return scan(lay, order).loops == order


def sorted_by(lay: Layout, s: Scan, parts: tuple[Exp, ...], down: bool) -> bool:
    """Does the nest visit entries in the lexicographic order of `parts`?"""
    if not parts:
        return True
    full = lay.full
    if full and not full.group and full.order.down == down and _implies(full.order.parts, parts) and _natural(lay, s):
        return True
    return not down and _by_loops(lay, s, parts)


def _natural(lay: Layout, s: Scan) -> bool:
    return s.loops == scan(lay).loops


def _implies(have: tuple[Exp, ...], want: tuple[Exp, ...]) -> bool:
    """An order by `have` is one by `want` when want is a prefix, its last part possibly coarser."""
    if len(want) > len(have) or have[:len(want) - 1] != want[:-1]:
        return False
    return _coarser(have[len(want) - 1], want[-1])


def _coarser(have: Exp, want: Exp) -> bool:
    if have == want:
        return True
    a, b = single(have), single(want)
    if isinstance(b, Div):
        return have == b.of or (isinstance(a, Div) and a.of == b.of and b.by % a.by == 0)
    if isinstance(a, Call) and isinstance(b, Call) and a.id == b.id == "MORTON":
        shifts = [_shift(x, y) for x, y in zip(a.args, b.args, strict=True)]
        return shifts[0] is not None and shifts.count(shifts[0]) == len(shifts)
    return False


def _shift(have: Exp, want: Exp) -> int | None:
    """By how many bits `want` is `have` shifted to the right."""
    a, b = single(have), single(want)
    by = b.by // (a.by if isinstance(a, Div) and a.of == b.of else 1) if isinstance(b, Div) else 0
    if not isinstance(b, Div) or by & (by - 1) or (have != b.of and not isinstance(a, Div)):
        return None
    return by.bit_length()


def _by_loops(lay: Layout, s: Scan, parts: tuple[Exp, ...]) -> bool:
    raw = dict(zip(lay.coords, s.raw, strict=True))
    spans = {x.var: x.high.const for x in s.nest if isinstance(x, For) and not x.high.terms and x.low == Exp()}
    fixed: set[str] = set()
    loops = list(s.loops)
    for n, part in enumerate(parts):
        e = _reduced(subst(part, raw), spans)
        while True:
            inside = names(e) & set(s.loops)
            if inside <= fixed:
                break
            grows = _steps(e, loops[0], fixed, spans) or _grows(lay, e, loops[0], fixed, s.loops)
            if grows == "":
                return False
            if grows == "weak":
                return n == len(parts) - 1
            fixed.add(loops.pop(0))
    return True


def _reduced(e: Exp, spans: dict[str, int]) -> Exp:
    """(B*x + y) div B is x where 0 <= y < B."""
    a = single(e)
    if not isinstance(a, Div):
        return e
    rest = Exp(tuple(t for t in a.of.terms if t[1] % a.by), a.of.const % a.by)
    return div(a.of - rest, a.by) if _span(rest, spans) < a.by else e


def _span(e: Exp, spans: dict[str, int]) -> float:
    """An upper bound of a sum of loop variables that start at 0; infinite when there is none."""
    total: float = e.const
    for a, c in e.terms:
        total += c * (spans[a.id] - 1) if isinstance(a, Name) and a.id in spans and c > 0 else float("inf")
    return total


def _steps(e: Exp, v: str, fixed: set[str], spans: dict[str, int]) -> str:
    """strict when a step of v outweighs everything that is still to come: B*v + y with 0 <= y < B."""
    c = coefficient(e, Name(v))
    rest = Exp(tuple(t for t in e.terms if t[0] != Name(v) and not names(Exp((t,))) <= fixed))
    return "strict" if c > 0 and _span(rest, spans) < c else ""


def _grows(lay: Layout, e: Exp, v: str, fixed: set[str], loops: tuple[str, ...]) -> str:
    """How e moves as v counts up with `fixed` held: strict, weak, or "" for not known."""
    out = "weak"
    for a, c in e.terms:
        inside = names(Exp(((a, 1),))) & set(loops)
        if inside <= fixed:
            continue
        if c < 0 or not inside <= fixed | {v}:
            return ""
        if isinstance(a, Name):
            out = "strict"
        elif isinstance(a, Div):
            if not _grows(lay, a.of, v, fixed, loops):
                return ""
        elif isinstance(a, Call) and a.args == (var(v),):
            q = next((q for q in lay.desc.quantifiers if single(q.key) == a), None)
            if q is None or q.down:
                return ""
            out = "strict" if q.strict else out
        else:
            return ""
    return out
