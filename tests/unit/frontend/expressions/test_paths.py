"""Reads behind conditions, division by parameters, and counting in the condition: what the model makes of them."""

from __future__ import annotations

import islpy as isl
import pytest

from codegen.diagnostics import Unsupported
from codegen.options import GenOptions
from codegen.region_model import model_region
from codegen.scop.model import Access, Scop
from codegen.source_file import open_source


def scop_of(body: str, params: str = "int n, int m, int flag, double *A, double *B") -> Scop:
    text = f"void f({params})\n{{\n    int last;\n#pragma scop\n{body}\n#pragma endscop\n    (void)last;\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program.scop


def read_of(scop: Scop, array: str) -> Access:
    (found,) = [a for s in scop.statements for a in s.reads if a.array == array]
    return found


def loop(value: str) -> str:
    return f"for (int i = 0; i < n; i++) A[i] = {value};"


@pytest.mark.parametrize(
    "value, happens",
    [
        ("i > 0 ? B[i - 1] : 0", "i > 0"),
        ("i > 0 ? 0 : B[i - 1]", "i <= 0"),
        ("!(i > 0) ? 0 : B[i - 1]", "i > 0"),
        ("i > 0 && i < m ? B[i - 1] : 0", "i > 0 and i < m"),
        ("i > 0 && i < m ? 0 : B[i - 1]", "i <= 0 or i >= m"),
        ("i > 0 || flag ? B[i - 1] : 0", "i >= 0"),
        ("i > 0 && A[i] > 0 ? B[i - 1] : 0", "i > 0"),
        ("i > 0 && A[i] > 0 ? 0 : B[i - 1]", "i >= 0"),
        ("i > 0 && B[i - 1] > 0", "i > 0"),
        ("i == 0 || B[i - 1] > 0", "i > 0"),
        ("(i > 3 ? B[i - 1] : 0) + (i < 2 ? B[i - 1] : 0)", "i > 3 or i < 2"),
        ("(i > 3 ? B[i - 1] : 0) + B[i - 1]", "i >= 0"),
        ("i > 2 ? (i < m ? B[i - 1] : 1) : 0", "i > 2 and i < m"),
        ("A[i] > 2 ? B[i - 1] : 0", "i >= 0"),
        # The subtraction would wrap around for m = 0.
        ("i < (unsigned)m - 1 ? B[i - 1] : 0", "i >= 0"),
    ],
)
def test_a_read_behind_a_condition_happens_where_that_holds(value: str, happens: str) -> None:
    # m is a parameter because a bound has it.
    scop = scop_of(loop(value) + "\nfor (int i = 0; i < m; i++) A[i] = 0;")
    want = isl.Set(f"[n, m] -> {{ S1[i] : 0 <= i < n and ({happens}) }}")
    assert read_of(scop, "B").relation.domain().is_equal(want.align_params(scop.context.get_space()))


def test_the_dependence_goes_only_where_the_read_goes() -> None:
    scop = scop_of("for (int i = 0; i < n; i++) A[i] = i > n ? A[i - 1] : 1;")
    assert all(a.relation.is_empty() for a in scop.statements[0].reads)


@pytest.mark.parametrize(
    "index, low, value",
    [
        ("(i + 1) % n", "0", "i = n - 1 and o = 0 or i < n - 1 and o = i + 1"),
        ("(i - 1 + n) % n", "0", "i = 0 and o = n - 1 or i > 0 and o = i - 1"),
        ("i / n", "0", "o = 0"),
        ("(i + n) / n", "0", "o = 1"),
        ("i % n + n - 1", "1 - n", "o = i + n - 1"),
    ],
)
def test_division_by_a_parameter_that_fits_a_few_times(index: str, low: str, value: str) -> None:
    scop = scop_of(f"for (int i = {low}; i < n; i++) A[i + n] = B[{index}];")
    want = isl.Map(f"[n] -> {{ S1[i] -> B[o] : {low} <= i < n and ({value}) }}")
    assert read_of(scop, "B").relation.is_equal(want)


@pytest.mark.parametrize("index", ["i % m", "(i + 9) % n", "i / (n - 1)", "(2 * i) % (m - n)"])
def test_other_divisions_may_lead_anywhere(index: str) -> None:
    scop = scop_of(f"for (int i = 0; i < n; i++) A[i] = B[{index}];\nfor (int j = 0; j < m; j++) A[j] = 0;")
    assert scop.arrays["B"].opaque and not scop.arrays["A"].opaque
    assert read_of(scop, "B").relation.is_equal(isl.Map("[n, m] -> { S1[i] -> B[] : 0 <= i < n }"))


def test_counting_in_the_condition() -> None:
    scop = scop_of("for (unsigned i = n; i-- > 2;) A[i] = 1;", "unsigned n, double *A")
    want = isl.Set("[n] -> { S1[i] : 2 <= i < n }")
    assert scop.statements[0].domain.is_equal(want)
    assert not scop.guard.wide and scop.guard.valid.gist(isl.Set("[n] -> { : n >= 0 }")).plain_is_universe()


def test_an_unsigned_counter_that_lives_on_is_refused() -> None:
    text = "void f(unsigned n, double *A)\n{\n    unsigned i;\n#pragma scop\n    for (i = n; i-- > 0;)\n"
    text += "        A[i] = 1;\n#pragma endscop\n    A[0] = i;\n}\n"
    with pytest.raises(Unsupported, match="wraps around when the loop ends"):
        model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
