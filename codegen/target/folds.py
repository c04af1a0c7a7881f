"""Loops that gather sums, products or extremes, written as vectors: lanes gather apart and are joined at the end.

Several vectors side by side take turns, so that none waits for its own last result; compilers that are told that the
order is free (`omp simd reduction`) take one.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import For, Held, Instance
from codegen.recognize.reductions import joined
from codegen.recognize.stores import without_branches
from codegen.scop.model import Scop, Statement
from codegen.scop.types import CType
from codegen.target.body import BodyPrinter
from codegen.target.cexpr import IntPrinter
from codegen.target.jam import Statements, shifted
from codegen.target.lane_printer import LanePrinter, spread
from codegen.target.lanes import Lanes, computes, fits, strides, width_of
from codegen.target.pieces import View, fresh

# The value that changes nothing, and how two partial results are joined.
_NEUTRAL = {"+": "0", "-": "0", "*": "1"}
_JOIN = {"+": "+", "-": "+", "*": "*"}
_BETTER = {"max": ">", "min": "<"}


def folds_of(scop: Scop, node: For, found: Statements) -> Lanes | None:
    """How to write a loop that gathers as vectors; None where it does not ask for it or has no such form."""
    if not node.loop.reductions:
        return None
    lanes = width_of(scop, node, found)
    arrays = {a for _, a in node.loop.reductions}
    if lanes is None or lanes.elem.is_int or sum(s.accesses[s.target].array in arrays for s, _ in found) != len(arrays):
        return None
    for s, at in found:
        form = _gathers if s.accesses[s.target].array in arrays else fits
        if not form(scop, s, at, node.var, lanes.elem):
            return None
    return lanes


def _gathers(scop: Scop, s: Statement, at: Instance, var: str, elem: CType) -> bool:
    """Does the statement fold values that vectors can compute into one place?"""
    known = _operator(scop, s) in (*_NEUTRAL, *_BETTER)
    return known and strides(s, at, s.target, var) == 0 and computes(scop, without_branches(s), at, var, elem)


def _operator(scop: Scop, s: Statement) -> str:
    how = joined(scop, s)
    return how[0] if how is not None else ""


def fold_view(
    scop: Scop,
    node: For,
    lanes: Lanes,
    found: Statements,
    ints: IntPrinter,
    held: dict[str, Held],
    taken: frozenset[str],
) -> View:
    """Vectors side by side, single vectors, the joining, and what is left one by one."""
    name = fresh(node.loop.name, taken, ("_end",))
    end, n = f"{name}_end", lanes.count
    taken = taken | {name, end}
    ints.helpers.add(lanes.type)
    now = IntPrinter(ints.params, {**ints.names, node.var: name}, ints.helpers)
    one = BodyPrinter(scop, now, held)
    many = LanePrinter(scop, now, held, node.var, lanes)
    arrays = {a for _, a in node.loop.reductions}
    folded = [(s, at) for s, at in found if s.accesses[s.target].array in arrays]
    first = fresh("w", taken, tuple(map(str, range(len(folded) * lanes.times))))
    own = {s.name: [f"{first}{k * lanes.times + t}" for t in range(lanes.times)] for k, (s, _) in enumerate(folded)}

    def step(t: int) -> list[View]:
        out = []
        for s, at in found:
            kept = {one.access(s, at, s.target): own[s.name][t]} if s.name in own else {}
            value, target = replace(many, kept=kept).parts(s, shifted(at, node.var, t * n))
            out.append(View("stmt", f"{target} = {value};", stmt=s.name))
        return out

    def blocks(times: int) -> View:
        body = tuple(v for k in range(len(found)) for t in range(times) for v in step(t)[k : k + 1])
        note = f"{times} vectors at a time" if times > 1 else ""
        return View("for", f"; {name} + {n * times - 1} < {end}; {name} += {n * times}", note, body=body)

    begin: list[View] = []
    finish: list[View] = []
    for s, at in folded:
        target, op = one.access(s, at, s.target), _operator(scop, s)
        start = spread(lanes, target if op in _BETTER else _NEUTRAL[op]) if op in (*_BETTER, "*") else "{0}"
        begin.append(View("decl", f"{lanes.type} {', '.join(f'{w} = {start}' for w in own[s.name])};"))
        finish += [View("stmt", text, stmt=s.name) for text in _joined(lanes, op, target, own[s.name], many)]
    loops = (blocks(lanes.times), blocks(1)) if lanes.times > 1 else (blocks(1),)
    each = tuple(View("stmt", one.statement(s, at), stmt=s.name) for s, at in found)
    past = ints.text(node.upper) if node.op == "<" else f"{ints.text(node.upper, 5)} + 1"
    return View("block", body=(
        View("decl", f"const long {end} = {past};"),
        View("decl", f"long {name} = {ints.text(node.lower)};"),
        View("if", f"{name} + {n - 1} < {end}", body=(*begin, *loops, *finish)),
        View("for", f"; {name} < {end}; {name}++", "the rest", body=(View("decl", "TW_ONE_BY_ONE();"), *each)),
    ))


def _joined(lanes: Lanes, op: str, target: str, own: list[str], many: LanePrinter) -> list[str]:
    """Vectors by halves, then the lanes of the last one and the variable."""
    out, left = [], list(own)
    while len(left) > 1:
        half = (len(left) + 1) // 2
        for x, y in zip(left, left[half:], strict=False):
            out.append(f"{x} = {_two(lanes, op, x, y, many)};")
        left = left[:half]
    parts = [f"{left[0]}[{k}]" for k in range(lanes.count)]
    if op in _BETTER:  # it is stored only where one is better, as by the source
        return out + [f"if ({x} {_BETTER[op]} {target}) {target} = {x};" for x in parts]
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [f"({x} {_JOIN[op]} {y})" for x, y in zip(parts[:half], parts[half:], strict=True)]
    return [*out, f"{target} = {target} {_JOIN[op]} {parts[0]};"]


def _two(lanes: Lanes, op: str, x: str, y: str, many: LanePrinter) -> str:
    if op in _BETTER:
        return f"{many.helper('chosen')}({y} {_BETTER[op]} {x}, {y}, {x})"
    return f"{x} {_JOIN[op]} {y}"
