"""Cuts a region into phases, between which ranks exchange what they computed; `cut` returns them as a `Cut`. Outermost
loops that carry no dependence, or only reductions, are shared out among ranks; where there are none, ranks run a loop
in turns, or each runs the whole region.

A phase is a nest inside loops that run one iteration after the other on all ranks. Its outermost loop is shared out
among the ranks in blocks, or every rank runs all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.recognize.reductions import find_reductions
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import Band, FoundLoop, Hold, Leaf, Loop, Node, Seq, loops, seq, statements, walk
from codegen.transform.program import Program, carried

# Operators of reductions, and those of MPI that join what ranks have gathered.
JOINED = {"+": "MPI_SUM", "-": "MPI_SUM", "max": "MPI_MAX", "min": "MPI_MIN", "&": "MPI_BAND", "|": "MPI_BOR",
          "^": "MPI_BXOR"}  # fmt: skip


class NotShared(Exception):
    """Why every rank runs all of a region."""


class Unproven(NotShared):
    """What would be shared, or the text for it, could not be proven."""


@record
class Panels:
    """Ranges of values of one iterator of each statement, between `first` and `past`, that a phase runs one behind the
    other. What it reads of `arrays` in a range comes to a rank for that range alone."""

    iterators: tuple[tuple[str, int], ...]
    arrays: tuple[str, ...]
    first: isl.PwAff
    past: isl.PwAff


@record
class Phase:
    """`tree` is the nest, `outer` the loops around it. Ranks share the iterations of its first loop, `shared`; None:
    each runs them all."""

    name: str
    tree: Node
    outer: tuple[Loop, ...]
    shared: Loop | None = None
    reduced: tuple[tuple[str, str], ...] = ()  # operators and arrays of reductions that the shared loop carries
    ordered: bool = False  # ranks run their blocks one after the other, and hand on what they computed
    across: tuple[tuple[tuple[str, int], ...], ...] = ()  # further axes of a grid: which iterator of each statement
    panels: Panels | None = None  # it runs in panels

    @property
    def stmts(self) -> tuple[str, ...]:
        return statements(self.tree)

    @property
    def depth(self) -> int:
        """Loops around it; in its statements the number of the iterator that is shared out."""
        return len(self.outer)

    def positions(self, stmt: str) -> tuple[int, ...]:
        """The iterators of a statement that are shared out, one for each axis of the grid of ranks."""
        return (self.depth, *(dict(axis)[stmt] for axis in self.across))

    def along(self, scop: Scop) -> str:
        """The loop that is run panel by panel; empty if none is."""
        at = dict(self.panels.iterators) if self.panels is not None else {}
        return scop.statement(self.stmts[0]).iterators[at[self.stmts[0]]] if at else ""

    def names(self, scop: Scop) -> tuple[str, ...]:
        """The loops that are shared out, by the names that they have around the first statement."""
        assert self.shared is not None
        iterators = scop.statement(self.stmts[0]).iterators
        return (self.shared.name, *(iterators[k] for k in self.positions(self.stmts[0])[1:]))


@record
class Cut:
    """A region in phases. In `tree` each is a leaf of its name."""

    tree: Node
    phases: tuple[Phase, ...]
    why: str = ""  # no phase is shared out
    torn: tuple[str, ...] = ()  # variables of the region that stood in the way

    def phase_of(self, stmt: str) -> Phase:
        return next(p for p in self.phases if stmt in p.stmts)

    def in_panels(self, stmt: str, array: str) -> bool:
        """Does a statement read an array panel by panel?"""
        panels = self.phase_of(stmt).panels
        return panels is not None and array in panels.arrays

    @property
    def shared(self) -> tuple[Phase, ...]:
        return tuple(p for p in self.phases if p.shared is not None)


Wanted = Callable[[Loop, tuple[str, ...]], bool]  # is a loop around these statements to be shared out?


def any_loop(loop: Loop, stmts: tuple[str, ...]) -> bool:
    return True


def cut(p: Program, wanted: Wanted = any_loop, held: Mapping[str, int] | None = None) -> Cut:
    """The region in its source order, with the outermost loops shared out that carry no dependence. `held` are arrays
    in blocks, each with its dimension: where no loop can be shared out, ranks take turns along that."""
    free, folds = _free_loops(p)
    torn: list[str] = []
    tree, found = _cut(_Loops(p, free, folds, wanted, torn), p.tree, (), True)
    if not any(q.shared for q in found) and not torn:
        tree, found = _turns(p, held or {}, wanted)
    if _torn(p.scop, found, torn):
        tree, found = Leaf("P"), (Phase("P", p.tree, ()),)
    why = "" if free or folds else _unfit(p)
    if torn:
        why = f"`{p.scop.arrays[torn[0]].base}` is one variable for loops that could be shared out one after the other"
    names = {q.name: f"P{k + 1}" for k, q in enumerate(found)}
    phases = tuple(replace(q, name=names[q.name]) for q in found)
    return Cut(_renamed(tree, names), phases, why, tuple(dict.fromkeys(torn)))


def _free_loops(p: Program) -> tuple[frozenset[int], Mapping[int, tuple[tuple[str, str], ...]]]:
    """Loops that carry nothing, by identity: no value goes from one iteration to another. And those that carry nothing
    but reductions, each with their operators and arrays."""
    out, folds = set(), {}
    for place in loops(p.tree):
        found = carried(p, place, elements=True)
        if found.blocker is None and _plain(p.scop, place):
            if not found.reductions:
                out.add(id(place.loop))
            elif all(_joinable(p.scop, array, op, statements(place.band)) for op, array in found.reductions):
                folds[id(place.loop)] = found.reductions
    return frozenset(out), folds


def _joinable(scop: Scop, array: str, op: str, stmts: Sequence[str]) -> bool:
    """Can ranks join what each has gathered? Their statements use the array for this reduction alone."""
    a = scop.arrays[array]
    ops = {r.stmt: r.op for r in find_reductions(scop) if r.array == array}
    uses = {s.name for s, _ in scop.accesses_to(array)} & set(stmts)
    alike = all(JOINED.get(ops.get(s, "")) == JOINED.get(op) for s in uses)
    own = all(len([x for x in scop.statement(s).accesses if x.array == array and not x.write]) == 1 for s in uses)
    return op in JOINED and alike and own and not a.inside and not a.opaque and not a.mixed and a.elem.bits in (32, 64)


def _unfit(p: Program) -> str:
    """A loop that carries nothing, and still cannot be shared out; empty if there is none."""
    for place in loops(p.tree):
        if carried(p, place, elements=True).blocker is None and not _plain(p.scop, place):
            return f"loop {place.loop.name} does not count up by one from iteration to iteration"
    return ""


def _plain(scop: Scop, place: FoundLoop) -> bool:
    """Does the loop count an iterator of all its statements, at its own depth?"""
    return counts(scop, place.loop, len(place.names))


def counts(scop: Scop, loop: Loop, depth: int) -> bool:
    """Is the loop's value the iterator of that number of each statement in it?"""
    for name in sorted(loop.exprs):
        domain = scop.statement(name).domain
        if domain.dim(isl.dim_type.set) <= depth:
            return False
        own = isl.Aff.var_on_domain(isl.LocalSpace.from_space(domain.get_space()), isl.dim_type.set, depth)
        if not loop.exprs[name].is_equal(isl.PwAff.from_aff(own)):
            return False
    return True


@record
class _Loops:
    """The loops of a program that may be shared out, by identity, and those that are wanted."""

    p: Program
    free: frozenset[int]
    folds: Mapping[int, tuple[tuple[str, str], ...]]
    wanted: Wanted
    torn: list[str]


def _cut(x: _Loops, node: Node, outer: tuple[Loop, ...], fold: bool) -> tuple[Node, tuple[Phase, ...]]:
    """Loops that carry nothing come first; where there are none in a nest, and `fold`, its outermost loop that carries
    reductions."""
    whole = Leaf(f"{statements(node)[0]}"), (Phase(statements(node)[0], node, outer),)
    if isinstance(node, Seq):
        parts = [_cut(x, child, outer, fold) for child in node.children]
        if not any(q.shared for _, found in parts for q in found):
            return whole
        return seq([tree for tree, _ in parts]), tuple(q for _, found in parts for q in found)
    if not isinstance(node, Band):
        return whole
    first = node.loops[0]
    if id(first) in x.free and x.wanted(first, statements(node)):
        return whole[0], (Phase(whole[1][0].name, node, outer, first),)
    inner = _inside(x, node, outer, False)
    if inner is None and fold and id(first) in x.folds and x.wanted(first, statements(node)):
        return whole[0], (Phase(whole[1][0].name, node, outer, first, x.folds[id(first)]),)
    if inner is None and fold:
        inner = _inside(x, node, outer, True)
    return whole if inner is None else inner


def _turns(p: Program, held: Mapping[str, int], wanted: Wanted) -> tuple[Node, tuple[Phase, ...]]:
    """A nest whose loop along blocks of arrays, or without such the loop inside the first, is run by one rank after the
    other. In a loop around it, ranks follow each other as a pipeline."""
    whole = Leaf("P"), (Phase("P", p.tree, ()),)
    if not isinstance(p.tree, Band):
        return whole
    chain: list[Loop] = []
    node: Node = p.tree
    while isinstance(node, Band):
        chain += node.loops
        node = node.child
    for depth, loop in enumerate(chain):
        along = _along(p.scop, held, depth) if held else depth == 1
        if not counts(p.scop, loop, depth):
            return whole
        if along and wanted(loop, statements(p.tree)):
            tree: Node = Leaf("P")
            for outer in reversed(chain[:depth]):
                tree = Band((outer,), tree)
            return tree, (Phase("P", Band(tuple(chain[depth:]), node), tuple(chain[:depth]), loop, ordered=True),)
    return whole


def _along(scop: Scop, held: Mapping[str, int], depth: int) -> bool:
    """Does a loop go through the blocks of an array?"""
    for s, a in scop.accesses():
        if a.array in held and s.domain.dim(isl.dim_type.set) > depth:
            index = a.index.get_pw_aff(held[a.array])
            if index.involves_dims(isl.dim_type.in_, depth, 1):
                return True
    return False


def _inside(x: _Loops, node: Band, outer: tuple[Loop, ...], fold: bool) -> tuple[Node, tuple[Phase, ...]] | None:
    """A nest whose first loop runs in step on all ranks; None if nothing in it can be shared out."""
    first = node.loops[0]
    if not counts(x.p.scop, first, len(outer)):
        return None
    below = Band(node.loops[1:], node.child, node.permutable) if len(node.loops) > 1 else node.child
    tree, found = _cut(x, below, (*outer, first), fold)
    if not any(q.shared for q in found) or _torn(x.p.scop, found, x.torn):
        return None
    return Band((first,), tree), found


def _torn(scop: Scop, phases: Sequence[Phase], torn: list[str]) -> bool:
    """Is there a variable of the region that several phases use? It has one place in memory, inside one of them."""
    for name in sorted(n for n, a in scop.arrays.items() if a.inside):
        users = {s.name for s, _ in scop.accesses_to(name)}
        if sum(1 for q in phases if users & set(q.stmts)) > 1:
            torn.append(name)
            return True
    return False


def _renamed(node: Node, names: Mapping[str, str]) -> Node:
    if isinstance(node, Leaf):
        return Leaf(names[node.stmt])
    if isinstance(node, Seq):
        return Seq(tuple(_renamed(k, names) for k in node.children))
    assert isinstance(node, Band)
    return Band(node.loops, _renamed(node.child, names), node.permutable)


def held(node: Node) -> bool:
    """Does a tree say where variables live? A source's own does not."""
    return any(isinstance(n, Hold) for _, n in walk(node))
