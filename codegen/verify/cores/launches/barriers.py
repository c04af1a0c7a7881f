"""Proof that barriers suffice: between two barriers no core uses what another one changes. `apart` compares two phases
(kernels, or what the first core runs alone) and returns an array by which they conflict, or the empty string;
`entry.py` asks it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from codegen.ast.ctree import CExpr, CNode, For, Instance, Name, expr_names, substitute, walk
from codegen.record import record
from codegen.scop.dependences import Dependences
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop
from codegen.scop.tree import THREADED
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.memory import BoxCopy
from codegen.verify.cores.records import PrintedStatement, StagedBoxes
from codegen.verify.cores.relations import IN, OUT, box_of, executes, outermost, touches


@record
class LooseBox:
    """A box of an array of which more is brought back than is written, by the loops around a statement that uses it;
    None where it is not known."""

    array: str
    box: isl.Map | None = None
    leaf: PrintedStatement | None = None


@record
class LaunchPhase:
    """A kernel, or what the first core runs alone: its statements as its text has them; None where it was not read."""

    statements: frozenset[str]
    leaves: tuple[PrintedStatement, ...] | None
    deal: tuple[object, ...] | None  # how tiles go to cores, equal where the same tile goes to the same one
    loose: tuple[LooseBox, ...]  # of which more is brought back than is written
    alone: bool = False
    gathered: frozenset[str] = frozenset()  # variables that cores have parts of, which the first one joins

    @property
    def title(self) -> str:
        return ", ".join(sorted(self.statements))


def phase_of(scop: Scop, node: CNode, kernel: KernelReader | None) -> LaunchPhase:
    stmts = frozenset(n.stmt for n in walk(node) if isinstance(n, Instance))
    if kernel is None:
        used = sorted({a.array for n in stmts for a in scop.statement(n).accesses})
        return LaunchPhase(stmts, None, None, tuple(map(LooseBox, used)))
    parts = frozenset(p.array for p in kernel.parts.values())
    return LaunchPhase(stmts, tuple(kernel.leaves), dealing(kernel), tuple(_loose(scop, kernel)), gathered=parts)


def dealing(kernel: KernelReader) -> tuple[object, ...] | None:
    """How the tiles of a kernel go to the cores; None where they differ from time to time."""
    nests = [[lp for lp in x.at.loops if lp.loop.kind in THREADED] for x in kernel.leaves]
    longest = max(nests, key=len, default=[])
    if any(lp is not longest[k] for n in nests for k, lp in enumerate(n)):
        return None
    outside = {v for x in kernel.leaves for v in x.at.vars[: _outer(x)]}
    if any(expr_names(e) & outside for lp in longest for e in (lp.lower, lp.upper)):
        return None
    return canonical_deal(kernel, longest)


def canonical_deal(kernel: KernelReader, bound: Sequence[For]) -> tuple[object, ...]:
    """How tiles of these loops go to the cores, whatever their variables are called."""
    names: dict[str, CExpr] = {lp.var: Name(f"tile {k}") for k, lp in enumerate(bound)}
    loops = ((substitute(b.lower, names), b.op, substitute(b.upper, names), b.step) for b in bound)
    return (kernel.wide, kernel.dealt_in_turn, *loops)


def _outer(leaf: PrintedStatement) -> int:
    """Loops around the kernel."""
    kinds = [lp.loop.kind in THREADED for lp in leaf.at.loops]
    return kinds.index(True) if True in kinds else len(kinds)


def _loose(scop: Scop, kernel: KernelReader) -> Iterator[LooseBox]:
    for leaf in kernel.leaves:
        for stage in leaf.stages:
            for copy in stage.copies:
                if copy.put and not copy.kept and not _all_written(scop, kernel, stage, copy):
                    yield LooseBox(copy.array, box_of(stage, copy), leaf)


def _all_written(scop: Scop, kernel: KernelReader, stage: StagedBoxes, copy: BoxCopy) -> bool:
    """Do statements that use a box write all of it?"""
    box = box_of(stage, copy)
    written = isl.Map.empty(box.get_space())
    for leaf in (x for x in kernel.leaves if any(s is stage for s in x.stages)):
        for k, a in enumerate(scop.statement(leaf.instance.stmt).accesses):
            if a.write and leaf.places.get(k) == copy.name:
                written = written.union(outermost(touches(scop, leaf, k), box.dim(IN)))
    return bool(box.is_subset(written))


def apart(scop: Scop, deps: Dependences, a: LaunchPhase, b: LaunchPhase, shared: frozenset[str]) -> str:
    """An array by which cores may be in each other's way; empty where there is none."""
    if a.alone and b.alone:
        return ""
    uses = [_uses(scop, p) for p in (a, b)]
    for array in sorted(uses[0].keys() & uses[1].keys()):
        if not uses[0][array] and not uses[1][array]:
            continue
        if array in shared or scop.arrays[array].inside:
            return array
        if not all(_used_here(scop, x, p, q) for p, q in ((a, b), (b, a)) for x in p.loose if x.array == array):
            return array
        relations = [d.relation for d in deps.all if d.array == array]
        relations += [deps.folds[array]] if array in deps.folds else []
        if not all(_one_core(scop, m, a, b) and _one_core(scop, m, b, a) for r in relations for m in maps_of(r)):
            return array
    return ""


def _used_here(scop: Scop, x: LooseBox, mine: LaunchPhase, other: LaunchPhase) -> bool:
    """Does the other part use elements of a box only on the core that brings the box back?"""
    if x.box is None or x.leaf is None or other.leaves is None or mine.deal is None or mine.deal != other.deal:
        return False
    for y in other.leaves:
        for k, a in enumerate(scop.statement(y.instance.stmt).accesses):
            if a.array == x.array and not _same_tile(x.box.apply_range(touches(scop, y, k).reverse()), x.leaf, y):
                return False
    return True


def _uses(scop: Scop, p: LaunchPhase) -> dict[str, bool]:
    """Arrays, and whether they are written."""
    found: dict[str, bool] = {}
    for n in sorted(p.statements):
        for x in scop.statement(n).accesses:
            found[x.array] = found.get(x.array, False) or x.write
    return found


def _one_core(scop: Scop, m: isl.Map, first: LaunchPhase, then: LaunchPhase) -> bool:
    """Do instances that depend on each other run on one core?"""
    one, two = m.get_tuple_name(IN), m.get_tuple_name(OUT)
    if one not in first.statements or two not in then.statements:
        return True
    if first.leaves is None or then.leaves is None:
        return False
    alike = first.deal is not None and first.deal == then.deal
    for x in (x for x in first.leaves if x.instance.stmt == one):
        for y in (y for y in then.leaves if y.instance.stmt == two):
            pairs = executes(scop, x).apply_range(m).apply_range(executes(scop, y).reverse())
            if not pairs.is_empty() and not (alike and _same_tile(pairs, x, y)):
                return False
    return True


def _same_tile(pairs: isl.Map, x: PrintedStatement, y: PrintedStatement) -> bool:
    mine, theirs = (_tile(leaf) for leaf in (x, y))
    if not mine or len(mine) != len(theirs) or max(mine) >= pairs.dim(IN):
        return False
    same = isl.Map.universe(pairs.get_space())
    for k, n in zip(mine, theirs, strict=True):
        same = same.equate(IN, k, OUT, n)
    return bool(pairs.is_subset(same))


def _tile(leaf: PrintedStatement) -> list[int]:
    """Where the variables of bound loops stand."""
    bound: list[For] = [lp for lp in leaf.at.loops if lp.loop.kind in THREADED]
    return [leaf.at.vars.index(lp.var) for lp in bound]
