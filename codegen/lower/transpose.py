"""Transposes in registers: rows are loaded along an inner loop and transposed, so that lanes run along the loop around
it.

`B[k][j] = A[j][k]` is stored along j and read along k. Lanes along j, a vector along k from each of their rows, and as
many turned into each other as a vector has lanes: every element is read once, by whole vectors, as it is stored. Each
lane still goes through k in order; so a sum along every row, `y[j] += A[j][k]`, has its vectors, too.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import field

from codegen.ast.ctree import Block, CNode, For, Instance, walk
from codegen.ast.lowered import Body, Contiguous, Index, Item, Lanes, Load, Zip
from codegen.lower.lane_accesses import element
from codegen.lower.loop_strides import unit_stride
from codegen.lower.shift import shifted
from codegen.recognize.lanes import same
from codegen.record import mutable, record
from codegen.scop.model import Scop, Statement


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


def transposable(
    scop: Scop, s: Statement, at: Instance, var: str, along: For, written: Collection[str]
) -> frozenset[int]:
    """The reads that move along rows with the loop `along` and some other way with `var`. Vectors are read ahead of
    the iterations that use them, so nobody may write there meanwhile."""
    elem = scop.arrays[s.accesses[s.target].array].elem
    return frozenset(
        k
        for k, a in enumerate(s.accesses)
        if not a.write
        and a.array not in written
        and not scop.arrays[a.array].inside
        and same(scop.arrays[a.array].elem, elem)
        and unit_stride(s, at, k, var) is None
        and unit_stride(s, at, k, along.var) == 1
    )


def written_below(scop: Scop, node: CNode) -> frozenset[str]:
    """The arrays that a part of the program writes."""
    found = (scop.statement(x.stmt) for x in walk(node) if isinstance(x, Instance))
    return frozenset(s.accesses[s.target].array for s in found)


@record
class TransposedRows:
    """Vectors that are read and turned for as many iterations of an innermost loop as they have lanes."""

    body: Body
    known: Mapping[Hashable, str]  # where vectors are, by their first element


def transposed(scop: Scop, lanes: Lanes, times: int, node: For, along: For) -> TransposedRows:
    """What the statements of the loop `along` read for the lanes of `node`, which is around it."""
    written = written_below(scop, node)
    found = [(scop.statement(at.stmt), at) for at, loop in innermost(along) if loop is along]
    reads = [(s, at, k) for s, at in found for k in sorted(transposable(scop, s, at, node.var, along, written))]
    turner = _Transposer(lanes, node.var, along.var)
    for s, at, number in reads:
        for block in range(times):
            turner.add(s, at, number, block)
    return TransposedRows(tuple(turner.body), turner.known)


@mutable
class _Transposer:
    lanes: Lanes
    var: str
    along: str
    body: list[Item] = field(default_factory=list)
    known: dict[Hashable, str] = field(default_factory=dict)
    made: dict[Hashable, str] = field(default_factory=dict)  # by first row, how often zipped, and place

    def add(self, s: Statement, at: Instance, number: int, block: int) -> None:
        """A read, for the vector with number `block` of those side by side."""
        n = self.lanes.count
        first = shifted(at, self.var, block * n)
        rows = [shifted(first, self.var, k).accesses[number] for k in range(n)]
        key = element(s, first, number)
        for k in range(n):
            there = element(s, shifted(shifted(at, self.along, k), self.var, block * n), number)
            if there not in self.known:
                self.known[there] = self._vector(key, rows, n.bit_length() - 1, k, s, number)

    def _vector(self, first: Hashable, rows: list[Index], times: int, place: int, s: Statement, number: int) -> str:
        """Zipping row k and row k + n/2, for each k, turns an n x n block after log2(n) times."""
        key = first, times, place
        if key not in self.made:
            half = len(rows) // 2
            sides = [
                self._vector(first, rows, times - 1, k, s, number)
                for k in (place // 2, place // 2 + half)
                if times
            ]
            name = self.made[key] = f"r.{len(self.made)}"
            if sides:
                self.body.append(Zip(name, (sides[0], sides[1]), place % 2 == 1, s.name))
            else:
                self.body.append(Load(name, s.name, number, Contiguous(rows[place]), self.lanes.count))
        return self.made[key]
