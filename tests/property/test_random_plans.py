"""Random plans hold every directive, each also where it is legal; and whatever a plan says, it is obeyed or refused."""
from __future__ import annotations

import re
from collections import Counter
from random import Random

import islpy as isl
import pytest

from codegen.diagnostics import InputError
from codegen.machine import load
from codegen.options import GenOptions
from codegen.plan.text import show
from codegen.plan_reader.parse import DIRECTIVES, parse, planned_regions
from codegen.region import _by_user_plan
from codegen.region_model import Modelled, model_region
from codegen.source_file import open_source
from codegen.strategy.planner import source_plan
from tests.property.plans import Names, names_of, random_plan

BODIES = {
    "product": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)\n"
    "  A[i][j] += B[i][k] * C[k][j];",
    "paths": "for (int k = 0; k < n; k++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)\n"
    "  A[i][j] = A[i][j] < A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j];",
    "stencil": "for (int k = 0; k < n; k++) for (int i = 1; i < m - 1; i++) for (int j = 1; j < m - 1; j++)\n"
    "  A[i][j] = A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j];",
    "time": "for (int k = 0; k < n; k++) {\n  for (int i = 1; i < m - 1; i++) B[0][i] = A[0][i - 1] + A[0][i + 1];\n"
    "  for (int i = 1; i < m - 1; i++) A[0][i] = B[0][i];\n}",
    "sums": "for (int i = 0; i < n; i++) {\n"
    "  t0 = 0;\n  for (int j = 0; j < m; j++) t0 += A[i][j];\n  B[0][i] = t0;\n}",
    "rows": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) B[0][i] += A[i][j] * C[0][j];",
    "lanes": "for (int i = 0; i < n; i++) {\n  double t1 = A[0][i] * 2.0;\n  B[0][i] = t1 + 1.0;\n}",
}
WORDS = (*"{}()[],:.-*/=²é\0", "9" * 5000, "region 1", "0", "mod", "min(")


def _case(body: str) -> tuple[Modelled, Names]:
    text = ("void kernel(int n, int m, double A[n][n], double B[n][n], double C[n][n], double t0)\n"
            f"{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    model = model_region(open_source("kernel.c", text, GenOptions()).slices[0], GenOptions())
    assert model is not None
    scop = model.program.scop
    plan = show((source_plan(model.program, load("generic")).plan,), {scop.region: scop})
    return model, names_of(plan, text)


@pytest.fixture(scope="module")
def cases() -> dict[str, tuple[Modelled, Names]]:
    return {name: _case(body) for name, body in BODIES.items()}


def _obey(model: Modelled, text: str) -> bool:
    """Is the plan legal? Anything but an error in the plan is one of the tool's."""
    isl.DEFAULT_CONTEXT.reset_operations()
    isl.DEFAULT_CONTEXT.set_max_operations(2_000_000)
    try:
        planned_regions(text, "x.plan")
        plans = parse(text, "x.plan", {1: model.program.scop})
        for plan in plans:
            _by_user_plan(model, plan)
    except InputError as error:
        assert error.loc.file == "x.plan", error
        return False
    finally:
        isl.DEFAULT_CONTEXT.set_max_operations(0)
    return bool(plans)


def _words(plan: str) -> set[str]:
    return {line.split()[0] for line in plan.splitlines() if re.match(r"  [a-z]", line)} & DIRECTIVES


def test_every_directive_is_tried_and_legal_somewhere(cases: dict[str, tuple[Modelled, Names]]) -> None:
    rng = Random(11)
    tried: Counter[str] = Counter()
    legal: Counter[str] = Counter()
    for turn in range(4000):
        model, names = cases[rng.choice(sorted(cases))]
        plan = random_plan(rng, names)
        words = _words(plan)
        tried.update(words)
        if not words <= legal.keys() and _obey(model, plan):
            legal.update(words)
        if turn > 600 and legal.keys() == DIRECTIVES:
            break
    assert tried.keys() == DIRECTIVES and min(tried.values()) >= 5
    assert legal.keys() == DIRECTIVES, sorted(DIRECTIVES - legal.keys())


def _spoilt(rng: Random, plan: str) -> str:
    """A plan with a few words lost, doubled, exchanged, or foreign, or its end missing."""
    words = re.findall(r"\s+|\w+|.", plan)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(words))
        words[at : at + 1] = rng.choice(
            ([], [words[at]] * 2, [rng.choice(words)], [words[at], rng.choice(WORDS)], [str(2 ** rng.randrange(80))])
        )
        words = words or ["region"]
    return "".join(words if rng.random() < 0.8 else words[: rng.randrange(len(words)) + 1])


def test_spoilt_plans_are_errors_in_the_plan(cases: dict[str, tuple[Modelled, Names]]) -> None:
    rng = Random(5)
    for _ in range(400):
        model, names = cases[rng.choice(sorted(cases))]
        _obey(model, _spoilt(rng, random_plan(rng, names)))
