"""Variables of which each iteration has its own: when, what is copied back, and that the proof finds what is wrong."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from codegen.frontend.build import extract
from codegen.frontend.syntax.symbols import find_site
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.recognize.privatize.lastprivate import lastprivates
from codegen.recognize.privatize.lastprivate_proof import wrong_privatization
from codegen.scop.dependences import Dependences, compute_dependences
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Node
from codegen.source.parse import parse_with_gaps
from codegen.source_file import open_source

HEAD = "void f(int n, double A[n][8], double B[n][8], double *t, double w[8])\n{\n  double u = 0, v[8];\n"
# The body, and the variables that each iteration gets.
CASES = {
    "last scalar": ("for (int i = 0; i < n; i++) { u = A[i][0]; B[i][0] = u * u; }", "u"),
    "down": ("for (int i = n - 1; i >= 0; i--) { u = A[i][0]; B[i][0] = u * u; }", "u"),
    "array": ("for (int i = 0; i < n; i++) { for (int j = 0; j < 8; j++) w[j] = A[i][j];"
              " for (int j = 0; j < 8; j++) B[i][j] = w[7 - j]; }", "w"),
    "some elements": ("for (int i = 1; i < n; i++) { for (int j = 0; j < 8; j++) if (j < i) w[j] = A[i][j];"
                      " for (int j = 0; j < 8; j++) if (j < i) B[i][j] = w[j]; }", "w"),
    "forgotten array": ("for (int i = 0; i < n; i++) { for (int j = 0; j < 8; j++) v[j] = A[i][j];"
                        " for (int j = 0; j < 8; j++) B[i][j] = v[7 - j]; }", "v"),
    "ends from before": ("for (int i = 0; i < n; i++) { for (int j = 1; j < 7; j++) w[j] = A[i][j];"
                         " for (int j = 1; j < 7; j++) B[i][j] = w[j - 1] + w[j] + w[j + 1]; }", "w"),
    "ends set here": ("w[0] = 1; w[7] = 2; for (int i = 0; i < n; i++) { for (int j = 1; j < 7; j++) w[j] = A[i][j];"
                      " for (int j = 1; j < 7; j++) B[i][j] = w[j - 1] + w[j] + w[j + 1]; }", "w"),
    "used in the next loop": ("for (int i = 0; i < n; i++) { u = A[i][0]; B[i][0] = u * u; }"
                              " for (int i = 0; i < n; i++) B[i][1] = u;", "u"),
    "first then changed": ("for (int i = 0; i < n; i++) { w[1] = A[i][1]; B[i][0] = w[0] + w[1];"
                           " if (i == n - 1) w[0] = 3; }", ""),
    "carried": ("for (int i = 0; i < n; i++) { u += A[i][0]; B[i][0] = u * u; }", ""),
    "read first": ("for (int i = 0; i < n; i++) { B[i][0] = u; u = A[i][0]; }", ""),
    "between": ("for (int i = 0; i < n; i++) { w[0] = A[i][0]; B[i][0] = w[0] + w[1]; }", "w"),
    "no gain": ("for (int i = 1; i < n; i++) { u = A[i][0]; B[i][0] = B[i - 1][0] + u; }", ""),
}


def source(body: str) -> str:
    return f"{HEAD}#pragma scop\n  {body}\n#pragma endscop\n  *t = u;\n}}\n"


@pytest.mark.parametrize("name", CASES)
def test_who_gets_an_own(name: str) -> None:
    body, wanted = CASES[name]
    made = generate(name, source(body), GenOptions())
    notes = [d.message for d in made.diagnostics if d.id == "privatized"]
    assert [m.split("`")[1] for m in notes] == wanted.split()
    assert ("#pragma omp parallel for" in made.text) == bool(wanted)


def _model(text: str) -> tuple[Scop, Node, Dependences]:
    """The region as it is written."""
    piece = open_source("in.c", text, GenOptions()).slices[0]
    parsed = parse_with_gaps(piece)
    site = find_site(parsed.ast, piece.file, piece.region.first_line, piece.region.last_line, parsed.hidden)
    found = extract(site, 1, piece.pure_functions, [])
    assert found.tree is not None
    return found.scop, found.tree, compute_dependences(found.scop, found.tree)


def test_the_proof_finds_a_copy_of_another_iteration() -> None:
    scop, tree, deps = _model(source(CASES["last scalar"][0]))
    made = lastprivates(scop, tree, deps)
    assert made is not None and made.names == ("u",)
    assert not wrong_privatization(scop, tree, made.scop, made.tree, "u", "u_own")
    copy = made.scop.statements[-1]
    early = copy.domain.lexmin().apply(isl.Map("[n] -> { S3[i] -> S3[0] : n > 0 }"))
    accesses = tuple(replace(a, relation=a.relation.intersect_domain(early)) for a in _everywhere(copy))
    wrong = replace(made.scop, statements=(*made.scop.statements[:-1], replace(copy, domain=early, accesses=accesses)))
    assert "last value" in wrong_privatization(scop, tree, wrong, made.tree, "u", "u_own")


def test_the_proof_finds_a_missing_copy_and_shared_values() -> None:
    scop, tree, deps = _model(source(CASES["array"][0]))
    made = lastprivates(scop, tree, deps)
    assert made is not None and made.names == ("w",)
    copy = made.scop.statements[-1]
    fewer = copy.domain.intersect(isl.Set("[n] -> { S3[i, e] : e < 7 }"))
    accesses = tuple(replace(a, relation=a.relation.intersect_domain(fewer)) for a in copy.accesses)
    wrong = replace(made.scop, statements=(*made.scop.statements[:-1], replace(copy, domain=fewer, accesses=accesses)))
    assert "last value" in wrong_privatization(scop, tree, wrong, made.tree, "w", "w_own")
    first = made.scop.statements[0]
    turned = replace(first, accesses=(_shifted(first.accesses[0]), *first.accesses[1:]))
    wrong = replace(made.scop, statements=(turned, *made.scop.statements[1:]))
    assert wrong_privatization(scop, tree, wrong, made.tree, "w", "w_own")


def _everywhere(copy: Statement) -> tuple[Access, ...]:
    return tuple(replace(a, relation=isl.Map.from_multi_pw_aff(a.index)) for a in copy.accesses)


def _shifted(a: Access) -> Access:
    """Written one iteration too late."""
    later = isl.Map("{ w_own[i, j] -> w_own[i + 1, j] }")
    return replace(a, relation=a.relation.apply_range(later))
