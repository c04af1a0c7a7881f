"""Products are one text wherever their elements lie: proven once, and damaged text is refused there, too."""

from __future__ import annotations

import re

import pytest

from codegen.verify.text.blocked import product
from codegen.verify.text.blocked.elements import in_rows
from codegen.verify.text.blocked.product import claim, wrong_products
from codegen.verify.text.compare import COLUMN, DEPTH, ROW
from codegen.verify.text.printed import product_blocks
from codegen.verify.text.read import Node, nodes, read_expression, read_statements
from tests.unit.verify.text.blocked.test_product import changed, printed

ROWS = """void f(int n, int m, int l, double A[n][l], double B[l][m], double C[n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < l; k++)
      for (int j = 0; j < m; j++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
FLAT = """void f(int rows, int columns, int deep, int skip, double *a, double *b, double *c)
{
#pragma scop
  for (int r = 0; r < rows; r++)
    for (int d = 0; d < deep; d++)
      for (int q = 0; q < columns; q++)
        c[r * columns + q] += a[r * deep + d] * b[skip + d * columns + q];
#pragma endscop
}
"""


def read(source: str) -> tuple[Node, product.Claim]:
    """A product's text and claim."""
    emitted = printed("openmp", source)
    (view,), (text,) = emitted.products, product_blocks(emitted.plain)
    (block,) = read_statements(text)
    return block, claim(view.wanted, view.chosen, {})


def test_one_proof_is_for_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = printed("openmp", ROWS), printed("openmp", FLAT)
    assert wrong_products(one.plain, one.products) == ""
    monkeypatch.setattr(product, "_prove", lambda *_: pytest.fail("it was proven again"))
    assert wrong_products(other.plain, other.products) == ""


def test_one_proof_is_for_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers in place of variables are the same text, those of bounds that are expressions, too."""
    source = ROWS.replace("j = 0; j < m", "j = 1; j < m - 1")
    fixed = source.replace("int n, int m, int l, ", "")
    for name, number in (("n", "1000"), ("m", "1100"), ("l", "1200")):
        fixed = re.sub(rf"\b{name}\b", number, fixed)
    one, other = printed("openmp", source), printed("openmp", fixed)
    assert wrong_products(one.plain, one.products) == ""
    with monkeypatch.context() as patch:
        patch.setattr(product, "_prove", lambda *_: pytest.fail("it was proven again"))
        assert wrong_products(other.plain, other.products) == ""
    assert wrong_products(changed(other.plain, "tw_min(tw_kc, 1200", "tw_min(tw_kc, 1201", 0), other.products)


def test_elements_are_in_rows() -> None:
    block, wanted = in_rows(*read(FLAT))
    assert wanted.target == read_expression(f"tw_element2[{ROW}][{COLUMN}]")
    assert wanted.left.values == (read_expression(f"tw_element0[{ROW}][{DEPTH}]"),)
    assert read_expression("tw_element1[qb + qr + qt][db + dr]") in nodes(block)
    assert not {"a", "b", "c"} & {n.text for n in nodes(block) if n.kind == "name"}


FORMS = {
    "columns are not neighbours": f"c[{ROW} + {COLUMN} * n]",
    "rows at no fixed distance": f"c[{ROW} * {ROW} * n + {COLUMN}]",
    "an element found through another": f"c[{ROW} * n + p[{COLUMN}]]",
    "a column alone": f"c[{COLUMN}]",
    "a local of the text": f"c[{ROW} * tw_kc + {COLUMN}]",
}


@pytest.mark.parametrize("form", FORMS)
def test_what_lies_anywhere_stays(form: str) -> None:
    block, wanted = read(FLAT)
    other = product.Claim(**{**vars(wanted), "target": read_expression(FORMS[form])})
    assert in_rows(block, other) == (block, other)


CHANGES = {
    "packing reads the next column": ("b[1L * skip + (db", "b[1L * skip + 1 + (db", 1),
    "packing reads another row": ("a[(rb + rt + rr) * deep", "a[(rb + rt) * deep", 0),
    "packing exchanges sizes": ("a[(rb + rt + rr) * deep", "a[(rb + rt + rr) * columns", 0),
    "the tile is loaded from another row": ("c[(rb + rt + rr) * columns", "c[(rb + rt + rr + 1) * columns", 0),
    "the tile goes elsewhere": ("c[(rb + rt + rr) * columns", "c[(rb + rr) * columns", 1),
    "rows in another distance": ("c[(rb + rt + 1) * columns", "c[(rb + rt + 2) * columns", 0),
}


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_text_is_refused(what: str) -> None:
    emitted = printed("openmp", FLAT)
    assert wrong_products(changed(emitted.plain, *CHANGES[what]), emitted.products)
