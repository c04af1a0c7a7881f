"""Scalars whose place an element can take, and those that must stay."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.recognize.products.forward import candidates, forward, forwarded
from codegen.region_model import model_region
from codegen.scop.model import Statement
from codegen.scop.tree import statements
from codegen.source_file import open_source
from codegen.transform.program import Program

PARAMS = "int n, double A[n][n], double B[n][n], double C[n][n], float F[n][n], int I[n][n], double v[n], double *p"
GATHER = "for (int k = 0; k < n; k++) s += A[i][k] * B[k][j];"


def program(body: str, inside: bool = True) -> Program:
    if inside:
        body = f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {body} }}"
    text = f"void f({PARAMS})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


def accesses(s: Statement) -> list[str]:
    return [a.array for a in s.accesses]


@pytest.mark.parametrize("first", ["0", "C[i][j]", "0.5 * C[i][j]", "v[i]"])
def test_the_element_takes_the_scalars_place(first: str) -> None:
    p = program(f"double s = {first}; {GATHER} C[i][j] = s;")
    assert candidates(p.scop) == ("s",)
    made = forward(p.scop, p.tree, "s")
    assert made is not None
    scop, tree = made
    assert "s" not in scop.arrays
    # `C[i][j] = C[i][j]` does nothing and goes, too; the copy always does.
    assert [s.name for s in scop.statements] == (["S2"] if first == "C[i][j]" else ["S1", "S2"])
    assert sorted(statements(tree)) == [s.name for s in scop.statements]
    assert accesses(scop.statement("S2")) == ["C", "A", "B", "C"]
    assert all(a.array != "s" for s in scop.statements for a in s.accesses)
    want, got = p.scop.statement("S3").accesses[0].relation, scop.statement("S2").accesses[0].relation
    assert got.range().is_equal(want.range())


ALLOWED = {
    "double s = 0; for (int k = 0; k < n; k++) { s += A[i][k]; s -= B[k][j]; } C[i][j] = s;": "two statements gather",
    "double s = 0; if (i > j) { s = 1; } C[i][j] = s;": "a condition of the loops",
    "double s; s = v[j]; C[i][j] = s; v[i] = 3;": "declared first, and others after it",
    "float s = 0; for (int k = 0; k < n; k++) s += A[k][j]; F[j][i] = s;": "in another order",
    "double s = 0; for (int k = j + 1; k < n; k++) s += C[i][k]; C[i][j] = s;": "other elements of the array",
}


@pytest.mark.parametrize("body", ALLOWED)
def test_allowed(body: str) -> None:
    p = program(body)
    found = forward(p.scop, p.tree, "s")
    assert found is not None


REFUSED = {
    "double s = 0; %s C[i][j] = s; v[i] = s;": "used after the copy",
    "double s = 0; %s C[i][j] = s; s = 1; v[j] = s;": "lives on after the copy",
    "double s = 0; %s C[i][j] = s; B[i][j] = s;": "copied twice",
    "double s = 0; %s if (i != j) C[i][j] = s;": "not always copied",
    "double s = 0; C[i][j] = 1; %s v[i] += C[i][j]; C[i][j] = s;": "the element is looked at in between",
    "double s = 0; v[i] = C[i][j]; %s C[i][j] = s;": "the element is looked at in between",
    "double s = 0; for (int k = 0; k < n; k++) s += C[k][j]; C[i][j] = s;": "the element is looked at in between",
    "double s = 0; %s C[i][j] += s;": "no copy",
    "double s = 0; %s C[i][j] = s + C[i][j];": "the element's old value is needed",
    "double s = 0; %s C[i][j] = s * C[j][i];": "the element's old value is needed where i is j",
    "double s = v[i]; C[i][j] = s + 1;": "nothing is gathered",
    "double s = 0; %s F[i][j] = s;": "another type",
    "double s = 0; %s I[i][j] = s;": "another type",
    "float s = 0; %s C[i][j] = s;": "another type",
    "double s = 0; %s double t; t = s; C[i][j] = t;": "copied to another variable",
    "double s = 0; for (int k = 0; k < n; k++) s += C[i][j] * 0 + A[i][k]; C[i][j] = s;": "the element is looked at",
    "float s = 0; for (int k = 0; k < n; k++) s += F[k][j]; F[j][i] = s;": "the element is looked at where i is j",
    "double s[2]; s[0] = 0; s[1] = 1; C[i][j] = s[0];": "an array",
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused(body: str) -> None:
    p = program(body.replace("%s", GATHER))
    assert forward(p.scop, p.tree, "s") is None


@pytest.mark.parametrize("last", ["s + 1", "s / v[j]", "s / C[n - 1 - i][n + 1]", "2 * s - s"])
def test_the_last_use_may_compute(last: str) -> None:
    p = program(f"double s = C[i][j]; {GATHER} C[i][j] = {last};")
    found = forward(p.scop, p.tree, "s")
    assert found is not None
    scop, tree = found
    assert sorted(statements(tree)) == ["S2", "S3"]
    assert "s" not in {a.array for _, a in scop.accesses()}


def test_one_copy_for_every_object() -> None:
    """Declared outside the inner loop, one scalar serves several elements."""
    inner = "for (int j = 0; j < n; j++) { s += A[i][j]; C[i][j] = s; }"
    p = program(f"for (int i = 0; i < n; i++) {{ double s = 0; {inner} }}", inside=False)
    assert forward(p.scop, p.tree, "s") is None
    assert forwarded(p.scop, "s") is None


def test_elements_that_several_objects_are_copied_to() -> None:
    """In the source's order each object is done before the next begins; where they live side by side, none can go."""
    body = "for (int i = 0; i < n; i++) { double s = v[i]; s += 1; *p = s; }"
    p = program(body, inside=False)
    assert forward(p.scop, p.tree, "s") is not None
    from codegen.plan_reader.parse import parse
    from codegen.transform.apply import apply

    (plan,) = parse("region 1\n  distribute i\n", "p", {1: p.scop})
    q = apply(p, plan.directives[0])
    assert forward(q.scop, q.tree, "s") is None


def test_variables_of_the_function_stay() -> None:
    """Others may look at them after the region."""
    p = program("p[1] = v[0]; *p = p[1];", inside=False)
    assert candidates(p.scop) == () and forwarded(p.scop, "p") is None
