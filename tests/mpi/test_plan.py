"""Who shares which loop is a directive of the plan: printed, edited, and checked."""

from __future__ import annotations

import re

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from tests.mpi.test_proofs import HEAT


def made(plan: str | None = None, target: str = "mpi") -> Generated:
    return generate("in.c", HEAT, GenOptions(target=target, plan_text=plan, plan_name="p.plan", banner=False))


def test_a_plan_that_is_given_back_gives_the_same() -> None:
    first = made()
    assert re.findall(r"^  ranks (\S+)$", first.plan, re.M) == ["S1.i", "S2.i"]
    again = made(first.plan)
    assert (again.text, again.plan) == (first.text, first.plan)


def test_loops_can_be_taken_away_and_exchanged() -> None:
    plan = made().plan
    one = made(plan.replace("  ranks S2.i\n", ""))
    assert "tw_exchange();" in one.text and "ranks S2" not in one.plan
    inner = made(plan.replace("  ranks S1.i\n  ranks S2.i\n", "  ranks S1.j\n  ranks S2.j\n"))
    assert "ranks over j" in inner.text
    none = made(re.sub(r"  ranks .*\n", "", plan))
    assert "tw_exchange" not in none.text and "replicated" in {d.id for d in none.diagnostics}


def test_ranks_that_are_given_up_unproven_are_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.mpi.text.phase_text.wrong_views", lambda *_: "a row too many")
    told = {d.id: d.message for d in made().diagnostics}
    assert "replicated" in told and "could not be proven: a row too many" in told["unproven"]


@pytest.mark.parametrize(
    ("target", "change", "words"),
    [
        ("mpi", ("ranks S1.i", "ranks t"), "carried by loop `t`"),
        ("mpi", ("ranks S1.i", "ranks S1.i\n  ranks S1.j"), "cannot share loop S1.j"),
        ("openmp", ("", ""), "has no ranks"),
    ],
)
def test_what_is_wrong_is_told(target: str, change: tuple[str, str], words: str) -> None:
    plan = made().plan.replace(*change)
    with pytest.raises(InputError) as caught:
        made(plan, target)
    assert words in caught.value.message and caught.value.loc.file == "p.plan" and caught.value.loc.line > 1
