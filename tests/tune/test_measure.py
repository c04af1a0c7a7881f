"""Measuring: figures are plausible, failures are no figures, and what is known is not measured again."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from codegen.isa.load import load
from codegen.lower.nest.kernel import Options
from codegen.tune.contraction import matmul
from codegen.tune.measure import measurer as measurer_module
from codegen.tune.measure import texts, tree_compiler
from codegen.tune.measure.cache import MeasuredTree, MeasurementCache
from codegen.tune.measure.clock import Effort, Figure
from codegen.tune.measure.measurer import Measurer
from codegen.tune.timing import Timing, TooShort, timing
from codegen.tune.tree import Tree, key, parse, start

PROBLEM = matmul(32, 32, 32)
QUICK = Effort(seconds=0.003, busy=True, limit=0.5)
GOOD = parse("i8 j2 k32 i4 j16", PROBLEM)


@pytest.fixture(scope="module")
def measurer() -> Iterator[Measurer]:
    with Measurer(flags="-O1", effort=QUICK, jobs=1) as made:
        yield made


def test_figures_lie_below_the_peak(measurer: Measurer) -> None:
    slow, fast = measurer([start(PROBLEM), GOOD])
    assert slow is not None and fast is not None
    assert 0 < slow < 1.3 * measurer.peak()
    assert 0 < fast < 1.3 * measurer.peak()
    assert measurer.peak("f64") < 0.75 * measurer.peak()


@pytest.mark.parametrize("isa", ["neon", "avx2", "avx512"])
def test_accumulators_of_the_peak_begin_apart(isa: str) -> None:
    """Compilers make one of those that are always equal, and the peak would be several times too high."""
    begins = re.findall(r"\bc\d+ = ([^;]*load[^;]*|vld1q[^;]*);", tree_compiler.clock_text(load(isa))[1])
    kernels = 2 * (load(isa).registers - 4)
    assert len(begins) == kernels
    assert len(set(begins)) == kernels


def test_nothing_is_measured_twice(measurer: Measurer) -> None:
    measurer([GOOD])
    before = measurer.measured
    moved = GOOD._replace(cursor=2)
    assert measurer([GOOD, moved]) == [measurer.cache.known[key(GOOD)].gflops] * 2
    assert measurer.measured == before


def test_winner_and_default_in_turns(measurer: Measurer) -> None:
    found = measurer.confirm(GOOD, seconds=0.02)
    assert found.ratio == found.default.timing.best / found.winner.timing.best
    assert found.winner.timing.runs >= 30


@pytest.mark.parametrize("disturbed", ["noise", "pace"])
def test_what_was_disturbed_is_timed_again(disturbed: str, measurer: Measurer, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the thread is interrupted, or the processor runs below its pace; at most twice more."""
    peak, calls = measurer.peak(), list[int]()

    def once(*_: object) -> tuple[list[Figure], float]:
        calls.append(1)
        bad = len(calls) == 1
        figure = Figure(Timing(2.0 if bad else 1.0, 2.0, 0.1, 9), bad and disturbed == "noise")
        return [figure], peak * (0.5 if bad and disturbed == "pace" else 1.0)

    monkeypatch.setattr(measurer_module, "alone", lambda work, seconds: work())
    monkeypatch.setattr(measurer, "_once", once)
    fresh = {"noise": "j4 i32 k32 j8", "pace": "j2 i32 k32 j16"}[disturbed]
    (found,) = measurer.figures([parse(fresh, PROBLEM)])
    assert len(calls) == 2 and not found.noisy
    assert found.timing is not None and found.timing.best == 1.0


def test_a_failure_is_no_figure_and_takes_nobody_along(measurer: Measurer, monkeypatch: pytest.MonkeyPatch) -> None:
    crash, hang, broken = (parse(x, PROBLEM) for x in ("k32 i32 j32", "k32 j32 i32", "j32 i32 k32"))
    fine = parse("i32 j2 k32 j16", PROBLEM)
    endless = 'for (;;) __asm__ volatile("");'
    bodies = {key(crash): "__builtin_trap();", key(hang): endless, key(broken): "no such thing;"}

    def bad(tree, isa, name, options):  # type: ignore[no-untyped-def]
        body = bodies.get(key(tree))
        return f"void {name}(void) {{ {body} }}\n" if body else texts.c_for(tree, isa, name, options)

    monkeypatch.setattr(tree_compiler, "c_for", bad)
    found = measurer.figures([crash, fine, hang, broken])
    assert [m.gflops is None for m in found] == [True, False, True, True]
    assert found[0].why == "Died"
    assert found[2].why == "TimedOut"
    assert "does not compile" in found[3].why


def test_a_tree_without_code_is_left_out_of_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would not compile, and all others would have to be compiled one by one."""
    judged: list[int] = []
    with Measurer(flags="-O1", options=Options(reassociate=False), effort=QUICK, jobs=1) as bench:

        def timed(batch: list[Tree], path: Path) -> list[Figure]:
            judged.append(len(batch))
            return [Figure(Timing(1.0, 1.0, 0.0, 3), False) for _ in batch]

        monkeypatch.setattr(bench, "_timed", timed)
        found = bench.figures([GOOD, parse("i32 j32 k32", PROBLEM), start(PROBLEM)])
    assert [m.gflops is None for m in found] == [False, True, False]
    assert "another order" in found[1].why and judged == [2]


def test_a_tree_faster_than_the_machine_has_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    with Measurer(flags="-O1", effort=QUICK, jobs=1) as bench:
        at_once = Figure(Timing(1e-12, 1e-12, 0.0, 3), False)
        monkeypatch.setattr(bench, "_timed", lambda batch, _: [at_once] * len(batch))
        monkeypatch.setattr(bench, "peak", lambda _: 100.0)
        (found,) = bench.figures([GOOD])
    assert found.gflops is None and "too busy" in found.why


def test_the_cache_is_text_that_is_added_to(tmp_path: Path) -> None:
    path = str(tmp_path / "trees.jsonl")
    one, two = MeasurementCache("here", path), MeasurementCache("here", path)
    one.add("a", MeasuredTree(3.5, Timing(1.0, 2.0, 0.5, 9)))
    two.add("b", MeasuredTree(None, why="Died"))
    two.add("c", MeasuredTree(9.0, Timing(1.0, 2.0, 0.5, 9), noisy=True))
    with open(path, "a") as stream:
        stream.write('{"format": 1, "tree_format": "tree-1", "setting": "he')
    known = MeasurementCache("here", path).known
    assert known == {"a": MeasuredTree(3.5, Timing(1.0, 2.0, 0.5, 9)), "b": MeasuredTree(None, why="Died")}
    assert MeasurementCache("elsewhere", path).known == {}
    assert [json.loads(x)["ok"] for x in Path(path).read_text().splitlines()[:2]] == [True, False]


def test_figures_depend_on_all_that_makes_the_code() -> None:
    names = {"/".join(f.parts[-2:]) for f in tree_compiler._sources()}
    assert {"nest/schedule.py", "nest/build.py", "print/printer.py", "isa/load.py", "data/avx2.toml"} <= names


def test_a_clock_that_stands_still_is_right_on_the_mean() -> None:
    taken = timing([0.0, 0.01, 0.0, 0.0] * 20)
    assert taken.best == taken.median == pytest.approx(0.0025)
    for few in ([0.0, 0.01, 0.0, 0.0], [0.0, 0.0]):
        with pytest.raises(TooShort):
            timing(few)
