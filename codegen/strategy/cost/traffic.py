"""Cache traffic: cycles to fetch what the innermost loop of a group needs from beyond the first-level cache."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from codegen.machine import Machine
from codegen.recognize.access.strides import AccessStride
from codegen.recognize.access.wraps import usual_move
from codegen.record import record
from codegen.scop.tree import Band, Loop, at
from codegen.strategy.cost.groups import GroupInRegion

MEMORY, NEAR = 8.0, 16.0  # bytes per cycle from memory, and from the caches beyond the first
FAR = Fraction(1 << 20)  # elements, where it is not known how far an access goes
# A key of what is fetched: the array and how it moves along every loop around.
Moves = tuple[tuple[Fraction, ...], ...]
Key = tuple[str, Moves]


@record
class Traffic:
    """How a group went through an array."""

    around: tuple[Loop, ...]
    moves: Moves


Seen = dict[str, Traffic]  # by array, the last use


def keys(c: GroupInRegion, depth: int) -> dict[Key, bool]:
    """What is fetched along the first `depth` loops, and whether it is written."""
    out: dict[Key, bool] = {}
    for s in c.stmts:
        for a in s.accesses:
            if not c.p.scop.arrays[a.array].rank:
                continue
            moves = [_steps(usual_move(c.p.scop, s, a, c.own[s.name], k)) for k in range(depth)]
            key = a.array, tuple(moves)
            out[key] = out.get(key, False) or a.write
    return out


def _steps(m: AccessStride) -> tuple[Fraction, ...]:
    """What is not a fixed step counts as a jump."""
    return (FAR,) if m.steps is None else m.steps


def next_element(steps: tuple[Fraction, ...]) -> bool:
    """Does a step go to a neighbour in memory?"""
    return bool(steps) and abs(steps[-1]) == 1 and not any(steps[:-1])


def fetched(c: GroupInRegion, found: dict[Key, bool], seen: Seen) -> float:
    """Cycles per iteration for what is not in the first-level cache. What the group uses is noted as `seen`."""
    total = 0.0
    new: Seen = {}
    for key, write in found.items():
        array, moves = key
        elem = c.p.scop.arrays[array].elem.bytes
        step = _bytes(moves[-1], elem, c.machine) if moves else 0.0
        if step >= c.machine.line_bytes and _tilable(c, moves):
            step = elem
        rate = _rate(c, key, len(found), seen)
        if rate:
            total += step * (2 if write else 1) / rate
        new[array] = Traffic(c.group.around, moves)
    seen.update(new)
    return total


def _tilable(c: GroupInRegion, moves: Moves) -> bool:
    """Tiles of the band will make use of whole lines: another loop of it steps through neighbours."""
    node = at(c.p.tree, c.group.path)
    if not isinstance(node, Band) or not node.permutable or len(node.loops) < 2:
        return False
    return any(next_element(m) for m in moves[-len(node.loops) : -1])


def _bytes(steps: tuple[Fraction, ...], elem: int, machine: Machine) -> float:
    """What one step along a loop brings in."""
    if not any(steps):
        return 0.0
    if any(steps[:-1]):
        return float(machine.line_bytes)
    return float(min(Fraction(machine.line_bytes), abs(steps[-1]) * elem))


def _rate(c: GroupInRegion, key: Key, arrays: int, seen: Seen) -> float:
    """Bytes per cycle from where it was left by the last use: 0 when that is the first-level cache."""
    (array, moves), lengths, machine = key, c.lengths, c.machine
    elem = c.p.scop.arrays[array].elem.bytes
    again: list[float] = []  # bytes touched since the last use
    for k in range(len(moves) - 1):
        if not any(moves[k]):
            again.append(_touched(lengths[k + 1 :], moves[k + 1 :], elem, machine) * arrays)
    before = seen.get(array)
    if before is not None:
        shared = _shared_loops(before.around, c.group.around)
        if shared and sum(map(any, before.moves[shared:])) >= sum(map(any, moves[shared:])):
            again.append(_touched(lengths[shared:], moves[shared:], elem, machine) * arrays)
    least = min(again, default=float("inf"))
    first, second = machine.cache(1), machine.cache(2)
    if first is not None and least <= first.bytes / 2:
        return 0.0
    return NEAR if second is not None and least <= second.bytes / 2 else MEMORY


def _shared_loops(before: Sequence[Loop], now: Sequence[Loop]) -> int:
    """How many loops two groups share, from the outside."""
    shared = 0
    for a, b in zip(before, now, strict=False):
        if a.name != b.name or a.exprs.keys() != b.exprs.keys():
            break
        shared += 1
    return shared


def _touched(lengths: Sequence[float], moves: Moves, elem: int, machine: Machine) -> float:
    """Bytes that come by while the loops of these lengths run once: whole lines where none of them goes along rows."""
    apart = any(map(any, moves)) and not any(_bytes(m, elem, machine) < machine.line_bytes for m in moves if any(m))
    total = float(machine.line_bytes if apart else elem)
    for n in lengths:
        total *= n
    return total
