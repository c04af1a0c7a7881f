"""Variables of which all values are kept at once: when, over which loops, and what the proof finds wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl
import pytest

from codegen.diagnostics import InputError
from codegen.machine import load
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.plan.model import Expand, Parallel
from codegen.recognize.privatize.expansion import Expansion, NoExpansion, expand, shared_loops
from codegen.region_model import model_region
from codegen.scop.expr import Binary, Lit
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import statements
from codegen.source_file import open_source
from codegen.strategy.planner import default_plan
from codegen.transform.apply import apply
from codegen.transform.program import Program
from codegen.verify.expansion import wrong_expansion

HEAD = "void f(int n, int m, double A[n][n], double B[n][n], double C[n][n], double v[n], double *p, double x[4], "
HEAD += "double T[n][n][n])"
NEST = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) "
SUM = "for (int k = 0; k < n; k++) s += A[i][k] * B[k][j];"
SCALAR = NEST + "{ double s = 0; " + SUM + " C[i][j] += s; }"
LASTING = NEST + "{ v[j] = 0; for (int k = 0; k < n; k++) v[j] += A[i][k] * B[k][j]; C[i][j] += v[j]; }"
FIBRE = """for (int i = 0; i < n; i++) {
  for (int j = 0; j < m; j++) { v[j] = 0; for (int k = 0; k < m; k++) v[j] += A[i][k] * B[k][j]; }
  for (int j = 0; j < m; j++) A[i][j] = v[j];
}"""


FIBRES = f"for (int t = 0; t < n; t++) {FIBRE.replace('A[i]', 'T[t][i]')}"


def program(body: str) -> Program:
    text = f"{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    model = model_region(open_source("in.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    return model.program


def expansions(body: str) -> list[tuple[str, tuple[str, ...]]]:
    """What the default plan expands."""
    plan = default_plan(program(body), load("neoverse-n1")).plan
    return [(d.variable, d.over) for d in plan.directives if isinstance(d, Expand)]


def test_a_scalar_gets_a_place_for_every_iteration() -> None:
    p = program(SCALAR)
    made = expand(p.scop, "s", ("i", "j"), 1 << 20)
    assert made.copy is None and "s" not in made.scop.arrays and made.tree(p.tree) is p.tree
    assert made.buffer.texts == ("n", "m") and made.buffer.array == "tw_all_s"
    assert [a.array for a in made.scop.statement("S2").accesses] == ["tw_all_s", "A", "B", "tw_all_s"]
    assert not wrong_expansion(p.scop, p.tree, made.scop, p.tree, made.buffer)


def test_what_is_seen_afterwards_is_brought_back() -> None:
    p = program(FIBRE)
    assert shared_loops(p.scop, "v") == ("i", "j")  # of that name; the loops over j are two
    made = expand(p.scop, "v", ("i",), 1 << 20)
    assert made.copy is not None and made.copy.name == "S4" and made.copy.iterators == ("j",)
    tree = made.tree(p.tree)
    assert statements(tree) == ("S1", "S2", "S3", "S4")
    assert not wrong_expansion(p.scop, p.tree, made.scop, tree, made.buffer)
    last = str(made.copy.accesses[1].relation)
    assert "tw_all_v[-1 + n, j]" in last and "n > 0" in last


def test_each_iteration_around_has_its_own() -> None:
    p = program(FIBRES)
    made = expand(p.scop, "v", ("i",), 1 << 20, "t")
    own = made.scop.arrays["tw_all_v"]
    assert own.roomy and own.scope == 1 and own.extents == ("n", "m") and not made.scop.buffers
    assert made.copy is not None and made.copy.iterators == ("t", "i", "e")
    tree = made.tree(p.tree)
    assert statements(tree) == ("S1", "S2", "S3", "S4")
    assert not wrong_expansion(p.scop, p.tree, made.scop, tree, made.buffer)
    with pytest.raises(NoExpansion, match="k is not the loop around i"):
        expand(p.scop, "v", ("i",), 1 << 20, "k")
    plan = default_plan(p, load("neoverse-n1")).plan
    assert ("v", ("i",), "t") in [(d.variable, d.over, d.within) for d in plan.directives if isinstance(d, Expand)]
    assert any(isinstance(d, Parallel) and d.loop.name == "t" for d in plan.directives)


def test_iterations_that_need_each_other_share_the_memory() -> None:
    """Each t works on what the one before has left in A: nothing is won by memory of its own."""
    plan = default_plan(program(f"for (int t = 0; t < n; t++) {FIBRE}"), load("neoverse-n1")).plan
    assert [d.within for d in plan.directives if isinstance(d, Expand)] == [""]


CHOSEN = {
    SCALAR: [("s", ("i", "j"))],
    FIBRE: [("v", ("i",))],
    "for (int t = 0; t < n; t++) " + SCALAR: [("s", ("i", "j"))],
    # Nothing to gain: a short product, one that is found without, and none at all.
    SCALAR.replace("k < n", "k < 7"): [],
    NEST + "{ double s = 0; " + SUM + " C[i][j] = s; }": [],
    NEST + "{ double s = 0; for (int k = 0; k < n; k++) s += A[i][k] * s; C[i][j] += s; }": [],
    # Something to lose: the value before, or that of another iteration.
    NEST + "{ for (int k = 0; k < n; k++) p[0] += A[i][k] * B[k][j]; C[i][j] += p[0]; }": [],
    NEST + "{ if (j == 0) v[i] = 0; for (int k = 0; k < n; k++) v[i] += A[i][k] * B[k][j]; C[i][j] += v[i]; }": [],
}


@pytest.mark.parametrize("body", CHOSEN)
def test_chosen(body: str) -> None:
    assert expansions(body) == CHOSEN[body]


REFUSED = {
    ("s", ("i", "k")): "k is no loop around all uses of `s`",
    ("t", ("i",)): "`t` is no variable of the region",
    ("C", ("j",)): "`C` is read before it is written",
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: tuple[str, tuple[str, ...]]) -> None:
    with pytest.raises(InputError, match="cannot be expanded") as caught:
        apply(program(SCALAR), Expand(*what, 1 << 20))
    assert REFUSED[what] in caught.value.message


def test_a_value_of_another_iteration_is_lost_over_that_loop() -> None:
    # The sum keeps iterations in order, or each would have got its own x without being asked.
    body = NEST + "{ if (j == 0) x[0] = 0; x[0] += A[i][j]; C[0][0] = C[0][0] / 2 + x[0]; }"
    assert apply(program(body), Expand("x", ("i",), 1 << 20)).scop.buffers[0].texts == ("n", "1")
    with pytest.raises(InputError, match="is read before it is written"):
        apply(program(body), Expand("x", ("i", "j"), 1 << 20))
    kept = NEST + "{ x[0] = A[i][j]; if (i == 1) x[1] = 2; C[0][0] = C[0][0] / 2 + x[1 - 1]; }"
    # x[1] is written in one iteration only, and its last value is found there.
    assert apply(program(kept), Expand("x", ("i", "j"), 1 << 20)).scop.statements[-1].name == "S4"


def test_limits() -> None:
    fixed = "for (int i = 0; i < 1000; i++) for (int j = 0; j < 1000; j++) { double s = A[i][j]; C[i][j] += s; }"
    p = program(fixed)
    assert expand(p.scop, "s", ("i", "j"), 8_000_000).buffer.texts == ("1000", "1000")
    with pytest.raises(NoExpansion, match="more than"):
        expand(p.scop, "s", ("i", "j"), 7_999_999)
    odd = "for (int i = 0; i < n; i++) { x[i % 3] = A[i][0]; C[i][0] = x[i % 3]; }"
    assert expand(program(odd).scop, "x", ("i",), 1 << 20).buffer.texts == ("n", "3")


# -- damage ----------------------------------------------------------------------------------------


def _access(s: Statement, number: int, k: int, change: Callable[[isl.PwAff], isl.PwAff]) -> Statement:
    """A statement with one subscript of one access changed."""
    a = s.accesses[number]
    index = a.index.set_pw_aff(k, change(a.index.get_pw_aff(k)))
    relation = isl.Map.from_multi_pw_aff(index).intersect_domain(s.domain)
    changed = replace(a, index=index, relation=relation)
    return replace(s, accesses=(*s.accesses[:number], changed, *s.accesses[number + 1 :]))


def _with(scop: Scop, s: Statement) -> Scop:
    return replace(scop, statements=tuple(s if t.name == s.name else t for t in scop.statements))


def _plus(n: int) -> Callable[[isl.PwAff], isl.PwAff]:
    return lambda v: v.add_constant_val(isl.Val(n))


def _zero(v: isl.PwAff) -> isl.PwAff:
    return v.sub(v)


def _change(e: Expansion, name: str, number: int, k: int, change: Callable[[isl.PwAff], isl.PwAff]) -> Scop:
    return _with(e.scop, _access(e.scop.statement(name), number, k, change))


DAMAGE: dict[str, tuple[str, Callable[[Expansion], Scop], str]] = {
    "a read of another row": (SCALAR, lambda e: _change(e, "S3", 1, 0, _zero), "would not reach"),
    "a write to another column": (SCALAR, lambda e: _change(e, "S1", 0, 1, _zero), "before it is written"),
    "one past the end": (SCALAR, lambda e: _change(e, "S2", 0, 1, _plus(1)), "outside its memory"),
    "one before the start": (SCALAR, lambda e: _change(e, "S2", 0, 0, _plus(-1)), "outside its memory"),
    "another array": (SCALAR, lambda e: _change(e, "S2", 1, 0, _plus(1)), "another statement"),
    "another value": (
        SCALAR,
        lambda e: _with(e.scop, replace(e.scop.statement("S1"), rhs=Lit("1"))),
        "another statement",
    ),
    "fewer iterations": (
        SCALAR,
        lambda e: _with(e.scop, replace(e.scop.statement("S1"), domain=e.scop.statement("S1").domain.lexmin())),
        "another statement",
    ),
    "the first value instead of the last": (FIBRE, lambda e: _change(e, "S4", 1, 0, _zero), "last value back"),
    "another element's": (
        LASTING,
        lambda e: _change(e, "S4", 1, len(e.buffer.sizes) - 1, _zero),
        "last value back",
    ),
    "to another element": (FIBRE, lambda e: _change(e, "S4", 0, 0, _zero), "last value back"),
    "changed on the way": (
        FIBRE,
        lambda e: _with(
            e.scop, replace(e.scop.statement("S4"), rhs=Binary("+", e.scop.statement("S4").rhs, Lit("1")))
        ),
        "last value back",
    ),
    "not all elements": (
        FIBRE,
        lambda e: _with(
            e.scop,
            replace(
                (s := e.scop.statement("S4")),
                domain=s.domain.lexmin(),
                accesses=tuple(replace(a, relation=a.relation.intersect_domain(s.domain.lexmin())) for a in s.accesses),
            ),
        ),
        "last value back",
    ),
    "not at all": (FIBRE, lambda e: replace(e.scop, statements=e.scop.statements[:-1]), "brought back once"),
}


WITHIN: dict[str, tuple[Callable[[Expansion], Scop], str]] = {
    "one past the end": (lambda e: _change(e, "S2", 0, 2, _plus(1)), "outside its memory"),
    "a read of another iteration's": (lambda e: _change(e, "S3", 1, 0, _zero), "would not reach"),
    "a read of another row": (lambda e: _change(e, "S3", 1, 1, _zero), "would not reach"),
    "another element's last": (lambda e: _change(e, "S4", 1, 2, _zero), "last value back"),
    "to another element": (lambda e: _change(e, "S4", 0, 0, _zero), "last value back"),
    "other extents": (
        lambda e: replace(
            e.scop,
            arrays={**e.scop.arrays, "tw_all_v": replace(e.scop.arrays["tw_all_v"], extents=("m", "n"))},
        ),
        "outside its memory",
    ),
}


@pytest.mark.parametrize("what", WITHIN)
def test_the_proof_finds_in_iterations(what: str) -> None:
    damage, message = WITHIN[what]
    p = program(FIBRES)
    made = expand(p.scop, "v", ("i",), 1 << 20, "t")
    assert message in wrong_expansion(p.scop, p.tree, damage(made), made.tree(p.tree), made.buffer)


@pytest.mark.parametrize("what", DAMAGE)
def test_the_proof_finds(what: str) -> None:
    body, damage, message = DAMAGE[what]
    p = program(body)
    name = "s" if body == SCALAR else "v"
    made = expand(p.scop, name, ("i",) if name == "v" else ("i", "j"), 1 << 20)
    tree = made.tree(p.tree)
    assert not wrong_expansion(p.scop, p.tree, made.scop, tree, made.buffer)
    assert message in wrong_expansion(p.scop, p.tree, damage(made), tree, made.buffer)


def test_too_little_memory_is_found() -> None:
    p = program(SCALAR)
    made = expand(p.scop, "s", ("i", "j"), 1 << 20)
    less = replace(made.buffer, sizes=(made.buffer.sizes[0], made.buffer.sizes[1].add_constant_val(isl.Val(-1))))
    assert "outside" in wrong_expansion(p.scop, p.tree, made.scop, p.tree, less)
    swapped = replace(made.buffer, texts=made.buffer.texts[::-1])
    assert "outside" in wrong_expansion(p.scop, p.tree, made.scop, p.tree, swapped)


def test_extents_that_are_printed_are_those_of_the_model() -> None:
    """Memory and subscripts may be wrong in the same way: both come from one text."""
    p = program(FIBRES)
    made = expand(p.scop, "v", ("i",), 1 << 20, "t")
    own = replace(made.scop.arrays["tw_all_v"], extents=("m", "m"))
    scop = replace(made.scop, arrays={**made.scop.arrays, "tw_all_v": own})
    wrong = wrong_expansion(p.scop, p.tree, scop, made.tree(p.tree), replace(made.buffer, texts=("m", "m")))
    assert "outside its memory" in wrong


def test_over_too_few_loops_nothing_stands_apart() -> None:
    """Over j alone, an iteration of i still has to be over before the next: the order that runs products first is no
    longer legal, and is refused as a dependence."""
    plan = """region 1
  expand s over j limit 1048576
  schedule {
    loop i, j { S1 }
    loop i, k, j { S2 }
    loop i, j { S3 }
  }
"""
    text = f"{HEAD}\n{{\n#pragma scop\n{SCALAR}\n#pragma endscop\n}}\n"
    with pytest.raises(InputError, match="would run backwards"):
        generate("in.c", text, GenOptions(plan_text=plan, plan_name="p"))
    wide = plan.replace("over j", "over i, j")
    assert "tw_all_s[i * m + j]" in generate("in.c", text, GenOptions(plan_text=wide, plan_name="p")).text


@pytest.mark.parametrize("body", [SCALAR, FIBRE])
def test_plans_are_replayed(body: str) -> None:
    text = f"{HEAD}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    options = GenOptions(banner=False, machine="neoverse-n1")
    made = generate("f.c", text, options)
    assert "  expand " in made.plan
    again = generate("f.c", text, replace(options, plan_text=made.plan, plan_name="p.plan"))
    assert again.text == made.text and again.plan == made.plan
