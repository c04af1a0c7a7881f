"""Random statements over the memory of a program: what is read, what is written, and on which condition."""
from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.property import affine as af
from tests.property import data as dt
from tests.property.affine import INT, Value
from tests.property.loops import Scope
from tests.property.memory import Array, Member, Place, Scalar
from tests.property.tree import Line

MOST_INDEX = {1: 160, 2: 80, 3: 30}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Statements:
    """Writes statements over `arrays` and `scalars`; exact ones write to `targets` and never read those."""

    def __init__(self, rng: Random, params: list[Value], exact: bool) -> None:
        self.rng, self.params, self.exact = rng, params, exact
        self.arrays: list[Array] = []
        self.targets: list[Array] = []
        self.scalars: list[Scalar] = []
        self.gathers = 0.0  # how often data decide about a subscript
        self.gathered = False  # whether they do somewhere

    def condition(self, scope: Scope) -> str:
        return af.condition(self.rng, scope.iters, self.params)

    def statement(self, scope: Scope) -> Line:
        if self.exact:
            return self._sum(scope)
        if self.gathers and self.rng.random() < self.gathers / 2:
            return self._counted(scope)
        roll = self.rng.random()
        if scope.locals and roll < 0.2:
            place = Place(*self.rng.choice(scope.locals))
        elif self.scalars and roll < 0.4:
            place = self._of_scalar(self.rng.choice(self.scalars), scope, store=True)
        else:
            place = self._element(self.rng.choice(self.arrays), scope, store=True)
        roll = self.rng.random()
        if roll < 0.15:
            return Line(self._choice(scope, place))
        return self._chain(scope, place) if roll < 0.19 else self.assign(scope, place)

    # -- kinds of statements -----------------------------------------------------------------------

    def _sum(self, scope: Scope) -> Line:
        """A statement on whole numbers, small enough that a floating-point type holds every sum of them."""
        rng = self.rng
        target = (self._element(rng.choice(self.targets), scope).text if not self.scalars or rng.random() < 0.5
                  else rng.choice(self.scalars).name)

        def leaf() -> str:
            return self._element(self.arrays[0], scope).text if rng.random() < 0.85 else str(rng.randint(1, 8))

        e = leaf()
        for _ in range(rng.choice((0, 0, 1, 2))):
            e = f"{e} {rng.choice('+-')} {leaf()}"
        if self.arrays[0].elem == dt.DOUBLE and rng.random() < 0.4:
            e = f"{leaf()} * {leaf()}"
        update = rng.choice((f"{target} += {e};", f"{target} += {e};", f"{target} = {target} + ({e});",
                             f"{target} -= {e};", f"{target} = {e};", f"{target} = MAX({target}, {e});",
                             f"if ({e} < {target}) {target} = {e};"))
        if rng.random() < 0.15:
            update = f"if ({leaf()} {rng.choice(COMPARISONS)} {leaf()}) {{ {update} }}"
        return Line(update)

    def _counted(self, scope: Scope) -> Line:
        """A loop of which data decide how often it runs."""
        rng, self.gathered = self.rng, True
        limit = self._from_data(scope, 7).text
        inner = replace(scope, iters=(*scope.iters, Value("each", 0, 7)))
        place = self._element(rng.choice(self.arrays), inner if rng.random() < 0.5 else scope, store=True)
        body = self._choice(inner, place, True) if rng.random() < 0.3 else self.assign(inner, place).text
        leaves = rng.random() < 0.2
        body += f" if ({self._data_condition(inner)}) {rng.choice(('break', 'continue'))};" if leaves else ""
        heads = (f"int each = 0; each < {limit}; each++", f"int each = {limit}; each > 0; each--")
        return Line(f"for ({rng.choice(heads)}) {{ {body} }}")

    def _choice(self, scope: Scope, target: Place, nested: bool = False) -> str:
        """An `if` that depends on data and sets one place, with or without `else` and further conditions."""
        rng = self.rng

        def branch() -> str:
            if not nested and rng.random() < 0.15:
                return f"{{ {self._choice(scope, target, True)} }}"
            return f"{{ {self.assign(scope, target, most=1).text} }}"

        made = f"if ({self._data_condition(scope)}) "
        if rng.random() < 0.1:
            return f"{made}{{ }} else {branch()}"
        made += branch()
        return made if rng.random() < 0.6 else f"{made} else {branch()}"

    def _data_condition(self, scope: Scope) -> str:
        """A comparison of values, perhaps joined with an affine condition or another comparison."""
        rng = self.rng
        a, b = self._leaf(scope), self._leaf(scope) if rng.random() < 0.5 else dt.literal(rng, INT)
        made = f"{a.text} {rng.choice(COMPARISONS)} {b.text}"
        if rng.random() < 0.85:
            return made
        affine = af.comparison(rng, scope.iters, self.params)
        sides = [f"({made})", f"({affine})" if rng.random() < 0.6 else f"!{self._leaf(scope).text}"]
        rng.shuffle(sides)
        return rng.choice((" && ", " || ")).join(sides)

    def _chain(self, scope: Scope, target: Place) -> Line:
        """`x = y = value`, where y is no floating-point number that x cannot hold."""
        other = self._element(self.rng.choice(self.arrays), scope, store=True)
        if other.pun or target.pun or (dt.is_float(other.elem) and not dt.is_float(target.elem)):
            return self.assign(scope, target)
        return Line(f"{target.text} = {self.assign(scope, other, plain=True).text}")

    def assign(self, scope: Scope, target: Place, plain: bool = False, most: int = 3) -> Line:
        """A store that leaves `target` with a value of its own kind."""
        rng = self.rng
        floats = dt.is_float(target.elem) and not target.pun

        def leaf() -> dt.Data:
            for _ in range(20):
                found = self._leaf(scope)
                if floats or not dt.is_float(found.ctype):
                    return found
            return dt.literal(rng, INT)

        value = dt.expression(rng, leaf, min(most, rng.choice((0, 1, 1, 2, 2, 3))))
        if target.pun in ("float", "bits32", "bits64"):
            return Line(dt.punned(target.text, target.elem, target.pun, value))
        if plain:
            return Line(f"{target.text} = {dt.small(value, dt.SIGNED_LIMIT >> 1).text};")
        return Line(dt.assignment(rng, target.text, target.elem, value,
                                  lambda: dt.literal(rng, target.elem if floats else INT)))

    # -- what is read ------------------------------------------------------------------------------

    def _leaf(self, scope: Scope) -> dt.Data:
        roll, rng = self.rng.random(), self.rng
        if roll < 0.12:
            return dt.literal(rng, rng.choice(self.arrays).elem if rng.random() < 0.5 else INT)
        if roll < 0.22:
            return dt.of_affine(af.affine(rng, scope.iters, self.params))
        if roll < 0.36 and scope.locals:
            name, elem = rng.choice(scope.locals)
            return dt.Data(name, elem, dt.bound_of(elem))
        if roll < 0.42 and scope.arrays:
            name, elem, size = rng.choice(scope.arrays)
            return dt.Data(f"{name}[{self._within(scope, size)}]", elem, dt.bound_of(elem))
        if roll < 0.5 and self.scalars:
            return _data(self._of_scalar(rng.choice(self.scalars), scope))
        a = rng.choice(self.arrays)
        if rng.random() < 0.08 and not a.record:
            return self._guarded(a, scope)
        return _data(self._element(a, scope))

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
        made = made or f"({cond} ? {self._element(a, scope).text} : 3)"
        return dt.Data(made, a.elem if dt.is_float(a.elem) else af.promote(a.elem), dt.bound_of(a.elem))

    # -- places ------------------------------------------------------------------------------------

    def _of_scalar(self, s: Scalar, scope: Scope, store: bool = False) -> Place:
        if s.record is None:
            return Place(s.name, s.elem)
        return self._of_member(s.name, self.rng.choice(s.record.members), scope, store)

    def _of_member(self, text: str, m: Member, scope: Scope, store: bool) -> Place:
        if not m.count:
            return Place(f"{text}.{m.path}", m.elem, m.pun)
        index = str(self.rng.randrange(m.stores)) if store and m.stores else self._within(scope, m.count)
        return Place(f"{text}.{m.path}[{index}]", m.elem, m.pun)

    def _within(self, scope: Scope, size: int) -> str:
        """A subscript of a small array."""
        for _ in range(20):
            v = af.modulo(af.linear(self.rng, scope.iters, ()), size)
            if v.lo >= 0 and not v.wraps:
                return v.text
        return str(self.rng.randrange(size))

    def _element(self, a: Array, scope: Scope, store: bool = False) -> Place:
        text = self._subscripted(a, scope)
        if a.record is None:
            return Place(text, a.elem)
        return self._of_member(text, self.rng.choice(a.record.members), scope, store)

    def _subscripted(self, a: Array, scope: Scope) -> str:
        if a.form == "point":
            return f"(*{a.name})" if self.rng.random() < 0.8 or a.record else f"{a.name}[0]"
        flat = a.form in ("flat", "flatn", "pairs")
        index = [self._subscript(scope, MOST_INDEX[a.rank], flat) for _ in range(a.rank)]
        a.need = [max(k, v.hi) for k, v in zip(a.need, index, strict=True)]
        if a.form == "flat":
            return f"{a.name}[{index[0].text} * ld + {index[1].text}]"
        if a.form == "flatn":
            return f"{a.name}[{index[0].text} * n + {index[1].text}]"
        if a.form == "pairs":
            inside = f"2 * ({index[0].text} * ld + {index[1].text})"
            return f"{a.name}[{inside}{self.rng.choice(('', ' + 1'))}]"
        return a.name + "".join(f"[{v.text}]" for v in index)

    def _subscript(self, scope: Scope, most: int, flat: bool = False) -> Value:
        """A subscript within 0 and `most`; for flat arrays one that the tool can tell from the row length."""
        if self.gathers and self.rng.random() < self.gathers:
            return self._from_data(scope, most)
        for _ in range(50):
            if scope.iters and self.rng.random() < 0.6:
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

    def _from_data(self, scope: Scope, most: int) -> Value:
        """A subscript that is read from memory, or a product of loop variables."""
        rng, self.gathered = self.rng, True
        mask = rng.choice((1, 3, 7))
        if scope.iters and rng.random() < 0.15:
            x, y = rng.choice(scope.iters), rng.choice(scope.iters)
            return Value(f"(({x.text} * {y.text}) & {mask})", 0, mask)
        usual, self.gathers = self.gathers, self.gathers / 4
        found = [d for d in (self._leaf(scope) for _ in range(12)) if not dt.is_float(d.ctype)]
        self.gathers = usual
        return Value(f"({found[0].text} & {mask})", 0, mask) if found else af.constant(rng.randint(0, 3))


def _data(place: Place) -> dt.Data:
    return dt.Data(place.text, place.elem, dt.bound_of(place.elem))
