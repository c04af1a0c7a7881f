"""Cache traffic: cycles to fetch what the innermost loop of a group needs from beyond the first-level cache."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from codegen.machine import Machine
from codegen.recognize.access.strides import AccessStride
from codegen.recognize.access.wraps import usual_move
from codegen.record import record
from codegen.scop.model import Array
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
        kind = c.p.scop.arrays[array]
        step, again = _bytes(moves[-1], kind, c.machine) if moves else 0.0, 0.0
        rate = _rate(c, key, len(found), seen)
        if step >= c.machine.line_bytes and _tilable(c, moves):
            step = kind.elem.bytes
        elif step >= c.machine.line_bytes:
            step, again = _by_lines(c, key, found)
        if rate:
            total += (step / rate + again / NEAR) * (2 if write else 1)
        new[array] = Traffic(c.group.around, moves)
    seen.update(new)
    return total


def _by_lines(c: GroupInRegion, key: Key, found: dict[Key, bool]) -> tuple[float, float]:
    """What an iteration that goes to another line brings in, and what of it comes from the second-level cache once
    more: a loop around that goes along the lines finds them where they are still in a cache."""
    line, steps = float(c.machine.line_bytes), [_bytes(m, c.p.scop.arrays[key[0]], c.machine) for m in key[1][:-1]]
    along = next((k for k in reversed(range(len(steps))) if 0 < steps[k] < line), None)
    first, second = c.machine.cache(1), c.machine.cache(2)
    if along is None or first is None:
        return line, 0.0
    between = sum(_passed(c, other, along) for other in found)
    if between <= first.bytes / 2:
        return steps[along], 0.0
    return (steps[along], line) if second is not None and between <= second.bytes / 2 else (line, 0.0)


def _passed(c: GroupInRegion, key: Key, outer: int) -> float:
    """Bytes of an array that come by during an iteration of loop number `outer`: whole lines where none of the loops in
    it goes along them."""
    array, moves = key
    kind, line = c.p.scop.arrays[array], c.machine.line_bytes
    inside = [(m, n) for m, n in zip(moves[outer + 1 :], c.lengths[outer + 1 :], strict=False) if any(m)]
    total = float(kind.elem.bytes if any(_bytes(m, kind, c.machine) < line for m, _ in inside) else line)
    for _, n in inside:
        total *= n
    return total


def _tilable(c: GroupInRegion, moves: Moves) -> bool:
    """Tiles of the band will make use of whole lines: another loop of it steps through neighbours."""
    node = at(c.p.tree, c.group.path)
    if not isinstance(node, Band) or not node.permutable or len(node.loops) < 2:
        return False
    return any(next_element(m) for m in moves[-len(node.loops) : -1])


def _bytes(steps: tuple[Fraction, ...], array: Array, machine: Machine) -> float:
    """What one step along a loop brings in: at most a line. Rows whose length is a number lie side by side, as pixels
    of a few bytes do."""
    far, row, known = Fraction(0), 1, True
    for k, step in enumerate(reversed(steps)):
        if step and not known:
            return float(machine.line_bytes)
        far += step * row
        size = array.extents[-k - 1] if k < len(array.extents) else ""
        known = known and size.isdigit()
        row *= int(size) if known else 1
    return min(float(machine.line_bytes), float(abs(far) * array.elem.bytes))


def _rate(c: GroupInRegion, key: Key, arrays: int, seen: Seen) -> float:
    """Bytes per cycle from where it was left by the last use: 0 when that is the first-level cache."""
    (array, moves), lengths, machine = key, c.lengths, c.machine
    kind = c.p.scop.arrays[array]
    again: list[float] = []  # bytes touched since the last use
    for k in range(len(moves) - 1):
        if not any(moves[k]):
            again.append(_touched(lengths[k + 1 :], moves[k + 1 :], kind, machine) * arrays)
    before = seen.get(array)
    if before is not None:
        shared = _shared_loops(before.around, c.group.around)
        if shared and sum(map(any, before.moves[shared:])) >= sum(map(any, moves[shared:])):
            again.append(_touched(lengths[shared:], moves[shared:], kind, machine) * arrays)
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


def _touched(lengths: Sequence[float], moves: Moves, array: Array, machine: Machine) -> float:
    """Bytes that come by while the loops of these lengths run once: whole lines where none of them goes along rows."""
    apart = any(map(any, moves)) and not any(_bytes(m, array, machine) < machine.line_bytes for m in moves if any(m))
    total = float(machine.line_bytes if apart else array.elem.bytes)
    for n in lengths:
        total *= n
    return total
