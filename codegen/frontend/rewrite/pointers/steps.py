"""Computes how far a `for` loop moves a pointer in an iteration (`advance`) and how often a loop runs (`trips`), as C
expressions; None where that differs between iterations. Also reads headers: loops that count (`CountedWalk`), and loops
that may count with a pointer (`pointer_head`).

`for (y = 0; y < h; y++) for (x = 0; x < w; x++) *p++ = 0;` leaves p at `y * w + x` behind its start, in the inner loop:
who is there knows that it runs w times. Outside of it w may be negative, and nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast

from codegen.frontend.syntax.declarators import literal_int
from codegen.frontend.syntax.steps import step_of
from codegen.frontend.syntax.tree import STEPS, assigned, items_of, nodes, typename
from codegen.record import record

Steady = Callable[[c_ast.Node], bool]
_LONG = typename(["long"])
_MOVES = {"++": 1, "p++": 1, "+=": 1, "--": -1, "p--": -1, "-=": -1}


@record
class CountedWalk:
    """A loop that counts from `first` by `step`."""

    counter: str
    first: c_ast.Node
    step: int

    @classmethod
    def of(cls, node: c_ast.For) -> CountedWalk | None:
        init = node.init
        if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0].init is not None:
            name, first = str(init.decls[0].name), init.decls[0].init
        elif isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
            name, first = str(init.lvalue.name), init.rvalue
        else:
            return None
        parts = node.next.exprs if isinstance(node.next, c_ast.ExprList) else [node.next]
        steps = [s for s in (step_of(x, name, {}) for x in parts) if s]
        return cls(name, first, steps[0]) if len(steps) == 1 else None

    def times(self, value: c_ast.Node) -> c_ast.Node:
        """What `value` once for each iteration before this one comes to."""
        done: c_ast.Node = c_ast.ID(self.counter, value.coord)
        if literal_int(self.first, {}) != 0:
            done = c_ast.BinaryOp("-", done, self.first, value.coord)
        if abs(self.step) != 1:
            done = c_ast.BinaryOp("/", done, c_ast.Constant("int", str(abs(self.step))), value.coord)
        done = c_ast.UnaryOp("-", done, value.coord) if self.step < 0 else done
        return _product(done, value)


@record
class PointerHead:
    """The parts of `for (p = first; p op limit; p += step)`. `declared`: the declaration, where it begins with one."""

    name: str
    first: c_ast.Node
    op: str
    limit: c_ast.Node
    step: int
    declared: c_ast.Decl | None


def pointer_head(node: c_ast.For) -> PointerHead | None:
    """The header of a loop that may count with a pointer; None for other forms."""
    walk, cond = CountedWalk.of(node), node.cond
    if walk is None or isinstance(node.next, c_ast.ExprList) or not isinstance(cond, c_ast.BinaryOp):
        return None
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
    if cond.op not in turned:
        return None
    own = node.init.decls[0] if isinstance(node.init, c_ast.DeclList) else None
    if isinstance(cond.left, c_ast.ID) and cond.left.name == walk.counter:
        return PointerHead(walk.counter, walk.first, cond.op, cond.right, walk.step, own)
    if isinstance(cond.right, c_ast.ID) and cond.right.name == walk.counter:
        return PointerHead(walk.counter, walk.first, turned[cond.op], cond.left, walk.step, own)
    return None


@record
class Advance:
    """Signs and values that are added to a pointer; right only `within` these loops."""

    parts: tuple[tuple[int, c_ast.Node], ...]
    within: frozenset[int] = frozenset()


@record
class Trips:
    """How often a loop runs; not `sure`: if it runs at all."""

    count: c_ast.Node
    sure: bool

    def of(self, value: c_ast.Node) -> c_ast.Node:
        """What is added once for each time. In long, for the sum with what was before may be smaller."""
        number = literal_int(value, {}) is not None or literal_int(self.count, {}) is not None
        wide = self.count if number or not self.sure else c_ast.Cast(_LONG, self.count, self.count.coord)
        return _product(wide, value)


def advance(name: str, node: c_ast.For, steady: Steady, exact: bool = False) -> Advance | None:
    """How far one iteration moves a variable; None where that differs from one to the next. With `exact` in terms that
    are right for loops that do not run, too."""
    last = list(node.next.exprs) if isinstance(node.next, c_ast.ExprList) else [node.next] if node.next else []
    if name in assigned(node.stmt) and any(isinstance(n, (c_ast.Continue, c_ast.Label)) for n in nodes(node.stmt)):
        return None
    return _moved(name, [*items_of(node.stmt), *last], steady, exact)


def _moved(name: str, items: list[c_ast.Node], steady: Steady, exact: bool) -> Advance | None:
    parts: list[tuple[int, c_ast.Node]] = []
    within: frozenset[int] = frozenset()
    for item in items:
        if name not in assigned(item):
            continue
        if isinstance(item, c_ast.Compound):
            inside = _moved(name, items_of(item), steady, exact)
        elif isinstance(item, c_ast.For):
            inside = _whole(name, item, steady, exact)
        else:
            inside = _step(name, item, steady)
        if inside is None:
            return None
        parts, within = [*parts, *inside.parts], within | inside.within
    return Advance(tuple(parts), within)


def _whole(name: str, node: c_ast.For, steady: Steady, exact: bool) -> Advance | None:
    """How far a loop moves it."""
    each, count = advance(name, node, steady, exact), trips(node, steady, exact)
    header = [x for x in (node.init, node.cond) if x is not None]
    if each is None or count is None or any(name in assigned(x) for x in header):
        return None
    parts = tuple((sign, count.of(value)) for sign, value in each.parts)
    return Advance(parts, each.within if count.sure else each.within | {id(node)})


def _step(name: str, item: c_ast.Node, steady: Steady) -> Advance | None:
    """`p++`, `p += n` or an expression in which the first stands once, where it is sure to be evaluated."""
    found = [n for n in nodes(item) if _moves(name, n)]
    if len(found) != 1 or any(isinstance(n, (c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch)) for n in nodes(item)):
        return None
    node = found[0]
    if isinstance(node, c_ast.UnaryOp):
        return Advance(((_MOVES[node.op], c_ast.Constant("int", "1", node.coord)),)) if _sure(item, node) else None
    by = node.rvalue
    return Advance(((_MOVES[node.op], by),)) if node is item and node.op in _MOVES and steady(by) else None


def _moves(name: str, node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.UnaryOp):
        return node.op in STEPS and isinstance(node.expr, c_ast.ID) and node.expr.name == name
    return isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID) and node.lvalue.name == name


def _sure(whole: c_ast.Node, part: c_ast.Node) -> bool:
    """Is a part of an expression evaluated with the whole?"""
    if whole is part:
        return True
    inside = list(whole)
    if isinstance(whole, c_ast.BinaryOp) and whole.op in ("&&", "||"):
        inside = [whole.left]
    elif isinstance(whole, c_ast.TernaryOp):
        inside = [whole.cond]
    return any(_sure(child, part) for child in inside)


def trips(node: c_ast.For, steady: Steady, exact: bool = False) -> Trips | None:
    """How often a loop runs, if nothing in it changes that. With `exact`, 0 for one that does not run at all."""
    walk, cond = CountedWalk.of(node), node.cond
    if walk is None or not isinstance(cond, c_ast.BinaryOp) or (abs(walk.step) != 1 and cond.op == "!="):
        return None
    ops = ("<", "<=", "!=") if walk.step > 0 else (">", ">=", "!=")
    mine = isinstance(cond.left, c_ast.ID) and cond.left.name == walk.counter
    if cond.op not in ops or not mine or not steady(cond.right) or not steady(walk.first) or _leaves(node.stmt):
        return None
    near, far = (walk.first, cond.right) if walk.step > 0 else (cond.right, walk.first)
    numbers, step = (literal_int(near, {}), literal_int(far, {})), abs(walk.step)
    more = step - 1 + ("=" in cond.op and cond.op != "!=")
    if numbers[0] is not None and numbers[1] is not None:
        return Trips(c_ast.Constant("int", str(max(numbers[1] - numbers[0] + more, 0) // step)), True)
    if exact:  # in long: a difference of unsigned numbers is never below 0
        far, near = (x if literal_int(x, {}) is not None else c_ast.Cast(_LONG, x, x.coord) for x in (far, near))
    count = far if numbers[0] == 0 else c_ast.BinaryOp("-", far, near, node.coord)
    count = c_ast.BinaryOp("+", count, c_ast.Constant("int", str(more))) if more else count
    if exact:
        none = c_ast.Constant("int", "0")
        count = c_ast.TernaryOp(c_ast.BinaryOp(">", count, none, node.coord), count, none, node.coord)
    count = c_ast.BinaryOp("/", count, c_ast.Constant("int", str(step)), node.coord) if step > 1 else count
    return Trips(count, exact)


def _leaves(node: c_ast.Node | None) -> bool:
    """May the loop end early?"""
    return any(isinstance(n, (c_ast.Break, c_ast.Return, c_ast.Goto)) for n in nodes(node))


def _product(a: c_ast.Node, b: c_ast.Node) -> c_ast.Node:
    if literal_int(b, {}) == 1:
        return a
    return b if literal_int(a, {}) == 1 else c_ast.BinaryOp("*", a, b, b.coord)
