"""The text of `gen --emit report`: options, then each region with what was done to it and its plan, then warnings and
remarks; the same on every host."""
from __future__ import annotations

from typing import TYPE_CHECKING

from codegen import __version__
from codegen.cli.job import Invocation
from codegen.diagnostics import Severity
from codegen.options import effective_options
from codegen.source.write import GENERATED

if TYPE_CHECKING:
    from codegen.pipeline import Generated, RegionResult


def report_text(job: Invocation, made: Generated) -> str:
    """Options, then each region with its plan, then every warning and remark."""
    done = sum(r.transformed for r in made.regions)
    parts = [
        f"{GENERATED} {__version__}",
        f"source:  {job.name}",
        f"options: {effective_options(job.options)}",
        f"regions: {len(made.regions)} found, {done} transformed",
        *(_region(r) for r in made.regions),
    ]
    messages = [f"{d.loc}: {d.severity.value}: {d.message} [{d.id}]" for d in made.diagnostics
                if d.severity is not Severity.NOTE]
    if messages:
        parts += ["", "messages", *(f"  {m}" for m in messages)]
    return "\n".join(parts) + "\n"


def _region(region: RegionResult) -> str:
    state = "transformed" if region.transformed else "left as written"
    lines = ["", f"region {region.index}, line {region.line}: {state}"]
    lines += [f"  {line}" for line in region.summary.splitlines()]
    if region.plan:
        lines += ["  plan:", *(f"    {line}" for line in region.plan.splitlines())]
    return "\n".join(lines)
