"""The proofs find what is wrong with a C tree: legal results are damaged, one place at a time.

Each mutation names the check that must find it. Those in SOLE are found by no other check, which shows that
every check is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import pytest

from codegen.ast.ctree import (
    Bin,
    Block,
    CNode,
    Declare,
    For,
    If,
    Instance,
    Int,
    ProductNode,
    node_kids,
    walk,
    with_loop,
)
from codegen.ast.lowered import Enough, Strips
from codegen.machine import load
from codegen.options import GenOptions
from codegen.recognize.products.contraction import contraction
from codegen.region import ProvenRegion, make
from codegen.region_model import model_region
from codegen.scop.product import Blocking, Product
from codegen.scop.tree import PACKED, PARALLEL_VECTOR, PIPELINED, STAGE
from codegen.source_file import open_source
from codegen.verify.proofs import CHECKS, prove

COPY = "void f(int n, double A[n], double B[n])", "for (int i = 0; i < n; i++)\n    A[i] = B[i];"
COUNT = "void f(int n, double A[n])", "for (int i = 0; i < n; i++)\n    A[i] = i;"
PREFIX = "void f(int n, double A[n])", "for (int i = 1; i < n; i++)\n    A[i] = A[i - 1] + 1.0;"
PAIR = (
    "void f(int n, double A[n], double B[n], double C[n])",
    "for (int i = 0; i < n; i++) {\n    A[i] = C[i];\n    B[i] = A[i] + 1.0;\n}",
)
LOCAL = (
    "void f(int n, double A[n], double B[n])",
    "for (int i = 0; i < n; i++) {\n    double t;\n    t = A[i];\n    B[i] = t + 1.0;\n}",
)
ROWS = (
    "void f(int n, double A[n][n])",
    "for (int i = 1; i < n; i++)\n    for (int j = 0; j < n; j++)\n        A[i][j] += A[i - 1][j];",
)
DIAGONAL = (
    "void f(int n, double A[n][n])",
    "for (int i = 1; i < n; i++)\n    for (int j = 0; j < n - 1; j++)\n        A[i][j] += A[i - 1][j + 1];",
)
MATMUL = (
    "void f(int n, double A[n][n], double B[n][n], double C[n][n])",
    "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n        for (int k = 0; k < n; k++)\n"
    "            C[i][j] += A[i][k] * B[k][j];",
)
IN_PLACE = (
    "void f(int n, double A[n][n], double B[n][n])",
    "for (int i = 0; i < n; i++)\n    for (int k = 0; k < n; k++)\n        for (int j = 0; j < n; j++)\n"
    "            A[i][j] += B[i][k] * A[k][j];",
)
CORNER = (
    "void f(int n, double A[n][n])",
    (
        "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n"
        "        if (i == 2)\n            A[i][j] = 1.0;\n"
        "        else if (j >= i)\n            A[i][j] = 0.0;"
    ),
)
SPREAD = (
    "void f(int n, double A[n][n], double B[n])",
    "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n        A[i][j] = B[i];",
)
SUM = "double s;\nvoid f(int n, double A[n])", "for (int i = 0; i < n; i++)\n    s += A[i];"
BUFFER = "tile i:16\n  distribute i\n  store t in it [i - it: 16]"


@cache
def result(source: tuple[str, str], plan: str = "", reassociate: bool = False) -> ProvenRegion:
    """A proven result: by the plan if there is one, else the tool's own."""
    text = f"{source[0]}\n{{\n#pragma scop\n{source[1]}\n#pragma endscop\n}}\n"
    options = GenOptions(plan_text=f"region 1\n  {plan}\n" if plan else None, reassociate=reassociate)
    model = model_region(open_source("in.c", text, options).slices[0], options)
    assert model is not None
    return make(model, options, load("generic"))


Change = Callable[[CNode], CNode]


def rebuilt(node: CNode, kids: list[CNode]) -> CNode:
    if isinstance(node, Block):
        return Block(tuple(kids))
    if isinstance(node, (For, Declare)):
        return replace(node, body=kids[0])
    if isinstance(node, If):
        return If(node.cond, kids[0], kids[1] if len(kids) > 1 else None)
    return node


def at(kind: type, change: Change, nth: int = 0) -> Change:
    """Apply `change` to the nth node of a kind, in textual order."""

    def go(tree: CNode) -> CNode:
        targets = [n for n in walk(tree) if isinstance(n, kind)]
        target = targets[nth]

        def visit(node: CNode) -> CNode:
            if node is target:
                return change(node)
            return rebuilt(node, [visit(k) for k in node_kids(node)])

        return visit(tree)

    return go


def plus(e, k: int):  # type: ignore[no-untyped-def]
    return Bin("+", e, Int(k))


def shift_access(number: int, k: int) -> Change:
    def change(node: CNode) -> CNode:
        accesses = list(node.accesses)
        accesses[number] = (plus(accesses[number][0], k), *accesses[number][1:])
        return replace(node, accesses=tuple(accesses))

    return change


def older(node: CNode) -> CNode:
    """Keep values one iteration longer."""
    kept = tuple(replace(c, reads=tuple((k, n, age + 1) for k, n, age in c.reads)) for c in node.carried)
    return replace(node, carried=kept, form=None)  # its lines are read by another check


def resize(size: int) -> Change:
    return lambda node: replace(node, slots=tuple(replace(s, sizes=(size, *s.sizes[1:])) for s in node.slots))


def restart(k: int) -> Change:
    return lambda node: replace(
        node, slots=tuple(replace(s, starts=(plus(s.starts[0], k), *s.starts[1:])) for s in node.slots)
    )


def hoist(tree: CNode) -> CNode:
    """Declare the first variable in front of everything."""
    declare = next(n for n in walk(tree) if isinstance(n, Declare))
    return Declare(declare.slots, at(Declare, lambda node: node.body)(tree))


def kinds(tree: CNode, *names: str) -> CNode:
    """The loops from the outermost one inwards made something else."""
    for number, name in enumerate(names):
        tree = at(For, partial(with_loop, kind=name), number)(tree)
    return tree


@dataclass(frozen=True)
class Mutation:
    """What is damaged, and the check that must find it."""

    source: tuple[str, str]
    plan: str
    change: Change
    check: str
    reassociate: bool = False


def packed(code: CNode) -> CNode:
    """The nest as if it were a packed product of rows i and columns j over k."""
    scop = result(IN_PLACE, "order i, k, j").program.scop
    what = contraction(scop, scop.statements[0], ())
    assert isinstance(code, For) and isinstance(code.body, For) and isinstance(code.body.body, For)
    inner = with_loop(code.body.body, kind=PACKED)
    body = with_loop(replace(code, body=replace(code.body, body=inner)), kind=PACKED)
    return ProductNode(Product(what, Blocking("generic", 128, 4, 2, 64, 64, 64)), body)


def no_tail(n: For) -> Strips:
    """The form of a loop in vectors, without what runs the rest of its iterations."""
    assert isinstance(n.form, Strips)
    (first,) = n.form.parts
    assert isinstance(first, Enough)
    return replace(n.form, parts=(replace(first, then=first.then[:-1]),))


SOLE = {
    "value shared by rows that have their own": Mutation(
        SPREAD,
        "tile i:4\n  order j, i\n  interleave i",
        at(For, lambda n: with_loop(n, alike=(("S1", 1),)), 2),
        "alike",
    ),
    "vectors without their tail": Mutation(
        COPY, "vector i by 2 of 16 bytes", at(For, lambda n: replace(n, form=no_tail(n))), "form"
    ),
    "product with an operand that it writes": Mutation(IN_PLACE, "order i, k, j", lambda n: packed(n), "operand"),
    "upper bound too low": Mutation(COPY, "", at(For, lambda n: replace(n, upper=plus(n.upper, -1))), "exactly-once"),
    "first iteration dropped": Mutation(
        COPY, "", at(For, lambda n: replace(n, lower=plus(n.lower, 1))), "exactly-once"
    ),
    "every other iteration": Mutation(COPY, "", at(For, lambda n: replace(n, step=2)), "exactly-once"),
    "statement repeated": Mutation(COPY, "", at(Instance, lambda n: Block((n, n))), "exactly-once"),
    "parts of a body swapped": Mutation(PAIR, "parallel i", at(Block, lambda n: Block(n.children[::-1])), "dependence"),
    "sequential loop made parallel": Mutation(
        PREFIX, "tile i:16", at(For, lambda n: with_loop(n, kind="parallel")), "race"
    ),
    "sequential loop made vector": Mutation(
        PREFIX, "tile i:16", at(For, lambda n: with_loop(n, kind="vector"), 1), "race"
    ),
    "sequential loop made both": Mutation(
        PREFIX, "tile i:16", at(For, lambda n: with_loop(n, kind=PARALLEL_VECTOR), 1), "race"
    ),
    "pipeline without its stages": Mutation(
        ROWS, "pipeline i along j", at(For, lambda n: with_loop(n, kind="parallel")), "race"
    ),
    "loops made a pipeline": Mutation(
        DIAGONAL, "vector j", lambda tree: kinds(tree, PIPELINED, STAGE), "race"
    ),
    "read one element further": Mutation(COPY, "", at(Instance, shift_access(1, 1)), "subscript"),
    "write one element further": Mutation(COPY, "", at(Instance, shift_access(0, 1)), "subscript"),
    "another number computed": Mutation(
        COUNT, "", at(Instance, lambda n: replace(n, values=(plus(n.values[0], 1),))), "subscript"
    ),
    "buffer too small": Mutation(LOCAL, BUFFER, at(Declare, resize(4)), "storage"),
    "buffer one too small": Mutation(LOCAL, BUFFER, at(Declare, resize(15)), "storage"),
    "buffer folded into one cell": Mutation(LOCAL, BUFFER, at(Declare, resize(0)), "storage"),
    "buffer counted from elsewhere": Mutation(LOCAL, BUFFER, at(Declare, restart(1)), "storage"),
    "declaration shared by threads": Mutation(LOCAL, "parallel i", hoist, "storage"),
    "declaration shared by lanes": Mutation(LOCAL, "vector i", hoist, "storage"),
    "value of another iteration": Mutation(PREFIX, "scalar_replace i", at(For, older), "carried"),
    "declaration gone": Mutation(LOCAL, "", at(Declare, lambda n: n.body), "storage"),
}
OTHERS = {
    "upper bound too high": Mutation(COPY, "", at(For, lambda n: replace(n, upper=plus(n.upper, 1))), "exactly-once"),
    "last value included": Mutation(COPY, "", at(For, lambda n: replace(n, op="<=")), "exactly-once"),
    "lower bound below zero": Mutation(COPY, "", at(For, lambda n: replace(n, lower=Int(-1))), "exactly-once"),
    "another iteration runs": Mutation(
        COPY, "", at(Instance, lambda n: replace(n, iterators=(plus(n.iterators[0], 1),))), "exactly-once"
    ),
    "statement dropped": Mutation(PAIR, "", at(Block, lambda n: n.children[0]), "exactly-once"),
    "tile step too long": Mutation(
        MATMUL, "tile i:32, j:32, k:32", at(For, lambda n: replace(n, step=n.step + 1)), "exactly-once"
    ),
    "tile step too short": Mutation(
        MATMUL, "tile i:32, j:32, k:32", at(For, lambda n: replace(n, step=16), 2), "exactly-once"
    ),
    "inner tile bound lost": Mutation(
        MATMUL, "tile i:32, j:32, k:32", at(For, lambda n: replace(n, upper=plus(n.lower, 31)), 4), "exactly-once"
    ),
    "condition lost": Mutation(CORNER, "reverse j", at(If, lambda n: n.then), "exactly-once"),
    "branches swapped": Mutation(
        CORNER, "schedule { loop j, i { S1 S2 } }", at(If, lambda n: If(n.cond, Block(()), n.then)), "exactly-once"
    ),
    "sum over threads": Mutation(
        MATMUL, "tile i:32, j:32, k:32", at(For, lambda n: with_loop(n, kind="parallel"), 2), "race"
    ),
    "sum in lanes": Mutation(MATMUL, "parallel i", at(For, lambda n: with_loop(n, kind="vector"), 2), "race"),
    "thread order instead of time": Mutation(
        PREFIX, "unroll i by 4", at(Block, lambda n: Block(n.children[::-1])), "dependence"
    ),
    # The proof must not rest on what the plan itself claims about reductions: order may be free, and yet two
    # threads may not update the same element without a clause for it.
    "reduction clause lost": Mutation(SUM, "parallel i", at(For, lambda n: with_loop(n, reductions=())), "race", True),
    "reduction clause of another operator": Mutation(
        SUM, "parallel i", at(For, lambda n: with_loop(n, reductions=(("*", "s"),))), "race", True
    ),
    "reduction clause without leave to reassociate": Mutation(
        SUM, "tile i:64", at(For, lambda n: with_loop(n, kind="parallel", reductions=(("+", "s"),))), "race"
    ),
    "reduction over an array without a clause": Mutation(
        MATMUL, "parallel i", at(For, lambda n: with_loop(n, kind="parallel"), 2), "race", True
    ),
}
ALL = {**SOLE, **OTHERS}


def findings(m: Mutation, without: str = "") -> set[str]:
    made = result(m.source, m.plan, m.reassociate)
    order = ("exactly-once", "dependence", "race", "subscript", "storage", "operand", "carried", "alike", "form")
    names = dict(zip(order, CHECKS, strict=True))
    checks = [c for name, c in names.items() if name != without]
    p = made.program
    return {f.check for f in prove(p.scop, p.deps, m.change(made.code), checks)}


@pytest.mark.parametrize("name", ALL)
def test_found(name: str) -> None:
    m = ALL[name]
    made = result(m.source, m.plan, m.reassociate)
    p = made.program
    assert prove(p.scop, p.deps, made.code) == (), "the undamaged result is proven"
    assert m.change(made.code) != made.code
    assert m.check in findings(m)


@pytest.mark.parametrize("name", SOLE)
def test_no_other_check_finds_it(name: str) -> None:
    m = SOLE[name]
    assert findings(m) == {m.check}
    assert findings(m, without=m.check) == set()


def test_every_check_is_needed() -> None:
    assert len({m.check for m in SOLE.values()}) == len(CHECKS)


def test_findings_are_sentences_about_the_source() -> None:
    m = SOLE["sequential loop made parallel"]
    made = result(m.source, m.plan)
    p = made.program
    (finding,) = prove(p.scop, p.deps, m.change(made.code))
    assert "line 5 (at i = " in finding.message and "parallel loop `it`" in finding.message
