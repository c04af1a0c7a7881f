"""Data-dependent `if`, chained assignments and logical operators: what they become, in the model and in print."""

from __future__ import annotations

import re

import islpy as isl
import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.region_model import model_region
from codegen.scop.expr import Ref, Ternary, walk
from codegen.scop.model import Scop
from codegen.source_file import open_source

ARRAYS = "int n, int key, double *A, double *B, float *F, int *I, unsigned *U, long *L, short *H, unsigned char *C"


def source(body: str, params: str = ARRAYS) -> str:
    loop = f"  for (int i = 0; i < n; i++) {{\n    {body}\n  }}\n"
    return f"void f({params})\n{{\n#pragma scop\n{loop}#pragma endscop\n}}\n"


def scop_of(text: str) -> Scop:
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program.scop


def printed(text: str) -> list[str]:
    """The statements of the result, in order."""
    made = generate("in.c", text, GenOptions(target="c", banner=False, assume_no_alias=True))
    assert all(r.transformed for r in made.regions), [n.message for d in made.diagnostics for n in d.notes]
    inside = made.text.split("*/", 1)[1]
    return re.findall(r"^\s*((?:if \(.*\) )?[A-Z]\[.*;|[a-z]\w* = .*;)$", inside, re.M)


BODIES = {
    # An element that the condition reads can be read, but need not be writable.
    "if (A[i] < B[i]) A[i] = B[i];": "if (A[i] < B[i]) A[i] = B[i];",
    "if (B[i] > A[i]) { A[i] = B[i]; }": "if (B[i] > A[i]) A[i] = B[i];",
    "if (A[i] < 0) { { ; A[i] *= 2; } }": "if (A[i] < 0) A[i] = A[i] * 2;",
    "if (A[i] > 0 && B[i] > 0) A[i] = 1;": "if (A[i] > 0 && B[i] > 0) A[i] = 1;",
    # Only the source's own accesses are made.
    "if (B[i] > 0) A[i] = 1;": "if (B[i] > 0) A[i] = 1;",
    "if (B[i] > 0 && A[i] > 0) A[i] = 1;": "if (B[i] > 0 && A[i] > 0) A[i] = 1;",
    "if (B[i] > 0) A[i] += F[i];": "if (B[i] > 0) A[i] = A[i] + F[i];",
    "if (B[i] > 0) I[i]++;": "if (B[i] > 0) I[i] = I[i] + 1;",
    "if (B[i] > 0) ; else A[i] = 1;": "if (!(B[i] > 0)) A[i] = 1;",
    "if (B[i] > 0) { if (F[i]) A[i] = 1; } else A[i] = 2;": "if (B[i] > 0) { if (F[i]) A[i] = 1; } else A[i] = 2;",
    "if (B[i] > 0) A[i] = 1; else if (F[i] > 0) A[i] = 2;": "if (B[i] > 0) A[i] = 1; else if (F[i] > 0) A[i] = 2;",
    # Both ways store.
    "if (B[i] > 0) A[i] = F[i]; else A[i] = 2.0;": "A[i] = B[i] > 0 ? F[i] : 2.0;",
    "if (B[i] > 0) A[i] = F[i]; else A[i] = I[i];": "A[i] = B[i] > 0 ? (double)F[i] : (double)I[i];",
    "if (B[i] > 0) A[i] = 1; else if (B[i] < 0) A[i] = 2; else A[i] -= 3;": (
        "A[i] = B[i] > 0 ? 1 : B[i] < 0 ? 2 : A[i] - 3;"
    ),
    "if (B[i] > key) A[i] = B[i] > 1 ? 1 : 2; else A[i] = 0;": "A[i] = B[i] > key ? B[i] > 1 ? 1 : 2 : 0;",
    # Conversions of the source come before those of the conditional operator, where the order shows.
    "if (B[i] > 0) H[i] += I[i]; else H[i] = C[i];": "H[i] = B[i] > 0 ? H[i] + I[i] : C[i];",
    "if (B[i] > 0) L[i] = U[i]; else L[i] = -1;": "L[i] = B[i] > 0 ? (long)U[i] : (long)-1;",
    "if (U[i] < 5) U[i] = 5;": "if (U[i] < 5) U[i] = 5;",
    "if (B[i] > 0) U[i] = 1; else U[i] = I[i];": "U[i] = B[i] > 0 ? 1 : I[i];",
    "if (B[i] > 0) A[i] = F[i]; else A[i] = 20000001;": "A[i] = B[i] > 0 ? (double)F[i] : (double)20000001;",
    "if (I[i] > 0) I[i] = U[i];": "if (I[i] > 0) I[i] = (int)U[i];",
    "if (I[i] > 0) I[i] = F[i];": "if (I[i] > 0) I[i] = (int)F[i];",
    "if (H[i] > 0) H[i]--; else H[i] = 0.5;": "H[i] = H[i] > 0 ? (short)(H[i] - 1) : (short)0.5;",
    "if (F[i] > 0) F[i] = I[i];": "if (F[i] > 0) F[i] = I[i];",
    "if (F[i] > 0) F[i] = L[i]; else F[i] = 0.1;": "F[i] = F[i] > 0 ? (float)L[i] : (float)0.1;",
    # Logical and bitwise operators stay as they are.
    "I[i] = I[i] || (C[i] && H[i]);": "I[i] = I[i] || (C[i] && H[i]);",
    "I[i] = (I[i] || C[i]) && !(H[i] && C[i]);": "I[i] = (I[i] || C[i]) && !(H[i] && C[i]);",
    "I[i] |= C[i] & H[i];": "I[i] |= C[i] & H[i];",
    "I[i] = I[i] | (C[i] & (H[i] ^ 1));": "I[i] = I[i] | (C[i] & (H[i] ^ 1));",
    "I[i] = (C[i] > 0) + (H[i] > 0 ? 1 : 2);": "I[i] = (C[i] > 0) + (H[i] > 0 ? 1 : 2);",
}


@pytest.mark.parametrize("body", BODIES)
def test_body(body: str) -> None:
    assert printed(source(body)) == [BODIES[body]]


def test_chained_assignment_is_made_of_two() -> None:
    assert printed(source("A[i] = I[i] = B[i];")) == ["I[i] = B[i];", "A[i] = I[i];"]
    assert printed(source("A[i] += F[i] = C[i] -= 1;")) == ["C[i] -= 1;", "F[i] = C[i];", "A[i] += F[i];"]


def test_affine_parts_of_a_condition_split_the_domain() -> None:
    scop = scop_of(source("if (i > 3 && B[i - 1] > 0 && i < 9) A[i] = 1; else A[i] = 2;"))
    domains = [isl.Set("[n] -> { S1[i] : 3 < i < 9 and i < n }")]
    domains += [isl.Set("[n] -> { S2[i] : 0 <= i < n and (i <= 3 or i >= 9) }")]
    assert [s.domain.is_equal(d) for s, d in zip(scop.statements, domains, strict=True)] == [True, True]
    scop = scop_of(source("if (B[i] > 0 || i == 0) A[i] = B[i - 1];"))
    domains = [isl.Set("[n] -> { S1[i] : i = 0 and n > 0 }"), isl.Set("[n] -> { S2[i] : 0 < i < n }")]
    assert [s.domain.is_equal(d) for s, d in zip(scop.statements, domains, strict=True)] == [True, True]


def test_affine_conditions_stay_affine() -> None:
    (one, two) = scop_of(source("if (i > key) A[i] = 1; else A[i] = 2;")).statements
    assert not isinstance(one.rhs, Ternary) and one.domain.is_disjoint(two.domain.set_tuple_name("S1"))


def test_the_target_is_read_and_written() -> None:
    (s,) = scop_of(source("if (B[i] > 0) A[i] = 1;")).statements
    assert [(a.array, a.write) for a in s.accesses] == [("A", True), ("B", False), ("A", False)]
    assert isinstance(s.rhs, Ternary) and s.rhs.branch and s.op == "="


def test_mentions_of_one_element_are_one_access() -> None:
    (s,) = scop_of(source("if (A[i] + B[i] < A[i]) A[i] = A[i] + B[i];")).statements
    assert [(a.array, a.write) for a in s.accesses] == [("A", True), ("A", False), ("B", False)]
    assert sum(e == Ref(1) for e in walk(s.rhs)) == 4


def test_both_branches_need_no_old_value() -> None:
    (s,) = scop_of(source("if (B[i] > 0) A[i] = 1; else A[i] = 2;")).statements
    assert [(a.array, a.write) for a in s.accesses] == [("A", True), ("B", False)]


def test_integers_compared_with_data_are_no_parameters() -> None:
    assert [p.name for p in scop_of(source("if (I[i] > key) A[i] = 1;")).params] == ["n"]
    assert {p.name for p in scop_of(source("if (I[i] > 0 && i > key) A[i] = 1;")).params} == {"n", "key"}


def test_structs_are_copied_without_a_cast() -> None:
    text = "typedef struct { int a, b; } pair;\n" + source("if (p[i].a > 0) p[i] = q[i];", "int n, pair *p, pair *q")
    assert "if (p[i].a > 0) p[i] = q[i];" in generate("in.c", text, GenOptions()).text


def test_enumerated_types_keep_the_if() -> None:
    body = "if (A[i] > 0) e[i] = I[i]; else e[i] = red;"
    text = "enum colour { red, blue };\n" + source(body, "int n, double *A, int *I, enum colour *e")
    assert "if (A[i] > 0) e[i] = I[i]; else e[i] = red;" in generate("in.c", text, GenOptions()).text


def test_conditions_with_nothing_to_do_are_dropped() -> None:
    made = generate("in.c", source("if (B[i] > 0) { ; } B[i] = 1;"), GenOptions(target="c"))
    assert made.regions[0].transformed and "cond" not in made.text


SETTLED = {
    "a variable of the function": ("int most = 0;", "if (I[i] > most) most = I[i];", "I[0] = most;"),
    "an element that is stored in any case": ("", "A[i] = B[i]; if (A[i] < 0) A[i] = 0;", ""),
    "a count that begins with a store": ("", "A[i] = 0; if (B[i] > 0) A[i] = A[i] + 1;", ""),
}


@pytest.mark.parametrize("before, body, after", SETTLED.values(), ids=list(SETTLED))
def test_what_nobody_else_sees_may_be_stored_back(before: str, body: str, after: str) -> None:
    text = source(body).replace("#pragma scop", f"{before}\n#pragma scop")
    text = text.replace("#pragma endscop", f"#pragma endscop\n{after}")
    assert " ? " in generate("in.c", text, GenOptions(target="c")).text


def test_a_condition_that_the_innermost_loop_does_not_change_stays_a_branch() -> None:
    """Though the region stores to all of the elements before: one test for all iterations is cheaper than a choice."""
    text = """void mix(int n, int m, float *restrict out, const int *restrict muted, float in[m][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    out[i] = 0;
  for (int t = 0; t < m; t++)
    for (int i = 0; i < n; i++)
      if (!muted[t])
        out[i] += in[t][i];
#pragma endscop
}
"""
    assert "if (!muted[t]) out[i] = out[i] + in[t][i];" in generate("in.c", text, GenOptions(target="c")).text
    other = generate("in.c", text.replace("!muted[t]", "in[t][i] > 1"), GenOptions(target="c")).text
    assert "out[i] = in[t][i] > 1 ? out[i] + in[t][i] : out[i];" in other


def test_what_is_stored_only_later_is_not_read_before() -> None:
    body = "if (B[i] > 0) A[i] = B[i] + 1; A[i] = A[i] * 2 + A[i + 1];"
    assert "if (B[i] > 0) A[i] = B[i] + 1;" in generate("in.c", source(body), GenOptions(target="c")).text


@pytest.mark.parametrize("leak", ["int *p = &most;", "static int most_at; scanf(\"%d\", &most);"])
def test_a_variable_whose_address_goes_somewhere_is_not_stored_back(leak: str) -> None:
    text = source("if (I[i] > most) most = I[i];").replace("#pragma scop", f"int most = 0; {leak}\n#pragma scop")
    made = generate("in.c", text, GenOptions(target="c")).text
    assert "if (I[i] > most) most = I[i];" in made and "?" not in made
