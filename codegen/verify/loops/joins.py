"""Reads the code around vectorized reductions (sum, product, least, greatest): what the variables begin with, and how
all their lanes are joined into the target. Raises Unread where a lane is left out or counted twice."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.ast.lowered import Lanes
from codegen.patterns import pattern
from codegen.target.vector.lane_printer import vector_type
from codegen.verify.loops.cursor import Cursor
from codegen.verify.text.read import Unread

_SIGN = {"+": "+", "-": "+", "*": "*"}  # partial results of a difference are added up
_BETTER = {"max": ">", "min": "<"}
_LANE = pattern(r"(\w+)\[(\d+)\]")


def read_start(cursor: Cursor, lanes: Lanes, op: str, target: str, count: int) -> list[str]:
    """The names of variables which begin with a value that changes nothing: the neutral one, or what is there."""
    kind, text = vector_type(lanes), cursor.next_statement()
    every = {"+": "{0}", "-": "{0}", "*": f"1 - ({kind}){{0}}"}
    first = f"{target} - ({kind}){{0}}" if op in _BETTER else every[op]
    names = re.findall(r"(?:^\w+|,) (\w+) = ", text)
    if len(set(names)) != count or text != f"{kind} {', '.join(f'{n} = {first}' for n in names)};":
        raise Unread(f"`{text}` stands where {count} partial results should begin with `{first}`")
    cursor.take()
    return names


def read_join(cursor: Cursor, lanes: Lanes, op: str, target: str, names: Sequence[str]) -> None:
    """Reads how variables are joined: every lane of each goes into the target, once unless twice is the same."""
    holds = {n: frozenset({n}) for n in names}
    while (m := re.match(r"(\w+) = ", cursor.next_statement())) is not None and m[1] in holds:
        x, y = m[1], _other(cursor.take().text, m[1], op, vector_type(lanes))
        if y not in holds or holds[x] & holds[y]:
            raise Unread(f"`{y}` is joined twice, or is no partial result")
        holds[x] |= holds.pop(y)
    if len(holds) != 1:
        raise Unread("a partial result is lost")
    (last,) = holds
    if lanes.wider:
        cursor.expect("for", f"int tw_lane = 0; tw_lane < {lanes.macro}; tw_lane++")
        _read_lane(cursor, op, target, f"{last}[tw_lane]")
        cursor.expect("/for")
        return
    if op in _BETTER:
        for k in range(lanes.count):
            _read_lane(cursor, op, target, f"{last}[{k}]")
        return
    start, text = f"{target} = {target} {_SIGN[op]} ", cursor.expect("stmt").text
    if not text.startswith(start) or not _is_all(text[len(start) : -1], last, lanes.count, _SIGN[op]):
        raise Unread(f"`{text}` does not bring all lanes of `{last}` to `{target}`")


def _read_lane(cursor: Cursor, op: str, target: str, lane: str) -> None:
    """Reads how one lane goes into the target: where it is better, or by the operation."""
    if op in _BETTER:
        cursor.expect("if", f"{lane} {_BETTER[op]} {target}")
        cursor.expect("stmt", f"{target} = {lane};")
        cursor.expect("/if")
    else:
        cursor.expect("stmt", f"{target} = {target} {_SIGN[op]} {lane};")


def _other(text: str, x: str, op: str, kind: str) -> str:
    """The variable that is joined with another one by a statement."""
    sign = re.escape(_BETTER[op] if op in _BETTER else _SIGN[op])
    form = rf"{x} = {kind}_chosen\((\w+) {sign} {x}, \1, {x}\);" if op in _BETTER else rf"{x} = {x} {sign} (\w+);"
    m = re.fullmatch(form, text)
    if m is None:
        raise Unread(f"`{text}` joins partial results in another way")
    return m[1]


def _is_all(text: str, name: str, count: int, sign: str) -> bool:
    """Are all lanes there once, each with the others by this operation?"""
    if sorted(_LANE.findall(text)) != sorted((name, str(k)) for k in range(count)):
        return False
    shape, pair = _LANE.sub("x", text), f"(x {sign} x)"
    while pair in shape:
        shape = shape.replace(pair, "x")
    return shape == "x"
