"""Makes the lowered `Work` of a statement, scalar or vectorized (`Maker`). Classifies each access of a vectorized one:
contiguous, reversed, broadcast, held in a variable, strided and shuffled out of two vectors, or element by element.
`pair` finds two statements whose stride-2 stores interleave, so that both can be stored as whole vectors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field

from codegen.ast.ctree import Bin, CExpr, Instance, Int
from codegen.ast.lowered import Backwards, Contiguous, Each, InVariable, Lanes, One, Picked, Place, Work
from codegen.ast.normal_forms import forms
from codegen.lower.loop_strides import row_stride, unit_stride
from codegen.lower.shift import along, shifted, simple
from codegen.record import record
from codegen.scop.model import Scop, Statement


@record
class Maker:
    """Makes the work of statements: of one iteration, or with `lanes` of a vector of those of the loop `var`. What is
    kept in variables goes by their names, known by the first element."""

    scop: Scop
    var: str = ""
    lanes: Lanes | None = None
    kept: Mapping[Hashable, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return self.lanes.count if self.lanes is not None else 1

    def vectors(self, number: int) -> CExpr:
        """How many iterations that many vectors are."""
        return self.lanes.vectors(number) if self.lanes is not None else Int(number)

    def _last(self) -> CExpr:
        """How many iterations the last lane is behind the first."""
        return simple(Bin("-", self.vectors(1), Int(1)))

    def work(self, s: Statement, at: Instance) -> Work:
        if self.lanes is None:
            return Work(at)
        return Work(at, self.count, tuple(self.place(s, at, k) for k in range(len(s.accesses))))

    def place(self, s: Statement, at: Instance, number: int) -> Place:
        move = unit_stride(s, at, number, self.var)
        if move == -1:
            return Backwards(shifted(at, self.var, self._last()).accesses[number])
        name = self.kept.get(element(s, at, number))
        if name is not None:
            return InVariable(name)
        if move is None:
            return self._far(s, at, number)
        return Contiguous(at.accesses[number]) if move else One(at.accesses[number])

    def apart(self, s: Statement, at: Instance) -> bool:
        """Is what a statement stores not a vector in memory?"""
        return self.lanes is not None and unit_stride(s, at, s.target, self.var) != 1

    def pair(self, a: tuple[Statement, Instance], b: tuple[Statement, Instance]) -> tuple[int, int] | None:
        """In which order the elements of two statements, one right after the other, lie in turn, where nothing but that
        is in between, and both may be stored when both are there."""
        (s, at), (q, there) = a, b
        mine, other = s.accesses[s.target], q.accesses[q.target]
        if (mine.array, mine.path) != (other.array, other.path) or s.op != "=" or q.op != "=":
            return None
        if row_stride(s, at, s.target, self.var) != 2 or row_stride(q, there, q.target, self.var) != 2:
            return None
        if any(x.array == mine.array for x in (*s.reads, *q.reads)):
            return None
        for by, order in ((1, (0, 1)), (-1, (1, 0))):
            if forms(along(at, s.target, by)) == forms(there.accesses[q.target]):
                return order
        return None

    def _far(self, s: Statement, at: Instance, number: int) -> Place:
        """Elements that are not neighbours: picked out of whole vectors where these hold several, else one by one."""
        step, n = row_stride(s, at, number, self.var), self.count
        if step is not None and step > 1 and not _is_written(self.scop, s.accesses[number].array):
            found = picks(step, n, _beside(s, at, number) if step == 2 else 0)
            if found is not None:
                (first, second), places = found
                return Picked((along(at, number, first), along(at, number, second)), places)
        return Each(tuple(shifted(at, self.var, k).accesses[number] for k in range(n)))


def element(s: Statement, at: Instance, number: int) -> Hashable:
    """What tells the element of an access from others."""
    a = s.accesses[number]
    return a.array, a.path, forms(at.accesses[number])


def picks(step: int, n: int, beside: int) -> tuple[tuple[int, int], tuple[int, ...]] | None:
    """How every `step`-th of some elements, `n` in all, are picked out of two vectors that read nothing before the
    first nor behind the last of them: where they begin, and the places in them; None where one by one is as good.
    `beside`: whether each one's neighbour behind it (1) or before it (-1) is read, too: both then come out of the same
    vectors. Neoverse N1, of the speed of gcc's code: lines in the first cache, every second int 1.7, sums of pairs 1.5,
    of triples 0.95; from memory 1.0."""
    wanted = [k * step for k in range(n)]
    first, last = (min(0, beside), min(0, beside) + n) if beside else (0, wanted[-1] - n + 1)
    if (n == 2 and not beside) or any(first + n <= k < last for k in wanted):
        return None
    return (first, last), tuple(k - first if k < first + n else k - last + n for k in wanted)


def _beside(s: Statement, at: Instance, number: int) -> int:
    """Does the statement read the element behind that of an access, too (1), or the one before it (-1)?"""
    mine = s.accesses[number]
    for by in (1, -1):
        index = forms(along(at, number, by))
        for a, there in zip(s.accesses, at.accesses, strict=True):
            if (a.array, a.path) == (mine.array, mine.path) and not a.write and forms(there) == index:
                return by
    return 0


def _is_written(scop: Scop, array: str) -> bool:
    return any(a.write and a.array == array for s in scop.statements for a in s.accesses)
