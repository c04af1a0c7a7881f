"""Which elements belong to one thread: the known cases, each from C source through the tiled tree."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest

from codegen.options import GenOptions
from codegen.plan.model import LoopRef, Tile
from codegen.recognize.ownership import search as tiles
from codegen.recognize.ownership.algebra import matrix, null_space, rank, solvable
from codegen.recognize.ownership.classes import classes
from codegen.recognize.ownership.decide import cheap, verdict
from codegen.recognize.ownership.exact import disjoint_images, private, shared
from codegen.recognize.ownership.extract import BlockedNest, coarse, frame, nests
from codegen.recognize.ownership.linear import crossing, equal_subscripts, linear, ranks, remark2, theorem1
from codegen.recognize.ownership.model import NestFrame, Reference
from codegen.recognize.ownership.registers import RegisterBudget
from codegen.recognize.ownership.search import search
from codegen.region_model import model_region
from codegen.scop.tree import enclosing
from codegen.source_file import open_source
from codegen.transform import tile
from tests.ownership import private_by_hand

FLOYD = """for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
    a[i][j] = a[i][j] < a[i][k] + a[k][j] ? a[i][j] : a[i][k] + a[k][j];"""
SKEWED = """for (int t = 0; t < n; t++) for (int i = t + 1; i < n + t - 1; i++) for (int j = t + 1; j < n + t - 1; j++)
    a[i-t][j-t] = a[i-t-1][j-t] + a[i-t][j-t-1] + a[i-t][j-t] + a[i-t+1][j-t] + a[i-t][j-t+1];"""
STRAIGHT = """for (int t = 0; t < n; t++) for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
    a[i][j] = a[i-1][j] + a[i][j-1] + a[i][j] + a[i+1][j] + a[i][j+1];"""
LEFT = """for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 1; j < n; j++)
    a[i][j] = a[i][j-1] + 1;"""
MATMUL = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
    c[i][j] += a[i][k] * b[k][j];"""
FINITE = "for (int i = 0; i < 8; i++) for (int j = 0; j < n; j++) v[i + 8*j] = 1;"


def nest_of(body: str, size: int = 0, context: str = "") -> NestFrame:
    """The frame of a nest, all its loops cut into tiles of `size` whatever the dependences say."""
    text = (
        "void f(int n, double a[n][n], double b[n][n], double c[n][n], double *v)\n"
        f"{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    options = GenOptions(context=context)
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    p = model.program
    names = [lp.name for lp in enclosing(p.tree, "S1")]
    if size:
        p = tile.apply(p, Tile(tuple((LoopRef(n), size) for n in names)))
        return frame(p.scop, nests(p.tree)[0])
    return frame(p.scop, BlockedNest(("S1",), (), enclosing(p.tree, "S1")))


def ref(f: NestFrame, text: str, write: bool = False) -> Reference:
    return next(r for r in f.references if r.text == text and r.write == write)


def threads(f: NestFrame, names: str, size: int = 1):
    return tuple(coarse(f, n, size) if size > 1 else f.axis(n) for n in names)


def subsets(names: str):
    return ["".join(c) for m in (1, 2, 3) for c in combinations(names, m)]


# -- the vectors ---------------------------------------------------------------------------------------------------


def test_ranks_of_floyd_warshall() -> None:
    f = nest_of(FLOYD)
    grid = threads(f, "ij")
    assert [ranks(ref(f, t), grid) for t in ("a[i][j]", "a[i][k]", "a[k][j]")] == [(2, 2), (2, 3), (2, 3)]
    assert ranks(ref(f, "a[i][j]"), threads(f, "k")) == (2, 3)
    assert [z for z in subsets("kij") if theorem1(ref(f, "a[i][j]"), threads(f, z))] == ["i", "j", "ij"]
    assert crossing(ref(f, "a[i][k]"), grid) == (0, 0, 1)


@pytest.mark.parametrize("names", subsets("tij"))
def test_skewed_relaxation_has_no_owner_along_its_axes(names: str) -> None:
    f = nest_of(SKEWED)
    assert {ranks(r, threads(f, names)) for r in f.references} == {(2, 3)}
    assert not any(theorem1(r, threads(f, names)) for r in f.references)


def test_a_thread_along_a_skewed_coordinate_does_own_rows() -> None:
    """Thread maps are rows, not loops: i - t is the row itself, so the centre stays with its thread."""
    from codegen.recognize.ownership.extract import axis

    f = nest_of(SKEWED)
    i, t = f.axis("i"), f.axis("t")
    model = axis(_scop(SKEWED), "row", {"S1": i.values["S1"].sub(t.values["S1"])})
    assert all(theorem1(r, (model,)) for r in f.references)


def _scop(body: str):
    text = f"void f(int n, double a[n][n])\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program.scop


def test_neighbour_in_the_row() -> None:
    f = nest_of(LEFT)
    own, left = ref(f, "a[i][j]", True), ref(f, "a[i][j - 1]")
    by_row, by_column = threads(f, "i"), threads(f, "j")
    assert remark2(own, left, by_row) and linear(own, left, by_row) and private(f, own, left, by_row)
    assert verdict(f, own, by_row).answer == "yes"
    assert verdict(f, own, by_row).test == "remark 2"
    assert not remark2(own, left, by_column) and not linear(own, left, by_column)
    assert verdict(f, own, by_column).answer == "no"
    assert "a[i][j - 1]" in verdict(f, own, by_column).why


def test_five_points_are_shared_between_threads() -> None:
    f = nest_of(STRAIGHT, 4)
    own = ref(f, "a[i][j]", True)
    assert theorem1(own, threads(f, "ij"))
    assert verdict(f, own, threads(f, "ij")).answer == "no"


def test_a_finite_block_may_be_shorter_than_the_kernel() -> None:
    f = nest_of(FINITE)
    (r,) = f.references
    assert not theorem1(r, threads(f, "i")) and crossing(r, threads(f, "i")) in ((8, -1), (-8, 1))
    assert private(f, r, r, threads(f, "i"))
    found = verdict(f, r, threads(f, "i"))
    assert (found.answer, found.test) == ("yes", "exact")


def test_matrix_product() -> None:
    f = nest_of(MATMUL, 4)
    table = {
        t: [z for z in subsets("ijk") if verdict(f, ref(f, t), threads(f, z)).answer == "yes"]
        for t in ("c[i][j]", "a[i][k]", "b[k][j]")
    }
    assert table["c[i][j]"] == ["i", "j", "ij"]
    assert table["a[i][k]"] == ["i", "k", "ik"]
    assert table["b[k][j]"] == ["j", "k", "jk"]


# -- the decision table --------------------------------------------------------------------------------------------

BULK, ROW, COLUMN, DIAGONAL = (
    "it != kt and jt != kt",
    "it == kt and jt != kt",
    "it != kt and jt == kt",
    "it == kt and jt == kt",
)
TABLE = {  # class, threads: a[i][j], a[i][k], a[k][j]
    (BULK, "ij"): (True, False, False),
    (BULK, "i"): (True, True, False),
    (BULK, "j"): (True, False, True),
    **{(BULK, z): (False, None, None) for z in ("k", "ki", "kj", "kij")},
    (ROW, "ij"): (False, None, None),
    (ROW, "i"): (False, None, None),
    (ROW, "j"): (True, False, True),
    (COLUMN, "i"): (True, True, False),
    (COLUMN, "ij"): (False, None, None),
    (COLUMN, "j"): (False, None, None),
    **{(DIAGONAL, z): (False, False, False) for z in subsets("kij")},
}


@pytest.fixture(scope="module")
def floyd() -> NestFrame:
    return nest_of(FLOYD, 4)


CASES = [(*key, size) for key in TABLE for size in (1, 2) if size == 1 or "k" not in key[1]]


@pytest.mark.parametrize("where,names,size", CASES, ids=lambda x: str(x))
def test_decision_table(floyd: NestFrame, where: str, names: str, size: int) -> None:
    """Parametric in n, with all borders. What the table leaves open: see the next test."""
    (part,) = [c for c in classes(floyd) if c.text == where]
    for text, want in zip(("a[i][j]", "a[i][k]", "a[k][j]"), TABLE[where, names], strict=True):
        found = verdict(floyd, ref(floyd, text), threads(floyd, names, size), (part,))
        if want is not None:
            assert (found.answer != "no") == want, (text, found)


@pytest.mark.parametrize(
    "where,block", [(BULK, (0, 1, 2)), (ROW, (1, 1, 0)), (COLUMN, (1, 0, 1)), (DIAGONAL, (1, 1, 1))]
)
@pytest.mark.parametrize("names", subsets("kij"))
def test_decision_table_by_enumeration(floyd: NestFrame, where: str, block: tuple[int, int, int], names: str) -> None:
    """The exact answer for a class of full blocks is what enumeration of one of them says."""
    (part,) = [c for c in classes(floyd) if c.text == where]
    points = list(product(*(range(4 * b, 4 * b + 4) for b in block)))
    uses = [
        ("S", lambda v: (v[1], v[2])),
        ("S", lambda v: (v[1], v[0])),
        ("S", lambda v: (v[0], v[2])),
    ]
    thread = {"S": lambda v: tuple(v["kij".index(x)] for x in names)}
    for k, text in enumerate(("a[i][j]", "a[i][k]", "a[k][j]")):
        found = verdict(floyd, ref(floyd, text), threads(floyd, names), (part,))
        assert (found.answer != "no") == private_by_hand({"S": points}, uses, thread, k), (text, found)


def test_conditions_on_blocks(floyd: NestFrame) -> None:
    own = ref(floyd, "a[i][j]")
    assert {c.text for c in classes(floyd)} == {BULK, ROW, COLUMN, DIAGONAL}
    both = verdict(floyd, own, threads(floyd, "ij"))
    assert (both.answer, both.when) == ("when", BULK)
    assert verdict(floyd, own, threads(floyd, "j")).when == "jt != kt"
    assert verdict(floyd, own, threads(floyd, "i")).when == "it != kt"
    assert verdict(floyd, own, threads(floyd, "k")).answer == "no"


def test_theorem_2_in_bulk_blocks(floyd: NestFrame) -> None:
    """Restricted to bulk blocks, the images are disjoint: no exact test is needed there."""
    from dataclasses import replace

    import islpy as isl

    (part,) = [c for c in classes(floyd) if c.text == BULK]
    domain = floyd.domains["S1"]
    at = None
    for c in floyd.blocks:
        m = isl.Map.from_pw_aff(c.values["S1"])
        at = m if at is None else at.flat_range_product(m)
    bulk = replace(floyd, domains={"S1": domain.intersect(part.blocks.apply(at.reverse()))})
    own, left, right = (ref(bulk, t) for t in ("a[i][j]", "a[i][k]", "a[k][j]"))
    assert disjoint_images(bulk, own, left) and disjoint_images(bulk, own, right)
    assert not disjoint_images(floyd, own, left)
    found = verdict(bulk, own, threads(bulk, "ij"))
    assert (found.answer, found.test) == ("yes", "theorem 2 (disjoint)")
    assert cheap(bulk, own, ref(bulk, "a[i][j]", True), threads(bulk, "ij")) == "theorem 2"
    assert equal_subscripts(own, ref(bulk, "a[i][j]", True), threads(bulk, "ij"))


def test_shared_elements_leave_the_rest_private() -> None:
    """Only the border columns of a thread's columns are shared by a stencil; the others may stay in registers."""
    f = nest_of("for (int i = 0; i < 8; i++) for (int j = 1; j < 9; j++) a[i][j] = a[i][j-1] + 1;")
    four = threads(f, "j", 4)
    found = shared(f, ref(f, "a[i][j]", True), ref(f, "a[i][j - 1]"), four)
    columns = {j for i in range(8) for j in range(9) if not found.intersect(_point(found, (i, j))).is_empty()}
    assert columns == {3, 7}


def _point(like, at):
    import islpy as isl

    point = isl.Set.universe(like.get_space())
    for k, x in enumerate(at):
        point = point.fix_val(isl.dim_type.set, k, isl.Val(x))
    return point


def test_algebra() -> None:
    assert rank(matrix([[1, 2], [2, 4]])) == 1
    assert null_space(matrix([[1, 2, 0]]), 3) == ((-2, 1, 0), (0, 0, 1))
    assert null_space(matrix([[2, 3]]), 2) == ((-3, 2),)
    assert solvable(matrix([[1, 1], [1, -1]]), [Fraction(3), Fraction(1)])
    assert not solvable(matrix([[1], [1]]), [Fraction(1), Fraction(2)])


# -- the search ----------------------------------------------------------------------------------------------------


def _searched(body: str, where: str, budget: RegisterBudget):
    text = (
        "void f(int n, double a[n][n], double b[n][n], double c[n][n], double *v)\n"
        f"{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    p = model.program
    names = [lp.name for lp in enclosing(p.tree, "S1")]
    cut = tile.apply(p, Tile(tuple((LoopRef(n), 64) for n in names)))
    f = frame(cut.scop, nests(cut.tree)[0])
    part = next(c for c in classes(f) if c.text == where)
    return search(f, p.must, part, budget)


SEARCHED = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
    for (int l = 0; l < n; l++) c[i][j] += a[k][l] * b[i][l];"""


@pytest.mark.parametrize("body", [MATMUL, SEARCHED])
def test_search_finds_what_every_tile_tried_finds(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles that are passed over are no better: beside all of them, one by one."""
    budget = RegisterBudget(5, 2)
    quick = _searched(body, "", budget)
    monkeypatch.setattr(tiles, "_lengths", lambda uses, axis, step, b: range(step, b.registers * b.lanes + 1, step))
    monkeypatch.setattr(tiles, "_within", lambda steps, fits: (t for t in product(*steps) if fits(t)))
    assert quick is not None and quick == _searched(body, "", budget)


def test_search_ends_where_a_loop_is_free_of_registers() -> None:
    """256 lengths along each of three loops are 16 million tiles; few of them can be the best."""
    assert _searched(SEARCHED, "", RegisterBudget(64, 4)) is not None


def test_search_keeps_the_product_tile_in_registers() -> None:
    """The tile with the fewest loads per step that 32 registers hold, as the product's own formula has it."""
    found = _searched(MATMUL, "", RegisterBudget(32, 2))
    assert found is not None
    assert found.threads == ("i", "j") and found.private == ("c[i][j]",)
    rows, columns = found.tile
    assert rows * columns // 2 + columns // 2 + 1 == found.registers <= 32
    assert found.loads == Fraction(rows + columns, rows * columns) and found.loads < Fraction(1, 3)
    assert "own c[i][j]" in found.reason


def test_search_by_block_class() -> None:
    """Bulk blocks take a grid; panels a thread for each column or row; on the diagonal nobody owns anything."""
    budget = RegisterBudget(32, 2)
    bulk = _searched(FLOYD, BULK, budget)
    assert bulk is not None and bulk.threads == ("i", "j") and bulk.private == ("a[i][j]",)
    row, column = _searched(FLOYD, ROW, budget), _searched(FLOYD, COLUMN, budget)
    assert row is not None and row.threads == ("j",)
    assert column is not None and column.threads == ("i",)
    assert _searched(FLOYD, DIAGONAL, budget) is None


def test_search_honours_the_budget() -> None:
    small = _searched(MATMUL, "", RegisterBudget(8, 2))
    assert small is not None and small.registers <= 8
    large = _searched(MATMUL, "", RegisterBudget(32, 2))
    assert large is not None and large.loads < small.loads
