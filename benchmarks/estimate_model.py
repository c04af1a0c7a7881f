"""What the cost model expects of a kernel of the corpus: its time as compilers would run it, and what a plan brings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from benchmarks.kernels_cases import Case
from codegen.hosts.one_thread import peeled, threads_only
from codegen.machine import Machine
from codegen.options import CppOptions, GenOptions
from codegen.region import make
from codegen.region_model import Modelled, model_region
from codegen.source_file import open_source
from codegen.strategy.cost.cycles import cycles
from codegen.strategy.cost.gain import predicted
from codegen.strategy.cost.lengths import Sizes

OPTIONS = GenOptions(machine="native")
HZ = 2e9  # where a machine does not tell its own


@dataclass(frozen=True)
class Estimate:
    """Seconds of the source at one thread; and how many times as fast the generated text is there, None where the
    model does not look at what its plan has."""

    seconds: float
    gain: float | None


def named_sizes(case: Case) -> Sizes:
    """The sizes of a kernel by the names of its parameters, which its head has them under."""
    head = case.source.read_text().partition("*/")[0].partition("sizes:")[2].partition("\n")[0]
    names = re.findall(r"(\w+)=", head.partition("large ")[2])
    return tuple(zip(names, case.sizes, strict=True))


def source_seconds(regions: Sequence[Modelled], sizes: Sizes, machine: Machine) -> float:
    """Of all regions of a kernel as they are written. A size that is a parameter of none counts a loop around them."""
    known = {p.name for m in regions for p in m.program.scop.params}
    rounds = prod(n for name, n in sizes if name not in known)
    return rounds * sum(cycles(m.program, machine, sizes=sizes) for m in regions) / (machine.frequency_hz or HZ)


def estimate(case: Case, machine: Machine) -> Estimate:
    """With the plan that is carried out: first ones are given up where they cannot be proven."""
    sizes = named_sizes(case)
    regions = models(case)
    before, after = source_seconds(regions, sizes, machine), 0.0
    for model in regions:
        gain = _gain(model, machine, sizes)
        if gain is None:
            return Estimate(before, None)
        after += source_seconds([model], sizes, machine) / gain
    return Estimate(before, before / after if after else 1.0)


def _gain(model: Modelled, machine: Machine, sizes: Sizes) -> float | None:
    made = make(model, OPTIONS, machine)
    if threads_only(model.program, made):
        return 1.0
    return predicted(model.program, made.program, made.plan, replace(machine, cores=1), peeled(made), sizes).factor


def models(case: Case) -> list[Modelled]:
    """The regions of a kernel."""
    options = replace(OPTIONS, cpp=CppOptions(args=("-DDRIVER", *case.defines)))
    slices = open_source(str(case.source), case.source.read_text(), options).slices
    return [m for s in slices if (m := model_region(s, options)) is not None]
