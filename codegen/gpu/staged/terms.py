"""Sums that one thread adds up in their order, of terms that the other threads of its block compute (`term_loops`): a
loop that runs on one thread over one statement `target op= term`. NoTiles says why a loop is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codegen.ast.ctree import Block, CNode, For, Instance, expr_names, walk
from codegen.diagnostics import Diagnostic, Severity
from codegen.gpu.body import is_plain
from codegen.gpu.tiles.find import NoTiles
from codegen.plan.model import LoopRef, StageShared
from codegen.recognize.access.ctypes import type_of
from codegen.record import record
from codegen.scop.expr import Ref, is_code
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.scop.tree import GRID, SEQUENTIAL
from codegen.strategy.choice import Decision
from codegen.transform.program import Program

OPERATORS = ("+=", "-=", "*=")
WARP = 32  # the first warp adds, others compute terms
THREADS = 256  # of a block
TERMS = 4 * (THREADS - WARP)  # at a time: a thread has four loads under way for each array
STAGES = 2  # one part is added up while the next one comes


@record
class TermLoop:
    """A loop whose terms other threads compute, a part of them at a time."""

    loop: For
    instance: Instance
    terms: int


def term_loop(scop: Scop, code: CNode, stmt: str) -> TermLoop:
    """The loop around a statement that runs on one thread. Raises NoTiles."""
    for loop in _alone(code):
        if isinstance(loop.body, Instance) and loop.body.stmt == stmt:
            problem = wrong_terms(scop, loop, loop.body)
            if problem:
                raise NoTiles(problem)
            return TermLoop(loop, loop.body, TERMS)
    raise NoTiles(f"{stmt} is not alone in a loop that one thread runs")


def _alone(node: CNode) -> Iterator[For]:
    """Loops outside of grids."""
    if isinstance(node, For):
        if node.loop.kind == GRID:
            return
        yield node
    for kid in _kids(node):
        yield from _alone(kid)


def _kids(node: CNode) -> Sequence[CNode]:
    if isinstance(node, Block):
        return node.children
    found = [getattr(node, name, None) for name in ("body", "then", "orelse")]
    return [x for x in found if x is not None]


def wrong_terms(scop: Scop, loop: For, at: Instance) -> str:
    """Why terms cannot be computed ahead, in any order; empty where they can: none reads what the loop writes, which is
    one element, nor variables that only the adding thread has."""
    s = scop.statement(at.stmt)
    target = s.accesses[s.target]
    reads = [s.accesses[e.access] for e in walk_expr(s.rhs) if isinstance(e, Ref)]
    if loop.loop.kind != SEQUENTIAL or loop.step != 1 or loop.op not in ("<", "<=") or loop.otherwise or loop.carried:
        return "its loop does not count one by one"
    if s.op not in OPERATORS or is_code(s.rhs) or not is_plain(type_of(scop, s, s.rhs)):
        return f"{s.name} adds no terms"
    if any(loop.var in expr_names(e) for e in at.accesses[s.target]):
        return f"{s.name} writes more than one element"
    known = s.domain.intersect_params(scop.context)
    written = target.relation.intersect_domain(known)
    own = (a for a in reads if a.array == target.array)
    if any(scop.arrays[a.array].inside for a in reads) or not all(written.is_disjoint(a.relation) for a in own):
        return f"terms of {s.name} read what it writes, or variables of the region"
    if not any(loop.var in expr_names(x) for k in range(len(s.accesses)) if k != s.target for x in at.accesses[k]):
        return f"terms of {s.name} are all the same"
    return ""


def adds_terms(scop: Scop, part: CNode) -> bool:
    """Is all that one thread would do in loops of this part adding up terms?"""
    loops = list(_alone(part))
    inner = [lp for lp in loops if not any(isinstance(x, For) for x in walk(lp.body))]
    return bool(inner) and all(isinstance(lp.body, Instance) and not wrong_terms(scop, lp, lp.body) for lp in inner)


def term_loops(p: Program, code: CNode) -> tuple[TermLoop, ...]:
    """The loops that a plan asks for, proven. Raises NoTiles."""
    wanted: dict[str, list[StageShared]] = {}
    on_threads = {x.stmt for n in walk(code) if isinstance(n, For) and n.loop.kind == GRID
                  for x in walk(n) if isinstance(x, Instance)}  # fmt: skip
    for d in p.tiles:
        if isinstance(d, StageShared) and d.loop.stmt not in on_threads:
            wanted.setdefault(d.loop.stmt, []).append(d)
    return tuple(_planned(p.scop, code, wanted[n]) for n in sorted(wanted))


def _planned(scop: Scop, code: CNode, stages: Sequence[StageShared]) -> TermLoop:
    found = term_loop(scop, code, stages[0].loop.stmt)
    if {(d.array, d.loop.name, d.size, d.stages, d.pad) for d in stages} != set(_staged(scop, found)):
        raise NoTiles(f"one thread adds up what {found.instance.stmt} gathers: {TERMS} terms at a time, of all arrays")
    return found


def _staged(scop: Scop, t: TermLoop) -> list[tuple[str, str, int, int, int]]:
    """Array, loop, size, stages and padding, as directives name them."""
    s = scop.statement(t.instance.stmt)
    arrays = {scop.arrays[s.accesses[e.access].array].base for e in walk_expr(s.rhs) if isinstance(e, Ref)}
    return [(a, t.loop.loop.name, t.terms, STAGES, 0) for a in sorted(arrays)]


def with_terms(d: Decision, code: CNode) -> Decision:
    """A plan of the tool's own, with terms of sums that one thread adds up."""
    for s in d.program.scop.statements:
        try:
            found = term_loop(d.program.scop, code, s.name)
        except NoTiles:
            continue
        given = tuple(StageShared(a, LoopRef(loop, s.name), size, stages, pad)
                      for a, loop, size, stages, pad in _staged(d.program.scop, found))  # fmt: skip
        plan = replace(d.plan, directives=(*d.plan.directives, *given))
        text = f"one thread adds up, in the order of {found.loop.loop.name}, terms that others compute"
        remark = Diagnostic(Severity.REMARK, "kernel", text, s.loc, kind="passed")
        d = Decision(plan, (*d.remarks, remark), replace(d.program, tiles=(*d.program.tiles, *given)))
    return d
