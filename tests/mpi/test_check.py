"""`check --target mpi`: results on several ranks, and faults that a run finds when the proofs are switched off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl
import pytest

from codegen.checking.compare import CheckReport, check
from codegen.checking.ranks import run as ranks
from codegen.mpi import region, share, target
from codegen.mpi.messages import Exchange, exchanges
from codegen.options import GenOptions
from tests.mpi.programs import needs_mpi
from tests.mpi.test_proofs import BLOCKS, HEAT, swapped, without_last

STEPS = HEAT.replace("void heat", "#include <math.h>\nvoid heat")


def checked(distribute: str = "") -> CheckReport:
    options = GenOptions(target="mpi", assume_no_alias=True, distribute=distribute)
    return check("in.c", STEPS, options, lambda _: None)


@needs_mpi
def test_ranks_are_run() -> None:
    report = checked()
    assert report.ok and " on 2, 3, 4, 6, 7 ranks" in report.lines[0], report.lines


@needs_mpi
def test_ranks_that_hold_blocks_are_run() -> None:
    """Each begins with its block alone, whatever else the arrays hold."""
    report = checked(BLOCKS)
    assert report.ok and " on 2, 3, 4, 6, 7 ranks" in report.lines[0], report.lines


@needs_mpi
@pytest.mark.parametrize(
    ("change", "distribute"), [(without_last, ""), (swapped, ""), (without_last, BLOCKS)], ids=["last", "swap", "held"]
)
def test_wrong_messages_are_found(
    change: Callable[[isl.Set], isl.Set], distribute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*args: object) -> tuple[Exchange, ...]:
        first, *rest = exchanges(*args)  # type: ignore[arg-type]
        return replace(first, elements={a: change(e) for a, e in first.elements.items()}), *rest

    monkeypatch.setattr(share, "exchanges", faulty)
    monkeypatch.setattr(region, "wrong_message", lambda *_: "")
    report = checked(distribute)
    assert not report.ok and "ranks" in report.lines[0], report.lines


@needs_mpi
@pytest.mark.parametrize(
    ("words", "instead"),
    [
        ("MPI_Waitall((int)tw_world.pending, tw_world.requests, tw_world.states);", "(void)0;"),
        ("MPI_BYTE, tw_taker(k), 0,", "MPI_BYTE, tw_taker(k), 7,"),
    ],
)
def test_wrong_functions_are_found(words: str, instead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait; tags mixed up."""
    text = target.support()
    assert words in text
    monkeypatch.setattr(target, "support", lambda *_: text.replace(words, instead))
    monkeypatch.setattr(ranks, "SECONDS", 8)
    report = checked()
    assert not report.ok and "ranks" in report.lines[0], report.lines
