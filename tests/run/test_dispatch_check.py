"""`check --dispatch`: versions that a processor has are compared with the source, and those it has not are named."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.checking import compare
from codegen.checking.build import _COMMON, HEADER
from codegen.checking.harness.codes import Op
from codegen.checking.harness.emit import runtime_text
from codegen.checking.regions import Checked, file_texts, open_regions
from codegen.cli.main import main
from codegen.options import GenOptions
from tests.run.sources import run
from tests.run.test_dispatch import PRODUCT, QEMU, X86

OPTIONS = GenOptions(dispatch=True, target="c")
SOURCE = """\
void scale(int n, double a[n], double b[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 3 * b[i] + 1.5;
#pragma endscop
}
"""
LEFT = """\
void left(int n, double a[n])
{
  static int calls;
  calls++;
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = 2 * a[i];
#pragma endscop
}
"""
# Versions of plain loops are C for any processor: this lets any of them run all, as one that has the instructions.
ANY = (
    (r"#if defined\(__x86_64__\) && defined\(__GNUC__\).*", "#if 1"),
    (r'__attribute__\(\(target\("[^"]*"\)\)\)', ""),
    (r"__builtin_cpu_init\(\)", "(void)0"),
    (r'__builtin_cpu_supports\("[^"]*"\)', "1"),
)


def anywhere(monkeypatch: pytest.MonkeyPatch, *more: tuple[str, str]) -> None:
    """Results with all versions, whatever this processor is."""

    def texts(checked: Checked, options: GenOptions) -> dict[str, str]:
        made = file_texts(checked, options)
        for old, new in (*ANY, *more):
            made["result.c"], count = re.subn(old, new, made["result.c"])
            assert count, old
        return made

    monkeypatch.setattr(compare, "file_texts", texts)


def test_versions_that_this_processor_has() -> None:
    report = run(SOURCE + LEFT, OPTIONS)
    assert report.ok, report.lines
    assert report.lines[-1].startswith("versions that were run: base")
    assert "avx512" in report.lines[-1] and [d.id for d in report.diagnostics if "left" in d.message] == ["no-dispatch"]


def test_every_version_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    anywhere(monkeypatch)
    report = run(SOURCE, OPTIONS)
    assert report.ok and report.lines[-1] == "versions that were run: base, avx2, avx512"


@pytest.mark.parametrize(
    "old, new, said",
    [
        (r"(?s)(tw_case_1_avx2\(int.*?3 \* .*?)1\.5", r"\g<1>1.25", "the version for avx2: a[0] is "),
        (r"(?s)(tw_case_1_avx512\(int.*?)tw_op == TW_OP_TELL_OWN", r"\1(__builtin_trap(), 0)",
         "the version for avx512: the result crashes"),
    ],
)  # fmt: skip
def test_a_version_that_is_wrong(old: str, new: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    anywhere(monkeypatch, (old, new))
    report = run(SOURCE, OPTIONS)
    assert not report.ok and said in report.lines[0], report.lines


def test_a_file_without_versions() -> None:
    report = run(LEFT, OPTIONS)
    assert report.ok and len(report.lines) == 1


DRIVER = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef main
extern void (*const tw_cases[])(int, const long *, void **, long *);
int tw_levels(void);
void tw_levels_up_to(int);
int main(void)
{
  const long n = 37, in[] = {n, 0, n, n, 0, n, n, 0, n, n}, bytes = n * n * sizeof(double);
  void *got[3], *first = malloc(bytes);
  for (int level = 0; level <= tw_levels(); level++) {
    long seed = 3;
    for (int k = 0; k < 3; k++)
      got[k] = malloc(bytes);
    tw_levels_up_to(level);
    tw_cases[0](FILL, in, got, &seed);
    tw_cases[0](RUN, in, got, &seed);
    if (level == 0)
      memcpy(first, got[2], bytes);
    printf("%d %d\\n", level, memcmp(first, got[2], bytes));
  }
}
"""


@pytest.mark.skipif(not shutil.which(X86) or not shutil.which(QEMU), reason="no x86-64 compiler and emulator")
def test_kernels_of_a_version(tmp_path: Path) -> None:
    """The functions that `check` calls, on an emulator that has AVX2: the same bits in both versions."""
    checked = open_regions("x.c", PRODUCT, OPTIONS)
    runtime = runtime_text().replace("int main(", "int no_main(")
    driver = DRIVER.replace("FILL", str(int(Op.FILL))).replace("RUN", str(int(Op.RUN)))
    texts = {**file_texts(checked, OPTIONS), "runtime.c": runtime, "driver.c": driver, HEADER[0]: HEADER[1]}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    flags = [w for w in _COMMON if w != "-fopenmp"]
    words = [X86, "-O0", *flags, "-include", HEADER[0], "result.c", "runtime.c", "driver.c", "-o", "run", "-lm"]
    subprocess.run(words, cwd=tmp_path, check=True)
    root = f"/usr/{X86.removesuffix('-gcc')}"
    done = subprocess.run([QEMU, "-L", root, "./run"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == "0 0\n1 0\n"


@pytest.mark.parametrize("command", ["check", "bench"])
def test_what_is_not_for_versions(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.c"
    file.write_text(SOURCE, encoding="utf-8")
    assert main([command, str(file), "--dispatch", "--machine", "sapphire-rapids"]) == 2
    assert "--dispatch is for code of no processor in particular" in capsys.readouterr().err


def test_measured_as_it_is_compiled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without flags for this processor; the version that runs is named."""
    monkeypatch.setattr("codegen.bench.measure.SECONDS", 0.05)
    monkeypatch.setattr("codegen.cli.bench._ceilings", lambda: None)
    file = tmp_path / "x.c"
    file.write_text(SOURCE, encoding="utf-8")
    assert main(["bench", str(file), "--dispatch", "--target", "c", "--sizes", "n=1000"]) == 0
    out = capsys.readouterr().out
    assert re.search(r", -O3; ", out) and re.search(r"at n = 1000, version (base|avx2|avx512)\n", out), out
