"""Random programs around products: C = F(C, a, b) over loops in any order, with all that can stand in the way.

Like those of programs.py they are the same for the same seed and free of undefined behaviour. Subscripts stay within
0 and a limit known here, and arrays are as large as that.
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.property import data as dt
from tests.property.affine import INT, LONG, SIZE, UNSIGNED, IntType
from tests.property.data import DOUBLE, FLOAT
from tests.property.memory import buffer
from tests.property.model import PRELUDE, SIZES_USED, Program
from tests.property.tree import For, If, Line, Node

NAMES = ("i", "j", "k", "l", "a", "b", "c", "it", "ib", "kr", "jt", "row", "col", "dep", "in", "fo", "n2", "s")
SIZES = (0, 1, 2, 3, 5, 7, 13, 17, 33)
MOST_STEPS = 40_000
SMALL = (FLOAT, DOUBLE, IntType("signed char", 8, True), IntType("short", 16, True), INT, LONG)
EXTRA = "#include <math.h>\n"


@dataclass(frozen=True)
class It:
    """A loop: `lo` and `past` are C texts, `most` bounds its values, `role` is batch, row, column or depth."""

    name: str
    role: str
    lo: str
    past: str
    most: int
    down: bool
    step: int = 1


@dataclass
class Store:
    """An array with the largest subscript of each dimension."""

    name: str
    elem: IntType
    form: str  # fixed, vla, flat
    need: list[int]


def random_product(seed: int) -> Program:
    """The program of a seed."""
    return _Maker(Random(seed), seed).program()


class _Maker:
    def __init__(self, rng: Random, seed: int) -> None:
        self.rng, self.seed = rng, seed
        self.ptype = rng.choice((INT, INT, INT, INT, UNSIGNED, LONG, SIZE))
        self.least = -3 if self.ptype.signed else 0
        self.stores: dict[str, Store] = {}
        self.scalars: dict[str, IntType] = {}
        self.locals: dict[str, IntType] = {}
        counts = {"batch": (0, 0, 0, 1), "row": (1, 1, 1, 2, 3), "column": (1, 1, 1, 2), "depth": (1, 1, 1, 2)}
        roles = [role for role, some in counts.items() for _ in range(rng.choice(some))]
        self.largest = 33 if len(roles) == 3 else 13 if len(roles) == 4 else 5
        names = rng.sample(NAMES, len(roles))
        self.cut = len(roles) == 3 and rng.random() < 0.4
        self.its = [self._iterator(n, r, len(roles)) for n, r in zip(names, roles, strict=True)]
        self.elem = rng.choice(dt.ELEMENTS)

    def _iterator(self, name: str, role: str, loops: int) -> It:
        rng = self.rng
        lo = rng.choice((0, 0, 0, 0, 1, 2, 3))
        kind = rng.random()
        if kind < 0.7 or self.cut:
            p = rng.choice(("n", "m"))
            past = rng.choice((p, p, p, f"{p} - 1", f"{p} + 2") if self.ptype.signed else (p, p, f"{p} + 2"))
            most = self.largest + 1
        else:
            size = rng.randint(1, 9 if loops < 5 else 4)
            past, most = str(lo + size), lo + size - 1
        down = rng.random() < 0.2 and self.ptype.signed
        return It(name, role, str(lo), past, most, down, 2 if rng.random() < 0.02 else 1)

    # -- the whole ---------------------------------------------------------------------------------

    def program(self) -> Program:
        rng = self.rng
        body = self._product("C", self.its)
        if rng.random() < 0.2:
            body += self._product("D" if rng.random() < 0.6 else "C", [self._renamed(x) for x in self.its])
        if rng.random() < 0.15:
            body = [For("int t = 0; t < 3; t++", tuple(body))]
        elif rng.random() < 0.05:
            body = [If("n > 3", tuple(body))]
        t = self.ptype.text
        pointers = [(self._declared(s), s.elem, self._elements(s)) for s in self.stores.values()]
        pointers += [(f"{e.text} *p_{s}", e, 1) for s, e in self.scalars.items()]
        before = f"  {SIZES_USED}\n"
        before += "".join(f"  {e.text} {s} = p_{s}[0];\n" for s, e in self.scalars.items())
        before += "".join(f"  {e.text} {s} = 0;\n" for s, e in self.locals.items())
        params = ", ".join([f"{t} n, {t} m, {t} ld", *(p[0] for p in pointers)])
        floats = any(dt.is_float(s.elem) for s in self.stores.values())
        buffers = tuple(buffer(elem.text, elem, None, count) for _, elem, count in pointers)
        return Program(self.seed, params, before, tuple(body), "", buffers, self._ld(), self._sizes(), floats,
                       EXTRA + PRELUDE, kinds=("products",))

    def _renamed(self, x: It) -> It:
        return It(x.name + "x" if self.rng.random() < 0.5 else x.name, x.role, x.lo, x.past, x.most, x.down, x.step)

    def _sizes(self) -> tuple[tuple[int, int], ...]:
        some = [s for s in SIZES if s <= self.largest]
        mixed = [(self.rng.choice(some), self.rng.choice(some)) for _ in range(3)]
        negative = [(-3, 5), (2, -1), (-2, -3)] if self.least < 0 else []
        return tuple([(s, s) for s in some] + mixed + negative)

    def _ld(self) -> int:
        return max([1, *(s.need[1] + 1 for s in self.stores.values() if s.form == "flat")])

    def _declared(self, s: Store) -> str:
        if s.form == "flat":
            return f"{s.elem.text} *{s.name}"
        if s.form == "fixed":
            return f"{s.elem.text} {s.name}" + "".join(f"[{k + 1}]" for k in s.need)
        return f"{s.elem.text} {s.name}" + "".join(
            f"[{p} + {k + 1 - self.least}]" for p, k in zip("nmnmnmnm", s.need, strict=False))

    def _elements(self, s: Store) -> int:
        if s.form == "flat":
            return s.need[0] * self._ld() + s.need[1] + 1
        total = 1
        for k in s.need:
            total *= k + 1 if s.form == "fixed" else k + 1 - self.least + self.largest
        return total

    # -- loops -------------------------------------------------------------------------------------

    def _head(self, x: It, cut: str, outer: Sequence[It]) -> str:
        """The header; a cut loop has a bound that moves with one of the loops around it."""
        lo, past = x.lo, x.past
        around = [y for y in outer if y.role != "batch"]
        if cut and around and self.ptype.signed:
            y = self.rng.choice(around).name
            by = self.rng.choice((0, 0, 1, 2, -1, -3))
            if cut in ("low", "both"):
                lo = f"MAX({lo}, {y} - {self.rng.choice((0, 0, 1, 4))})" if by <= 0 else f"{y} + {by}"
            if cut in ("high", "both"):
                past = self.rng.choice((f"MIN({past}, {y} + {abs(by) + 1})", f"MIN({past}, {past} - {y})"))
        step = f"{x.name} {'-' if x.down else '+'}= {x.step}" if x.step > 1 else f"{x.name}{'--' if x.down else '++'}"
        t = self.ptype.text if self.rng.random() < 0.5 else "long" if self.ptype.bits == 64 else "int"
        if self.ptype == SIZE or self.ptype == UNSIGNED:
            t = self.ptype.text
        if x.down:
            return f"{t} {x.name} = {past} - 1; {x.name} >= {lo}; {step}"
        return f"{t} {x.name} = {lo}; {x.name} < {past}; {step}"

    def _nest(self, order: Sequence[It], inner: Sequence[Node], cuts: bool = False) -> list[Node]:
        """Loops around `inner`."""
        heads = []
        for k, x in enumerate(order):
            cut = self.rng.choice(("", "low", "high", "both")) if cuts and self.cut else ""
            heads.append(self._head(x, cut, order[:k]))
        nodes = list(inner)
        for head in reversed(heads):
            nodes = [For(head, tuple(nodes))]
        return nodes

    # -- elements ----------------------------------------------------------------------------------

    def _element(self, name: str, its: Sequence[It], elem: IntType | None = None) -> str:
        """An element that moves with these loops, in any order of subscripts."""
        rng = self.rng
        own = self.stores.get(name)
        rank = len(own.need) if own else len(its)
        its = rng.sample(list(its), len(its))
        index = [self._subscript(x) for x in its][:rank]
        index += [(str(k), k) for k in (rng.randint(0, 3) for _ in range(rank - len(index)))]
        if own is None:
            form = rng.choice(("fixed", "vla", "vla", "flat") if rank == 2 else ("fixed", "vla"))
            own = self.stores[name] = Store(name, elem or self.elem, form, [0] * rank)
        own.need = [max(k, hi) for k, (_, hi) in zip(own.need, index, strict=True)]
        if own.form == "flat":
            return f"{name}[({index[0][0]}) * ld + {index[1][0]}]"
        return name + "".join(f"[{text}]" for text, _ in index)

    def _subscript(self, x: It) -> tuple[str, int]:
        rng = self.rng
        roll = rng.random()
        if roll < 0.7:
            return x.name, x.most
        if roll < 0.85:
            by = rng.randint(1, 3)
            return f"{x.name} + {by}", x.most + by
        if roll < 0.93 and self.ptype.signed and not self.cut:
            return f"{x.past} - 1 - {x.name}", x.most
        return f"2 * {x.name} + {rng.randint(0, 1)}", 2 * x.most + 1

    # -- statements --------------------------------------------------------------------------------

    def _product(self, target: str, its: Sequence[It]) -> list[Node]:
        rng = self.rng
        by_role = {r: [x for x in its if x.role == r] for r in ("batch", "row", "column", "depth")}
        kept = [*by_role["batch"], *by_role["row"], *by_role["column"]]
        rng.shuffle(kept)
        c = self._element(target, kept)
        elem = self.stores[target].elem
        mixed = rng.random() < 0.25
        sides = []
        for letter, role in (("A", "row"), ("B", "column")):
            name = letter if rng.random() < 0.85 else rng.choice("ABCD")
            mine = [*by_role["batch"], *by_role[role], *by_role["depth"]]
            if rng.random() < 0.1 and len(mine) > 1:
                mine.remove(rng.choice(mine))
            sides.append(self._element(name, mine, rng.choice(dt.ELEMENTS) if mixed else elem))
        a, b = (self._dressed(x, y, its) for x, y in zip(sides, sides[::-1], strict=True))
        roll = rng.random()
        if roll < 0.15:
            return self._gathered(c, a, b, elem, by_role)
        if roll < 0.4:
            return self._hidden(c, a, b, elem, by_role)
        order = list(its)
        rng.shuffle(order)
        nodes: list[Node] = [Line(self._step(c, a, b, elem))]
        if rng.random() < 0.12:
            nodes.insert(rng.randint(0, 1), Line(self._other(c, elem)))
        if rng.random() < 0.06:
            nodes = [If(f"{rng.choice(order).name} != 2", tuple(nodes))]
        nest = self._nest(order, nodes, cuts=True)
        inits = self._nest(kept, [Line(self._other(c, elem))]) if rng.random() < 0.3 else []
        ends = self._nest(kept, [Line(self._other(c, elem))]) if rng.random() < 0.15 else []
        return [*inits, *nest, *ends]

    def _gathered(self, c: str, a: str, b: str, elem: IntType, by_role: dict[str, list[It]]) -> list[Node]:
        """A scalar gathers the sum for one element."""
        rng = self.rng
        kept = [*by_role["batch"], *by_role["row"], *by_role["column"]]
        rng.shuffle(kept)
        t = elem if rng.random() < 0.85 else rng.choice(dt.ELEMENTS)
        if dt.is_float(t) != dt.is_float(elem):
            t = elem
        first = rng.choice(("0", c, c))
        inner: list[Node] = self._nest(by_role["depth"], [Line(self._step("acc", a, b, t))])
        last = rng.choice((f"{c} = acc;", f"{c} = acc;", f"{c} = acc;", f"{c} += acc;"))
        if last != f"{c} = acc;" and not dt.is_float(elem) and dt.is_float(t):
            last = f"{c} = acc;"
        body: list[Node] = [Line(f"{t.text} acc = {first};"), *inner, Line(last)]
        if rng.random() < 0.1:
            body.append(Line(self._other(c, elem)))
        return self._nest(kept, body)

    def _hidden(self, c: str, a: str, b: str, elem: IntType, by_role: dict[str, list[It]]) -> list[Node]:
        """A temporary gathers the sum: a scalar of the region or from before it, or an element that is seen later."""
        rng = self.rng
        kept = [*by_role["batch"], *by_role["row"], *by_role["column"]]
        rng.shuffle(kept)
        form = rng.choice(("inside", "before", "element", "row"))
        if form == "before":
            self.locals.setdefault("tmp", elem)
            elem = self.locals["tmp"]
        mine = kept[-1:] if form == "row" else rng.sample(kept, rng.randint(0, min(2, len(kept))))
        name = {"inside": "acc", "before": "tmp"}.get(form) or self._element("E", mine or kept[:1], elem)
        floats = dt.is_float(elem)
        keeps = f"{c} = {c} > 0 ? {name} : {c};"
        forms = (f"{c} += {name};", f"{c} = {name};", f"if ({name} > {c}) {c} = {name};", keeps)
        last = rng.choice(forms if floats == dt.is_float(self._type(c)) else (f"{c} = 1;",))
        first = rng.choice(("0", "0", "1", c if floats == dt.is_float(self._type(c)) else "2"))
        start = Line(f"{elem.text + ' ' if form == 'inside' else ''}{name} = {first};")
        if rng.random() < 0.08 and form != "inside":
            start = Line(f"if ({kept[0].name} > 1) {name} = {first};")
        sums = self._nest(by_role["depth"], [Line(self._step(name, a, b, elem))])
        if form != "row":
            return self._nest(kept, [start, *sums, Line(last)])
        heads = self._nest(kept[-1:], [start, *sums]), self._nest(kept[-1:], [Line(last)])
        return self._nest(kept[:-1], [*heads[0], *heads[1]])

    def _type(self, text: str) -> IntType:
        store = self.stores.get(text.split("[")[0])
        return store.elem if store else INT

    def _dressed(self, element: str, other: str, its: Sequence[It]) -> str:
        """The operand, perhaps with something to it."""
        rng, t = self.rng, self._type(element)
        roll = rng.random()
        if roll < 0.75:
            return element
        if roll < 0.8 and dt.is_float(t):
            self.scalars.setdefault("alpha", t)
            return f"alpha * {element}"
        if roll < 0.85:
            x = rng.choice(list(its))
            return f"{element} * (int)({x.name} % 3)" if rng.random() < 0.3 else f"({element} + (int){x.name})"
        if roll < 0.9:
            return f"(-{element})"
        if roll < 0.95:
            return f"({element} > 0 ? {element} : 1)"
        return f"({t.text})({element} + 1)"

    def _step(self, c: str, a: str, b: str, elem: IntType) -> str:
        rng = self.rng
        types = [self._type(re.findall(r"[A-D]\[", x)[0]) for x in (a, b)]
        floats = dt.is_float(elem)
        if not floats and any("alpha" in x or dt.is_float(t) for x, t in zip((a, b), types, strict=True)):
            return f"{c} {rng.choice(('+=', '-=', '^='))} {rng.randint(1, 5)};"
        op = rng.choice("++***-") if floats else rng.choice("+***-&|^")
        wide = not floats and any(t.signed and t.bits >= 32 for t in (elem, *types))
        x = f"{a} {op} {b}"
        if not wide and op == "*" and any(not t.signed and t.bits == 16 for t in types):
            x = f"(unsigned){x}"  # two of them are too large for an int
        own = wide and any(letter + "[" in a + b for letter in "CD")
        if own:
            x = f"({a}) % 50 {op if op in '+-*' else '+'} ({b}) % 20"  # what is read grows from step to step
        elif wide and op == "*":
            x = f"({a}) % 50 * (({b}) % 20)" if rng.random() < 0.2 else f"{a} + {b}"
        low, high = (x, c) if rng.random() < 0.5 else (c, x)
        sign = rng.choice(("<", "<=", ">", ">="))
        forms = [
            f"{c} += {x};", f"{c} += {x};", f"{c} = {c} + {x};", f"{c} -= {x};",
            f"{c} = MIN({c}, {x});", f"{c} = MAX({x}, {c});", f"{c} = {low} {sign} {high} ? {low} : {high};",
            f"{c} = {low} {sign} {high} ? {high} : {low};", f"if ({x} {sign} {c}) {c} = {x};",
            f"{c} = {a} {sign} {b} ? {c} : {c} + 1;", f"{c} += {a} {sign} {b};",
        ]
        if floats:
            f = "f" if elem == FLOAT else ""
            forms += [f"{c} = fmin{f}({c}, {x});", f"{c} = fmax{f}({x}, {c});"]
            forms += [f"{c} += {a} / {b};"] if all(map(dt.is_float, types)) else []
        else:
            forms += [f"{c} |= {a} & {b};", f"{c} = {c} || ({a} && {b});", f"if ({a} && {b}) {c} = 1;",
                      f"{c} ^= {a} | {b};", f"{c} = {c} && {a} != {b};"]
        return rng.choice(forms)

    def _other(self, c: str, elem: IntType) -> str:
        """A statement that sets the target by itself."""
        if dt.is_float(elem):
            return self.rng.choice((f"{c} = 0;", f"{c} *= 0.5;", f"{c} = {c} > 0 ? {c} : 0;", f"{c} = {c} + 1;"))
        return self.rng.choice((f"{c} = 0;", f"{c} = {c} % 7;", f"{c} = {c} > 0 ? {c} : 0;", f"{c} ^= 3;"))
