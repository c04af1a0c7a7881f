"""Errors of the device lose nothing: the original nest runs, and a message says so once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gpu.programs import Built, build, needs_cxx

pytestmark = needs_cxx
TWICE = """#include <stdio.h>
static void scale(int n, double a[n][n], double b[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i][j] * 2 + b[j][i];
#pragma endscop
}
int main(void)
{
  double a[9][9], b[9][9], sum = 0;
  for (int k = 0; k < 81; k++)
    a[k / 9][k % 9] = k, b[k / 9][k % 9] = 3 * k;
  for (int times = 0; times < 3; times++)
    scale(9 - times, (void *)a, (void *)b);
  for (int k = 0; k < 81; k++)
    sum = sum * 0.5 + a[k / 9][k % 9];
  printf("%.17g\\n", sum);
  return 0;
}
"""


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory, emulator: Path) -> Built:
    return build("twice", tmp_path_factory.mktemp("twice"), emulator, TWICE)


def test_buffers_are_kept_between_calls(twice: Built) -> None:
    counts = twice.agree().counts
    assert counts["launches"] == 3 and counts["bytes_out"] == 8 * (81 + 64 + 49)


@pytest.mark.parametrize("call", [1, 2, 3, 4, 5, 6, 8, 9, 11])
def test_a_call_that_fails(twice: Built, call: int) -> None:
    """Memory, copies to the device, launches and their end, in the first call of the region and in later ones."""
    ran = twice.agree(env={"EMU_FAIL": str(call)})
    assert ran.err.count("tilewright: region 1 of scale runs on the host:") == 1


def test_too_little_memory(twice: Built) -> None:
    ran = twice.agree(env={"EMU_MEMORY": "700"})
    assert ran.err == "tilewright: region 1 of scale runs on the host: out of memory\n"
    assert ran.counts["launches"] == 0


def test_results_that_are_lost_end_the_program(twice: Built) -> None:
    """The host's array may be half old, half new: the original nest would start from that."""
    from tests.gpu.programs import run_program

    ran = run_program(twice.emulated, [], {"EMU_FAIL": "7"})
    assert ran.code != 0 and "results of region 1 of scale are lost" in ran.err


STALE = """#include <stdio.h>
static void f(int n, int m, double a[n][m], double b[n][m])
{
  m = n;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = 2 * b[i][j];
#pragma endscop
}
int main(void)
{
  double a[4][7], b[4][7], sum = 0;
  for (int k = 0; k < 28; k++)
    a[k / 7][k % 7] = k, b[k / 7][k % 7] = 3 * k;
  f(4, 7, a, b);
  for (int k = 0; k < 28; k++)
    sum = sum * 0.5 + a[k / 7][k % 7];
  printf("%.17g\\n", sum);
  return 0;
}
"""


def test_rows_keep_the_length_they_were_declared_with(tmp_path: Path, emulator: Path) -> None:
    """A variable that has changed since says nothing of the rows: the original nest runs."""
    assert build("stale", tmp_path, emulator, STALE).agree().counts.get("launches", 0) == 0
