"""What stands around a region does not keep it out: labels of a `switch`, code that is switched off, allocators."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.sources import run

LOOP = "#pragma scop\n  for (i = 0; i < n; i++) {\n    p = a + i;\n    *p = b[i];\n  }\n#pragma endscop\n"
HEAD = "void f(int n, double *a, const double *b)\n"
SIZES = "typedef struct { int n; double *q; } box;\nvoid *room(int, unsigned long);\n"


def left(text: str) -> list[str]:
    """Why regions are left as they are."""
    made = generate("in.c", text, GenOptions(target="c"))
    return [n.id for d in made.diagnostics if d.id == "region-refused" for n in d.notes[:1]]


def test_a_region_may_stand_behind_a_case() -> None:
    loop = "#pragma scop\n    for (int i = 0; i < n; i++)\n      a[i] = b[i] * {0};\n    a[0] = {0};\n#pragma endscop\n"
    text = (
        f"void f(int what, int n, double a[n], const double b[n])\n{{\n  switch (what) {{\n  case 1:\n{loop.format(2)}"
        f"    break;\n  case 2: a[0] = 7; break;\n  default:\n    a[1] = 1;\n{loop.format(3)}  }}\n}}\n"
    )
    report = run(text, GenOptions(target="c"))
    assert report.ok and all("size vectors agree" in line for line in report.lines), report.lines


@pytest.mark.parametrize(
    ("before", "behind", "id"),
    [
        ("#ifdef DEBUG\n  print(n);\n#endif\n", "p = a; *p = 1;", []),
        ("", "#ifdef DEBUG\n  print(n);\n#endif\n  p = a; *p = 1;", []),
        ("", "#ifdef DEBUG\n  if (n > 3)\n#endif\n  p = a; *p = 1;", ["pointer-unknown"]),
        ("", "#ifdef DEBUG\n  use(p);\n#endif\n  p = a; *p = 1;", ["pointer-unknown"]),
        ("", "#ifdef DEBUG\n  print(n);\n#else\n  p = a;\n#endif\n *p = 1;", ["pointer-unknown"]),
        ("", "#ifdef DEBUG\n  SKIP(n);\n#endif\n  p = a; *p = 1;", ["pointer-unknown"]),
    ],
)
def test_code_that_is_switched_off_may_use_what_it_names(before: str, behind: str, id: list[str]) -> None:
    assert left(f"{HEAD}{{\n  double *p;\n  int i;\n{before}{LOOP}  {behind}\n}}\n") == id


def test_another_header_of_the_function_uses_nothing() -> None:
    header = f"#ifdef OLD\nvoid f(n, a, b)\nint n;\ndouble *a, *b;\n#else\n{HEAD}#endif\n"
    assert left(f"{header}{{\n  double *p;\n  int i;\n{LOOP}}}\n") == []


@pytest.mark.parametrize(
    ("value", "id"),
    [
        ("(double *)room(g->n, sizeof(double))", []),
        ("(double *)room((long)g, 8)", ["nonaffine-bound"]),
        ("(double *)(long)g", ["nonaffine-bound"]),
    ],
)
def test_sizes_that_a_call_is_given_are_no_addresses(value: str, id: list[str]) -> None:
    loop = "#pragma scop\n  for (int i = 0; i < g->n; i++)\n    p[i] = b[i];\n#pragma endscop\n"
    assert left(f"{SIZES}void f(box *g, const double *b)\n{{\n  double *p = {value};\n{loop}  g->q = p;\n}}\n") == id
