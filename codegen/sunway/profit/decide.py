"""Decides whether a region is faster on the compute cores than on the management core: estimates both at several sizes
and returns a remark with the figures; raises Unsupported where the management core is faster at all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.diagnostics import Diagnostic, Severity, Unsupported
from codegen.record import record
from codegen.sunway.launch import LaunchPrinter
from codegen.sunway.plan.gathered import with_permission
from codegen.sunway.plan.machine import CoreGroup
from codegen.sunway.profit.cores import CoresEstimate
from codegen.sunway.profit.management import management_seconds
from codegen.sunway.profit.middle import TYPICAL, sizes_of
from codegen.sunway.survey import statements_of
from codegen.transform.program import Program

TRIED = (16, 64, 250, 1000, 4000, 16000, 64000, 250000, 1000000)  # sizes of parameters, to find where it begins to pay


@record
class Estimate:
    """Seconds of a region on the compute cores and on the management core; commands that move data."""

    cores: float
    management: float
    commands: float

    @property
    def factor(self) -> float:
        """How many times as fast the cores are."""
        return self.management / self.cores


def estimate(
    source: Program, launches: Sequence[LaunchPrinter], group: CoreGroup, sizes: Mapping[str, int]
) -> Estimate:
    """For a region in the order of its source, and what becomes of it, with parameters of these sizes."""
    everything = {s.name for s in source.scop.statements}
    cores, commands, launched = 0.0, 0.0, set[str]()
    for launch in launches:
        assert launch.root is not None
        found = CoresEstimate(launch, sizes)
        cores += found.seconds(launch.root[0])
        commands += found.commands
        launched |= statements_of(launch.root[0])
    rest = management_seconds(source, group.management, sizes, frozenset(everything - launched))
    whole = management_seconds(source, group.management, sizes, frozenset(everything))
    return Estimate(cores + rest, whole, commands)


def judged(source: Program, launches: Sequence[LaunchPrinter], group: CoreGroup) -> Diagnostic:
    """A remark with the figures. Raises Unsupported where the management core is faster, whatever the sizes are."""
    scop = source.scop
    tried = {n: estimate(source, launches, group, sizes_of(scop, n)) for n in (TRIED if scop.params else (TYPICAL,))}
    slow = [n for n, e in tried.items() if e.factor < 1]
    size = TYPICAL if TYPICAL not in slow or len(slow) == len(tried) else max(tried, key=lambda n: tried[n].factor)
    found = tried[size]
    at = f" with parameters of {size}" if scop.params else ""
    figures = f"{_time(found.cores)} on the compute cores{at}, {_time(found.management)} on the management core"
    if len(slow) == len(tried):
        raise Unsupported(
            "sunway-slower",
            f"the compute cores would be {1 / found.factor:.2g} times slower, by the model: about {figures}, with "
            f"{found.commands:.3g} transfers",
            scop.loc,
            "; ".join(filter(None, ("--scheme launch starts the cores all the same", with_permission(source)))),
        )
    below = [n for n in slow if n < size]
    above = [n for n in slow if n > size]
    where = [*([f"up to about {max(below)}"] if below else []), *([f"from about {min(above)} on"] if above else [])]
    pays = f"; {' and '.join(where)} the management core is faster" if where else ""
    words = f"{found.factor:.3g} times as fast by the model: about {figures}{pays}"
    return Diagnostic(Severity.REMARK, "predicted", words, scop.loc, kind="analysis")


def _time(seconds: float) -> str:
    unit, name = next(((u, n) for u, n in ((1, "s"), (1e-3, "ms")) if seconds >= u), (1e-6, "us"))
    return f"{seconds / unit:.3g} {name}"
