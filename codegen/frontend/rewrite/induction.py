"""Induction variables rewritten as affine formulas of the loop counters.

After `k = 0;` the k of `for (y ..) for (x ..) a[k++] = 0;` is `y * w + x`: what a loop adds in each iteration times the
iterations before this one. Every use of such a variable becomes its formula, what set it is gone, and where the
function looks at it later, it gets its last value behind the loops. One that does not move evenly stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from pycparser import c_ast

from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.prescan import Prescan, prescan
from codegen.frontend.rewrite.closed_forms import StepSum, closed_form
from codegen.frontend.rewrite.initial_values import Entries
from codegen.frontend.rewrite.pointers.steps import CountedWalk, Steady, advance, trips
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.live import addressed
from codegen.frontend.syntax.origins import origins_of
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import (
    STEPS,
    assigned,
    declared,
    in_turn,
    items_of,
    mapped,
    names,
    nodes,
    shadowing,
    with_statements,
)
from codegen.record import mutable, record

_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


class _GivesUp(Exception):
    """A variable has no formula where it is needed, or (`wanted`) another one needs its formula."""

    def __init__(self, name: str, wanted: str = "") -> None:
        super().__init__(name)
        self.name, self.wanted = name, wanted


def with_formulas(site: RegionSite) -> RegionSite:
    """The region without the integers that move evenly."""
    region = c_ast.Compound(list(site.statements))
    allowed = _candidates(site, region)
    tracked, refused = _moving(region) & allowed, set[str]()
    if not tracked:
        return site
    site = replace(site, origins=origins_of(site))
    scan = prescan(site)
    while tracked:
        maker = _Inductions(site, scan, frozenset(tracked), allowed - refused, Entries(site))
        try:
            made = maker.region()
        except _GivesUp as why:
            if why.wanted and why.wanted not in tracked:
                tracked.add(why.wanted)
            else:
                refused.add(why.name)
                tracked.discard(why.name)
            continue
        return maker.entries.into(with_statements(site, made))
    return site


def _candidates(site: RegionSite, region: c_ast.Node) -> set[str]:
    """Integers that only the region's own assignments change while it runs, with one meaning in all of it."""
    shapes = {n: v.shape for n, v in site.variables.items() if v.place != "global" and not v.static}
    here = Counter(declared(region))
    twice = {n for n, count in here.items() if count > 1 or n in site.variables}
    for n in nodes(region):
        if isinstance(n, c_ast.Decl) and n.name and not n.storage:
            shapes[str(n.name)] = site.types.shape(n.type)
    numbers = {n for n, s in shapes.items() if _is_number(s)}
    loops = {w.counter for n in nodes(region) if isinstance(n, c_ast.For) and (w := CountedWalk.of(n)) is not None}
    out = numbers - loops - twice - shadowing(site.statements, set(site.variables))
    return (out & (assigned(region) | set(here))) - addressed(site.function.body) - site.hidden


def _is_number(shape: DeclaredType) -> bool:
    e = shape.elem
    return not shape.declarators and not shape.special and e.is_int and not e.enum and not e.plain_char and e.bits >= 32


def _moving(region: c_ast.Node) -> set[str]:
    """Variables that a loop adds to, and that are no more than added to there."""
    out: set[str] = set()
    for loop in _outer_loops(region):  # those inside are in their bodies
        for n in nodes(loop.stmt):
            if isinstance(n, c_ast.UnaryOp) and n.op in STEPS and isinstance(n.expr, c_ast.ID):
                out.add(str(n.expr.name))
            elif isinstance(n, c_ast.Assignment) and n.op in ("+=", "-=") and isinstance(n.lvalue, c_ast.ID):
                out.add(str(n.lvalue.name))
    return out


def _outer_loops(node: c_ast.Node) -> Iterator[c_ast.For]:
    if isinstance(node, c_ast.For):
        yield node
    else:
        for child in node:
            yield from _outer_loops(child)


@record
class _Env:
    """The formula of each tracked variable (None: none that is known), and the counters and loops around."""

    known: Mapping[str, StepSum | None]
    counters: frozenset[str] = frozenset()
    loops: frozenset[int] = frozenset()

    def told(self, name: str, value: StepSum | None) -> _Env:
        return replace(self, known={**self.known, name: value})

    def forget(self, gone: set[str]) -> _Env:
        """Without formulas that speak of these."""
        return replace(self, known={n: v if v is None or not v.names & gone else None for n, v in self.known.items()})


@mutable
class _Inductions:
    site: RegionSite
    scan: Prescan
    tracked: frozenset[str]
    allowed: set[str]  # what may be tracked besides
    entries: Entries
    shapes: dict[str, DeclaredType] = field(default_factory=dict)

    def region(self) -> list[c_ast.Node]:
        region = c_ast.Compound(list(self.site.statements))
        self.shapes = {n: v.shape for n, v in self.site.variables.items()}
        self.shapes |= {str(d.name): self.site.types.shape(d.type) for d in nodes(region) if isinstance(d, c_ast.Decl)}
        start = {
            n: StepSum.of(self.entries.before(n)) if n in self.site.variables else None for n in sorted(self.tracked)
        }
        self.shapes |= {own: self.shapes[real] for own, real in self.entries.given.items()}
        made, env = self.block(self.site.statements, _Env(start))
        for name in sorted(n for n in self.tracked if n in self.site.variables and not self.site.dies(n)):
            own = c_ast.ID(name, region.block_items[-1].coord)
            made.append(c_ast.Assignment("=", own, self._formula(own, env), own.coord))
        return made

    # -- statements ------------------------------------------------------------------------------------

    def block(self, items: Sequence[c_ast.Node], env: _Env) -> tuple[list[c_ast.Node], _Env]:
        return in_turn(items, env, self.statement)

    def statement(self, node: c_ast.Node, env: _Env) -> tuple[list[c_ast.Node], _Env]:
        if isinstance(node, c_ast.Compound):
            items, after = self.block(items_of(node), env)
            gone = {str(d.name) for d in node.block_items or () if isinstance(d, c_ast.Decl)}
            return [_as_before(node, items)], after.forget(gone)
        if isinstance(node, c_ast.For):
            return self._for(node, env)
        if isinstance(node, c_ast.If):
            return self._if(node, env)
        if isinstance(node, (*_LOOPS, c_ast.Switch)):
            inside = self._unknown(env, assigned(node))
            return [mapped(node, lambda child: self._part(child, inside))], inside
        if isinstance(node, c_ast.Decl) and node.name in self.tracked:
            return [], env.told(str(node.name), None if node.init is None else self._sum(node.name, node.init, env))
        target = node.lvalue if isinstance(node, c_ast.Assignment) else None
        target = node.expr if isinstance(node, c_ast.UnaryOp) and node.op in STEPS else target
        if isinstance(target, c_ast.ID) and target.name in self.tracked:
            return [], env.told(str(target.name), self._set(node, str(target.name), env))
        return [self.value(node, env)], env

    def _set(self, node: c_ast.Node, name: str, env: _Env) -> StepSum | None:
        """The formula behind a statement that sets a tracked variable."""
        if isinstance(node, c_ast.Assignment) and node.op == "=":
            return self._sum(name, node.rvalue, env)
        one: c_ast.Node = c_ast.Constant("int", "1", node.coord)
        by, op = (one, node.op[-1]) if isinstance(node, c_ast.UnaryOp) else (node.rvalue, node.op[0])
        before = env.known[name]
        if before is None or op not in "+-":
            raise _GivesUp(name)
        return before.plus(1 if op == "+" else -1, self._sum(name, by, env))

    def _sum(self, name: str, node: c_ast.Node, env: _Env) -> StepSum:
        """A value as a formula that does not change as long as it is known."""
        made = self.value(node, env)
        if assigned(made) or not self._steady(made, env):
            wanted = sorted(n for n in names(node) if n in self.allowed and n not in self.tracked)
            raise _GivesUp(name, wanted[0] if wanted else "")
        return StepSum.of(made)

    def _part(self, node: c_ast.Node, env: _Env) -> c_ast.Node:
        if isinstance(node, (c_ast.Case, c_ast.Default)):
            return mapped(node, lambda child: self._part(child, env))
        statement = (c_ast.Compound, c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch)
        if isinstance(node, (*statement, c_ast.Assignment, c_ast.Decl, c_ast.UnaryOp)):
            made, after = self.statement(node, env)
            if after.known != env.known:
                raise _GivesUp(min(n for n in env.known if env.known[n] != after.known.get(n)))
            return made[0] if len(made) == 1 else c_ast.Compound(made, node.coord)
        return self.value(node, env)

    def _if(self, node: c_ast.If, env: _Env) -> tuple[list[c_ast.Node], _Env]:
        cond = self.value(node.cond, env)
        yes, one = self._body(node.iftrue, env)
        no, two = self._body(node.iffalse, env)
        after = replace(env, known={n: v if v == two.known[n] else None for n, v in one.known.items()})
        same = cond is node.cond and yes is node.iftrue and no is node.iffalse
        return [node if same else c_ast.If(cond, yes, no, node.coord)], after

    def _body(self, node: c_ast.Node | None, env: _Env) -> tuple[c_ast.Node | None, _Env]:
        if node is None:
            return None, env
        made, after = self.statement(node, env)
        one = len(made) == 1 and not isinstance(made[0], c_ast.Decl)
        return made[0] if one else c_ast.Compound(made, node.coord), after

    def _for(self, node: c_ast.For, env: _Env) -> tuple[list[c_ast.Node], _Env]:
        moved, walk = sorted(assigned(node) & self.tracked), CountedWalk.of(node)
        inside = self._unknown(env, set(moved))
        if walk is not None:
            inside = replace(inside, counters=env.counters | {walk.counter}, loops=env.loops | {id(node)})
            inside = inside.forget({walk.counter})
            for name in moved:
                inside = inside.told(name, self._moving_in(name, node, walk, env))
        stmt, _ = self._body(node.stmt, inside)
        init = None if node.init is None else self._started(node.init, env)
        cond = None if node.cond is None else self.value(node.cond, inside)
        next = None if node.next is None else self.value(node.next, inside)
        same = init is node.init and cond is node.cond and next is node.next and stmt is node.stmt
        made = node if same else c_ast.For(init, cond, next, stmt, node.coord)
        after = self._unknown(env, set(moved)).forget({walk.counter} if walk is not None else set())
        for name in moved:
            after = after.told(name, None if walk is None else self._moved_by(name, node, env))
        return [made], after

    def _started(self, node: c_ast.Node, env: _Env) -> c_ast.Node:
        """How a loop begins."""
        if isinstance(node, c_ast.DeclList):
            return mapped(node, lambda d: mapped(d, lambda x: self.value(x, env) if x is d.init else x))
        if isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID):
            return mapped(node, lambda child: child if child is node.lvalue else self.value(child, env))
        return self.value(node, env)

    def _moving_in(self, name: str, node: c_ast.For, walk: CountedWalk, env: _Env) -> StepSum | None:
        """Its formula at the start of an iteration; None if it is set before it is used there."""
        before, each = env.known[name], self._each(name, node, env)
        first = self.value(walk.first, env)
        if before is None or each is None or not self._steady(first, env):
            return None
        return before.moved(each, replace(walk, first=first))

    def _moved_by(self, name: str, node: c_ast.For, env: _Env) -> StepSum | None:
        """Its formula behind a loop."""
        before, each = env.known[name], self._each(name, node, env)
        plain, exact = (trips(node, self._fixed_in(node, env), exact) for exact in (False, True))
        if before is None or each is None or plain is None or exact is None:
            return None
        plain, exact = (replace(x, count=self.value(x.count, env)) for x in (plain, exact))
        return before.passed(each, plain, exact, id(node))

    def _each(self, name: str, node: c_ast.For, env: _Env) -> StepSum | None:
        """What one iteration adds to it; None where that differs from one to the next."""
        plain, exact = (advance(name, node, self._fixed_in(node, env), exact) for exact in (False, True))
        if plain is None or exact is None:
            return None
        one, two = (tuple((s, self.value(v, env)) for s, v in x.parts) for x in (plain, exact))
        return StepSum(one, two, plain.within)

    def _fixed_in(self, node: c_ast.For, env: _Env) -> Steady:
        """Asks whether a value is the same in all iterations of a loop."""
        walk = CountedWalk.of(node)
        changing = assigned(node) | set(declared(node)) | ({walk.counter} if walk is not None else set())
        return lambda v: not names(v) & changing and self._steady(self.value(v, env), env)

    def _unknown(self, env: _Env, gone: set[str]) -> _Env:
        env = env.forget(gone)
        for name in sorted(gone & self.tracked):
            env = env.told(name, None)
        return env

    # -- values ----------------------------------------------------------------------------------------

    def value(self, node: c_ast.Node, env: _Env) -> c_ast.Node:
        """An expression without tracked variables."""
        if isinstance(node, c_ast.ID):
            return self._formula(node, env) if node.name in self.tracked else node
        if isinstance(node, c_ast.StructRef):
            return mapped(node, lambda child: self.value(child, env) if child is node.name else child)
        changed = assigned(node) & self.tracked
        if changed:
            raise _GivesUp(min(changed))  # in the midst of an expression
        if isinstance(node, c_ast.FuncCall):
            return mapped(node, lambda child: self.value(child, env) if child is node.args else child)
        return mapped(node, lambda child: self.value(child, env))

    def _formula(self, node: c_ast.ID, env: _Env) -> c_ast.Node:
        value = env.known[node.name]
        if value is None:
            raise _GivesUp(str(node.name))
        return closed_form(value, self.shapes[node.name].elem, env.loops, self.shapes, node.coord)

    def _steady(self, node: c_ast.Node, env: _Env) -> bool:
        """Does it have one value as long as the loops around go on?"""
        if isinstance(node, c_ast.Constant):
            return node.type in ("int", "long int", "long long int")
        if isinstance(node, c_ast.ID):
            if node.name in env.counters or self.entries.is_one(node.name):
                return True
            shape = self.shapes.get(node.name)
            if shape is None:
                return node.name in self.site.enums
            set_here = self.scan.reassigned | self.scan.written | self.scan.counters | self.tracked
            return _is_number(shape) and node.name not in set_here | self.site.origins.exposed
        if isinstance(node, c_ast.StructRef):
            return any(c_text(node) == text for text, _ in self.scan.params)
        if isinstance(node, c_ast.Cast):
            return _is_number(self.site.types.shape(node.to_type)) and self._steady(node.expr, env)
        if isinstance(node, c_ast.TernaryOp):
            return all(self._steady(child, env) for child in node)
        simple = isinstance(node, c_ast.BinaryOp) or (isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"))
        return simple and all(self._steady(child, env) for child in node)


def _as_before(node: c_ast.Compound, items: list[c_ast.Node]) -> c_ast.Compound:
    old = node.block_items or []
    unchanged = len(old) == len(items) and all(a is b for a, b in zip(old, items, strict=True))
    return node if unchanged else c_ast.Compound(items, node.coord)
