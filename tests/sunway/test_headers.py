"""Generated files compile against headers of the vendor's shape (tests/sunway/vendor), without a warning and as C99
with GNU extensions. Here a few; `make sunway-headers` has the whole corpus, on all grids and both machines."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from benchmarks.sunway_headers import FLAGS, GRIDS, HEADERS, KERNELS, KINDS, MACHINES, HeaderCase, cases, compiled_files
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.sunway.plan.machine import group_for
from codegen.sunway.plan.threads import parse_grid
from codegen.sunway.text.dialect import barrier_lines
from tests.corpus import ALL

FEW = (
    *(("gemm", "sw26010", "8,8"), ("gemm", "sw26010-pro", "8,8"), ("floyd-warshall", "sw26010", "16")),
    *(("jacobi-2d", "sw26010-pro", "32"), ("doitgen", "sw26010-pro", "16"), ("conv2d", "sw26010", "4,8")),
)
EVERY = cases(sorted(KERNELS.glob("*.c")), MACHINES, GRIDS)
CHOSEN = EVERY if ALL else [HeaderCase(KERNELS / f"{name}.c", machine, grid) for name, machine, grid in FEW]


@pytest.mark.parametrize("case", CHOSEN, ids=lambda c: f"{c.path.stem}-{c.machine}-{c.grid}")
def test_program(tmp_path: Path, case: HeaderCase) -> None:
    assert compiled_files(case, tmp_path).messages == ""


@pytest.mark.parametrize("machine", MACHINES)
def test_barriers_of_any_number_of_cores(tmp_path: Path, machine: str) -> None:
    """What is printed for them compiles."""
    group = group_for(f"{machine}-cpe")
    lines = [f"#include <{'crts' if group.crts else 'slave'}.h>"]
    for count in range(1, 65):
        body = "\n  ".join(barrier_lines(group, parse_grid(str(count))))
        lines.append(f"int barrier{count}(void)\n{{\n  {body}\n  return 0;\n}}")
    source = tmp_path / "barriers.c"
    source.write_text("\n".join(lines) + "\n")
    command = ["gcc", *FLAGS, *KINDS["slave"], "-I", str(HEADERS / machine), str(source)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""


def test_old_names_are_none_of_the_headers(tmp_path: Path) -> None:
    """What users define for themselves, and what the newer machine has not, does not compile."""
    for machine, text in (("sw26010", "doublev4 v; void f(void) { REG_GETR(v); }"), ("sw26010-pro", "floatv16 v;")):
        source = tmp_path / "old.c"
        source.write_text(f"#include <slave.h>\n#include <simd.h>\n{text}\n")
        command = ["gcc", *FLAGS, *KINDS["slave"], "-I", str(HEADERS / machine), str(source)]
        assert subprocess.run(command, capture_output=True, check=False).returncode


VECTORS = """void f(int n, int m, double a[n][m], double b[n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = a[i][j] * b[i][j] + 1.5;
#pragma endscop
}
"""
COMPILER = """#!/bin/sh
# Takes the words of the machine's compiler that generated Makefiles use.
words=
for word; do
  case $word in
  -mhost|-host) words="$words -D__sw_host__" ;;
  -mslave|-slave) words="$words -D__sw_slave__" ;;
  -msimd) words="$words -D_SIMD_SLAVE" ;;
  *) words="$words $word" ;;
  esac
done
exec gcc -Wall -Werror -Wno-psabi -Wno-unknown-pragmas -I "$HEADERS" $words
"""


@pytest.mark.parametrize("flags", [(), ("CFLAGS=-std=gnu99 -O2",)], ids=["usual", "own-flags"])
@pytest.mark.parametrize("machine", MACHINES)
def test_makefile_asks_for_vectors(tmp_path: Path, machine: str, flags: tuple[str, ...]) -> None:
    """The Makefile for the machine passes -msimd, without which its headers declare no vectors and no commands."""
    made = generate("f.c", VECTORS, GenOptions(target="sunway", stem="f", machine=f"{machine}-cpe", scheme="launch"))
    assert "simd_v" in dict(made.extra.files)["_slave.c"]
    for ending, text in (("_master.c", made.text), *made.extra.files):
        (tmp_path / f"f{ending}").write_text(text)
    compiler = tmp_path / "swcc"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    command = ["make", "-f", "f.sw.mk", f"CC={compiler}", *flags, "f_master.o", "f_slave.o"]
    env = {**os.environ, "HEADERS": str(HEADERS / machine)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
