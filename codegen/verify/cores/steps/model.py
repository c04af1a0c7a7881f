"""Splits a time loop of the tree into grid sweeps, one for each statement: the box that it runs, and the offsets of its
accesses. Raises Unread where the loop is not that, or where the sweeps of one step must not run one after the other.

The text of a block of steps runs one statement after the other, each on a whole box of its grid. That is the proven
tree's work where each statement runs a box at every time, and depends on earlier times and statements before it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, CNode, For, Instance, Int, Name, walk
from codegen.ast.isl_expressions import value_expr
from codegen.scop.dependences import Dependences
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Loop
from codegen.verify.readback import TreePoint, runs_below
from codegen.verify.text.read import Unread

IN, OUT, SET, PARAM = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.param
TIME = "\0time"


class GridSweep(NamedTuple):
    """One statement on its grid. Coordinate d of the element that it writes is the variable of loop d, from `lows` up
    to before `highs`; `shifts` has how far from there it finds each access, None for what time alone chooses."""

    instance: Instance
    target: str
    names: tuple[str, ...]  # of the loops in the source
    lows: tuple[CExpr, ...]
    highs: tuple[CExpr, ...]
    shifts: tuple[tuple[int, ...] | None, ...]


def coordinate(d: int) -> str:
    return f"\0x{d}"


def sweeps_of(scop: Scop, deps: Dependences, node: For, at: TreePoint) -> tuple[GridSweep, ...]:
    """The sweeps of a loop over time, in the order of the source. Raises Unread where it is not that."""
    found = [x for x in walk(node) if isinstance(x, Instance)]
    inside = [s for s in scop.statements if any(x.stmt == s.name for x in found)]
    if node.step != 1 or at.vars or any(not x.iterators or x.iterators[0] != Name(node.var) for x in found):
        raise Unread("steps that are not counted by one loop")
    _check_turns(deps, [s.name for s in inside])
    sweeps = tuple(_sweep(scop, s) for s in inside)
    for s, x in zip(inside, sweeps, strict=True):
        _check_domain(scop, s, x, node, at)
    return sweeps


def loops_of(x: GridSweep, lows: Sequence[CExpr], highs: Sequence[CExpr]) -> tuple[For, ...]:
    """The loops of a sweep over a part of its grid."""
    body: CNode = x.instance
    made: list[For] = []
    for d in reversed(range(len(lows))):
        body = For(coordinate(d), lows[d], "<", highs[d], 1, body, Loop(x.names[d], {}))
        made.insert(0, body)
    return tuple(made)


def _check_turns(deps: Dependences, order: Sequence[str]) -> None:
    """Nothing depends on what runs at the same time in the same statement or in one behind it."""
    for relation in (*(d.relation for d in deps.all), *deps.folds.values()):
        for m in maps_of(relation):
            a, b = m.get_tuple_name(IN), m.get_tuple_name(OUT)
            if a not in order or b not in order:
                continue
            wrong = m.order_gt(IN, 0, OUT, 0)
            if order.index(a) >= order.index(b):
                wrong = wrong.union(m.equate(IN, 0, OUT, 0))
            if not wrong.is_empty():
                raise Unread(f"{b} needs what {a} does in the same step")


def _sweep(scop: Scop, s: Statement) -> GridSweep:
    target = s.accesses[s.target]
    array = scop.arrays[target.array]
    written = [_subscript(target, d) for d in range(array.rank)]
    if s.values or array.inside or sorted(k for k, _ in written if k) != list(range(1, len(s.iterators))):
        raise Unread(f"{s.name} is no sweep over a grid")
    if any(k and c for k, c in written):
        raise Unread(f"{s.name} writes elsewhere than its iterators say")
    accesses, shifts = zip(*(_access(scop, a, written) for a in s.accesses), strict=True)
    axis = {k: coordinate(d) for d, (k, _) in enumerate(written) if k}
    iterators = (Name(TIME), *(Name(axis[k]) for k in range(1, len(s.iterators))))
    space = s.domain.project_out(SET, 0, 1)
    context = isl.Set.universe(scop.context.get_space())
    lows: list[CExpr] = []
    highs: list[CExpr] = []
    for k, c in written:
        if not k:
            lows.append(Int(c))
            highs.append(Int(c + 1))
            continue
        low, high = space.dim_min(k - 1), space.dim_max(k - 1)
        lows.append(value_expr(low, context))
        highs.append(value_expr(high.add_constant_val(isl.Val(1)), context))
    names = tuple(s.iterators[k] if k else f"x{d}" for d, (k, _) in enumerate(written))
    return GridSweep(Instance(s.name, iterators, accesses, ()), array.name, names, tuple(lows), tuple(highs), shifts)


def _subscript(a: Access, d: int) -> tuple[int, int]:
    """A subscript that is an iterator and a number: the iterator's place, 0 for none but time's, and the number."""
    value = a.index.get_pw_aff(d)
    aff = value.get_pieces()[0][1] if value.n_piece() == 1 else None
    if aff is None or aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
        raise Unread("a subscript that is no sum")
    if aff.involves_dims(PARAM, 0, aff.dim(PARAM)):
        raise Unread("a subscript with sizes in it")
    moved = [k for k in range(aff.dim(IN)) if not aff.get_coefficient_val(IN, k).is_zero()]
    if len(moved) > 1 or any(not aff.get_coefficient_val(IN, k).is_one() for k in moved):
        raise Unread("a subscript of several iterators")
    if moved == [0]:
        raise Unread("a subscript that is a time")
    return moved[0] if moved else 0, int(aff.get_constant_val().get_num_si())


def _access(
    scop: Scop, a: Access, written: Sequence[tuple[int, int]]
) -> tuple[tuple[CExpr, ...], tuple[int, ...] | None]:
    """An access in the coordinates of the element that is written."""
    array = scop.arrays[a.array]
    if array.inside or any(x.kind != "sub" for x in a.path):
        raise Unread(f"`{a.array}` is addressed in another way")
    clock = _clock(a)
    if clock is not None:
        return (_moved(Name(TIME), clock),), None
    if array.rank != len(written):
        raise Unread(f"`{a.array}` is a grid of another kind")
    found = [_subscript(a, d) for d in range(array.rank)]
    if [k for k, _ in found] != [k for k, _ in written]:
        raise Unread(f"`{a.array}` is read along other axes")
    shift = tuple(c - here for (_, c), (_, here) in zip(found, written, strict=True))
    return tuple(_moved(Name(coordinate(d)), c) for d, c in enumerate(shift)), shift


def _clock(a: Access) -> int | None:
    """How far from the present step an element lies that time alone chooses."""
    if a.write or a.index.dim(OUT) != 1:
        return None
    value = a.index.get_pw_aff(0)
    aff = value.get_pieces()[0][1] if value.n_piece() == 1 else None
    if aff is None or aff.dim(isl.dim_type.div) or aff.involves_dims(PARAM, 0, aff.dim(PARAM)):
        return None
    moved = [k for k in range(aff.dim(IN)) if not aff.get_coefficient_val(IN, k).is_zero()]
    if moved != [0] or not aff.get_coefficient_val(IN, 0).is_one():
        return None
    return int(aff.get_constant_val().get_num_si())


def _moved(at: CExpr, by: int) -> CExpr:
    return at if not by else Bin("+", at, Int(by)) if by > 0 else Bin("-", at, Int(-by))


def _check_domain(scop: Scop, s: Statement, x: GridSweep, node: For, at: TreePoint) -> None:
    """The tree runs the statement on all of its box at every time of the loop, and nowhere else. Where the array has no
    elements nothing runs: what is run touches one."""
    done = isl.Set.empty(s.domain.get_space())
    for r in runs_below(node, at):
        if r.instance.stmt == s.name:
            done = done.union(r.executes(scop).range())
    variables = [TIME, *(e.name for e in x.instance.iterators[1:] if isinstance(e, Name))]
    every = TreePoint(isl.Set.universe(s.domain.get_space().reset_tuple_id(SET)), tuple(variables), (), (), ())
    tests: list[CExpr] = [Bin("<=", node.lower, Name(TIME)), Bin(node.op, Name(TIME), node.upper)]
    for d, (low, high) in enumerate(zip(x.lows, x.highs, strict=True)):
        if coordinate(d) in variables:
            tests += [Bin("<=", low, Name(coordinate(d))), Bin("<", Name(coordinate(d)), high)]
    box = every.domain
    for test in tests:
        box = box.intersect(every.condition(test))
    box = box.set_tuple_name(s.name).intersect_params(scop.context.intersect(_with_elements(scop, x.target)))
    there = done.intersect_params(scop.context.intersect(_with_elements(scop, x.target)))
    if not box.is_equal(there):
        raise Unread(f"{s.name} runs no box of its grid in every step")


def _with_elements(scop: Scop, array: str) -> isl.Set:
    """Sizes of which the array has elements."""
    out = isl.Set.universe(scop.context.get_space())
    named = {p.text: p.name for p in scop.params}
    for e in scop.arrays[array].extents:
        if e in named:
            place = out.find_dim_by_name(PARAM, named[e])
            out = out.lower_bound_val(PARAM, place, isl.Val(1))
    return out
