"""The ownership table of each innermost nest: for references and thread loops, whether one thread only uses an element,
yes, no or when, and why. As records of text (`tables`), and as lines (`ownership`)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import islpy as isl

from codegen.machine import Machine
from codegen.recognize.ownership.classes import BlockClass, classes
from codegen.recognize.ownership.decide import verdict
from codegen.recognize.ownership.exact import crossed_blocks
from codegen.recognize.ownership.extract import BlockedNest, frame, nests
from codegen.recognize.ownership.model import NestFrame, OwnershipAnswer, Reference, ThreadAxis
from codegen.recognize.ownership.registers import RegisterBudget
from codegen.recognize.ownership.search import distinct, search
from codegen.recognize.privatize.lastprivate import SUFFIX
from codegen.record import record
from codegen.scop.effort import Exhausted, at_most
from codegen.scop.tree import Loop, Node
from codegen.transform.program import Program

# Beyond these the table is longer than anybody reads.
MOST_LOOPS, MOST_AXES, MOST_REFERENCES = 4, 2, 16
# isl operations for one nest: a second or so, unless there are many small ones; hence seconds for all nests, too.
OPERATIONS = 4_000_000


@record
class OwnershipTable:
    """One nest: rows of reference, threads, answer and reason; then what follows from them. All of it is text."""

    head: str
    rows: tuple[tuple[str, str, str, str], ...]
    notes: tuple[str, ...]


def ownership(p: Program, tree: Node, machine: Machine) -> list[str]:
    """The tables as lines, and before them the variables of which each iteration has its own."""
    out = [line for table in tables(p, tree, machine) for line in _lines(table)]
    head = ["  ownership: is an element used by one thread only?"]
    return [*head, *(f"    {line}" for line in own_variables(p)), *out] if out else []


def own_variables(p: Program) -> list[str]:
    """In OpenMP's words: private, or more where a variable is looked at before the loop or after it."""
    found = []
    for name, array in sorted(p.scop.arrays.items()):
        users = [s for s in p.scop.statements if any(a.array == name for a in s.accesses)]
        if not array.inside or not array.scope or not users:
            continue
        of = name.removesuffix(SUFFIX)
        shared = [s for s in users if of != name and any(a.array == of for a in s.accesses)]
        kinds = ["firstprivate" for s in shared if s.accesses[s.target].array == name]
        kinds += ["lastprivate" for s in shared if s.accesses[s.target].array == of]
        loops = ", ".join(users[0].iterators[: array.scope])
        found.append(f"{of if shared else name}: {' and '.join(kinds) or 'private'} to each iteration of {loops}")
    return found


def tables(p: Program, tree: Node, machine: Machine) -> list[OwnershipTable]:
    """One table for each innermost nest."""
    return [_bounded(p, nest, machine) for nest in nests(tree) if nest.inside]


def _lines(table: OwnershipTable) -> list[str]:
    widths = [max((len(row[k]) for row in table.rows), default=0) for k in range(3)]
    rows = [" ".join(x.ljust(w) for x, w in zip(row, (*widths, 0), strict=True)).rstrip() for row in table.rows]
    return [f"    {table.head}", *(f"      {line}" for line in (*rows, *table.notes))]


def _bounded(p: Program, nest: BlockedNest, machine: Machine) -> OwnershipTable:
    try:
        with at_most(OPERATIONS):
            return _nest(p, nest, machine)
    except (isl.Error, Exhausted):
        return OwnershipTable(f"{', '.join(nest.names)}: not decided, isl gave up", (), ())


def _nest(p: Program, nest: BlockedNest, machine: Machine) -> OwnershipTable:
    head = f"{', '.join(nest.names)}: inside {_names(nest.inside)}; a block is {_block(nest)}"
    f = frame(p.scop, nest)
    refs = distinct(f.references)
    if len(nest.inside) > MOST_LOOPS or len(refs) > MOST_REFERENCES:
        return OwnershipTable(head, (), ("too many loops or references to show",))
    parts = classes(f)
    grids = [g for m in range(1, MOST_AXES + 1) for g in combinations(f.inner, m)]
    rows = []
    for r, g in product(refs, grids):
        rows.append((r.text, _names(g), *_cells(verdict(f, r, g, parts))))
    free = f"no dependence passes between threads over: {_free(p, f, grids, parts)}"
    return OwnershipTable(head, tuple(rows), (free, *_chosen(p, f, parts, refs, machine)))


def _names(loops: Sequence[Loop] | Sequence[ThreadAxis]) -> str:
    return ", ".join(x.name for x in loops)


def _block(nest: BlockedNest) -> str:
    return f"one iteration of {_names(nest.around)}" if nest.around else "the whole nest"


def _cells(v: OwnershipAnswer) -> tuple[str, str]:
    answer = f"when {v.when}" if v.answer == "when" else v.answer
    why = f"else {v.why}" if v.answer == "when" else v.why
    return answer, f"{why} ({v.test})"


def _free(p: Program, f: NestFrame, grids: list[tuple[ThreadAxis, ...]], parts: tuple[BlockClass, ...]) -> str:
    out = []
    for g in grids:
        crossed = crossed_blocks(f, p.must, g)
        good = [c.text for c in parts if c.blocks.is_disjoint(crossed)]
        if good and len(good) == len(parts):
            out.append(_names(g))
        elif good:
            out.append(f"{_names(g)} (when {' or '.join(good)})")
    return "; ".join(out) or "none"


def _chosen(
    p: Program, f: NestFrame, parts: tuple[BlockClass, ...], refs: list[Reference], machine: Machine
) -> list[str]:
    """The best register tile for each class of blocks, within the machine's registers."""
    widest = max((p.scop.arrays[r.array].elem.bits // 8 for r in refs), default=8)
    budget = RegisterBudget(machine.registers, machine.lanes(max(1, widest)))
    out = []
    for c in parts:
        found = search(f, p.must, c, budget)
        if found is not None and found.private:
            out.append(f"best{' when ' + c.text if c.text else ''}: {found.reason}")
    return out
