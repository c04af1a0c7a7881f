"""Random C functions with one region, each the same for the same seed and free of undefined behaviour.

Every subscript is shifted to start at 0 and every array made large enough for the largest subscript, so all
accesses stay inside for all sizes the harness tries.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from tests.property import affine as af
from tests.property import data as dt
from tests.property.affine import BYTE, INT, LONG, SHORT, SIZE, UNSIGNED, IntType, Value
from tests.property.tree import For, If, Line, Node, lines

PRELUDE = """\
#include <stddef.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static inline int imin(int a, int b) { return a < b ? a : b; }
static inline int imax(int a, int b) { return a > b ? a : b; }
"""
MOST_INDEX = {1: 500, 2: 150, 3: 60}
MOST_TRIPS = 60_000  # instances of one statement at the largest size
SIZES = (0, 1, 2, 3, 5, 7, 13, 17, 33)


@dataclass
class Array:
    """A parameter of the function. `need` is the largest subscript seen per dimension."""

    name: str
    elem: IntType
    form: str  # fixed, vla, flat (rows of `ld`), flatn (rows of n), point (*p)
    rank: int
    need: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Program:
    """A function called `kernel`. `buffers` are (element type, elements) of its pointer parameters."""

    seed: int
    params: str
    before: str
    body: tuple[Node, ...]
    after: str
    buffers: tuple[tuple[str, int], ...]
    ld: int
    sizes: tuple[tuple[int, int], ...]
    has_float: bool
    prelude: str = PRELUDE

    def text(self) -> str:
        """The C file."""
        region = "\n".join(lines(self.body, "  "))
        return (f"{self.prelude}void kernel({self.params})\n{{\n{self.before}#pragma scop\n{region}\n#pragma endscop\n"
                f"{self.after}}}\n")


@dataclass(frozen=True)
class Scope:
    """What a statement can see: loop variables, variables of the region, the loops' trip count so far."""

    iters: tuple[Value, ...] = ()
    locals: tuple[tuple[str, IntType], ...] = ()
    arrays: tuple[tuple[str, IntType, int], ...] = ()
    trips: int = 1


class Retry(Exception):
    """A choice turned out to be useless; choose again."""


def random_program(seed: int) -> Program:
    """The program of a seed."""
    return _Maker(Random(seed), seed).program()


class _Maker:
    def __init__(self, rng: Random, seed: int) -> None:
        self.rng, self.seed = rng, seed
        self.depth = rng.choice((1, 2, 2, 2, 3, 3, 4))
        self.largest = {1: 33, 2: 33, 3: 33, 4: 13}[self.depth]
        self.ptype = rng.choice((INT, INT, INT, UNSIGNED, LONG, SIZE))
        self.least = -3 if self.ptype.signed else 0
        self.params = [Value(p, self.least, self.largest, self.ptype) for p in ("n", "m")]
        self.left = rng.randint(1, 6)  # statements still to write
        self.counters = rng.random() < 0.4  # loop variables declared before the region
        self.itype = rng.choice((INT, INT, INT, self.ptype, self.ptype, LONG, SHORT, BYTE))
        self.fresh = 0
        floats = rng.random() < 0.45
        pool = [e for e in dt.ELEMENTS if dt.is_float(e) <= floats]
        elems = rng.sample(pool, min(len(pool), rng.choice((1, 2, 2, 3))))
        self.arrays = [self._array(f"{c}", elems) for c in "ABCD"[: rng.randint(1, 4)]]
        self.scalars = [(f"s{k}", rng.choice(elems)) for k in range(rng.choice((0, 0, 1, 2)))]
        self.used_counters: dict[str, IntType] = {}

    def _array(self, name: str, elems: Sequence[IntType]) -> Array:
        form = self.rng.choice(("fixed", "vla", "vla", "vla", "flat", "flat", "flatn", "plain", "point"))
        if form == "flatn" and self.least < 0:
            form = "flat"
        rank = 1 if form in ("point", "plain") else self.rng.choice((1, 2, 2, 3)) if form in ("fixed", "vla") else 2
        return Array(name, self.rng.choice(elems), form, rank, [0] * rank)

    # -- the whole ---------------------------------------------------------------------------------

    def program(self) -> Program:
        body: list[Node] = []
        while self.left > 0:
            body += self._nodes(Scope(), 0)
        body = body or [Line(";")]
        stored = [s for s in self.scalars if self.rng.random() < 0.7]
        counters = [c for c in self.used_counters if self.rng.random() < 0.3]
        before = "".join(f"  {t.text} {c} = 7;\n" for c, t in self.used_counters.items())
        before += "".join(f"  {t.text} {s} = p_{s}[0];\n" for s, t in self.scalars)
        after = "".join(f"  p_{s}[0] = {s};\n" for s, _ in stored)
        after += "".join(f"  p_{c}[0] = {c};\n" for c in counters)
        pointers = [(self._declared(a), a.elem.text, self._elements(a)) for a in self.arrays]
        pointers += [(f"{t.text} *p_{s}", t.text, 1) for s, t in self.scalars]
        pointers += [(f"{self.used_counters[c].text} *p_{c}", self.used_counters[c].text, 1) for c in counters]
        t = self.ptype.text
        params = ", ".join([f"{t} n, {t} m, {t} ld", *(p[0] for p in pointers)])
        used = [*(a.elem for a in self.arrays), *(t for _, t in self.scalars)]
        return Program(self.seed, params, before, tuple(body), after, tuple((p[1], p[2]) for p in pointers), self._ld(),
                       self._sizes(), any(dt.is_float(e) for e in used))

    def _sizes(self) -> tuple[tuple[int, int], ...]:
        some = [s for s in SIZES if s <= self.largest]
        mixed = [(self.rng.choice(some), self.rng.choice(some)) for _ in range(4)]
        negative = [(-3, 5), (2, -1)] if self.least < 0 else []
        return tuple([(s, s) for s in some] + mixed + negative)

    def _ld(self) -> int:
        return max([1, *(a.need[1] + 1 for a in self.arrays if a.form == "flat")])

    def _declared(self, a: Array) -> str:
        if a.form in ("flat", "flatn", "plain", "point"):
            return f"{a.elem.text} *{a.name}"
        if a.form == "fixed":
            return f"{a.elem.text} {a.name}" + "".join(f"[{k + 1}]" for k in a.need)
        names = ("n", "m", "n")
        return f"{a.elem.text} {a.name}" + "".join(
            f"[{p} + {k + 1 - self.least}]" for p, k in zip(names, a.need, strict=False))

    def _elements(self, a: Array) -> int:
        if a.form == "flat":
            return a.need[0] * self._ld() + a.need[1] + 1
        if a.form == "flatn":
            return max(0, a.need[0] * self.largest) + a.need[1] + 1
        total = 1
        for k in a.need:
            total *= k + 1 if a.form != "vla" else k + 1 - self.least + self.largest
        return total

    # -- structure ---------------------------------------------------------------------------------

    def _nodes(self, scope: Scope, depth: int) -> list[Node]:
        """One construct: a statement, a conditional, a loop, or a variable with its uses."""
        roll = self.rng.random()
        if depth < self.depth and roll < (0.85 if depth == 0 else 0.6):
            return [self._loop(scope, depth)]
        if roll > 0.87:
            return [self._if(scope, depth)]
        if roll > 0.78 and depth and self.fresh < 3:
            return self._variable(scope, depth)
        return [self._statement(scope)]

    def _block(self, scope: Scope, depth: int) -> tuple[Node, ...]:
        out = self._nodes(scope, depth)
        while self.left > 0 and self.rng.random() < 0.5:
            out += self._nodes(scope, depth)
        return tuple(out)

    def _if(self, scope: Scope, depth: int) -> Node:
        cond = af.condition(self.rng, scope.iters, self.params)
        then = self._block(scope, depth)
        return If(cond, then, self._block(scope, depth) if self.left > 0 and self.rng.random() < 0.5 else ())

    def _variable(self, scope: Scope, depth: int) -> list[Node]:
        """A variable declared inside the region, set before it is used."""
        self.fresh += 1
        name, elem = f"t{self.fresh}", self.rng.choice(self.arrays).elem
        if self.rng.random() < 0.2:
            size = self.rng.choice((2, 3, 4))
            it = Value(f"w{self.fresh}", 0, size - 1)
            fill = self._assign(scope, f"{name}[{it.text}]", elem, plain=True)
            head = Line(f"{elem.text} {name}[{size}];")
            loop = For(f"int {it.text} = 0; {it.text} < {size}; {it.text}++", (fill,))
            scope = Scope(scope.iters, scope.locals, (*scope.arrays, (name, elem, size)), scope.trips)
            made: list[Node] = [head, loop]
        else:
            first = self._assign(scope, name, elem, plain=True)
            split = self.rng.random() < 0.3
            made = [Line(f"{elem.text} {name};"), first] if split else [Line(f"{elem.text} {first.text}")]
            scope = Scope(scope.iters, (*scope.locals, (name, elem)), scope.arrays, scope.trips)
        return [*made, *self._block(scope, depth)]

    # -- loops -------------------------------------------------------------------------------------

    def _loop(self, scope: Scope, depth: int) -> Node:
        while True:
            try:
                head, it, count = self._header(scope, depth)
                break
            except Retry:
                continue
        inner = Scope((*scope.iters, it), scope.locals, scope.arrays, scope.trips * count)
        return For(head, self._block(inner, depth + 1))

    def _header(self, scope: Scope, depth: int) -> tuple[str, Value, int]:
        rng = self.rng
        name = "ijkl"[depth]
        ctype = self.itype if rng.random() < 0.8 else INT
        if self.counters:
            ctype = self.used_counters.setdefault(name, ctype)
        step = rng.choice((1, 1, 1, 1, 1, 2, 3))
        down = rng.random() < 0.25
        early = down and step == 1 and (ctype.signed or not self.counters) and rng.random() < 0.25
        if early:
            first, cond, lo, hi = self._before(scope, name, ctype)
        elif rng.random() < 0.08:
            first, cond, lo, hi = self._until(scope, name, step, down)
        else:
            first, cond, lo, hi = self._from_to(scope, name, ctype, down)
        low, high = ctype.range()
        if lo > hi or (lo - step if down and not early else lo) < low or hi + (0 if down else step) > high:
            raise Retry
        count = (hi - lo) // step + 1
        if count * scope.trips > MOST_TRIPS or hi > 110 or lo < -60:
            raise Retry
        sign = "-" if down else "+"
        forms = [f"{name} {sign}= {step}", f"{name} = {name} {sign} {step}"]
        forms += [f"{name}{sign}{sign}"] * (4 if step == 1 else 0)
        if early:
            forms = [""]
        head = f"{'' if self.counters else ctype.text + ' '}{name} = {first}; {cond}; {rng.choice(forms)}".rstrip()
        return head, Value(name, lo, hi, ctype), count

    def _from_to(self, scope: Scope, name: str, ctype: IntType, down: bool) -> tuple[str, str, int, int]:
        """Header parts and the values taken, for <, <=, > and >=."""
        rng = self.rng
        low, high = self._low(scope), self._high(scope)
        first, limit = (high, low) if down else (low, high)
        op = rng.choice((">", ">=") if down else ("<", "<="))
        it = Value(name, min(low.lo, 0), max(high.hi, 0), ctype)
        wide = af.common(ctype, limit.ctype)
        if first.wraps or limit.wraps or (not ctype.signed and first.lo < 0) or (not wide.signed and limit.lo < 0):
            raise Retry
        if not wide.signed and ctype.signed and first.lo < 0:
            raise Retry
        lo = low.lo + (1 if op == ">" else 0)
        hi = high.hi - (1 if op == "<" else 0)
        cond = f"{name} {op} {limit.text}"
        if rng.random() < 0.2:
            cond = f"{limit.text} {op.translate(str.maketrans('<>', '><'))} {name}"
        if rng.random() < 0.05:
            cond += f" && {it.text} {op} {rng.randint(2, 9)}"
        return first.text, cond, lo, hi

    def _before(self, scope: Scope, name: str, ctype: IntType) -> tuple[str, str, int, int]:
        """Header parts of a loop that counts down in its condition."""
        first, limit = self._high(scope), self._low(scope)
        wide = af.common(ctype, limit.ctype)
        if first.wraps or limit.wraps or (not (ctype.signed and wide.signed) and min(first.lo, limit.lo) < 0):
            raise Retry
        if max(abs(first.lo), abs(first.hi)) >= ctype.range()[1]:
            raise Retry
        return first.text, f"{name}-- > {limit.text}", limit.lo, first.hi - 1

    def _low(self, scope: Scope) -> Value:
        roll = self.rng.random()
        if roll < 0.55 or not scope.iters:
            return af.constant(self.rng.choice((0, 0, 0, 0, 1, 1, 2, 3)))
        v = af.plus(self.rng.choice(scope.iters), self.rng.choice((0, 0, 1, -1, 2)))
        if roll > 0.9:
            v = af.extreme(self.rng, "max", v, af.constant(self.rng.randint(0, 4)))
        return v if roll < 0.95 else af.affine(self.rng, scope.iters, self.params)

    def _high(self, scope: Scope) -> Value:
        rng, roll = self.rng, self.rng.random()
        v = af.plus(rng.choice(self.params), rng.choice((0, 0, 0, 0, -1, 1, -2, 2)))
        if roll < 0.6:
            return v
        if roll < 0.68:
            return af.constant(rng.randint(1, 9))
        if scope.iters and roll < 0.85:
            return af.plus(rng.choice(scope.iters), rng.choice((0, 0, 1, 2, 4)))
        if roll < 0.92:
            return af.extreme(rng, "min", v, af.linear(rng, scope.iters, self.params, 1))
        return af.divide(v, 2) if roll < 0.96 else af.affine(rng, scope.iters, self.params)

    def _until(self, scope: Scope, name: str, step: int, down: bool) -> tuple[str, str, int, int]:
        """Header parts for !=, with a limit the loop hits exactly."""
        first = self._low(scope)
        room = self.rng.choice((af.constant(4), af.Value(self.params[0].text, 0, self.largest, self.ptype)))
        if self.least < 0:
            room = af.constant(self.rng.randint(0, 9))
        gap = af.scale(step, room)
        limit = af.sub(first, gap) if down else af.add(first, gap)
        if first.wraps or limit.wraps or first.lo < 0 or limit.lo < 0:
            raise Retry
        lo, hi = (limit.lo + step, first.hi) if down else (first.lo, limit.hi - step)
        return first.text, f"{name} != {limit.text}", lo, hi

    # -- statements --------------------------------------------------------------------------------

    def _statement(self, scope: Scope) -> Line:
        self.left -= 1
        roll = self.rng.random()
        if scope.locals and roll < 0.2:
            name, elem = self.rng.choice(scope.locals)
        elif self.scalars and roll < 0.4:
            name, elem = self.rng.choice(self.scalars)
        else:
            a = self.rng.choice(self.arrays)
            name, elem = self._element(a, scope), a.elem
        roll = self.rng.random()
        if roll < 0.12:
            return Line(self._choice(scope, name, elem))
        return self._chain(scope, name, elem) if roll < 0.16 else self._assign(scope, name, elem)

    def _choice(self, scope: Scope, target: str, elem: IntType, nested: bool = False) -> str:
        """An `if` that depends on data and sets one place, with or without `else` and further conditions."""
        rng = self.rng

        def branch() -> str:
            if not nested and rng.random() < 0.15:
                return f"{{ {self._choice(scope, target, elem, True)} }}"
            return self._assign(scope, target, elem, most=1).text

        made = f"if ({self._data_condition(scope)}) "
        if rng.random() < 0.1:
            return f"{made}; else {branch()}"
        made += branch()
        return made if rng.random() < 0.6 else f"{made} else {branch()}"

    def _data_condition(self, scope: Scope) -> str:
        """A comparison of values, perhaps joined with an affine condition or another comparison."""
        rng = self.rng
        a, b = self._leaf(scope, INT), self._leaf(scope, INT) if rng.random() < 0.5 else dt.literal(rng, INT)
        made = f"{a.text} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {b.text}"
        if rng.random() < 0.85:
            return made
        affine = af.comparison(rng, scope.iters, self.params)
        sides = [f"({made})", f"({affine})" if rng.random() < 0.6 else f"!{self._leaf(scope, INT).text}"]
        rng.shuffle(sides)
        return rng.choice((" && ", " || ")).join(sides)

    def _chain(self, scope: Scope, target: str, elem: IntType) -> Line:
        """`x = y = value`, where y is no floating-point number that x cannot hold."""
        a = self.rng.choice(self.arrays)
        if dt.is_float(a.elem) and not dt.is_float(elem):
            return self._assign(scope, target, elem)
        return Line(f"{target} = {self._assign(scope, self._element(a, scope), a.elem, plain=True).text}")

    def _assign(self, scope: Scope, target: str, elem: IntType, plain: bool = False, most: int = 3) -> Line:
        rng = self.rng
        want = elem if dt.is_float(elem) else INT

        def leaf() -> dt.Data:
            for _ in range(20):
                found = self._leaf(scope, want)
                if dt.is_float(elem) or not dt.is_float(found.ctype):
                    return found
            return dt.literal(rng, INT)

        value = dt.expression(rng, leaf, min(most, rng.choice((0, 1, 1, 2, 2, 3))))
        if plain:
            return Line(f"{target} = {dt.small(value, dt.SIGNED_LIMIT >> 1).text};")
        return Line(dt.assignment(rng, target, elem, value, lambda: dt.literal(rng, want)))

    def _leaf(self, scope: Scope, want: IntType) -> dt.Data:
        roll, rng = self.rng.random(), self.rng
        if roll < 0.12:
            return dt.literal(rng, want)
        if roll < 0.22:
            return dt.of_affine(af.affine(rng, scope.iters, self.params))
        if roll < 0.36 and scope.locals:
            name, elem = rng.choice(scope.locals)
            return dt.Data(name, elem, dt.bound_of(elem))
        if roll < 0.42 and scope.arrays:
            name, elem, size = rng.choice(scope.arrays)
            return dt.Data(f"{name}[{self._within(scope, size)}]", elem, dt.bound_of(elem))
        if roll < 0.5 and self.scalars:
            name, elem = rng.choice(self.scalars)
            return dt.Data(name, elem, dt.bound_of(elem))
        a = rng.choice(self.arrays)
        if rng.random() < 0.08:
            return self._guarded(a, scope)
        return dt.Data(self._element(a, scope), a.elem, dt.bound_of(a.elem))

    def _guarded(self, a: Array, scope: Scope) -> dt.Data:
        """An element that is read on an affine condition, outside of which it may not exist."""
        rng = self.rng
        cond = af.comparison(rng, scope.iters, self.params)
        made = ""
        if a.form == "plain" and scope.iters and rng.random() < 0.7:
            v = af.plus(rng.choice(scope.iters), -rng.randint(1, 4))
            if not v.wraps and v.hi <= MOST_INDEX[1]:
                a.need[0] = max(a.need[0], v.hi)
                text = f"{a.name}[{v.text}]"
                made = rng.choice((f"({v.text} >= 0 && {cond} ? {text} : 1)", f"({v.text} < 0 ? 2 : {text})"))
        made = made or f"({cond} ? {self._element(a, scope)} : 3)"
        return dt.Data(made, a.elem if dt.is_float(a.elem) else af.promote(a.elem), dt.bound_of(a.elem))

    def _within(self, scope: Scope, size: int) -> str:
        """A subscript of a small array."""
        for _ in range(20):
            v = af.modulo(af.linear(self.rng, scope.iters, ()), size)
            if v.lo >= 0 and not v.wraps:
                return v.text
        return str(self.rng.randrange(size))

    def _element(self, a: Array, scope: Scope) -> str:
        if a.form == "point":
            return f"(*{a.name})"
        flat = a.form in ("flat", "flatn")
        index = [self._subscript(scope, MOST_INDEX[a.rank], flat) for _ in range(a.rank)]
        a.need = [max(k, v.hi) for k, v in zip(a.need, index, strict=True)]
        if a.form == "flat":
            return f"{a.name}[{index[0].text} * ld + {index[1].text}]"
        if a.form == "flatn":
            return f"{a.name}[{index[0].text} * n + {index[1].text}]"
        return a.name + "".join(f"[{v.text}]" for v in index)

    def _subscript(self, scope: Scope, most: int, flat: bool = False) -> Value:
        """A subscript within 0 and `most`; for flat arrays one that the tool can tell from the row length."""
        for _ in range(50):
            if scope.iters and self.rng.random() < 0.5:
                v = af.plus(self.rng.choice(scope.iters), self.rng.choice((0, 0, 0, 1, -1, 2)))
            elif flat and self.rng.random() < 0.97:
                v = af.linear(self.rng, scope.iters, ())
            else:
                v = af.affine(self.rng, scope.iters, self.params)
            if v.lo < 0 and not v.wraps:
                v = af.plus(v, -v.lo)
            if not v.wraps and v.lo >= 0 and v.hi <= most:
                return v
        return af.constant(self.rng.randint(0, 3))
