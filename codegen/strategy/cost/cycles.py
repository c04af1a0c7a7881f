"""What an order costs: cycles for all instances of a region, from its loops and accesses alone.

A model to compare orders of the same statements, not to predict times. For each innermost loop it takes the largest of
three figures per iteration: what has to be issued, what is waited for along a chain of values, and what has to be
fetched. Parameters count as `SIZE`; loops whose length is known count as long as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import islpy as isl

from codegen.machine import Machine
from codegen.recognize.access.exists import always
from codegen.recognize.access.strides import Move, coefficients
from codegen.recognize.access.work import extent
from codegen.recognize.access.wraps import usual_move
from codegen.record import record
from codegen.scop.distance import is_zero
from codegen.scop.expr import Binary, Call, DataLoop, Gather, Ref, Ternary, walk
from codegen.scop.model import Array, Statement
from codegen.scop.tree import (
    ON_THREADS,
    Band,
    Leaf,
    Loop,
    Node,
    Path,
    Place,
    at,
    enclosing,
    has_band,
    kids,
    loops,
    statements,
)
from codegen.strategy.cost.tile_sizes import WRITTEN_OUT, constant_extent
from codegen.transform.program import Program, pending

SIZE = 1000  # values of a parameter, when nothing is known about it
ENTRY = 12.0  # cycles to get into and out of an innermost loop
PEELED, WINDOW = 16, 128  # iterations of a loop that compilers write out; instructions that a core has under way
CHAIN_OPS = 4  # operations of a statement that lie on the way from a value to the next one, at most
INTEGERS, ACCESSES = 3.0, 2.0  # integer operations, and loads and stores, that start in a cycle
DIVISION, CALL = 8.0, 40.0  # in simple operations
DATA_LOOP = 32.0  # the same for a loop that data decide about
# Cycles for going wrong at an `if` on data, about every other time. clamp, Neoverse N1: 18 an element with both its
# statements behind one such decision, f32 32 and i32 25 with a loop for each.
BRANCH = 16.0
MEMORY, NEAR = 8.0, 16.0  # bytes per cycle from memory, and from the caches beyond the first
FAR = Fraction(1 << 20)  # elements, where it is not known how far an access goes
# A key of what is fetched: the array and how it moves along every loop around.
Moves = tuple[tuple[Fraction, ...], ...]
Key = tuple[str, Moves]


@record
class StatementGroup:
    """The statements directly inside a loop, and the loops around them; `closed` where no other loop is beside them."""

    names: tuple[str, ...]
    around: tuple[Loop, ...]
    path: Path
    closed: bool


@record
class _Use:
    """How a group went through an array."""

    around: tuple[Loop, ...]
    moves: Moves


def cycles(p: Program, machine: Machine, threads: int = 1, free: bool = False) -> float:
    """For the whole region; so many threads share what is inside loops marked for them, or with `free` inside loops
    that could be."""
    total = 0.0
    seen: dict[str, _Use] = {}
    found = tuple(loops(p.tree))
    for g in _groups(p.tree, (), ()):
        places = {q.loop.name: q for q in found if g.path[: len(q.path)] == q.path}
        each = _group(p, g, machine, places, seen)
        shared = _parallel(g) if free else any(lp.kind in ON_THREADS for lp in g.around)
        total += each / threads if shared else each
    return total


def _parallel(g: StatementGroup) -> bool:
    """Is there a loop that carries nothing? The innermost of several is too short for threads."""
    return any(lp.coincident for lp in (g.around[:-1] if len(g.around) > 1 else g.around))


def short(x: float) -> str:
    """A figure of cycles for people."""
    return f"{x:.2g}".replace("e+0", "e").replace("e+", "e")


def shape(p: Program) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Which statements share which loops, in order; whatever way the loops run."""
    return tuple((g.names, tuple(lp.name for lp in g.around)) for g in _groups(p.tree, (), ()))


def _groups(node: Node, around: tuple[Loop, ...], path: Path) -> Iterator[StatementGroup]:
    """In the order in which they run."""
    if isinstance(node, Leaf):
        yield StatementGroup((node.stmt,), around, path, False)
    elif isinstance(node, Band):
        inside = (*around, *node.loops)
        if has_band(node.child):
            yield from _groups(node.child, inside, (*path, 0))
        else:
            yield StatementGroup(statements(node), inside, path, True)
    else:
        for k, child in enumerate(kids(node)):
            yield from _groups(child, around, (*path, k))


@record
class Bounds:
    """Cycles that an iteration of an innermost loop takes at least: to be issued, to wait for the one before, and to
    fetch what it needs; and those that are lost at a branch besides."""

    issue: float
    wait: float
    fetch: float
    astray: float = 0.0


def bounds(p: Program, place: Place, machine: Machine) -> Bounds | None:
    """Of an innermost loop by itself; None where it shares its statements with other loops beside it."""
    g = next((g for g in _groups(p.tree, (), ()) if g.closed and g.path == place.path), None)
    if g is None:
        return None
    own = {n: enclosing(p.tree, n) for n in g.names}
    lengths = [_length(p, own, k) for k in range(len(g.around))]
    return _bounds(p, g, machine, place, lengths, len(lengths), {})


def _group(
    p: Program, g: StatementGroup, machine: Machine, places: dict[str, Place], seen: dict[str, _Use]
) -> float:
    own = {n: enclosing(p.tree, n) for n in g.names}
    lengths = [_length(p, own, k) for k in range(len(g.around))]
    turns = 1.0
    for n in lengths:
        turns *= n
    if not g.around:
        return sum(operations(p.scop.statement(n)) for n in g.names)
    depth = len(lengths) if g.closed else 0  # loops up to the last one that the compiler does not write out
    while depth > 1 and lengths[depth - 1] <= WRITTEN_OUT and all(_same(p, n, x, depth - 1) for n, x in own.items()):
        depth -= 1
    place = places.get(g.around[depth - 1].name) if g.closed else None
    each = _bounds(p, g, machine, place, lengths, depth, seen)
    entry, wait = ENTRY / lengths[depth - 1] if g.closed else 0.0, each.wait
    flying = _in_flight(p, g, places, lengths) if wait and 1 < depth == len(lengths) else 0.0
    if flying:
        entry, wait = 0.0, wait / flying
    return turns * (max(each.issue, wait, each.fetch) + each.astray + entry)


def _in_flight(p: Program, g: StatementGroup, places: dict[str, Place], lengths: Sequence[float]) -> float:
    """How many runs of a short innermost loop a core works on at once, none of which waits for another; 0 where it is
    not written out or they do."""
    own = {n: enclosing(p.tree, n) for n in g.names}
    last, outer = len(lengths) - 1, places.get(g.around[-2].name)
    if lengths[last] > PEELED or outer is None or not all(_same(p, n, x, last) for n, x in own.items()):
        return 0.0
    stmts = [p.scop.statement(n) for n in g.names]
    if _chained(p, outer) & {target(p, s).name for s in stmts}:
        return 0.0
    return max(1.0, WINDOW / (lengths[last] * sum(operations(s) + len(s.accesses) for s in stmts)))


def _bounds(
    p: Program,
    g: StatementGroup,
    machine: Machine,
    place: Place | None,
    lengths: Sequence[float],
    depth: int,
    seen: dict[str, _Use],
) -> Bounds:
    """Per iteration of loop number `depth`, those inside it written out."""
    own = {n: enclosing(p.tree, n) for n in g.names}
    stmts = [p.scop.statement(n) for n in g.names]
    chained = _chained(p, place) if place is not None else set()
    keys = _keys(p, stmts, own, depth or len(lengths))
    lanes = 1
    free = place is not None and _perfect(place.band) and not chained & {target(p, s).name for s in stmts}
    if free and _in_lanes(stmts, keys):
        lanes = machine.lanes(max(target(p, s).elem.bytes for s in stmts))
    whole = all(p.scop.arrays[a.array].elem.is_int for s in stmts for a in s.accesses)
    unit = INTEGERS if whole else machine.fma_throughput
    moving = sum(1 for k in keys if k[1] and any(k[1][-1]))
    issue = max(sum(operations(s) for s in stmts) / unit, moving / ACCESSES) / lanes
    branches = any(isinstance(e, Ternary) and e.branch for s in stmts for e in walk(s.rhs))
    astray = BRANCH if branches or any(map(_sometimes, stmts)) else 0.0
    wait = max((_chain(p, s, machine, keys) for s in stmts if target(p, s).name in chained), default=0.0)
    fetch = _fetched(p, g, lengths, keys, machine, seen)
    for n in lengths[depth:] if g.closed else ():
        fetch /= n  # what is written out uses it again
    return Bounds(issue, wait, fetch, astray)


def operations(s: Statement) -> float:
    """Arithmetic of one instance, in simple operations."""
    total = 0.0
    for e in walk(s.rhs):
        if isinstance(e, DataLoop):
            total += DATA_LOOP
        elif isinstance(e, Binary):
            total += DIVISION if e.op in ("/", "%") else 1.0
        elif isinstance(e, Call):
            total += CALL if e.name.strip("f") not in ("fabs", "fmin", "fmax", "sqrt") else DIVISION
        elif isinstance(e, (Ternary, Gather)):
            total += 1.0
    return total


def _length(p: Program, own: dict[str, tuple[Loop, ...]], k: int) -> float:
    """Iterations of loop number `k` around the statements, while those outside it stand still."""
    known = [_extent(p, n, loops_, k) for n, loops_ in own.items()]
    return float(max(SIZE if n is None else n for n in known)) or 1.0


def _extent(p: Program, name: str, around: Sequence[Loop], k: int) -> int | None:
    always = constant_extent(p.scop, around[k], name)
    if always is not None:
        return always
    s = p.scop.statement(name)
    moving = [stepped(lp, name) for lp in around[: k + 1] if not lp.tile]
    if any(d is None for d in moving) or around[k].tile:
        return None
    return extent(s, moving[-1] or 0, [d for d in moving[:-1] if d is not None])


def _same(p: Program, name: str, around: Sequence[Loop], k: int) -> bool:
    """Has loop number `k` the same length every time? Else compilers cannot write it out."""
    if constant_extent(p.scop, around[k], name) is not None:
        return True
    moving = [stepped(lp, name) for lp in around[: k + 1]]
    if None in moving:
        return False
    values = p.scop.statement(name).domain
    for d in reversed(range(values.dim(isl.dim_type.set))):
        if d == moving[-1]:
            continue
        if d in moving:
            values = values.move_dims(isl.dim_type.param, values.dim(isl.dim_type.param), isl.dim_type.set, d, 1)
        else:
            values = values.project_out(isl.dim_type.set, d, 1)
    length = values.dim_max(0).sub(values.dim_min(0))
    pieces = [aff for _, aff in length.get_pieces()]
    return all(aff.is_cst() for aff in pieces) and len({aff.get_constant_val().to_str() for aff in pieces}) == 1


def stepped(lp: Loop, stmt: str) -> int | None:
    """The iterator that a loop steps through for a statement; None when it is not just one."""
    moving = [k for k, c in enumerate(coefficients(lp.exprs[stmt], lp.exprs[stmt].dim(isl.dim_type.in_)) or ()) if c]
    return moving[0] if len(moving) == 1 else None


def _keys(p: Program, stmts: Sequence[Statement], own: dict[str, tuple[Loop, ...]], depth: int) -> dict[Key, bool]:
    """What is fetched along the first `depth` loops, and whether it is written."""
    out: dict[Key, bool] = {}
    for s in stmts:
        for a in s.accesses:
            if not p.scop.arrays[a.array].rank:
                continue
            moves = [_steps(usual_move(p.scop, s, a, own[s.name], k)) for k in range(depth)]
            key = a.array, tuple(moves)
            out[key] = out.get(key, False) or a.write
    return out


def _steps(m: Move) -> tuple[Fraction, ...]:
    """What is not a fixed step counts as a jump."""
    return (FAR,) if m.steps is None else m.steps


def _perfect(band: Band) -> bool:
    """Is everything below a loop in the loops of its band, and of bands right inside it?"""
    while isinstance(band.child, Band):
        band = band.child
    return not has_band(band.child)


def _in_lanes(stmts: Sequence[Statement], keys: dict[Key, bool]) -> bool:
    """Do all accesses step through neighbours, or stand still, and are there no calls, no branches and no subscripts
    that depend on data?"""
    parts = [e for s in stmts for e in walk(s.rhs)]
    if any(isinstance(e, (Call, Gather, DataLoop)) or (isinstance(e, Ternary) and e.branch) for e in parts):
        return False
    if any(map(_sometimes, stmts)):
        return False
    return all(not any(k[1][-1]) or _unit(k[1][-1]) for k in keys)


def _sometimes(s: Statement) -> bool:
    """Does a statement read an element under a condition only? It need not be there, so that compilers branch."""
    read = {e.access for e in walk(s.rhs) if isinstance(e, Ref)}
    sure = {e.access for e in always(s.rhs) if isinstance(e, Ref)}
    known = [s.accesses[k] for k in sure]
    rest = [s.accesses[k] for k in read - sure]
    return any(all(a.array != b.array or not a.relation.is_equal(b.relation) for b in known) for a in rest)


def _unit(steps: tuple[Fraction, ...]) -> bool:
    return bool(steps) and abs(steps[-1]) == 1 and not any(steps[:-1])


def _chained(p: Program, place: Place) -> set[str]:
    """The arrays whose values one iteration of the loop takes from another."""
    out = set()
    for d in p.deps.all:
        if d.kind == "flow" and d.array not in out and not is_zero(pending(p, d, place), place.loop.exprs):
            out.add(d.array)
    return out


def _chain(p: Program, s: Statement, machine: Machine, keys: dict[Key, bool]) -> float:
    """How long an iteration waits for the one before: one operation for sums, more and a store and load for others."""
    array = target(p, s)
    each = 1.0 if array.elem.is_int else machine.fma_latency
    if all(not any(k[1][-1]) for k, write in keys.items() if k[0] == array.name and write):
        return each
    return each * min(CHAIN_OPS, operations(s)) + machine.load_latency


def target(p: Program, s: Statement) -> Array:
    """What the statement writes to."""
    return p.scop.arrays[s.accesses[s.target].array]


def _fetched(
    p: Program,
    g: StatementGroup,
    lengths: Sequence[float],
    keys: dict[Key, bool],
    machine: Machine,
    seen: dict[str, _Use],
) -> float:
    """Cycles per iteration for what is not in the first-level cache."""
    total = 0.0
    new: dict[str, _Use] = {}
    for (array, moves), write in keys.items():
        elem = p.scop.arrays[array].elem.bytes
        step = _bytes(moves[-1], elem, machine) if moves else 0.0
        if step >= machine.line_bytes and _tilable(p, g, moves):
            step = elem
        rate = _rate(g, lengths, array, moves, elem, len(keys), machine, seen)
        if rate:
            total += step * (2 if write else 1) / rate
        new[array] = _Use(g.around, moves)
    seen.update(new)
    return total


def _tilable(p: Program, g: StatementGroup, moves: Moves) -> bool:
    """Tiles of the band will make use of whole lines: another loop of it steps through neighbours."""
    node = at(p.tree, g.path)
    if not isinstance(node, Band) or not node.permutable or len(node.loops) < 2:
        return False
    return any(_unit(m) for m in moves[-len(node.loops) : -1])


def _bytes(steps: tuple[Fraction, ...], elem: int, machine: Machine) -> float:
    """What one step along a loop brings in."""
    if not any(steps):
        return 0.0
    if any(steps[:-1]):
        return float(machine.line_bytes)
    return float(min(Fraction(machine.line_bytes), abs(steps[-1]) * elem))


def _rate(
    g: StatementGroup,
    lengths: Sequence[float],
    array: str,
    moves: Moves,
    elem: int,
    arrays: int,
    machine: Machine,
    seen: dict[str, _Use],
) -> float:
    """Bytes per cycle from where it was left by the last use: 0 when that is the first-level cache."""
    again: list[float] = []  # bytes touched since the last use
    for k in range(len(moves) - 1):
        if not any(moves[k]):
            again.append(_touched(lengths[k + 1 :], moves[k + 1 :], elem, machine) * arrays)
    before = seen.get(array)
    if before is not None:
        shared = 0
        for a, b in zip(before.around, g.around, strict=False):
            if a.name != b.name or a.exprs.keys() != b.exprs.keys():
                break
            shared += 1
        if shared and sum(map(any, before.moves[shared:])) >= sum(map(any, moves[shared:])):
            again.append(_touched(lengths[shared:], moves[shared:], elem, machine) * arrays)
    least = min(again, default=float("inf"))
    first, second = machine.cache(1), machine.cache(2)
    if first is not None and least <= first.bytes / 2:
        return 0.0
    return NEAR if second is not None and least <= second.bytes / 2 else MEMORY


def _touched(lengths: Sequence[float], moves: Moves, elem: int, machine: Machine) -> float:
    """Bytes that come by while the loops of these lengths run once: whole lines where none of them goes along rows."""
    apart = any(map(any, moves)) and not any(_bytes(m, elem, machine) < machine.line_bytes for m in moves if any(m))
    total = float(machine.line_bytes if apart else elem)
    for n in lengths:
        total *= n
    return total
