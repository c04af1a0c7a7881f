"""Products come to stand alone in nests of their own, as far as dependences let them."""

from __future__ import annotations

import pytest

from codegen.machine import load
from codegen.options import GenOptions
from codegen.recognize.products.contraction import NoContraction, contraction
from codegen.region_model import model_region
from codegen.scop.tree import Band, Leaf, Node, Seq
from codegen.source_file import open_source
from codegen.strategy.orders.distribution import distribute, only, strongly_connected
from codegen.strategy.products.selection import find_products
from codegen.transform.program import Program, violation

PARAMS = "int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n], double v[n], double x"


def program(body: str) -> Program:
    for name in "tijkl":
        body = body.replace(f"for ({name})", f"for (int {name} = 0; {name} < n; {name}++)")
    text = f"void f({PARAMS})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


def spelled(node: Node) -> str:
    """A tree in one line: i, j(S1; k(S2))."""
    if isinstance(node, Leaf):
        return node.stmt
    if isinstance(node, Seq):
        return "; ".join(map(spelled, node.children))
    assert isinstance(node, Band)
    return f"{', '.join(lp.name for lp in node.loops)}({spelled(node.child)})"


def split(p: Program) -> tuple[str, list[tuple[str, int]]]:
    """Every statement whose own loops form a product with columns is one; the rest keeps its order."""

    def is_product(name: str, depth: int) -> bool:
        try:
            return bool(contraction(p.scop, p.scop.statement(name), range(depth)).columns)
        except NoContraction:
            return False

    names = tuple(s.name for s in p.scop.statements)
    tree, nests = distribute(p.scop, p.deps, p.tree, names, is_product, lambda some: only(p.tree, some))
    assert not violation(p.with_tree(tree))
    return spelled(tree), [(n.stmt, n.depth) for n in nests]


MULTIPLY = "C[i][j] += A[i][k] * B[k][j];"
TREES = {
    # An initial value, and what is done with the result.
    "for (i) for (j) { C[i][j] *= x; for (k) " + MULTIPLY + " }": ("i(j(S1)); i, j, k(S2)", [("S2", 0)]),
    "for (i) for (j) { for (k) " + MULTIPLY + " D[i][j] = C[i][j]; }": ("i, j, k(S1); i(j(S2))", [("S1", 0)]),
    "for (i) { for (j) C[i][j] = 0; for (k) for (j) " + MULTIPLY + " v[i] = C[i][0]; }": (
        "i(j(S1)); i, k, j(S2); i(S3)",
        [("S2", 0)],
    ),
    # Two products, one after the other, and two that have nothing to do with each other.
    "for (i) for (j) for (k) " + MULTIPLY + " for (i) for (j) for (k) D[i][j] += C[i][k] * B[k][j];": (
        "i, j, k(S1); i, j, k(S2)",
        [("S1", 0), ("S2", 0)],
    ),
    "for (i) for (j) for (k) { " + MULTIPLY + " D[i][j] += B[i][k] * A[k][j]; }": (
        "i, j, k(S1); i, j, k(S2)",
        [("S1", 0), ("S2", 0)],
    ),
    # A loop around that ties them together stays.
    "for (t) { for (i) for (j) for (k) " + MULTIPLY + " for (i) for (j) A[i][j] = 0.5 * C[i][j]; }": (
        "t(i, j, k(S1); i(j(S2)))",
        [("S1", 1)],
    ),
    "for (t) { v[t] = x; for (i) for (j) for (k) " + MULTIPLY + " }": ("t(S1); t, i, j, k(S2)", [("S2", 0)]),
    # What is set before the product and used after it, one for each iteration: both stay in its loops.
    "for (i) for (j) { double y = D[i][j]; for (k) " + MULTIPLY + " D[i][j] = y * C[i][j]; }": (
        "i, j, k(S2); i(j(S1; S3))",
        [("S2", 0)],
    ),
    # No product at all.
    "for (i) for (j) C[i][j] = A[j][i]; for (i) v[i] = C[i][0];": ("i(j(S1)); i(S2)", []),
    # The rows depend on each other: inside a row it is a matrix-vector product, which is not asked for here.
    "for (i) for (j) for (k) C[i][j] += C[j][k] * B[k][j];": ("i(j(k(S1)))", None),
}


@pytest.mark.parametrize("body", TREES)
def test_trees(body: str) -> None:
    want, nests = TREES[body]
    p = program(body)
    if nests is None:  # by its accesses alone it is a product; what its dependences say is asked by find_products
        assert not find_products(p, load("generic"), "smart").directives
        return
    assert split(p) == (want, nests)


def test_circles_keep_the_order() -> None:
    body = "for (i) { v[i] = x; for (j) { C[i][j] = v[i]; D[i][j] = C[i][j]; } } for (i) v[i] = D[i][0];"
    p = program(body)
    assert strongly_connected(p.scop, p.must, ["S1", "S2", "S3", "S4"]) == [("S1",), ("S2",), ("S3",), ("S4",)]
    assert strongly_connected(p.scop, p.must, ["S4", "S2", "S1"]) == [("S1",), ("S2",), ("S4",)]
    q = program("for (t) { for (i) v[i] = v[i] + C[0][i]; for (i) C[0][i] = v[i]; for (j) D[0][j] = x; }")
    assert strongly_connected(q.scop, q.must, ["S1", "S2", "S3"]) == [("S1", "S2"), ("S3",)]


def test_the_rows_may_run_backwards_in_the_source() -> None:
    p = program("for (int i = n - 1; i >= 0; i--) for (j) for (int k = n - 1; k >= 0; k--) " + MULTIPLY)
    made = find_products(p, load("generic"), "smart")
    (d,) = made.directives
    assert (d.rows, d.columns, d.depth) == (("i",), ("j",), ("k",))
    assert not violation(p.with_tree(made.tree))
    (band,) = (n for n in (made.tree,) if isinstance(n, Band))
    signs = [lp.exprs["S1"].get_pieces()[0][1].to_str().split("[(")[1][0] for lp in band.loops]
    assert signs == ["i", "-", "j"], "sums keep their order, rows need none"


def test_a_product_in_its_own_operands_needs_their_order() -> None:
    """Below the diagonal, rows read others before those change; above it, after."""
    for k, blocked in (("int k = i + 1; k < n; k++", True), ("int k = 0; k < i; k++", False)):
        p = program(f"for (i) for (j) for ({k}) C[i][j] += A[i][k] * C[k][j];")
        made = find_products(p, load("generic"), "smart")
        assert any(d.columns for d in made.directives) == blocked
        assert not violation(p.with_tree(made.tree))
