"""The ways to search a space of plans. Each is a function of a study: it measures points until the study is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from codegen.tune.plans.search.beam import beam
from codegen.tune.plans.search.evolve import evolve
from codegen.tune.plans.search.greedy import greedy
from codegen.tune.plans.search.guided import guided
from codegen.tune.plans.search.sampling import exhaustive, only_default, sample
from codegen.tune.plans.study import Study

Method = Callable[[Study], None]

METHODS: Mapping[str, Method] = {
    "default": only_default,
    "random": sample,
    "greedy": greedy,
    "beam2": lambda study: beam(study, 2),
    "beam4": lambda study: beam(study, 4),
    "evolve": evolve,
    "guided": guided,
    "exhaustive": exhaustive,
}
BEST = "guided"  # the only one that spends nothing on plans that the model does not like, see docs/tuning.md
