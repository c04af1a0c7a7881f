"""How long a point of a nest waits for the one before it along the innermost loop, against the time that its
instructions take: whether it is worth running several rows side by side."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.machine import Machine
from codegen.machine.operations import operation
from codegen.scop.expr import Binary, Call, Cast, Expr, Lit, Ref, Sym, Ternary, children, walk
from codegen.scop.model import Access, Scop, Statement
from codegen.transform.program import Program

# Cycles of what no machine's tables have. They are of the same order on all cores of the last ten years.
DIVIDE = 12.0
CALL = 30.0  # of a function of <math.h>
SELECT = {True: 4.0, False: 2.0}  # a comparison and a choice, of floating point numbers and of integers
CHEAP = frozenset({"fabs", "fabsf", "fmin", "fminf", "fmax", "fmaxf", "abs"})
# Instructions that a core carries out in a cycle while nothing waits. Four and more can start, but addresses count.
AT_ONCE = 2.5
# Rows of a skewed nest side by side: every point is computed from memory and its neighbours are far away. Waiting to
# working cycles, and the speed of gcc's code, Neoverse N1: wavefront 18 to 3, 1.8; seidel-2d 24 to 8, 2.9; dtw-banded
# 14 to 12, 0.93; palindrome 6 to 6, 0.83; lcs 5 to 6, 0.74, one row after the other 1.7; smith-waterman 13 to 22, 0.57.
SKEWED = 2.0


def worth_rows(p: Program, names: Sequence[str], machine: Machine, margin: float = 1.0) -> bool:
    """Do the innermost of these statements wait longer than they work? matrix-chain 3 to 7 cycles, 0.53 of gcc side by
    side; sums of products 2 to 1.6, from 1.2 to 2.0."""
    depth = max(len(p.scop.statement(n).iterators) for n in names)
    inner = [n for n in names if len(p.scop.statement(n).iterators) == depth]
    return waiting(p, inner, machine) > margin * working(p.scop, inner)


def waiting(p: Program, names: Sequence[str], machine: Machine) -> float:
    """Cycles from a value of one iteration of the innermost loop to the next that is made of it; 0: it needs none."""
    group = [p.scop.statement(n) for n in names]
    total = 0.0
    for s in group:
        found = _path(p, s, s.rhs, group, machine)
        if s.op != "=":  # the target is an operand, too
            own = 0.0 if any(_carried(p, w, s, s.accesses[s.target]) for w in group) else None
            sides = [x for x in (found, own) if x is not None]
            found = max(sides) + _step(p, s, Binary(s.op[:-1], s.rhs, s.rhs), machine) if sides else None
        total += found or 0.0
    return total


def working(scop: Scop, names: Sequence[str]) -> float:
    """Cycles for the instructions of an iteration, when nothing has to wait."""
    count = 0
    for s in (scop.statement(n) for n in names):
        nodes = [e for e in walk(s.rhs) if not isinstance(e, (Lit, Sym, Cast))]
        still = sum(isinstance(e, Ref) and _still(s, s.accesses[e.access]) for e in nodes)
        count += 1 + len(nodes) - still + sum(isinstance(e, Ternary) for e in nodes)
    return count / AT_ONCE


def _still(s: Statement, a: Access) -> bool:
    """Is it the same element in all iterations of the innermost loop?"""
    return bool(s.iterators) and not a.index.involves_dims(isl.dim_type.in_, len(s.iterators) - 1, 1)


def _path(p: Program, s: Statement, e: Expr, group: Sequence[Statement], machine: Machine) -> float | None:
    """Cycles from the last such value to this part of an expression; None where it has none."""
    if isinstance(e, Ref):
        return 0.0 if any(_carried(p, w, s, s.accesses[e.access]) for w in group) else None
    found = [x for x in (_path(p, s, c, group, machine) for c in children(e)) if x is not None]
    return max(found) + _step(p, s, e, machine) if found else None


def _carried(p: Program, w: Statement, s: Statement, read: Access) -> bool:
    """Does `s` read here what `w` has written in another iteration of the innermost loop alone?"""
    write = w.accesses[w.target]
    if write.array != read.array or len(w.iterators) != len(s.iterators) or not s.iterators:
        return False
    pairs = write.relation.apply_range(read.relation.reverse())
    for d in range(len(s.iterators) - 1):
        pairs = pairs.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    return not isl.UnionMap.from_map(pairs).intersect(p.deps.flows[read.array]).is_empty()


def _step(p: Program, s: Statement, e: Expr, machine: Machine) -> float:
    """Cycles of one operation."""
    elem = p.scop.arrays[s.accesses[s.target].array].elem
    real = elem.kind == "float"
    kind = f"{'f' if real else 'i'}{elem.bits or 64}"
    if isinstance(e, Call):
        return operation(machine, kind, "min").latency if e.name in CHEAP and real else CALL
    if isinstance(e, Ternary):
        return SELECT[real]
    if not isinstance(e, Binary):
        return 1.0
    if e.op in ("/", "%"):
        return DIVIDE
    if not real:
        return 3.0 if e.op == "*" else 1.0
    return operation(machine, kind, "mul" if e.op == "*" else "add").latency
