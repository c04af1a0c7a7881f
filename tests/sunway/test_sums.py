"""Variables that all cores gather in, with permission to change the order: proven from text, run on the emulator."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from benchmarks.sunway_headers import FLAGS, HEADERS, KINDS, MACHINES
from codegen.cli.main import main
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.verify.cores.check import wrong_entry
from codegen.verify.cores.launches.arguments import LaunchTask, wrong_launch
from tests.sunway.kernels import Printed, PrintedEntry, launched, tiled
from tests.sunway.test_kernel_proofs import damaged

DOT = """double f(int n, double x[n], double y[n]) {
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++) s += x[i] * y[i];
#pragma endscop
  return s;
}
"""
# The sum of one step is used by all cores in it, and the variable begins anew in the next one.
ROUNDS = """void f(int n, int m, double x[n], double a[m]) {
#pragma scop
  for (int t = 0; t < m; t++) {
    double s = 1;
    for (int i = 0; i < n; i++) s += x[i] * x[i];
    for (int i = 0; i < n; i++) x[i] = x[i] / s;
    a[t] = s;
  }
#pragma endscop
}
"""
LARGEST = """double f(int n, int m, double a[n][m]) {
  double big = -1, small = 1, product = 1;
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      big = a[i][j] > big ? a[i][j] : big;
      small = a[i][j] < small ? a[i][j] : small;
      product *= 1 + a[i][j] * 1e-9;
    }
#pragma endscop
  return big + small * product;
}
"""
BITS = """unsigned f(int n, unsigned x[n], float y[n]) {
  unsigned odd = 0, any = 0, all = ~0u, total = 3;
  float least = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    odd ^= x[i];
    any |= x[i];
    all &= x[i];
    total += x[i];
    least += y[i];
  }
#pragma endscop
  return odd + any + all + total + (least > 0);
}
"""
SOURCES = {"dot": DOT, "rounds": ROUNDS, "largest": LARGEST, "bits": BITS}


@cache
def printed(name: str) -> tuple[list[Printed], PrintedEntry]:
    with tiled(32, 32, 32):
        kernels, (entry,) = launched(SOURCES[name], reassociate=True)
    return kernels, entry


@pytest.mark.parametrize("machine", ["sw26010-cpe", "sw26010-pro-cpe"])
@pytest.mark.parametrize("name", SOURCES)
def test_results_agree(tmp_path: Path, name: str, machine: str) -> None:
    """On the emulator, at many sizes."""
    source = tmp_path / "f.c"
    source.write_text(SOURCES[name])
    words = ["check", "--target", "sunway", "--machine", machine, "--scheme", "launch", "--reassociate"]
    assert main([*words, str(source)]) == 0


@pytest.mark.parametrize("threads", ["16", "4,8", "5"])
def test_parts_are_as_many_as_cores(threads: str) -> None:
    made = generate("f.c", DOT, GenOptions(target="sunway", stem="f", reassociate=True, threads=threads))
    count = {"16": 16, "4,8": 32, "5": 5}[threads]
    assert f"double s_parts[{count}];" in made.extra.file("_args.h")
    assert f"core < {count};" in made.extra.file("_slave.c")


@pytest.mark.parametrize("machine", MACHINES)
def test_files_compile_against_the_vendors_headers(tmp_path: Path, machine: str) -> None:
    """The corpus is compiled without permission, and so without parts."""
    for name, source in SOURCES.items():
        options = GenOptions(target="sunway", stem="f", reassociate=True, machine=f"{machine}-cpe", scheme="launch")
        made = generate("f.c", source, options)
        for end in ("_slave.c", "_args.h"):
            (tmp_path / f"f{end}").write_text(made.extra.file(end))
        command = ["gcc", *FLAGS, *KINDS["slave"], "-I", str(HEADERS / machine), str(tmp_path / "f_slave.c")]
        assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == "", name


NONE = """double f(int n, double x[n]) {
  double t = 0.0 / 0.0;
#pragma scop
  for (int i = 0; i < n; i++) t = fmax(t, x[i]);
#pragma endscop
  return t;
}
"""


def test_the_largest_of_numbers_and_what_is_none() -> None:
    made = generate("f.c", "#include <math.h>\n" + NONE, GenOptions(target="sunway", stem="f", reassociate=True))
    assert "t_part = fmax(t_part, t_all[core]);" in made.extra.file("_slave.c")


def test_order_stays_without_permission() -> None:
    made = generate("f.c", DOT, GenOptions(target="sunway", stem="f"))
    assert not made.regions[0].transformed


@pytest.mark.parametrize("what", ["int s", "long s"])
def test_signed_parts_could_overflow(what: str) -> None:
    source = DOT.replace("double s", what).replace("double x", "int x").replace("double y", "int y")
    made = generate("f.c", source, GenOptions(target="sunway", stem="f", reassociate=True))
    (note,) = [n for d in made.diagnostics for n in d.notes]
    assert note.id == "no-parallelism" and "could overflow" in note.message


def test_a_plan_may_ask_for_it() -> None:
    plan = "region 1\n  tile S1.i:64\n  parallel S1.it\n"
    asked = GenOptions(target="sunway", stem="f", reassociate=True, plan_text=plan)
    assert "s_part += " in generate("f.c", DOT, asked).extra.file("_slave.c")


# What is damaged in the first kernel: the region, the text, and what stands there instead.
KERNEL = {
    "a part begins with something": ("dot", "s_part = -0.0", "s_part = 1.0"),
    "a part begins with the sum": ("dot", "s_part = -0.0", "s_part = *s"),
    "a factor begins with nought": ("largest", "product_part = 1", "product_part = 0"),
    "the largest begins with nought": ("largest", "big_part = *big", "big_part = 0"),
    "the largest begins with the smallest": ("largest", "big_part = *big", "big_part = *small"),
    "a part in few bits": ("dot", "double s_part", "float s_part"),
    "no part is left": ("dot", "args->s_parts[id] = s_part;", ""),
    "all parts are the first": ("dot", "s_parts[id]", "s_parts[0]"),
    "something else is left": ("dot", "= s_part;", "= s_part + 1;"),
    "cores add to the variable": ("dot", "s_part += ", "*s += "),
    "cores add to another's part": ("largest", "big_part = a", "small_part = a"),
    "another operator": ("dot", "s_part += ", "s_part -= "),
    "a part begins anew with each tile": ("dot", "const long x_len", "double s_part = -0.0; const long x_len"),
}


@pytest.mark.parametrize("what", KERNEL)
def test_damaged_kernels_are_found(what: str) -> None:
    name, old, new = KERNEL[what]
    kernels = [k for k in printed(name)[0] if old in k.text]
    assert kernels[0].wrong(kernels[0].text) == ""
    assert kernels[0].wrong(damaged(kernels[0].text, old, new, 0)) != ""


# The same of the functions that join parts.
JOIN = {
    "a core is left out": ("core < 64", "core < 63"),
    "one core's part is not joined": ("core = 0;", "core = 1;"),
    "parts of fewer cores are fetched": ("s_all, 512,", "s_all, 504,"),
    "nobody waits for the parts": ("dma_wait(&s_got, 1);", ""),
    "parts from another place": ("s_parts[0]", "s_parts[1]"),
    "the variable begins anew": ("= *s;", "= 0;"),
    "nothing is stored": ("*s = s_part;", ""),
    "it is stored twice as large": ("*s = s_part;", "*s = s_part + s_part;"),
    "another operator": ("s_part + s_all", "s_part - s_all"),
    "the first part again and again": ("s_all[core]", "s_all[0]"),
    "room for fewer parts": ("s_all[64]", "s_all[32]"),
}  # fmt: skip


@pytest.mark.parametrize("what", JOIN)
def test_damaged_joins_are_found(what: str) -> None:
    entry = printed("dot")[1]
    ((name, (join, text)),) = entry.task.joins.items()
    assert entry.wrong(entry.text) == ""
    task = replace(entry.task, joins={name: (join, damaged(text, *JOIN[what], 0))})
    assert wrong_entry(entry.scop, entry.deps, task, entry.text, entry.words) != ""


BARRIER = "tw_barrier();"
ENTRY = {
    "parts are joined while cores gather": ("dot", BARRIER, ""),
    "all cores join": ("dot", "if (id == 0)", "if (id >= 0)"),
    "nobody joins": ("dot", "f_r1_join1(args);", ""),
    "they are joined twice": ("dot", "f_r1_join1(args);", "f_r1_join1(args); f_r1_join1(args);"),
    "cores go on before the sum is there": ("rounds", f"(args);\n  {BARRIER}", "(args);"),
}


@pytest.mark.parametrize("what", ENTRY)
def test_damaged_launches_are_found(what: str) -> None:
    name, old, new = ENTRY[what]
    entry = printed(name)[1]
    assert entry.wrong(damaged(entry.text, old, new, 0)) != ""


def test_parts_have_their_place_in_the_arguments() -> None:
    scop = printed("dot")[1].scop
    task = LaunchTask("f_r1", {}, frozenset(), {"s_parts": ("s", 64)})
    text = "f_r1_args tw_args = { .n = n };\ntw_start();\nathread_spawn(f_r1, &tw_args);\nathread_join();\n"
    assert wrong_launch(scop, task, ("int n;", "double s_parts[64];"), text) == ""
    for member in ("double s_parts[63];", "float s_parts[64];", "double *s_parts;"):
        assert wrong_launch(scop, task, ("int n;", member), text) != ""
