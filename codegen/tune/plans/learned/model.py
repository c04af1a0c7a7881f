"""The learned cost model: predicts how many times the default plan's time another plan of the region takes, as a power
of two, without a measurement."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from codegen.plan.model import Plan
from codegen.record import record
from codegen.tune.plans.learned.facts import RegionFacts
from codegen.tune.plans.learned.forest import Forests, load, read
from codegen.tune.plans.learned.traits import Traits, surroundings, traits, vector

NAME = "plans.json"


@record
class PlanModel:
    """Of one region: what is compared with, and the forests that compare."""

    facts: RegionFacts
    default: Traits
    around: Traits
    forests: Forests

    def slowdown(self, plan: Plan) -> float:
        """How many times the default plan's time, as a power of two; less than 0 is faster. What is likely to fail is
        worth less: nothing is gained by it, and its building takes time."""
        row = vector(traits(self.facts, plan), self.default, self.around, self.forests.inputs)
        time = self.forests.forests["time"](row)
        fails = min(1.0, max(0.0, self.forests.forests["fails"](row)))
        return time * (1 - fails) if time < 0 else time + fails


def model_of(facts: RegionFacts, default: Plan, folder: str = "") -> PlanModel:
    return PlanModel(facts, traits(facts, default), surroundings(facts), shipped(folder))


@lru_cache(maxsize=2)
def shipped(folder: str = "") -> Forests:
    """The forests that come with the package, or those of a folder where it has some."""
    own = Path(folder) / NAME
    if folder and own.exists():
        return load(own)
    return read((files("codegen.tune.plans.learned") / "data" / NAME).read_text(encoding="utf-8"))
