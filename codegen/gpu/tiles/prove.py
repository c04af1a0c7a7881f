"""Proofs about products in tiles: what is computed from shared memory equals what the plain nest computes from the
arrays. `wrong_tile` returns a sentence about the first proof that fails, empty where none does.

Formulas are parsed from the text that is printed (`model.parsed`) and read as relations. Numbers of threads, registers
and rooms are constants; parts of the depth are counted by a variable, and there is any number of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, Int, Name, substitute
from codegen.gpu.tiles.model import (
    GROUPS,
    LEFT_ROW,
    PLAIN_COLUMN,
    PLAIN_ROW,
    RIGHT_COLUMN,
    TILE_ROW,
    UNIT_COLUMN,
    UNIT_DEPTH,
    UNIT_ROW,
    WIDE,
    DepthStaging,
    StagedOperand,
    ThreadTile,
    constants,
    copied,
    number,
    parsed,
    place,
    room,
    value,
)
from codegen.gpu.tiles.order import TileProgram
from codegen.gpu.tiles.synchronization import wrong_order
from codegen.verify.readback import TreePoint

SHARED_ALIGNMENT = 16
MOST_SHARED = 232448  # bytes of a block, on the largest device


def wrong_tile(
    t: ThreadTile, s: DepthStaging, operands: Sequence[StagedOperand], vector: int, order: TileProgram
) -> str:
    """A sentence about the first proof that fails; empty where all go through."""
    values = {**constants(t, s), **groups(t, operands), "V": vector, "STEP": max(1, s.depth // order.steps)}
    return (
        _wrong_sizes(t, s, operands, values)
        or _wrong_blocks()
        or _wrong_owner(t, values)
        or next(filter(None, (wrong_staging(o, t, values) for o in operands)), "")
        or next(filter(None, (_wrong_reads(o, t, values) for o in operands)), "")
        or wrong_order(order, s.stages)
    )


def groups(t: ThreadTile, operands: Sequence[StagedOperand]) -> dict[str, int]:
    """Neighbours that a thread has along rows and columns: as many as one load of shared memory brings."""
    out = {}
    for side, name in enumerate(("GI", "GJ")):
        mine = [o for o in operands if o.side == side]
        most = 1 if any(o.layout != WIDE for o in mine) else max((16 // o.bytes for o in mine), default=1)
        out[name] = next(n for n in (most, most // 2, 1) if n and t.registers[side] % n == 0)
    return out


def shared_bytes(t: ThreadTile, s: DepthStaging, operands: Sequence[StagedOperand]) -> int:
    values = constants(t, s)
    return sum(-(-number(room(o), values) * o.bytes // SHARED_ALIGNMENT) * SHARED_ALIGNMENT for o in operands)


def space_of(names: Sequence[str], sizes: Sequence[int]) -> TreePoint:
    """Variables from 0 up to their sizes, and how to evaluate formulas of them."""
    text = f"{{ [{', '.join(names)}] : {' and '.join(f'0 <= {n} < {k}' for n, k in zip(names, sizes, strict=True))} }}"
    return TreePoint(isl.Set(text), tuple(names), (), (), ())


def relation(p: TreePoint, exprs: Sequence[CExpr]) -> isl.Map:
    """The values of formulas."""
    target = p.domain.get_space().params().set_from_params().add_dims(isl.dim_type.set, len(exprs))
    multi = isl.MultiPwAff.zero(p.domain.get_space().map_from_domain_and_range(target))
    for k, e in enumerate(exprs):
        multi = multi.set_pw_aff(k, p.value(e))
    return isl.Map.from_multi_pw_aff(multi).intersect_domain(p.domain)


def box(*sizes: int) -> isl.Set:
    names = [f"x{k}" for k in range(len(sizes))]
    return space_of(names, sizes).domain


def bijection(m: isl.Map, onto: isl.Set) -> bool:
    return bool(m.is_injective() and m.range().is_equal(onto))


def _wrong_sizes(t: ThreadTile, s: DepthStaging, operands: Sequence[StagedOperand], values: Mapping[str, int]) -> str:
    lanes = (8, 4) if t.unit else (4, 8)
    if any(n % k for n, k in zip(t.threads, lanes, strict=True)):
        return f"threads are no multiples of {lanes[0]} by {lanes[1]}, those of a warp"
    if t.unit is not None and (t.registers[0] % (t.unit.rows // 8) or t.registers[1] % 2 or s.depth % t.unit.depth):
        return f"registers or depth are no multiples of those of {t.unit.name}"
    if s.stages < 2:
        return "there is room for one part of the depth only"
    return next(filter(None, (uneven_copies(o, t, values) for o in operands)), "")


def uneven_copies(o: StagedOperand, t: ThreadTile, values: Mapping[str, int]) -> str:
    """All threads of a block make the same number of copies."""
    side = ("ROWS", "COLUMNS")[o.side]
    v = values["V"] if o.vector > 1 else 1
    line = values[side] if o.line == "own" else values["DEPTH"]
    if o.alone:
        few = line % v or t.count < line // v
        return f"a block has too few threads to copy a line of `{o.name}`" if few else ""
    if line % v or t.count % (line // v) or values[side] * values["DEPTH"] % (v * t.count):
        return f"the threads of a block cannot copy equal parts of `{o.name}`"
    return ""


def _wrong_blocks() -> str:
    """Every row of tiles has one place among the blocks, whatever the size of groups is."""
    for group in GROUPS:
        p = TreePoint(isl.Set(f"{{ [z, x] : 0 <= z and 0 <= x < {group} }}"), ("z", "x"), (), (), ())
        if not bijection(relation(p, (parsed(TILE_ROW, {"GROUP": group}),)), isl.Set("{ [r] : 0 <= r }")):
            return "a row of tiles has no block, or two"
    return ""


def _wrong_owner(t: ThreadTile, values: Mapping[str, int]) -> str:
    """Every element of a tile belongs to one register of one thread."""
    row, column = (UNIT_ROW, UNIT_COLUMN) if t.unit else (PLAIN_ROW, PLAIN_COLUMN)
    numbers = {n: values[n] for n in values.keys() - {"V", "STEP", "DEPTH", "STAGES"}}
    owned = _owned(row, column, t.count, t.registers, frozenset(numbers.items()))
    return "" if owned == t.sides else "an element of a tile has no thread, or two"


@cache
def _owned(
    row: str, column: str, threads: int, registers: tuple[int, int], numbers: frozenset[tuple[str, int]]
) -> tuple[int, int] | None:
    """The sides of the tile that registers of threads cover, each element once; none where they do not. There are few
    enough to look at each."""
    values = dict(numbers)
    down, right = parsed(row, values), parsed(column, values)
    found: set[tuple[int, int]] = set()
    for n in range(threads):
        rows = [value(down, {"thread": n, "i": i}) for i in range(registers[0])]
        columns = [value(right, {"thread": n, "j": j}) for j in range(registers[1])]
        found.update((x, y) for x in rows for y in columns)
    sides = 1 + max(x for x, _ in found), 1 + max(y for _, y in found)
    once = len(found) == threads * registers[0] * registers[1] == sides[0] * sides[1]
    return sides if once and min(min(x) for x in found) == 0 else None


def wrong_staging(o: StagedOperand, t: ThreadTile, values: Mapping[str, int]) -> str:
    """Every element of a part is copied once, to a place of its own, within the room that there is; copies of several
    elements are of neighbours, in the array and in shared memory, and begin where they may."""
    side, depth = values[("ROWS", "COLUMNS")[o.side]], values["DEPTH"]
    v, wide = values["V"] if o.vector > 1 else 1, o.layout == WIDE
    copies = copied(o)
    row, deep = copies.which
    p = space_of(("thread", "r", "v"), (t.count, number(copies.times, values), v))
    row, deep = (f"{row} + v", deep) if wide else (row, f"{deep} + v")
    which = relation(p, (parsed(row, values), parsed(deep, values)))
    if o.alone:
        which = which.intersect_range(isl.Set(f"{{ [x, k] : x < {side} }}"))  # the others copy nothing
    if not bijection(which, box(side, depth)):
        return f"an element of `{o.name}` is copied by no thread, or twice"
    rooms = space_of(("slot", "x", "k"), (values["STAGES"], side, depth))
    at = relation(rooms, (parsed(place(o), values),))
    if not at.is_injective() or not at.range().is_subset(box(number(room(o), values))):
        return f"two elements of `{o.name}` have one place in shared memory, or one has none"
    next_one = isl.Map(f"{{ [slot, x, k] -> [slot, {'x + 1, k' if wide else 'x, k + 1'}] }}")
    next_one = next_one.intersect_domain(rooms.domain).intersect_range(rooms.domain)
    if v > 1 and not at.reverse().apply_range(next_one).apply_range(at).is_subset(isl.Map("{ [a] -> [a + 1] }")):
        return f"neighbours of `{o.name}` are apart in shared memory"
    first = which.intersect_domain(p.domain.fix_val(isl.dim_type.set, 2, isl.Val(0))).range()
    slots = isl.Map(f"{{ [x, k] -> [slot, x, k] : 0 <= slot < {values['STAGES']} }}")
    if not first.apply(slots).apply(at).is_subset(isl.Set(f"{{ [a] : a % {v} = 0 }}")):
        return f"copies of `{o.name}` begin where {v * o.bytes} bytes cannot"
    return ""


def _wrong_reads(o: StagedOperand, t: ThreadTile, values: Mapping[str, int]) -> str:
    """Registers that are loaded at once are those of neighbours in shared memory."""
    if t.unit is not None:
        return _wrong_fragments(o, t, values)
    if o.layout != WIDE:
        return wrong_lines(o, values)
    own, var, group = (PLAIN_ROW, "i", values["GI"]) if o.side == 0 else (PLAIN_COLUMN, "j", values["GJ"])
    p = space_of(("slot", "thread", var, "k"), (values["STAGES"], t.count, t.registers[o.side], values["DEPTH"]))
    line, at, number_of = parsed(own, values), parsed(place(o), values), Name(var)
    begin = Bin("-", number_of, Bin("%", number_of, Int(group)))
    want = substitute(at, {"x": line})
    base = substitute(at, {"x": substitute(line, {var: begin})})
    got = relation(p, (Bin("+", base, Bin("%", number_of, Int(group))),))
    if not got.is_equal(relation(p, (want,))):
        return f"registers of `{o.name}` that are loaded at once are no neighbours"
    if not relation(p, (base,)).range().is_subset(isl.Set(f"{{ [a] : a % {group} = 0 }}")):
        return f"loads of `{o.name}` begin where {group * o.bytes} bytes cannot"
    return ""


def wrong_lines(o: StagedOperand, values: Mapping[str, int]) -> str:
    """Depths that are loaded at once are neighbours in shared memory, and begin where they may."""
    side, step = values[("ROWS", "COLUMNS")[o.side]], values["STEP"]
    p = space_of(("slot", "x", "k"), (values["STAGES"], side, values["DEPTH"]))
    at, k = parsed(place(o), values), Name("k")
    base = substitute(at, {"k": Bin("-", k, Bin("%", k, Int(step)))})
    got = relation(p, (Bin("+", base, Bin("%", k, Int(step))),))
    aligned = relation(p, (base,)).range().is_subset(isl.Set(f"{{ [a] : a % {step} = 0 }}"))
    if not aligned or not got.is_equal(relation(p, (at,))):
        return f"depths of `{o.name}` that are loaded at once are no neighbours"
    return ""


def _wrong_fragments(o: StagedOperand, t: ThreadTile, values: Mapping[str, int]) -> str:
    """The row (or column) that a lane hands to the unit is the one in which the unit has it."""
    warp_and_lane = "floor(thread/32), {}, floor((thread % 32)/4)"
    if o.side == 0:
        p = space_of(("thread", "i"), (t.count, t.registers[0]))
        hands = relation(p, (parsed(LEFT_ROW, values),))
        has = relation(p, (parsed(UNIT_ROW, values),))
        keys = [f"{{ [thread, i] -> [{warp_and_lane.format('i')}] }}"] * 2
    else:
        p = space_of(("thread", "i"), (t.count, t.registers[1] // 2))
        q = space_of(("thread", "j"), (t.count, t.registers[1]))
        hands = relation(p, (parsed(RIGHT_COLUMN, values),))
        has = relation(q, (parsed(UNIT_COLUMN, values),))
        keys = [f"{{ [thread, i] -> [{warp_and_lane.format('i')}] }}",
                "{ [thread, j] -> [floor(thread/32), floor(j/2), 2 * (thread % 4) + j % 2] }"]  # fmt: skip
    one, other = (isl.Map(k).reverse().apply_range(m) for k, m in zip(keys, (hands, has), strict=True))
    d = space_of(("thread", "k"), (t.count, values["DEPTH"]))
    deep = relation(d, (parsed(UNIT_DEPTH, values),))
    right = deep.is_equal(isl.Map("{ [thread, k] -> [k + thread % 4] }").intersect_domain(d.domain))
    if not (one.is_single_valued() and one.is_equal(other) and right):
        return f"lanes hand other elements of `{o.name}` to the matrix unit than it takes from them"
    return ""
