"""Scalars of the function that serve the region alone."""

from __future__ import annotations

from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.scop.model import Scop
from codegen.source_file import open_source

PARAMS = "int n, double A[n][n], double v[n], double w[n]"


def scop(body: str, declared: str = "double t;") -> Scop:
    text = f"void f({PARAMS})\n{{\n  {declared}\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program.scop


def variables(s: Scop) -> dict[str, int]:
    return {n: a.scope for n, a in s.arrays.items() if a.inside}


TWO = """
for (int i = 0; i < n; i++) {
  t = v[i];
  w[i] = t * t;
}
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) {
    t = w[j];
    A[i][j] = t + t;
  }"""


def test_a_scalar_with_two_purposes_becomes_two() -> None:
    found = scop(TWO)
    assert variables(found) == {"t": 1, "t2": 2}
    used = {s.name: [a.array for a in s.accesses if found.arrays[a.array].inside] for s in found.statements}
    assert used == {"S1": ["t"], "S2": ["t"], "S3": ["t2"], "S4": ["t2"]}


def test_names_of_the_function_are_not_taken() -> None:
    found = scop(TWO.replace("v[i];", "v[i] + t2;", 1), "double t, t2 = 1;")
    assert variables(found) == {"t": 1, "t2_": 2}


def test_a_value_that_flows_on_keeps_one_variable() -> None:
    body = "t = 0; for (int i = 0; i < n; i++) t += v[i]; for (int i = 0; i < n; i++) w[i] = t;"
    assert variables(scop(body)) == {"t": 0}


def test_a_scalar_from_before_the_region_stays() -> None:
    """Where its value is used; the loop that only overwrites it gets one for each iteration, the last copied back."""
    body = "for (int i = 0; i < n; i++) t += v[i]; for (int i = 0; i < n; i++) { t = w[i]; v[i] = t; }"
    assert variables(scop(body, "double t = 1;")) == {"t_own": 1}
