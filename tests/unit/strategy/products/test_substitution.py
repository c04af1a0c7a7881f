"""Which temporaries have their values computed where they are read: parts of a product's step, in any semiring and
spelling, and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from codegen.options import GenOptions
from codegen.pipeline import Generated, generate

NEST = """#include <math.h>
void f(int n, {t} C[n][n], {t} A[n][n], {t} B[n][n], {t} D[n][n][n])
{{
  {outside}
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {{
        {body}
      }}
#pragma endscop
  {after}
}}
"""


def made(body: str, t: str = "double", outside: str = "", after: str = "", machine: str = "haswell") -> Generated:
    text = NEST.format(body=body.replace("T ", f"{t} "), t=t, outside=outside.replace("T ", f"{t} "), after=after)
    return generate("in.c", text, GenOptions(machine=machine, target="c"))


SEMIRINGS = {
    "min-plus": ("double", "A[i][k] + B[k][j]", "<", "fmin"),
    "max-plus": ("float", "A[i][k] + B[k][j]", ">", "fmaxf"),
    "max-min": ("double", "A[i][k] < B[k][j] ? A[i][k] : B[k][j]", ">", "fmax"),
}
FOLDS = {
    "ternary": "C[i][j] = C[i][j] {op} t ? C[i][j] : t;",
    "if": "if (t {op} C[i][j]) C[i][j] = t;",
    "call": "C[i][j] = {call}(C[i][j], t);",
}
ONE = {
    "one": "T t = {value};",
    "two": "T a = A[i][k]; T t = {value};",
    "three": "T a = A[i][k], b = B[k][j]; T t = {value};",
    "set": "T t; t = {value};",
}


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("semiring", SEMIRINGS)
def test_semirings(semiring: str, fold: str) -> None:
    t, value, op, call = SEMIRINGS[semiring]
    found = made(f"T t = {value}; {FOLDS[fold].format(op=op, call=call)}", t)
    assert "substitute t\n" in found.plan and "product S2 rows i columns j depth k" in found.plan
    (told,) = [d.message for d in found.diagnostics if d.id == "substituted"]
    assert told.startswith("`t`: the value is computed where it is read")


@pytest.mark.parametrize("form", ONE)
@pytest.mark.parametrize("body", ["C[i][j] += t;", "C[i][j] |= t;"])
def test_temporaries(form: str, body: str) -> None:
    operator = "*" if "+" in body else "&"
    left, right = {"one": ("A[i][k]", "B[k][j]"), "two": ("a", "B[k][j]"), "three": ("a", "b")}.get(
        form, ("A[i][k]", "B[k][j]")
    )
    value = f"{left} {operator} {right}"
    found = made(f"{ONE[form].format(value=value)} {body}", "int")
    names = {"one": "t", "set": "t", "two": "at", "three": "abt"}[form]
    assert re.findall(r"substitute (\w)", found.plan) == list(names)
    assert re.search(r"product S\d rows i columns j depth k", found.plan)


OTHERS = {
    "a result of several": "T c = C[i][j]; T t = A[i][k] * B[k][j]; C[i][j] = c + t;",
    "a choice in two steps": "T t = A[i][k]; if (B[k][j] < t) t = B[k][j]; if (t > C[i][j]) C[i][j] = t;",
    "a choice of assignments": "T t; if (A[i][k] < B[k][j]) t = A[i][k]; else t = B[k][j]; C[i][j] = fmax(C[i][j], t);",
    "the result, too": "T s = A[i][k] + B[k][j]; T t = s < C[i][j] ? s : C[i][j]; C[i][j] = t;",
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_spellings(what: str) -> None:
    assert "product S" in made(OTHERS[what]).plan


def test_a_value_of_a_row_is_not_kept_for_all() -> None:
    """Instead of memory for all values of `a`."""
    text = NEST.format(body="BODY", t="double", outside="", after="")
    loops = text[text.index("    for (int j") : text.index("#pragma endscop")]
    line = """    for (int k = 0; k < n; k++) {
      double a = A[i][k];
      for (int j = 0; j < n; j++)
        C[i][j] += a * B[k][j];
    }
"""
    found = generate("in.c", text.replace(loops, line), GenOptions(machine="haswell", target="c"))
    assert "substitute a\n" in found.plan and "expand" not in found.plan and "product S2" in found.plan


def test_a_variable_of_the_function() -> None:
    """Nobody reads it after the region."""
    found = made("t = A[i][k] + B[k][j]; if (t < C[i][j]) C[i][j] = t;", outside="T t;")
    assert "substitute t\n" in found.plan and "product S2" in found.plan


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("float t = A[i][k] * B[k][j]; C[i][j] += t;", ""),  # a value in another type
        ("T t = A[i][k]; A[i][k] = B[k][j]; C[i][j] += t * B[k][j];", ""),  # an operand that changes
        ("T t = A[i][k] * B[k][j]; D[i][j][k] = t;", ""),  # no product
    ],
)
def test_what_is_no_product_stays(body: str, after: str) -> None:
    found = made(body, after=after)
    assert "substitute" not in found.plan and "product" not in found.plan


def test_a_value_that_is_read_later_is_kept() -> None:
    found = made("t = A[i][k] * B[k][j]; C[i][j] += t;", outside="T t = 0;", after="C[0][0] = t;")
    assert "substitute" not in found.plan or "t = " in found.text


def test_the_plan_is_replayed() -> None:
    """Statements that come after `substitute` are those without the temporary."""
    body = "T a = A[i][k], b = B[k][j]; C[i][j] += a * b;"
    text = NEST.format(body=body.replace("T ", "double "), t="double", outside="", after="")
    options = GenOptions(machine="haswell", target="c", banner=False)
    first = generate("in.c", text, options)
    again = generate("in.c", text, replace(options, plan_text=first.plan, plan_name="p"))
    assert "substitute a\n  substitute b\n" in first.plan
    assert (again.text, again.plan) == (first.text, first.plan)
