"""Regions that would lose to the host by what is predicted for their sizes run there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.gpu.programs import build, needs_cxx

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
static void f(int n, int m, double *a, double *b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i] = a[i] * 0.5 + b[i];
#pragma endscop
}
int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 0, m = argc > 2 ? atoi(argv[2]) : 0;
  double *a = calloc(n + 1, 8), *b = calloc(n + 1, 8), sum = 0;
  for (int k = 0; k < n; k++)
    b[k] = k % 7;
  f(n, m, a, b);
  for (int k = 0; k < n; k++)
    sum += a[k];
  printf("%.17g\\n", sum);
  return 0;
}
"""


def condition(text: str, **options: object) -> str:
    made = generate("f.c", text, GenOptions(target="cuda", stem="f", **options))  # type: ignore[arg-type]
    found = re.search(r"TW_WORTH\((.*?)\);", made.text, re.S)
    return " ".join(found[1].split()) if found else ""


@needs_cxx
def test_sizes_decide(tmp_path: Path, emulator: Path) -> None:
    """Little work stays on the host, and so does much data with little work for each element."""
    built = build("worth", tmp_path, emulator, PROGRAM, defined=("-UTW_DEVICE_ALWAYS",))
    sizes = ((0, 0), (1, 1), (50, 50), (30000, 1), (300, 900))
    launched = {s: built.agree(*s).counts.get("launches", 0) for s in sizes}
    assert launched == {(0, 0): 0, (1, 1): 0, (50, 50): 0, (30000, 1): 0, (300, 900): 1}


def test_the_condition_is_of_sizes_alone() -> None:
    text = condition(PROGRAM)
    assert set(re.findall(r"[A-Za-z_]\w*", text)) <= {"n", "m", "e"} and " > " in text
    assert condition(PROGRAM, device="h200") != text


def test_inspect_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from codegen.cli.main import main

    (tmp_path / "f.c").write_text(PROGRAM)
    assert main(["inspect", "--target", "cuda", str(tmp_path / "f.c")]) == 0
    assert f"on the device where, in seconds, {condition(PROGRAM)}" in capsys.readouterr().out


@pytest.mark.parametrize("arrays", ["device", "managed"])
def test_arrays_that_are_not_copied_are_not_asked_for(arrays: str) -> None:
    assert condition(PROGRAM, arrays=arrays) == ""


def test_where_arrays_stay_nothing_is_asked() -> None:
    """Their copies are not made for one region; the same region is asked elsewhere."""
    call = "  f(n, m, a, b);\n"
    text = PROGRAM.replace(call, f"#pragma tilewright data\n{call}#pragma tilewright end data\n")
    assert condition(text) == f"tw_f_stays() || {condition(PROGRAM)}"
