"""Clocks that figures of processor time are of, where the processor time of a process is limited."""

from __future__ import annotations

import subprocess
from pathlib import Path

from codegen.limits import PROGRAM, run
from codegen.print.templates import environment

MAIN = """
#include <stdio.h>
static void work(int op, const long *in, void **args, long *out)
{
  (void)in; (void)out;
  volatile double *x = args[0];
  for (int k = 0; op == 3 && k < 8000; k++)
    *x = *x * 1.0000001;
}
void (*const tw_cases[])(int, const long *, void **, long *) = {work};
int main(void)
{
  static double out[200];
  double x = 1;
  void *args[] = {&x}, *image[] = {0};
  const long bytes[] = {8};
  tw_busy(1);
  const long runs = tw_measure(0, 0, args, image, bytes, 1, 200, 200, 0.1, 1e9, out);
  long none = 0;
  for (long k = 0; k < runs; k++)
    none += out[k] <= 0;
  printf("%ld %ld %d", runs, none, tw_tick() < 1e-4);
  return 0;
}
"""


def test_processor_time_of_short_runs_under_a_limit(tmp_path: Path) -> None:
    """The clock of the process would tell that nearly all of them take no time."""
    source = tmp_path / "clock.c"
    source.write_text(environment().get_template("tune_runtime.c.j2").render() + MAIN)
    subprocess.run(["cc", "-O1", str(source), "-o", str(tmp_path / "clock")], check=True)
    assert run([str(tmp_path / "clock")], PROGRAM).out == b"200 0 1"
