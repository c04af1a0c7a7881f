"""A loop around others, written as vectors: lanes are its iterations, and each goes through the inner loops in order.

What the inner loops take further in one element for each lane (a sum, a recurrence) stays in registers all the way.
Inner loops that begin or end at different points in different lanes run together where all of them run, and one by one
before and after that. What lanes read along the innermost loop is turned in registers (`target/turn.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from codegen.ast.ctree import (
    Bin,
    Block,
    CExpr,
    CNode,
    For,
    Fun,
    Held,
    Instance,
    Int,
    Name,
    expr_names,
    node_kids,
    substitute,
    walk,
)
from codegen.recognize.stores import conditional
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import SEQUENTIAL
from codegen.target.body import BodyPrinter
from codegen.target.cexpr import IntPrinter
from codegen.target.jam import length, runs_for_sure, shifted, simple
from codegen.target.lane_printer import LanePrinter
from codegen.target.lanes import Lanes, coefficient, computes, strides, width_of
from codegen.target.pieces import View, fresh
from codegen.target.turn import innermost, turnable, turned, written_in

Plain = Callable[[CNode, Mapping[str, str], frozenset[str]], tuple[View, ...]]


def outer_lanes(scop: Scop, node: For) -> Lanes | None:
    """How to write a loop around others as vectors; None where it does not ask for it or has no such form.

    The proofs have shown that its iterations are independent; so some may go through everything inside together.
    """
    if not node.loop.width or node.loop.reductions or not _shape(scop, node):
        return None
    found = tuple((scop.statement(x.stmt), x) for x in walk(node) if isinstance(x, Instance))
    lanes = width_of(scop, node, found)
    if lanes is None:
        return None
    written = written_in(scop, node)
    for at, along in innermost(node.body):
        s = scop.statement(at.stmt)
        reads = frozenset() if along is None else turnable(scop, s, at, node.var, along, written)
        if strides(s, at, s.target, node.var) != 1 or not computes(scop, s, at, node.var, lanes.elem, reads):
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


@dataclass
class OuterPrinter:
    """Views of one such loop. `plain` prints a part as it is."""

    scop: Scop
    node: For
    lanes: Lanes
    params: IntPrinter
    held: dict[str, Held]
    plain: Plain

    def view(self, taken: frozenset[str]) -> View:
        """Blocks of vectors side by side, single vectors, and the rest one by one."""
        node, n = self.node, self.lanes.count
        name = fresh(node.loop.name, taken, ("_end",))
        end = f"{name}_end"
        taken = taken | {name, end}
        self.params.helpers.add(self.lanes.type)
        names = {**self.params.names, node.var: name}
        past = self.params.text(node.upper) if node.op == "<" else f"{self.params.text(node.upper, 5)} + 1"
        blocks = []
        for times in (self.lanes.times, 1) if self.lanes.times > 1 else (1,):
            body = tuple(self._body(node.body, names, taken, times, {}))
            note = f"{n * times} at a time" if times > 1 else "one vector at a time"
            blocks.append(View("for", f"; {name} + {n * times - 1} < {end}; {name} += {n * times}", note, body=body))
            if length(node) % (n * times) == 0:
                break
        else:
            body = self.plain(node.body, names, taken)
            blocks.append(View("for", f"; {name} < {end}; {name}++", "the rest", body=body))
        return View("block", body=(
            View("decl", f"const long {end} = {past};"),
            View("decl", f"long {name} = {self.params.text(node.lower)};"),
            *blocks,
        ))

    def _body(
        self, node: CNode, names: Mapping[str, str], taken: frozenset[str], times: int, kept: Mapping[str, str]
    ) -> Iterator[View]:
        if isinstance(node, Block):
            for child in node.children:
                yield from self._body(child, names, taken, times, kept)
        elif isinstance(node, Instance):
            yield from self._statement(node, names, taken, times, kept)
        else:
            assert isinstance(node, For)
            yield from self._loop(node, names, taken, times, kept)

    def _printer(self, names: Mapping[str, str], kept: Mapping[str, str]) -> LanePrinter:
        ints = IntPrinter(self.params.params, names, self.params.helpers)
        return LanePrinter(self.scop, ints, self.held, self.node.var, self.lanes, kept)

    def _statement(
        self, at: Instance, names: Mapping[str, str], taken: frozenset[str], times: int, kept: Mapping[str, str]
    ) -> Iterator[View]:
        """For every vector: all values first, where they are stored in memory."""
        s, printer = self.scop.statement(at.stmt), self._printer(names, kept)
        lines = []
        for t in range(times):
            there = shifted(at, self.node.var, t * self.lanes.count)
            value, target = printer.parts(s, there)
            lines.append((printer.whole(s.rhs, s, there) if s.op == "=" else value, target))
        if times == 1 or lines[0][1] in kept.values() or {value for value, _ in lines} <= set(kept.values()):
            yield from (View("stmt", f"{target} = {value};", stmt=s.name) for value, target in lines)
            return
        first = fresh("u", taken, tuple(map(str, range(times))))
        kind = self.lanes.type
        yield View("block", body=(
            *(View("stmt", f"const {kind} {first}{t} = {v};", stmt=s.name) for t, (v, _) in enumerate(lines)),
            *(View("stmt", f"{target} = {first}{t};", stmt=s.name) for t, (_, target) in enumerate(lines)),
        ))

    def _loop(
        self, node: For, names: Mapping[str, str], taken: frozenset[str], times: int, kept: Mapping[str, str]
    ) -> Iterator[View]:
        ints = IntPrinter(self.params.params, names, self.params.helpers)
        name = fresh(node.loop.name, taken, ("_from", "_past"))
        if not {direction(node.lower, self.node.var), direction(node.upper, self.node.var)} - {0}:
            yield from self._together(node, {**names, node.var: name}, ints, taken | {name}, times, kept)
            return
        yield View("block", body=tuple(self._parts(node, name, ints, names, taken, times, kept)))

    def _parts(
        self,
        node: For,
        name: str,
        ints: IntPrinter,
        names: Mapping[str, str],
        taken: frozenset[str],
        times: int,
        kept: Mapping[str, str],
    ) -> Iterator[View]:
        """Before all lanes run, while they do, and after."""
        first, past = f"{name}_from", f"{name}_past"
        taken = taken | {name, first, past}
        low, high = self._shared(node, times)
        yield View("decl", f"const long {first} = {ints.text(low)};  /* all lanes run from here */")
        yield View("decl", f"const long {past} = {ints.text(high)};")
        if direction(node.lower, self.node.var):
            yield self._alone(replace(node, upper=Fun("min", (Name(first), _past(node))), op="<"), names, taken, times)
        middle = replace(node, lower=Name(first), upper=Name(past), op="<")
        yield from self._together(middle, {**names, node.var: name}, ints, taken, times, kept)
        if direction(node.upper, self.node.var):
            begin = Fun("max", (Name(first), Name(past)))
            yield self._alone(replace(node, lower=begin, upper=_past(node), op="<"), names, taken, times)

    def _shared(self, node: For, times: int) -> tuple[CExpr, CExpr]:
        """Where all lanes of the block run: from the last beginning to the first end."""
        var, last = self.node.var, times * self.lanes.count - 1

        def at(e: CExpr, end: bool) -> CExpr:
            return simple(substitute(e, {var: Bin("+", Name(var), Int(last))})) if end else e

        low = at(node.lower, direction(node.lower, var) == 1)
        return low, at(_past(node), direction(node.upper, var) == -1)

    def _alone(self, part: For, names: Mapping[str, str], taken: frozenset[str], times: int) -> View:
        """A part of an inner loop, lane by lane."""
        lane = fresh("lane", taken)
        outer = names[self.node.var]
        head = f"long {lane} = {outer}; {lane} < {outer} + {times * self.lanes.count}; {lane}++"
        return View("for", head, body=self.plain(part, {**names, self.node.var: lane}, taken | {lane}))

    def _together(
        self,
        node: For,
        names: Mapping[str, str],
        ints: IntPrinter,
        taken: frozenset[str],
        times: int,
        kept: Mapping[str, str],
    ) -> Iterator[View]:
        """The loop in all lanes; what stays in it, in registers."""
        name, low, high = names[node.var], ints.text(node.lower), ints.text(node.upper, 5)
        ways = list(_ways(node.body, ()))
        tests = self._tests(node, ways)
        texts, written = self._lasting(node, names, times, kept, [at for at, loops in ways if _covered(loops, tests)])
        first = fresh("v", taken | {name}, tuple(map(str, range(len(texts)))))
        own = {text: f"{first}{k}" for k, text in enumerate(texts)}
        cast = self.lanes.type.upper()
        ahead = [View("decl", f"{self.lanes.type} {own[text]} = {cast}({text});") for text in texts]
        after = [View("decl", f"{cast}({text}) = {own[text]};") for text in texts if text in written]
        kept, taken = {**kept, **own}, taken | {name, *own.values()}
        body = tuple(self._body(node.body, names, taken, times, kept))
        n = self.lanes.count
        block = () if 0 <= length(node) < n else self._turned(node, names, taken, times, kept)
        step = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
        begin = f"long {name} = {low}"
        loop = View("for", f"{begin}; {name} {node.op} {high}; {step}", node.loop.note, body=body)
        if block:
            several = View("for", f"; {name} + {n - 1} {node.op} {high}; {name} += {n}", f"{n} turned", body=block)
            rest = View("for", f"; {name} {node.op} {high}; {step}", "the rest", body=body)
            loop = View("block", body=(View("decl", f"{begin};"), several, *((rest,) if length(node) % n else ())))
        asked = [x for x in (node, *tests) if not runs_for_sure(x)]
        runs = dict.fromkeys(f"{ints.text(x.lower, 5)} {x.op} {ints.text(x.upper, 5)}" for x in asked)
        whole = (*ahead, loop, *after)
        yield loop if not texts else View("if", " && ".join(runs), body=whole) if runs else View("block", body=whole)

    def _tests(self, node: For, ways: list[tuple[Instance, tuple[For, ...]]]) -> tuple[For, ...]:
        """Loops inside one without which nothing in it runs, and of which that is known ahead of it."""
        moving = {self.node.var, *(x.var for x in walk(node) if isinstance(x, For))}
        known = [x for x in ways[0][1] if not moving & (expr_names(x.lower) | expr_names(x.upper))]
        return tuple(x for x in known if all(_covered((x,), loops) for _, loops in ways))

    def _turned(
        self, node: For, names: Mapping[str, str], taken: frozenset[str], times: int, kept: Mapping[str, str]
    ) -> tuple[View, ...]:
        """As many iterations of an innermost loop as there are lanes, where some of what it reads has to be turned."""
        one = BodyPrinter(self.scop, IntPrinter(self.params.params, names, self.params.helpers), self.held)
        rows = turned(one, replace(self.lanes, times=times), self.node, node, taken)
        if not rows.lines:
            return ()
        found = [shifted(at, node.var, k) for k in range(self.lanes.count) for at, _ in innermost(node)]
        body = (v for at in found for v in self._statement(at, names, taken, times, {**kept, **rows.known}))
        return (*(View("stmt", text, stmt=stmt) for text, stmt in rows.lines), *body)

    def _lasting(
        self, node: For, names: Mapping[str, str], times: int, kept: Mapping[str, str], sure: list[Instance]
    ) -> tuple[list[str], set[str]]:
        """Elements, as texts, that all accesses of the loop to their arrays go to, one of them in `sure`, which run for
        certain: there may be no such element otherwise. And which of them are written, for certain, too."""
        found = [(self.scop.statement(x.stmt), x) for x in walk(node) if isinstance(x, Instance)]
        bound = {x.var for x in walk(node) if isinstance(x, For)}
        ints = IntPrinter(self.params.params, names, self.params.helpers)
        one = BodyPrinter(self.scop, ints, self.held)
        texts: dict[str, None] = {}
        written: set[str] = set()
        for array in dict.fromkeys(a.array for s, _ in found for a in s.accesses):
            uses = _uses(found, array)
            s, at, k = uses[0]
            place = at.accesses[k], s.accesses[k].path
            alike = all((x.accesses[j], q.accesses[j].path) == place for q, x, j in uses)
            moving = bound & frozenset().union(*(expr_names(e) for e in at.accesses[k]))
            writes = [use for use in uses if use[0].accesses[use[2]].write]
            if not any(x is y for _, x, _ in writes or uses for y in sure):
                continue
            if not alike or moving or strides(s, at, k, self.node.var) != 1 or self.scop.arrays[array].inside:
                continue
            own = [one.access(s, shifted(at, self.node.var, t * self.lanes.count), k) for t in range(times)]
            if own[0] in kept:
                continue
            texts |= dict.fromkeys(own)
            if writes:
                written |= set(own)
        return list(texts), written


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


def _uses(found: list[tuple[Statement, Instance]], array: str) -> list[tuple[Statement, Instance, int]]:
    return [(s, at, k) for s, at in found for k, a in enumerate(s.accesses) if a.array == array]


def _past(node: For) -> CExpr:
    """Where a loop ends, which it does not reach."""
    return node.upper if node.op == "<" else simple(Bin("+", node.upper, Int(1)))
