"""Planted faults of threads that meet in shared memory: the emulator finds each kind, and says which it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.gpu.emulation import emulator_folder
from tests.gpu.programs import CXX, compiled, needs_cxx, run_program

pytestmark = needs_cxx
PROGRAM = """#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 64 };
static double host[N];
#define ME (int)threadIdx.x
static __global__ void turned(double *out, const double *in) {
  double *s = (double *)emu_shared();
  s[ME] = in[ME];
  __syncthreads();
  out[ME] = s[N - 1 - ME];
}
static __global__ void copied(double *out, const double *in, int behind, int barrier) {
  double *s = (double *)emu_shared();
  for (int part = 0; part < 2; part++) {
    emu_async(&s[part * N + ME], &in[ME], 8);
    emu_commit();
  }
  emu_wait(behind);
  if (barrier)
    __syncthreads();
  out[ME] = s[N - 1 - ME];
  emu_wait(0);
}
static __global__ void units(double *out, int lanes, int k) {
  double c[4] = { 0, 0, 0, 0 }, x[8], y[4];
  for (int q = 0; q < 8; q++)
    x[q] = 1 + ME / 4 + q % 2 * 8 + 100 * (ME % 4 + q / 2 * 4), y[q % 4] = 1 + ME / 4 + 10 * (ME % 4 + q % 4 * 4);
  if (ME < lanes)
    emu_mma(16, k, c, x, y, 1);
  for (int q = 0; q < 4; q++)
    out[(ME / 4 + q / 2 * 8) * 8 + ME % 4 * 2 + q % 2] = c[q];
}
static __global__ void first(double *out, int kind) {
  double *s = (double *)emu_shared();
  s[ME] = ME;
  switch (kind) {
  case 3: __syncthreads(), s[ME] = 1, out[ME] = s[(ME + 1) % N]; break;
  case 4: __syncthreads(), s[ME / 2] = 1; break;
  case 5: __syncthreads(), out[ME] = s[N + ME]; break;
  case 6: s[2 * N + ME] = 1; break;
  case 7: if (ME < 32) __syncthreads(); break;
  case 8: if (ME < 32) __syncthreads(); else __syncthreads(); break;
  case 11: emu_async(&s[N + ME], out, 8), emu_commit(); break;
  case 12: emu_async((char *)&s[ME] + 4, out, 8); break;
  case 13: emu_async(&out[ME], out, 8); break;
  case 14: emu_async(&s[N + ME], out, 8), emu_commit(), s[N + ME] = 1; break;
  case 15: emu_async(s, out, 6); break;
  case 16: emu_aligned(&s[1], 16); break;
  case 17: __syncthreads(); out[0] = s[ME]; break;
  case 18: emu_async(&s[N + ME], host, 8); break;
  }
  if (kind == 19) __syncthreads();
  s[ME] = out[ME];
  if (kind == 19) out[ME] = s[N - 1 - ME];
}
static void shared(int fault, double *a, double *b)
{
  switch (fault) {
  case 0:
    TW_LAUNCH_SHARED(turned, dim3(1), dim3(N), N * 8, a, b);
    TW_LAUNCH_SHARED(copied, dim3(1), dim3(N), N * 16, a, b, 1, 1);
    TW_LAUNCH_SHARED(units, dim3(1), dim3(32), 0, a, 32, 16);
    break;
  case 1: TW_LAUNCH_SHARED(copied, dim3(1), dim3(N), N * 16, a, b, 2, 1); break;
  case 2: TW_LAUNCH_SHARED(copied, dim3(1), dim3(N), N * 16, a, b, 0, 0); break;
  case 9: TW_LAUNCH(turned, dim3(1), dim3(N), a, b); break;
  case 10: TW_LAUNCH_SHARED(units, dim3(1), dim3(32), 0, a, 31, 4); break;
  case 20: TW_LAUNCH_SHARED(units, dim3(1), dim3(16), 0, a, 16, 4); break;
  case 21: TW_LAUNCH_SHARED(turned, dim3(1), dim3(N), 100000, a, b); exit(cudaGetLastError() ? 4 : 5);
  case 22: exit(cudaFuncSetAttribute(turned, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000) ? 4 : 5);
  default: TW_LAUNCH_SHARED(first, dim3(2), dim3(N), N * 16, a, fault); break;
  }
}
int main(int argc, char **argv)
{
  for (int k = 0; k < N; k++)
    host[k] = k;
  double *a, *b;
  if (cudaMalloc((void **)&a, 128 * 8) || cudaMalloc((void **)&b, 128 * 8))
    exit(9);
  cudaMemcpy(a, host, N * sizeof *a, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host, N * sizeof *b, cudaMemcpyHostToDevice);
  shared(argc > 1 ? atoi(argv[1]) : 0, a, b);
  double sums[128];
  cudaMemcpy(sums, a, sizeof sums, cudaMemcpyDeviceToHost);
  for (int row = 0; row < 16; row++)
    for (int column = 0; column < 8; column++) {
      double want = 0;
      for (int k = 0; k < 16; k++)
        want += (1 + row + 100 * k) * (double)(1 + column + 10 * k);
      if (sums[row * 8 + column] != want)
        return 7;
    }
  return 0;
}
"""
FOUND = {
    1: "of shared memory to which a copy is under way, in kernel copied",
    2: "in kernel copied",  # nobody wrote it yet, or nobody waited for whoever did
    3: "two threads of a block, with no barrier between,",
    4: "two threads of a block, with no barrier between, write the same element",
    5: "a load of an element that nobody wrote, in kernel first",
    6: "a store of memory of the host, in kernel first",
    7: "a barrier that not all threads of a block reach, in kernel first",
    8: "threads of a block that wait at different barriers",
    9: "a kernel that was launched without shared memory uses some",
    10: "a matrix unit that not all threads of a warp use, in kernel units",
    11: "an asynchronous copy that nobody waits for",
    12: "an asynchronous copy that is not aligned",
    13: "an asynchronous copy to what is no shared memory",
    14: "a store of shared memory to which a copy is under way",
    15: "an asynchronous copy of 6 bytes",
    16: "an access to 16 bytes that is not aligned",
    17: "two threads of a launch write the same element",
    18: "a load of memory of the host",
    19: "two threads of a block, with no barrier between,",
    20: "a matrix unit that not all threads of a warp use",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, emulator: Path) -> Path:
    folder = tmp_path_factory.mktemp("shared")
    (folder / "faults.cu").write_text(PROGRAM)
    words = ["g++", "-x", "c++", *CXX, "-O0", "-fsanitize=thread", "-I", str(emulator_folder())]
    compiled([*words, "-c", str(folder / "faults.cu"), "-o", str(folder / "faults.o")])
    compiled(["g++", str(folder / "faults.o"), str(emulator), "-lpthread", "-lm", "-o", str(folder / "faults")])
    return folder / "faults"


def test_what_is_right_passes(program: Path) -> None:
    """Shared memory, copies that are waited for, and a unit whose lanes have what PTX says they have."""
    for seed in ("1", "2"):
        ran = run_program(program, ["0"], {"EMU_SEED": seed})
        assert (ran.code, ran.err) == (0, "")
        assert ran.counts["barriers"] == 2


@pytest.mark.parametrize("fault", sorted(FOUND))
def test_fault(program: Path, fault: int) -> None:
    ran = run_program(program, [str(fault)])
    assert ran.code == 3 and ran.err.startswith("device emulator: ") and FOUND[fault] in ran.err


@pytest.mark.parametrize("fault", [21, 22])
def test_more_shared_memory_than_there_is(program: Path, fault: int) -> None:
    assert run_program(program, [str(fault)]).code == 4
