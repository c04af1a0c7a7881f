"""Prints vector reductions: initial values of accumulators, and how lanes are combined."""

from __future__ import annotations

from codegen.ast.lowered import Lanes
from codegen.target.vector.lane_printer import spread, vector_type

# The value that changes nothing, and how two partial results are joined.
_NEUTRAL = {"+": "0", "-": "0", "*": "1"}
_JOIN = {"+": "+", "-": "+", "*": "*"}
_BETTER = {"max": ">", "min": "<"}


def begin_text(lanes: Lanes, op: str, target: str, own: list[str]) -> str:
    """The declaration of variables that gather apart."""
    start = spread(lanes, target if op in _BETTER else _NEUTRAL[op]) if op in (*_BETTER, "*") else "{0}"
    return f"{vector_type(lanes)} {', '.join(f'{w} = {start}' for w in own)};"


def join_texts(lanes: Lanes, op: str, target: str, own: list[str], helpers: set[str]) -> list[str]:
    """Vectors by halves, then the lanes of the last one and the variable; in turn, where a macro has their number."""
    out, left = [], list(own)
    while len(left) > 1:
        half = (len(left) + 1) // 2
        for x, y in zip(left, left[half:], strict=False):
            out.append(f"{x} = {_two(lanes, op, x, y, helpers)};")
        left = left[:half]
    if lanes.wider:
        every = f"for (int tw_lane = 0; tw_lane < {lanes.macro}; tw_lane++)"
        return [*out, f"{every} {_lane(op, target, f'{left[0]}[tw_lane]')}"]
    parts = [f"{left[0]}[{k}]" for k in range(lanes.count)]
    if op in _BETTER:
        return out + [_lane(op, target, x) for x in parts]
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [f"({x} {_JOIN[op]} {y})" for x, y in zip(parts[:half], parts[half:], strict=True)]
    return [*out, f"{target} = {target} {_JOIN[op]} {parts[0]};"]


def _lane(op: str, target: str, x: str) -> str:
    """How one lane goes into the target: it is stored only where it is better, as by the source, or added to it."""
    if op in _BETTER:
        return f"if ({x} {_BETTER[op]} {target}) {target} = {x};"
    return f"{target} = {target} {_JOIN[op]} {x};"


def _two(lanes: Lanes, op: str, x: str, y: str, helpers: set[str]) -> str:
    if op in _BETTER:
        helpers.add(f"{vector_type(lanes)}_chosen")
        return f"{vector_type(lanes)}_chosen({y} {_BETTER[op]} {x}, {y}, {x})"
    return f"{x} {_JOIN[op]} {y}"
