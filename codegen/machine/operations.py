"""Latency and throughput of one vector multiply-add step, or of any other pair of operators.

A machine's tables name what its instructions do. What they leave out is taken from a similar operation, then from a
similar type, and at last derived from the FMA, so that a description of four lines is already usable.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from codegen.machine.model import OPERATIONS, Machine, Operation
from codegen.record import record

# Whose figures stand in for an operation that a table does not have, nearest first.
_LIKE = {
    "sub": ("add",),
    "min": ("add",),
    "max": ("min", "add"),
    "or": ("and",),
    "xor": ("and", "or"),
}
# Other names for the work of one instruction: what a compiler's lane operations come down to.
_SAME = {
    **dict.fromkeys(("fmin", "anymin", "lt", "le", "eq", "ne"), "min"),
    **dict.fromkeys(("fmax", "anymax", "gt", "ge"), "max"),
    **dict.fromkeys(("not", "select", "mand", "mor", "mnot", "wrap8", "wrap16", "wrapu8", "wrapu16"), "and"),
    "neg": "sub",
}
# Tables to look into for a type, nearest first.
_TYPES = {
    "f64": ("f64",),
    "f32": ("f32", "f64"),
    "i64": ("i64", "i32"),
    "i32": ("i32",),
    "i16": ("i16", "i32"),
    "i8": ("i8", "i16", "i32"),
}


@record
class OperationChain:
    """A chain of operations on one vector: cycles until its result can be used, and chains started per cycle.

    `last_latency` is that of the last operation alone, which is what joins two results; `fused` tells of an FMA.
    Steps that differ in nothing but the sum follow each other every `repeat` cycles.
    """

    latency: Fraction
    throughput: Fraction
    last_latency: Fraction
    fused: bool
    repeat: Fraction

    def flops_per_cycle(self, lanes: int) -> Fraction:
        """The most that can be computed per cycle and core, a step counting as two operations in every lane."""
        return 2 * lanes * self.throughput


def exact(value: float) -> Fraction:
    """The decimal number that was written, not the nearest binary one: 0.05 is a twentieth."""
    return Fraction(repr(float(value)))


def operation(machine: Machine, elem: str, name: str) -> Operation:
    """The figures of an operation: the machine's own, or derived from its FMA.

    Derived: integer addition, minima and bit operations take half the FMA's latency; other operations take all of
    it and divisions four times that. Divisions start sixteen times more rarely, all others as often as FMAs do.
    """
    name = _SAME.get(name, name)
    found = _find(machine, elem, name)
    if found is not None:
        return found
    latency, throughput = machine.fma_latency, machine.fma_throughput
    if name == "div":
        return Operation(elem, name, 4 * latency, throughput / 16)
    if name in ("and", "or", "xor") or (not _is_float(elem) and name in ("add", "sub", "min", "max")):
        latency = latency / 2
    elif name in ("add", "sub") and machine.add_latency is not None:
        latency = machine.add_latency
    return Operation(elem, name, latency, throughput)


def pair(machine: Machine, elem: str, combine: str, reduce: str) -> OperationChain:
    """The step `c = reduce(c, combine(a, b))` on elements such as "f64" or "u16"."""
    return chain(machine, elem, (combine, reduce))


def chain(machine: Machine, elem: str, names: Sequence[str]) -> OperationChain:
    """Operations that each wait for the one before. A multiplication and the sum after it are fused where possible.

    Latencies add up. The rate is that of the slowest operation if the units can take all of them at that rate,
    else that rate divided among them.
    """
    parts, fused = _fuse(machine, elem, names)
    slowest = min(exact(p.throughput) for p in parts)
    throughput = slowest if _side_by_side(parts, slowest) else slowest / len(parts)
    last = operation(machine, elem, names[-1])
    repeat = exact(parts[-1].chain or parts[-1].latency)
    return OperationChain(
        sum((exact(p.latency) for p in parts), Fraction(0)), throughput, exact(last.latency), fused, repeat
    )


def _fuse(machine: Machine, elem: str, names: Sequence[str]) -> tuple[tuple[Operation, ...], bool]:
    fma = _fma(machine, elem)
    parts: list[Operation] = []
    for k, name in enumerate(names):
        if fma is not None and name in ("add", "sub") and k and names[k - 1] == "mul" and parts[-1] is not fma:
            parts[-1] = fma
        else:
            parts.append(operation(machine, elem, name))
    return tuple(parts), fma is not None and any(p is fma for p in parts)


def _fma(machine: Machine, elem: str) -> Operation | None:
    """The FMA of a type. A table with `mul` and `add` but no `fma` says that there is none."""
    found = _find(machine, elem, "fma")
    if found is not None or not _is_float(elem):
        return found
    if all(_find(machine, elem, name) for name in ("mul", "add")):
        return None
    return Operation(elem, "fma", machine.fma_latency, machine.fma_throughput)


def _side_by_side(parts: Sequence[Operation], rate: Fraction) -> bool:
    """Whether every unit has time for its share: no set of operations asks for more than its units can do.

    An operation that `n` units start `t` times per cycle takes n/t cycles of one unit.
    """
    if len(parts) == 1:
        return True
    if not all(p.units for p in parts):
        return False
    work: dict[str, Fraction] = {}
    for p in parts:
        work[p.units] = work.get(p.units, Fraction(0)) + len(p.units) / exact(p.throughput)
    kinds = sorted(work)
    groups = [g for n in range(1, len(kinds) + 1) for g in combinations(kinds, n)]
    return all(rate * sum(work[units] for units in g) <= len(set("".join(g))) for g in groups)


def _find(machine: Machine, elem: str, name: str) -> Operation | None:
    if name not in OPERATIONS:
        raise ValueError(f"no operation '{name}'")
    table = {(o.type, o.name): o for o in machine.operations}
    keys = [(type_, n) for n in (name, *_LIKE.get(name, ())) for type_ in _TYPES[elem.replace("u", "i")]]
    return next((table[key] for key in keys if key in table), None)


def _is_float(elem: str) -> bool:
    return elem.startswith("f")
