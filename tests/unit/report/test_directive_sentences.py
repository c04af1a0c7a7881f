"""Every directive is explained in a sentence."""

from __future__ import annotations

from typing import get_args

import pytest

from codegen.plan.model import Directive, InLanes, LoopRef, Registers, StageShared
from codegen.report import directive_sentences as plain


@pytest.mark.parametrize(
    ("directive", "words"),
    [
        (InLanes(LoopRef("j", "S2"), 4, "i", 4), "in vectors of 16 in registers"),
        (InLanes(LoopRef("j", "S2")), "Runs iterations of loop j in vectors, on local data."),
        (Registers(((LoopRef("i", "S1"), 4), (LoopRef("j", "S1"), 8)), (8, 16)), "4 by 8 elements of a product"),
        (StageShared("A", LoopRef("k", "S1"), 16, 2), "16 iterations of loop k use of `A` to shared memory"),
    ],
)
def test_sentence(directive: Directive, words: str) -> None:
    assert words in plain.sentence(directive)


def test_no_directive_is_forgotten() -> None:
    assert not [d.__name__ for d in get_args(Directive) if d.__name__ not in vars(plain)]
