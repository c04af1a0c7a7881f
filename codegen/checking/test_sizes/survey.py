"""Chooses the test vectors of a region (sizes and bytes of its buffers): only those at which the source stays inside
its arrays, within limits of work and memory, with extra ones for generated statements that the others do not reach."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.checking.harness.interface import Harness
from codegen.checking.harness.layout import MemoryLayout
from codegen.checking.harness.paths import Path
from codegen.checking.harness.shared_object import Library
from codegen.checking.test_sizes.candidates import SizeGroup, groups, spread
from codegen.checking.test_sizes.coverage import least, pieces, reached, small_values
from codegen.checking.test_sizes.ranges import Ranges, fixed, ranges_of, stride_value
from codegen.diagnostics import Unsupported
from codegen.record import record
from codegen.region_model import Modelled
from codegen.scop.model import Scop
from codegen.scop.product import Exact

WORK = 20_000_000  # statement instances of one run; about 0.1 s
TOTAL_WORK = 50_000_000
SPECIAL_WORK = 80_000_000  # the same for vectors that reach what no other reaches
TOTAL_SPECIAL_WORK = 200_000_000
BYTES = 1 << 25
FIXED_WORK = 2_000_000_000  # the same for regions whose sizes are fixed and beyond these limits; some seconds
FIXED_BYTES = 1 << 30
DOUBTFUL = 4  # vectors for which the source must prove itself under sanitizers first


@record
class RunLimits:
    """What one run may take: statement instances, and bytes of memory."""

    work: int = WORK
    bytes: int = BYTES


USUAL = RunLimits()


@record
class TestVector:
    """One run. `ints` are the integers, `ins` everything the case is told, `sizes` the bytes of the buffers.

    `doubtful`: the model does not describe the source at these sizes, so it may do anything; `special`: chosen to
    reach a statement of the result that the others do not; `overlap`: of two buffers, the second begins so many
    elements after the first, or after its `last_row` where it holds several.
    """

    ints: tuple[int, ...]
    ins: tuple[int, ...]
    sizes: tuple[int, ...]
    work: int
    doubtful: bool
    special: bool = False
    seed: int = 0
    overlap: tuple[int, int, int] | None = None
    last_row: bool = False


@record
class Survey:
    """What to run. `observed` are the variables whose values someone may look at after the region, `own` those that
    became its own.

    `statements` counts those of the printed code, `reached` those that run at one of the vectors.
    """

    vectors: tuple[TestVector, ...]
    observed: frozenset[str]
    own: frozenset[str]
    reassociate: bool
    statements: int
    reached: int
    overlapping: tuple[TestVector, ...] = ()  # more to run, with arrays that share memory

    def forgets(self, name: str, scalar: bool) -> bool:
        """Can nobody look at a variable any more? Scalars that the model does not have are iterators."""
        return name in self.own or (scalar and name not in self.observed)


def survey(h: Harness, model: Modelled, plan: str, library: Library) -> Survey:
    """Find the vectors. Raises Unsupported when the extent of an array cannot be found."""
    scop = model.program.scop
    ranges = ranges_of(scop)
    _require_known(h, ranges)
    chooser = _Chooser(h, ranges, library, model.kept)
    vectors = [*chooser.choose(groups(h.memory.ints, _tiles(plan), chooser.constant_sizes())), *chooser.exact(plan)]
    if h.memory.ints and not any(v.work and not v.doubtful for v in vectors):
        vectors += (v for v in chooser.choose((spread(h.memory.ints),)) if not v.doubtful)
    if not any(v.work for v in vectors):
        vectors += chooser.fixed()
    if not any(v.work for v in vectors):
        chooser.require_sizes()
    parts = pieces(model, plan)
    missed = spent = 0
    for piece in parts:
        if not any(chooser.reaches(piece, v) for v in vectors):
            special = chooser.reaching(piece)
            if special is None or spent + special.work > TOTAL_SPECIAL_WORK:
                missed += 1
            else:
                vectors.append(special)
                spent += special.work
    return Survey(tuple(vectors), *lookers(scop), model.program.reassociate, len(parts), len(parts) - missed)


def lookers(scop: Scop) -> tuple[frozenset[str], frozenset[str]]:
    """Variables that are observed, and those that have become the region's own."""
    seen = frozenset(a.base for a in scop.arrays.values() if not a.inside)
    return seen, frozenset(a.base for a in scop.arrays.values() if a.inside) - seen


def vector_at(
    h: Harness, model: Modelled, library: Library, wanted: tuple[int, ...], limits: RunLimits
) -> TestVector | None:
    """The run with these integers; None when the source would leave its arrays, or it is beyond the limits."""
    ranges = ranges_of(model.program.scop)
    _require_known(h, ranges)
    return _Chooser(h, ranges, library, model.kept).vector(wanted, limits)


def _tiles(plan: str) -> list[int]:
    """The sizes in a plan's `tile` lines."""
    lines = [line.split() for line in plan.splitlines()]
    found = {int(size) for words in lines if words[:1] == ["tile"] for size in re.findall(r":(\d+)", " ".join(words))}
    return sorted(s for s in found if s > 1)


def _exact_sizes(plan: str) -> Iterator[tuple[str, dict[str, int]]]:
    """The statements of a plan's nests, and the sizes that these cover."""
    stmt = ""
    for line in plan.splitlines():
        words, (_, found, nest) = line.split(), line.partition(" nest ")
        stmt = words[1] if words[:1] == ["product"] else stmt
        if found:
            loops = re.findall(r"(\w+):(\d+)(?: \+ (\d+))?", nest)
            yield stmt, Exact(tuple((name, int(size), int(rest or 0), "") for name, size, rest in loops)).sizes


def extents(box: isl.Set) -> dict[str, int]:
    """How often each loop of a domain runs; nothing when it does not run."""
    if box.is_empty():
        return {}
    dims = range(box.dim(isl.dim_type.set))
    ends = [(box.dim_min_val(k), box.dim_max_val(k)) for k in dims]
    sizes = [int(high.sub(low).to_python()) + 1 for low, high in ends]
    return {str(box.get_dim_name(isl.dim_type.set, k)): n for k, n in zip(dims, sizes, strict=True)}


def _require_known(h: Harness, ranges: Ranges) -> None:
    """Every pointer that is followed at all needs indices that the model knows."""
    known = ranges.known
    used = {a.base for a in ranges.scop.arrays.values()}
    twice = {o.source for o in h.site.own if not o.end} & {b.base for b in h.memory.buffers}
    if twice:
        raise Unsupported("unknown-size", f"`{min(twice)}` is used as elements and as their bytes", h.site.loc)
    for b in h.memory.buffers:
        if b.rows is None and not b.of_structs and b.base in used and (b.base, b.path) not in known:
            raise Unsupported("unknown-size", f"how much memory `{b.base}` needs is not known", h.site.loc)


@record
class _Chooser:
    h: Harness
    ranges: Ranges
    library: Library
    kept: Mapping[str, int]  # parameters that are macros

    def choose(self, candidates: Sequence[SizeGroup]) -> Iterator[TestVector]:
        """Vectors of all kinds; where small sizes are ruled out by assumption, they count from the smallest allowed."""
        start = least(self.ranges.scop.guard.valid, self.ranges.scop)
        origin = [start.get(i.text, max(start.values(), default=0)) for i in self.h.memory.ints]
        seen: set[tuple[int, ...]] = set()
        spent = doubtful = 0
        for group in candidates:
            left = group.quota
            for ints in itertools.islice(group.candidates, group.tries):
                if left == 0:
                    break
                vector = self.vector(tuple(o + v for o, v in zip(origin, ints, strict=True)))
                if vector is None or vector.ints in seen or spent + vector.work > TOTAL_WORK:
                    continue
                if vector.doubtful and doubtful == DOUBTFUL:
                    continue
                seen.add(vector.ints)
                left, spent, doubtful = left - 1, spent + vector.work, doubtful + vector.doubtful
                yield vector

    def fixed(self) -> Iterator[TestVector]:
        """The smallest runs of a region whose arrays or loops have fixed sizes, which are beyond the usual limits."""
        seen: set[tuple[int, ...]] = set()
        spent = 0
        for size in (1, 2, 3, 5, 8):
            vector = self.vector((size,) * len(self.h.memory.ints), RunLimits(FIXED_WORK - spent, FIXED_BYTES))
            if vector is not None and vector.work and not vector.doubtful and vector.ints not in seen:
                seen.add(vector.ints)
                spent += vector.work
                yield vector

    def require_sizes(self) -> None:
        """Raises Unsupported where data decide how much memory is needed, whatever the integers are."""
        for size in (1, 2, 3, 5, 8):
            first = self._layout((size,) * len(self.h.memory.ints))
            if first.defined:
                self.ranges.span(self._values(first.ints))

    def exact(self, plan: str) -> Iterator[TestVector]:
        """Vectors at which a product has the sizes that the plan gives loops of its own."""
        for stmt, sizes in _exact_sizes(plan):
            domain = next((s.domain for s in self.ranges.scop.statements if s.name == stmt), None)
            count = len(self.h.memory.ints)
            if domain is None or not 0 < count <= 4:
                continue
            for ints in itertools.product(sorted(set(sizes.values())), repeat=count):
                box = fixed(domain, self.ranges.scop, self._values(ints))
                here = extents(box)
                vector = self.vector(ints, RunLimits(SPECIAL_WORK)) if {**here, **sizes} == here else None
                if vector is not None and not vector.doubtful:
                    yield replace(vector, special=True)

    def reaches(self, piece: isl.Set, v: TestVector) -> bool:
        return not v.doubtful and reached(piece, self.ranges.scop, self._values(v.ints))

    def reaching(self, piece: isl.Set) -> TestVector | None:
        """A vector at which a statement runs; array sizes that are no parameters are made large enough."""
        for values in small_values(piece, self.ranges.scop):
            large = max([*values.values(), 1])
            for other in (large, 2 * large + 1):
                ints = tuple(values.get(i.text, other) for i in self.h.memory.ints)
                vector = self.vector(ints, RunLimits(SPECIAL_WORK))
                if vector is not None and self.reaches(piece, vector):
                    return replace(vector, special=True)
        return None

    def _values(self, ints: tuple[int, ...]) -> dict[str, int]:
        """The parameters, by their C texts."""
        values = {**self.kept, **dict(zip((i.text for i in self.h.memory.ints), ints, strict=True))}
        if self.h.computed:
            values.update(zip((d.name for d in self.h.computed), self._layout(ints).computed, strict=True))
        return values

    def constant_sizes(self) -> list[int]:
        """Declared sizes that do not depend on the integers."""
        one, two = (self._layout((v,) * len(self.h.memory.ints)).levels for v in (1, 2))
        return sorted({a for a, b in zip(one, two, strict=True) if a == b and 1 < a <= 1024})

    def _layout(self, ints: tuple[int, ...], slots: Sequence[int] = ()) -> MemoryLayout:
        return self.library.layout(self.h, [*ints, *(slots or [0] * (3 * len(self.h.memory.buffers)))])

    def vector(self, wanted: tuple[int, ...], limits: RunLimits = USUAL) -> TestVector | None:
        """The run with these integers; None when it would be too large, the source would leave its arrays, or
        their sizes are not known."""
        if any(v < 0 for v, i in zip(wanted, self.h.memory.ints, strict=True) if i.extent):
            return None
        first = self._layout(wanted)
        if not first.defined:
            return None
        values = self._values(first.ints)
        allowed = self.ranges.allowed(values)
        if not allowed and not self.ranges.scop.guard.reasons:
            return None
        try:
            span = self.ranges.span(values)
        except Unsupported:  # with other integers it may be: a subscript `i / n` has bounds where n is not 0
            return None
        work = self.ranges.work(values)
        if work > limits.work or not self._inside(span, first):
            return None
        slots = self._slots(span, values)
        full = self._layout(first.ints, slots)
        if full.bytes > limits.bytes:
            return None
        return TestVector(first.ints, (*first.ints, *slots), tuple(b.bytes for b in full.buffers), work, not allowed)

    def _inside(self, span: dict[tuple[str, Path], tuple[int, int]], layout: MemoryLayout) -> bool:
        for level, size in zip(self.h.memory.levels, layout.levels, strict=True):
            low, high = span.get((level.base, level.path), (0, -1))
            if low < 0 or high >= max(size, 0):
                return False
        return True

    def _slots(self, span: dict[tuple[str, Path], tuple[int, int]], values: dict[str, int]) -> list[int]:
        """First index, count and row length of every buffer, where accesses tell them."""
        out: list[int] = []
        for b in self.h.memory.buffers:
            low, high = span.get((b.base, b.path), (0, -1)) if b.rows is None else (0, -1)
            first = min(low, 0)
            rows = [
                stride_value(t.strides[-2], values)
                for t in self.ranges.touches
                if (t.base, t.path) == (b.base, b.path) and len(t.strides) > 1
            ]
            out += [first, max(high - first + 1, int(b.of_structs)), max(rows, default=0)]
        return out
