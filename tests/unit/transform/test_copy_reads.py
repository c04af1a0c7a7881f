"""Copies of elements as the source reads them, and the panels and products they make of path problems."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codegen.diagnostics import InputError
from codegen.machine import load
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.plan.model import CopyReads, LoopRef, StripMine, Tile
from codegen.plan.text import show
from codegen.plan_reader.parse import parse
from codegen.recognize.ownership.classes import classes
from codegen.recognize.ownership.extract import frame, nests
from codegen.region import finish
from codegen.region_model import model_region
from codegen.scop.dependences import compute_dependences
from codegen.scop.distance import same_value
from codegen.scop.tree import THREADED, Loop, enclosing, statements, walk
from codegen.source_file import open_source
from codegen.strategy.choice import Decision
from codegen.strategy.orders.distribution import strongly_connected
from codegen.strategy.planner import default_plan
from codegen.strategy.products.copies import copies_of_reads
from codegen.transform import tile
from codegen.transform.apply import apply, apply_plan
from codegen.transform.program import Program

PATHS = """for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
    d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];"""
DRAINED = """for (int k = 0; k < n; k++) {
  for (int i = 0; i < m; i++)
    w[i] += v[k] * i;
  v[k] = 0;
}"""


def program(body: str) -> Program:
    text = (
        "void f(int n, int m, double d[n][n], double v[n], double w[m])\n"
        f"{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


@pytest.fixture(scope="module")
def blocked() -> tuple[Program, StripMine]:
    """Floyd-Warshall with k in blocks, its instances apart by where i and j lie; nothing moved yet."""
    p = program(PATHS)
    k, i, j = enclosing(p.tree, "S1")
    d = StripMine("kb", dict(k.exprs), 64, {"S1": (i.exprs["S1"], j.exprs["S1"])})
    return apply(p, d), d


def groups(p: Program) -> list[tuple[str, ...]]:
    """What must stay together within one block of k."""
    kb = Loop("kb", {s.name: _value(p, s.name) for s in p.scop.statements})
    return strongly_connected(p.scop, same_value(p.must, kb.exprs), tuple(s.name for s in p.scop.statements))


def _value(p: Program, name: str):
    import islpy as isl

    s = p.scop.statement(name)
    local = isl.LocalSpace.from_space(s.domain.get_space())
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, s.iterators.index("kb")))


def test_without_copies_no_part_of_a_block_can_wait(blocked: tuple[Program, StripMine]) -> None:
    """By dependences alone the blocked order is illegal: d[i][k] and d[k][j] are read while the block still writes."""
    p, _ = blocked
    assert len(p.scop.statements) == 9
    assert groups(p) == [tuple(s.name for s in p.scop.statements)]


def test_copies_set_the_four_kinds_free(blocked: tuple[Program, StripMine]) -> None:
    p, d = blocked
    found = copies_of_reads(p, d)
    assert len(found) == 8
    for k in found:
        p = apply(p, k)
    inside, row, column, *bulk = groups(p)
    assert "S1" in inside and {"S2", "S3"} < set(row) and {"S4", "S7"} < set(column)
    assert sorted(bulk) == [("S5",), ("S6",), ("S8",), ("S9",)]


def test_copies_that_would_differ_are_refused(blocked: tuple[Program, StripMine]) -> None:
    """Left of the block d[i][k] is read before column k is updated, right of it after."""
    p, _ = blocked
    left = CopyReads("c", "d", ("i", "k"), ("S9",), (("i", "n"), ("k - 64*kb", "64")))
    apply(p, left)
    with pytest.raises(InputError, match="written between the copy and the read"):
        apply(p, replace(left, stmts=("S9", "S8")))
    with pytest.raises(InputError, match="do not fit into n - 2"):
        apply(p, replace(left, at=(("i", "n - 2"), ("k - 64*kb", "64"))))
    with pytest.raises(InputError, match=r"does not read d\[j\]\[k\]"):
        apply(p, replace(left, subscripts=("j", "k")))
    with pytest.raises(InputError, match="`d` cannot be copied to `d`"):
        apply(p, replace(left, name="d"))


def test_dependences_with_copies_are_what_analysis_finds() -> None:
    p = program(DRAINED)
    q = apply(p, CopyReads("c", "v", ("k",), ("S1",), (("k", "n"),)))
    found = compute_dependences(q.scop, q.tree)
    assert q.deps.flows.keys() == found.flows.keys()
    for array, flow in found.flows.items():
        assert q.deps.flows[array].is_equal(flow), array
    assert q.deps.live_in.is_equal(found.live_in)
    for x in found.all:  # every dependence that analysis finds is kept, directly or through others
        assert x.relation.is_subset(q.must), (x.kind, x.array)


def test_a_read_on_a_condition_is_not_made_ahead() -> None:
    p = program(DRAINED.replace("w[i] += v[k] * i", "w[i] = w[i] > 0 ? v[k] : w[i]"))
    with pytest.raises(InputError, match="the element need not exist"):
        apply(p, CopyReads("c", "v", ("k",), ("S1",), (("k", "n"),)))


@pytest.fixture(scope="module")
def paths() -> Decision:
    return default_plan(program(PATHS), load("neoverse-n1"))


def test_shortest_paths_in_panels(paths: Decision) -> None:
    """Four products, a thread for some columns of the row panel, and one for some rows of the column panel."""
    text = show((paths.plan,), {1: paths.program.scop})
    assert text.count("product S") == 4 and text.count("copy d_") == 8
    threads = {
        lp.name: statements(n)
        for _, n in walk(paths.program.tree)
        if hasattr(n, "loops")
        for lp in n.loops
        if lp.kind in THREADED
    }
    assert set(threads) == {"jt", "it"}
    assert {"S2", "S3"} < set(threads["jt"]) and {"S4", "S7"} < set(threads["it"])
    made, findings = finish(paths.program, paths.plan, ())
    assert made is not None and not findings


VARIANTS = {
    "closure, flat": ("int n, unsigned long *r", """for (int p = 0; p < n; p++) for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++) r[x * n + y] |= r[x * n + p] & r[p * n + y];"""),
    "widest path, columns first": ("int n, float w[n][n]", """for (int k = 0; k < n; k++) for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) if ((w[i][k] < w[k][j] ? w[i][k] : w[k][j]) > w[i][j])
          w[i][j] = w[i][k] < w[k][j] ? w[i][k] : w[k][j];"""),
    "smallest hop": ("int n, int h[n][n]", """for (int m = 0; m < n; m++) for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) h[a][b] = (h[a][m] > h[m][b] ? h[a][m] : h[m][b]) < h[a][b]
          ? (h[a][m] > h[m][b] ? h[a][m] : h[m][b]) : h[a][b];"""),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_other_path_problems_get_the_same(name: str) -> None:
    """Other operators, names, orders of loops, flat arrays: what counts is who reads whose elements."""
    head, body = VARIANTS[name]
    text = f"void f({head})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    made = generate("in.c", text, GenOptions(machine="neoverse-n1"))
    plan = made.regions[0].plan
    assert plan.count("product S") == 4 and plan.count("  copy ") == 8, plan


def test_the_kinds_of_a_block_are_the_classes_of_the_analysis(blocked: tuple[Program, StripMine]) -> None:
    """Each statement that `block` makes lies in one class of blocks, and those of a class are all of it."""
    import islpy as isl

    p = program(PATHS)
    cut = tile.apply(p, Tile(tuple((LoopRef(n), 64) for n in "kij")))
    f = frame(cut.scop, nests(cut.tree)[0])
    at = None
    for c in f.blocks:
        one = isl.Map.from_pw_aff(c.values["S1"])
        at = one if at is None else at.flat_range_product(one)
    parts = {c.text: c.blocks.apply(at.reverse()).intersect(f.domains["S1"]) for c in classes(f)}
    assert len(parts) == 4
    found = dict.fromkeys(parts, isl.Set.empty(f.domains["S1"].get_space()))
    for s in blocked[0].scop.statements:
        mine = s.domain.project_out(isl.dim_type.set, 3, 1).set_tuple_name("S1").intersect_params(p.scop.context)
        (where,) = [text for text, part in parts.items() if not part.is_disjoint(mine)]
        found[where] = found[where].union(mine)
    assert all(found[text].is_equal(part) for text, part in parts.items())


def test_the_plan_can_be_read_back(paths: Decision) -> None:
    text = show((paths.plan,), {1: paths.program.scop})
    p = program(PATHS)
    (plan,) = parse(text, "x.plan", {1: p.scop})
    again = apply_plan(p, plan)
    assert show((plan,), {1: again.scop}) == text
    assert again.must.is_equal(paths.program.must)


def test_no_copies_where_the_reader_can_run_first() -> None:
    """Triangular product in place: rows above a block read it before it changes, and nothing comes back to them."""
    p = program("""for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = i + 1; k < n; k++)
        w[i * m + j] += d[k][i] * w[k * m + j];""")
    text = show((default_plan(p, load("neoverse-n1")).plan,), {1: p.scop})
    assert "keep" not in text


def test_loops_of_one_name_are_not_one_loop() -> None:
    """Statements of two loops that share a name have no loop in which a copy could stand before both."""
    loops = "for (int j = 0; j < n; j++) b[i][j] += a[j]; for (int j = 0; j < n; j++) c[i][j] += a[j];"
    text = ("void f(int n, double a[n], double b[n][n], double c[n][n])\n{\n#pragma scop\n"
            f"for (int i = 0; i < n; i++) {{ {loops} }}\n#pragma endscop\n}}\n")  # fmt: skip
    plan = "region 1\n  copy t[j: n] = a[j] for S1, S2\n"
    with pytest.raises(InputError, match="share all their loops"):
        generate("in.c", text, GenOptions(plan_text=plan))
