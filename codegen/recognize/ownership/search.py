"""Ranks the parallel loops of a nest by how much reuse stays with one thread: `thread_loops` tells the planner which
loop the processor's threads share; `search` finds thread loops and a register tile with the fewest memory accesses
left, for the ownership table of `inspect` and reports alone (`registers.py` has the plan's register tiles).

A thread in `search` is whoever executes a register tile: a GPU thread, or one pass of a kernel on a processor. What it
owns it keeps in registers while the sequential loops run; everything else is loaded again in every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod

import islpy as isl

from codegen.recognize.ownership.classes import BlockClass
from codegen.recognize.ownership.decide import verdict
from codegen.recognize.ownership.exact import crossed_blocks
from codegen.recognize.ownership.linear import linear
from codegen.recognize.ownership.model import NestFrame, Reference, ThreadAxis
from codegen.recognize.ownership.registers import RegisterBudget
from codegen.record import record

MOST_AXES = 3
EVEN = Fraction(9, 10)  # threads that are busy for so much of the time have even shares


@record
class ThreadLoopChoice:
    """Thread loops with the iterations each thread takes of them, what it owns, and what that saves.

    `loads` counts memory accesses that remain per iteration, as against `all_loads` without any registers.
    """

    threads: tuple[str, ...]
    tile: tuple[int, ...]
    private: tuple[str, ...]
    registers: int
    loads: Fraction
    all_loads: int

    @property
    def reason(self) -> str:
        """In words, for a remark."""
        size = " x ".join(map(str, self.tile))
        owned = ", ".join(self.private) or "nothing"
        return (
            f"threads over {', '.join(self.threads)} with {size} iterations each own {owned}: {float(self.loads):.2g} "
            f"of {self.all_loads} memory accesses remain per iteration, in {self.registers} registers"
        )


def search(frame: NestFrame, ties: isl.UnionMap, part: BlockClass, budget: RegisterBudget) -> ThreadLoopChoice | None:
    """The best choice for a class of blocks: fewest memory accesses left, then more threads, then unit stride in the
    last thread loop. None where no loop may be a thread."""
    found = []
    for axes in _legal(frame, ties, part):
        owned = [r for r in frame.references if verdict(frame, r, axes, (part,)).answer != "no"]
        found += list(_tiles(frame, axes, owned, budget))
    return min(found, key=lambda c: _merit(frame, c), default=None)


@record
class ThreadLoop:
    """A loop that may be shared out to threads: what each owns of the arrays, how many loops that is used in again, the
    part of the time that all threads are busy, and whether neighbouring threads write neighbours in a line."""

    name: str
    owned: tuple[str, ...]
    uses: int
    busy: Fraction
    along: bool

    @property
    def reason(self) -> str:
        """In words, for a remark."""
        said = [f"own {', '.join(self.owned)}" if self.owned else "own nothing"]
        said += [f"are busy {float(self.busy):.0%} of the time"] if self.busy < EVEN else []
        said += ["write next to each other"] if self.along else []
        return f"threads over {self.name} {' and '.join(said)}"


def thread_loops(frame: NestFrame, lengths: Mapping[str, int | None], threads: int) -> list[ThreadLoop]:
    """The loops inside a block, all of which may be shared out, best first: those whose lengths, where known, keep the
    threads busy; then those whose threads own most of what is used again; then those across the rows of arrays."""
    found = [_thread_loop(frame, x, lengths.get(x.name), threads) for x in frame.inner]
    return sorted(found, key=lambda c: (-min(c.busy, EVEN), -c.uses, c.along))


def _thread_loop(frame: NestFrame, x: ThreadAxis, length: int | None, threads: int) -> ThreadLoop:
    owned = [r for r in distinct(frame.references) if all(linear(r, other, (x,)) for other in frame.others(r))]
    rest = [y for y in frame.inner if y is not x]
    uses = sum(_weight(frame, r) * sum(not _moves(frame, r, y) for y in rest) for r in owned)
    rounds = -(-length // threads) if length else 0
    busy = Fraction(length, rounds * threads) if length and rounds else Fraction(1)
    return ThreadLoop(x.name, tuple(dict.fromkeys(r.text for r in owned)), uses, busy, _fast(frame, (x,)) == x.name)


def _legal(frame: NestFrame, ties: isl.UnionMap, part: BlockClass) -> Iterator[tuple[ThreadAxis, ...]]:
    """Sets of loops between whose iterations no dependence passes within a block of the class."""
    for m in range(1, MOST_AXES + 1):
        for axes in combinations(frame.inner, m):
            if crossed_blocks(frame, ties, axes).is_disjoint(part.blocks):
                yield axes


def _tiles(
    frame: NestFrame, axes: Sequence[ThreadAxis], owned: Sequence[Reference], budget: RegisterBudget
) -> Iterator[ThreadLoopChoice]:
    """Every register tile within the budget."""
    apart = distinct(frame.references)
    mine = [r for r in apart if any(_same(r, x) for x in owned) and _is_small(frame, r, axes)]
    names, fast = tuple(x.name for x in axes), _fast(frame, axes)
    uses = [_use(frame, r, axes, fast, r in mine) for r in apart]
    texts, total = tuple(r.text for r in mine), sum(u.weight for u in uses)
    steps = [_lengths(uses, k, budget.lanes if n == fast else 1, budget) for k, n in enumerate(names)]
    for tile in _within(steps, lambda tile: sum(u.registers(tile, budget.lanes) for u in uses) <= budget.registers):
        registers = sum(u.registers(tile, budget.lanes) for u in uses)
        loads = Fraction(sum(u.weight * u.elements(tile) for u in uses if not u.kept), prod(tile))
        yield ThreadLoopChoice(names, tile, texts, registers, loads, total)


def _lengths(uses: Sequence[_Use], axis: int, step: int, budget: RegisterBudget) -> Sequence[int]:
    """Lengths of a tile along an axis. Where nothing in registers moves along it, what is loaded falls with every step
    or stays the same: the shortest or the longest is the best."""
    every = range(step, budget.registers * budget.lanes + 1, step)
    return every if any(u.moves[axis] and (u.kept or u.along) for u in uses) else (every[0], every[-1])


def _within(
    steps: Sequence[Sequence[int]], fits: Callable[[tuple[int, ...]], bool], head: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    """The tiles that fit, in order. What a tile needs never shrinks as it grows, so a side that does not fit beside the
    shortest others ends its row."""
    if len(head) == len(steps):
        yield head
        return
    shortest = tuple(s[0] for s in steps[len(head) + 1 :])
    for length in steps[len(head)]:
        if not fits((*head, length, *shortest)):
            return
        yield from _within(steps, fits, (*head, length))


@record
class _Use:
    """A reference in register tiles: the axes it moves along, whether the fast one is among them, whether a thread
    keeps it, and how many accesses an element is."""

    moves: tuple[bool, ...]
    along: bool
    kept: bool
    weight: int

    def elements(self, tile: Sequence[int]) -> int:
        return prod(n for n, moved in zip(tile, self.moves, strict=True) if moved)

    def registers(self, tile: Sequence[int], lanes: int) -> int:
        """Registers for what a thread keeps, or for one step's operands: vectors along the fast axis; of other operands
        one value is held in all lanes at a time."""
        if not self.kept and not self.along:
            return 1
        total = self.elements(tile)
        return -(-total // lanes) if self.along else total


def _use(frame: NestFrame, r: Reference, axes: Sequence[ThreadAxis], fast: str, kept: bool) -> _Use:
    moves = tuple(_moves(frame, r, x) for x in axes)
    along = any(moved for moved, x in zip(moves, axes, strict=True) if x.name == fast)
    return _Use(moves, along, kept, _weight(frame, r))


def _merit(frame: NestFrame, c: ThreadLoopChoice) -> tuple[object, ...]:
    unit = c.threads[-1] == _fast(frame, [frame.axis(n) for n in c.threads])
    return (c.loads, -len(c.threads), not unit, c.registers, c.tile)


def distinct(refs: Sequence[Reference]) -> list[Reference]:
    """One reference for each different element map: a read and a write of an element share its register."""
    out: list[Reference] = []
    for r in refs:
        if not any(_same(r, x) for x in out):
            out.append(r)
    return out


def _same(a: Reference, b: Reference) -> bool:
    return a.array == b.array and a.stmt == b.stmt and bool(a.relation.is_equal(b.relation))


def _weight(frame: NestFrame, r: Reference) -> int:
    """Loads and stores: an element that is read and written counts twice."""
    return len({x.write for x in frame.references if _same(x, r)})


def _moves(frame: NestFrame, r: Reference, axis: ThreadAxis) -> bool:
    row = axis.forms.get(r.stmt)
    if row is None or r.form is None:
        return True
    moving = {k for k, x in enumerate(row.matrix[0]) if x}
    return any(f[k] for f in r.form.matrix for k in moving)


def _is_small(frame: NestFrame, r: Reference, axes: Sequence[ThreadAxis]) -> bool:
    """Does a thread use a constant number of elements again and again? Then it has loops to run by itself, and none of
    them moves the reference."""
    names = {x.name for x in axes}
    own = [x for x in frame.inner if x.name not in names]
    return r.form is not None and bool(own) and not any(_moves(frame, r, x) for x in own)


def _fast(frame: NestFrame, axes: Sequence[ThreadAxis]) -> str:
    """The thread loop along which what is written moves by one element."""
    for x in reversed(axes):
        for r in frame.references:
            row = x.forms[r.stmt]
            if not r.write or r.form is None or row is None or not r.form.matrix:
                continue
            moving = [k for k, c in enumerate(row.matrix[0]) if c]
            last = r.form.matrix[-1]
            if len(moving) == 1 and abs(last[moving[0]]) == 1 and not any(f[moving[0]] for f in r.form.matrix[:-1]):
                return x.name
    return ""
