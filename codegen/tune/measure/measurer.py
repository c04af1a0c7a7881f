"""Measures the speed of loop trees on this machine: compiled in batches, timed in a child while the next batch is
compiled."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from codegen.isa.model import Isa
from codegen.lower.nest.kernel import ADDED, Options, check
from codegen.lower.nest.schedule import CannotEmit, schedule
from codegen.machine.believable import BUSY, SLACK
from codegen.machine.detect import detect
from codegen.record import record
from codegen.tune.build import FLAGS, Failed
from codegen.tune.children import Children, alone
from codegen.tune.contraction import Contraction
from codegen.tune.measure.cache import MeasuredTree, MeasurementCache
from codegen.tune.measure.clock import Effort, Figure, figures, peak
from codegen.tune.measure.tree_compiler import open_tree_compiler, peak_flops
from codegen.tune.native import native_isa
from codegen.tune.timing import cores
from codegen.tune.tree import Tree, key, start

BATCH = 16  # functions in a compilation: the compiler's start and its headers cost as much as three of them
AGAIN = 2  # further attempts at a figure that was disturbed
DRIFT = 0.93  # of the peak: below it, the processor has slowed down or is shared, and the batch is timed again


@record
class Confirmed:
    """Winner and default, timed in turns. `ratio` is how many times faster the winner is."""

    winner: Figure
    default: Figure
    ratio: float


class Measurer:
    """A value of trees: GFLOPS, measured. Use it in a `with`, or call `close`."""

    def __init__(
        self, isa: Isa | None = None, flags: str = FLAGS, options: Options = ADDED, effort: Effort | None = None,
        cache: str = "", jobs: int = 0,
    ) -> None:  # fmt: skip
        self._temporary = tempfile.TemporaryDirectory(prefix="tilewright-")
        self.effort = effort or Effort()
        flags = f"{flags} -fopenmp" if self.effort.threads > 1 else flags
        self.compiler = open_tree_compiler(Path(self._temporary.name), isa or native_isa(), flags, options)
        clock = "processor" if self.effort.busy else "wall"
        clock += f" | {self.effort.threads} threads" if self.effort.threads > 1 else ""
        self.cache = MeasurementCache(f"{detect().machine.description} | {self.compiler.setting} | {clock}", cache)
        self.jobs = jobs or cores()
        self._peaks: dict[str, float] = {}
        self._count = 0
        self.measured = 0

    def __enter__(self) -> Measurer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._temporary.cleanup()

    def peak(self, elem: str = "f32", seconds: float = 0.3) -> float:
        """GFLOPS of multiply-adds that need nothing but registers; measured once."""
        if elem not in self._peaks:
            path = self.compiler.compile([], "peak")
            best = alone(lambda: peak(path, elem, seconds, self.effort.busy), 60.0)
            self._peaks[elem] = peak_flops(self.compiler.isa, elem) / best / 1e9
        return self._peaks[elem]

    def __call__(self, trees: Sequence[Tree]) -> list[float | None]:
        """A value for a search: greater is better, None is a failure."""
        return [m.gflops for m in self.figures(trees)]

    def figures(self, trees: Sequence[Tree]) -> list[MeasuredTree]:
        """A figure or a failure for each tree; what is known is not measured again."""
        new = list({key(t): t for t in trees if key(t) not in self.cache.known}.values())
        for problem in dict.fromkeys(t.problem for t in new):
            self._measure([t for t in new if t.problem == problem])
        return [self.cache.known[key(t)] for t in trees]

    def confirm(self, winner: Tree, default: Tree | None = None, seconds: float = 0.5) -> Confirmed:
        """Both in one process, in turns, longer than in a search."""
        other = default or start(winner.problem)
        path = self.compiler.compile([winner, other], self._name())
        effort = Effort(seconds, self.effort.busy, rounds=10)
        names = ["tree_0", "tree_1"]
        found = alone(lambda: figures(path, winner.problem, names, effort), 60.0 + 10 * seconds)
        return Confirmed(found[0], found[1], found[1].timing.best / found[0].timing.best)

    def _measure(self, trees: list[Tree]) -> None:
        """Compile in children, as many as there are cores; time what is ready, one batch at a time."""
        trees = [t for t in trees if self._possible(t)]
        count = max(-(-len(trees) // BATCH), min(self.jobs, len(trees)))  # enough for all processors
        batches = [trees[n::count] for n in range(count)]
        compilers, ready = Children(self.jobs), list[tuple[int, object]]()
        waiting = list(range(len(batches)))
        try:
            while waiting or compilers.busy or ready:
                while waiting and compilers.free:
                    n = waiting.pop(0)
                    name, batch = self._name(), batches[n]
                    compilers.start(n, lambda b=batch, w=name: self.compiler.compile(b, w), 120.0)  # type: ignore[misc]
                if ready:
                    n, made = ready.pop(0)
                    compilers.hold(cores() - self.effort.threads)
                    self._judge(batches[n], made)
                    compilers.release()
                elif compilers.busy:
                    ready += [(int(str(k)), made) for k, made in compilers.wait()]
        finally:
            compilers.stop()

    def _possible(self, tree: Tree) -> bool:
        """Whether there is code for a tree; one without would take its batch along."""
        try:
            check(schedule(tree, self.compiler.isa), self.compiler.options)
        except CannotEmit as error:
            self.cache.add(key(tree), MeasuredTree(None, why=_why(error)))
            return False
        return True

    def _judge(self, batch: list[Tree], made: object) -> None:
        """Time a batch. Where it failed as a whole, tree by tree, so that one does not take the others along."""
        result: object = self._timed(batch, made) if isinstance(made, Path) else made
        if isinstance(result, list):
            for tree, figure in zip(batch, result, strict=True):
                self._keep(tree, figure)
        elif len(batch) == 1:
            self.cache.add(key(batch[0]), MeasuredTree(None, why=_why(result)))
        else:
            for tree in batch:
                self._judge([tree], self._compiled(tree))

    def _compiled(self, tree: Tree) -> object:
        try:
            return self.compiler.compile([tree], self._name())
        except (Failed, CannotEmit) as error:
            return error

    def _timed(self, batch: list[Tree], path: Path) -> object:
        """Figures of a batch, timed again while something disturbs them; or what went wrong."""
        names = [f"tree_{n}" for n in range(len(batch))]
        problem, effort = batch[0].problem, self.effort
        limit = effort.limit + len(batch) * (30 * effort.seconds + problem.flops / 2e7)
        best: list[Figure] = []
        for _ in range(1 + AGAIN):
            try:
                found, speed = alone(lambda: self._once(path, problem, names, effort), limit)
            except Exception as error:
                return error
            best = [min(x, y, key=_order) for x, y in zip(best, found, strict=True)] if best else found
            if not any(f.noisy for f in best) and speed >= DRIFT * self.peak(problem.elem):
                break
        path.unlink(missing_ok=True)
        return best

    def _once(
        self, path: Path, problem: Contraction, names: list[str], effort: Effort
    ) -> tuple[list[Figure], float]:
        """Figures, and the peak at that time."""
        found = figures(path, problem, names, effort)
        best = peak(path, problem.elem, 0.002, effort.busy)
        return found, peak_flops(self.compiler.isa, problem.elem) / best / 1e9

    def _keep(self, tree: Tree, figure: Figure) -> None:
        speed = tree.problem.flops / figure.timing.best / 1e9
        self.measured += 1
        believed = speed <= SLACK * self.peak(tree.problem.elem) * self.effort.threads
        found = MeasuredTree(speed, figure.timing, figure.noisy) if believed else MeasuredTree(None, why=BUSY)
        self.cache.add(key(tree), found)

    def _name(self) -> str:
        self._count += 1
        return f"batch{self._count}"


def _order(figure: Figure) -> tuple[bool, float]:
    return figure.noisy, figure.timing.best


def _why(error: object) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
