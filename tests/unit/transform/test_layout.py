"""Arrays in panels of columns (`layout`), and the loops over columns that want them."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from codegen.api.generate import generate
from codegen.diagnostics import InputError
from codegen.machine import load
from codegen.options import GenOptions
from codegen.plan.model import Relayout, StripMine
from codegen.plan.text import show
from codegen.plan_reader.parse import parse
from codegen.region import finish
from codegen.region_model import model_region
from codegen.scop.dependences import compute_dependences
from codegen.scop.tree import THREADED, enclosing, loops, statements
from codegen.source_file import open_source
from codegen.strategy.planner import default_plan
from codegen.transform.apply import apply, apply_plan
from codegen.transform.layout import with_layout
from codegen.transform.program import Program
from codegen.verify.layout import wrong_layout

COLUMNS = """for (int k = 0; k < n; k++) {
  for (int i = 0; i < m; i++)
    Q[i][k] = A[i][k] / 2;
  for (int j = k + 1; j < n; j++) {
    R[k][j] = 0;
    for (int i = 0; i < m; i++)
      R[k][j] += Q[i][k] * A[i][j];
    for (int i = 0; i < m; i++)
      A[i][j] -= Q[i][k] * R[k][j];
  }
}"""
SHIFTED = """for (int t = 0; t < m; t++) for (int j = 1; j < n; j++)
  A[t][j] = A[t][j - 1] + R[0][j];"""


def program(body: str, columns: str = "n", rows: str = "m") -> Program:
    text = (
        f"void f(int n, int m, double A[{rows}][{columns}], double R[{columns}][{columns}],"
        f" double Q[{rows}][{columns}])\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


def _plan_text(p: Program) -> str:
    made = default_plan(p, load("neoverse-n1"))
    return show((made.plan,), {1: made.program.scop})


@pytest.fixture(scope="module")
def blocked() -> Program:
    """Columns of 8 in a block, and those beyond it in blocks of 8."""
    p = program(COLUMNS)
    k = enclosing(p.tree, "S1")[0]
    j = {n: enclosing(p.tree, n)[1].exprs[n] for n in ("S2", "S3", "S4")}
    p = apply(p, StripMine("kb", dict(k.exprs), 8, {n: (v,) for n, v in j.items()}))
    beyond = {n: enclosing(p.tree, n)[1].exprs[n] for n in ("S5", "S6", "S7")}
    return apply(p, StripMine("jb", beyond, 8, {}))


@pytest.mark.parametrize(("array", "fresh"), [("A", False), ("Q", True), ("Q", False)])
def test_dependences_are_what_analysis_finds(blocked: Program, array: str, fresh: bool) -> None:
    q = apply(blocked, Relayout("P", array, 8, fresh))
    assert len(q.scop.statements) == len(blocked.scop.statements) + (1 if fresh else 2)
    found = compute_dependences(q.scop, q.tree)
    for name in found.flows.keys() - {array}:
        assert q.deps.flows[name].is_equal(found.flows[name]), name
    assert found.flows[array].is_empty() and array not in q.deps.flows
    assert q.deps.live_in.is_equal(found.live_in) and q.deps.live_out.is_equal(found.live_out)
    for x in found.all:
        assert x.relation.is_subset(q.must), (x.kind, x.array)


def test_what_cannot_be_kept_in_panels_is_refused(blocked: Program) -> None:
    for d, why in (
        (Relayout("P", "A", 4), "counts blocks of 4 columns"),
        (Relayout("P", "A", 8, True), "is read before it is written"),
        (Relayout("Q", "A", 8), "need a name of their own"),
        (Relayout("P", "B", 8), "no array with columns"),
        (Relayout("P", "A", 0), "at least one column"),
    ):
        with pytest.raises(InputError) as error:
            apply(blocked, d)
        assert why in f"{error.value.message} {error.value.hint}", d


def test_an_element_that_need_not_exist_stays_where_it_is() -> None:
    p = program(SHIFTED.replace("+ R[0][j]", "+ (R[0][j] > 0 ? Q[t][j] : 0)"), rows="")
    j = enclosing(p.tree, "S1")[1]
    with pytest.raises(InputError, match="need not exist"):
        apply(apply(p, StripMine("jb", dict(j.exprs), 8, {})), Relayout("P", "Q", 8))


def test_columns_of_two_blocks_have_no_panel() -> None:
    p = program(SHIFTED)
    j = enclosing(p.tree, "S1")[1]
    with pytest.raises(InputError, match="no iterator of S1 counts blocks of 8 columns"):
        apply(apply(p, StripMine("jb", dict(j.exprs), 8, {})), Relayout("P", "A", 8))


def test_the_proof_sees_wrong_cells_copies_and_sizes(blocked: Program) -> None:
    d = Relayout("P", "A", 8)
    q = apply(blocked, d)
    after, buffer = with_layout(blocked.scop, d), q.scop.buffers[-1]
    assert not wrong_layout(blocked.scop, blocked.tree, after, q.tree, buffer)

    def wrong(scop, buffer=buffer) -> str:
        return wrong_layout(blocked.scop, blocked.tree, scop, q.tree, buffer)

    *own, into, back = after.statements
    swapped = replace(after, statements=(*own, into, replace(back, accesses=(back.accesses[0], into.accesses[1]))))
    assert "copied as it is" in wrong(swapped)
    half = replace(into, domain=into.domain.lower_bound_val(isl.dim_type.set, 1, isl.Val(1)))
    accesses = tuple(replace(a, relation=a.relation.intersect_domain(half.domain)) for a in half.accesses)
    assert wrong(replace(after, statements=(*own, replace(half, accesses=accesses), back)))
    few = tuple(s.add_constant_val(isl.Val(-1)) if k == 1 else s for k, s in enumerate(buffer.sizes))
    assert "outside its memory" in wrong(after, replace(buffer, sizes=few))
    less = ("tw_floord((long)n + 6, 8)", *buffer.texts[1:])
    assert "outside its memory" in wrong(after, replace(buffer, texts=less))
    other = replace(own[0], op="+=")
    assert "another statement" in wrong(replace(after, statements=(other, *own[1:], into, back)))


def test_a_loop_over_columns_runs_in_panels() -> None:
    """The block's own columns on one thread, those beyond it on all; the plan as text leads to the same program."""
    source = program(COLUMNS)
    made = default_plan(source, load("neoverse-n1"))
    text = show((made.plan,), {1: made.program.scop})
    assert "layout A_panels = A by 16\n" in text and "layout Q_panels = Q by 16 new\n" in text
    threads = [q for q in loops(made.program.tree) if q.loop.kind in THREADED]
    assert [q.loop.name for q in threads if "S6" in statements(q.band)] == ["jb"]
    assert not any({"S1", "S3", "S4"} & set(statements(q.band)) for q in threads)
    again = apply_plan(source, parse(text, "in.plan", {1: source.scop})[0])
    assert show((made.plan,), {1: again.scop}) == text
    region, findings = finish(again, made.plan, ())
    assert region is not None and not findings


def test_arrays_that_stay_in_the_cache_stay_where_they_are() -> None:
    def fixed(size: int) -> str:
        body = COLUMNS.replace("< n", f"< {size}").replace("< m", f"< {size}")
        return _plan_text(program(body, str(size), str(size)))

    assert "layout" not in fixed(64)
    assert "layout A_panels = A by 16" in fixed(1000)


def test_functions_that_sizes_call_are_defined() -> None:
    """Where it is known that there are columns, no loop calls it."""
    text = (
        "void f(int n, int m, double A[m][n], double R[n][n], double Q[m][n])\n{\n#pragma scop\n"
        f"if (n > 20)\n{COLUMNS}\n#pragma endscop\n}}\n"
    )
    made = generate(text, machine="neoverse-n1").text
    assert "A_panels" in made and made.count("tw_floord(") > 1
    assert "tw_index tw_floord(tw_index n, tw_index d)" in made


def test_a_size_that_is_one_unsigned_variable() -> None:
    text = (
        "void f(int m, unsigned long n, double A[m][n], double X[n])\n{\n#pragma scop\n"
        "for (int i = 0; i < m; i++) for (unsigned long j = 0; j < n - 7; j++) A[i][j] = A[i][j] * 2 + X[j];\n"
        "#pragma endscop\n}\n"
    )
    plan = "region 1\n  block jb = {S1: j} by 8\n  layout P = A by 8\n"
    made = generate(text, plan=plan, context="n >= 7").text
    assert "tw_floord((tw_index)n, 8)" in made
