"""Sums that one thread adds up in their order, of terms that its block computes: equal to the original's, and refused
where a term may need what is added up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.diagnostics import InputError, Unsupported
from codegen.gpu.staged import terms_text
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import KERNELS
from tests.gpu.programs import build, link, needs_cxx, run_program

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
static void f(int n, double A[n][n], double x[n], double y[n], float *total)
{
  float sum = *total;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = A[i][j] + x[j];
  y[0] = 1;
  LOOP
  y[0] = y[0] / 3;
#pragma endscop
  *total = sum;
}
int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 5;
  double (*A)[n] = malloc(sizeof(double[n + 1][n])), *x = malloc(sizeof(double[n + 1])), *y = calloc(n + 1, sizeof *y);
  float total = 1;
  for (int i = 0; i < n; i++) {
    x[i] = 1.0 / (i + 1), y[i] = 7;
    for (int j = 0; j < n; j++)
      A[i][j] = 0.1 * (i + 1) / (j + 3);
  }
  f(n, A, x, y, &total);
  double sum = total;
  for (int i = 0; i < n; i++)
    sum += y[i];
  printf("%a %a %a\\n", total, n ? y[0] : 0.0, sum);
  free(A), free(x), free(y);
  return 0;
}
"""
LOOPS = {
    "sum": "for (int j = 0; j < n; j++) y[0] += A[0][j] * x[j];",
    "difference": "for (int j = 0; j <= n - 1; j++) y[0] -= A[j][0] * x[n - 1 - j];",
    "product": "for (int j = 0; j < n; j++) y[0] *= 1 + x[j] / 16;",
    "narrower": "for (int j = 0; j < n; j++) sum += A[0][j] / 3;",
}


@needs_cxx
@pytest.mark.parametrize("kind", LOOPS)
def test_results(tmp_path: Path, emulator: Path, kind: str) -> None:
    built = build("f", tmp_path, emulator, PROGRAM.replace("LOOP", LOOPS[kind]))
    assert "tw_terms[" in built.made.extra.file(".tw.cu")
    for n in (1800, 897, 896, 3, 1) if kind == "sum" else (40, 2):
        assert built.agree(n).counts["barriers"]


@needs_cxx
@pytest.mark.parametrize(("name", "sizes"), [("durbin", (40, 1)), ("ludcmp", (60, 1)), ("gramschmidt", (20, 12))])
def test_kernels(tmp_path: Path, emulator: Path, name: str, sizes: tuple[int, ...]) -> None:
    built = build(name, tmp_path, emulator)
    assert "tw_terms[" in built.made.extra.file(".tw.cu")
    for given in [(n,) for n in sizes] if name != "gramschmidt" else [sizes]:
        assert built.agree(*given).counts["barriers"]


@pytest.mark.parametrize("loop", [
    "for (int j = 0; j < n; j++) y[0] += A[0][j] * y[0];",
    "for (int j = 0; j < n; j++) y[0] += y[j];",
    "for (int j = 0; j < n; j++) y[0] = y[0] * x[j] + 1;",
    "for (int j = 0; j < n; j++) y[0] += 0.5;",
])  # fmt: skip
def test_other_loops_stay(loop: str) -> None:
    made = generate("f.c", PROGRAM.replace("LOOP", loop), GenOptions(target="cuda"))
    assert "tw_terms[" not in "".join(text for _, text in made.extra.files)


@needs_cxx
@pytest.mark.parametrize(("old", "new", "what"), [
    (r"__syncthreads\(\);", "", "nobody wrote"),
    (r"tw_part % 2 \* TERMS", "0", "with no barrier between, "),
    (r"tw_at < tw_past \+ TERMS", "tw_at < tw_past", ""),
    (r"if \(j < tw_past\)", "", "outside of an array"),
])  # fmt: skip
def test_planted_faults_are_found(tmp_path: Path, emulator: Path, old: str, new: str, what: str) -> None:
    built = build("f", tmp_path, emulator, PROGRAM.replace("LOOP", LOOPS["sum"]))
    device, header = built.made.extra.file(".tw.cu"), built.made.extra.file(".tw.h")
    damaged, count = re.subn(old, new, device)
    assert count
    program = link(tmp_path, "f", built.made.text, damaged, header, emulator, ("-DDRIVER",))
    got, want = run_program(program, ["2000"]), run_program(built.original, ["2000"])
    assert what in got.err if what else got.out != want.out


def test_a_statement_that_is_printed_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = terms_text.check_statements
    monkeypatch.setattr(terms_text, "check_statements",
                        lambda printed, *rest: real([x.replace("+=", "-=") for x in printed], *rest))  # fmt: skip
    made = generate("f.c", PROGRAM.replace("LOOP", LOOPS["sum"]), GenOptions(target="cuda"))
    assert any("staged loop" in d.message for d in made.diagnostics) and not made.regions[0].transformed


def test_a_plan_of_the_users() -> None:
    made = generate("f.c", PROGRAM.replace("LOOP", LOOPS["sum"]), GenOptions(target="cuda"))
    plan = made.regions[0].plan
    assert "stage x in shared at S3.j:896 stages 2" in plan
    again = generate("f.c", PROGRAM.replace("LOOP", LOOPS["sum"]), GenOptions(target="cuda", plan_text=plan))
    first, second = (x.extra.file(".tw.cu").partition("#include")[2] for x in (made, again))
    assert first == second
    for wrong in (plan.replace("S3.j:896", "S3.j:100"), plan.replace("  stage x in shared at S3.j:896 stages 2\n", "")):
        with pytest.raises((InputError, Unsupported), match="one thread adds up"):
            generate("f.c", PROGRAM.replace("LOOP", LOOPS["sum"]), GenOptions(target="cuda", plan_text=wrong))


def test_no_pointer_says_that_other_threads_keep_off() -> None:
    """Terms read what the first thread has written ahead of the last barrier; such pointers must not be restricted."""
    path = KERNELS / "ludcmp.c"
    text = generate(str(path), path.read_text(), GenOptions(target="cuda")).extra.file(".tw.cu")
    heads = re.findall(r"__launch_bounds__\(\d+, 1\) \w+\(([^)]*)\)\n\{\n  enum \{ THREADS = \d+, WARP", text)
    assert any("double *x" in h for h in heads) and not any("restrict" in h for h in heads)
