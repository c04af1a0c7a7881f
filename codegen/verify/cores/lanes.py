"""Proof of the vectorized innermost part of a core's kernel: what each lane computes, and where it is stored."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from codegen.ast.ctree import Bin, CExpr, For, Instance, Int, Name, expr_names
from codegen.verify.cores.expr import same
from codegen.verify.cores.loop_heads import check_end, number, step_of, upper, with_integer
from codegen.verify.cores.statements import Places, alike_lanes, elements, note_places, values_of
from codegen.verify.cores.values import LocalElement, NameScope, Value, ValueTerm, printed, resolve, wanted
from codegen.verify.text.read import Node, Unread

VECTOR = re.compile(r"(double|float)v(\d+)")
_OPERATIONS = {"vadd": "+", "vsub": "-", "vmul": "*", "vdiv": "/"}
_NEGATIVE = ValueTerm("unary", "-", (ValueTerm("number", "0.0", ()),))
Shift = tuple[int, ...]


class LaneStrip(NamedTuple):
    """So many iterations of a loop from where it stands."""

    size: int


def loop_of(loops: Sequence[For], name: str, state: Mapping[str, object]) -> For:
    """The loop that a variable counts; a wrong guess is found out when statements are compared."""
    todo = [lp for lp in loops if state[lp.var] == "all"]
    found = [lp for lp in todo if lp.loop.name == name] or [lp for lp in todo if name.startswith(lp.loop.name)]
    if not found:
        raise Unread(f"a loop over `{name}` that is none of the nest")
    other = {v for v, x in state.items() if x != "one"}
    if other & (expr_names(found[0].lower) | expr_names(found[0].upper)):
        raise Unread(f"bounds of `{name}` that are not the same for all iterations that are run together")
    return found[0]


@dataclass
class VectorBlock:
    """The innermost part of a nest, in vectors, for all iterations of some strips."""

    loops: Sequence[For]
    at: Instance
    statement: Node  # with marks
    state: Mapping[str, object]
    path: tuple[str, ...]
    vectors: dict[tuple[str, ...], tuple[Value, ...]] = field(default_factory=dict)
    types: dict[str, tuple[str, int]] = field(default_factory=dict)
    done: dict[Shift, LocalElement] = field(default_factory=dict)
    loaded: set[LocalElement] = field(default_factory=set)  # targets that vectors stand for
    stored: set[LocalElement] = field(default_factory=set)
    orders: list[tuple[str, ...]] = field(default_factory=list)
    places: Places = field(default_factory=dict)

    def run(self, sc: NameScope, body: Sequence[Node]) -> NameScope:
        for node in body:
            sc = self._statement(sc, node)
        return sc

    def finish(self) -> None:
        wants = set(product(*(range(x.size) for x in self._strips.values())))
        if set(self.done) != wants:
            raise Unread("lanes that do not run every iteration of a strip")
        if self.loaded - self.stored:
            raise Unread("a vector that is not stored in the end")

    @property
    def _strips(self) -> dict[str, LaneStrip]:
        return {v: x for v, x in self.state.items() if isinstance(x, LaneStrip)}

    def _statement(self, sc: NameScope, node: Node) -> NameScope:
        if node.kind == "several":
            return self.run(sc, node.kids)
        if node.kind == "declare":
            return self._declare(sc, node)
        if node.kind == "block":
            self.run(sc, node.kids)
        elif node.kind == "for":
            self._loop(sc, node)
        elif node.kind == "do" and node.kids[0].kind == "call":
            self._memory(sc, node.kids[0])
        elif node.kind == "do" and node.kids[0].kind == "assign" and node.kids[0].text == "=":
            left, right = node.kids[0].kids
            key = self._register(sc, left)
            self.vectors[key] = self._lanes(sc, right, self.types[key[0]])
        else:
            raise Unread(f"`{node.kind}` among vectors")
        return sc

    def _declare(self, sc: NameScope, node: Node) -> NameScope:
        kind = VECTOR.fullmatch(node.kids[0].text)
        if kind is not None:
            self.types[node.text] = kind[1], int(kind[2])
            return sc
        if node.kids[0].text not in ("const double", "const float"):
            raise Unread(f"`{node.text}` among vectors")
        return sc._replace(values={**sc.values, node.text: printed(sc, node.kids[2])})

    def _loop(self, sc: NameScope, node: Node) -> None:
        first, cond, step, inside = node.kids
        body = inside.kids if inside.kind == "block" else (inside,)
        if first.kind != "declare":
            raise Unread("a loop among vectors that goes on where none has stopped")
        start, end, by = number(sc, first.kids[2]), upper(sc, cond, first.text), step_of(step, first.text)
        mine = first.kids[0].text == "long" and by == 1  # loops over vectors and rows have other heads
        if start is not None and end is not None and by and not mine:
            for k in range(start, end, by):
                self.run(with_integer(sc, first.text, Int(k)), body)
            return
        self._depth(sc, node, body)

    def _depth(self, sc: NameScope, node: Node, body: Sequence[Node]) -> None:
        """A loop inside: vectors that it changes stand for elements, to which each iteration does the same."""
        first, cond, step, _ = node.kids
        lp = loop_of(self.loops, first.text, self.state)
        if not same(sc.integer(first.kids[2]), lp.lower) or step_of(step, first.text) != 1:
            raise Unread(f"the loop over `{first.text}` begins or goes on elsewhere")
        before = dict(self.vectors)
        inner = with_integer(sc, first.text, Name(lp.var))
        check_end(inner, cond, first.text, lp)
        state, path = self.state, self.path
        self.state, self.path = {**state, lp.var: "one"}, (*path, lp.var)
        self.run(inner, body)
        for key, lanes in before.items():
            for old, new in zip(lanes, self.vectors[key], strict=True):
                if new != old:
                    if not isinstance(old, LocalElement) or not _folds(new, old):
                        raise Unread("a vector that a loop changes and that stands for no elements")
                    self.loaded.add(old)
                    self._event(inner, old, new)
        self.vectors, self.state, self.path = before, state, path

    def _memory(self, sc: NameScope, call: Node) -> None:
        if call.text not in ("simd_loadu", "simd_storeu", "simd_loade") or len(call.kids) != 2:
            raise Unread(f"`{call.text}` among vectors")
        key, address = self._register(sc, call.kids[0]), call.kids[1]
        if address.kind != "unary" or address.text != "&" or address.kids[0].kind != "index":
            raise Unread("a vector that lies nowhere")
        if call.text == "simd_loade":
            self.vectors[key] = self._in_all(sc, address.kids[0], self.types[key[0]])
            return
        elements = self._neighbours(sc, address.kids[0], self.types[key[0]])
        if call.text == "simd_loadu":
            self.vectors[key] = elements
            return
        if key not in self.vectors:
            raise Unread(f"a vector `{key[0]}` that has no value")
        for e, new in zip(elements, self.vectors[key], strict=True):
            if e in self.loaded:
                if new != e:
                    raise Unread("a vector that is stored to other elements than it stands for")
            else:
                self._event(sc, e, new)
            if e in self.stored:
                raise Unread("an element that is stored twice")
            self.stored.add(e)

    def _in_all(self, sc: NameScope, e: Node, kind: tuple[str, int]) -> tuple[LocalElement, ...]:
        """One element of memory in all lanes."""
        one = resolve(sc, e)
        if one is None:
            raise Unread("a vector of no elements")
        elem = sc.scop.arrays[one.array].elem
        if elem.kind != "float" or elem.bits != (64 if kind[0] == "double" else 32):
            raise Unread(f"vectors of another type than `{one.array}` has")
        return (one,) * kind[1]

    def _neighbours(self, sc: NameScope, e: Node, kind: tuple[str, int]) -> tuple[LocalElement, ...]:
        base, last = e.kids
        found = []
        for k in range(kind[1]):
            one = resolve(sc, Node("index", "", (base, Node("binary", "+", (last, Node("number", str(k)))))))
            if one is None:
                raise Unread("a vector of no elements")
            found.append(one)
        elem = sc.scop.arrays[found[0].array].elem
        if elem.kind != "float" or elem.bits != (64 if kind[0] == "double" else 32):
            raise Unread(f"vectors of another type than `{found[0].array}` has")
        return tuple(found)

    def _event(self, sc: NameScope, e: LocalElement, new: Value) -> None:
        """An element gets a value: that of the statement in the one iteration whose target it is."""
        if "all" in self.state.values():
            raise Unread("a value that is stored before all loops run")
        strips, s = self._strips, sc.scop.statement(self.at.stmt)
        for shift in product(*(range(x.size) for x in strips.values())):
            env: dict[str, CExpr] = {v: Bin("+", Name(v), Int(k)) for v, k in zip(strips, shift, strict=True) if k}
            if wanted(sc, self.at, s.target, env)[:2] == e[:2]:
                break
        else:
            raise Unread("a vector that is stored to elements of no iteration")
        if shift in self.done:
            raise Unread("an iteration that runs twice")
        self.done[shift] = e
        self.orders.append(self.path)
        found: dict[LocalElement, set[str]] = {}
        want = values_of(sc, self.at, self.statement, env)
        if not any(alike_lanes(new, w, found) for w in want):
            raise Unread(f"lanes that compute something else than {self.at.stmt}")
        if any(x.array == e.array and x.copy == e.copy and x[:2] != e[:2] for x in elements(new)):
            raise Unread(f"lanes that read `{e.array}` while it is written")
        found.setdefault(wanted(sc, self.at, s.target, env), set()).add(e.copy)
        note_places(sc, self.at, found, env, self.places)

    # -- lanes -------------------------------------------------------------------------------------

    def _register(self, sc: NameScope, e: Node) -> tuple[str, ...]:
        subscripts: list[str] = []
        while e.kind == "index":
            at = number(sc, e.kids[1])
            if at is None:
                raise Unread("a vector of an unknown number")
            subscripts.insert(0, str(at))
            e = e.kids[0]
        if e.kind != "name" or e.text not in self.types:
            raise Unread("no vector")
        return (e.text, *subscripts)

    def _lanes(self, sc: NameScope, e: Node, kind: tuple[str, int]) -> tuple[Value, ...]:
        """The value of each lane."""
        if e.kind in ("name", "index"):
            key = self._register(sc, e)
            if self.types[key[0]] != kind or key not in self.vectors:
                raise Unread(f"a vector `{key[0]}` that has no value")
            return self.vectors[key]
        if e.kind != "call":
            raise Unread("no vector")
        if e.text == f"simd_set_{kind[0]}v{kind[1]}" and len(e.kids) == kind[1]:
            return tuple(printed(sc, k) for k in e.kids)
        if e.text == ("simd_vcpyfd" if kind[0] == "double" else "simd_vcpyfs") and len(e.kids) == 1:
            return (printed(sc, e.kids[0]),) * kind[1]
        kids = [self._lanes(sc, k, kind) for k in e.kids]
        suffix = "d" if kind[0] == "double" else "s"
        if e.text == ("simd_vmad" if suffix == "d" else "simd_vmas") and len(kids) == 3:
            return tuple(_binary("+", c, _binary("*", a, b)) for a, b, c in zip(*kids, strict=True))
        op = _OPERATIONS.get(e.text.removeprefix("simd_").removesuffix(suffix))
        if op is None or len(kids) != 2 or not e.text.endswith(suffix):
            raise Unread(f"`{e.text}` on vectors")
        return tuple(_binary(op, a, b) for a, b in zip(*kids, strict=True))


def _binary(op: str, a: Value, b: Value) -> Value:
    return ValueTerm("unary", "-", (b,)) if op == "-" and a == _NEGATIVE else ValueTerm("binary", op, (a, b))


def _folds(new: Value, old: LocalElement) -> bool:
    """Is it the old value with something done to it that does not read the array?"""
    if not isinstance(new, ValueTerm) or new.kind != "binary" or new.kids[0] != old:
        return False
    return not any(x.array == old.array and x.copy == old.copy for x in elements(new.kids[1]))
