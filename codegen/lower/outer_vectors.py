"""Outer-loop vectorization: lanes are iterations of a loop around others, and each lane goes through the inner loops in
order.

What the inner loops take further in one element for each lane (a sum, a recurrence) stays in registers all the way.
Inner loops that begin or end at different points in different lanes run together where all of them run, and one by one
before and after that. What lanes read along the innermost loop is transposed in registers (`lower/transpose.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace

from codegen.ast.ctree import (
    Bin,
    Block,
    CExpr,
    CNode,
    For,
    Fun,
    Instance,
    Int,
    Name,
    expr_names,
    node_kids,
    substitute,
    walk,
)
from codegen.ast.linear import coefficient
from codegen.ast.lowered import (
    WIDTHS,
    Alone,
    Body,
    Braces,
    Contiguous,
    Do,
    InVariable,
    Item,
    Lanes,
    Load,
    Plain,
    Split,
    StoreValue,
    Strips,
    Together,
    Value,
    While,
)
from codegen.lower.lane_accesses import Maker, element
from codegen.lower.lanes import may_be_wider
from codegen.lower.loop_strides import loop_strides, unit_stride
from codegen.lower.shift import length, past, runs_for_sure, shifted, simple
from codegen.lower.statements import lanes_asked
from codegen.lower.transpose import innermost, transposable, transposed, written_below
from codegen.recognize.access.extent import longest, longest_within
from codegen.recognize.lanes import computes
from codegen.recognize.stores import conditional
from codegen.record import record
from codegen.scop.expr import Ref
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import SEQUENTIAL

Registers = Mapping[Hashable, str]


def outer_lanes(scop: Scop, node: For, wider: bool = False) -> Strips | None:
    """Blocks of vectors side by side, single vectors, and the rest one by one: a loop around others in vectors; None
    where it does not ask for it or has no such form. `wider` as for `in_lanes`."""
    lanes = _lanes(scop, node)
    if lanes is None:
        return None
    most = _most(scop, node) if wider else longest(scop, node.loop)
    lanes = replace(lanes, wider=wider and _may_be_wider(scop, node, lanes, most))
    n, parts = lanes.count, []
    for times in _side_by_side(node.loop.factor, lanes, most):
        body = tuple(_Outer(scop, node, lanes, times).body(node.body, {}))
        parts.append(While(n * times, body, _note(lanes, times)))
        if length(node) % (times * (WIDTHS[-1] // lanes.elem.bytes if lanes.wider else n)) == 0:
            break
    else:
        parts.extend(_left_over(scop, node, lanes))
    return Strips(node, tuple(parts), lanes)


def _left_over(scop: Scop, node: For, lanes: Lanes) -> Iterator[While]:
    """What long vectors leave over, in the shortest; and the rest one by one. Elements in variables, as vectors have
    them, are no faster there: 0.9 of the speed with 3, 7 and 23 channels, f32, 3 x 3 taps, on a Neoverse N1."""
    short = replace(lanes, count=WIDTHS[0] // lanes.elem.bytes, wider=False)
    if (lanes.wider or lanes.count > short.count) and _bounds_shared(node):
        body = tuple(_Outer(scop, node, short, 1).body(node.body, {}))
        yield While(short.count, body, "one of the shortest at a time", lanes=short)
    yield While(1, (Plain(_plain(node.body)),), "the rest")


def _most(scop: Scop, node: For) -> int | None:
    """How many iterations a loop has at most, whatever the parameters and the loops around it are at; None: any number.
    Bounds show it, or what statements in it do."""
    ends = node.upper.args if isinstance(node.upper, Fun) and node.upper.name == "min" else (node.upper,)
    known = [n for end in ends if (n := length(replace(node, upper=end))) >= 0]
    by_parameters = longest(scop, node.loop)
    if by_parameters is not None:
        known.append(by_parameters)
    each = [_most_of(scop, node, x) for x in walk(node) if isinstance(x, Instance)]
    if None not in each:
        known.append(max(x for x in each if x is not None))
    return min(known, default=None)


def _most_of(scop: Scop, node: For, at: Instance) -> int | None:
    """In how many iterations a statement runs at most while the loops around stay where they are."""
    if Name(node.var) not in at.iterators:
        return None
    moving = {x.var for x in walk(node) if isinstance(x, For)}
    outer = tuple(k for k, e in enumerate(at.iterators) if not moving & expr_names(e))
    return longest_within(scop, scop.statement(at.stmt), outer, at.iterators.index(Name(node.var)))


def _side_by_side(factor: int, lanes: Lanes, most: int | None) -> list[int]:
    """How many vectors a step takes, in the order of the parts: as many as the plan asks for, then one. A loop of at
    most so many iterations has no such step where vectors are too long for it; then fewer of them."""
    if most is None:
        counts = {factor, 1}
    elif not lanes.wider:
        counts = {factor, 1} if lanes.count * factor <= most else {1}
    else:
        fits = (min(factor, most * lanes.elem.bytes // width) for width in WIDTHS)
        counts = {1, *(1 << (x.bit_length() - 1) if x < factor else x for x in fits)}
    return sorted(counts, reverse=True)


def _note(lanes: Lanes, times: int) -> str:
    if times == 1:
        return "one vector at a time"
    return f"{times} vectors at a time" if lanes.wider else f"{lanes.count * times} at a time"


def _may_be_wider(scop: Scop, node: For, lanes: Lanes, most: int | None) -> bool:
    """Do longer vectors find what they need in the same way, and are there iterations for them? Not where lanes begin
    or end elsewhere in loops inside, nor where rows are transposed."""
    found = tuple((scop.statement(x.stmt), x) for x in walk(node) if isinstance(x, Instance))
    # What is left over runs one by one: a short loop should be several of the longest vectors, or just one.
    enough = most is None or most * lanes.elem.bytes >= 2 * WIDTHS[-1] or length(node) * lanes.elem.bytes == WIDTHS[-1]
    return _bounds_shared(node) and enough and may_be_wider(scop, node, lanes, found)


def _bounds_shared(node: For) -> bool:
    """Do loops inside begin and end alike in all lanes?"""
    inner = (x for x in walk(node) if isinstance(x, For) and x is not node)
    return all(direction(e, node.var) == 0 for x in inner for e in (x.lower, x.upper))


def _lanes(scop: Scop, node: For) -> Lanes | None:
    if not node.loop.width or node.loop.reductions or not _shape(scop, node):
        return None
    found = tuple((scop.statement(x.stmt), x) for x in walk(node) if isinstance(x, Instance))
    lanes = lanes_asked(scop, node, found)
    if lanes is None:
        return None
    written = written_below(scop, node)
    for at, along in innermost(node.body):
        s = scop.statement(at.stmt)
        reads = frozenset() if along is None else transposable(scop, s, at, node.var, along, written)
        moves = loop_strides(s, at, node.var)
        if moves.steps[s.target] != 1 or not computes(scop, s, moves, lanes.elem, reads):
            return None
    return lanes


def _shape(scop: Scop, node: For) -> bool:
    """Are there loops inside, in order, with bounds that lanes can share, and plain assignments?"""
    inner = [x for x in walk(node) if isinstance(x, For) and x is not node]
    for x in walk(node):
        if isinstance(x, Instance):
            s = scop.statement(x.stmt)
            if scop.arrays[s.accesses[s.target].array].inside or conditional(s):
                return False
        elif not isinstance(x, (For, Block)):
            return False
    for x in inner:
        ways = direction(x.lower, node.var), direction(x.upper, node.var)
        if x.loop.kind != SEQUENTIAL or None in ways or (ways != (0, 0) and x.step != 1):
            return False
    return bool(inner)


def direction(e: CExpr, var: str) -> int | None:
    """Does the expression grow with the variable (1), shrink (-1), or neither (0)? None when that is not known."""
    if var not in expr_names(e):
        return 0
    plain = coefficient(e, var)
    if plain is not None:
        return (plain > 0) - (plain < 0)
    if isinstance(e, Fun) and e.name in ("min", "max"):
        ways = {direction(x, var) for x in e.args} - {0}
        return ways.pop() if len(ways) == 1 else None
    return None


@record
class _Outer:
    """Makes the body of one step: `times` vectors of iterations of `node`."""

    scop: Scop
    node: For
    lanes: Lanes
    times: int

    def body(self, node: CNode, kept: Registers) -> Iterator[Item]:
        if isinstance(node, Block):
            for child in node.children:
                yield from self.body(child, kept)
        elif isinstance(node, Instance):
            yield from self._statement(node, kept)
        else:
            assert isinstance(node, For)
            shared = not {direction(e, self.node.var) for e in (node.lower, node.upper)} - {0}
            yield self._together(node, kept) if shared else self._split(node, kept)

    def _statement(self, at: Instance, kept: Registers) -> Iterator[Item]:
        """For every vector: all values first, where they are stored in memory."""
        s, make = self.scop.statement(at.stmt), Maker(self.scop, self.node.var, self.lanes, kept)
        works = [make.work(s, shifted(at, self.node.var, self.lanes.vectors(t))) for t in range(self.times)]
        ready = s.op == "=" and isinstance(s.rhs, Ref) and isinstance(works[0].places[s.rhs.access], InVariable)
        if self.times == 1 or isinstance(works[0].places[s.target], InVariable) or ready:
            yield from map(Do, works)
            return
        values = (Value(f"u.{t}", w) for t, w in enumerate(works))
        yield Braces((*values, *(StoreValue(w, f"u.{t}") for t, w in enumerate(works))))

    def _split(self, node: For, kept: Registers) -> Split:
        """Before all lanes run, while they do, and after."""
        names = f"{node.var}.from", f"{node.var}.past"
        first, end = Name(names[0]), Name(names[1])
        low, high = self._shared(node)
        count = self.times * self.lanes.count
        plain = replace(node, carried=(), body=_plain(node.body))
        before = after = None
        if direction(node.lower, self.node.var):
            before = Alone(replace(plain, upper=Fun("min", (first, past(node))), op="<"), self.node.var, count)
        if direction(node.upper, self.node.var):
            begin = Fun("max", (first, end))
            after = Alone(replace(plain, lower=begin, upper=past(node), op="<"), self.node.var, count)
        middle = self._together(replace(plain, lower=first, upper=end, op="<"), kept)
        return Split(node, names, low, high, before, middle, after)

    def _shared(self, node: For) -> tuple[CExpr, CExpr]:
        """Where all lanes of the block run: from the last beginning to the first end."""
        var, last = self.node.var, self.times * self.lanes.count - 1

        def at(e: CExpr, end: bool) -> CExpr:
            return simple(substitute(e, {var: Bin("+", Name(var), Int(last))})) if end else e

        low = at(node.lower, direction(node.lower, var) == 1)
        return low, at(past(node), direction(node.upper, var) == -1)

    def _together(self, node: For, kept: Registers) -> Together:
        """The loop in all lanes; what stays in it, in registers."""
        ways = list(_ways(node.body, ()))
        tests = self._tests(node, ways)
        loads, written = self._fixed_elements(node, kept, [at for at, loops in ways if _covered(loops, tests)])
        kept = {**kept, **{key: x.name for key, x in loads.items()}}
        n = self.lanes.count
        several = () if 0 <= length(node) < n else self._transposed_block(node, kept)
        asked = tuple(x for x in (node, *tests) if not runs_for_sure(x))
        return Together(
            node,
            tuple(self.body(node.body, kept)),
            tuple(loads.values()),
            tuple(x for key, x in loads.items() if key in written),
            asked if loads else (),
            several,
            n if several else 1,
            not several or length(node) % n != 0,
        )

    def _tests(self, node: For, ways: list[tuple[Instance, tuple[For, ...]]]) -> tuple[For, ...]:
        """Loops inside one without which nothing in it runs, and of which that is known ahead of it."""
        moving = {self.node.var, *(x.var for x in walk(node) if isinstance(x, For))}
        known = [x for x in ways[0][1] if not moving & (expr_names(x.lower) | expr_names(x.upper))]
        return tuple(x for x in known if all(_covered((x,), loops) for _, loops in ways))

    def _transposed_block(self, node: For, kept: Registers) -> Body:
        """As many iterations of an innermost loop as there are lanes, where some of what it reads is transposed."""
        rows = transposed(self.scop, self.lanes, self.times, self.node, node)
        if not rows.body:
            return ()
        found = [shifted(at, node.var, k) for k in range(self.lanes.count) for at, _ in innermost(node)]
        return (*rows.body, *(x for at in found for x in self._statement(at, {**kept, **rows.known})))

    def _fixed_elements(
        self, node: For, kept: Registers, sure: list[Instance]
    ) -> tuple[dict[Hashable, Load], set[Hashable]]:
        """Elements that all accesses of the loop to their arrays go to, one of them in `sure`, which run for certain:
        there may be no such element otherwise. And which of them are written, for certain, too."""
        found = [(self.scop.statement(x.stmt), x) for x in walk(node) if isinstance(x, Instance)]
        bound = {x.var for x in walk(node) if isinstance(x, For)}
        loads: dict[Hashable, Load] = {}
        written: set[Hashable] = set()
        single = self._lane_by_lane(node)
        stem = "v" + "'" * len({name.partition(".")[0] for name in kept.values()})
        for array in dict.fromkeys(a.array for s, _ in found for a in s.accesses):
            uses = [(s, at, k) for s, at in found for k, a in enumerate(s.accesses) if a.array == array]
            s, at, k = uses[0]
            place = at.accesses[k], s.accesses[k].path
            alike = all((x.accesses[j], q.accesses[j].path) == place for q, x, j in uses)
            moving = bound & frozenset().union(*(expr_names(e) for e in at.accesses[k]))
            writes = [use for use in uses if use[0].accesses[use[2]].write]
            if not any(x is y for _, x, _ in writes or uses for y in sure):
                continue
            if not alike or moving or unit_stride(s, at, k, self.node.var) != 1 or self.scop.arrays[array].inside:
                continue
            if array in single:
                continue
            for there in self._blocks(at):
                key = element(s, there, k)
                if key in kept:
                    break
                if key not in loads:
                    loads[key] = self._load(f"{stem}.{len(loads)}", s, there, k)
                if writes:
                    written.add(key)
        return loads, written

    def _lane_by_lane(self, node: For) -> set[str]:
        """Arrays that loops inside this one use in memory, since some lanes run alone in them."""
        inner = (x for x in walk(node.body) if isinstance(x, For))
        apart = [x for x in inner if {direction(e, self.node.var) for e in (x.lower, x.upper)} - {0}]
        found = (self.scop.statement(y.stmt) for x in apart for y in walk(x) if isinstance(y, Instance))
        return {a.array for s in found for a in s.accesses}

    def _blocks(self, at: Instance) -> list[Instance]:
        """A statement in the first lane of each vector."""
        return [shifted(at, self.node.var, self.lanes.vectors(t)) for t in range(self.times)]

    def _load(self, name: str, s: Statement, at: Instance, number: int) -> Load:
        return Load(name, s.name, number, Contiguous(at.accesses[number]), self.lanes.count, fixed=False)


def _plain(node: CNode) -> CNode:
    """A part whose loops keep nothing in variables."""
    if isinstance(node, Block):
        return Block(tuple(map(_plain, node.children)))
    return replace(node, carried=(), body=_plain(node.body)) if isinstance(node, For) else node


def _ways(node: CNode, loops: tuple[For, ...]) -> Iterator[tuple[Instance, tuple[For, ...]]]:
    """Statements, each with the loops around it that may have no iterations."""
    if isinstance(node, For):
        loops = loops if runs_for_sure(node) else (*loops, node)
    if isinstance(node, Instance):
        yield node, loops
    for kid in node_kids(node):
        yield from _ways(kid, loops)


def _covered(loops: tuple[For, ...], by: tuple[For, ...]) -> bool:
    """Do all of some loops run where others do?"""
    return all(any((x.lower, x.op, x.upper) == (y.lower, y.op, y.upper) for y in by) for x in loops)
