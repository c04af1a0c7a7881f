"""What the cost model expects of a kernel of the corpus: its time as compilers would run it, and what a plan brings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

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


def source_seconds(case: Case, machine: Machine) -> float:
    """Of all regions of a kernel as they are written."""
    sizes = named_sizes(case)
    total = sum(cycles(m.program, machine, sizes=sizes) for m, _ in _models(case))
    return total / (machine.frequency_hz or HZ)


def estimate(case: Case, machine: Machine) -> Estimate:
    """With the plan that the generator makes, of which all proofs are carried out: some are given up for want of one."""
    sizes = named_sizes(case)
    before, after = 0.0, 0.0
    for model, options in _models(case):
        work = cycles(model.program, machine, sizes=sizes)
        gain = _gain(model, options, machine, sizes)
        before += work
        after += work / gain if gain else float("nan")
    return Estimate(before / (machine.frequency_hz or HZ), before / after if after == after else None)


def _gain(model: Modelled, options: GenOptions, machine: Machine, sizes: Sizes) -> float | None:
    made = make(model, options, machine)
    if threads_only(model.program, made):
        return 1.0
    return predicted(model.program, made.program, made.plan, replace(machine, cores=1), peeled(made), sizes).factor


def _models(case: Case) -> list[tuple[Modelled, GenOptions]]:
    options = GenOptions(machine="native", cpp=CppOptions(args=("-DDRIVER", *case.defines)))
    slices = open_source(str(case.source), case.source.read_text(), options).slices
    return [(m, options) for s in slices if (m := model_region(s, options)) is not None]
