"""Proof of a contraction kernel's text by symbolic execution: each loop once, for any of its iterations. `wrong_nest`
returns why the function is not the kernel that callers take it for, or the empty string; `cover.py` shows that every
point is run once.

Sums are taken into registers, get products added and are stored again; nobody else writes them meanwhile. What is read
of an operand belongs to a point of the contraction, directly or by way of a buffer that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Union

from codegen.isa.model import Isa
from codegen.lower.nest.kernel import NestKernel
from codegen.verify.text.lanes import show, silent, vector_types
from codegen.verify.text.nest.cover import Cover, Step, Turns, Update
from codegen.verify.text.nest.packs import OperandElement, Pack
from codegen.verify.text.nest.values import IDLE, LaneOf, NestReader, Next, PartialSum, Vector
from codegen.verify.text.poly import Poly, poly, var
from codegen.verify.text.read import Node, Unread, nodes, read_function

_ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)+")
_SHARED = re.compile(r"#pragma omp parallel for(?: private\(([\w, ]*)\))?")


def wrong_nest(isa: Isa, kernel: NestKernel, text: str) -> str:
    """Why a function is not the kernel that callers take it for; empty when it is."""
    problem = kernel.nest.problem
    try:
        name, parameters, body, _ = read_function(_ATTRIBUTE.sub("", text), vector_types(isa))
        if name != kernel.name or parameters != ("a", "b", "c"):
            raise Unread(f"it is {name}({', '.join(parameters)})")
        run = _Run(isa, problem.elem)
        run.block(body)
        if run.open:
            raise Unread("sums are left in registers")
        if run.loaded:
            raise Unread(f"elements are read that no point needs: {min(map(str, run.loaded))}")
        Cover(problem).check(run.steps)
    except Unread as error:
        return str(error)
    return ""


class _Pointer(NamedTuple):
    of: str
    at: Poly


class _Local(NamedTuple):
    """A small array of the lanes of a vector."""

    lanes: list[LaneOf]


class _Opened(NamedTuple):
    """An element of C in a register: the newest of its sums, and the loops around."""

    version: int
    around: tuple[str, ...]


_Value = Union[Poly, _Pointer, _Local, Pack, Vector]


class _Run:
    def __init__(self, isa: Isa, elem: str) -> None:
        self.scalar_type, self.types = isa.vec(elem).scalar, vector_types(isa)
        self.reader = NestReader(isa, elem, self._vector, self._load, self._scalar)
        self.names: dict[str, _Value] = {x: _Pointer(x, poly(0)) for x in "abc"}
        self.counts: dict[str, int] = {}  # turns of the loops around, outermost first
        self.copying: list[str] = []  # those among them that fill buffers and do nothing else
        self.steps: list[Step] = []
        self.open: dict[Poly, _Opened] = {}
        self.loaded: set[OperandElement] = set()  # and not used so far
        self._version = self._loops = 0
        self._team: re.Match[str] | None = None

    # -- statements ----------------------------------------------------------------------------------

    def block(self, body: Sequence[Node]) -> None:
        outer, inside = dict(self.names), set[str]()
        for s in body:
            if s.kind == "declare":
                inside.add(s.text)
            self._statement(s)
        for name in inside:
            gone = self.names.pop(name)
            if isinstance(gone, Pack):
                gone.forget()
            if name in outer:
                self.names[name] = outer[name]

    def _statement(self, s: Node) -> None:
        if self._team is not None and s.kind != "for":
            raise Unread("threads share something that is no loop")
        if s.kind == "block":
            self.block(s.kids)
        elif s.kind == "declare":
            self._declare(s)
        elif s.kind == "for":
            self._loop(s)
        elif s.kind == "line":
            self._team = _SHARED.fullmatch(s.text)
            if self._team is None or self.counts:
                raise Unread(f"`{s.text}`")
        elif s.kind == "do":
            self._do(s.kids[0])
        else:
            raise Unread(f"a statement of kind {s.kind}")

    def _declare(self, s: Node) -> None:
        kind, sizes, value = s.kids
        words = [w for w in kind.text.replace("*", " ").split() if w != "const"]
        if sizes.kids:
            size = self._number(sizes.kids[0]).number
            if size is None or len(sizes.kids) > 1 or words != [self.scalar_type] or value.kind != "nothing":
                raise Unread(f"an array {s.text}")
            pack = s.text.startswith("pack_")
            self.names[s.text] = Pack(s.text, size) if pack else _Local([IDLE] * size)
        elif "*" in kind.text:
            if words != [self.scalar_type]:
                raise Unread(f"a pointer to {words}")
            self.names[s.text] = self._pointer(value)
        elif words == [self.scalar_type]:
            one = self._scalar(value)
            if one is None:
                raise Unread(f"a value {show(value)}")
            self.names[s.text] = (one,)
        else:
            found = self.reader.value(value)
            self.names[s.text] = self._opened(found)

    def _do(self, e: Node) -> None:
        if silent(e, self._pointer, self._number):
            return
        if e.kind == "call" and e.text == "memcpy":
            return self._copy(e)
        store = self.reader.stored(e)
        if store is not None:
            lanes = self.reader.value(store[1])
            target = self.names.get(store[0].text) if store[0].kind == "name" else None
            if isinstance(target, _Local):
                if len(target.lanes) != len(lanes):
                    raise Unread("a vector is stored in a shorter array")
                target.lanes[:] = lanes
                return
            where = self._pointer(store[0])
            for k, value in enumerate(lanes):
                self._put(_Pointer(where.of, where.at + k), value)
            return
        if e.kind != "assign":
            raise Unread(f"a statement {show(e)}")
        self._assign(e)

    def _assign(self, e: Node) -> None:
        target, value = e.kids
        if target.kind == "name":
            old = self.names.get(target.text)
            if e.text == "+=" and isinstance(old, _Pointer):
                self.names[target.text] = _Pointer(old.of, old.at + self._number(value))
                return
            if e.text == "=" and isinstance(old, tuple) and not isinstance(old, (_Pointer, _Local)):
                self.names[target.text] = self._stepped(old, self.reader.value(value))
                return
        where = self._place(target)
        if e.text != "=" or where is None:
            raise Unread(f"a statement {show(e)}")
        zero = value == Node("number", "0")
        found = IDLE if zero else self._scalar(value)
        if found is None:
            raise Unread(f"a value {show(value)}")
        self._put(where, found)

    def _put(self, where: _Pointer, value: LaneOf) -> None:
        """Store one element."""
        if where.of == "c":
            known = self.open.pop(where.at, None)
            if known is None or value != PartialSum(where.at, known.version):
                raise Unread(f"C gets something else at {where.at}")
            self._check_around([known])
            return
        pack = self.names.get(where.of)
        if not isinstance(pack, Pack) or not (value == IDLE or isinstance(value, OperandElement)):
            raise Unread(f"a store to {where.of}")
        if isinstance(value, OperandElement):
            if value.of not in ("a", "b"):
                raise Unread("a buffer is filled from another one")
            self.loaded.discard(value)
        counters = [(c, self.counts[c]) for c in self.copying]
        pack.put(where.at, value if isinstance(value, OperandElement) else None, counters)

    def _copy(self, e: Node) -> None:
        """memcpy: an element after the other."""
        target, source = self._pointer(e.kids[0]), self._pointer(e.kids[1])
        size = e.kids[2]
        each = Node("sizeof", "", (Node("unary", "*", (e.kids[1],)),))
        count = self._number(size.kids[1]).number if size.kind == "binary" and size.text == "*" else None
        if count is None or size.kids[0] != each or source.of not in ("a", "b"):
            raise Unread("a copy of another size")
        counter = self._counter("copy", count)
        self.copying.append(counter)
        self._put(_Pointer(target.of, target.at + var(counter)), OperandElement(source.of, source.at + var(counter)))
        self.copying.pop()
        self.counts.pop(counter)

    # -- loops -----------------------------------------------------------------------------------------

    def _counter(self, name: str, count: int) -> str:
        self._loops += 1
        counter = f"{name}#{self._loops}"
        self.counts[counter] = count
        return counter

    def _loop(self, s: Node) -> None:
        team, self._team = self._team, None
        name, count = self._head(s)
        body = s.kids[3].kids if s.kids[3].kind == "block" else (s.kids[3],)
        counter = self._counter(name, count)
        shadowed = self.names.get(name)
        self.names[name] = var(counter)
        packs = {n: v for n, v in self.names.items() if isinstance(v, Pack)}
        private = set(team[1].split(", ")) if team is not None and team[1] else set()
        if not private <= set(packs):
            raise Unread("threads have something else for themselves")
        for n in private:
            packs[n].forget()
        copies = not any(n.kind == "declare" and n.kids[0].text.split()[-1] in self.types for n in nodes(s.kids[3]))
        before = {n: p.number for n, p in packs.items()}
        bumped = self._bumped(body, counter)
        opened, steps = dict(self.open), self.steps
        self.steps = []
        if copies:
            self.copying.append(counter)
        self.block(body)
        if copies:
            self.copying.pop()
        self._turned(bumped, counter)
        if set(self.open) != set(opened):
            raise Unread(f"sums come and go in the loop over {name}")
        for n, p in packs.items():
            if p.number != before[n] and not copies:
                if before[n] in p.used or (team is not None and n not in private):
                    raise Unread(f"{n} is filled while others read it")
                p.forget()
            if n in private:
                p.forget()
        if copies and self.steps:
            raise Unread("a loop that copies computes something")
        self.steps = steps if copies else [*steps, Turns(counter, count, tuple(self.steps), team is not None)]
        self.counts.pop(counter)
        self.names.pop(name)
        if shadowed is not None:
            self.names[name] = shadowed

    def _head(self, s: Node) -> tuple[str, int]:
        first, cond, step, _ = s.kids
        name = first.text
        i = Node("name", name)
        zero = first.kind == "declare" and first.kids == (Node("type", "long"), Node("sizes"), Node("number", "0"))
        end = cond.kids[1] if cond.kind == "binary" and cond.text == "<" and cond.kids[0] == i else None
        if not zero or end is None or end.kind != "number" or step != Node("after", "++", (i,)) or int(end.text) < 1:
            raise Unread("a loop of another form")
        return name, int(end.text)

    def _bumped(self, body: Sequence[Node], counter: str) -> dict[str, tuple[_Pointer, Poly]]:
        """Pointers that go on at the end of each turn: where each begins, and by how much it goes on."""
        found: dict[str, tuple[_Pointer, Poly]] = {}
        for s in body:
            e = s.kids[0] if s.kind == "do" else s
            if e.kind == "assign" and e.text == "+=" and e.kids[0].kind == "name":
                old = self.names.get(e.kids[0].text)
                if isinstance(old, _Pointer):
                    by = found[e.kids[0].text][1] if e.kids[0].text in found else poly(0)
                    found[e.kids[0].text] = old, by + self._number(e.kids[1])
        for name, (start, by) in found.items():
            self.names[name] = _Pointer(start.of, start.at + by * var(counter))
        return found

    def _turned(self, bumped: dict[str, tuple[_Pointer, Poly]], counter: str) -> None:
        """After all turns."""
        count = self.counts[counter]
        for name, value in self.names.items():
            if not isinstance(value, _Pointer):
                continue
            start, by = bumped.get(name, (None, poly(0)))
            if start is not None:
                if value != _Pointer(start.of, start.at + by * var(counter) + by):
                    raise Unread(f"{name} goes on differently")
                self.names[name] = _Pointer(start.of, start.at + by * count)
            elif counter in value.at.names:
                raise Unread(f"{name} goes on differently")

    # -- values ----------------------------------------------------------------------------------------

    def _opened(self, value: Vector) -> Vector:
        """A new register: sums begin with elements of C as they are."""
        found: list[LaneOf] = []
        for lane in value:
            if isinstance(lane, OperandElement) and lane.of == "c":
                self._check_around(list(self.open.values()))
                if any((lane.at - other).number in (None, 0) for other in self.open):
                    raise Unread(f"C at {lane.at} may be in two registers")
                self._version += 1
                self.open[lane.at] = _Opened(self._version, tuple(self.counts))
                lane = PartialSum(lane.at, self._version)
            elif isinstance(lane, (PartialSum, Next)):
                raise Unread("a sum is in two registers")
            found.append(lane)
        return tuple(found)

    def _check_around(self, known: Sequence[_Opened]) -> None:
        if any(x.around != tuple(self.counts) for x in known):
            raise Unread("C is written in a loop while some of it is in registers")

    def _stepped(self, old: Vector, value: Vector) -> Vector:
        """A register after a step of its sums."""
        found: list[LaneOf] = []
        for was, lane in zip(old, value, strict=True):
            if not isinstance(lane, Next):
                if was != IDLE or lane != IDLE:
                    raise Unread("a register gets something else")
                found.append(IDLE)
                continue
            known = self.open.get(lane.sum.at)
            if was != lane.sum or known is None or known.version != lane.sum.version:
                raise Unread("a sum goes on in another register")
            a, b = sorted((self._operand(x) for x in lane.factors), key=lambda x: x.of)
            if (a.of, b.of) != ("a", "b"):
                raise Unread(f"a product of {a.of} and {b.of}")
            self.steps.append(Update(a.at, b.at, lane.sum.at))
            self._version += 1
            self.open[lane.sum.at] = known._replace(version=self._version)
            found.append(PartialSum(lane.sum.at, self._version))
        return tuple(found)

    def _operand(self, x: OperandElement) -> OperandElement:
        self.loaded.discard(x)
        pack = self.names.get(x.of)
        return pack.element(x.at, self.counts) if isinstance(pack, Pack) else x

    def _vector(self, name: str) -> Vector | None:
        found = self.names.get(name)
        plain = isinstance(found, tuple) and not isinstance(found, (_Pointer, _Local)) and len(found) > 1
        return found if plain else None  # type: ignore[return-value]

    def _load(self, address: Node) -> Vector | None:
        if address.kind == "cast" and address.text == f"const {self.scalar_type} *":
            inner = address.kids[0]
            if inner.kind != "cast" or inner.text != f"const {self.scalar_type} [{self.reader.lanes}]":
                return None
            values = [self._scalar(x) for x in inner.kids[0].kids]
            known = [x for x in values if x is not None]
            if len(known) < len(values) or len(known) > self.reader.lanes:
                raise Unread(f"a vector of {show(inner)}")
            return (*known, *(IDLE,) * (self.reader.lanes - len(known)))
        where = self._address(address)
        return None if where is None else tuple(self._element(where, k) for k in range(self.reader.lanes))

    def _element(self, where: _Pointer, k: int = 0) -> LaneOf:
        """What is read from memory."""
        found = OperandElement(where.of, where.at + k)
        pack = self.names.get(where.of)
        if isinstance(pack, Pack):
            pack.check_inside(found.at, self.counts)
        elif where.of in ("a", "b"):
            self.loaded.add(found)
        elif where.of != "c":
            raise Unread(f"something is read from {where.of}")
        return found

    def _scalar(self, e: Node) -> LaneOf | None:
        if e.kind == "name":
            found = self.names.get(e.text)
            single = isinstance(found, tuple) and not isinstance(found, (_Pointer, _Local)) and len(found) == 1
            return found[0] if single else None  # type: ignore[index,return-value]
        if e.kind == "index" and e.kids[0].kind == "name":
            local = self.names.get(e.kids[0].text)
            if isinstance(local, _Local):
                at = self._number(e.kids[1]).number
                if at is None or not 0 <= at < len(local.lanes):
                    raise Unread("a lane that is not there")
                return local.lanes[at]
        where = self._place(e)
        return None if where is None else self._element(where)

    def _place(self, e: Node) -> _Pointer | None:
        """The element that `*p` or `p[x]` is."""
        if e.kind == "unary" and e.text == "*":
            return self._address(e.kids[0])
        return self._address(Node("binary", "+", e.kids)) if e.kind == "index" else None

    def _address(self, e: Node) -> _Pointer | None:
        if e.kind == "name":
            found = self.names.get(e.text)
            if isinstance(found, Pack):
                return _Pointer(e.text, poly(0))
            return found if isinstance(found, _Pointer) else None
        if e.kind == "binary" and e.text == "+":
            base = self._address(e.kids[0])
            return None if base is None else _Pointer(base.of, base.at + self._number(e.kids[1]))
        return None

    def _pointer(self, e: Node) -> _Pointer:
        found = self._address(e)
        if found is None:
            raise Unread(f"an address {show(e)}")
        return found

    def _number(self, e: Node) -> Poly:
        if e.kind == "number" and e.text.isdigit():
            return poly(int(e.text))
        found = self.names.get(e.text) if e.kind == "name" else None
        if isinstance(found, Poly):
            return found
        if e.kind == "binary" and e.text in ("+", "*"):
            x, y = (self._number(k) for k in e.kids)
            return x + y if e.text == "+" else x * y
        raise Unread(f"a number {show(e)}")
