"""`tilewright machine list|show|detect`: lists the processor descriptions, or prints one, or that of this host
(--measure: with measured figures), as TOML that --machine accepts."""
from __future__ import annotations

from codegen.cli.argv import BadCommandLine
from codegen.cli.job import Invocation, Outcome
from codegen.diagnostics import InputError, Loc
from codegen.limits import LimitPassed
from codegen.machine.detect import Detected, cache_summary, detect, measured
from codegen.machine.load import load, names
from codegen.machine.toml import dump


def run(job: Invocation) -> Outcome:
    """`show` and `detect` print TOML that --machine accepts as a file."""
    action, name = job.arguments.action, job.arguments.name
    if (action == "show") != (name is not None):
        raise BadCommandLine("machine show needs a NAME" if name is None else f"machine {action} takes no NAME")
    if job.arguments.measure and action != "detect":
        raise BadCommandLine("--measure goes with machine detect")
    if action == "list":
        return Outcome(stdout=_list())
    if action == "show" and name != "native":
        return Outcome(stdout=dump(load(name)))
    found = detect()
    if job.arguments.measure:
        found = _measured(found)
    return Outcome(stdout=dump(found.machine, tuple(str(n) for n in found.notes)))


def _measured(found: Detected) -> Detected:
    from codegen.cli.doctor import Ailment, compiler_words

    try:
        return measured(found, compiler_words())
    except Ailment as error:
        raise InputError("no-compiler", str(error), Loc("--measure"), error.mend) from None
    except (OSError, LimitPassed) as error:
        raise InputError("no-compiler", f"the compiler does not work: {error}", Loc("--measure")) from None


def _list() -> str:
    machines = [load(name) for name in names()]
    rows = [f"{m.name:16} {m.isa:8} {m.vector_bits:4} bits  {cache_summary(m.caches)}\n" for m in machines]
    return "".join(rows) + "native           this host, as `tilewright machine detect` finds it\n"
