"""An author of plans: tiles, threads and vectors by simple rules, each tried before it is written down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from codegen.diagnostics import Diagnostic, InputError, Loc, Severity
from codegen.machine import Machine
from codegen.plan import told
from codegen.plan.carrying import carry_gain
from codegen.plan.chains import chains
from codegen.plan.cost import stepped
from codegen.plan.dealt import ways
from codegen.plan.gather import gathering, on_threads
from codegen.plan.latency import SKEWED, worth_rows
from codegen.plan.model import Carry, Directive, Distribute, LoopRef, Pipeline, Tile, Vector
from codegen.plan.near import over_again
from codegen.plan.outer import around_recurrence, around_taps
from codegen.plan.tiles import (
    STRIP,
    bring_back,
    constant_extent,
    few_lines,
    footprint,
    tile_sizes,
    worth_strips,
    worth_tiling,
    written_out,
)
from codegen.plan.turned import across_rows
from codegen.plan.wavefront import ROWS, behind, side_by_side, tile_shape, whole_rows
from codegen.recognize.reductions import find_reductions
from codegen.recognize.work import PARALLEL_MIN, leaves_out, most_instances, next_by_step
from codegen.recognize.wraps import usual_move
from codegen.scop.distance import is_zero
from codegen.scop.expr import DataLoop, Ref
from codegen.scop.expr import walk as walk_expr
from codegen.scop.tree import (
    ABREAST,
    ON_THREADS,
    Band,
    Loop,
    Place,
    Seq,
    enclosing,
    has_band,
    loops,
    statements,
    walk,
)
from codegen.transform.apply import apply
from codegen.transform.program import Program, pending


@dataclass
class Author:
    """Writes a plan step by step: what is refused is left out, and the reasons are kept."""

    p: Program
    directives: list[Directive]
    remarks: list[Diagnostic]
    machine: Machine
    why: str = ""  # what the last refused directive ran into

    def attempt(self, d: Directive) -> bool:
        """Carry a directive out if it is legal; `why` says why not."""
        try:
            self.p = apply(self.p, d)
        except InputError as error:
            self.why = error.message
            return False
        self.directives.append(d)
        return True

    def possible(self, d: Directive) -> bool:
        """Would a directive be legal?"""
        try:
            apply(self.p, d)
        except InputError:
            return False
        return True

    def all_or_none(self, steps: Iterable[Directive]) -> bool:
        """Carry out all of them, or leave everything as it was."""
        saved, count = self.p, len(self.directives)
        if all(self.attempt(d) for d in steps):
            return True
        self.p = saved
        del self.directives[count:]
        return False

    def remark(self, kind: str, id: str, text: str, stmt: str, hint: str = "") -> None:
        """Say what was done to a statement, or missed."""
        loc: Loc = self.p.scop.statement(stmt).loc
        self.remarks.append(Diagnostic(Severity.REMARK, id, text, loc, hint, kind))

    def behind(self, steps: tuple[Directive, ...]) -> None:
        """Rows on threads, each behind the one before it, if that can be."""
        if self.all_or_none(steps):
            way = next(d for d in steps if isinstance(d, Pipeline))
            text = f"loop {way.loop.name} runs in parallel, each thread behind the one before it along {way.along.name}"
            self.remark("passed", "parallel", text, way.loop.stmt)

    # -- tiles -------------------------------------------------------------------------------------

    def tile(self, full: bool) -> None:
        """Tile permutable innermost bands that reuse data."""
        done: set[str] = set()
        for names, steps in list(chains(self.p, lambda b: len(self._tilable(b)) == len(b.loops), self.machine)):
            if self.all_or_none(steps):
                done |= set(names)
                self.remark("passed", "rows", told.rows(steps), names[-1])
        for _, node in list(walk(self.p.tree)):
            found = around_recurrence(self.p, node, self.machine) if isinstance(node, Band) else None
            if found is not None and not done & set(statements(node)) and self.all_or_none(found.steps):
                done |= set(statements(node))
                assert isinstance(node, Band)
                lane, row = node.loops[-1].name, node.loops[-2].name
                text = f"{found.vector.times} vectors along loop {lane}, through loop {row} in registers"
                self.remark("passed", "vector", text, statements(node)[0])
                self.remark("analysis", "register-tile", found.tile.reason, statements(node)[0])
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
        size = min(sizes[0] for _, _, sizes in wanting)
        ref = LoopRef(shared.name, statements(band)[0])
        if not size or not self.all_or_none((Tile(((ref, size),)), Distribute(ref))):
            return set()
        for name, members, sizes in wanting:
            inner = tuple((LoopRef(lp.name, name), s) for lp, s in zip(members[1:], sizes[1:], strict=True))
            self.attempt(Tile(((LoopRef(shared.name, name), 0), *inner), full))
            text = ", ".join(f"{lp.name}:{s}" for lp, s in zip(members, (size, *sizes[1:]), strict=True) if s)
            self._tiled_remark(text, footprint(scop, [scop.statement(name)], members, sizes), name)
        return set(statements(band))

    def _tiled_remark(self, text: str, bytes_: int, stmt: str) -> None:
        self.remark(
            "passed",
            "tiled",
            f"tiled {text}; a tile touches about {bytes_ // 1024} KiB, to stay in the "
            f"second-level cache of {self.machine.name}",
            stmt,
        )

    def _wavefront(self, band: Band, names: tuple[str, ...]) -> bool:
        """No loop of the band is parallel, but tiles on a diagonal are: cut all loops, and let threads take rows of
        tiles in turn, each behind the one before it."""
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
        waits = self._waits(loops_[-1].name, names)
        sizes = tile_shape(size, len(loops_)) if waits or len(loops_) < 3 else whole_rows(len(loops_))
        if not any(self.all_or_none(steps) for steps in behind(loops_, names[0], sizes)):
            return False
        shape = " by ".join(str(n) if n else "all" for n in sizes)
        text = f"tiles of {shape}; threads take rows of them in turn, one behind the other"
        pays = waits and worth_rows(self.p, names, self.machine, SKEWED)
        rows = side_by_side(self.p.scop, loops_, names[0]) if pays else ()
        if any(self.all_or_none(steps) for steps in rows):
            text += f", {ROWS} rows of a tile side by side"
        self.remark("passed", "wavefront", text, names[0])
        return True

    def _waits(self, name: str, names: tuple[str, ...]) -> bool:
        """Does an iteration of the innermost loop use what the one before computes? If it only has to come before that
        is overwritten, compilers make vectors of it. advection-upwind: 0.58 of gcc with rows side by side."""
        place = next(q for q in loops(self.p.tree) if q.loop.name == name and names[0] in statements(q.band))
        flows = (d for d in self.p.deps.all if d.kind == "flow")
        return any(not is_zero(pending(self.p, d, place), place.loop.exprs) for d in flows)

    def _tile(self, band: Band, names: tuple[str, ...], full: bool) -> None:
        scop = self.p.scop
        stmts = [scop.statement(n) for n in names]
        around = enclosing(self.p.tree, names[0])
        members = self._tilable(band)
        if self._wavefront(band, names):
            return
        if len(members) == len(band.loops) and worth_strips(scop, stmts, around, band.loops):
            self._strips(members, names[0])
            return
        if len(members) < 2 or not worth_tiling(scop, stmts, around, band.loops):
            return
        members = bring_back(scop, stmts, around, members)
        sizes = tile_sizes(scop, stmts, members, self.machine)
        sizes = few_lines(scop, stmts, around, members, sizes, self.machine)
        ref = names[0]
        d = Tile(tuple((LoopRef(lp.name, ref), s) for lp, s in zip(members, sizes, strict=True)), full)
        if self.attempt(d):
            bytes_ = footprint(scop, stmts, members, sizes)
            text = ", ".join(f"{lp.name}:{s}" for lp, s in zip(members, sizes, strict=True) if s)
            self._tiled_remark(text, bytes_, ref)

    def _strips(self, members: Sequence[Loop], stmt: str) -> None:
        """Strips of the innermost loop, outermost: they run on threads."""
        refs = [LoopRef(lp.name, stmt) for lp in members]
        if self.attempt(Tile((*((r, 0) for r in refs[:-1]), (refs[-1], STRIP)))):
            text = f"strips of {STRIP} along loop {members[-1].name} stay in the first-level cache"
            self.remark("passed", "tiled", text, stmt)

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
            vectors = gathering(self.p, place.band, self.machine) if _is_innermost(place) else None
            if vectors is not None and self.all_or_none(on_threads(vectors)):
                self.remark("passed", "parallel", f"strips of loop {place.loop.name} run in parallel", names[0])
                continue
            for way in ways(self.p, place, self.machine):
                if self.all_or_none(way.steps):
                    self.remark("passed", "parallel", way.text, names[0])
                    if way.why:
                        self.remark("analysis", "thread-loop", way.why, names[0])
                    break

    def _few(self, place: Place, names: tuple[str, ...]) -> bool:
        """Is there too little to do for threads, whatever the parameters are?"""
        around = [enclosing(self.p.tree, n)[: len(place.names)] for n in names]
        fixed = [[stepped(lp, n) for lp in loops_] for n, loops_ in zip(names, around, strict=True)]
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
            if q.loop.kind in ON_THREADS and related:
                return True
        return False

    def _rows(self, band: Band) -> bool:
        """Is the innermost loop one over a few rows?"""
        around = enclosing(self.p.tree, statements(band)[0])
        return any(lp.of == band.loops[-1].name and 0 < lp.tile <= ROWS for lp in around)

    def _jumps(self, names: tuple[str, ...]) -> str:
        """An array that the innermost loop around these statements does not go through element by element, where it
        does so with none, or does not write so, unless others fill the gaps. Marked for vectors, compilers gather and
        scatter whatever that costs; by themselves they know better. lbm-d2q9: 0.57 of gcc marked, 1.00 unmarked;
        red-black-gs 0.74 and 1.0. haar-wavelet, which interleaves: 1.10 marked, 0.56 unmarked."""
        far, unit = "", False
        writes = [a.array for n in names for a in self.p.scop.statement(n).accesses if a.write]
        for name in names:
            s, around = self.p.scop.statement(name), enclosing(self.p.tree, name)
            apart = leaves_out(s)
            for a in s.accesses:
                m = usual_move(self.p.scop, s, a, around, len(around) - 1)
                rank = self.p.scop.arrays[a.array].rank
                lines = next_by_step(s, a) and not isinstance(s.rhs, Ref) if apart else m.unit
                alone = apart or writes.count(a.array) == 1
                if a.write and alone and rank and not m.still and not lines:
                    return a.array
                unit = unit or (bool(rank) and lines)
                far = far or ("" if m.still else a.array)
        return "" if unit else far

    def vectors(self) -> None:
        """Innermost loops that carry nothing are marked for the vectorizer."""
        for _, node in list(walk(self.p.tree)):
            if not isinstance(node, Band) or has_band(node.child) or node.product is not None:
                continue
            if node.loops[-1].kind == ABREAST or self._rows(node):
                continue
            names = statements(node)
            lp = node.loops[-1]
            if any(x.width for x in enclosing(self.p.tree, names[0])):
                continue
            if written_out(self.p.scop, lp, names):
                self._around(node)
                continue
            if any(isinstance(e, DataLoop) for n in names for e in walk_expr(self.p.scop.statement(n).rhs)):
                text = f"loop {lp.name} is left to the compiler: data decide how often a loop in it runs"
                self.remark("missed", "not-vector", text, names[0])
                continue
            ref = LoopRef(lp.name, names[0])
            gathered = gathering(self.p, node, self.machine)
            if gathered is not None and self.attempt(gathered):
                text = f"loop {lp.name} gathers in {gathered.times} vectors of {gathered.width} bytes side by side"
                self.remark("passed", "vector", text, names[0])
            elif (jumps := self._jumps(names)) and self._turns(node, names[0]):
                pass
            elif jumps and self.possible(Vector(ref)):
                text = f"loop {lp.name} is left to the compiler: it does not step through `{jumps}` element by element"
                self.remark("missed", "not-vector", text, names[0])
            elif self._again(node, names[0]):
                pass
            elif self.attempt(Vector(ref)):
                self.remark("passed", "vector", f"loop {lp.name} is marked for the vectorizer", names[0])
            elif not self._around(node):
                self.remark("missed", "not-vector", self.why, names[0], self._permission(names))
                self._carry(ref, names)

    def _permission(self, names: tuple[str, ...]) -> str:
        """What would free a loop whose order is only that of a floating-point sum or product."""
        if self.p.reassociate or not any(r.stmt in names and not r.exact for r in find_reductions(self.p.scop)):
            return ""
        return "--reassociate, or `#pragma tilewright reassociate` before the region, allows another order of the sum"

    def _around(self, node: Band) -> bool:
        """A loop around sequential ones in vectors; `why` stays what it was where there is none."""
        why, found = self.why, around_taps(self.p, node, self.machine)
        if found is None or not self.all_or_none(found.steps):
            self.why = why
            return False
        name = statements(node)[0]
        how = found.vector
        text = f"{how.times} vectors along loop {how.loop.name}, through the loops inside in registers"
        self.remark("passed", "vector", text, name)
        self.remark("analysis", "register-tile", found.tile.reason, name)
        return True

    def _carry(self, ref: LoopRef, names: tuple[str, ...]) -> None:
        """A loop that has to run in order keeps what its next iterations use again in registers, where values on their
        way through memory are what it waits for; not if that order is only about what is overwritten, which vectors of
        the compiler's do not mind."""
        if not self._waits(ref.name, names):
            return
        place = next(q for q in loops(self.p.tree) if q.loop.name == ref.name and names[0] in statements(q.band))
        gain = carry_gain(self.p, place, self.machine)
        if gain is not None and gain.pays and self.attempt(Carry(ref)):
            text = f"elements that iterations of {ref.name} use again stay in registers: {gain.text}"
            self.remark("passed", "carried", text, names[0])

    def _turns(self, node: Band, name: str) -> bool:
        """Vectors along the loop around, of rows turned in registers; `why` stays what it was where there are none."""
        why, found = self.why, across_rows(self.p, node, self.machine)
        if found is None or not self.attempt(found):
            self.why = why
            return False
        side = f"{found.times} vectors side by side along loop {found.loop.name}"
        text = f"{side}; what is read along {node.loops[-1].name} is turned in registers"
        self.remark("passed", "vector", text, name)
        return True

    def _again(self, node: Band, name: str) -> bool:
        again = over_again(self.p, node, self.machine)
        if again is None or not self.attempt(again):
            return False
        text = f"loop {again.loop.name} is written as vectors of {again.width} bytes, {again.times} at a time"
        self.remark("passed", "vector", text, name)
        return True


def _is_innermost(place: Place) -> bool:
    """Nothing but statements inside: below several sequential loops, starting threads here never pays."""
    return place.member == len(place.band.loops) - 1 and not has_band(place.band.child)


def _restrict(lp: Loop, names: tuple[str, ...]) -> Loop:
    return replace(lp, exprs={n: lp.exprs[n] for n in names})


def _local(relation: isl.UnionMap, lp: Loop, names: tuple[str, ...]) -> bool:
    own: dict[str, isl.PwAff] = {n: lp.exprs[n] for n in names}
    return is_zero(relation, own)
