"""Prints loads and stores of the accumulator tile of C in registers."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.isa.model import Isa
from codegen.isa.text import bare, call
from codegen.lower.nest.registers import copies
from codegen.lower.nest.schedule import NestSchedule
from codegen.record import record
from codegen.target.nest.block import BlockWriter, VectorPoint, place, points


@record
class AccumulatorTile:
    """`names` are the accumulators of each vector of C, by its offset; each has `copies` of them."""

    names: Mapping[int, tuple[str, ...]]
    copies: int
    load: list[str]
    store: list[str]
    block: BlockWriter


def tile(
    isa: Isa, plan: NestSchedule, extents: Mapping[str, int], pointer: str, fresh: bool, split: bool
) -> AccumulatorTile:
    """The tile over such extents. `fresh`: it starts from zero, not from C. `split`: sums may be kept in parts."""
    found = points(plan, extents)
    count = copies(isa, plan, extents, len({p.step for p in found})) if split else 1
    whole: dict[int, VectorPoint] = {p.offset("C"): p for p in found}
    names = {at: tuple(f"c{n}" + (f"x{m}" if m else "") for m in range(count)) for n, at in enumerate(whole)}
    block = BlockWriter(isa, plan, names, count)
    load = [x for at, p in whole.items() for x in _load(block, names[at], p, pointer, fresh)]
    store = [x for at, p in whole.items() for x in _store(block, names[at], p, pointer, fresh)]
    return AccumulatorTile(names, count, load, store, block)


def _load(block: BlockWriter, names: tuple[str, ...], p: VectorPoint, pointer: str, fresh: bool) -> list[str]:
    vector, at = block.vec.vector, place(pointer, p.offset("C"))
    zero = bare(call(block.isa, block.elem, "dup", ["0"]))
    starts = fresh or block.plan.vector not in block.plan.problem.c
    first = zero if starts else block.load(at, block.along["C"], p.lanes)
    return [f"{vector} {name} = {zero if n else first};" for n, name in enumerate(names)]


def _store(block: BlockWriter, names: tuple[str, ...], p: VectorPoint, pointer: str, fresh: bool) -> list[str]:
    at, lines = place(pointer, p.offset("C")), _joined(block, names)
    summed, stride = block.plan.vector not in block.plan.problem.c, block.along["C"]
    lanes, scalar = block.plan.lanes, block.vec.scalar
    if not summed and stride == 1 and p.lanes == lanes:
        return [*lines, bare(call(block.isa, block.elem, "store", [at, names[0]])) + ";"]
    lines += ["{", f"  {scalar} part[{lanes}];", f"  {bare(call(block.isa, block.elem, 'store', ['part', names[0]]))};"]
    if summed:
        lines.append(f"  *({at}) {'' if fresh else '+'}= {_tree([f'part[{n}]' for n in range(lanes)])};")
    else:
        lines += [f"  *({place(at, n * stride)}) = part[{n}];" for n in range(p.lanes)]
    return [*lines, "}"]


def _joined(block: BlockWriter, names: tuple[str, ...]) -> list[str]:
    """Add the parts of a sum into the first, neighbours first."""
    lines, left = [], list(names)
    while len(left) > 1:
        for a, b in zip(left[::2], left[1::2], strict=False):
            lines.append(f"{a} = {bare(call(block.isa, block.elem, 'add', [a, b]))};")
        left = left[::2]
    return lines


def _tree(parts: list[str]) -> str:
    """A sum by halves."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = _tree(parts[:half]), _tree(parts[half:])
    return f"({left} + {right})" if len(parts) > 2 else f"({parts[0]} + {parts[1]})"
