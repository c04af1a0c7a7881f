"""What the master hands to a launch is proven from the text of the region: damaged text is refused."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple
from unittest import mock

import pytest

from codegen.options import GenOptions
from codegen.region import model_region
from codegen.scop.model import Scop
from codegen.source_file import open_source
from codegen.sunway import read_back
from codegen.sunway.region import for_cores
from codegen.verify.cores.launches.arguments import LaunchTask, wrong_launch

STEPS = """void f(int T, long n, float c, double A[n][n], double B[n][n], double s) {
#pragma scop
for (int t = 0; t < T; t++) {
  for (long i = 1; i < n - 1; i++) for (long j = 1; j < n - 1; j++)
    B[i][j] = c * (A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]) + s;
  for (long i = 1; i < n - 1; i++) for (long j = 1; j < n - 1; j++) A[i][j] = B[i][j];
}
#pragma endscop
}
"""
VARIABLE = """void f(int n, int m, double s, double x[n], double y[n], double A[n][n]) {
#pragma scop
for (int k = 0; k < m; k++) {
  double t;
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) x[i] += A[i][j] * y[j];
  t = x[0] * 2.0;
  s = s + t;
  for (int i = 0; i < n; i++) y[i] = y[i] + t * x[i];
}
#pragma endscop
}
"""
SOURCES = {"steps": STEPS, "variable": VARIABLE}


class Started(NamedTuple):
    """What the proof is asked."""

    scop: Scop
    task: LaunchTask
    members: tuple[str, ...]
    text: str


@cache
def started(name: str) -> Started:
    """The first launch of a region."""
    chosen = GenOptions(target="sunway", stem="f", scheme="no-forms")
    (s,) = open_source("f.c", SOURCES[name], chosen).slices
    model = model_region(s, chosen)
    assert model is not None
    found: list[Started] = []

    def note(*args: object) -> str:
        found.append(Started(*args))  # type: ignore[arg-type]
        return wrong_launch(*args)  # type: ignore[arg-type]

    with mock.patch.object(read_back, "wrong_launch", note):
        for_cores(s, model, chosen, SOURCES[name])
    return found[0]


@pytest.mark.parametrize("name", SOURCES)
def test_arguments_are_proven(name: str) -> None:
    assert wrong_launch(*started(name)) == ""


# What is damaged, and what stands there instead: in the text of the region, or among the members of the struct.
CHANGES = {
    "another size": (".n = n", ".n = T"),
    "a size too small": (".n = n", ".n = n - 1"),
    "a value is left out": (".T = T, ", ""),
    "a value comes twice": (".T = T", ".T = T, .T = n"),
    "something else is set": (".T = T", ".T = T, .q = n"),
    "another array": (".A = (void *)A", ".A = (void *)B"),
    "the next row": (".A = (void *)A", ".A = (void *)(A + 1)"),
    "the address of a pointer": (".A = (void *)A", ".A = (void *)&A"),
    "the value of a variable for its address": (".s = s", ".s = c"),
    "too little memory": ("malloc((long)(n) * (n) * sizeof(double))", "malloc((long)(n) * sizeof(double))"),
    "elements that are too small": ("sizeof(double)", "sizeof(float)"),
    "no second copy": (".A_other = malloc", ".A_other = tw_none"),
    "nobody waits": ("athread_join();", ""),
    "cores start twice": ("athread_join();", "athread_spawn(f_r1, &tw_args);\nathread_join();"),
    "something else starts": ("athread_spawn(f_r1,", "athread_spawn(f_r2,"),
    "memory is freed while it is used": (
        "athread_join();",
        "free(tw_args.A_other);\nathread_join();",
    ),
    "memory is not freed": ("free(tw_args.A_other);", ""),
    "no cores": ("tw_start();", ""),
    "sizes in few bits": ("long n;", "int n;"),
    "sizes without a sign": ("int T;", "unsigned int T;"),
    "another number": ("float c;", "double c;"),
    "other elements": ("double *A;", "float *A;"),
    "a pointer to a pointer": ("double *A;", "double **A;"),
    "an array as a number": ("double *A;", "double A;"),
    "a variable by its value": (".s = (void *)&s", ".s = (void *)s"),
    "a variable of the region with a value": (".n = n", ".n = n, .t = 1"),
    "a variable of the region is too large": ("double t;", "double t[2];"),
    "a variable of the region is too small": ("double t;", "float t;"),
    "a member more": ("double *A;", "double *A; int more;"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_damage_is_found(what: str) -> None:
    old, new = CHANGES[what]
    name = "variable" if "variable" in what and "value of" not in what else "steps"
    scop, task, members, text = started(name)
    lines = tuple(m.replace(old, new) if m == old else m for m in members)
    changed = text if lines != members else text.replace(old, new, 1)
    assert (lines, changed) != (members, text)
    assert wrong_launch(scop, task, lines, changed) != ""
