"""Counts the registers of a thread (`registers`): its operations in an order in which compilers for devices have them,
loads first as long as there is room, the values that are live among them, and what compilers take beside.

Compilers bring a thread down to as many registers as let a multiprocessor run as many threads as it can, if an order
without loads ahead gets along with them. In loops they bring as much ahead as that leaves room for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from codegen.gpu.plan.device import Device
from codegen.gpu.registers.model import (
    CALL,
    DIVIDE,
    INDEX,
    LOAD,
    NARROW,
    OFFSET,
    POINTER,
    PRODUCT,
    ROOT,
    STORE,
    WIDE,
    Operation,
    Part,
    Repeated,
    ThreadCode,
)
from codegen.record import record

# Registers that the code of an operation takes beside its operands and its result, by those of the result.
ROOM = {
    (PRODUCT, WIDE): 2, (INDEX, WIDE): 1,
    (DIVIDE, WIDE): 16, (ROOT, WIDE): 10, (CALL, WIDE): 12, (DIVIDE, NARROW): 4, (ROOT, NARROW): 3, (CALL, NARROW): 5,
}  # fmt: skip
NARROW_POINTER = 2  # what the base of an array takes, which is added to a subscript of 32 bits
AHEAD = 3  # loads whose addresses are computed side by side
MANY = 100  # live values up to which loads go first where nothing keeps them from it
COUNTED = 6  # of these operations at most are seen in the number of registers


@record
class Weights:
    """Registers, made from live values and operations: fitted to what nvcc 13.4 reports for every second kernel of the
    corpus (sm_90a), by the share that is within 15 %."""

    base: float
    live: float
    index: float  # for each register of a subscript beyond the first: they are computed side by side
    offset: float
    pointer: float
    narrow: float  # where counters have 32 bits
    spare: float  # by how much a thread may pass, or stays below, what full occupancy leaves it


STRAIGHT = Weights(5.45, 0.76, 0.48, 1.65, 0.45, 1.25, 0.75)
LOOPED = Weights(6.45, 0.9, 0.5, 0.5, 0.15, 3.05, 3.45)


def registers(code: ThreadCode, device: Device) -> int:
    """Of a thread, as the device's compiler will have it."""
    warps = -(-code.threads // device.warp)
    blocks = min(device.blocks_per_multiprocessor, device.threads_per_multiprocessor // (warps * device.warp))
    target = device.registers_per_multiprocessor // (max(1, blocks) * warps * device.warp)
    looped = any(isinstance(x, Repeated) for x in code.parts)
    weights = LOOPED if looped else STRAIGHT
    lean, eager = (_taken(code, weights, budget) for budget in (0, MANY))
    if looped:
        found = min(eager, max(target - weights.spare, lean))
    else:
        found = target if eager > target and lean <= target + weights.spare else eager
    return min(round(found), device.registers_per_thread)


def _taken(code: ThreadCode, w: Weights, budget: int) -> float:
    """Registers, where loads go first as long as fewer values than so many are live."""
    index, offset, pointer = (sum(x.kind == k for x in code.operations) for k in (INDEX, OFFSET, POINTER))
    seen = code.counter * max(0, min(COUNTED, index) - 1)
    narrow = w.narrow if code.counter == NARROW else 0.0
    beside = w.index * seen + w.offset * min(COUNTED, offset) + w.pointer * min(COUNTED, pointer) + narrow
    return w.base + w.live * _live(code, budget) + beside


@dataclass
class _Runs:
    """Operations between branches, one after the other; where values are made, and the last run that needs them."""

    code: ThreadCode
    runs: list[tuple[int, ...]] = field(default_factory=list)
    made: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)

    def add(self, parts: Sequence[Part]) -> None:
        for part in parts:
            begin = len(self.runs)
            if isinstance(part, Repeated):
                self.add(part.parts)
                self._end(part, begin)
                continue
            self.runs.append(part.operations)
            self.made |= dict.fromkeys(part.operations, begin)
            self.last |= {v: begin for k in part.operations for v in self.code.operations[k].uses}

    def _end(self, loop: Repeated, begin: int) -> None:
        """What a loop needs from before, its next iteration needs as well."""
        end = len(self.runs)
        self.runs.append(())
        outer = [v for v, at in self.last.items() if at >= begin and self.made.get(v, end) < begin]
        self.last |= dict.fromkeys((*(v for v in outer if v not in loop.carried), *loop.kept), end)


def _live(code: ThreadCode, budget: int) -> int:
    """Registers of the values that are live at a time, at most."""
    found = _Runs(code)
    found.add(code.parts)
    most = 0
    for number, run in enumerate(found.runs):
        through = (v for v, at in found.made.items() if at < number <= found.last.get(v, -1))
        behind = frozenset(v for v, at in found.last.items() if at > number)
        most = max(most, _Order(code, run, behind, sum(code.operations[v].words for v in through)).most(budget))
    return most


@dataclass
class _Order:
    """Puts operations of a run into an order, and counts. Values `behind` are needed later on."""

    code: ThreadCode
    run: tuple[int, ...]
    behind: frozenset[int]
    live: int
    peak: int = 0
    todo: dict[int, None] = field(default_factory=dict)
    users: dict[int, int] = field(default_factory=dict)

    def most(self, budget: int) -> int:
        ops = self.code.operations
        self.todo, self.peak = dict.fromkeys(self.run), self.live
        for k in self.run:
            for v in set(ops[k].uses):
                self.users[v] = self.users.get(v, 0) + 1
        called = (ops[k] for k in self.run if ops[k].kind in (DIVIDE, ROOT, CALL))
        budget -= max((_room(x, self.code.counter) for x in called), default=0)
        while loads := [k for k in self.todo if ops[k].kind == LOAD] if budget > 0 else []:
            ahead = list(islice((c for k in loads for c in (self._before(k),) if c), AHEAD))
            if not ahead or self.live + ops[ahead[0][-1]].words > budget:
                self._next(next(iter(self.todo)))
                continue
            for k in _in_turn([c[:-1] for c in ahead]):
                if k in self.todo and self.live < budget and self._ready(k):
                    self._next(k)
            for k in self._before(ahead[0][-1]):
                self._next(k)
        for k in list(self.todo):
            self._next(k)
        return self.peak

    def _next(self, k: int) -> None:
        op = self.code.operations[k]
        del self.todo[k]
        self.peak = max(self.peak, self.live + _room(op, self.code.counter))
        for v in set(op.uses):
            self.users[v] -= 1
            if not self.users[v] and v not in self.behind:
                self.live -= self.code.operations[v].words
        self.peak = max(self.peak, self.live + op.words)
        if self.users.get(k) or k in self.behind:
            self.live += op.words

    def _ready(self, k: int) -> bool:
        op = self.code.operations[k]
        return not any(v in self.todo for v in (*op.uses, *op.after))

    def _before(self, load: int) -> list[int]:
        """What has to come before a load, and that itself; nothing where other loads or stores do."""
        out: dict[int, None] = {}
        todo = [(load, False)]
        while todo:
            k, done = todo.pop()
            op = self.code.operations[k]
            if done:
                out[k] = None
            elif k in self.todo and k not in out:
                if op.kind in (LOAD, STORE) and k != load:
                    return []
                todo += [(k, True), *((v, False) for v in reversed((*op.uses, *op.after)))]
        return list(out)


def _in_turn(chains: Sequence[Sequence[int]]) -> Iterator[int]:
    for n in range(max(map(len, chains), default=0)):
        yield from (c[n] for c in chains if n < len(c))


def _room(op: Operation, counter: int) -> int:
    if op.kind == POINTER:
        return NARROW_POINTER if counter == NARROW else 0
    return ROOM.get((op.kind, op.words), 0)
