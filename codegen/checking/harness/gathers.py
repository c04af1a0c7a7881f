"""Indirect subscripts (`a[idx[i]]`) in a check: finds the variables whose values become subscripts or loop bounds, and
computes the least and largest index that such a subscript takes. The C of `emit.py` fills the arrays.

What subscripts are made of gets small numbers that are not negative (`Kind.SUBSCRIPT`), so that sizes can be found
for the arrays which they are subscripts of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import reduce

import islpy as isl
from pycparser import c_ast

from codegen.checking.harness.paths import Path, names_in, nodes_in
from codegen.diagnostics import Unsupported
from codegen.recognize.access.intervals import Interval, interval, union
from codegen.recognize.access.reach import far
from codegen.record import mutable, record
from codegen.scop.expr import Affine, Binary, DataBlock, DataLoop, Declare, Expr, Gather, Ref, Store, Sym, Ternary, walk
from codegen.scop.model import Scop, Statement

SMALL = (0, 3)  # what such elements are filled with
REAL = 2  # and more than any other number


def index_sources(statements: Sequence[c_ast.Node]) -> frozenset[str]:
    """Variables whose values become subscripts or bounds, or values of such variables."""
    nodes = list(nodes_in(statements))
    found = names_in([n.subscript for n in nodes if isinstance(n, c_ast.ArrayRef)])
    found |= names_in([x for n in nodes if isinstance(n, c_ast.For) for x in (n.init, n.cond) if x is not None])
    while True:
        more = {name for n in nodes for target, value in _set(n) if target in found for name in names_in([value])}
        if more <= found:
            return frozenset(found)
        found |= more


def _set(node: c_ast.Node) -> Iterator[tuple[str, c_ast.Node]]:
    """The variable that a node changes, and the value it gets."""
    if isinstance(node, c_ast.Decl) and node.init is not None:
        yield str(node.name), node.init
    if isinstance(node, c_ast.Assignment):
        place = node.lvalue
        while isinstance(place, (c_ast.ArrayRef, c_ast.StructRef, c_ast.UnaryOp)):
            place = place.expr if isinstance(place, c_ast.UnaryOp) else place.name
        if isinstance(place, c_ast.ID):
            yield str(place.name), node.rvalue


def _joined(e: Expr) -> Iterator[Expr]:
    """What `&&` joins to a condition."""
    if isinstance(e, Binary) and e.op == "&&":
        yield from _joined(e.left)
        yield from _joined(e.right)
    else:
        yield e


@record
class Aim:
    """A subscript that depends on data, and the array at a level of the path from a variable that it is for."""

    base: str
    path: Path
    statement: Statement
    subscript: Expr


def aims_of(scop: Scop) -> tuple[Aim, ...]:
    """Every such subscript of a region."""
    out = []
    for s in scop.statements:
        for e in walk(s.rhs):
            if isinstance(e, Gather):
                path: Path = ()
                for step in s.accesses[e.access].path:
                    if step.kind == "data":
                        base = scop.arrays[s.accesses[e.access].array].base
                        out.append(Aim(base, path, s, e.args[step.index]))
                    path = path if step.kind == "member" else (*path, "*")
                    path = (*path, f".{step.text}") if step.kind in ("member", "arrow") else path
    return tuple(out)


@mutable
class Aimed:
    """Where subscripts lead for certain values of the parameters, by their C texts."""

    scop: Scop
    values: Mapping[str, int]
    spans: Mapping[tuple[str, Path], tuple[int, int]] = field(default_factory=dict)  # where each array is touched
    known: dict[str, Interval | None] = field(default_factory=dict)

    def at(self, aim: Aim) -> tuple[int, int] | None:
        """The least and the largest index; None where the statement does not run. Raises Unsupported if not known."""
        if self._fixed(aim.statement.domain).is_empty():
            return None
        ends = self._interval(aim.statement, aim.subscript)
        if ends is None or far(ends):
            why = f"how much memory `{aim.base}` needs is not known"
            raise Unsupported("unknown-size", why, aim.statement.loc)
        return int(ends[0]), int(ends[1])

    def _interval(self, s: Statement, e: Expr) -> Interval | None:
        return interval(self.scop, s, e, lambda x: self._leaf(s, x))

    def _leaf(self, s: Statement, e: Expr) -> Interval | None:
        if isinstance(e, Affine):
            image = self._fixed(isl.Map.from_pw_aff(s.values[e.value]).intersect_domain(s.domain).range())
            low, high = image.dim_min_val(0), image.dim_max_val(0)
            return (int(low.to_python()), int(high.to_python())) if low.is_int() and high.is_int() else None
        if isinstance(e, Sym):
            value = self.values.get(e.text)
            return self._variable(s, e.text) if value is None else (value, value)
        assert isinstance(e, (Ref, Gather))
        return self._array(s.accesses[e.access].array)

    def _variable(self, s: Statement, name: str) -> Interval | None:
        """The values of a variable of a loop that data decide about; None if it has any but the first one."""
        loop = next((e for e in walk(s.rhs) if isinstance(e, DataLoop) and e.counter == name), None)
        if loop is not None:
            return self._counted(s, loop)
        places = (e.place for e in walk(s.rhs) if isinstance(e, Store))
        stored = any(isinstance(x, Sym) and x.text == name for x in places)
        own = next((e for e in walk(s.rhs) if isinstance(e, Declare) and e.name == name), None)
        return None if stored or own is None or own.value is None else self._interval(s, own.value)

    def _counted(self, s: Statement, loop: DataLoop) -> Interval | None:
        """From the first value up or down to the nearest limit that the counter is compared with."""
        found = [ends for c in _joined(loop.cond) if (ends := self._limited(s, loop, c)) is not None]
        if not found:
            return None
        low = max(ends[0] for ends in found)
        return low, max(low, min(ends[1] for ends in found))

    def _limited(self, s: Statement, loop: DataLoop, cond: Expr) -> Interval | None:
        """The values as far as one comparison goes."""
        if not isinstance(cond, Binary) or cond.left != Sym(loop.counter, loop.ctype):
            return None
        first, last = self._interval(s, loop.first), self._interval(s, cond.right)
        if first is None or last is None or cond.op not in ("<", "<=", ">", ">="):
            return None
        more = 1 - len(cond.op) // 2  # `<` ends one before the limit
        if (loop.step > 0) != cond.op.startswith("<"):
            return None
        if loop.step > 0:
            return first[0], max(first[0], last[1] - more)
        return min(first[1], last[0] + more), first[1]

    def _array(self, name: str) -> Interval | None:
        """The values that elements have at the start or get in the region."""
        if name not in self.known:
            self.known[name] = None  # meanwhile: a value made of itself may grow
            array = self.scop.arrays[name]
            kind = array.part or array.elem
            first: Interval = SMALL if kind.is_int else (0, REAL + max(self.values.values(), default=0))
            first = self._places(array.base) if array.distinct else first
            self.known[name] = self._written(name, first) if kind.kind in ("int", "float") else None
        return self.known[name]

    def _places(self, base: str) -> Interval:
        """The values of distinct elements, which are near their places in memory."""
        low, high = self.spans.get((base, ()), (0, 0))
        return 0, max(high, high - low) + SMALL[1]

    def _written(self, name: str, first: Interval) -> Interval | None:
        total: Interval | None = first
        for s in self.scop.statements:
            if s.accesses[s.target].array == name:
                total = union(total, self._stored(s, s.rhs, name) if s.op == "=" else None)
        return total

    def _stored(self, s: Statement, e: Expr, name: str) -> Interval | None:
        """What a statement stores; a branch that leaves the target alone adds nothing."""
        if isinstance(e, Ternary):
            own = [x for x in (e.yes, e.no) if not (isinstance(x, Ref) and s.accesses[x.access].array == name)]
            ends = [self._stored(s, x, name) for x in own]
            return ends[0] if len(ends) == 1 else union(*ends) if ends else SMALL
        if isinstance(e, Store):
            return self._interval(s, e.value) if e.op == "=" else None
        if isinstance(e, (DataBlock, DataLoop)):
            ends = [self._stored(s, x, name) for x in walk(e) if isinstance(x, Store) and not isinstance(x.place, Sym)]
            return reduce(union, ends) if ends else SMALL
        return self._interval(s, e)

    def _fixed(self, s: isl.Set) -> isl.Set:
        for p in self.scop.params:
            pos = s.find_dim_by_name(isl.dim_type.param, p.name)
            if pos >= 0:
                s = s.fix_val(isl.dim_type.param, pos, isl.Val(self.values[p.text]))
        return s
