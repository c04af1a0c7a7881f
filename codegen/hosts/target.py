"""The targets `c` and `openmp`: C for this machine, without and with threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.diagnostics import Diagnostic, Loc, Severity
from codegen.targets.base import RegionJob, Target

if TYPE_CHECKING:
    from codegen.region import RegionOutcome


class PlainC(Target):
    """No threads; vectors by pragmas of compilers."""

    name, help = "c", "plain C"
    own_variables = True
    dispatches = True

    def process(self, job: RegionJob) -> RegionOutcome:
        from codegen.hosts.region import process

        return process(job)


class OpenMP(PlainC):
    """Loops share their iterations among OpenMP's threads."""

    name, help, threads = "openmp", "C with OpenMP pragmas", True
    compiled_with = ("-fopenmp",)

    def check_thread_local(self, name: str, loc: Loc) -> tuple[Diagnostic, ...]:
        text = f"the region stays on one thread: each thread has its own `{name}`"
        return (Diagnostic(Severity.REMARK, "one-thread", text, loc, kind="missed"),)


TARGETS: dict[str, Target] = {t.name: t for t in (PlainC(), OpenMP())}
