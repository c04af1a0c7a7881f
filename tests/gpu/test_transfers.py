"""What is copied, and where arrays are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from codegen.ast.isl_expressions import box_set
from codegen.gpu import transfers
from codegen.gpu.emulation import emulator_folder
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.gpu.programs import CXX, build, compiled, needs_cxx, run_program
from tests.gpu.test_plans import program

COPY = """void f(int n, double a[n][n], double b[n][n], double c[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = b[i][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      c[i][j] = a[i][j];
#pragma endscop
}
"""


def test_what_is_overwritten_whole_is_not_copied_in() -> None:
    device = generate("f.c", COPY, GenOptions(target="cuda", stem="f")).extra.file(".tw.cu")
    moved = [line.strip() for line in device.replace("\n           ", " ").split("\n") if "tw_copy(" in line]
    calls = {line.partition("tw_copy(")[2].partition(",")[0] for line in moved}
    assert {"b", "c", "tw_a", "tw_c"} <= calls and "a" not in calls and "tw_b" not in calls


def test_the_proof_of_transfers() -> None:
    """Elements that are read have to come, those that are written have to go, and nothing else may."""
    p = program(COPY)
    found = {n: transfers.elements_of(p.scop, p.deps, n) for n in ("a", "b", "c")}
    found = {n: replace(x, touched=box_set(x.touched)) for n, x in found.items()}
    assert [transfers.wrong_transfers(x, p.scop, p.deps, n) for n, x in found.items()] == ["", "", ""]
    nothing = isl.Set.empty(found["b"].come.get_space())
    wrong = transfers.wrong_transfers(replace(found["b"], come=nothing), p.scop, p.deps, "b")
    assert "read that were not copied" in wrong
    nothing = isl.Set.empty(found["a"].go.get_space())
    assert "are not copied back" in transfers.wrong_transfers(replace(found["a"], go=nothing), p.scop, p.deps, "a")
    nothing = isl.Set.empty(found["c"].come.get_space())
    wrong = transfers.wrong_transfers(replace(found["c"], come=nothing), p.scop, p.deps, "c")
    assert "copied back that nobody wrote" in wrong


SUM = """#include <stdio.h>
#include <stdlib.h>
%s
static void f(int n, double *x, double *y)
{
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = 2 * x[i] + y[i];
#pragma endscop
}
int main(void)
{
  double *x, *y, sum = 0;
  %s
  for (int k = 0; k < 50; k++)
    x[k] = k, y[k] = 1;
  f(50, x, y);
  for (int k = 0; k < 50; k++)
    sum = sum * 0.5 + y[k];
  printf("%%.17g\\n", sum);
  return 0;
}
"""
PLAIN = ("", "x = malloc(400), y = malloc(400);")


@needs_cxx
def test_without_the_proof_the_emulator_finds_what_is_missing(
    tmp_path: Path, emulator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = transfers.elements_of

    def less(scop: object, deps: object, name: str) -> transfers.Elements:
        found = real(scop, deps, name)  # type: ignore[arg-type]
        return replace(found, come=found.come.fix_val(isl.dim_type.set, 0, isl.Val(0))) if name == "x" else found

    monkeypatch.setattr(transfers, "elements_of", less)
    made = generate("f.c", SUM % PLAIN, GenOptions(target="cuda", stem="f"))
    assert not any(r.transformed for r in made.regions)
    monkeypatch.setattr(transfers, "wrong_transfers", lambda *_: "")
    built = build("sum", tmp_path, emulator, SUM % PLAIN)
    ran = run_program(built.emulated, [])
    assert ran.code == 3 and "a load of an element that nobody wrote" in ran.err


@needs_cxx
def test_managed_arrays_are_not_copied(tmp_path: Path, emulator: Path) -> None:
    text = SUM % (
        "#ifdef TW_DEVICE\nint cudaMallocManaged(void **, size_t);\n#endif",
        "\n#ifdef TW_DEVICE\n  cudaMallocManaged((void **)&x, 400), cudaMallocManaged((void **)&y, 400);\n#else\n"
        "  x = malloc(400), y = malloc(400);\n#endif",
    )
    built = build("sum", tmp_path, emulator, text, arrays="managed", defined=("-DTW_DEVICE",))
    counts = built.agree().counts
    assert counts["launches"] == 1 and counts["bytes_in"] == counts["bytes_out"] == 0
    assert "is lost" not in built.agree(env={"EMU_FAIL": "3"}).err  # no device: nothing has begun


@needs_cxx
def test_arrays_of_the_device_have_no_way_back(tmp_path: Path, emulator: Path) -> None:
    text = SUM % (
        "#ifdef TW_DEVICE\nint cudaMallocManaged(void **, size_t);\n#endif",
        "\n#ifdef TW_DEVICE\n  cudaMallocManaged((void **)&x, 400), cudaMallocManaged((void **)&y, 400);\n#else\n"
        "  x = malloc(400), y = malloc(400);\n#endif",
    )
    built = build("sum", tmp_path, emulator, text, arrays="device", defined=("-DTW_DEVICE",))
    assert built.agree().counts["bytes_in"] == 0
    assert run_program(built.emulated, [], {"EMU_FAIL": "3"}).code != 0


@needs_cxx
def test_files_of_one_program_meet(tmp_path: Path) -> None:
    """What each of them defines does not stand in the way of the others."""
    for name in "fg":
        options = GenOptions(target="cuda", stem=name, arrays="device")
        made = generate(f"{name}.c", COPY.replace("void f", f"void {name}"), options)
        for ending in (".tw.cu", ".tw.h"):
            (tmp_path / f"{name}{ending}").write_text(made.extra.file(ending))
        words = ["g++", "-x", "c++", *CXX, "-I", str(emulator_folder()), "-c", str(tmp_path / f"{name}.tw.cu")]
        compiled([*words, "-o", str(tmp_path / f"{name}.o")])
    compiled(["ld", "-r", str(tmp_path / "f.o"), str(tmp_path / "g.o"), "-o", str(tmp_path / "both.o")])
