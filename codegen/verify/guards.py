"""Proof of what stands ahead of a region's loops: the run-time guards, read back, admit only what the model assumes,
and computed parameters are evaluated where they may be. Returns what is wrong, or the empty string; `check_ahead_of`
raises Unsupported instead.

A test that holds has to imply the set of parameters that the proofs of the loops start from, and a member behind a
pointer is looked at only when it is known that the source follows the pointer. A computed parameter is evaluated where
the source evaluates it, and wherever the loops look at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, Cond, Fun, Int, Name, Neg, expr_names
from codegen.ast.isl_expressions import value_expr
from codegen.diagnostics import Unsupported
from codegen.frontend.context.guards import LIMIT
from codegen.frontend.context.member_parameters import involves
from codegen.scop.isl_helpers import val
from codegen.scop.model import Computed, Scop
from codegen.target.guards.computed_parameters import ComputedText
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import Node, Unread, read_expression

PARAM = isl.dim_type.param
_FITS = ("tw_fits", "tw_fits_unsigned")
_FUNCTIONS = {"tw_min": "min", "tw_max": "max", "tw_floord": "floord"}


def wrong_ahead_of(scop: Scop, text: str, guard: str, computed: Sequence[ComputedText]) -> str:
    """What is wrong with what stands ahead of the loops in a region's text; empty where nothing is. `guard` is the part
    of its test that says what the model assumes."""
    try:
        _Guards(scop).check(text, guard, computed)
        _check_aheads(scop, text)
    except Unread as problem:
        return str(problem)
    return ""


def check_ahead_of(scop: Scop, text: str, guard: str, computed: Sequence[ComputedText]) -> None:
    """Raises Unsupported where something is wrong with it."""
    problem = wrong_ahead_of(scop, text, guard, computed)
    if problem:
        raise Unsupported("no-proof", f"what stands ahead of its loops could not be proven: {problem}", scop.loc)


class Parameters:
    """Printed expressions of a region's parameters as sets and values of the model."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop
        self.params = {e: p.name for p in scop.params for e in _read(p.text)}
        space = scop.guard.valid.get_space()
        self.point = TreePoint(isl.Set.universe(space.set_from_params()), (), (), (), ())
        self.ranges = _ranges(scop, isl.Set.universe(space))

    def equal(self, e: Node, value: isl.PwAff) -> bool:
        """Is it this value of the parameters, wherever these are in the range of their types?"""
        wanted = value_expr(value, isl.Set.universe(self.ranges.get_space()))
        same = self.point.value(self.value(e)).eq_set(self.point.value(wanted))
        return bool(self.ranges.is_subset(same.params()))

    def _fits(self, test: Node) -> str:
        """The parameter that a test keeps within 2^60 of zero."""
        if test.kind != "call" or test.text not in _FITS:
            return ""
        return self.params.get(test.kids[0], "") if len(test.kids) == 1 else ""

    def _params(self, s: isl.Set) -> isl.Set:
        return s.align_params(self.ranges.get_space()) if s.is_params() else s.params().align_params(
            self.ranges.get_space())  # fmt: skip

    def _set(self, e: CExpr) -> isl.Set:
        found = self.point.condition(e)
        return found.params() if not found.is_params() else found

    def value(self, e: Node) -> CExpr:
        if e in self.params:
            return Name(self.params[e])
        if e.kind == "number" and e.text.rstrip("uUlL").isdigit():
            return Int(int(e.text.rstrip("uUlL")))
        if e.kind == "cast" and e.text in ("long", "int", "unsigned long long"):
            return self.value(e.kids[0])
        kids = [self.value(k) for k in e.kids]
        if e.kind == "call" and e.text in _FITS and len(kids) == 1:
            room = Int(2**60)
            return Bin("&&", Bin("<=", Neg(room), kids[0]), Bin("<", kids[0], room))
        if e.kind == "unary" and e.text == "-":
            return Neg(kids[0])
        if e.kind == "binary" and e.text in ("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "&&", "||"):
            return Bin(e.text, kids[0], kids[1])
        if e.kind == "binary" and e.text == "!=":
            return Bin("||", Bin("<", kids[0], kids[1]), Bin(">", kids[0], kids[1]))
        if e.kind == "choose":
            return Cond(kids[0], kids[1], kids[2])
        if e.kind == "call" and e.text in _FUNCTIONS:
            return Fun(_FUNCTIONS[e.text], tuple(kids))
        raise Unread(f"a test of another form: {e.kind} `{e.text}`")


class _Guards(Parameters):
    def check(self, text: str, guard: str, computed: Sequence[ComputedText]) -> None:
        if guard and guard not in text:
            raise Unread("the test of the model's assumptions is not in the text")
        self._check_guard(list(conjuncts(read_expression(guard))) if guard else [])
        for made, c in zip(computed, self.scop.computed, strict=True):
            start = f"const {made.ctype.spelling} {made.name} = "
            value = made.filled(c.formula, [r.text for r in c.reads])
            for line in (x.strip() for x in text.split("\n") if x.strip().startswith(start)):
                self._check_computed(c, line[len(start) :].removesuffix(";"), value)

    def _check_guard(self, tests: Sequence[Node]) -> None:
        """Together they imply what has to hold, and pointers are followed in turn."""
        guard = self.scop.guard
        first = [self._params(f) for f in guard.first]
        needed = self._asked_before(first)
        so_far, fitting = self.ranges, set[str]()
        for test in tests:
            name = self._fits(test)
            if name:
                fitting.add(name)
                used, holds = frozenset((name,)), so_far
            else:
                value = self.value(test)
                used, holds = frozenset(expr_names(value)), self._set(value)
            known = next((k for k, f in enumerate(first) if not so_far.is_subset(f)), len(first))
            if any(needed.get(n, 0) > known for n in used):
                raise Unread("a pointer is followed where the source may not follow it")
            so_far = so_far.intersect(holds)
        wide = set(guard.wide) - fitting
        if wide:
            raise Unread(f"nothing says that `{min(wide)}` leaves room for sums")
        if not all(so_far.is_subset(f) for f in (*first, self._params(guard.rest))):
            raise Unread("a test lets more through than the model assumes")

    def _asked_before(self, first: Sequence[isl.Set]) -> dict[str, int]:
        """For each member behind a pointer, how many of the tests that stand before all others have to hold before it
        may be looked at: those before the first one that looks at it itself, else all of them."""
        behind = [p.name for p in self.scop.params if "->" in p.text]
        return {n: next((k for k, f in enumerate(first) if involves(f, {n})), len(first)) for n in behind}

    def _check_computed(self, c: Computed, printed: str, value: str) -> None:
        """It is evaluated where the source does so, and where the loops need it."""
        where = self._params(c.where)
        if printed == value:
            if not self.ranges.is_subset(where):
                raise Unread(f"`{c.text}` is evaluated where the source does not do so")
            return
        end = f" ? {value} : 0"
        if not printed.endswith(end):
            raise Unread(f"`{c.param}` has another value than `{c.text}`")
        holds = self.ranges
        for test in conjuncts(read_expression(printed.removesuffix(end))):
            holds = holds if self._fits(test) else holds.intersect(self._set(self.value(test)))
        if not holds.is_subset(where):
            raise Unread(f"`{c.text}` is evaluated where the source does not do so")
        if not where.intersect(self._params(self.scop.guard.valid)).intersect(self.ranges).is_subset(holds):
            raise Unread(f"`{c.text}` is not evaluated where the loops need it")


def _read(text: str) -> tuple[Node, ...]:
    """A text as an expression; nothing for one that this reader does not know, which then stands in no test either."""
    try:
        return (read_expression(text),)
    except Unread:
        return ()


def conjuncts(e: Node) -> Iterator[Node]:
    """What has to hold, in the order in which it is asked."""
    if e.kind == "binary" and e.text == "&&":
        yield from conjuncts(e.kids[0])
        yield from conjuncts(e.kids[1])
    else:
        yield e


def _ranges(scop: Scop, out: isl.Set) -> isl.Set:
    """What the types of parameters allow; those of 64 bits are asked to stay within 2^60."""
    for p in scop.params:
        place = out.find_dim_by_name(PARAM, p.name)
        if place >= 0:
            low, high = p.ctype.range()
            out = out.lower_bound_val(PARAM, place, val(max(low, -LIMIT)))
            out = out.upper_bound_val(PARAM, place, val(min(high, LIMIT)))
    return out


def _check_aheads(scop: Scop, text: str) -> None:
    """Numbers that generated code chooses: any from 0 to below a tile's size will do."""
    for x in scop.aheads:
        start = f"const long {x.param} = "
        given = (f"{start}0;", f"{start}tw_even_tiles({x.length}, {x.size});")
        if any(line not in given for line in (x.strip() for x in text.split("\n")) if line.startswith(start)):
            raise Unread(f"`{x.param}` is another number than how far ahead tiles begin")
        place = scop.context.find_dim_by_name(PARAM, x.param)
        below = scop.context.drop_constraints_involving_dims(PARAM, place, 1)
        below = below.lower_bound_val(PARAM, place, val(0)).upper_bound_val(PARAM, place, val(x.size - 1))
        if not below.is_subset(scop.context):
            raise Unread(f"the loops are not right for every `{x.param}` below {x.size}")
