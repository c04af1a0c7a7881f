"""Hostile inputs end within limits, with a located message, and nothing is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import limits
from codegen.limits import MIB, LimitPassed, Limits
from tests.cli.fakes import Run

LOOP = "#pragma scop\n    for (int i = 0; i < n; i++)\n        A[i] = 0.0;\n#pragma endscop\n"
SMALL = Limits(20, 512 * MIB, 1 * MIB)


def function(body: str = LOOP) -> str:
    return f"void f(int n, double A[n])\n{{\n{body}}}\n"


def bomb(depth: int) -> str:
    """Macros that double ten times at each step."""
    steps = "".join(f"#define B{k + 1} {' + '.join([f'B{k}'] * 10)}\n" for k in range(depth))
    return f"#define B0 1 + 1\n{steps}"


def refused(run: Run, says: str, *words: str) -> None:
    """Exit 1, one located error, no output."""
    code, out, err = run("gen", *words, "-o", "out.c")
    assert (code, out) == (1, "") and not Path("out.c").exists()
    assert re.search(rf"^\S+:1:1: error: .*{says}.* \[limit-passed\]$", err, re.M), err


def test_a_macro_that_expands_to_very_much(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("in.c").write_text(f"{bomb(6)}int x = B6;\n{function()}")
    monkeypatch.setattr("codegen.source.preprocess.PREPROCESSOR", SMALL)
    refused(run, "the preprocessor wrote more than 1 MiB", "in.c")
    monkeypatch.setattr("codegen.source.preprocess.PREPROCESSOR", replace(SMALL, cpu=1))
    Path("in.c").write_text(f"{bomb(8)}#if B8\n#endif\n{function()}")
    refused(run, "the preprocessor took more than (1 s of processor time|512 MiB of memory)", "in.c")


def test_a_header_without_an_end(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.source.preprocess.PREPROCESSOR", SMALL)
    Path("in.c").write_text(f'#include "/dev/zero"\n{function()}')
    refused(run, "the preprocessor took more than", "in.c")


def test_a_source_without_an_end(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.source.write.MOST", MIB)
    refused(run, "/dev/zero has more than 1 MiB", "/dev/zero")
    Path("in.c").write_text("\n" * 2 * MIB + function())
    refused(run, "in.c has more than 1 MiB", "in.c")


def test_an_analysis_that_nothing_counts(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the processor time that stands behind counted work, the region is left as it is."""

    def spin(*_: object) -> None:
        while True:
            pass

    Path("in.c").write_text(function())
    monkeypatch.setattr("codegen.region_model.compute_dependences", spin)
    monkeypatch.setattr("codegen.limits.ANALYSIS", Limits(1, 512 * MIB))
    code, out, err = run("gen", "in.c", "-o", "out.c", "--timeout", "0.01")
    nest = "\n    for (int i = 0; i < n; i++)\n        A[i] = 0.0;\n"
    assert (code, out) == (0, "") and nest in Path("out.c").read_text(encoding="utf-8")
    assert "its analysis took more than 1 s of processor time" in err and "[timeout]" in err


def test_an_analysis_without_memory(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the memory that it may have, too."""

    def grow(*_: object) -> None:
        kept = []
        while True:
            kept.append(bytearray(1 << 24))

    Path("in.c").write_text(function())
    monkeypatch.setattr("codegen.region_model.compute_dependences", grow)
    monkeypatch.setattr("codegen.limits.ANALYSIS", Limits(60, 512 * MIB))
    code, out, err = run("gen", "in.c", "-o", "out.c")
    assert (code, out) == (0, "") and "A[i] = 0.0;" in Path("out.c").read_text(encoding="utf-8")
    assert "in.c:3:1: warning: region 1 is left as it is: its analysis took more than 512 MiB" in err
    assert "[out-of-memory]" in err


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
def test_twenty_thousand_parentheses(inside: bool, folder: Path, run: Run) -> None:
    deep = "(" * 20_000 + "0" + ")" * 20_000
    Path("in.c").write_text(function(LOOP.replace("0.0", deep)) if inside else f"int y = {deep};\n{function()}")
    code, _, err = run("gen", "in.c", "-o", "out.c")
    assert code == 0 and ("[nesting-too-deep]" in err) == inside, err


@pytest.mark.parametrize("number", ["9223372036854775808", "1" * 60, "1" * 6000, "0x1ffffffffffffffff"])
def test_literals_beyond_all_types(number: str, folder: Path, run: Run) -> None:
    Path("in.c").write_text(function(LOOP.replace("A[i]", f"A[{number} * i]")))
    code, out, err = run("gen", "in.c")
    assert code == 0 and "[region-refused]" in err and "in.c:5:" in err, err
    assert f"A[{number} * i]" in out


def test_one_line_of_ten_million_bytes(folder: Path, run: Run) -> None:
    for text in (f"/*{'x' * 10_000_000}*/ {function()}", f"int z[] = {{{'1,' * 1_000_000}1}};\n{function()}"):
        Path("in.c").write_text(text)
        code, out, err = run("gen", "in.c")
        assert code == 0 and "region-refused" not in err and "#pragma omp" in out


def test_more_loops_than_one_analysis_takes(folder: Path, run: Run) -> None:
    loop = "    for (int i = 0; i < n; i++)\n        A[@][i] = A[@][i] * 2.0 + @;\n"
    loops = "".join(loop.replace("@", str(k)) for k in range(200))
    text = f"void f(int n, double A[200][n])\n{{\n#pragma scop\n{loops}#pragma endscop\n}}\n"
    Path("in.c").write_text(text)
    code, _, err = run("gen", "in.c", "-o", "out.c", "--emit", "c,plan", "--target", "c")
    assert code == 0 and "region-refused" not in err, err
    made = Path("out.c").read_text()
    assert "region 1 of f: part 7: " in made and "part 8" not in made
    assert len(re.findall(r"A\[\d+\]\[i\] = ", made)) == 200
    # The plan has a block for each part, and is obeyed.
    plan = Path("out.plan").read_text()
    assert "\nregion 1 part 2 digest " in plan
    Path("own.plan").write_text(plan.replace("vector i for S1\n", "", 1))
    code, _, err = run("gen", "in.c", "-o", "again.c", "--plan", "own.plan", "--target", "c", "--no-banner")
    assert code == 0, err
    assert Path("again.c").read_text().count("omp simd") == made.count("omp simd") - ("vector i for S1\n" in plan)
    Path("own.plan").write_text(plan.replace("region 1 part 7", "region 1 part 70"))
    code, _, err = run("gen", "in.c", "-o", "again.c", "--plan", "own.plan", "--target", "c", "--force")
    assert code == 1 and "region 1 has no part 70" in err


def test_pipes_as_input_and_output(folder: Path, run: Run) -> None:
    """What is no plain file is read, or written to, and stays what it is."""
    os.mkfifo("pipe.c")
    os.mkfifo("out.c")
    feed = threading.Thread(target=lambda: Path("pipe.c").write_text(function()))
    kept: list[str] = []
    drain = threading.Thread(target=lambda: kept.append(Path("out.c").read_text()))
    feed.start()
    drain.start()
    code, _, err = run("gen", "pipe.c", "-o", "out.c")
    feed.join()
    drain.join()
    assert code == 0, err
    assert "#pragma omp" in kept[0] and Path("out.c").is_fifo()


def test_links_and_devices_as_output(folder: Path, run: Run) -> None:
    Path("in.c").write_text(function())
    Path("real.c").write_text("")
    Path("link.c").symlink_to("real.c")
    code, _, err = run("gen", "in.c", "-o", "link.c")
    assert code == 0, err
    assert Path("link.c").is_symlink() and "#pragma omp" in Path("real.c").read_text()
    Path("nowhere.c").symlink_to("missing/x.c")
    code, _, err = run("gen", "in.c", "-o", "nowhere.c")
    assert code == 1 and "[cannot-write]" in err
    if os.path.exists("/dev/full"):
        code, _, err = run("gen", "in.c", "-o", "/dev/full")
        assert code == 1 and "/dev/full: No space left on device [cannot-write]" in err.replace("cannot write ", "")
        assert not Path("/dev/full").is_file()
    code, _, err = run("gen", "in.c", "-o", "/dev/null")
    assert code == 0 and not Path("/dev/null").is_file()


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_children_of_all_kinds(tmp_path: Path) -> None:
    done = limits.run(python("import sys; print(sys.stdin.read()); sys.exit(3)"), SMALL, b"word")
    assert (done.code, done.out) == (3, b"word\n")
    for text, says in (
        ("while True: pass", "1 s of processor time"),
        ("x = bytearray(2 << 30)", "512 MiB of memory"),
        ("print('x' * (2 << 20))", "wrote more than 1 MiB"),
        ("open('big', 'wb').write(b'x' * (2 << 20))", "wrote more than 1 MiB"),
        ("import time; time.sleep(60)", "did not end within 2 s"),
    ):
        with pytest.raises(LimitPassed, match=says):
            # Python says MemoryError, where compilers say that they are out of memory.
            code = text if "bytearray" not in text else f"try: {text}\nexcept MemoryError: exit('out of memory')"
            limits.run(python(code), replace(SMALL, cpu=1, wall=20 if "sleep" not in text else 2), cwd=tmp_path)
    with pytest.raises(FileNotFoundError):
        limits.run(["no-such-program"], SMALL)


def test_no_child_is_started_without_limits() -> None:
    """Only the wrapper around the user's own compiler does that, and what runs the user's own script for a profile."""
    root = Path(limits.__file__).parent
    found = [
        f"{p.relative_to(root)}: {line.strip()}"
        for p in sorted(root.rglob("*.py"))
        for line in p.read_text(encoding="utf-8").splitlines()
        if re.search(r"subprocess\.(run|Popen|call|check_\w+)\(|os\.system\(", line)
    ]
    allowed = ("limits.py", "cli/wrap/wrapper.py", "report/profile.py")
    free = [x for x in found if "limited(" not in x and not x.startswith(allowed)]
    assert [x.partition(":")[0] for x in free] == ["checking/build.py", "checking/sanitize.py"]  # next line


def test_a_compiler_that_takes_too_long(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cc").write_text("#!/bin/sh\ncase \"$*\" in *-E*) exec gcc \"$@\";; esac\nwhile :; do :; done\n")
    os.chmod("cc", 0o755)
    monkeypatch.setenv("CC", str(Path("cc").resolve()))
    monkeypatch.setattr("codegen.checking.build.COMPILER", Limits(1, 512 * MIB))
    Path("in.c").write_text(function())
    code, out, err = run("check", "in.c")
    assert code in (1, 4) and "the compiler took more than 1 s of processor time" in out + err
    assert not subprocess.run(["pgrep", "-f", str(Path("cc").resolve())], capture_output=True).stdout
