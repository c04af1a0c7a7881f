"""Reads the text of a time-tiled stencil, and proves it right.

Blocks of steps come one after the other; all cores meet after each. A block reads one copy of the arrays and writes the
other one, and there is an even number of blocks. Within a block tiles are dealt out in turn: a tile is fetched with its
margin, goes through all steps of the block, and its own elements go to the other copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codegen.ast.ctree import Bin, CExpr, For, Fun, Int, Name
from codegen.scop.dependences import Dependences
from codegen.scop.model import Scop
from codegen.verify.cores.commands import BARRIERS
from codegen.verify.cores.expr import integer, polynomial, same
from codegen.verify.cores.frame import LocalMemoryFrame
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.loop_heads import past
from codegen.verify.cores.memory import MainArray, outside_of
from codegen.verify.cores.records import KernelNames
from codegen.verify.cores.steps.model import sweeps_of
from codegen.verify.cores.steps.tile import TileContext, TileText
from codegen.verify.cores.types import plain_type, type_of
from codegen.verify.cores.values import NameScope
from codegen.verify.poly import poly, var
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import Node, Unread, read_expression

OTHER = "_other"


class SteppedTask(NamedTuple):
    """The loop over time of the proven tree, its place, and the function that runs it."""

    node: For
    at: TreePoint
    head: str


def read_steps(
    scop: Scop, deps: Dependences, task: SteppedTask, body: Sequence[Node], words: KernelNames
) -> frozenset[str]:
    """The arrays of which it needs a second copy. Raises Unread unless the text does what the loop does."""
    return _Steps(scop, deps, task, words).run(body)


class _Steps:
    def __init__(self, scop: Scop, deps: Dependences, task: SteppedTask, words: KernelNames) -> None:
        self.scop, self.task, self.words = scop, task, words
        self.sweeps = sweeps_of(scop, deps, task.node, task.at)
        self.written = frozenset(x.target for x in self.sweeps)
        self.texts: dict[str, CExpr] = {p.text: Name(p.name) for p in scop.params}
        self.kernel = KernelReader(scop, words, 0, {})
        integers = {**self.texts, words.id: Name(words.id)}
        self.scope = NameScope(scop, integers, {}, {}, {}, frozenset(), {}, words.args)
        self.others: dict[str, MainArray] = {}

    def run(self, body: Sequence[Node]) -> frozenset[str]:
        left = [x for s in body for x in (s.kids if s.kind == "several" else (s,))]
        while left and left[0].kind == "declare" and self._given(left[0]):
            self._declare(left.pop(0))
        if len(left) != 3 or [s.kind for s in left] != ["declare", "declare", "for"]:
            raise Unread("something else than blocks of steps")
        count, blocks, loop = left
        if not same(self.scope.integer(count.kids[2]), self._count()):
            raise Unread("the number of steps is another one")
        most = self._blocks(blocks, count.text)
        self._block_loop(loop, count.text, blocks.text, most)
        if set(self.others) != self.written:
            raise Unread("arrays without a second copy are written")
        return self.written

    def _given(self, s: Node) -> bool:
        """Is it something of the arguments, or local memory?"""
        return s.kids[0].text != "const long" or bool(self.kernel._member(s.kids[2]))

    def _count(self) -> CExpr:
        first, end = self.task.node.lower, past(self.task.node)
        return Fun("max", (Int(0), Bin("-", end, first)))

    def _declare(self, s: Node) -> None:
        """What the arguments hold, and local memory."""
        member = self.kernel._member(s.kids[2])
        if not member.endswith(OTHER):
            self.scope = self.kernel._declare(s, self.scope, LocalMemoryFrame(self.kernel.buffers))
            return
        array = self.scop.arrays.get(member.removesuffix(OTHER))
        if array is None or s.text != member or plain_type(s.kids[0].text) != type_of(array.elem):
            raise Unread(f"`{s.text}` is a copy of another array")
        shape = [self.scope.integer(x) for x in s.kids[1].kids]
        self.others[array.name] = outside_of(self.scop, array, shape, self.texts)

    def _blocks(self, s: Node, count: str) -> int:
        """How many steps a block has at most. There is an even number of blocks, enough of them for that many steps
        each: 2 * ceil(count / (2 * most))."""
        value = s.kids[2]
        try:
            twice = int(value.kids[1].kids[0].kids[1].text)
        except (IndexError, ValueError):
            raise Unread("blocks are counted in another way") from None
        want = read_expression(f"{count} ? ({count} + {twice - 1}) / {twice} * 2 : 0")
        if value != want or twice % 2 or twice < 2:
            raise Unread("blocks are counted in another way")
        return twice // 2

    def _block_loop(self, s: Node, count: str, blocks: str, most: int) -> None:
        first, cond, step, inside = s.kids
        block = first.text
        head = (read_expression(f"{block} < {blocks}"), Node("after", "++", (Node("name", block),)))
        if first.kind != "declare" or first.kids[2] != Node("number", "0") or (cond, step) != head:
            raise Unread("the loop over blocks is another one")
        body = list(inside.kids)
        if len(body) < 4 or body[-1].kind != "do" or body[-1].kids[0] not in BARRIERS:
            raise Unread("cores do not meet after a block")
        steps, halo, turn, *rest = body[:-1]
        # From as many steps as there are before this block to as many as there are after it: all of them, in the end.
        before = f"({count} * {block}) / {blocks}"
        want = read_expression(f"({count} * ({block} + 1)) / {blocks} - {before}")
        if steps.kind != "declare" or steps.kids[2] != want:
            raise Unread("a block has another number of steps")
        begin = Node("declare", self.words.turn, (Node("type", "long"), Node("sizes"), Node("number", "0")))
        if turn != begin:
            raise Unread("tiles are counted in another way")
        wide, growth = self._halo(halo, steps.text)
        names: dict[str, CExpr] = {steps.text: Name("\0steps"), halo.text: Name("\0halo"), block: Name("\0block")}
        sides: dict[str, tuple[str, bool]] = {}  # pointers: the array, and whether it is the copy that is written
        while rest and rest[0].kind == "declare":
            pointer = rest.pop(0)
            sides[pointer.text] = self._side(pointer, block)
        if sorted(sides.values()) != sorted((a, to) for a in self.written for to in (False, True)) or len(rest) != 1:
            raise Unread("copies of arrays are exchanged in another way")
        done = integer(read_expression(before), {count: Name("\0count"), block: Name("\0block"), blocks: Name("\0of")})
        names |= {count: Name("\0count"), blocks: Name("\0of")}
        sc = self.scope._replace(integers={**self.scope.integers, **names})
        made = TileContext(self.scop, self.words, self.kernel, self.sweeps, sides, most, wide, growth, steps.text,
                     Bin("+", self.task.node.lower, done), read_expression(f"{block} + 1 == {blocks}"))  # fmt: skip
        TileText(made).run(rest[0], sc)

    def _halo(self, s: Node, steps: str) -> tuple[int, int]:
        """What is fetched for one step, and by how much it grows with each further one; nothing for no step."""
        value = s.kids[2] if s.kind == "declare" else s
        if value.kind != "choose" or value.kids[0] != Node("name", steps) or value.kids[2] != Node("number", "0"):
            raise Unread("a margin of another form")
        wide = polynomial(integer(value.kids[1], {steps: Name("\0steps")}))
        growth = wide.terms.get(("\0steps",), 0)
        first = wide - (var("\0steps") - 1) * growth
        if first.number is None or first.number < 0 or growth < 0 or first != poly(first.number):
            raise Unread("a margin that does not grow by the step")
        return first.number, growth

    def _side(self, s: Node, block: str) -> tuple[str, bool]:
        """A pointer to the copy that this block reads, or to the one that it writes."""
        kind, sizes, value = s.kids
        odd = read_expression(f"{block} % 2")
        if value.kind != "choose" or value.kids[0] != odd or any(x.kind != "name" for x in value.kids[1:]):
            raise Unread(f"`{s.text}` is another pointer")
        one, two = (x.text for x in value.kids[1:])
        to = not one.endswith(OTHER)
        name = (two if to else one).removesuffix(OTHER)
        array = self.scop.arrays.get(name)
        if array is None or {one, two} != {array.base, f"{name}{OTHER}"} or name not in self.others:
            raise Unread(f"`{s.text}` is another pointer")
        shape = [self.scope.integer(x) for x in sizes.kids]
        found = outside_of(self.scop, array, shape, self.texts)
        known = self.scope.outsides.get(array.base)
        if known != found or self.others[name] != found or plain_type(kind.text) != type_of(array.elem):
            raise Unread(f"`{s.text}` has another shape or type")
        self.scope = self.scope._replace(outsides={**self.scope.outsides, s.text: found})
        return name, to
