"""Cost model: estimated cycles of a loop order for all instances of a region, from its loops and accesses alone.

A model to compare orders of the same statements, not to predict times. For each innermost loop it takes the largest of
three figures per iteration: what has to be issued, what is waited for along a chain of values, and what has to be
fetched. Parameters count as `SIZE`; loops whose length is known count as long as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from codegen.machine import Machine
from codegen.machine.operations import operation
from codegen.recognize.access.dereferenceable import always
from codegen.record import record
from codegen.scop.distance import is_zero
from codegen.scop.expr import Binary, Call, DataLoop, Gather, Ref, Ternary, walk
from codegen.scop.memo import remember
from codegen.scop.model import Array, Statement
from codegen.scop.tree import ON_THREADS, FoundLoop, Path, loops
from codegen.scop.types import CType
from codegen.strategy.cost.groups import GroupInRegion, StatementGroup, groups, in_region
from codegen.strategy.cost.innermost import counted, innermost, perfect
from codegen.strategy.cost.lengths import Sizes
from codegen.strategy.cost.traffic import Key, Seen, fetched, keys, next_element
from codegen.transform.program import Program, pending

ENTRY = 12.0  # cycles to get into and out of an innermost loop
PEELED, WINDOW = 16, 128  # iterations of a loop that compilers write out; instructions that a core has under way
CHAIN_OPS = 4  # operations of a statement that lie on the way from a value to the next one, at most
INTEGERS, ACCESSES = 3.0, 2.0  # integer operations, and loads and stores, that start in a cycle
DIVISION, CALL = 8.0, 40.0  # in simple operations
# Functions that take as long as a division at most; and those of them that are one instruction where its rules for NaN
# are those of C.
EXTREMES = ("fmin", "fmax")
SHORT_CALLS = (*EXTREMES, "sqrt")
INLINE_EXTREMES = ("neon", "sve")
DATA_LOOP = 32.0  # the same for a loop that data decide about
# Cycles for going wrong at an `if` on data, about every other time. clamp, Neoverse N1: 18 an element with both its
# statements behind one such decision, f32 32 and i32 25 with a loop for each.
BRANCH = 16.0


def cycles(p: Program, machine: Machine, threads: int = 1, free: bool = False, sizes: Sizes = ()) -> float:
    """For the whole region; so many threads share what is inside loops marked for them, or with `free` inside loops
    that could be. Parameters have these `sizes`, where any are given."""
    total = 0.0
    for each, shared, could_be in _by_group(p, machine, sizes):
        total += each / threads if (could_be if free else shared) else each
    return total


@remember(6)
def _by_group(p: Program, machine: Machine, sizes: Sizes) -> tuple[tuple[float, bool, bool], ...]:
    """For each group of statements, or several that are one loop for compilers: what it costs, and whether threads
    share it, or could."""
    seen: Seen = {}
    found = tuple(loops(p.tree))
    out: list[tuple[_GroupCycles, bool, bool]] = []
    for g in groups(p.tree, (), ()):
        places = {q.loop.name: q for q in found if g.path[: len(q.path)] == q.path}
        each = _group(in_region(p, machine, g, sizes), places, seen)
        if out and each.within is not None and each.within == out[-1][0].within:
            out[-1] = (out[-1][0].plus(each), *out[-1][1:])
        else:
            out.append((each, any(lp.kind in ON_THREADS for lp in g.around), _parallel(g)))
    return tuple((each.total, shared, could_be) for each, shared, could_be in out)


def _parallel(g: StatementGroup) -> bool:
    """Is there a loop that carries nothing? The innermost of several is too short for threads."""
    return any(lp.coincident for lp in (g.around[:-1] if len(g.around) > 1 else g.around))


def short(x: float) -> str:
    """A figure of cycles for people."""
    return f"{x:.2g}".replace("e+0", "e").replace("e+", "e")


def shape(p: Program) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Which statements share which loops, in order; whatever way the loops run."""
    return tuple((g.names, tuple(lp.name for lp in g.around)) for g in groups(p.tree, (), ()))


@record
class CycleBounds:
    """Cycles that an iteration of an innermost loop takes at least: to be issued, to wait for the one before, and to
    fetch what it needs; and those that are lost at a branch besides."""

    issue: float
    wait: float
    fetch: float
    astray: float = 0.0


def bounds(p: Program, place: FoundLoop, machine: Machine) -> CycleBounds | None:
    """Of an innermost loop by itself; None where it shares its statements with other loops beside it."""
    g = next((g for g in groups(p.tree, (), ()) if g.closed and g.path == place.path), None)
    if g is None:
        return None
    c = in_region(p, machine, g)
    return _bounds(c, place, len(c.lengths), {})


@record
class _GroupCycles:
    """What all iterations of a group need as its bounds have it; besides; and the path of the loop that compilers see
    them in, where other groups are in it too."""

    bounds: CycleBounds
    besides: float = 0.0
    within: Path | None = None

    def plus(self, other: _GroupCycles) -> _GroupCycles:
        a, b = self.bounds, other.bounds
        both = CycleBounds(a.issue + b.issue, a.wait + b.wait, a.fetch + b.fetch)
        return _GroupCycles(both, self.besides + other.besides, self.within)

    @property
    def total(self) -> float:
        return max(self.bounds.issue, self.bounds.wait, self.bounds.fetch) + self.besides


def _group(c: GroupInRegion, places: dict[str, FoundLoop], seen: Seen) -> _GroupCycles:
    g, lengths = c.group, c.lengths
    if not g.around:
        return _GroupCycles(CycleBounds(sum(operations(s, c.machine) for s in c.stmts), 0.0, 0.0))
    turns = prod(lengths)
    if not turns:
        return _GroupCycles(CycleBounds(0.0, 0.0, 0.0))
    depth = counted(c)
    place = places.get(g.around[depth - 1].name)
    within = place is not None and not perfect(place.band) and innermost(c, place, depth)
    each = _bounds(c, place if g.closed or within else None, depth, seen)
    entry, wait = ENTRY / lengths[depth - 1] if g.closed else 0.0, each.wait
    flying = _in_flight(c, places) if g.closed and wait and 1 < depth == len(lengths) else 0.0
    if flying:
        entry, wait = 0.0, wait / flying
    all_turns = CycleBounds(turns * each.issue, turns * wait, turns * each.fetch)
    path = (*place.path, place.member) if place is not None and within else None
    return _GroupCycles(all_turns, turns * (each.astray + entry), path)


def _in_flight(c: GroupInRegion, places: dict[str, FoundLoop]) -> float:
    """How many runs of a short innermost loop a core works on at once, none of which waits for another; 0 where it is
    not written out or they do."""
    last, outer = len(c.lengths) - 1, places.get(c.group.around[-2].name)
    if c.lengths[last] > PEELED or outer is None or not c.fixed(last):
        return 0.0
    if chained(c.p, outer) & {target(c.p, s).name for s in c.stmts}:
        return 0.0
    return max(1.0, WINDOW / (c.lengths[last] * sum(operations(s, c.machine) + len(s.accesses) for s in c.stmts)))


def _bounds(c: GroupInRegion, place: FoundLoop | None, depth: int, seen: Seen) -> CycleBounds:
    """Per iteration of loop number `depth`, those inside it written out."""
    p, stmts, machine = c.p, c.stmts, c.machine
    waits = chained(p, place) if place is not None else set()
    found = keys(c, depth)
    lanes = 1
    free = place is not None and innermost(c, place, depth) and not waits & {target(p, s).name for s in stmts}
    if free and in_lanes(stmts, found, machine):
        lanes = machine.lanes(max(target(p, s).elem.bytes for s in stmts))
    moving = sum(1 for k in found if k[1] and any(k[1][-1]))
    issue = max(sum(operations(s, machine) for s in stmts) / unit_rate(p, stmts, machine), moving / ACCESSES) / lanes
    beside = stmts if c.final and not any(lp.carry for lp in c.group.around) else ()
    wait = max((chain_cycles(p, s, beside, machine, found) for s in stmts if target(p, s).name in waits), default=0.0)
    fetch = fetched(c, found, seen)
    fetch /= prod(c.lengths[depth:])  # what is written out uses it again
    return CycleBounds(issue, wait, fetch, astray(stmts))


def unit_rate(p: Program, stmts: list[Statement], machine: Machine) -> float:
    """Operations that start in a cycle."""
    whole = all(p.scop.arrays[a.array].elem.is_int for s in stmts for a in s.accesses)
    return INTEGERS if whole else machine.fma_throughput


def astray(stmts: list[Statement]) -> float:
    """Cycles that are lost at branches on data."""
    branches = any(isinstance(e, Ternary) and e.branch and not _running(s, e) for s in stmts for e in walk(s.rhs))
    return BRANCH if branches or any(map(_sometimes, stmts)) else 0.0


def _running(s: Statement, e: Ternary) -> bool:
    """Is a value compared with the one it may replace? Such a branch seldom changes its mind: minplus-if, Neoverse N1,
    takes 3.4 cycles an iteration."""
    write = s.accesses[s.target]
    read = (s.accesses[x.access] for x in walk(e.cond) if isinstance(x, Ref))
    return any(a.array == write.array and a.relation.is_equal(write.relation) for a in read)


def operations(s: Statement, machine: Machine | None = None) -> float:
    """Arithmetic of one instance, in simple operations; of no machine in particular where none is given."""
    total = 0.0
    for e in walk(s.rhs):
        if isinstance(e, DataLoop):
            total += DATA_LOOP
        elif isinstance(e, Binary):
            total += DIVISION if e.op in ("/", "%") else 1.0
        elif isinstance(e, Call):
            total += 1.0 if _one_instruction(e, machine) else DIVISION if e.name.rstrip("f") in SHORT_CALLS else CALL
        elif isinstance(e, (Ternary, Gather)):
            total += 1.0
    return total


def _one_instruction(e: Call, machine: Machine | None) -> bool:
    """Do compilers write a call as one instruction, in vectors, too?"""
    name = e.name.rstrip("f")
    return name == "fabs" or (name in EXTREMES and machine is not None and machine.isa in INLINE_EXTREMES)


def in_lanes(stmts: list[Statement], keys: dict[Key, bool], machine: Machine) -> bool:
    """Do all accesses step through neighbours, or stand still, and are there no calls, no branches and no subscripts
    that depend on data?"""
    parts = [e for s in stmts for e in walk(s.rhs)]
    if any(isinstance(e, (Gather, DataLoop)) or (isinstance(e, Ternary) and e.branch) for e in parts):
        return False
    if any(isinstance(e, Call) and not _one_instruction(e, machine) for e in parts):
        return False
    if any(map(_sometimes, stmts)):
        return False
    return all(not any(k[1][-1]) or next_element(k[1][-1]) for k in keys)


def _sometimes(s: Statement) -> bool:
    """Does a statement read an element under a condition only? It need not be there, so that compilers branch."""
    read = {e.access for e in walk(s.rhs) if isinstance(e, Ref)}
    sure = {e.access for e in always(s.rhs) if isinstance(e, Ref)}
    known = [s.accesses[k] for k in sure]
    rest = [s.accesses[k] for k in read - sure]
    return any(all(a.array != b.array or not a.relation.is_equal(b.relation) for b in known) for a in rest)


def chained(p: Program, place: FoundLoop) -> set[str]:
    """The arrays whose values one iteration of the loop takes from another."""
    out = set()
    for d in p.deps.all:
        if d.kind == "flow" and d.array not in out and not is_zero(pending(p, d, place), place.loop.exprs):
            out.add(d.array)
    return out


def chain_cycles(
    p: Program, s: Statement, beside: Sequence[Statement], machine: Machine, keys: dict[Key, bool]
) -> float:
    """How long an iteration waits for the one before: one operation for sums, more and a store and load for others. A
    sum in an array waits for them, too, where statements `beside` it store elsewhere: compilers cannot tell that this
    is not the sum. bicg, Neoverse N1: 10 cycles an iteration; gesummv, with no other store in the loop, 2."""
    array = target(p, s)
    each = 1.0 if array.elem.is_int else machine.fma_latency
    if all(not any(k[1][-1]) for k, write in keys.items() if k[0] == array.name and write):
        others = (target(p, o) for o in beside if o is not s)
        if array.rank and any(o.rank and o.name != array.name and o.elem == array.elem for o in others):
            return each + machine.load_latency
        return each if array.elem.is_int else _sum_cycles(array.elem, s, machine)
    return each * min(CHAIN_OPS, operations(s, machine)) + machine.load_latency


def _sum_cycles(elem: CType, s: Statement, machine: Machine) -> float:
    """From a sum to the next one in the same register."""
    real, parts = "f32" if elem.bits == 32 else "f64", list(walk(s.rhs))
    if any(isinstance(e, Ternary) for e in parts):  # compared, then selected
        return operation(machine, real, "min").latency + operation(machine, real, "and").latency
    if any(isinstance(e, Call) and e.name.rstrip("f") in EXTREMES for e in parts):
        return operation(machine, real, "min").latency
    each = operation(machine, real, "fma" if any(isinstance(e, Binary) and e.op == "*" for e in parts) else "add")
    return each.chain or each.latency


def target(p: Program, s: Statement) -> Array:
    """What the statement writes to."""
    return p.scop.arrays[s.accesses[s.target].array]
