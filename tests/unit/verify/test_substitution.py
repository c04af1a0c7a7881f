"""Values in place of temporaries are proven from the regions before and after: faults at every part are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl
import pytest

from codegen.options import GenOptions
from codegen.recognize.products.substitution import substituted
from codegen.region_model import model_region
from codegen.scop.expr import Binary, Call, Cast, Expr, Ref, Ternary, with_leaves
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Node, Seq, kids, put, seq, walk
from codegen.source_file import open_source
from codegen.transform.program import Program
from codegen.verify.substitution import wrong_substitution

NEST = """void f(int n, double C[n][n], double A[n][n + 1], double B[n][n], float D[n][n])
{{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {{
        {body}
      }}
#pragma endscop
}}
"""
LEAST = "double t = A[i][k] + B[k][j]; if (t < C[i][j]) C[i][j] = t;"


def program(body: str) -> Program:
    text = NEST.format(body=body)
    (s,) = open_source("in.c", text, GenOptions()).slices
    model = model_region(s, GenOptions())
    assert model is not None
    return model.program


def both(body: str, name: str = "t") -> tuple[Program, Scop, Node]:
    p = program(body)
    found = substituted(p.scop, p.tree, name)
    assert found is not None
    return p, *found


RIGHT = {
    "a choice": LEAST,
    "twice": "double t = A[i][k] * B[k][j]; C[i][j] += t * t;",
    "in another type": "float t = A[i][k] * B[k][j]; C[i][j] += t;",
    "a sum of its own": "double t = A[i][k]; t += B[k][j]; C[i][j] -= t;",
    "one of two": "double t = A[i][k]; if (B[k][j] < t) t = B[k][j]; C[i][j] += t;",
    "of an iterator": "double t = A[i][k + 1] * (i + 2 * k); C[i][j] += t;",
    "what it is added to": "double t = C[i][j]; C[i][j] = t + A[i][k] * B[k][j];",
    "for several": "double t = A[i][k] * B[k][j]; C[i][j] += t; D[i][j] -= t;",
}


@pytest.mark.parametrize("what", RIGHT)
def test_right_ones_pass(what: str) -> None:
    p, after, tree = both(RIGHT[what])
    assert "t" not in after.arrays and wrong_substitution(p.scop, p.tree, after, tree, "t") == ""


WRONG = {
    "what it reads is written meanwhile": "double t = C[i][j] * B[k][j]; C[i][j] = A[i][k]; C[i][j] += t;",
    "by another loop's step": "double t = A[i][k]; A[i][k] = B[k][j]; C[i][j] += t;",
    "a value from before": "double t; if (k == 0) t = B[k][j]; C[i][j] += A[i][k]; C[i][j] += t;",
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_ones_are_refused(what: str) -> None:
    p = program(WRONG[what])
    found = substituted(p.scop, p.tree, "t")
    assert found is None or wrong_substitution(p.scop, p.tree, *found, "t")


def test_values_of_two_assignments_are_refused() -> None:
    """Data decide which one is read."""
    p = program("double t = A[i][k]; if (B[k][j] > 0) { t = B[k][j]; } C[i][j] += t;")
    found = substituted(p.scop, p.tree, "t")
    assert found is None or wrong_substitution(p.scop, p.tree, *found, "t") == ""
    p = program("double t = A[i][k]; if (j < k) t = B[k][j]; C[i][j] += t;")
    found = substituted(p.scop, p.tree, "t")
    assert found is None or wrong_substitution(p.scop, p.tree, *found, "t")


def changed(after: Scop, change: Callable[[Statement], Statement]) -> Scop:
    """The region with another last statement."""
    *others, last = after.statements
    return replace(after, statements=(*others, change(last)))


def expression(change: Callable[[Expr], Expr]) -> Callable[[Statement], Statement]:
    return lambda s: replace(s, rhs=change(s.rhs))


def moved(s: Statement, array: str) -> Statement:
    """With the element of the next iteration of the innermost loop."""
    (k,) = (n for n, a in enumerate(s.accesses) if a.array == array and not a.write)
    a = s.accesses[k]
    shift = isl.Map("[n] -> { S2[i, j, k] -> S2[i, j, k + 1] }")
    accesses = list(s.accesses)
    accesses[k] = replace(a, relation=shift.apply_range(a.relation))
    return replace(s, accesses=tuple(accesses))


def _exchanged(e: Expr) -> Expr:
    assert isinstance(e, Ternary) and isinstance(e.yes, Binary)
    return replace(e, yes=replace(e.yes, left=e.yes.right, right=e.yes.left))


def _other_operation(e: Expr) -> Expr:
    assert isinstance(e, Ternary) and isinstance(e.yes, Binary)
    return replace(e, yes=replace(e.yes, op="-"))


def _other_condition(e: Expr) -> Expr:
    assert isinstance(e, Ternary)
    return replace(e, cond=replace(e.cond, op="<="))


FAULTS: dict[str, Callable[[Statement], Statement]] = {
    "operands are exchanged": expression(_exchanged),
    "another operation": expression(_other_operation),
    "another condition": expression(_other_condition),
    "the other branch": expression(lambda e: replace(e, yes=e.no, no=e.yes)),
    "stored in any case": expression(lambda e: replace(e, branch=False)),
    "one value in place of a sum": expression(lambda e: replace(e, yes=Ref(2))),
    "a conversion too many": expression(lambda e: replace(e, yes=Cast("float", e.yes))),
    "a call": expression(lambda e: Call("fmin", (e.yes, e.no))),
    "one element for all": expression(lambda e: with_leaves(e, lambda x: Ref(2) if isinstance(x, Ref) else x)),
    "the next element": lambda s: moved(s, "A"),
    "the next row": lambda s: moved(s, "B"),
    "fewer instances": lambda s: replace(s, domain=s.domain.intersect(isl.Set("[n] -> { S2[i, j, k] : k > 0 }"))),
    "added to": lambda s: replace(s, op="+="),
    "another target": lambda s: replace(s, accesses=(replace(s.accesses[2], write=True), *s.accesses[1:])),
}


@pytest.mark.parametrize("what", FAULTS)
def test_planted_faults_are_found(what: str) -> None:
    p, after, tree = both(LEAST)
    assert wrong_substitution(p.scop, p.tree, after, tree, "t") == ""
    assert wrong_substitution(p.scop, p.tree, changed(after, FAULTS[what]), tree, "t")


def test_a_conversion_that_is_missing_is_found() -> None:
    p, after, tree = both(RIGHT["in another type"])

    def bare(e: Expr) -> Expr:
        assert isinstance(e, Cast)
        return e.arg

    assert wrong_substitution(p.scop, p.tree, changed(after, expression(bare)), tree, "t")


def test_another_order_is_found() -> None:
    p, after, tree = both("double t = A[i][k] * B[k][j]; C[i][j] += t; C[i][j] = C[i][j] * 2;")
    path, parts = next((path, n) for path, n in walk(tree) if isinstance(n, Seq))
    swapped = put(tree, path, seq(list(kids(parts))[::-1]))
    assert wrong_substitution(p.scop, p.tree, after, tree, "t") == ""
    assert "another order" in wrong_substitution(p.scop, p.tree, after, swapped, "t")
    other = replace(after, statements=after.statements[::-1])
    assert wrong_substitution(p.scop, p.tree, other, tree, "t")


def test_no_variable_of_the_region_is_refused() -> None:
    p = program(LEAST)
    assert substituted(p.scop, p.tree, "C") is None
    assert wrong_substitution(p.scop, p.tree, p.scop, p.tree, "C")
    assert wrong_substitution(p.scop, p.tree, p.scop, p.tree, "t")
