"""The run-and-compare check: it passes what is right, and finds what is wrong."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import pipeline
from codegen.cli.main import main
from codegen.diagnostics import InputError
from codegen.options import CppOptions, GenOptions
from codegen.region import RegionOutcome
from codegen.verify import check_build, check_trials
from codegen.verify.check import CheckReport, check
from tests.run import sources

Plant = Callable[[str, str], None]


def run(text: str, options: GenOptions | None = None, path: str = "in.c") -> CheckReport:
    return check(path, text, options or GenOptions(), lambda line: None)


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """plant(old, new): generated text has `new` in place of its first `old`."""
    real = pipeline.process_region

    def go(old: str, new: str) -> None:
        def wrong(*args: object) -> RegionOutcome:
            made = real(*args)  # type: ignore[arg-type]
            assert made.text is not None and old in made.text, made.text
            return replace(made, text=made.text.replace(old, new, 1))

        monkeypatch.setattr(pipeline, "process_region", wrong)

    return go


@pytest.mark.parametrize("name", sorted(sources.ALL))
def test_agrees(name: str) -> None:
    report = run(sources.ALL[name])
    assert report.ok, report.lines
    assert len(report.lines) == 1 and "agree" in report.lines[0] and "under sanitizers" in report.lines[0]
    assert re.search(r"(\d+) of \1 statements? run", report.lines[0]), report.lines
    assert "itself" not in report.lines[0]


def test_several_regions_and_one_left_alone() -> None:
    text = sources.COPY + sources.STATIC + sources.SUM.replace("s += a[i]", "while (s < 3) s += a[i]")
    report = run(text)
    assert report.ok and len(report.lines) == 3
    assert report.lines[0].startswith("region 1 (copy, line 4): ")
    assert report.lines[1].startswith("region 2 (scale, line ")
    assert report.lines[2] == "region 3: left as it is (while-loop), nothing to check"
    assert [d.id for d in report.diagnostics if d.severity.value == "warning"] == ["region-refused"]


def test_no_region() -> None:
    report = run("int x;\n")
    assert report.ok and report.lines == () and report.diagnostics[0].id == "no-region"


def test_a_lost_iteration_is_found(plant: Plant) -> None:
    plant("long j = 0; j < n;", "long j = 0; j < n - 1;")
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
    monkeypatch.setattr(check_trials, "SECONDS", 3.0)
    plant("b[i][j] = a[j]", "{ for (volatile int w = 0; n == 5 && w == 0;) w = 0; b[i][j] = a[j]; }")
    report = run(sources.COPY)
    assert not report.ok and report.lines[0].endswith(": the result does not finish within 3 s, at n = 5")


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


def test_an_original_that_does_not_compile() -> None:
    with pytest.raises(InputError, match="the original does not compile") as caught:
        run("int f(void) { return undeclared; }\n" + sources.COPY)
    assert caught.value.id == "does-not-compile"


def test_a_target_that_does_not_run_here() -> None:
    with pytest.raises(InputError, match="do not run"):
        run(sources.COPY, GenOptions(target="sunway"))


def test_sizes_start_where_the_context_does(plant: Plant) -> None:
    plant("b[i][j] = a[j]", "b[i][j] = n < 64 ? 0 : a[j]")
    report = run(sources.COPY, GenOptions(context="n >= 64"))
    assert report.ok and int(report.lines[0].split(": ")[1].split()[0]) > 10


def test_an_inactive_region() -> None:
    report = run(f"#if 0\n{sources.COPY}\n#endif\n")
    assert report.ok and [d.id for d in report.diagnostics] == ["inactive-region"]


def test_without_sanitizers_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(check_build.KINDS, "sanitized", ("-fsanitize=no-such-thing",))
    report = run(sources.WRAPS)
    assert report.ok and report.lines[-1].startswith("no sanitizers were run: ")
    assert "under sanitizers" not in report.lines[0]


def test_flags_and_headers_reach_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("typedef REAL real;\n")
    text = '#include "own.h"\n' + sources.COPY.replace("double", "real")
    path = tmp_path / "in.c"
    path.write_text(text)
    for real in ("float", "short", "unsigned long"):
        options = GenOptions(cpp=CppOptions(args=(f"-DREAL={real}",)))
        assert run(text, options, str(path)).ok


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run(sources.COPY).ok
    assert list(tmp_path.iterdir()) == []


def test_the_report_is_the_same_every_time() -> None:
    assert run(sources.FLAT) == run(sources.FLAT)


def test_command(tmp_path: Path, plant: Plant, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.c"
    path.write_text(sources.COPY)
    assert main(("check", str(path))) == 0
    assert "agree" in capsys.readouterr().out
    plant("long j = 0; j < n;", "long j = 1; j < n;")
    assert main(("check", str(path), "-q")) == 4
    assert "should be" in capsys.readouterr().out


def test_the_runtime_is_clean_c(tmp_path: Path) -> None:
    """The harness must not trip over its own mistakes."""
    from codegen.verify.check_emit import runtime_text

    (tmp_path / "runtime.c").write_text(runtime_text())
    flags = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Dmain=tw_user_main")
    done = subprocess.run(["cc", *flags, str(tmp_path / "runtime.c")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
