"""Contractions are products on every machine: what the plan says, and that their text is printed in a form that its
proof can read.

The proof of a text takes seconds, so all contractions are tried for what decides it, and a few are proven."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from benchmarks.tensor_contractions import Contraction, contractions
from codegen.ast.ctree import ProductNode, walk
from codegen.diagnostics import Severity
from codegen.hosts.variants import product_variants
from codegen.machine.load import load
from codegen.options import GenOptions
from codegen.plan.model import Multiply
from codegen.region import make, process_region
from codegen.region_model import model_region
from codegen.scop.product import Blocking
from codegen.source_file import open_source
from codegen.target.product.view import ProductView
from codegen.target.region_views import region_views
from codegen.target.text.pieces import View
from codegen.verify.text.blocked.product import claim, wrong_products
from codegen.verify.text.check import wrong_text
from tests.unit.verify.text.blocked.test_product import changed, printed

MACHINES = ("generic", "haswell", "skylake-x", "sapphire-rapids", "neoverse-n1")
ROWS = {c.name: c for c in contractions()}
# Those whose left operand is read in place beside columns that are several loops, where kernels can do that.
SEVERAL_COLUMNS = (
    "abc-ad-bdc", "abc-adc-bd", "abc-dca-bd", "abcd-deca-be", "abcd-ebad-ce", "abcde-efbad-cf", "abcde-efcad-bf",
)  # fmt: skip
IN_PLACE = MACHINES[:-1]
PARTS = 6  # of all contractions, a test each


def source(c: Contraction, constant: bool) -> str:
    """The nest of a contraction for any extents, or for those of the table."""
    text = c.nest()
    if constant:
        text = text.replace(f"({', '.join(f'long n{x}' for x in c.letters)}, ", "(")
        for letter, extent in c.extents.items():
            text = text.replace(f"[n{letter}]", f"[{extent}]").replace(f"< n{letter};", f"< {extent};")
    return text


@cache
def products(name: str, machine: str, constant: bool) -> tuple[ProductView, ...]:
    """The products of a contraction as they are printed, in the form of each variant of the machine."""
    text, options = source(ROWS[name], constant), GenOptions(machine=machine)
    (s,) = open_source("in.c", text, options).slices
    model = model_region(s, options)
    assert model is not None
    processor = load(machine)
    made = make(model, options, processor)
    blocked = [d for d in made.plan.directives if isinstance(d, Multiply) and isinstance(d.how, Blocking) and d.columns]
    assert len(blocked) == 1
    assert sum(isinstance(n, ProductNode) for n in walk(made.code)) == 1
    variants = product_variants([made.code], processor)
    blocks = [v.blocks for v in variants]
    views = region_views(
        made.program.scop, made.code, True, variants=blocks[:-1], blocks=blocks[-1] if blocks else None
    )
    each = [views.views, *(views.variant(k).views for k in range(len(blocks) - 1))]
    return tuple(p for x in each for p in _products(x))


def _products(views: tuple[View, ...]) -> Iterator[ProductView]:
    for v in views:
        if v.product is not None:
            yield v.product
        yield from _products((*v.body, *v.orelse))


@pytest.mark.parametrize("constant", [True, False], ids=["constant", "symbolic"])
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("machine", MACHINES)
def test_every_contraction_is_a_product_whose_text_can_be_proven(machine: str, name: str, constant: bool) -> None:
    found = products(name, machine, constant)
    assert found
    for v in found:
        assert v.place is None or claim(v.wanted, v.chosen, {}).left_may_stay


@pytest.mark.parametrize("name", SEVERAL_COLUMNS)
@pytest.mark.parametrize("machine", IN_PLACE)
def test_left_operands_beside_columns_of_several_loops_are_read_where_they_lie(machine: str, name: str) -> None:
    assert any(v.place is not None for v in products(name, machine, True))


def generated(name: str, machine: str, target: str) -> str:
    """The text of a contraction, which is a product without a warning."""
    text, options = source(ROWS[name], True), GenOptions(machine=machine, target=target)
    (s,) = open_source("in.c", text, options).slices
    outcome = process_region(s, text, options, load(machine))
    assert [d.message for d in outcome.diagnostics if d.severity is Severity.WARNING] == []
    assert outcome.text is not None and "product" in outcome.summary
    return outcome.text


@pytest.mark.parametrize("machine", MACHINES)
def test_a_contraction_with_columns_of_several_loops_is_proven(machine: str) -> None:
    assert ("tw_lies" in generated("abc-ad-bdc", machine, "openmp")) == (machine in IN_PLACE)


@pytest.mark.parametrize("name", ["ab-cad-dcb", "abcd-aebf-dfce", "abcde-efbad-cf", "abcdef-efgb-gdac"])
@pytest.mark.parametrize("machine", ["haswell", "skylake-x"])
def test_contractions_are_proven(machine: str, name: str) -> None:
    generated(name, machine, "c")


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("machine", MACHINES)
def test_all_contractions_are_proven(machine: str, part: int) -> None:
    """In `make test-all`."""
    for name in [*ROWS][part::PARTS]:
        generated(name, machine, "openmp")


PLAIN = """void f(int n, int m, double C[n][m][m], double A[n][n], double B[m][n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int l = 0; l < m; l++)
        for (int k = 0; k < n; k++)
          C[i][j][l] += A[i][k] * B[j][k][l];
#pragma endscop
}
"""
HERE = "tw_there ? &A[ib + it][kb]"
CHANGES = {
    "another row": (HERE, HERE.replace("it]", "it + 1]"), 0),
    "another depth": (HERE, HERE.replace("kb]", "kb + 1]"), 0),
    "the column in place of the row": (HERE, HERE.replace("ib + it", "jb + jt"), 0),
    "every second row": ("&A[ib + it + 1][kb] - &A", "&A[ib + it + 2][kb] - &A", 0),
    "rows that are not there": ("it + 6 <= tw_r", "it + 5 <= tw_r", 0),
    "what is not packed is read from the buffer": ("tw_there = tw_lies &&", "tw_there = !tw_lies &&", 0),
    "the last rows are not packed": ("tw_filled : 0", "tw_r : 0", 0),
}


def test_the_same_for_any_extents_is_proven() -> None:
    emitted = printed("c", PLAIN)
    assert "tw_lies" in emitted.plain
    assert wrong_text(emitted) == ""


@pytest.mark.parametrize("what", CHANGES)
def test_damaged_text_is_refused(what: str) -> None:
    emitted = printed("c", PLAIN)
    assert wrong_products(changed(emitted.plain, *CHANGES[what]), emitted.products)


# Rows or depth of several loops: no element has one distance from the next.
APART = {
    "rows of two loops": PLAIN.replace("double A[n][n]", "double A[n][n][n]").replace("A[i][k]", "A[i][o][k]")
    .replace("C[n][m][m]", "C[n][n][m][m]").replace("C[i][j][l]", "C[i][o][j][l]")
    .replace("for (int j", "for (int o = 0; o < n; o++) for (int j"),
    "a depth of two loops": PLAIN.replace("double A[n][n]", "double A[n][n][n]").replace("A[i][k]", "A[i][k][o]")
    .replace("B[m][n][m]", "B[m][n][n][m]").replace("B[j][k][l]", "B[j][k][o][l]")
    .replace("for (int k = 0; k < n; k++)", "for (int k = 0; k < n; k++) for (int o = 0; o < n; o++)"),
}  # fmt: skip


@pytest.mark.parametrize("what", APART)
def test_rows_or_depths_of_several_loops_are_packed(what: str) -> None:
    emitted = printed("c", APART[what])
    assert emitted.products and "tw_lies" not in emitted.plain
    assert wrong_text(emitted) == ""
