"""Products that a device sees after variables are expanded, scalars forwarded, or the depth cut into blocks; factors of
matrix units; memory for all values of a variable, and its proof."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from codegen.gpu import transfers
from codegen.options import CppOptions, GenOptions
from codegen.plan.model import Expand, Forward, Registers, StageShared, StripMine, Substitute
from codegen.region import ProvenRegion
from tests.corpus import KERNELS
from tests.gpu.programs import build, device_region, link, needs_cxx, run_program

OPTIONS = GenOptions(target="cuda", device="h200", cpp=CppOptions(args=(f"-I{KERNELS}",)))
SCALED = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static void f(int n, int m, double a, double C[n][n], double A[n][m], double B[m][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++)
        C[i][j] += a * A[i][k] * B[k][j];
#pragma endscop
}
int main(int argc, char **argv)
{
  const int n = argc > 2 ? atoi(argv[1]) : 5, m = argc > 2 ? atoi(argv[2]) : 5;
  double (*A)[m] = malloc(sizeof(double[n][m])), (*B)[n] = malloc(sizeof(double[m][n]));
  double (*C)[n] = malloc(sizeof(double[n][n]));
  const double factors[] = { 0.3, -0.7, INFINITY };
  for (int turn = 0; turn < 3; turn++) {
    for (int i = 0; i < n; i++)
      for (int k = 0; k < m; k++)
        A[i][k] = 1.0 / (i + k + 1), B[k][i] = turn ? 3.0 + i : 0.1 * i;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        C[i][j] = -0.0;
    f(n, m, factors[turn], C, A, B);
    double sum = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        sum += C[i][j];
    printf("%a\\n", sum);
  }
  free(A), free(B), free(C);
  return 0;
}
"""


def _made(name: str) -> ProvenRegion:
    path = KERNELS / f"{name}.c"
    return device_region(path.read_text(encoding="utf-8"), OPTIONS, str(path))


@pytest.mark.parametrize(("name", "kinds"), [
    ("doitgen", (Expand, Registers)), ("symm", (Expand, StripMine, Registers)), ("trmm", (StripMine, Registers)),
    ("ludcmp", (Forward, StripMine, Registers)), ("trisolv", (StripMine, StageShared)),
])  # fmt: skip
def test_what_plans_do(name: str, kinds: tuple[type, ...]) -> None:
    found = _made(name).plan.directives
    assert all(any(isinstance(d, kind) for d in found) for kind in kinds)


def test_a_step_behind_a_name() -> None:
    text = """void f(int n, double C[n][n], double A[n][n], double B[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        double t = A[i][k] * B[k][j];
        C[i][j] += t;
      }
#pragma endscop
}
"""
    found = device_region(text, OPTIONS, "in.c").plan.directives
    assert all(any(isinstance(d, kind) for d in found) for kind in (Substitute, Registers))


def test_a_product_as_it_is_needs_no_other_form() -> None:
    assert not any(isinstance(d, (Expand, Forward, StripMine)) for d in _made("gemm").plan.directives)


@needs_cxx
@pytest.mark.parametrize(("name", "sizes"), [
    ("doitgen", ((3, 17, 40), (1, 1, 1), (0, 2, 3))), ("symm", ((200, 33), (96, 5), (1, 1), (0, 3))),
    ("trmm", ((110, 40), (48, 3), (1, 1))), ("trisolv", ((130,), (48,), (1,), (0,))),
])  # fmt: skip
def test_results(tmp_path: Path, emulator: Path, name: str, sizes: tuple[tuple[int, ...], ...]) -> None:
    built = build(name, tmp_path, emulator, device="h200")
    for given in sizes:
        built.agree(*given)


@needs_cxx
def test_a_factor_of_what_matrix_units_multiply(tmp_path: Path, emulator: Path) -> None:
    """What stands beyond the last depth is not multiplied: a factor may be negative, or infinite."""
    built = build("f", tmp_path, emulator, SCALED, device="h200")
    device = built.made.extra.file(".tw.cu")
    assert "m16n8k4" in device and device.count(" < left ? a * value : value;") == 1
    want = run_program(built.original, ["20", "37"])
    program = link(tmp_path, "f", built.made.text, device, built.made.extra.file(".tw.h"), emulator, ())
    assert run_program(program, ["20", "37"]).out.splitlines()[2] == want.out.splitlines()[2]
    damaged = device.replace(" < left ? a * value : value;", " < left + 16 ? a * value : value;")
    program = link(tmp_path, "f", built.made.text, damaged, built.made.extra.file(".tw.h"), emulator, ())
    assert run_program(program, ["20", "37"]).out.splitlines()[2] != want.out.splitlines()[2]


def test_room_for_all_values_of_a_variable_is_proven() -> None:
    made = _made("doitgen")
    scop, deps = made.program.scop, made.program.deps
    (buffer,) = scop.buffers
    whole = transfers.elements_of(scop, deps, buffer.array).touched
    assert transfers.wrong_buffer(whole, scop, deps, buffer.array) == ""
    less = whole.lower_bound_val(isl.dim_type.set, 0, isl.Val(1))
    assert "no room" in transfers.wrong_buffer(less, scop, deps, buffer.array)
    read = transfers.elements_of(scop, deps, "A").touched
    assert "nobody wrote" in transfers.wrong_buffer(read, scop, deps, "A")


def test_too_much_memory_is_asked_about() -> None:
    assert transfers.buffer_test(_made("doitgen").program.scop) == "(double)nr * nq * np * 8 <= 18924699648.0"
    assert transfers.buffer_test(_made("gemm").program.scop) == ""
