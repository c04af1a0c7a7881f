"""Vector reductions of floating-point loops: each lane reduces its own part (sum, product, minimum, maximum), and lanes
are combined at the end. Returns the loop in that form (`Strips`); None where the plan does not ask for it or it has no
such form.

Several vectors side by side take turns, so that none waits for its own last result; compilers that are told that the
order is free (`omp simd reduction`) take one.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import For
from codegen.ast.lowered import Do, Enough, Item, Join, Lanes, Plain, ReductionInit, Strips, While
from codegen.lower.lane_accesses import Maker, element
from codegen.lower.lanes import may_be_wider
from codegen.lower.loop_strides import loop_strides, unit_stride
from codegen.lower.shift import shifted
from codegen.lower.statements import Statements, assignments, lanes_asked
from codegen.recognize.lanes import computes, fits
from codegen.recognize.reductions import joined
from codegen.recognize.stores import without_branches
from codegen.scop.model import Scop, Statement

OPERATORS = frozenset({"+", "-", "*", "max", "min"})


def reduction_strips(scop: Scop, node: For, wider: bool = False) -> Strips | None:
    """Vectors side by side, single vectors, the joining, and what is left one by one; None where the loop does not ask
    for it or has no such form. `wider` as for `in_lanes`."""
    found = assignments(scop, node.body, True, True) if node.loop.width and node.loop.reductions else None
    lanes = None if found is None else _lanes(scop, node, found)
    if found is None or lanes is None:
        return None
    arrays = {a for _, a in node.loop.reductions}
    wider = wider and may_be_wider(scop, node, lanes, found, arrays)
    return _strips(scop, node, replace(lanes, wider=wider), found)


def _lanes(scop: Scop, node: For, found: Statements) -> Lanes | None:
    lanes = lanes_asked(scop, node, found)
    arrays = {a for _, a in node.loop.reductions}
    if lanes is None or lanes.elem.is_int or sum(s.accesses[s.target].array in arrays for s, _ in found) != len(arrays):
        return None
    for s, at in found:
        moves = loop_strides(s, at, node.var)
        if s.accesses[s.target].array in arrays:
            known = operator(scop, s) in OPERATORS and unit_stride(s, at, s.target, node.var) == 0
            if not known or not computes(scop, without_branches(s), moves, lanes.elem):
                return None
        elif not fits(scop, s, moves, lanes.elem):
            return None
    return lanes


def operator(scop: Scop, s: Statement) -> str:
    """By which a statement folds values into its target; empty where it does not."""
    how = joined(scop, s)
    return how[0] if how is not None else ""


def _strips(scop: Scop, node: For, lanes: Lanes, found: Statements) -> Strips:
    n, many = lanes.count, node.loop.factor
    make = Maker(scop, node.var, lanes)
    arrays = {a for _, a in node.loop.reductions}
    into = [(s, at) for s, at in found if s.accesses[s.target].array in arrays]
    own = {s.name: tuple(f"w.{k * many + t}" for t in range(many)) for k, (s, _) in enumerate(into)}

    def blocks(times: int) -> While:
        body: list[Item] = []
        for s, at in found:
            for t in range(times):
                kept = {element(s, at, s.target): own[s.name][t]} if s.name in own else {}
                body.append(Do(replace(make, kept=kept).work(s, shifted(at, node.var, lanes.vectors(t)))))
        return While(n * times, tuple(body), f"{times} vectors at a time" if times > 1 else "")

    loops = (blocks(many), blocks(1)) if many > 1 else (blocks(1),)
    begin = tuple(ReductionInit(own[s.name], at, operator(scop, s)) for s, at in into)
    end = tuple(Join(own[s.name], at, operator(scop, s)) for s, at in into)
    rest = While(1, tuple(Plain(at) for _, at in found), "the rest", single=True)
    return Strips(node, (Enough(n, loops, ahead=begin, after=end), rest), lanes)
