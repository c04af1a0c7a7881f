"""The state of the symbolic execution of a product: names, buffers, loops and threads; and equality of expressions
there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from codegen.verify.poly import ONE, ZERO, Poly
from codegen.verify.text.blocked.claim import Claim
from codegen.verify.text.blocked.corners import all_belong, with_depth
from codegen.verify.text.compare import Names, same
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import Integers
from codegen.verify.text.read import Node, Unread
from codegen.verify.text.spans import CountedLoop, Effect, Span

TARGET = "target"
THREAD = ("tw_thread()", "row of tw_me", "column of tw_me")
NOUGHT = Node("number", "0")
NEVER = 1000  # more than there are loops


class BufferPointer(NamedTuple):
    """Into a buffer (`left`, `right`) or a local array, by elements; or the address of an element that a node names."""

    of: str
    at: Poly = ZERO
    node: Node | None = None


class LocalArray(NamedTuple):
    """A local array of so many elements."""

    size: Poly


class Staged(NamedTuple):
    """Values in a local array: element `at`, for every `var` of a span, is `value` in the names of then."""

    var: str
    span: Span
    at: Poly
    value: Node
    names: Mapping[str, Any]


class ScratchTile(NamedTuple):
    """What the scratch tile holds: elements of the target from (row, column) on, and whether the steps were taken."""

    row: Poly
    column: Poly
    spans: Mapping[str, Span]
    stride: Poly
    depth: Span | None = None


class Heap(NamedTuple):
    """Memory for so many elements, and for so many offsets behind them; none is asked for on a condition."""

    size: Poly
    spare: Poly
    unless: Node


Effects = dict[str, Effect]
Made = tuple[Facts, Effects, tuple[Poly, ...]]  # what is done in a case, and what it is given


class Buffered:
    """What is known of the operands' buffers, by their names."""

    def __init__(self) -> None:
        self.areas: dict[str, Poly] = {}  # elements of each
        # Of one iteration of the loop around: those that it found filled and read, and those that it filled.
        self.relied: set[str] = set()
        self.filled: set[str] = set()
        self.packs: list[str] = []  # those that were written to, in order
        self.began: dict[str, int] = {}  # how many of those there were when a loop began
        self.asked: list[Poly] = []  # what conditions around compare: what is packed may depend on it
        self.sealed: dict[str, str] = {}  # those that a loop's first iteration fills for all of them


class Team:
    """The threads of a team, and what they share."""

    def __init__(self) -> None:
        self.most: Poly | None = None  # as many as that, at most; None outside of a team
        self.grid: dict[str, Poly] = {}
        self.numbered = False  # threads know their numbers, and have parts by them
        self.joined: set[str] = set()  # numbers whose parts were put together
        self.entering = False  # the next block is run by every thread
        self.shared = 0  # so many loops that follow are shared by threads, one in the other
        self.waits = True  # threads wait for each other behind them
        self.dealing = False  # a loop around is shared
        self.tasks = False  # parts of the target were
        self.own: set[str] = set()  # buffers of which each thread has one
        self.dirty = False  # somebody may still read what threads share
        self.met = 0  # in this iteration of so many of the loops around they waited for each other
        self.unclean = NEVER  # the same, of whenever they filled it
        self.filling: frozenset[str] = frozenset()  # buffers that somebody may still fill
        self.before: frozenset[str] = frozenset()  # the same, when the loop that is shared began
        self.updating = False  # somebody may still update the target
        self.early = NEVER  # `met`, of whenever they did without waiting
        self.turn = 0  # so many loops are around it and the one whose iterations use halves of the buffers in turn
        self.ends: list[tuple[bool, frozenset[str], bool]] = []  # the state where cases end

    @property
    def inside(self) -> bool:
        return self.most is not None

    def meet(self, loops: int) -> None:
        """A barrier in so many loops: whatever somebody did before it is done."""
        self.dirty, self.filling, self.updating, self.met = False, frozenset(), False, loops

    @property
    def state(self) -> tuple[bool, frozenset[str], bool]:
        """What may still be read, filled and updated."""
        return self.dirty, self.filling, self.updating

    @state.setter
    def state(self, to: tuple[bool, frozenset[str], bool]) -> None:
        self.dirty, self.filling, self.updating = to

    def may_be(self, states: Sequence[tuple[bool, frozenset[str], bool]]) -> None:
        """One of these states, whichever it is."""
        dirty, filling, updating = zip(*states, strict=True)
        self.state = any(dirty), frozenset().union(*filling), any(updating)

    def join(self, first: int) -> None:
        """Whatever may be so in one of the cases since then."""
        if len(self.ends) > first:
            self.may_be(self.ends[first:])
        del self.ends[first:]


class BlockState(ABC):
    """Where the run of a block stands."""

    def __init__(self, claim: Claim, facts: Facts) -> None:
        self.claim, self.facts = claim, facts
        self.names: Names = {}
        self.held: dict[str, Effect] = {}  # what buffers hold
        self.staged: dict[str, list[Staged]] = {}
        self.tiles: dict[str, ScratchTile] = {}
        self.buffers, self.team = Buffered(), Team()
        self.open: list[CountedLoop] = []  # the loops around
        self.frames: list[CountedLoop] = []  # those of them that may have several iterations
        self.forked = 0  # conditions around that are not decided
        self.belonging = False  # only elements that belong are moved here

    @abstractmethod
    def block(self, body: Sequence[Node]) -> Effects:
        """Runs statements; gives what they do."""

    @abstractmethod
    def _do(self, e: Node) -> Effects:
        """Carries out an expression statement."""

    def _integers(self) -> Integers:
        return Integers(self.facts, self.names)

    def _same(self, printed: Node, wanted: Node, at: Mapping[str, Poly], names: Names | None = None) -> bool:
        """The same expression; `at` are the values of tw_I, tw_J and tw_K."""
        return same(printed, wanted, at, self.names if names is None else names, self.facts)

    def _holds_value(self, value: Node, wanted: Node, at: Mapping[str, Poly]) -> bool:
        """Is a stored value the wanted one?"""
        if value.kind == "index" and value.kids[0].kind == "name" and value.kids[0].text in self.staged:
            i = self._integers().value(value.kids[1])
            for s in self.staged[value.kids[0].text]:
                v = i - s.at
                if self.facts.holds(v - s.span.lo) and self.facts.holds(s.span.hi - 1 - v):
                    names = {n: self.facts.put(p, {s.var: v}) if isinstance(p, Poly) else p for n, p in s.names.items()}
                    return self._same(s.value, wanted, at, names)
            return False
        return self._same(value, wanted, at)

    def _block(self, c: str) -> Poly:
        """Where the block of a coordinate begins."""
        found = self.names.get(f"{self.claim.names[c]}b")
        if not isinstance(found, Poly):
            raise Unread(f"no block of coordinate {c}")
        return found

    def _in_range(self, c: str, at: Poly) -> bool:
        """Is it a value of a coordinate?"""
        first, past = (Integers(self.facts, {}).value(x["ijk".index(c)]) for x in (self.claim.first, self.claim.past))
        return self.facts.holds(at - first) and self.facts.holds(past - 1 - at)

    def _start(self, c: str) -> Poly:
        found = self.names.get(f"{self.claim.names[c]}t")
        if not isinstance(found, Poly):
            raise Unread(f"no tile of coordinate {c}")
        return found

    def _moves(self, i: Poly, j: Poly) -> None:
        """An element is loaded or stored: it has to belong."""
        flat = [x for x in self.claim.corners if not with_depth(x)]
        if not self.belonging and not all_belong(flat, (i, j), (ONE, ONE), Span(ZERO, ONE), self.facts):
            raise Unread("an element is loaded or stored that does not belong")

    def _const_names(self) -> list[str]:
        return [f"tw_s{k}" for k in range(len(self.claim.consts))]
