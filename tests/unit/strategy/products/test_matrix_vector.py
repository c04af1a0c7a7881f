"""Matrix-vector products: what is recognised, what is planned, what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from codegen.ast.ctree import CNode, For, Instance, ProductNode, with_loop
from codegen.ast.ctree import walk as walk_tree
from codegen.diagnostics import InputError
from codegen.isa.load import load as load_isa
from codegen.machine import load
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.plan.text import show
from codegen.plan_reader.parse import parse
from codegen.recognize.products.contraction import NoContraction, contraction
from codegen.recognize.products.matrix_vector import fold, layout
from codegen.region import make
from codegen.region_model import Modelled, model_region
from codegen.scop.lanes import Lane, walk
from codegen.scop.tree import FOLDED
from codegen.source_file import open_source
from codegen.target.matvec.shuffle import transpose
from codegen.verify.proofs import prove

OPTIONS = GenOptions(machine="neoverse-n1", banner=False)
PARAMS = "int m, int n, double alpha, double A[m][n], float F[m][n], double x[m + n], double y[m + n], double *p"
NEST = "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) "


def text(body: str, params: str = PARAMS) -> str:
    return f"void f({params})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def model(body: str, free: bool = False) -> Modelled:
    options = GenOptions(machine="neoverse-n1", reassociate=free)
    found = model_region(open_source("in.c", text(body), options).slices[0], options)
    assert found is not None
    return found


def layout_of(body: str) -> str:
    scop = model(body).program.scop
    s = scop.statements[0]
    return layout(scop, s, contraction(scop, s, ()))


@pytest.mark.parametrize("machine", ["", "neoverse-n1"])
def test_written_matrices_are_far_sooner(machine: str) -> None:
    def limits(body: str) -> list[int]:
        made = generate("in.c", text(body), GenOptions(machine=machine or "generic", banner=False)).text
        (far,) = re.findall(r"tw_work > TW_SIZE\((?:TW_VECTOR_BYTES > 16 \? )?(\d+)(?: : (\d+))?\)", made)
        return [int(x) for x in far if x]

    product = NEST + "y[j] += A[i][j] * x[i];"
    read, written = limits(product), limits(NEST + "A[i][j] += x[i];" + product)
    assert written[-1] < read[-1] and written[:-1] == read[:-1]


@pytest.mark.parametrize(
    "statement, expected",
    [
        ("y[i] += A[i][j] * x[j];", "across"),
        ("y[j] += A[i][j] * x[i];", "lanes"),
        ("y[i] += alpha * A[i][j] * (x[j] + j);", "across"),
        ("y[j] = A[i][j] < y[j] ? A[i][j] : y[j];", "lanes"),
        ("y[2 * i] += A[i][j] * x[3 * j];", "across"),
        ("y[i] += p[i * 100 + j] * x[j];", "across"),
    ],
)
def test_how_the_matrix_lies(statement: str, expected: str) -> None:
    bounded = NEST.replace("j < n", "j < n && j < 100") if "100" in statement else NEST
    assert layout_of(bounded + statement) == expected


@pytest.mark.parametrize(
    "statement, reason",
    [
        ("y[i] += F[i][j] * x[j];", "elements of `F` are float, the sum is made in f64"),
        ("y[i] += A[j][2 * i] * x[j];", "the matrix is contiguous along neither i nor j"),
        ("y[i] += p[i + j] * x[j];", "elements of `p` are used several times"),
        ("y[i] += A[i][j] * x[i] * x[j];", "`x` does not vary with both rows and depth"),
    ],
)
def test_why_not(statement: str, reason: str) -> None:
    with pytest.raises(NoContraction, match=re.escape(reason)):
        layout_of(NEST + statement)


def test_the_matrix_side_is_lowered_to_elements() -> None:
    scop = model(NEST + "y[i] += alpha * A[i][j] * (x[j] * alpha);").program.scop
    step = contraction(scop, scop.statements[0], ()).step
    assert {str(x) for x in walk(step.lane) if not x.args} == {"acc", "a", "b", "s0"}
    assert (len(step.left), len(step.right), len(step.consts)) == (1, 1, 1)


def test_folds() -> None:
    acc, a = Lane("acc"), Lane("a")
    assert fold(Lane("add", (acc, a))) is not None
    assert fold(Lane("min", (a, acc))) is not None
    assert fold(Lane("sub", (acc, a))) is not None
    assert fold(Lane("sub", (a, acc))) is None
    assert fold(Lane("add", (acc, Lane("mul", (acc, a))))) is None
    assert fold(Lane("wrap8", (Lane("add", (acc, a)),))) is None


def plan_of(body: str, options: GenOptions = OPTIONS) -> str:
    return generate("in.c", text(body), options).plan


def form(plan: str) -> list[str]:
    return re.findall(r"form (\w+) streams (\d+)", plan)


def test_plans_follow_the_machine() -> None:
    n, t = NEST + "y[i] += A[i][j] * x[j];", NEST + "y[j] += A[i][j] * x[i];"
    assert form(plan_of(n)) == [("across", "4")]
    assert form(plan_of(t)) == [("lanes", "3")]
    assert form(plan_of(n, replace(OPTIONS, reassociate=True))) == [("fold", "4")]
    # Sums wait for 5 cycles there; a step of a column takes two more operations to transpose it: 4 groups of 4 rows.
    assert form(plan_of(n, replace(OPTIONS, machine="haswell"))) == [("across", "16")]
    # Vectors of a length known at run time only are not used: 128 bits are there on every such machine.
    assert "isa neon bits 128" in plan_of(t, replace(OPTIONS, machine="neoverse-v1"))


def test_rows_that_would_crowd_a_cache_are_told_apart() -> None:
    """Eight rows at a time in a cache of four ways: rows a multiple of its ways apart are taken in fours."""
    params = "int m, int n, float A[m][n], float x[n], float y[m]"
    made = generate("in.c", text(NEST + "y[i] += A[i][j] * x[j];", params), OPTIONS)
    assert "form across streams 8 by 1 vectors, period 4096 ways 4," in made.plan
    assert "tw_crowded(tw_pitch0, 8, 4096, 16, 4)" in made.text
    again = generate("in.c", text(NEST + "y[i] += A[i][j] * x[j];", params), replace(OPTIONS, plan_text=made.plan))
    assert again.text == made.text
    assert "tw_crowded" not in generate("in.c", text(NEST + "y[i] += A[i][j] * x[j];"), OPTIONS).text


def test_exact_folds_need_no_permission() -> None:
    params = "int m, int n, unsigned A[m][n], unsigned x[n], unsigned y[m]"
    made = generate("in.c", text(NEST + "y[i] += A[i][j] * x[j];", params), OPTIONS)
    assert [name for name, _ in form(made.plan)] == ["fold"]


def test_text_can_be_read_back() -> None:
    body = NEST + "y[i] += A[i][j] * x[j];"
    plan = plan_of(body)
    scop = model(body).program.scop
    assert show(parse(plan, "p", {1: scop}), {1: scop}) == plan.split("\n", 1)[1] if plan.startswith("#") else plan
    again = generate("in.c", text(body), replace(OPTIONS, plan_text=plan, plan_name="p"))
    assert again.text == generate("in.c", text(body), OPTIONS).text


def changed(plan: str, old: str, new: str) -> str:
    assert old in plan
    return plan.replace(old, new)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("form across", "form fold", "is carried by loop j"),
        ("form across", "form lanes", "does not lie as form lanes needs it"),
        ("streams 4", "streams 3", "these sizes make no kernel"),
        ("bits 128", "bits 256", "neon has no vectors of 256 bits"),
        ("block 16384", "block 0", "these sizes make no kernel"),
    ],
)
def test_wrong_plans_are_refused(old: str, new: str, message: str) -> None:
    """Whoever writes the plan: an order that is not free stays."""
    body = NEST + "y[i] += A[i][j] * x[j];"
    plan = changed(plan_of(body), old, new)
    with pytest.raises(InputError, match=message):
        generate("in.c", text(body), replace(OPTIONS, plan_text=plan, plan_name="p"))


def refolded(node: CNode) -> CNode:
    """The tree with the depth loop of its product marked as a fold in an order of its own."""
    if isinstance(node, For) and isinstance(node.body, Instance):
        return with_loop(node, kind=FOLDED, reductions=(("+", "y"),))
    return node if isinstance(node, Instance) else replace(node, body=refolded(node.body))  # type: ignore


@pytest.mark.parametrize("free", [False, True])
def test_the_proof_knows_which_folds_are_free(free: bool) -> None:
    found = model(NEST + "y[i] += A[i][j] * x[j];", free)
    made = make(found, OPTIONS, load("neoverse-n1"))
    (product,) = (n for n in walk_tree(made.code) if isinstance(n, ProductNode))
    findings = prove(made.program.scop, made.program.deps, refolded(product))
    assert [f.check for f in findings] == ([] if free else ["race"])


def test_the_proof_lets_lanes_wrap_around() -> None:
    """Sums of signed integers in any order, where they are made on lanes; the loop by itself keeps its order."""
    params = "int m, int n, int A[m][n], int x[n], int y[m]"
    source = open_source("in.c", text(NEST + "y[i] += A[i][j] * x[j];", params), OPTIONS)
    found = model_region(source.slices[0], OPTIONS)
    assert found is not None
    made = make(found, OPTIONS, load("neoverse-n1"))
    (product,) = (n for n in walk_tree(made.code) if isinstance(n, ProductNode))
    assert product.product.what.step.elem == "i32"
    assert prove(made.program.scop, made.program.deps, product) == ()
    findings = prove(made.program.scop, made.program.deps, refolded(product.body))
    assert [f.check for f in findings] == ["race"]


def test_the_vector_must_not_change_meanwhile() -> None:
    """With one row only, the row carries nothing; yet x is read before y, which is the same, is stored. What can be a
    product is the part of the row whose elements of y are others."""
    plan = plan_of("for (int i = 0; i < 1; i++) for (int j = 0; j < n; j++) y[i] += A[i][j] * y[j];")
    assert "product S1" not in plan
    assert "product" not in plan_of("for (int i = 0; i < 1; i++) for (int j = 0; j < 9; j++) y[i] += A[i][j] * y[j];")


def test_products_of_one_matrix_go_in_strips() -> None:
    """One thread reads the matrix once for both; many threads read it twice, each time together."""
    body = NEST + "{ y[j] += A[i][j] * x[i]; p[i] += A[i][j] * x[j]; }"
    plan = plan_of(body, replace(OPTIONS, target="c"))
    assert "tile S1.i:16" in plan and "distribute S1.i" in plan and "pair 8," in plan
    assert form(plan) == [("lanes", "2"), ("across", "4")]
    assert "tile" not in plan_of(body)
    # The first one reads from memory, line by line where that is far; the second finds the strip in the cache.
    alone = plan_of(NEST + "y[j] += A[i][j] * x[i];", replace(OPTIONS, target="c"))
    near = [int(x) for x in re.findall(r"near (\d+)", plan + alone)]
    assert near == [16 * 512, 2 * 2**20 // 8, 32 * 2**20 // 3 // 8]


def test_scalar_sums_get_a_strip() -> None:
    body = (
        "for (int i = 0; i < m; i++) { double a = 0, b = 1; for (int j = 0; j < n; j++) { a += A[i][j] * x[j]; "
        "b -= A[i][j] * p[j]; } y[i] = a * b; }"
    )
    plan = plan_of(body)
    assert "store b in S1.it [i - it: 8]" in plan and "parallel S1.it" in plan
    assert form(plan) == [("across", "4"), ("across", "4")]
    # One text for vectors of all widths: in 8 lines, kernels of the widest would find no whole group.
    assert "store b in S1.it [i - it: 16]" in plan_of(body, replace(OPTIONS, machine="generic"))
    without = "\n".join(line for line in plan.split("\n") if not line.strip().startswith("store"))
    with pytest.raises(InputError, match="has no storage for the rows"):
        generate("in.c", text(body), replace(OPTIONS, plan_text=without, plan_name="p"))


@pytest.mark.parametrize(
    "body, reason",
    [
        (NEST + "y[i] += F[i][j] * x[j];", "elements of `F` are float"),
        (NEST + "{ A[i][j] = 2 * A[i][j]; y[j] += A[i][j]; }", "in the same loop uses `A`"),
        ("for (int i = 0; i < m; i++) for (int j = n - 1; j >= 0; j--) y[i] += A[i][j];", "runs backwards"),
    ],
)
def test_remarks_say_which_condition_failed(body: str, reason: str) -> None:
    made = generate("in.c", text(body), OPTIONS)
    assert "product" not in made.plan
    found = [d for d in made.diagnostics if d.id == "no-product"]
    assert len(found) == 1 and reason in found[0].message


@pytest.mark.parametrize(("steps", "product"), [(8, False), (9, True)])
def test_many_products_of_a_few_steps_are_left_to_vectors_in_registers(steps: int, product: bool) -> None:
    nest = f"for (int i = 0; i < m; i++) for (int k = 0; k < {steps}; k++) for (int j = 0; j < n; j++) "
    params = f"int m, int n, double A[m + 9][n], double w[{steps}][n], double y[m][n]"
    made = generate("in.c", text(nest + "y[i][j] += A[i + k][j] * w[k][j];", params), OPTIONS)
    assert ("product" in made.plan) == product and ("vector S1.j by" in made.plan) != product


@pytest.mark.parametrize("isa", ["neon", "avx2", "avx512"])
@pytest.mark.parametrize("elem", ["f64", "f32", "i16", "u8"])
def test_turned_blocks(isa: str, elem: str) -> None:
    """Shuffles on names instead of numbers: column c must hold element c of every row."""
    table = load_isa(isa)
    lanes = table.lanes_max(elem)
    values = {f"r{r}": [(r, c) for c in range(lanes)] for r in range(lanes)}
    made, columns = transpose(table, elem, list(values), "t")
    for name, value in made:
        found = re.fullmatch(r"\w+\((\w+), (\w+), ([\d, ]+)\)", value)
        assert found is not None
        both = values[found[1]] + values[found[2]]
        values[name] = [both[int(x)] for x in found[3].split(", ")]
    assert all(values[name] == [(r, c) for r in range(lanes)] for c, name in enumerate(columns))


def test_a_matrix_that_loops_read_again_is_not_far_for_being_written() -> None:
    """Rows of B are written one by one, and all others read again for each."""
    nest = "for (int i = 1; i < m; i++) for (int k = 0; k < i; k++) for (int j = 0; j < n; j++)"
    body = f"{nest} A[i][j] -= x[k] * A[k][j];"
    near = re.findall(r"near (\d+)", generate("in.c", text(body), OPTIONS).plan)
    assert near and all(int(x) > 1024 * 1024 // 8 for x in near)
