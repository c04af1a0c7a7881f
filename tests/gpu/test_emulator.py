"""Planted faults: the emulator finds each kind, and says which it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.gpu.emulation import emulator_folder
from tests.gpu.programs import CXX, compiled, needs_cxx, run_program

pytestmark = needs_cxx
PROGRAM = """#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 100 };
static double host[N + 1], other[N + 1];
#define EACH(i, n) for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)
static __global__ void twice(double *a, long n) { EACH(i, n) a[i] *= 2; }
static __global__ void fill(double *a, long n) { EACH(i, n) a[i] = i; }
static __global__ void same(double *a, long n) { EACH(i, n) a[i / 2] = 1; }
static __global__ void neighbour(double *a, long n) { EACH(i, n - 1) a[i] = a[i + 1]; }
static __global__ void gather(double *a, const double *b, long n) { EACH(i, n) a[i] = b[0]; }
static __global__ void late(double *a, long n) { EACH(i, n) if (i) a[i] = a[0]; else a[0] = 1; }
static __global__ void crooked(char *a) { *(double *)(a + 4) = 1; }
static void run(int fault)
{
  double *a, *b;
  if (cudaMalloc((void **)&a, N * sizeof *a) || cudaMalloc((void **)&b, N * sizeof *b))
    exit(9);
  if (fault != 1)
    cudaMemcpy(a, host, N * sizeof *a, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host, N * sizeof *b, cudaMemcpyHostToDevice);
  switch (fault) {
  case 0: /* none */
    TW_LAUNCH(twice, dim3(3), dim3(32), a, N);
    TW_LAUNCH(gather, dim3(3), dim3(32), a, b, N);
    cudaMemcpy2D(host, 16, a, 16, 8, N / 2, cudaMemcpyDeviceToHost);
    break;
  case 1: TW_LAUNCH(twice, dim3(3), dim3(32), a, N); break;
  case 2: TW_LAUNCH(fill, dim3(3), dim3(32), a, N + 1); break;
  case 3: TW_LAUNCH(fill, dim3(3), dim3(32), host, N); break;
  case 4: TW_LAUNCH(same, dim3(3), dim3(32), a, N); break;
  case 5: TW_LAUNCH(neighbour, dim3(3), dim3(32), a, N); break;
  case 6: TW_LAUNCH(late, dim3(3), dim3(32), a, N); break;
  case 7: host[0] = a[3]; break;
  case 8: a[3] = 1; break;
  case 9: cudaMemcpy(a, host, (N + 1) * sizeof *a, cudaMemcpyHostToDevice); break;
  case 10: cudaMemcpy(host, a + 1, N * sizeof *a, cudaMemcpyDeviceToHost); break;
  case 11: cudaMemcpy(other, host, sizeof host, cudaMemcpyHostToDevice); break;
  case 12: cudaMemcpy(b, a, N * sizeof *a, cudaMemcpyHostToDevice); break;
  case 13: emu_forget(a, 8); cudaMemcpy(host, a, 16, cudaMemcpyDeviceToHost); break;
  case 14: TW_LAUNCH(crooked, dim3(1), dim3(1), (char *)a); break;
  case 15: cudaFree(a + 1); break;
  case 16: TW_LAUNCH(twice, dim3(1), dim3(2000), a, N); exit(cudaGetLastError() == 9 ? 4 : 5);
  case 17: TW_LAUNCH(twice, dim3(1, 70000), dim3(1), a, N); exit(cudaGetLastError() ? 4 : 5);
  case 18: TW_LAUNCH(twice, dim3(0), dim3(1), a, N); exit(cudaGetLastError() ? 4 : 5);
  case 19: TW_LAUNCH(twice, dim3(3), dim3(32), a - 1, N); break;
  case 20: cudaFree(b); TW_LAUNCH(gather, dim3(3), dim3(32), a, b, N); break;
  }
}
int main(int argc, char **argv)
{
  run(argc > 1 ? atoi(argv[1]) : 0);
  return 0;
}
"""
FOUND = {
    1: "a load of an element that nobody wrote, in kernel twice",
    2: "a store outside of an array, in kernel fill",
    3: "a store of memory of the host, in kernel fill",
    4: "two threads of a launch write the same element, in kernel same",
    5: "the same element, in kernel neighbour",
    6: "the same element, in kernel late",
    7: "the host uses memory of the device",
    8: "the host uses memory of the device",
    9: "something is copied to the device, 8 bytes beyond memory of the device",
    10: "something is copied from the device, 8 bytes beyond memory of the device",
    11: "something is copied to the device, but its end on the device is no memory of the device",
    12: "something is copied to the device, but its end on the host is memory of the device",
    13: "a byte is copied from the device that nobody wrote",
    14: "a store that is not aligned, in kernel crooked",
    15: "memory is given back that was not taken",
    19: "outside of an array, in kernel twice",
    20: "in kernel gather",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, emulator: Path) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    (folder / "faults.cu").write_text(PROGRAM)
    words = ["g++", "-x", "c++", *CXX, "-O0", "-fsanitize=thread", "-I", str(emulator_folder())]
    compiled([*words, "-c", str(folder / "faults.cu"), "-o", str(folder / "faults.o")])
    files = [str(folder / "faults.o"), str(emulator), "-lpthread", "-o", str(folder / "faults")]
    compiled(["g++", *files])
    return folder / "faults"


def test_what_is_right_passes(program: Path) -> None:
    ran = run_program(program, ["0"])
    assert (ran.code, ran.err) == (0, "")
    assert ran.counts == {"launches": 2, "threads": 192, "bytes_in": 1600, "bytes_out": 400, "barriers": 0}


@pytest.mark.parametrize("fault", sorted(FOUND))
def test_fault(program: Path, fault: int) -> None:
    for seed in ("1", "2"):
        ran = run_program(program, [str(fault)], {"EMU_SEED": seed})
        assert ran.code == 3 and ran.err.startswith("device emulator: ") and FOUND[fault] in ran.err


@pytest.mark.parametrize("fault", [16, 17, 18])
def test_a_launch_that_no_device_can_do(program: Path, fault: int) -> None:
    assert run_program(program, [str(fault)]).code == 4
