"""Proof of calls of kernels for certain sizes: they are made where sizes and strides are those of the kernel, with
the right addresses, in place of everything else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from codegen.lower.nest.contraction import TENSORS, strides
from codegen.target.product.view import ExactCall, WantedCall
from codegen.verify.poly import Poly, poly, total, var
from codegen.verify.text.compare import distances, same
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import Integers
from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread, read_expression, read_statements

_BUFFERS = ("tw_left", "tw_right")
_ELSE = re.compile(r"(?:\s|/\*.*?\*/)*else\b", re.S)


def wrong_calls(text: str, calls: Sequence[ExactCall]) -> str:
    """Why calls in a region's text are not what they should be; empty when they are. They are in the text's order."""
    at = 0
    for call in calls:
        name = call.kernel.name
        found = re.compile(rf"\b{name}\(").search(text, at)
        if found is None:
            return f"{name} is not called"
        at = found.end()
        try:
            _Call(call).check(*_statement(text, found.start()))
        except Unread as error:
            return f"the call of {name}: {error}"
    names = {c.kernel.name for c in calls}
    more = sum(len(re.findall(rf"\b{name}\(", text)) for name in names)
    return "" if more == len(calls) else "a kernel is called once more"


def _statement(text: str, call: int) -> tuple[Node, bool]:
    """The statement that a call stands in, with its test if it has one, and whether an `else` follows."""
    end = text.index(";", call) + 1
    for start in reversed([m.start() for m in re.finditer(r"\bif \(", text[:call])]):
        part = text[start:end]
        missing = part.count("{") - part.count("}")
        after = re.compile(r"\s*\}" * missing).match(text, end) if missing >= 0 else None
        if after is None:
            break
        try:
            found = read_statements(part + "}" * missing)
        except Unread:
            continue
        if len(found) == 1 and found[0].kind == "if":
            return found[0], _ELSE.match(text, after.end()) is not None
        break
    (alone,) = read_statements(text[call:end])
    return alone, False


class _Call:
    def __init__(self, call: ExactCall) -> None:
        self.call, self.wanted = call, call.wanted
        self.problem = call.kernel.nest.problem
        self.facts = Facts()
        self.first = {f"tw_V{k}": self._value(lo) for k, (_, lo, _) in enumerate(self.wanted.loops)}

    def check(self, s: Node, otherwise: bool) -> None:
        """Raises Unread unless the statement is right."""
        w: WantedCall = self.wanted
        known: list[Node] = []
        body = s
        if s.kind == "if":
            known, body = _conjuncts(s.kids[0]), s.kids[1]
            if not otherwise or s.kids[2] != NOTHING:
                raise Unread("what is for other sizes runs, too")
        names = [n for n, _, _ in w.loops]
        if sorted(self.problem.names) != sorted(names):
            raise Unread("it has other loops")
        if [n for n in self.problem.names if n in w.depth] != list(w.depth) or set(self.problem.c) & set(w.depth):
            raise Unread("sums have their steps in another order")
        for name, lo, hi in w.loops:
            self._check_size(dict(self.problem.sizes)[name], lo, hi, known)
        steps = list(body.kids) if body.kind == "block" else [body]
        made = self._made(steps[:-1])
        last = steps[-1].kids[0] if steps[-1].kind == "do" else steps[-1]
        if last.kind != "call" or last.text != self.call.kernel.name or len(last.kids) != len(TENSORS):
            raise Unread("something else stands there")
        for k, given in enumerate(last.kids):
            if given == Node("name", (*_BUFFERS, "")[k]):
                if given.text not in made:
                    raise Unread(f"{given.text} is not there")
                continue
            element = read_expression(w.elements[k])
            if given.kind != "unary" or given.text != "&" or not self._is(given.kids[0], element, self.first):
                raise Unread(f"{show(given)} is not the first element of {TENSORS[k]}")
            self._check_places(k, element, known)

    def _value(self, text: str) -> Poly:
        return Integers(self.facts, {}).value(read_expression(text))

    def _is(self, printed: Node, wanted: Node, at: Mapping[str, Poly], names: Mapping[str, Poly] | None = None) -> bool:
        return same(printed, wanted, at, names or {}, self.facts)

    def _check_size(self, count: int, lo: str, hi: str, known: Sequence[Node]) -> None:
        size = self._value(hi) - self._value(lo)
        if size.number is not None:
            if size.number != count:
                raise Unread(f"a loop has {size.number} turns in place of {count}")
            return
        for e in known:
            try:
                if self._number(e.kids[1]) == count and Integers(self.facts, {}).value(e.kids[0]) == size:
                    return
            except Unread:
                continue
        raise Unread(f"nothing says that {hi} is {count} beyond {lo}")

    def _number(self, e: Node) -> int | None:
        return int(e.text) if e.kind == "number" and e.text.isdigit() else None

    def _check_places(self, k: int, element: Node, known: Sequence[Node]) -> None:
        """Elements of an array lie as far apart as the kernel takes them to."""
        apart = strides(self.problem, TENSORS[k])
        for n, (name, _, _) in enumerate(self.wanted.loops):
            coordinate = f"tw_V{n}"
            moves = distances(element, coordinate, self.facts)
            others = {f"tw_V{m}" for m in range(len(self.wanted.loops))} - {coordinate}
            if any(self.facts.mentions(p, tuple(others)) for p in moves):
                raise Unread("elements lie at no fixed distance")
            if dict(self.problem.sizes)[name] == 1 or self._apart(k, moves) == apart[name]:
                continue
            there = {**self.first, coordinate: self.first[coordinate] + 1}
            if not any(self._says(e, element, there, apart[name]) for e in known):
                raise Unread(f"nothing says how far apart {TENSORS[k]} lies along {name}")

    def _apart(self, k: int, moves: Sequence[Poly]) -> int | None:
        """The distance of elements by declarations; moves of subscripts are the last one's first."""
        sizes = [poly(int(x)) if x.isdigit() else var(f"size {n}") for n, x in enumerate(self.wanted.extents[k])]
        if len(sizes) != len(moves):
            return None
        width, found = poly(1), list[Poly]()
        for move, size in zip(moves, reversed(sizes), strict=True):
            found.append(move * width)
            width = width * size
        return total(found).number

    def _says(self, e: Node, element: Node, there: Mapping[str, Poly], by: int) -> bool:
        """`&there - &here == by`"""
        left, right = e.kids
        if self._number(right) != by or left.kind != "binary" or left.text != "-":
            return False
        ends = [x.kids[0] for x in left.kids if x.kind == "unary" and x.text == "&"]
        return len(ends) == 2 and self._is(ends[0], element, there) and self._is(ends[1], element, self.first)

    def _made(self, steps: Sequence[Node]) -> set[str]:
        """Operands that are computed into buffers, row by row."""
        found: set[str] = set()
        while steps:
            buffer, fill, *steps = steps if len(steps) > 1 else (*steps, NOTHING)
            if buffer.kind != "declare" or buffer.text not in _BUFFERS or buffer.text in found:
                raise Unread("something else is done before it")
            self._check_made(buffer, fill, _BUFFERS.index(buffer.text))
            found.add(buffer.text)
        return found

    def _check_made(self, buffer: Node, fill: Node, k: int) -> None:
        (rows, name_y, inner), sizes = _plain_loop(fill), dict(self.problem.sizes)
        columns, name_x, store = _plain_loop(inner)
        size = self._number(buffer.kids[1].kids[0])
        y, x = self.problem.subscripts(TENSORS[k])
        numbers = {n: f"tw_V{m}" for m, (n, _, _) in enumerate(self.wanted.loops)}
        if (rows, columns) != (sizes.get(y), sizes.get(x)) or size is None or size < rows * columns:
            raise Unread(f"{buffer.text} has another size")
        apart = strides(self.problem, TENSORS[k])
        if buffer.kids[0].text != self.wanted.elem or {n: s for n, s in apart.items() if s} != {y: columns, x: 1}:
            raise Unread(f"{buffer.text} has another type or order")
        names = {name_y: var(name_y), name_x: var(name_x)}
        at = dict(self.first)
        for n, local in ((y, name_y), (x, name_x)):
            at[numbers[n]] = at[numbers[n]] + var(local)
        e = store.kids[0] if store.kind == "do" else store
        place = e.kids[0] if e.kind == "assign" and e.text == "=" else NOTHING
        want = Node("index", "", (Node("name", buffer.text), read_expression(f"{name_y} * {columns} + {name_x}")))
        if place != want or not self._is(e.kids[1], read_expression(self.wanted.elements[k]), at, names):
            raise Unread(f"{buffer.text} gets another value")


def _conjuncts(e: Node) -> list[Node]:
    """Equalities that hold together."""
    if e.kind == "binary" and e.text == "&&":
        return [x for k in e.kids for x in _conjuncts(k)]
    return [e] if e.kind == "binary" and e.text == "==" else []


def _plain_loop(s: Node) -> tuple[int, str, Node]:
    """A loop from 0 up to before a number: the number, its variable and its body."""
    if s.kind != "for":
        raise Unread("no loop where one should be")
    first, cond, step, body = s.kids
    i = Node("name", first.text)
    end = cond.kids[1] if cond.kind == "binary" and cond.text == "<" and cond.kids[0] == i else NOTHING
    zero = first.kind == "declare" and first.kids[2] == Node("number", "0")
    if not zero or end.kind != "number" or step != Node("after", "++", (i,)):
        raise Unread("a loop of another form")
    return int(end.text), first.text, body
