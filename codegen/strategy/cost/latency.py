"""Latency of dependence chains: from a load to the store, by the operations between them; and whether rows should be
interleaved to hide it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl

from codegen.machine import Machine
from codegen.machine.operations import operation
from codegen.recognize.access.ctypes import type_of
from codegen.recognize.reductions import find_reductions
from codegen.scop.expr import Binary, Call, Cast, Expr, Lit, Ref, Sym, Ternary, children, walk
from codegen.scop.model import Access, Scop, Statement
from codegen.strategy.cost.cycles import CALL
from codegen.transform.program import Program

_NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "div", "&": "and", "|": "or", "^": "xor"}
_CALLS = {"fmin": "min", "fmax": "max", "fabs": "min", "fma": "mul", "sqrt": "div"}
# Instructions that a core carries out in a cycle while nothing waits. Four and more can start, but addresses count.
AT_ONCE = 2.5
# Rows of a skewed nest side by side: every point is computed from memory and its neighbours are far away. Waiting to
# working cycles, and the speed of gcc's code, Neoverse N1: wavefront 18 to 3, 1.8; seidel-2d 24 to 8, 2.9; dtw-banded
# 14 to 12, 0.93; palindrome 6 to 6, 0.83; lcs 5 to 6, 0.74, one row after the other 1.7; smith-waterman 13 to 22, 0.57.
# Where rows begin is computed for every point: sums over rectangles, 4 to 3 (8 to 3 where nothing is known of the
# processor), took 7.5 cycles a point, 0.65.
SKEWED, SKEWED_POINT = 1.5, 4.0


def worth_skewed_rows(p: Program, names: Sequence[str], machine: Machine) -> bool:
    """Do they wait longer than they work in rows of a skewed nest side by side?"""
    return worth_rows(p, names, machine, SKEWED, SKEWED_POINT)


def worth_rows(
    p: Program, names: Sequence[str], machine: Machine, margin: float = 1.0, besides: float = 0.0
) -> bool:
    """Do the innermost of these statements wait longer than they work, and that by a `margin`? `besides` their own
    work, each takes so many cycles. matrix-chain 3 to 7 cycles, 0.53 of gcc side by side; sums of products 2 to 1.6,
    from 1.2 to 2.0."""
    depth = max(len(p.scop.statement(n).iterators) for n in names)
    inner = [n for n in names if len(p.scop.statement(n).iterators) == depth]
    return waiting(p, inner, machine) > margin * (working(p.scop, inner) + besides)


def waiting(p: Program, names: Sequence[str], machine: Machine) -> float:
    """Cycles from a value of one iteration of the innermost loop to the next that is made of it; 0: it needs none. Sums
    of integers into one place need none: compilers may take them in any order, and do. Sums of 1920 columns, in
    rows side by side: 0.55 of gcc's speed. Statements that have nothing to do with each other wait at the same time."""
    whole = {r.stmt for r in find_reductions(p.scop) if p.scop.arrays[r.array].elem.is_int}
    parts = _connected([p.scop.statement(n) for n in names])
    return max((_waiting(p, part, whole, machine) for part in parts), default=0.0)


def _waiting(p: Program, group: Sequence[Statement], whole: set[str], machine: Machine) -> float:
    total = 0.0
    for s in group:
        if s.name in whole and _still(s, s.accesses[s.target]):
            continue

        def begins(number: int, s: Statement = s) -> bool:
            return any(_carried(p, w, s, s.accesses[number]) for w in group)

        total += to_store(p.scop, s, begins, machine) or 0.0
    return total


def _connected(group: Sequence[Statement]) -> list[list[Statement]]:
    """Statements with those that read what they write, directly or through others."""
    parts: list[list[Statement]] = []
    for s in group:
        mine = [any(_feeds(s, o) or _feeds(o, s) for o in part) for part in parts]
        joined = [o for part, own in zip(parts, mine, strict=True) if own for o in part]
        parts = [part for part, own in zip(parts, mine, strict=True) if not own] + [[*joined, s]]
    return parts


def _feeds(a: Statement, b: Statement) -> bool:
    return any(x.array == a.accesses[a.target].array for x in b.reads)


def working(scop: Scop, names: Sequence[str]) -> float:
    """Cycles for the instructions of an iteration, when nothing has to wait."""
    count = 0
    for s in (scop.statement(n) for n in names):
        nodes = [e for e in walk(s.rhs) if not isinstance(e, (Lit, Sym, Cast))]
        still = sum(isinstance(e, Ref) and _still(s, s.accesses[e.access]) for e in nodes)
        count += 1 + len(nodes) - still + sum(isinstance(e, Ternary) for e in nodes)
    return count / AT_ONCE


def divides(p: Program, names: Sequence[str], machine: Machine) -> bool:
    """Do divisions and roots take as long as everything else in an iteration, and none waits for the one before? Then
    neither rows nor vectors gain anything: a vector of divisions takes as long as its lanes one by one. nbody-forces,
    Neoverse N1: 14 cycles for each pair in the source's order, 17 in vectors along the outer loop. Nor do they where a
    division stands behind a condition: compilers branch there instead of raising exceptions of their own, and make no
    vectors. Forces within a distance, 200 particles in f32: 0.77 of gcc's speed with rows innermost."""
    busy, others = 0.0, 0
    group = [p.scop.statement(n) for n in names]
    late = _late(p, group)
    for s in group:
        behind = {e for x in walk(s.rhs) if isinstance(x, Ternary) for arm in (x.yes, x.no) for e in walk(arm)}
        for e in walk(s.rhs):
            kind = type_of(p.scop, s, e)
            if kind is not None and kind.kind == "float" and _divides(e):
                if s.name in late:
                    return False
                if e in behind:
                    return True
                each = operation(machine, "f32" if kind.bits == 32 else "f64", "div")
                busy += 1 / (each.throughput * machine.lanes(kind.bytes))
            elif isinstance(e, Ref):
                a = s.accesses[e.access]
                others += bool(p.scop.arrays[a.array].rank) and not _still(s, a)
            else:
                others += isinstance(e, (Binary, Call, Ternary))
    return busy > 0 and busy >= others / AT_ONCE


def _divides(e: Expr) -> bool:
    return e.op == "/" if isinstance(e, Binary) else isinstance(e, Call) and _CALLS.get(e.name.rstrip("f")) == "div"


def _late(p: Program, group: Sequence[Statement]) -> set[str]:
    """The statements that use what earlier iterations of the innermost loop have computed, or what such ones make."""
    found = {s.name for s in group if any(_carried(p, w, s, a, True) for w in group for a in s.reads)}
    for _ in group:
        made = {s.accesses[s.target].array for s in group if s.name in found}
        found |= {s.name for s in group if any(a.array in made for a in s.reads)}
    return found


def _still(s: Statement, a: Access) -> bool:
    """Is it the same element in all iterations of the innermost loop?"""
    return bool(s.iterators) and not a.index.involves_dims(isl.dim_type.in_, len(s.iterators) - 1, 1)


def _carried(p: Program, w: Statement, s: Statement, read: Access, apart: bool = False) -> bool:
    """Does `s` read here what `w` has written in an iteration of the innermost loop alone? `apart`: in another one."""
    write = w.accesses[w.target]
    if write.array != read.array or len(w.iterators) != len(s.iterators) or not s.iterators:
        return False
    pairs = write.relation.apply_range(read.relation.reverse())
    for d in range(len(s.iterators) - 1):
        pairs = pairs.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    if apart:
        last = len(s.iterators) - 1
        pairs = pairs.subtract(pairs.equate(isl.dim_type.in_, last, isl.dim_type.out, last))
    return not isl.UnionMap.from_map(pairs).intersect(p.deps.flows[read.array]).is_empty()


def to_store(scop: Scop, s: Statement, begins: Callable[[int], bool], machine: Machine) -> float | None:
    """Cycles from the accesses at which a way begins to the value that the statement stores; None where none does."""
    found = _path(scop, s, s.rhs, begins, machine)
    if s.op == "=":
        return found
    elem = scop.arrays[s.accesses[s.target].array].elem
    sides = [x for x in (found, 0.0 if begins(s.target) else None) if x is not None]  # the target is an operand, too
    last = _latency(_NAMES.get(s.op[:-1], "add"), elem.kind == "float", elem.bits, machine)
    return max(sides) + last if sides else None


def _path(scop: Scop, s: Statement, e: Expr, begins: Callable[[int], bool], machine: Machine) -> float | None:
    """The longest way up to the root of an expression; None where none begins in there."""
    if isinstance(e, Ref):
        return 0.0 if begins(e.access) else None
    ways = [way for x in children(e) if (way := _path(scop, s, x, begins, machine)) is not None]
    return max(ways) + _own(scop, s, e, machine) if ways else None


def _own(scop: Scop, s: Statement, e: Expr, machine: Machine) -> float:
    """Of one operation. Compilers compare and select, and fold signs and conversions into what is around them."""
    kind = type_of(scop, s, e.left if isinstance(e, Binary) else e)
    real, bits = kind is None or kind.kind == "float", 64 if kind is None else kind.bits
    if isinstance(e, Call):
        like = _CALLS.get(e.name.rstrip("f"))
        return _latency(like, real, bits, machine) if like else CALL
    if isinstance(e, Ternary):
        return _latency("and", real, bits, machine)
    return _latency(_NAMES.get(e.op, "min"), real, bits, machine) if isinstance(e, Binary) else 0.0


def _latency(name: str, real: bool, bits: int, machine: Machine) -> float:
    """Integers are in registers of their own, where simple operations take a cycle."""
    if real:
        return operation(machine, "f32" if bits == 32 else "f64", name).latency
    return {"mul": 3.0, "div": 12.0}.get(name, 1.0)
