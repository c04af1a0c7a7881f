"""Regions inside constructs of OpenMP and OpenACC."""

from __future__ import annotations

import pytest

from codegen.diagnostics import Severity
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate

REGION = """
#pragma scop
    for (int i = 0; i < n; i++)
      a[i] = 2 * b[i];
#pragma endscop
"""


def _made(before: str, after: str = "}") -> Generated:
    text = f"void f(int n, int m, double *a, double *b)\n{{\n{before}{REGION}{after}\n  (void)m;\n}}\n"
    return generate("f.c", text, GenOptions())


AROUND = {
    "parallel": "#pragma omp parallel\n{",
    "for": "#pragma omp for schedule(static)\nfor (int k = 0; k < m; k++) {",
    "parallel for": "#pragma omp parallel for num_threads(2)\nfor (int k = 0; k < m; k++) {",
    "single": "#pragma omp parallel\n{\n#pragma omp single nowait\n{",
    "task": "#pragma omp task firstprivate(n)\n{",
    "sections": "#pragma omp parallel sections\n{\n#pragma omp section\n{",
    "critical": "#pragma omp critical (name)\n{",
}


@pytest.mark.parametrize("name", sorted(AROUND))
def test_one_thread_inside_a_construct(name: str) -> None:
    before = AROUND[name]
    made = _made(before, "}" * before.count("{"))
    (warning,) = [d for d in made.diagnostics if d.severity is Severity.WARNING]
    assert (warning.id, warning.loc.line) == ("inside-construct", 4 + before.count("\n"))
    assert made.regions[0].transformed and made.text.count("#pragma omp") == before.count("#pragma omp")
    assert ("each thread of the team runs the whole region" in warning.message) == (name == "parallel")


@pytest.mark.parametrize("before", [
    "#pragma omp parallel for\nfor (int k = 0; k < m; k++)\n  b[k] = 0;\n{",
    "#pragma omp barrier\n{",
    "#pragma omp target enter data map(to : a[0 : n])\n{",
    "#pragma GCC ivdep\nfor (int k = 0; k < m; k++) {",
])  # fmt: skip
def test_what_is_no_construct_around_the_region(before: str) -> None:
    made = _made(before)
    assert not [d for d in made.diagnostics if d.severity is Severity.WARNING]
    assert "#pragma omp parallel for simd" in made.text
