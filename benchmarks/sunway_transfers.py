"""Transfers on the timing model beside those measured on the machine: 64 cores, GB/s of a core group.

python -m benchmarks.sunway_transfers
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from codegen.record import record
from codegen.sunway.emulation.host import build_library, compile_program, run_program
from codegen.sunway.plan.machine import SW26010


@record
class Row:
    """Bytes of a request, of its blocks (0: contiguous) and of the gaps between them; GB/s as measured."""

    length: int
    block: int
    gap: int
    measured: float

    def __str__(self) -> str:
        size = f"{self.length} B" if self.length < 1024 else f"{self.length // 1024} KB"
        gaps = f" with gaps of {self.gap} B" if self.gap != self.block else ""
        return f"{size}, contiguous" if not self.block else f"{size} in blocks of {self.block} B{gaps}"


# Outputs of a public micro-benchmark on TaihuLight.
MEASURED = (
    Row(64, 0, 0, 1.9), Row(256, 0, 0, 6.0), Row(1024, 0, 0, 12.5), Row(8192, 0, 0, 19.1), Row(24576, 128, 128, 5.2),
    Row(24576, 256, 1024, 7.9), Row(24576, 1024, 1024, 14.5),
)  # fmt: skip
ROUNDS = 50
PROGRAM = """#include <stdlib.h>
#include <athread.h>
#include <slave.h>
static long length, block, gap;
void requests(void *none)
{
  static const char *const memory = (const char *)(1L << 32);
  char data[24576] __attribute__((aligned(32)));
  volatile int got;
  (void)none;
  for (int k = 0; k < ROUNDS; k++) {
    got = 0;
    athread_get(PE_MODE, (void *)memory, data, length, (void *)&got, 0, gap, block);
    dma_wait(&got, 1);
  }
}
int main(int n, char **v)
{
  (void)n;
  length = atol(v[1]), block = atol(v[2]), gap = atol(v[3]);
  athread_init();
  athread_spawn(requests, 0);
  athread_join();
  athread_halt();
  return 0;
}
"""


def modelled(folder: Path, library: Path) -> dict[Row, float]:
    """GB/s on the timing model."""
    source, program = folder / "transfers.c", folder / "transfers"
    source.write_text(PROGRAM)
    messages = compile_program([source], program, library, [f"-DROUNDS={ROUNDS}", "-w"])
    assert not messages, messages
    out = {}
    for row in MEASURED:
        ran = run_program(program, [str(n) for n in (row.length, row.block, row.gap)], {"SW_MODEL": "1"})
        assert ran.code == 0, ran.err
        seconds = (ran.counts["cycles"] - SW26010.launch) / SW26010.clock_hz
        out[row] = 64 * ROUNDS * row.length / seconds / 1e9
    return out


def main() -> None:
    print("| transfer per core and request | model | machine | error |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for row, rate in modelled(Path(folder), build_library(Path(folder))).items():
            print(f"| {row} | {rate:.1f} | {row.measured} | {100 * (rate / row.measured - 1):+.1f} % |")


if __name__ == "__main__":
    main()
