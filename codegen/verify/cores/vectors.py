"""Proof of vectorized nests of a core's kernel: every iteration runs once, each lane on its own elements; raises Unread
otherwise. Returns the order of the iterations, which `order.py` compares with the dependences.

A nest is one statement in loops. Its text takes loops one by one, in strips of so many iterations with what is left of
them, and the innermost parts hold vectors. Small loops of fixed length are run; lanes hold values by their elements. A
vector that a loop inside changes stands for elements of memory: it is loaded before and stored after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from codegen.ast.ctree import Bin, For, Instance, Int, Name
from codegen.recognize.lanes import plainly
from codegen.verify.cores.expr import same
from codegen.verify.cores.lanes import VECTOR, LaneStrip, VectorBlock, loop_of
from codegen.verify.cores.loop_heads import check_end, check_limit, past, step_of, with_integer
from codegen.verify.cores.statements import Places, check_statement
from codegen.verify.cores.values import NameScope
from codegen.verify.text.read import Node, Unread


class VectorOrder(NamedTuple):
    """The order of a nest: loops outside, those whose iterations come in any order, and those inside of them."""

    outer: tuple[str, ...]
    free: frozenset[str]
    inner: tuple[str, ...]


@dataclass
class PrintedNest:
    """The text of a nest. `at` is its statement, `statement` that statement with marks."""

    loops: Sequence[For]
    at: Instance
    statement: Node
    orders: list[tuple[str, ...]] = field(default_factory=list)
    free: set[str] = field(default_factory=set)
    outer: tuple[str, ...] | None = None
    places: Places = field(default_factory=dict)  # the boxes in which each access is found

    def read(self, sc: NameScope, body: Sequence[Node]) -> VectorOrder:
        """Raises Unread unless the text runs every iteration once, on the elements that the statement touches there."""
        self._cover(sc, body, dict.fromkeys((lp.var for lp in self.loops), "all"), ())
        assert self.outer is not None
        inner = {tuple(v for v in path if v not in self.free and v not in self.outer) for path in self.orders}
        if len(inner) != 1:
            raise Unread("loops in different orders")
        if any(len(p) != 1 for p in self.places.values()):
            raise Unread("an access that finds its elements in different places")
        return VectorOrder(self.outer, frozenset(self.free), inner.pop())

    # -- loops -------------------------------------------------------------------------------------

    def _cover(self, sc: NameScope, body: Sequence[Node], state: Mapping[str, object], path: tuple[str, ...]) -> None:
        """The statements run what the state says is still to be run, each iteration once."""
        if len(body) == 1 and body[0].kind == "block":
            body = body[0].kids
        if not body:
            raise Unread("iterations that are left out")
        if all(x == "one" for x in state.values()):
            self._single(sc, body, path)
        elif _declares_vectors(body[0]):
            self._vectors(sc, body, state, path)
        elif body[0].kind == "declare":
            self._strips(sc, body, state, path)
        elif body[0].kind == "for" and len(body) == 1:
            self._plain(sc, body[0], state, path)
        else:
            raise Unread(f"`{body[0].kind}` in a nest")

    def _plain(self, sc: NameScope, node: Node, state: Mapping[str, object], path: tuple[str, ...]) -> None:
        first, cond, step, inside = node.kids
        if first.kind != "declare":
            raise Unread("a loop that goes on where none has stopped")
        name, start = first.text, first.kids[2]
        running = start.text if start.kind == "name" else ""
        body = inside.kids if inside.kind == "block" else (inside,)
        if running and body and body[0].kind == "declare" and body[0].text == running and name != running:
            self._rest(sc, node, running, body, state, path)
            return
        lp = loop_of(self.loops, name, state)
        if not same(sc.integer(start), lp.lower) or step_of(step, name) != 1:
            raise Unread(f"the loop over `{name}` begins or goes on elsewhere")
        sc = with_integer(sc, name, Name(lp.var))
        check_end(sc, cond, name, lp)
        self._cover(sc, body, {**state, lp.var: "one"}, (*path, lp.var))

    def _rest(
        self, sc: NameScope, node: Node, running: str, body: Sequence[Node], state: Mapping[str, object],
        path: tuple[str, ...],
    ) -> None:  # fmt: skip
        """A loop over what is left of a strip, or of a loop, whose variable is called as before inside."""
        first, cond, step, _ = node.kids
        at = sc.integers.get(running)
        lp = next((x for x in self.loops if at == Name(x.var)), None)
        name = first.text
        if lp is None or step_of(step, name) != 1 or body[0].kids[2] != Node("name", name):
            raise Unread(f"a loop over `{name}` that goes on where none has stopped")
        now, inner = state[lp.var], with_integer(sc, name, Name("\0now"))
        if isinstance(now, LaneStrip):
            check_limit(inner, cond, name, "<", Bin("+", Name(lp.var), Int(now.size)))
        elif now == "rest":
            check_limit(inner, cond, name, "<", past(lp))
        else:
            raise Unread(f"iterations of `{running}` twice")
        # Inside, the name is the variable of this loop again.
        self._cover(sc, body[1:], {**state, lp.var: "one"}, (*path, lp.var))

    def _strips(self, sc: NameScope, body: Sequence[Node], state: Mapping[str, object], path: tuple[str, ...]) -> None:
        """A loop in parts, each of which goes on where the one before it stopped."""
        name = body[0].text
        lp = loop_of(self.loops, name, state)
        if "const" in body[0].kids[0].text or not same(sc.integer(body[0].kids[2]), lp.lower):
            raise Unread(f"the loop over `{name}` begins elsewhere")
        if self.outer is None:
            self.outer = path
        self.free.add(lp.var)
        sc = with_integer(sc, name, Name(lp.var))
        left = list(body[1:])
        while left:
            node = left.pop(0)
            if node.kind == "for" and node.kids[0].kind == "block" and not node.kids[0].kids:
                _, cond, step, inside = node.kids
                count = step_of(step, name)
                inner = inside.kids if inside.kind == "block" else (inside,)
                if count == 1 and not left:
                    check_end(sc, cond, name, lp)
                    self._cover(sc, inner, {**state, lp.var: "one"}, (*path, lp.var))
                    return
                check_limit(sc, cond, name, "<=", past(lp), count)
                self._cover(sc, inner, {**state, lp.var: LaneStrip(count)}, (*path, lp.var))
            elif not left:
                self._cover(sc, [node], {**state, lp.var: "rest"}, path)
                return
        raise Unread(f"the last iterations of `{name}` are left out")

    def _single(self, sc: NameScope, body: Sequence[Node], path: tuple[str, ...]) -> None:
        if len(body) != 1:
            raise Unread("more than one statement in an iteration")
        check_statement(sc, self.at, self.statement, body[0], self.places)
        self.orders.append(path)
        self.outer = path if self.outer is None else self.outer

    # -- vectors -----------------------------------------------------------------------------------

    def _vectors(self, sc: NameScope, body: Sequence[Node], state: Mapping[str, object], path: tuple[str, ...]) -> None:
        s = sc.scop.statement(self.at.stmt)
        target = s.accesses[s.target]
        if self.statement.kind != "do" or self.statement.kids[0].kind != "assign":
            raise Unread("a statement in vectors that is no assignment")
        if not plainly(sc.scop, s, sc.scop.arrays[target.array].elem):
            raise Unread("a statement in vectors that they cannot compute")
        block = VectorBlock(self.loops, self.at, self.statement, state, path)
        block.run(sc, body)
        block.finish()
        self.orders += block.orders
        for k, where in block.places.items():
            self.places.setdefault(k, set()).update(where)


def _declares_vectors(node: Node) -> bool:
    first = node.kids[0] if node.kind == "several" else node
    return first.kind == "declare" and VECTOR.fullmatch(first.kids[0].text) is not None
