"""Random C functions with one region, each the same for the same seed and free of undefined behaviour.

Every subscript is shifted to start at 0 and every array made large enough for the largest subscript, so all
accesses stay inside for all sizes the harness tries. `Features` says what else than plain loops over plain arrays
a program may hold.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from tests.property import data as dt
from tests.property import memory as mem
from tests.property.affine import BYTE, INT, LONG, SHORT, SIZE, UNSIGNED, IntType, Value
from tests.property.loops import Loops, Scope
from tests.property.memory import Array, Record, Scalar
from tests.property.model import ALL, PRELUDE, SIZES_USED, Features, Program
from tests.property.spellings import respelled
from tests.property.statements import Statements
from tests.property.tree import For, If, Line, Node

SIZES = (0, 1, 2, 3, 5, 7, 13, 17, 33)


# Every fourth block of so many seeds is for flags that change what C means.
BLOCK, TURNS = 12, 4
UNTYPED = ("-fno-strict-aliasing", "-fwrapv")


def flags_of(seed: int) -> tuple[str, ...]:
    """The flags of the program of a seed."""
    return UNTYPED if seed // BLOCK % TURNS == TURNS - 1 else ()


def random_program(seed: int, features: Features = ALL) -> Program:
    """The program of a seed."""
    return respelled(_Maker(Random(seed), seed, features).program(), features)


@dataclass
class _Memory:
    arrays: list[Array] = field(default_factory=list)
    scalars: list[Scalar] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)


class _Maker(Statements):
    def __init__(self, rng: Random, seed: int, features: Features) -> None:
        self.seed, self.features = seed, features
        self.depth = rng.choice((1, 1, 2, 2, 2, 2, 3, 3, 4))
        self.left = rng.choice((1, 1, 1, 2, 2, 2, 3, 3, 4, 6))  # statements still to write
        self.fresh = 0
        self.constant = rng.random() < features.constants
        ptype = INT if self.constant else rng.choice((INT, INT, INT, UNSIGNED, LONG, SIZE))
        self.least = -3 if ptype.signed and not self.constant else 0
        largest = 13 if self.depth == 4 else rng.choice((33, 33, 17))
        params = self._sizes_of(rng, ptype, largest)
        itype = rng.choice((INT, INT, INT, ptype, ptype, LONG, SHORT, BYTE))
        self.loops = Loops(rng, itype, params, self.least, largest)
        self.exact = rng.random() < features.exact
        self.memory = _Memory()
        super().__init__(rng, params, self.exact)
        if Random(f"gathers {seed}").random() < features.gathers:  # programs without are what they were
            self.gathers = 0.2
        self._fill_memory(largest)

    def _sizes_of(self, rng: Random, ptype: IntType, largest: int) -> list[Value]:
        if not self.constant:
            return [Value(p, self.least, largest, ptype) for p in ("n", "m")]
        sizes = [rng.choice([s for s in SIZES if 1 < s <= largest]) for _ in "nm"]
        self.macros = rng.random() < 0.5
        return [Value(f"{p}{self.seed}" if self.macros else str(s), s, s) for p, s in zip("NM", sizes, strict=True)]

    # -- memory ------------------------------------------------------------------------------------

    def _fill_memory(self, largest: int) -> None:
        rng, features = self.rng, self.features
        if self.exact:
            elems: Sequence[IntType] = [rng.choice((dt.FLOAT, dt.DOUBLE))]
        else:
            floats = rng.random() < 0.45
            pool = [e for e in dt.ELEMENTS if dt.is_float(e) <= floats]
            elems = rng.sample(pool, min(len(pool), rng.choice((1, 2, 2, 3))))
            if rng.random() < features.structs:
                self.memory.records.append(mem.struct(rng, self.seed, 0, elems))
            if rng.random() < features.unions:
                self.memory.records.append(mem.union(rng, self.seed, 1))
        self.arrays = [self._array(c, elems, largest) for c in "ABCD"[: rng.randint(2 if self.exact else 1, 3)]]
        self.scalars = [self._scalar(f"s{k}", elems) for k in range(rng.choice((0, 0, 1, 2)))]
        if self.exact:
            self.targets = self.arrays[1:]
            self.arrays = self.arrays[:1]
        self.memory.arrays += [*self.arrays, *self.targets]
        self.memory.scalars += self.scalars
        if rng.random() < features.pointers and not self.exact:
            self._pointers()

    def _home(self) -> str:
        rng = self.rng
        if rng.random() >= self.features.homes:
            return "parameter"
        own = rng.random() < self.features.threads
        return rng.choice(mem.THREADS if own else [h for h in mem.HOMES if h not in mem.THREADS])

    def _array(self, name: str, elems: Sequence[IntType], largest: int) -> Array:
        rng = self.rng
        record = rng.choice(self.memory.records) if self.memory.records and rng.random() < 0.5 else None
        home = self._home()
        if home != "parameter":
            form = "fixed"
            name = f"g{self.seed}_{name}"
        else:
            forms = ("fixed", "vla", "vla", "vla", "flat", "flat", "pairs", "flatn", "plain", "plain", "point")
            form = rng.choice(forms)
        if form in ("flatn", "flat", "pairs") and self.constant:
            form = "plain"
        if form == "flatn" and self.least < 0:
            form = "flat"
        ranks = (1, 1, 2, 2) if largest > 17 else (1, 2, 2, 3)
        rank = 1 if form in ("point", "plain") else rng.choice(ranks) if form in ("fixed", "vla") else 2
        return Array(name, rng.choice(elems), form, rank, [0] * rank, record, home)

    def _scalar(self, name: str, elems: Sequence[IntType]) -> Scalar:
        rng = self.rng
        record = rng.choice(self.memory.records) if self.memory.records and rng.random() < 0.4 else None
        home = self._home()
        home = "automatic" if home == "parameter" else home
        if home in mem.OUTSIDE:
            name = f"g{self.seed}_{name}"
        return Scalar(name, rng.choice(elems), record, home)

    def _pointers(self) -> None:
        """One or two pointers into arrays, or into other pointers' arrays, or to a scalar."""
        rng = self.rng
        for k in range(rng.choice((1, 1, 2))):
            base = rng.choice(self.arrays)
            plain = [s for s in self.scalars if s.record is None]
            if plain and rng.random() < 0.15:
                s = rng.choice(plain)
                self.arrays.append(Array(f"q{k}", s.elem, "point", 1, [0], home=f"&{s.name}"))
            elif base.form != "point":
                shift = rng.choice((0, 0, 1, 1, 2, 3))
                self.arrays.append(Array(f"q{k}", base.elem, base.form, base.rank, [0] * base.rank, base.record,
                                         "pointer", base, shift))
        self.memory.arrays = list(self.arrays)

    # -- the whole ---------------------------------------------------------------------------------

    def program(self) -> Program:
        rng = self.rng
        body: list[Node] = []
        while self.left > 0:
            body += self._nodes(Scope(), 0)
        arrays, scalars = self.memory.arrays, self.memory.scalars
        mem.settle(arrays)
        own = [a for a in arrays if a.home == "parameter"]
        kept = [a for a in arrays if a.home in mem.HOMES]
        overlaps = self._overlaps(own)
        for a in own:
            a.restrict = rng.random() < 0.2 and not any(own.index(a) in o[:2] for o in overlaps)
        names = [p.text for p in self.params]
        t, used = self.params[0].ctype.text, self.loops.used_counters
        seen = [c for c in used if rng.random() < 0.3]
        count = {a.name: mem.elements(a, self.least, [p.hi for p in self.params], self._ld()) for a in [*own, *kept]}
        texts = [mem.declared(a, self.least, names) for a in own]
        texts += [f"{a.type} *p_{a.name}" for a in kept] + [f"{s.type} *p_{s.name}" for s in scalars]
        texts += [f"{used[c].text} *p_{c}" for c in seen]
        buffers = [mem.buffer(a.type, a.elem, a.record, count[a.name], self.exact, a in kept) for a in [*own, *kept]]
        buffers += [mem.buffer(s.type, s.elem, s.record, 1, self.exact, True) for s in scalars]
        buffers += [mem.buffer(used[c].text, used[c], None, 1, copied=True) for c in seen]
        params = ", ".join([f"{t} n, {t} m, {t} ld", *texts])
        after = self._after(kept, scalars) + "".join(f"  p_{c}[0] = {c};\n" for c in seen)
        floats = any(dt.is_float(e) for e in self.used_types()) and not self.exact
        before, objects = self._before(kept, scalars, arrays), self._objects(kept, scalars)
        macro, inside = self._macro()
        kinds = (*self._kinds(arrays, scalars, overlaps), *(["macros"] if macro else []))
        return Program(self.seed, params, before, tuple(body), after, tuple(buffers), self._ld(), self._sizes(), floats,
                       PRELUDE, self._types(), objects, overlaps, kinds, macro, inside, flags_of(self.seed))

    def _macro(self) -> tuple[str, bool]:
        """A size that is half of itself in the region, by a macro of its name, and whether that is defined there."""
        rng = Random(f"macros {self.seed}")  # programs without are what they were
        if self.constant or rng.random() >= self.features.macros:
            return "", False
        return rng.choice("nm"), rng.random() < 0.5

    def used_types(self) -> list[IntType]:
        objects: list[Array | Scalar] = [*self.memory.arrays, *self.memory.scalars]
        out = [x.elem for x in objects]
        return out + [m.elem for r in self.memory.records for m in r.members]

    def _types(self) -> str:
        names = zip(self.params, "NM", strict=True)
        sizes = "".join(f"#define {p.text} {p.hi}\n" for p, _ in names) if self.constant and self.macros else ""
        return sizes + "".join(r.definition for r in self.memory.records)

    def _objects(self, kept: Sequence[Array], scalars: Sequence[Scalar]) -> str:
        out = [mem.HOMES[a.home].format(self._object(a)) for a in kept if a.home in mem.OUTSIDE]
        out += [mem.HOMES[s.home].format(f"{s.type} {s.name}") for s in scalars if s.home in mem.OUTSIDE]
        return "".join(f"{x};\n" for x in out)

    def _object(self, a: Array) -> str:
        return mem.declared(a, self.least, [p.text for p in self.params])

    def _before(self, kept: Sequence[Array], scalars: Sequence[Scalar], arrays: Sequence[Array]) -> str:
        """Everything that stands in front of the region."""
        names = [p.text for p in self.params]
        out = f"  {SIZES_USED}\n"
        out += "".join(f"  {t.text} {c} = 7;\n" for c, t in self.loops.used_counters.items())
        for a in kept:
            if a.home not in mem.OUTSIDE:
                out += f"  {mem.HOMES[a.home].format(self._object(a))};\n"
            out += f"  memcpy({a.name}, p_{a.name}, sizeof {a.name});\n"
        for s in scalars:
            made = f"{s.type} {s.name}"
            if s.home == "automatic":
                out += f"  {made} = p_{s.name}[0];\n"
                continue
            out += "" if s.home in mem.OUTSIDE else f"  {mem.HOMES[s.home].format(made)};\n"
            out += f"  {s.name} = p_{s.name}[0];\n"
        for a in arrays:
            if a.home == "pointer":
                out += mem.pointer(self.rng, a, self.least, names)
            elif a.home.startswith("&"):
                out += f"  {a.type} *{a.name} = {a.home};\n"
        return out

    def _after(self, kept: Sequence[Array], scalars: Sequence[Scalar]) -> str:
        stored = [s for s in scalars if self.rng.random() < 0.7 or s.home in mem.OUTSIDE]
        return ("".join(f"  memcpy(p_{a.name}, {a.name}, sizeof {a.name});\n" for a in kept)
                + "".join(f"  p_{s.name}[0] = {s.name};\n" for s in stored))

    def _overlaps(self, own: Sequence[Array]) -> tuple[tuple[int, int, int], ...]:
        """Pairs of parameters of one type, one laid over the other."""
        more = Random(f"types {self.seed}")
        if flags_of(self.seed) and not self.exact and not self.gathered and more.random() < self.features.untyped:
            pairs = [(k, j) for k, a in enumerate(own) for j, b in enumerate(own) if k != j and _may_share(a, b)]
            if pairs:
                k, j = more.choice(pairs)
                return ((k, j, more.choice((0, 1, 2, 5))),)
        pairs = [(k, j) for k, a in enumerate(own) for j, b in enumerate(own)
                 if k != j and a.type == b.type and not a.record]
        if not pairs or self.exact or self.gathered or self.rng.random() >= self.features.overlaps:
            return ()
        k, j = self.rng.choice(pairs)
        return ((k, j, self.rng.choice((0, 0, 1, 1, 2, 3, 7))),)

    def _kinds(self, arrays: Sequence[Array], scalars: Sequence[Scalar], overlaps: object) -> tuple[str, ...]:
        objects: list[Array | Scalar] = [*arrays, *scalars]
        homes = [x.home for x in objects]
        records = [x.record.definition for x in objects if x.record]
        found = {
            "unions": any("union" in r for r in records), "structs": any("union" not in r for r in records),
            "thread-local": any(h in mem.THREADS for h in homes), "pointers": any(a.base for a in arrays),
            "pointers to scalars": any(h.startswith("&") for h in homes), "overlaps": bool(overlaps),
            "constant sizes": self.constant, "exact sums": self.exact, "gathers": self.gathered,
            "several types": len({e.text for e in self.used_types()}) > 1,
        }
        return tuple(k for k, there in found.items() if there)

    def _sizes(self) -> tuple[tuple[int, int], ...]:
        if self.constant:
            return ((self.params[0].hi, self.params[1].hi),) * 2
        largest = self.params[0].hi
        some = [s for s in SIZES if s <= largest]
        mixed = [(self.rng.choice(some), self.rng.choice(some)) for _ in range(3)]
        negative = [(-3, 5), (2, -1)] if self.least < 0 else [(0, 3)]
        return ((largest, largest), *((s, s) for s in self.rng.sample(some, 3)), *mixed, self.rng.choice(negative))

    def _ld(self) -> int:
        return max([1, *(a.need[1] + 1 for a in self.memory.arrays if a.form in ("flat", "pairs"))])

    # -- structure ---------------------------------------------------------------------------------

    def _nodes(self, scope: Scope, depth: int) -> list[Node]:
        """One construct: a statement, a conditional, a loop, or a variable with its uses."""
        roll = self.rng.random()
        if depth < self.depth and roll < (0.85 if depth == 0 else 0.6):
            head, it, count = self.loops.header(scope, depth)
            inner = Scope((*scope.iters, it), scope.locals, scope.arrays, scope.trips * count)
            return [For(head, self._block(inner, depth + 1))]
        if roll > 0.87:
            return [self._if(scope, depth)]
        if roll > 0.78 and depth and self.fresh < 2 and not self.exact:
            return self._variable(scope, depth)
        self.left -= 1
        return [self.statement(scope)]

    def _block(self, scope: Scope, depth: int) -> tuple[Node, ...]:
        out = self._nodes(scope, depth)
        while self.left > 0 and self.rng.random() < 0.5:
            out += self._nodes(scope, depth)
        return tuple(out)

    def _if(self, scope: Scope, depth: int) -> Node:
        cond = self.condition(scope)
        then = self._block(scope, depth)
        return If(cond, then, self._block(scope, depth) if self.left > 0 and self.rng.random() < 0.5 else ())

    def _variable(self, scope: Scope, depth: int) -> list[Node]:
        """A variable declared inside the region, set before it is used."""
        self.fresh += 1
        name, elem = f"t{self.fresh}", self.rng.choice(self.arrays).elem
        if self.rng.random() < 0.2:
            size = self.rng.choice((2, 3, 4))
            it = Value(f"w{self.fresh}", 0, size - 1)
            fill = self.assign(scope, mem.Place(f"{name}[{it.text}]", elem), plain=True)
            head = Line(f"{elem.text} {name}[{size}];")
            loop = For(f"int {it.text} = 0; {it.text} < {size}; {it.text}++", (fill,))
            scope = Scope(scope.iters, scope.locals, (*scope.arrays, (name, elem, size)), scope.trips)
            made: list[Node] = [head, loop]
        else:
            first = self.assign(scope, mem.Place(name, elem), plain=True)
            split = self.rng.random() < 0.3
            made = [Line(f"{elem.text} {name};"), first] if split else [Line(f"{elem.text} {first.text}")]
            scope = Scope(scope.iters, (*scope.locals, (name, elem)), scope.arrays, scope.trips)
        return [*made, *self._block(scope, depth)]


def _may_share(a: Array, b: Array) -> bool:
    """May an array of integers be laid over another of wider ones? Any bits are values of them."""
    plain = not any(x.record or dt.is_float(x.elem) or x.elem == dt.BOOL for x in (a, b))
    return plain and a.type != b.type and a.elem.bits <= b.elem.bits
