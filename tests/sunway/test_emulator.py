"""The emulator: right programs run and are counted. Faults that are planted in them are in test_faults.py."""

import subprocess

import pytest

from codegen.sunway.emulation.host import compile_program, run_program
from codegen.sunway.plan.machine import group_for
from codegen.sunway.plan.threads import parse_grid
from codegen.sunway.text.dialect import barrier_lines

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "athread.h"
#include "slave.h"
#define T 32
#define N 96
typedef struct {{ double *a, *b; int n; }} args;
void kernel(args *p)
{{
  double x[T * T] __attribute__((aligned(32))), y[T * T];
  volatile int get, put;
  const int id = athread_get_id(-1);
  double *const a = p->a, *const b = p->b;
  const int n = p->n;
  (void)y;
  for (int t = id; t < 9; t += {threads}) {{
    const int i = t / 3 * T, j = t % 3 * T;
    {body}
  }}
}}
int main(void)
{{
  double *a = malloc(N * N * 8), *b = calloc(N * N, 8);
  for (int k = 0; k < N * N; k++) a[k] = k;
  args s = {{ a, b, N }};
  athread_init();
  athread_spawn(kernel, &s);
  athread_join();
  athread_halt();
  int wrong = 0;
  for (int k = 0; k < N * N; k++) wrong += b[k] != 2 * a[k];
  printf("%d\\n", wrong);
  return 0;
}}
"""
GET = "get = 0; athread_get(PE_MODE, &a[i * n + j], x, T * T * 8, &get, 0, (n - T) * 8, T * 8);"
WAIT = "dma_wait(&get, 1);"
WORK = "for (int k = 0; k < T * T; k++) x[k] *= 2;"
PUT = "put = 0; athread_put(PE_MODE, x, &b[i * n + j], T * T * 8, &put, (n - T) * 8, T * 8);"
DONE = "dma_wait(&put, 1);"

RIGHT = " ".join((GET, WAIT, WORK, PUT, DONE))


def build(folder, library, body, threads=64, watched=True):
    source = folder / "program.c"
    source.write_text(PROGRAM.format(body=body, threads=threads))
    assert compile_program([source], folder / "program", library, ["-w"], watched) == ""
    return folder / "program"


def test_right_program(tmp_path, library):
    ran = run_program(build(tmp_path, library, RIGHT))
    assert (ran.code, ran.out) == (0, "0\n"), ran.err
    assert (ran.counts["gets"], ran.counts["puts"], ran.counts["launches"]) == (9, 9, 1)
    assert ran.counts["get_bytes"] == ran.counts["put_bytes"] == 96 * 96 * 8
    assert 8192 < ran.counts["ldm_peak"] < 65536


def test_missing_wait_shows_poison(tmp_path, library):
    """Even where loads are not watched and the wait comes later: what is read too early is not the data."""
    work = "for (int k = 0; k < T * T; k++) y[k] = 2 * x[k];"
    early = " ".join((GET, work, WAIT, PUT.replace("x, &b", "y, &b"), DONE))
    ran = run_program(build(tmp_path, library, early, watched=False))
    assert ran.code == 3 and ran.err.endswith("[undefined]\n"), ran.err or ran.out


def test_what_is_on_its_way_counts_behind_a_barrier(tmp_path, library):
    """A put that is waited for after a barrier, with another core's read of the same bytes in between."""
    late = " ".join((GET, WAIT, WORK, PUT, "athread_syn(ARRAY_SCOPE, 0xffff);",
                     "get = 0; athread_get(PE_MODE, &b[i * n + (j + T) % N], y, 64, &get, 0, 0, 0);", WAIT, DONE))
    body = "if (0) { } } for (int t = id; t < 64; t += 64) { const int i = t / 3 % 3 * T, j = t % 3 * T; if (id < 9) { "
    idle = " } else athread_syn(ARRAY_SCOPE, 0xffff);"
    ran = run_program(build(tmp_path, library, body + late + idle))
    assert ran.code == 3 and "[race]" in ran.err, ran.err or ran.out


def test_overflow_names_the_array(tmp_path, library):
    big = "double big[8192]; get = 0; athread_get(PE_MODE, a, big, 64, &get, 0, 0, 0);" + WAIT
    ran = run_program(build(tmp_path, library, big))
    assert "big" in ran.err and "65536" in ran.err


def test_library_compiles_without_warnings(tmp_path, library):
    from codegen.sunway.emulation.host import emulator_folder

    for source in emulator_folder().glob("*.c"):
        command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(source)]
        assert subprocess.run(command, capture_output=True).returncode == 0, source


BARRIERS = """
#include <stdio.h>
#include "athread.h"
#include "crts.h"
static double c[64];
static int cores, wrong;
{functions}
static int (*const barriers[65])(void) = {{ 0, {names} }};
void kernel(int *p)
{{
  const int id = athread_get_id(-1);
  c[id] = cores + id;
  flush_slave_cache();
  memb();
  barriers[cores]();
  for (int k = 0; k < cores; k++)
    if (c[k] != cores + k && id == cores - 1) wrong++;
  memb();
  barriers[cores]();
}}
int main(void)
{{
  athread_init();
  for (cores = 1; cores <= 64; cores++) {{
    athread_set_num_threads(cores);
    athread_spawn(kernel, 0);
    athread_join();
  }}
  athread_halt();
  printf("%d\\n", wrong);
}}
"""


@pytest.mark.parametrize("machine", ["sw26010", "sw26010-pro"])
def test_barriers_are_for_the_cores_of_the_launch(tmp_path, library, machine):
    """Any number of them: all have come before one goes on, and nobody waits for a core that was not started."""
    group = group_for(f"{machine}-cpe")
    functions = [
        f"static int b{n}(void) {{ {' '.join(barrier_lines(group, parse_grid(str(n))))} return 0; }}"
        for n in range(1, 65)
    ]
    source = tmp_path / "barriers.c"
    names = ", ".join(f"b{n}" for n in range(1, 65))
    source.write_text(BARRIERS.format(functions="\n".join(functions), names=names))
    assert compile_program([source], tmp_path / "barriers", library, ["-w"]) == ""
    ran = run_program(tmp_path / "barriers", [], {"SW_MACHINE": machine})
    assert (ran.code, ran.out) == (0, "0\n"), ran.err
