"""The emulator takes the machine that a program was generated for; files for different ones are a named error."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.sunway.emulation.host import emulator_folder

MACHINES = ("sw26010", "sw26010-pro")
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
void {name}(int n, double y[n], double A[n][n], double x[n])
{{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      y[i] += A[i][j] * x[j];
#pragma endscop
}}
"""
MAIN = """int main(void)
{
  const int n = 300;
  double (*A)[n] = malloc(8 * n * n), *x = malloc(8 * n), *y = calloc(n, 8), sum = 0;
  for (int i = 0; i < n * n; i++)
    A[0][i] = i % 7;
  for (int i = 0; i < n; i++)
    x[i] = i % 5;
  CALLS
  for (int i = 0; i < n; i++)
    sum += y[i];
  printf("%g\\n", sum);
  return 0;
}
"""


def write(folder: Path, name: str, machine: str, more: str = "") -> None:
    """All files of a program with one region, as `gen --emit c,harness` makes them."""
    options = GenOptions(target="sunway", stem=name, machine=f"{machine}-cpe", scheme="launch")
    made = generate(f"{name}.c", PROGRAM.format(name=name) + more, options)
    for ending, text in (("_master.c", made.text), *made.extra.files):
        (folder / f"{name}{ending}").write_text(text)


def run(folder: Path, words: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    """The program of mv, built by its Makefile alone."""
    command = ["make", "-s", "-f", "mv.host.mk", f"EMULATOR={emulator_folder()}", *words, "mv_host"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    env = {k: v for k, v in os.environ.items() if k != "SW_MACHINE"} | environment
    return subprocess.run(["./mv_host"], cwd=folder, capture_output=True, text=True, check=False, env=env)


@pytest.mark.parametrize("machine", MACHINES)
def test_program_runs_as_its_makefile_builds_it(tmp_path: Path, machine: str) -> None:
    write(tmp_path, "mv", machine, MAIN.replace("CALLS", "mv(n, y, A, x);"))
    ran = run(tmp_path)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    assert float(ran.stdout) > 0
    other = MACHINES[1 - MACHINES.index(machine)]
    ran = run(tmp_path, SW_MACHINE=other)
    assert ran.returncode == 3 and f"generated for {machine}, and SW_MACHINE is {other}: unset it" in ran.stderr
    assert ran.stderr.rstrip().endswith("[machine]")
    assert run(tmp_path, SW_MACHINE=machine).returncode == 0
    ran = run(tmp_path, SW_MACHINE="sw26020")
    assert ran.returncode == 3 and "SW_MACHINE is sw26020: there are sw26010 and sw26010-pro" in ran.stderr


def test_files_for_different_machines(tmp_path: Path) -> None:
    write(tmp_path, "mv", "sw26010-pro", "void other(int n, double y[n], double A[n][n], double x[n]);\n"
          + MAIN.replace("CALLS", "mv(n, y, A, x); other(n, y, A, x);"))  # fmt: skip
    write(tmp_path, "other", "sw26010")
    rest = ("SOURCES=other_master.c other_slave.c",)
    ran = run(tmp_path, rest)
    assert ran.returncode == 3 and "generate all files of a program with one --machine" in ran.stderr
    assert "sw26010-pro" in ran.stderr and "mv" in ran.stderr and "other" in ran.stderr
    write(tmp_path, "other", "sw26010-pro")
    assert run(tmp_path, rest).returncode == 0
