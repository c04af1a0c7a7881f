"""Proof of a launch's entry function, which every core runs: its loops, kernel calls and barriers, compared with the C
tree.

Loops and conditions have to be those of the tree, kernels are called where the tree has them, with the values of the
loops around, and the first core alone runs what is no kernel. Cores wait for each other where one may use what another
has used since they last waited, and one of them writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from codegen.ast.ctree import Block, CExpr, CNode, Declare, For, Held, If, Name, walk
from codegen.record import record
from codegen.scop.dependences import Dependences
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.verify.cores.commands import BARRIERS, CoreBuffer
from codegen.verify.cores.expr import same
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.launches.barriers import LaunchPhase, apart, phase_of
from codegen.verify.cores.launches.resident import Launched, TileSlots, check_residents
from codegen.verify.cores.launches.resident_transfers import Mover
from codegen.verify.cores.loop_heads import check_end, step_of, with_integer
from codegen.verify.cores.records import KernelNames, Part
from codegen.verify.cores.types import plain_type
from codegen.verify.cores.values import NameScope
from codegen.verify.readback import TreePoint, enter
from codegen.verify.text.read import NOTHING, Node, Unread


@dataclass
class KernelFunction:
    """A function that runs a kernel: its place in the tree, what its parameters stand for, and its text as it was read;
    None where no proof reads it."""

    node: CNode
    parameters: tuple[str, ...]  # loop variables of the tree
    kernel: KernelReader | None
    kept: Mapping[str, CoreBuffer] = field(default_factory=dict)  # places for tiles, by parameter


@record
class Stepped:
    """A function that runs a loop over time in blocks of steps, and the arrays of which it needs a second copy."""

    node: For
    others: frozenset[str]


@dataclass
class LaunchEntry:
    """The text of a launch's entry. Raises Unread with what it does differently."""

    scop: Scop
    deps: Dependences
    words: KernelNames
    callees: Mapping[str, KernelFunction]
    movers: Mapping[str, tuple[Mover, Mapping[str, CoreBuffer]]] = field(default_factory=dict)
    stepped: Mapping[str, Stepped] = field(default_factory=dict)
    joins: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)  # functions that join parts, and of what
    shared: dict[str, Held] = field(default_factory=dict)
    unpacked: tuple[Node, ...] = ()
    phases: dict[int, LaunchPhase] = field(default_factory=dict)  # by node of the tree
    places: dict[str, CoreBuffer] = field(default_factory=dict)  # for tiles that stay
    kernels: list[KernelReader] = field(default_factory=list)  # in the order of the text
    sure: list[KernelReader] = field(default_factory=list)  # those that run whenever the loops around them do
    _choices: int = 0  # conditions around

    def run(self, body: Sequence[Node], node: CNode, at: TreePoint) -> None:
        first = Node("call", "athread_get_id", (Node("unary", "-", (Node("number", "1"),)),))
        if not body or body[0].kind != "declare" or body[0].text != self.words.id or body[0].kids[2] != first:
            raise Unread("a core does not ask for its number")
        count = 1
        while count < len(body) and body[count].kind in ("declare", "several"):
            count += 1
        self.unpacked = tuple(d for d in body[1:count] if not self._place(d))
        left, sc = list(body[count:]), self._scope()
        comes = self._moves(left, sc, 0)
        goes = self._moves(left, sc, -1)[::-1]
        self._inside(left, node, at, sc, frozenset())
        elsewhere = frozenset(
            a.array for p in self.phases.values() if p.alone or p.leaves is None
            for n in p.statements for a in self.scop.statement(n).accesses
        )  # fmt: skip
        places = {n: TileSlots(b.copies, b.elements) for n, b in self.places.items()}
        check_residents(self.scop, Launched(self.kernels, self.sure, comes, goes, places), elsewhere)

    def _place(self, d: Node) -> bool:
        """Local memory for tiles that stay."""
        kind, sizes, value = d.kids if d.kind == "declare" else (NOTHING, NOTHING, NOTHING)
        if value != NOTHING or len(sizes.kids) != 2 or not all(x.text.isdigit() for x in sizes.kids):
            return False
        slots, elements = (int(x.text) for x in sizes.kids)
        self.places[d.text] = CoreBuffer(elements, slots, plain_type(kind.text))
        return True

    def _moves(self, left: list[Node], sc: NameScope, at: int) -> list[tuple[Mover, tuple[CExpr, ...]]]:
        """Calls at the beginning or the end that let tiles come or go, and their conditions."""
        found: list[tuple[Mover, tuple[CExpr, ...]]] = []
        while left:
            s = left[at]
            inner = _body(s.kids[1]) if s.kind == "if" and s.kids[2] == NOTHING else (s,)
            call = inner[0].kids[0] if len(inner) == 1 and inner[0].kind == "do" else s
            if call.kind != "call" or call.text not in self.movers:
                return found
            mover, kept = self.movers[call.text]
            self._check_kept(call, kept, 2)
            tests = _conjuncts(s.kids[0]) if s.kind == "if" else []
            found.append((mover, tuple(sc.integer(c) for c in tests)))
            left.pop(at)
        return found

    def _check_kept(self, call: Node, kept: Mapping[str, CoreBuffer], first: int) -> None:
        """A function gets the places of tiles by their names, and its own number."""
        given = (Node("name", self.words.args), Node("name", self.words.id))
        right = call.kids[:2] == given and list(call.kids[first:]) == [Node("name", n) for n in kept]
        if not right or any(n not in self.places or self.places[n]._replace(copies=0) != b for n, b in kept.items()):
            raise Unread(f"`{call.text}` is called with other values")

    def _scope(self) -> NameScope:
        params: dict[str, CExpr] = {p.text: Name(p.name) for p in self.scop.params}
        integers = {**params, self.words.id: Name(self.words.id)}
        return NameScope(self.scop, integers, {}, {}, {}, frozenset(), {}, self.words.args)

    # -- beside the tree ---------------------------------------------------------------------------

    def _inside(
        self, body: Sequence[Node], node: CNode, at: TreePoint, sc: NameScope, open_: frozenset[int]
    ) -> frozenset[int]:
        """A list of statements that is all of a node. Gives the phases since cores last waited, and so do the rest."""
        left = list(body)
        open_ = self._waits(left, self._node(left, node, at, sc, open_))
        if left:
            raise Unread(f"more than there is to do: `{left[0].kind}`")
        return open_

    def _waits(self, left: list[Node], open_: frozenset[int]) -> frozenset[int]:
        while left and left[0].kind == "do" and left[0].kids[0] in BARRIERS:
            left.pop(0)
            open_ = frozenset()
        return open_

    def _node(
        self, left: list[Node], node: CNode, at: TreePoint, sc: NameScope, open_: frozenset[int]
    ) -> frozenset[int]:
        open_ = self._waits(left, open_)
        kernel = isinstance(node, For) and node.loop.kind in THREADED
        if isinstance(node, Block) and has_kernel(node):
            for child in node.children:
                open_ = self._node(left, child, at, sc, open_)
            return open_
        if isinstance(node, Declare) and has_kernel(node):
            self.shared |= {h.array: h for h in node.slots}
            return self._node(left, node.body, at, sc, open_)
        if not left:
            raise Unread("a part of the launch is left out")
        s = left.pop(0)
        if kernel:
            return self._joined(left, node, self._meet(self._called(s, node, sc), open_))
        if not has_kernel(node):
            return self._meet(self._alone(s, node, at, sc), open_)
        if isinstance(node, If):
            return self._choice(s, node, at, sc, open_)
        assert isinstance(node, For)
        if s.kind == "if":
            return self._either(s, node, at, sc, open_)
        return self._loop(s, node, at, sc, open_)

    def _either(self, s: Node, node: For, at: TreePoint, sc: NameScope, open_: frozenset[int]) -> frozenset[int]:
        """Many steps at once where there is memory for second copies; else one step after the other."""
        cond, many, single = s.kids
        call = many.kids[0] if many.kind == "block" and len(many.kids) == 1 else many
        call = call.kids[0] if call.kind == "do" else call
        function = self.stepped.get(call.text) if call.kind == "call" else None
        if function is None or function.node is not node:
            raise Unread("another condition around kernels")
        if call.kids != (Node("name", self.words.args), Node("name", self.words.id)):
            raise Unread(f"`{call.text}` is called with other values")
        asked = {_member(e, self.words.args) for e in _conjuncts(cond)}
        if not {f"{a}_other" for a in function.others} <= asked:
            raise Unread(f"`{call.text}` is called without second copies of its arrays")
        self.phases.setdefault(id(node), phase_of(self.scop, node, None))
        found = self._meet(id(node), open_)
        self._choices += 1
        body = list(_body(single))
        if len(body) != 1:
            raise Unread("a part of the launch is left out")
        found |= self._loop(body[0], node, at, sc, open_)
        self._choices -= 1
        return found

    def _choice(self, s: Node, node: If, at: TreePoint, sc: NameScope, open_: frozenset[int]) -> frozenset[int]:
        if s.kind != "if" or not same(sc.integer(s.kids[0]), node.cond):
            raise Unread("another condition around kernels")
        if (s.kids[2] == NOTHING) != (node.orelse is None):
            raise Unread("a condition that leaves a side out")
        self._choices += 1
        cond = at.condition(node.cond)
        yes = replace(at, domain=at.domain.intersect(cond).coalesce())
        found = self._inside(_body(s.kids[1]), node.then, yes, sc, open_)
        if node.orelse is None:
            found |= open_
        else:
            no = replace(at, domain=at.domain.subtract(cond).coalesce())
            found |= self._inside(_body(s.kids[2]), node.orelse, no, sc, open_)
        self._choices -= 1
        return found

    def _loop(self, s: Node, node: For, at: TreePoint, sc: NameScope, open_: frozenset[int]) -> frozenset[int]:
        begin, cond, step, body = s.kids if s.kind == "for" else (NOTHING,) * 4
        if begin.kind != "declare" or not same(sc.integer(begin.kids[2]), node.lower):
            raise Unread("a loop around kernels begins elsewhere")
        if step_of(step, begin.text) != node.step:
            raise Unread(f"the loop over `{begin.text}` goes on elsewhere")
        inner = with_integer(sc, begin.text, Name(node.var))
        check_end(inner, cond, begin.text, node)
        after = self._inside(_body(body), node.body, enter(node, at), inner, open_)
        again = self._inside(_body(body), node.body, enter(node, at), inner, after)  # behind another iteration
        return open_ | after | again

    def _called(self, s: Node, node: CNode, sc: NameScope) -> int:
        call = s.kids[0] if s.kind == "do" else s
        callee = self.callees.get(call.text) if call.kind == "call" else None
        if callee is None or callee.node is not node:
            raise Unread("another kernel than the tree's")
        given = (Node("name", self.words.args), Node("name", self.words.id))
        count = 2 + len(callee.parameters)
        values = [sc.integers.get(x.text) if x.kind == "name" else None for x in call.kids[2:count]]
        if call.kids[:2] != given or values != [Name(v) for v in callee.parameters]:
            raise Unread(f"`{call.text}` is called with other values")
        self._check_kept(call, callee.kept, count)
        if callee.kernel is not None and callee.kernel not in self.kernels:
            self.kernels.append(callee.kernel)
            self.sure += [] if self._choices else [callee.kernel]
        self.phases.setdefault(id(node), phase_of(self.scop, node, callee.kernel))
        return id(node)

    def _joined(self, left: list[Node], node: CNode, open_: frozenset[int]) -> frozenset[int]:
        """Where cores have gathered parts, the first one joins them when all have met; behind that the others have to
        wait for it."""
        kernel = next(c.kernel for c in self.callees.values() if c.node is node)
        if kernel is None or not kernel.parts:
            return open_
        if len(left) < 2 or self._waits(left, open_):
            raise Unread("parts are joined before all cores have left them")
        s = left.pop(0)
        inner = _body(s.kids[1]) if s.kind == "if" and s.kids[0] == self._first and s.kids[2] == NOTHING else ()
        call = inner[0].kids[0] if len(inner) == 1 and inner[0].kind == "do" else NOTHING
        given = call.kind == "call" and call.kids == (Node("name", self.words.args),)
        if not given or self.joins.get(call.text) != tuple(kernel.parts.values()):
            raise Unread("what cores have gathered is not joined")
        return frozenset((id(node),))

    @property
    def _first(self) -> Node:
        """The test for the first core."""
        return Node("binary", "==", (Node("name", self.words.id), Node("number", "0")))

    def _alone(self, s: Node, node: CNode, at: TreePoint, sc: NameScope) -> int:
        """What is no kernel runs on the first core, in main memory."""
        if s.kind != "if" or s.kids[0] != self._first or s.kids[2] != NOTHING:
            raise Unread("what is no kernel runs on more than one core")
        if id(node) not in self.phases:
            names = {v.name: c for c, v in sc.integers.items() if isinstance(v, Name) and v.name in at.vars}
            kernel = KernelReader(self.scop, self.words, 0, names)
            held = {**sc.held, **self.shared}
            scope = sc._replace(held=held, shared=frozenset(self.shared))
            kernel.run((*self.unpacked, *_body(s.kids[1])), node, scope, at)
            if kernel.buffers or kernel.nests:
                raise Unread("the first core moves data where it runs alone")
            self.phases[id(node)] = replace(phase_of(self.scop, node, kernel), alone=True)
        return id(node)

    # -- waiting for each other --------------------------------------------------------------------

    def _meet(self, mine: int, open_: frozenset[int]) -> frozenset[int]:
        """Another part of the launch runs: nothing that ran since cores last waited may be in its way."""
        for other in sorted(open_, key=list(self.phases).index):
            a, b = self.phases[other], self.phases[mine]
            common = apart(self.scop, self.deps, a, b, frozenset(self.shared) | a.gathered | b.gathered)
            if common:
                raise Unread(f"cores do not wait between {a.title} and {b.title}, which both use `{common}`")
        return open_ | {mine}


def _member(e: Node, args: str) -> str:
    """The member of the arguments that an expression is."""
    plain = e.kind == "member" and e.text == "->" and e.kids[0] == Node("name", args)
    return e.kids[1].text if plain else ""


def has_kernel(node: CNode) -> bool:
    return any(isinstance(n, For) and n.loop.kind in THREADED for n in walk(node))


def _conjuncts(e: Node) -> list[Node]:
    both = e.kind == "binary" and e.text == "&&"
    return [*_conjuncts(e.kids[0]), *_conjuncts(e.kids[1])] if both else [e]


def _body(s: Node) -> tuple[Node, ...]:
    return s.kids if s.kind == "block" else () if s == NOTHING else (s,)
