"""Rows that are read along an inner loop and turned in registers, so that lanes run along the loop around it.

`B[k][j] = A[j][k]` is stored along j and read along k. Lanes along j, a vector along k from each of their rows, and as
many turned into each other as a vector has lanes: every element is read once, by whole vectors, as it is stored. Each
lane still goes through k in order; so a sum along every row, `y[j] += A[j][k]`, has its vectors, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from codegen.ast.ctree import Block, CNode, For, Instance, walk
from codegen.record import record
from codegen.scop.model import Scop, Statement
from codegen.target.body import BodyPrinter
from codegen.target.jam import shifted
from codegen.target.lanes import Lanes, same, strides
from codegen.target.pieces import fresh


def innermost(node: CNode, around: For | None = None) -> Iterator[tuple[Instance, For | None]]:
    """All instances, each with the loop that it stands in, if nothing but others of them stand there."""
    if isinstance(node, Instance):
        yield node, around
    elif isinstance(node, For):
        inside = node.body.children if isinstance(node.body, Block) else (node.body,)
        plain = node.step == 1 and all(isinstance(x, Instance) for x in inside)
        for x in inside:
            yield from innermost(x, node if plain else None)
    elif isinstance(node, Block):
        for x in node.children:
            yield from innermost(x)


def turnable(scop: Scop, s: Statement, at: Instance, var: str, along: For, written: Collection[str]) -> frozenset[int]:
    """The reads that move along lines with the loop `along` and some other way with `var`. Vectors are read ahead of
    the iterations that use them, so nobody may write there meanwhile."""
    elem = scop.arrays[s.accesses[s.target].array].elem
    return frozenset(
        k
        for k, a in enumerate(s.accesses)
        if not a.write
        and a.array not in written
        and not scop.arrays[a.array].inside
        and same(scop.arrays[a.array].elem, elem)
        and strides(s, at, k, var) is None
        and strides(s, at, k, along.var) == 1
    )


def written_in(scop: Scop, node: CNode) -> frozenset[str]:
    """The arrays that a part of the program writes."""
    found = (scop.statement(x.stmt) for x in walk(node) if isinstance(x, Instance))
    return frozenset(s.accesses[s.target].array for s in found)


@record
class Turned:
    """Vectors that are read and turned for as many iterations of an innermost loop as they have lanes."""

    lines: tuple[tuple[str, str], ...]  # texts, and the statements that they are for
    known: Mapping[str, str]  # where vectors are, by the text of their first element


def turned(one: BodyPrinter, lanes: Lanes, node: For, along: For, taken: frozenset[str]) -> Turned:
    """What the statements of the loop `along` read for the lanes of `node`, which is around it."""
    scop, written = one.scop, written_in(one.scop, node)
    found = [(scop.statement(at.stmt), at) for at, loop in innermost(along) if loop is along]
    reads = [(s, at, k) for s, at in found for k in sorted(turnable(scop, s, at, node.var, along, written))]
    most = len(reads) * lanes.times * lanes.count * lanes.count.bit_length()
    turner = _Turner(one, lanes, node.var, along.var, fresh("r", taken, tuple(map(str, range(most)))))
    for s, at, number in reads:
        for block in range(lanes.times):
            turner.add(s, at, number, block)
    return Turned(tuple(turner.lines), turner.known)


@dataclass
class _Turner:
    one: BodyPrinter
    lanes: Lanes
    var: str
    along: str
    stem: str  # of the names of vectors, to which numbers are added
    lines: list[tuple[str, str]] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)
    made: dict[tuple[str, int, int], str] = field(default_factory=dict)  # by first row, how often zipped, and place

    def add(self, s: Statement, at: Instance, number: int, block: int) -> None:
        """A read, for the vector with number `block` of those side by side."""
        n = self.lanes.count
        first = shifted(at, self.var, block * n)
        rows = [self.one.access(s, shifted(first, self.var, k), number) for k in range(n)]
        for k in range(n):
            text = self.one.access(s, shifted(shifted(at, self.along, k), self.var, block * n), number)
            if text not in self.known:
                self.known[text] = self._vector(rows, n.bit_length() - 1, k, s.name)

    def _vector(self, rows: list[str], times: int, place: int, stmt: str) -> str:
        """Zipping row k and row k + n/2, for each k, turns an n x n block after log2(n) times."""
        key = rows[0], times, place
        if key not in self.made:
            kind, half = self.lanes.type, len(rows) // 2
            value = f"{kind.upper()}({rows[place]})"
            if times:
                sides = (self._vector(rows, times - 1, k, stmt) for k in (place // 2, place // 2 + half))
                value = f"{kind}_{'high' if place % 2 else 'low'}({', '.join(sides)})"
                self.one.ints.helpers.add(f"{kind}_low")
            self.made[key] = f"{self.stem}{len(self.made)}"
            self.lines.append((f"const {kind} {self.made[key]} = {value};", stmt))
        return self.made[key]
