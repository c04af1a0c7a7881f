"""The default author of plans: isl's order, then tiles, threads and vectors by simple rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import islpy as isl

from codegen.diagnostics import Diagnostic, InputError, Loc, Severity
from codegen.machine import Machine
from codegen.plan.chains import chains
from codegen.plan.expansion import Expanded, blocked, expand_for_products
from codegen.plan.isl_schedule import isl_schedule
from codegen.plan.lines import lines_innermost
from codegen.plan.model import (
    Directive,
    Distribute,
    Forward,
    LoopRef,
    Parallel,
    Plan,
    Schedule,
    Tile,
    Vector,
)
from codegen.plan.owners import owner_remarks
from codegen.plan.products import Products, find_products, in_panels
from codegen.plan.shape import innermost_unit_stride, separate
from codegen.plan.stencils import time_tiles
from codegen.plan.tiles import constant_extent, footprint, tile_sizes, worth_tiling
from codegen.plan.wavefront import ROWS, diagonals, side_by_side, tile_shape
from codegen.recognize.forward import candidates
from codegen.recognize.strides import coefficients
from codegen.recognize.work import PARALLEL_MIN, most_instances
from codegen.record import record
from codegen.scop.distance import is_zero
from codegen.scop.model import Statement
from codegen.scop.tree import (
    ABREAST,
    THREADED,
    Band,
    Loop,
    Node,
    Place,
    Seq,
    enclosing,
    has_band,
    loops,
    statements,
    walk,
)
from codegen.transform.apply import apply
from codegen.transform.program import Program


@record
class Decision:
    """A plan with the reasons for it, and the program it leads to (what carrying it out again would give)."""

    plan: Plan
    remarks: tuple[Diagnostic, ...]
    program: Program


def default_plan(source: Program, machine: Machine, fusion: str = "smart", effort: int = 2) -> Decision:
    """A plan for a region given in source order. Lower effort leaves out isolation (1) and tiling (0)."""
    best, first = _with_products(source, machine, fusion)
    if best.products.directives:
        p = best.program.with_tree(best.products.tree)
        return decorate(p, machine, effort, best.products, (*first, *best.directives), best.remarks)
    tree = isl_schedule(source.scop, source.deps, source.tree, fusion)
    over_time = _over_time(source, machine, tree) if effort > 1 else None
    if over_time is not None:
        return over_time
    p = lines_innermost(innermost_unit_stride(separate(source.with_tree(tree))))
    return decorate(p, machine, effort, best.products)


def _over_time(source: Program, machine: Machine, usual: Node) -> Decision | None:
    """Tiles over time, when the region is of that kind and each of them can be written as vector loops."""
    found = time_tiles(source, machine, usual)
    if found is None:
        return None
    author = _Author(source, [], [], machine)
    first = source.scop.statements[0].name
    if not all(author._try(d) for d in found.needed):
        return None
    if machine.cores > 1:
        author.all_or_none(found.threads)
    if not all(author._try(d) for d in found.vectors):
        return None
    for d in found.rows:
        author._try(d)
    author._remark("passed", "time-tiles", f"tiles of {found.text}, on diagonals that run in parallel", first)
    return Decision(Plan(source.scop.region, tuple(author.directives)), tuple(author.remarks), author.p)


def source_plan(source: Program, machine: Machine) -> Decision:
    """Keep the source's order; only mark loops."""
    return decorate(source, machine, 0)


def _with_products(source: Program, machine: Machine, fusion: str) -> tuple[Expanded, tuple[Directive, ...]]:
    """The form of the region with the most blocked products, else the first with any; and how to get there."""
    best: tuple[Expanded, tuple[Directive, ...]] | None = None
    for p, first in _forms(source):
        made = expand_for_products(p, find_products(p, machine, fusion), machine, fusion)
        panels = None if _all_products(made) else in_panels(made.program, machine, fusion)
        if panels is not None and _rank(panels[2]) > _rank(made.products):
            q, blocks, found = panels
            made = replace(made, program=q, products=found, directives=(*made.directives, *blocks))
        if best is None or _rank(made.products) > _rank(best[0].products):
            best = made, first
    assert best is not None
    return best


def _rank(found: Products) -> tuple[int, bool]:
    return len(blocked(found)), bool(found.directives)


def _all_products(made: Expanded) -> bool:
    """Is everything that could be a product one, and a matrix product if it could be that?"""
    any_kind = {d.stmt for d in made.products.directives}
    return all(
        s.name in (blocked(made.products) if len(s.iterators) > 2 else any_kind)
        for s in made.program.scop.statements
        if len(s.iterators) > 1 and _folds(s)
    )


def _folds(s: Statement) -> bool:
    """Does a loop around the statement go on with the same element?"""
    index, n = s.accesses[s.target].index, len(s.iterators)
    rows = [coefficients(index.get_pw_aff(k), n) for k in range(index.dim(isl.dim_type.out))]
    return any(all(c is not None and not c[d] for c in rows) for d in range(n))


def _forms(source: Program) -> Iterator[tuple[Program, tuple[Directive, ...]]]:
    """The region as it is and, first, with scalars forwarded: only products gain from that."""
    p, done = source, []
    for name in candidates(source.scop):
        d = Forward(name)
        try:
            p = apply(p, d)
        except InputError:
            continue
        done.append(d)
    if done:
        yield p, tuple(done)
    yield source, ()


def decorate(
    p: Program,
    machine: Machine,
    effort: int,
    products: Products | None = None,
    first: tuple[Directive, ...] = (),
    remarks: tuple[Diagnostic, ...] = (),
) -> Decision:
    """Products first; then tile the rest, and mark parallel and vector loops."""
    author = _Author(p, [*first, Schedule(p.tree)], [*remarks], machine)
    if products is not None:
        for d in products.shape:
            author._try(d)
        for d, remark in zip(products.directives, products.remarks, strict=True):
            if author._try(d):
                author.remarks.append(remark)
            else:
                author._remark("missed", "no-product", f"no product: {author.why}", d.stmt)
        author.remarks.extend(products.missed)
    if effort:
        author.tile(full=effort > 1)
    author.threads()
    author.vectors()
    author.remarks.extend(owner_remarks(author.p, machine))
    return Decision(Plan(p.scop.region, tuple(author.directives)), tuple(author.remarks), author.p)


@dataclass
class _Author:
    p: Program
    directives: list[Directive]
    remarks: list[Diagnostic]
    machine: Machine
    why: str = ""  # what the last refused directive ran into

    def _try(self, d: Directive) -> bool:
        try:
            self.p = apply(self.p, d)
        except InputError as error:
            self.why = error.message
            return False
        self.directives.append(d)
        return True

    def all_or_none(self, steps: Iterable[Directive]) -> bool:
        saved, count = self.p, len(self.directives)
        if all(self._try(d) for d in steps):
            return True
        self.p = saved
        del self.directives[count:]
        return False

    def _remark(self, kind: str, id: str, text: str, stmt: str) -> None:
        loc: Loc = self.p.scop.statement(stmt).loc
        self.remarks.append(Diagnostic(Severity.REMARK, id, text, loc, kind=kind))

    # -- tiles -------------------------------------------------------------------------------------

    def tile(self, full: bool) -> None:
        """Tile permutable innermost bands that reuse data."""
        done: set[str] = set()
        for names, steps in list(chains(self.p.tree, lambda b: len(self._tilable(b)) == len(b.loops))):
            if self.all_or_none(steps):
                done |= set(names)
                text = f"{ROWS} rows at a time, so that none waits for its own last result"
                self._remark("passed", "rows", text, names[-1])
        for _, node in list(walk(self.p.tree)):
            if not isinstance(node, Band) or done & set(statements(node)):
                continue
            if len(node.loops) == 1 and isinstance(node.child, Seq):
                done |= self._tile_shared(node, node.child, full)
        for _, node in list(walk(self.p.tree)):
            if isinstance(node, Band) and node.permutable and not has_band(node.child):
                names = statements(node)
                if not done & set(names):
                    done |= set(names)
                    self._tile(node, names, full)

    def _tile_shared(self, band: Band, parts: Seq, full: bool) -> set[str]:
        """A loop around several nests, one of which wants tiles: cut the loop, give each nest its own point
        loop, and tile the nests below the shared tile loop."""
        scop, shared = self.p.scop, band.loops[0]
        wanting = []
        for part in parts.children:
            if not isinstance(part, Band) or has_band(part.child) or not part.permutable:
                continue
            names = statements(part)
            stmts = [scop.statement(n) for n in names]
            members = [_restrict(shared, names), *self._tilable(part)]
            around = enclosing(self.p.tree, names[0])
            if len(members) == len(part.loops) + 1 and worth_tiling(scop, stmts, around, members):
                wanting.append((names[0], members, tile_sizes(scop, stmts, members, self.machine)))
        if not wanting or shared not in self._tilable(band):
            return set()
        saved, count = self.p, len(self.directives)
        size = min(sizes[0] for _, _, sizes in wanting)
        ref = LoopRef(shared.name, statements(band)[0])
        if size and self._try(Tile(((ref, size),))) and self._try(Distribute(ref)):
            for name, members, sizes in wanting:
                inner = tuple((LoopRef(lp.name, name), s) for lp, s in zip(members[1:], sizes[1:], strict=True))
                self._try(Tile(((LoopRef(shared.name, name), 0), *inner), full))
                text = ", ".join(f"{lp.name}:{s}" for lp, s in zip(members, (size, *sizes[1:]), strict=True) if s)
                self._tiled_remark(text, footprint(scop, [scop.statement(name)], members, sizes), name)
            return set(statements(band))
        self.p = saved
        del self.directives[count:]
        return set()

    def _tiled_remark(self, text: str, bytes_: int, stmt: str) -> None:
        self._remark(
            "passed",
            "tiled",
            f"tiled {text}; a tile touches about {bytes_ // 1024} KiB, to stay in the "
            f"second-level cache of {self.machine.name}",
            stmt,
        )

    def _wavefront(self, band: Band, names: tuple[str, ...]) -> bool:
        """No loop of the band is parallel, but tiles on a diagonal are: cut all loops alike and run the
        diagonals of the two outer tile loops one after the other, the tiles on each in parallel."""
        loops_ = self._tilable(band)
        if len(loops_) != len(band.loops) or len(loops_) < 2 or any(lp.coincident for lp in loops_):
            return False
        stmts = [self.p.scop.statement(n) for n in names]
        size = (
            min(x for x in tile_sizes(self.p.scop, stmts, loops_, self.machine) if x)
            if not any(constant_extent(self.p.scop, lp, n) for lp in loops_ for n in names)
            else 0
        )
        if not size:
            return False
        sizes = tile_shape(size, len(loops_))
        if not self.all_or_none(diagonals(loops_, names[0], sizes)):
            return False
        text = f"tiles of {' by '.join(map(str, sizes))} along a skewed band; tiles on one diagonal run in parallel"
        if any(self.all_or_none(steps) for steps in side_by_side(self.p.scop, loops_, names[0])):
            text += f", {ROWS} rows of a tile side by side"
        self._remark("passed", "wavefront", text, names[0])
        return True

    def _tile(self, band: Band, names: tuple[str, ...], full: bool) -> None:
        scop = self.p.scop
        stmts = [scop.statement(n) for n in names]
        around = enclosing(self.p.tree, names[0])
        members = self._tilable(band)
        if self._wavefront(band, names):
            return
        if len(members) < 2 or not worth_tiling(scop, stmts, around, band.loops):
            return
        sizes = tile_sizes(scop, stmts, members, self.machine)
        ref = names[0]
        d = Tile(tuple((LoopRef(lp.name, ref), s) for lp, s in zip(members, sizes, strict=True)), full)
        if self._try(d):
            bytes_ = footprint(scop, stmts, members, sizes)
            text = ", ".join(f"{lp.name}:{s}" for lp, s in zip(members, sizes, strict=True) if s)
            self._tiled_remark(text, bytes_, ref)

    def _tilable(self, band: Band) -> list[Loop]:
        """Loops along which no variable of the region stays alive: cutting those keeps it a scalar."""
        inside = [r for name, r in self.p.deps.flows.items() if self.p.scop.arrays[name].inside]
        return [lp for lp in band.loops if all(_local(r, lp, statements(band)) for r in inside)]

    # -- threads and vectors -----------------------------------------------------------------------

    def threads(self) -> None:
        """The outermost legal loop of every nest becomes parallel."""
        for place in sorted(loops(self.p.tree), key=lambda q: (len(q.names), q.path)):
            if place.band.product is not None:
                continue
            short = len(place.names) > 1 or self._in_tile(place)
            if self._marked_around(place) or (short and _is_innermost(place)):
                continue
            names = statements(place.band)
            if self._few(place, names):
                continue
            if self._try(Parallel(LoopRef(place.loop.name, names[0]))):
                self._remark("passed", "parallel", f"loop {place.loop.name} runs in parallel", names[0])

    def _few(self, place: Place, names: tuple[str, ...]) -> bool:
        """Is there too little to do for threads, whatever the parameters are?"""
        around = [enclosing(self.p.tree, n)[: len(place.names)] for n in names]
        fixed = [[_stepped(lp, n) for lp in loops_] for n, loops_ in zip(names, around, strict=True)]
        if any(d is None for part in fixed for d in part):
            return False
        counts = [
            most_instances(self.p.scop.statement(n), [d for d in part if d is not None])
            for n, part in zip(names, fixed, strict=True)
        ]
        return sum(c for c in counts if c is not None) < PARALLEL_MIN and None not in counts

    def _in_tile(self, place: Place) -> bool:
        around = enclosing(self.p.tree, statements(place.band)[0])
        return any(lp.tile for lp in around if lp.name in place.names)

    def _marked_around(self, place: Place) -> bool:
        for q in loops(self.p.tree):
            related = place.path[: len(q.path)] == q.path or q.path[: len(place.path)] == place.path
            if q.loop.kind in THREADED and related:
                return True
        return False

    def _rows(self, band: Band) -> bool:
        """Is the innermost loop one over a few rows?"""
        around = enclosing(self.p.tree, statements(band)[0])
        return any(lp.of == band.loops[-1].name and 0 < lp.tile <= ROWS for lp in around)

    def vectors(self) -> None:
        """Innermost loops that carry nothing are marked for the vectorizer."""
        for _, node in list(walk(self.p.tree)):
            if not isinstance(node, Band) or has_band(node.child) or node.product is not None:
                continue
            if node.loops[-1].kind == ABREAST or self._rows(node):
                continue
            names = statements(node)
            lp = node.loops[-1]
            ref = LoopRef(lp.name, names[0])
            if self._try(Vector(ref)):
                self._remark("passed", "vector", f"loop {lp.name} is marked for the vectorizer", names[0])
            else:
                self._remark("missed", "not-vector", self.why, names[0])


def _is_innermost(place: Place) -> bool:
    """Nothing but statements inside: below several sequential loops, starting threads here never pays."""
    return place.member == len(place.band.loops) - 1 and not has_band(place.band.child)


def _stepped(lp: Loop, stmt: str) -> int | None:
    """The iterator that a loop steps through for a statement; None when it is not just one."""
    moving = [k for k, c in enumerate(coefficients(lp.exprs[stmt], lp.exprs[stmt].dim(isl.dim_type.in_)) or ()) if c]
    return moving[0] if len(moving) == 1 else None


def _restrict(lp: Loop, names: tuple[str, ...]) -> Loop:
    return replace(lp, exprs={n: lp.exprs[n] for n in names})


def _local(relation: isl.UnionMap, lp: Loop, names: tuple[str, ...]) -> bool:
    own: dict[str, isl.PwAff] = {n: lp.exprs[n] for n in names}
    return is_zero(relation, own)
