"""The run-and-compare check as a tool: its report, its compiler, and what it does not touch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.checking import build as check_build
from codegen.diagnostics import InputError
from codegen.options import CppOptions, GenOptions
from tests.run import sources
from tests.run.sources import run


def test_several_regions_and_one_left_alone() -> None:
    text = sources.COPY + sources.STATIC + sources.SUM.replace("s += a[i]", "while (s < 3) s += a[i]")
    report = run(text)
    assert report.ok and len(report.lines) == 3
    assert report.lines[0].startswith("region 1 (copy, line 4): ")
    assert report.lines[1].startswith("region 2 (scale, line ")
    assert report.lines[2] == "region 3: left as it is (loop-form), nothing to check"
    assert [d.id for d in report.diagnostics if d.severity.value == "warning"] == ["region-refused"]


def test_no_region() -> None:
    report = run("int x;\n")
    assert report.ok and report.lines == () and report.diagnostics[0].id == "no-region"


def test_an_original_that_does_not_compile() -> None:
    with pytest.raises(InputError, match="the original does not compile") as caught:
        run("int f(void) { return undeclared; }\n" + sources.COPY)
    assert caught.value.id == "does-not-compile"


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


def test_the_runtime_is_clean_c(tmp_path: Path) -> None:
    """The harness must not trip over its own mistakes."""
    from codegen.checking.harness.emit import runtime_text

    (tmp_path / "runtime.c").write_text(runtime_text())
    flags = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Dmain=tw_user_main")
    done = subprocess.run(["cc", *flags, str(tmp_path / "runtime.c")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
