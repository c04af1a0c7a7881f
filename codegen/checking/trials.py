"""Runs original and result on equal memory in a child process that may crash or hang, and compares what they leave,
with a tolerance where sums may be reassociated; returns how many test vectors agree, and the first failure."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from codegen.checking.harness.codes import Kind, Op
from codegen.checking.harness.interface import Harness
from codegen.checking.harness.layout import BufferLayout, MemoryLayout, last_row
from codegen.checking.harness.shared_object import Arena, Library, arena, open_library
from codegen.checking.show import element_text, value_text
from codegen.checking.test_sizes.survey import Survey, TestVector
from codegen.children.worker import Died, run_limited
from codegen.limits import MIB, LimitPassed, Limits
from codegen.record import record

THREADS = 3  # more than one, and no divisor of the sizes
WORK = (0.0, 1e300)  # nests with as much work run on threads: all of them, then none
TEAMS = (THREADS, 1)  # threads for these: results may have another way for few of them
BATCH = Limits(60.0 * THREADS, 4096 * MIB)  # processor time of all threads together
NOISE = 64.0  # how much further apart than nearly the same data reordered sums may be
TOLERANCE = {4: 1e-4, 8: 1e-9, 16: 1e-9}  # for reordered sums, by the bytes of the type


def batch_limits(reserves: bool) -> Limits:
    """What a run of all vectors may use; drivers that reserve addresses go beyond any limit on memory."""
    return replace(BATCH, memory=0) if reserves else BATCH


@record
class ComparedObjects:
    """Both shared objects, the numbers of the cases in them, and what a run of them may use. `versions` names those of
    functions in the result, from 1 on."""

    original: Path
    result: Path
    numbers: tuple[int, ...]
    limits: Limits = BATCH
    versions: tuple[str, ...] = ()

    def version(self, level: int) -> str:
        """In which version of functions something is wrong, for messages."""
        return f"the version for {self.versions[level - 1]}: " if level else ""


@record
class Trials:
    """How many vectors agree, and the first failure: what, at which vector, and the vectors not yet run.

    `skipped` counts vectors at which the source itself does not end well; `noisy` those, among the agreeing ones, at
    which sums in another order differ no more than sums of data with other last bits.
    """

    agreed: int
    skipped: int = 0
    failure: str = ""
    vector: TestVector | None = None
    rest: tuple[TestVector, ...] = ()
    noisy: int = 0

    def after(self, earlier: Trials) -> Trials:
        """Both runs together; this one came later."""
        return replace(
            self,
            agreed=self.agreed + earlier.agreed,
            skipped=self.skipped + earlier.skipped,
            noisy=self.noisy + earlier.noisy,
        )


def run_trials(h: Harness, pair: ComparedObjects, s: Survey, vectors: Sequence[TestVector], folder: Path) -> Trials:
    """Run vector after vector until one differs."""
    marker = folder / "at"
    todo = tuple(vectors)
    agreed = skipped = noisy = 0
    while todo:
        _mark(marker, 0, 0)
        try:
            done, failure, more = run_limited(functools.partial(_batch, h, pair, s, todo, marker), pair.limits)
            phase, crashed, noisy = 1, False, noisy + more
        except (Died, LimitPassed) as error:
            done, phase = (int(x) for x in marker.read_text().split())
            crashed = isinstance(error, Died)
            version = pair.version(phase - 1) if phase else ""
            failure = f"{version}the result {'crashes' if crashed else error}"
        agreed += done
        if done == len(todo):
            break
        if phase:
            return Trials(agreed, skipped, failure, todo[done], todo[done + 1 :], noisy)
        # The source may divide by one of its integers; without zeros it may get through.
        again = (replace(todo[done], seed=1),) if crashed and todo[done].seed == 0 else ()
        skipped += not again
        todo = again + todo[done + 1 :]
    return Trials(agreed, skipped, noisy=noisy)


def _batch(
    h: Harness, pair: ComparedObjects, s: Survey, vectors: Sequence[TestVector], marker: Path
) -> tuple[int, str, int]:
    """How many vectors agree, what is wrong with the next one, and how many agree up to noise only."""
    os.environ["OMP_WAIT_POLICY"] = "passive"
    original, result = open_library(pair.original, pair.numbers), open_library(pair.result, pair.numbers)
    for library in (original, result):
        library.lib.tw_threads(THREADS)
    noisy = 0
    for k, v in enumerate(vectors):
        _mark(marker, k, 0)
        layout = original.layout(h, v.ins)
        want = _filled(h, original, layout, v)
        original.call(h.number, Op.RUN, v.ins, want.args, original.ffi.NULL)
        for level, (least, team) in product(result.levels, zip(WORK, TEAMS, strict=True)):
            _mark(marker, k, 1 + level)
            result.lib.tw_levels_up_to(level)
            result.lib.tw_threads(team)
            result.lib.tw_threads_from(least)
            got = _filled(h, original, layout, v)
            result.call(h.number, Op.RUN, v.ins, result.ffi.cast("void **", got.args), result.ffi.NULL)
            outside = got.damaged()
            if outside is not None and want.damaged() is None:
                where = h.memory.buffers[outside].base
                return k, f"{pair.version(level)}the result writes outside `{where}`", noisy
            case = Trial(h, original, layout, s, v)
            message = compare(case, want, got)
            if message and s.reassociate:
                nudged = _nudged(h, original, layout, v)
                message, noisy = compare(case, want, got, nudged), noisy + 1
            if message:
                return k, pair.version(level) + message, noisy
    return len(vectors), "", noisy


def _mark(marker: Path, vector: int, phase: int) -> None:
    """Leave word of what runs now: phase 0 is the original, 1 the result, 2 and more are versions of it."""
    marker.write_text(f"{vector} {phase}")


def _filled(h: Harness, original: Library, layout: MemoryLayout, v: TestVector) -> Arena:
    """Fresh memory with the vector's data."""
    memory = arena(original.ffi, v.sizes, _overlap(h, layout, v))
    original.call(h.number, Op.FILL, v.ins, memory.args, original.ffi.new("long *", v.seed))
    return memory


def _overlap(h: Harness, layout: MemoryLayout, v: TestVector) -> tuple[int, int, int] | None:
    """Of two buffers, how many bytes the second begins after the first."""
    if v.overlap is None:
        return None
    one, two, shift = v.overlap
    rows = [last_row(h.memory.buffers[k], layout.buffers[k]) if v.last_row else 0 for k in (one, two)]
    return one, two, (shift + (rows[0] or -rows[1])) * layout.buffers[one].size


def _nudged(h: Harness, original: Library, layout: MemoryLayout, v: TestVector) -> Arena:
    """What the original makes of data that differ in their last bits: where that changes much, rounding rules."""
    memory = _filled(h, original, layout, v)
    for k, have in enumerate(layout.buffers):
        for numbers in have.leaves:
            original.nudge(memory.starts[k], have, numbers)
    original.call(h.number, Op.RUN, v.ins, memory.args, original.ffi.NULL)
    return memory


@record
class Trial:
    """A region at one vector of sizes: how it is called, and how its memory is laid out then."""

    harness: Harness
    library: Library
    layout: MemoryLayout
    survey: Survey
    vector: TestVector


def compare(case: Trial, a: Arena, b: Arena, near: Arena | None = None) -> str:
    """The first difference. Results as far apart as those of nearly the same data, in `near`, are alike."""
    h, library, layout, s, v = case.harness, case.library, case.layout, case.survey, case.vector
    for k, (buffer, have) in enumerate(zip(h.memory.buffers, layout.buffers, strict=True)):
        if s.forgets(buffer.base, buffer.how == "value"):
            continue
        for leaf, numbers in zip(h.leaves[k], have.leaves, strict=True):
            slack = 0.0 if near is None else NOISE * library.spread(a.starts[k], near.starts[k], have, numbers)
            tolerance = _tolerance(numbers) if s.reassociate else 0.0
            at = library.differs(a.starts[k], b.starts[k], have, numbers, tolerance, slack)
            if at >= 0:
                place = element_text(buffer, leaf, have.dims, numbers[2], at, v.ins[h.slot(k)])
                want, got = (value_text(_bytes(x, k, have, numbers, at), numbers[3]) for x in (a, b))
                return f"{place} is {got} and should be {want}"
    return ""


def _tolerance(leaf: Sequence[int]) -> float:
    size = leaf[1] // 2 if leaf[3] == Kind.COMPLEX else leaf[1]
    return TOLERANCE.get(size, 0.0)


def _bytes(x: Arena, k: int, have: BufferLayout, leaf: Sequence[int], at: int) -> bytes:
    """The bytes of one scalar."""
    offset, size, count, _ = leaf
    start = at // count * have.size + offset + at % count * size
    return bytes(x.ffi.buffer(x.starts[k] + start, size))
