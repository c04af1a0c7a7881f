"""The run-and-compare check: it passes what is right, and finds what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import region
from codegen.checking import trials as check_trials
from codegen.cli.main import main
from codegen.options import GenOptions
from codegen.region import RegionOutcome
from tests.run import sources
from tests.run.sources import run

Plant = Callable[..., None]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """plant(old, new): generated text has `new` in place of its first `old`, or of its last one."""
    real = region.process_region

    def go(old: str, new: str, last: bool = False) -> None:
        def wrong(*args: object) -> RegionOutcome:
            made = real(*args)  # type: ignore[arg-type]
            assert made.text is not None and old in made.text, made.text
            begin = made.text.rindex(old) if last else made.text.index(old)
            return replace(made, text=made.text[:begin] + new + made.text[begin + len(old) :])

        monkeypatch.setattr(region, "process_region", wrong)

    return go


def test_agrees() -> None:
    """All of them as one file, which is compiled once."""
    texts = {name: re.sub(r"\bscale\(", f"scale_{name}(", text) for name, text in sorted(sources.ALL.items())}
    report = run("".join(texts.values()))
    assert report.ok, report.lines
    for name, line in zip(texts, report.lines, strict=True):
        assert "agree" in line and "under sanitizers" in line, (name, line)
        assert re.search(r"(\d+) of \1 statements? run", line), (name, line)
        assert "itself" not in line, (name, line)


def test_a_check_in_which_nothing_runs_is_no_success() -> None:
    report = run(sources.COPY.replace("a[j]", "a[j + n]"))
    assert not report.ok and "nothing was compared: at the sizes at which" in report.lines[0], report.lines


LARGE = """#ifndef N
#define N 2200
#endif
static double a[N][N];
void fixed(void)
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = a[i][j] + 1;
#pragma endscop
}
"""


def test_fixed_sizes_that_are_large(plant: Plant) -> None:
    """They are run as they are, once, up to a limit that leaves a way out."""
    report = run(LARGE)
    assert report.ok and "1 size vector agrees" in report.lines[0], report.lines
    report = run(LARGE.replace("2200", "12000"))
    assert not report.ok and "no sizes were found" in report.lines[0] and "-DN=100 makes them small" in report.lines[0]
    plant("a[i][j] + 1", "a[i][j] + 2")
    report = run(LARGE)
    assert not report.ok and "a[0][0] is " in report.lines[0], report.lines


@pytest.mark.parametrize("last", [False, True])
def test_the_forms_for_threads_and_for_little_work_run_both(last: bool, plant: Plant) -> None:
    plant("b[i][j] = a[j]", "b[i][j] = a[j] + 1", last)
    report = run(sources.COPY.replace("double a[n]", "double a[restrict n]"))  # no fallback for arrays that overlap
    assert not report.ok and report.lines[0].startswith("region 1 (copy, line 4): b[0][0] is "), report.lines


def test_a_lost_iteration_is_found(plant: Plant) -> None:
    plant("tw_index j = 0; j < n;", "tw_index j = 0; j < n - 1;")
    report = run(sources.COPY)
    assert not report.ok
    assert report.lines[0].startswith("region 1 (copy, line 4): b[0][0] is ")
    assert report.lines[0].endswith(", at n = 1")


def test_a_wrong_remainder_is_found_at_the_sizes_that_reach_it(plant: Plant) -> None:
    plant("b[i][j] = a[j]", "b[i][j] = a[j] + (i == 4 && j == 6 ? 1e-12 : 0)")
    report = run(sources.COPY)
    assert not report.ok and "b[4][6] is " in report.lines[0] and "at n = 7" in report.lines[0]


def test_a_read_outside_is_found_by_the_sanitizers_alone(plant: Plant) -> None:
    plant("b[i][j] = a[j]", "b[i][j] = a[j] + (a[j + (j == n - 1)] > 1e300 ? 1 : 0)")
    report = run(sources.COPY)
    assert not report.ok
    assert "under sanitizers: AddressSanitizer: heap-buffer-overflow, READ of size 8, at n = " in report.lines[0]


def test_a_new_overflow_is_found_by_the_sanitizers(plant: Plant) -> None:
    plant("b[i][j] = a[j]", "b[i][j] = a[j] + (double)(n + 2147483647) * 0.0")
    report = run(sources.COPY)
    assert not report.ok and "signed integer overflow" in report.lines[0]


def test_a_write_outside_is_found(plant: Plant) -> None:
    plant("b[i][j] = a[j]", "b[i][j + (i == n - 1)] = b[i][j] = a[j]")
    report = run(sources.COPY)
    assert not report.ok and "the result writes outside `b`" in report.lines[0]


def test_a_crash_is_found(plant: Plant) -> None:
    plant("b[i][j] = a[j]", "{ if (n == 3) __builtin_trap(); b[i][j] = a[j]; }")
    report = run(sources.COPY)
    assert not report.ok and report.lines[0].endswith(": the result crashes, at n = 3")


def test_a_hang_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_trials, "BATCH", replace(check_trials.BATCH, cpu=3.0))
    plant("b[i][j] = a[j]", "{ for (volatile int w = 0; n == 5 && w == 0;) w = 0; b[i][j] = a[j]; }")
    report = run(sources.COPY)
    assert not report.ok and report.lines[0].endswith(", at n = 5")
    assert ": the result took more than 3 s of processor time" in report.lines[0]


def test_a_struct_member_and_a_global_are_named(plant: Plant) -> None:
    plant("p[i].v[k] *= 2", "p[i].v[k] *= i == 1 && k == 2 ? 3 : 2")
    assert "p[1].v[2] is " in run(sources.STRUCTS).lines[0]


def test_a_scalar_that_lives_on_is_compared(plant: Plant) -> None:
    plant("s += a[i]", "s += a[i] + 1e-9")
    report = run(sources.SUM)
    assert not report.ok and ": s is " in report.lines[0]


def test_reassociation_has_a_tolerance(plant: Plant) -> None:
    plant("s += a[i]", "s += a[i] * (1 + 1e-13)")
    assert not run(sources.SUM).ok
    assert run(sources.SUM, GenOptions(reassociate=True)).ok


def test_reassociation_tolerates_no_more(plant: Plant) -> None:
    plant("s += a[i]", "s += a[i] * (1 + 1e-6)")
    assert not run(sources.SUM, GenOptions(reassociate=True)).ok


def test_a_result_that_does_not_compile(plant: Plant) -> None:
    plant("b[i][j] = a[j]", "b[i][j] = nowhere[j]")
    report = run(sources.COPY)
    assert not report.ok and "the result does not compile: " in report.lines[0] and "nowhere" in report.lines[0]


def test_sizes_start_where_the_context_does(plant: Plant) -> None:
    plant("b[i][j] = a[j]", "b[i][j] = n < 64 ? 0 : a[j]")
    report = run(sources.COPY, GenOptions(context="n >= 64"))
    assert report.ok and int(report.lines[0].split(": ")[1].split()[0]) > 10


def test_command(tmp_path: Path, plant: Plant, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.c"
    path.write_text(sources.COPY)
    assert main(("check", str(path))) == 0
    assert "agree" in capsys.readouterr().out
    plant("tw_index j = 0; j < n;", "tw_index j = 1; j < n;")
    assert main(("check", str(path), "-q")) == 4
    assert "should be" in capsys.readouterr().out
