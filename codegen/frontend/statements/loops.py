"""Reads the header of a `for` (counter, first value, condition, constant step) and builds the isl domain of its body,
and the counter's value after the loop. Unsupported where it does not count an integer by constant steps; that unsigned
and narrow counters do not wrap around becomes an assumption."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Loc, Unsupported
from codegen.frontend.context.frame import Assumption, Frame
from codegen.frontend.expressions.affine import Affiner, NotAffine, c_text, refuse
from codegen.frontend.parameters.prescan import counted_before
from codegen.frontend.rewrite.loops.canonical_loops import assigned_in
from codegen.frontend.syntax.declarators import TypeTable
from codegen.frontend.syntax.steps import step_of
from codegen.frontend.syntax.symbols import Variable, location
from codegen.record import record
from codegen.scop.types import CType

_FORM = "write it as for (i = first; i < limit; i += step) with a constant step"


@record
class Header:
    """The parts of a `for`. `step` is never 0."""

    name: str
    ctype: CType
    outside: bool
    first: c_ast.Node
    cond: c_ast.Node
    step: int
    early: bool = False  # it counts in its condition: `for (i = n; i-- > 0;)`
    wraps: bool = False  # it ends when its counter wraps around: `for (unsigned i = n - 1; i < n; i--)`
    changed: frozenset[str] = frozenset()  # variables that its body sets


def read_header(node: c_ast.For, variables: dict[str, Variable], types: TypeTable, loc: Loc) -> Header:
    """Take a `for` apart; refuse forms that are no counted loop."""
    return replace(_counting(node, variables, types, loc), changed=assigned_in(node.stmt))


def _counting(node: c_ast.For, variables: dict[str, Variable], types: TypeTable, loc: Loc) -> Header:
    name, ctype, outside, first = _init(node, variables, types, loc)
    if node.cond is None:
        raise Unsupported("loop-form", "the loop has no condition", loc, _FORM)
    early = counted_before(node)
    if early is not None:
        return Header(name, ctype, outside, first, early, -1, early=True)
    step = step_of(node.next, name, {n: v.constant for n, v in variables.items() if v.constant is not None})
    if step is None or step == 0:
        raise Unsupported("loop-form", f"the loop does not change `{name}` by a constant", loc, _FORM)
    if step == -1 and not ctype.signed and ctype.bits >= 32 and _below(node.cond, name, ctype, variables):
        stays = c_ast.BinaryOp(">=", c_ast.ID(name), c_ast.Constant("int", "0"), node.cond.coord)
        cond = c_ast.BinaryOp("&&", stays, node.cond, node.cond.coord)
        return Header(name, ctype, outside, first, cond, step, wraps=True)
    return Header(name, ctype, outside, first, node.cond, step)


def _below(cond: c_ast.Node, name: str, ctype: CType, variables: Mapping[str, Variable]) -> bool:
    """Is the condition `name < limit`, with a limit that is never above the largest value of the counter's type?"""
    if not isinstance(cond, c_ast.BinaryOp) or cond.op != "<" or getattr(cond.left, "name", "") != name:
        return False
    limit = variables.get(getattr(cond.right, "name", ""))
    narrow = limit is not None and not limit.shape.declarators and limit.shape.elem.bits <= ctype.bits
    return ctype.bits >= 64 or narrow


def _init(
    node: c_ast.For, variables: dict[str, Variable], types: TypeTable, loc: Loc
) -> tuple[str, CType, bool, c_ast.Node]:
    init = node.init
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0].init is not None:
        shape = types.shape(init.decls[0].type)
        if not shape.declarators and shape.elem.is_int:
            return init.decls[0].name, shape.elem, False, init.decls[0].init
    if isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        var = variables.get(init.lvalue.name)
        if var is not None and not var.shape.declarators and var.shape.elem.is_int:
            return var.name, var.shape.elem, True, init.rvalue
    raise Unsupported("loop-form", _not_counting(init, variables, types), loc, _FORM)


def _not_counting(init: c_ast.Node | None, variables: dict[str, Variable], types: TypeTable) -> str:
    """Why a loop with this beginning does not count."""
    shape = None
    if isinstance(init, c_ast.DeclList):
        name, shape = init.decls[0].name, types.shape(init.decls[0].type)
    elif isinstance(init, c_ast.Assignment) and isinstance(init.lvalue, c_ast.ID):
        name = init.lvalue.name
        shape = variables[name].shape if name in variables else None
    if shape is not None and shape.declarators:
        return f"the loop walks with `{name}`, which is a pointer and no integer"
    if shape is not None and not shape.elem.is_int:
        return f"the loop counts with `{name}`, which is no integer"
    return "the loop does not start by setting one integer variable"


@record
class LoopSpace:
    """The frame inside a loop, the frame around it, and the first value of its variable."""

    inner: Frame
    outer: Frame
    first: isl.PwAff
    step: int

    def exit_value(self) -> isl.PwAff:
        """What the variable holds afterwards: one step past the last iteration, or `first` if there was none."""
        pos = len(self.outer.iterators)
        per_outer = isl.Map.from_range(self.inner.domain).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, pos)
        last = per_outer.lexmax_pw_multi_aff() if self.step > 0 else per_outer.lexmin_pw_multi_aff()
        past = last.get_pw_aff(0).add(self.outer.constant(self.step))
        ran = per_outer.domain()
        return past.intersect_domain(ran).union_add(self.first.intersect_domain(ran.complement())).coalesce()


def loop_space(header: Header, frame: Frame, affiner: Affiner, loc: Loc) -> LoopSpace:
    """Domain of a loop body: from `first`, by `step`, until the condition first fails."""
    inner = frame.enter(header.name, header.ctype, header.outside, header.step)
    for name in sorted(header.changed):
        inner = inner.bound(name, None)  # neither the condition nor an iteration knows whether another has set it
    pos = len(frame.iterators)
    it = inner.dim(pos)
    try:
        first, ftype = affiner.value(header.first, frame)
        first = affiner._convert(first, ftype, header.ctype, frame, header.first)
        start = inner.lift(first)
        up = header.step > 0
        reach = it.ge_set(start) if up else it.le_set(start)
        if abs(header.step) != 1:
            by = isl.Val(abs(header.step), context=it.get_ctx())
            reach = reach.intersect(it.sub(start).mod_val(by).eq_set(inner.zero()))
        ranged = inner.restrict(reach)
        mark = len(affiner.assumptions)
        holds = _condition(header, ranged, affiner, up)
    except NotAffine as error:
        raise refuse(
            error,
            "nonaffine-bound",
            f"the bounds of loop `{header.name}` are not affine",
            "bounds may use loop variables and integers the region does not change, with + - and * / % by constants",
            loc,
        ) from None
    domain = _prefix(ranged.domain, holds, pos, up)
    bounded = (
        domain.dim_has_upper_bound(isl.dim_type.set, pos) if up else domain.dim_has_lower_bound(isl.dim_type.set, pos)
    )
    if not domain.is_empty() and not bounded:
        raise Unsupported(
            "loop-unbounded",
            f"loop `{header.name}` has no bound in its direction",
            loc,
            "compare the loop variable with a limit that it reaches",
        )
    evaluated = domain.union(_shift(domain, pos, header.step)).union(it.eq_set(start)).intersect(ranged.domain)
    for k in range(mark, len(affiner.assumptions)):
        a = affiner.assumptions[k]
        affiner.assumptions[k] = replace(a, domain=a.domain.intersect(evaluated))
    if header.early:
        domain, first = _shift(domain, pos, header.step), first.add(frame.constant(header.step))
    body = inner.restrict(domain)
    _assume_no_wrap(header, body, it, affiner, loc)
    return LoopSpace(body, frame, first, header.step)


def _condition(header: Header, inner: Frame, affiner: Affiner, up: bool) -> isl.Set:
    """The loop condition. `i != e` stops a counting loop exactly where `i < e` (or `>`) does, provided the
    loop gets there at all; for counters that wrap around that becomes an assumption, for others the source
    would overflow otherwise."""
    cond = header.cond
    if isinstance(cond, c_ast.BinaryOp) and cond.op == "!=":
        a, _ = affiner.value(cond.left, inner)
        b, _ = affiner.value(cond.right, inner)
        it = inner.dim(len(inner.iterators) - 1)
        if not a.is_equal(it):
            a, b = b, a
        if not a.is_equal(it):
            raise NotAffine(cond, f"`{c_text(cond)}` does not compare the loop variable with a limit")
        if not header.ctype.signed or affiner.dialect.wraps or abs(header.step) != 1:
            missed = a.sub(b) if up else b.sub(a)
            first = inner.domain.lexmin() if up else inner.domain.lexmax()
            affiner.assumptions.append(
                Assumption(
                    first,
                    missed,
                    -(1 << 62),
                    0,
                    f"loop `{header.name}` reaches its limit",
                    location(cond, affiner.fallback),
                )
            )
            gap = b.sub(a) if up else a.sub(b)
            rest = gap.mod_val(isl.Val(abs(header.step), context=gap.get_ctx()))
            affiner.assumptions.append(
                Assumption(
                    first, rest, 0, 0, f"loop `{header.name}` hits its limit exactly", location(cond, affiner.fallback)
                )
            )
        return a.lt_set(b) if up else a.gt_set(b)
    return affiner.condition(cond, inner)


def _prefix(reach: isl.Set, holds: isl.Set, pos: int, up: bool) -> isl.Set:
    """Iterations before the first one at which the condition fails."""
    good = reach.intersect(holds).coalesce()
    bad = reach.subtract(holds).coalesce()
    if bad.is_empty():
        return good
    before = isl.Map.identity(bad.get_space().map_from_set())
    order = isl.Map.lex_le(bad.get_space()) if up else isl.Map.lex_ge(bad.get_space())
    if pos:
        same = isl.Map.universe(before.get_space())
        for k in range(pos):
            same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
        order = order.intersect(same)
    stopped = bad.apply(order)
    late = good.intersect(stopped)
    return good if late.is_empty() else good.subtract(stopped).coalesce()


def _shift(domain: isl.Set, pos: int, step: int) -> isl.Set:
    """The domain moved by one step: where the condition is evaluated for the last time."""
    move = isl.MultiAff.identity_on_domain_space(domain.get_space())
    aff = move.get_aff(pos).add_constant_val(isl.Val(step))
    return domain.apply(isl.Map.from_multi_aff(move.set_aff(pos, aff)))


def _assume_no_wrap(header: Header, body: Frame, it: isl.PwAff, affiner: Affiner, loc: Loc) -> None:
    """Counters that are unsigned or narrow, all if signed arithmetic wraps around, must not wrap when they step past
    their last value."""
    ctype = header.ctype
    if ctype.signed and ctype.bits >= 32 and not affiner.dialect.wraps:
        return
    if (header.early or header.wraps) and header.outside:
        raise Unsupported(
            "loop-form", f"`{header.name}` wraps around when the loop ends, and lives on", loc, _FORM
        )
    low, high = affiner.safe_range(ctype)
    # The last step of these is never looked at.
    following = it if header.early or header.wraps else it.add(body.constant(header.step))
    affiner.assumptions.append(
        Assumption(body.domain, following, low, high, f"loop `{header.name}` ends before its counter wraps", loc)
    )
