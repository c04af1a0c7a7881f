"""`tilewright tune`: searches for the plan that runs fastest on this machine (`tune/`), for each input, and writes it;
when interrupted, the best one so far, with exit status 130. Reads the settings of the search from the options."""
from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.cli import exitcodes
from codegen.cli.argv import BadCommandLine
from codegen.cli.bench import check_flags
from codegen.cli.gen import resolved_machine
from codegen.cli.job import Invocation, Outcome, filters, has_errors
from codegen.cli.options import TREE_METHODS, TUNE_METHODS
from codegen.cli.output.artefacts import Artefact, marked_plan
from codegen.cli.output.progress import Line
from codegen.cli.output.writing import write_all
from codegen.diagnostics import InputError, Loc, TilewrightError
from codegen.filters import select
from codegen.options import GenOptions
from codegen.targets.registry import target_named

if TYPE_CHECKING:
    from codegen.tune.plans.settings import Settings, TunedFile


def run_all(jobs: Sequence[Invocation]) -> list[Outcome]:
    """Tune file after file, each written as soon as it is done; then the report on all of them."""
    if not jobs:
        return []
    settings = replace(settings_of(jobs[0]), alone=len(jobs) == 1)
    _check_outputs(jobs)
    done: list[tuple[TunedFile, str, GenOptions]] = []
    outcomes: list[Outcome] = []
    with _deadlines_interrupt():
        for job, result in zip(jobs, _results(jobs, settings), strict=True):
            if isinstance(result, TilewrightError):
                outcomes.append(Outcome(exitcodes.BAD_INPUT, diagnostics=(result.diagnostic(),)))
            else:
                done.append((result, job.text, job.options))
                outcomes.append(_delivered(job, result))
    if jobs[0].arguments.report_file and done:
        from codegen.report.tuning.page import describe_tuning
        from codegen.source.write import write_if_changed

        write_if_changed(jobs[0].arguments.report_file, describe_tuning(done, settings))
    return outcomes


@contextmanager
def _deadlines_interrupt() -> Iterator[None]:
    """SIGTERM, as a job's time limit sends it, is an interrupt too: what was found until then is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _results(jobs: Sequence[Invocation], settings: Settings) -> Iterator[TunedFile | TilewrightError]:
    """What became of each job, in order."""
    if jobs[0].arguments.scheduler:
        from codegen.tune.dask_workers import spread

        line = Line(jobs[0].arguments)
        files = [(j.name, j.text, j.options) for j in jobs]
        yield from spread(files, settings, jobs[0].arguments.scheduler, line.say)
        line.end()
        return
    from codegen.tune.file import tune_file

    stopped = False
    for job in jobs:
        if stopped:
            yield InputError("interrupted", "interrupted before it was tuned", Loc(job.name))
            continue
        line = Line(job.arguments)
        try:
            result = tune_file(job.name, job.text, job.options, settings, line.say)
        except TilewrightError as error:
            line.end()
            yield error
            continue
        line.end()
        stopped = any(r.interrupted for r in result.regions)
        yield result


def _delivered(job: Invocation, result: TunedFile) -> Outcome:
    messages = (*resolved_machine(job), *result.diagnostics)
    if has_errors(select(messages, filters(job.arguments))):
        return Outcome(exitcodes.BAD_INPUT, diagnostics=messages)
    output, text = job.arguments.output or "-", marked_plan(result.plan)
    # The best plan so far is written all the same.
    code = exitcodes.INTERRUPTED if any(r.interrupted for r in result.regions) else exitcodes.OK
    if output == "-":
        return Outcome(code, text, messages)
    try:
        write_all([Artefact(output, text)], force=job.arguments.force)
    except TilewrightError as error:
        return Outcome(exitcodes.BAD_INPUT, diagnostics=(*messages, error.diagnostic()))
    return Outcome(code, diagnostics=messages)


def _check_outputs(jobs: Sequence[Invocation]) -> None:
    """Complain before any work is done about outputs that cannot be."""
    shared = [jobs[0].arguments.report_file, jobs[0].arguments.records]
    for path in (*(j.arguments.output for j in jobs), *shared):
        if path and path != "-" and os.path.exists(path):
            reads = [p for j in jobs for p in (j.arguments.file, j.arguments.machine) if p and os.path.isfile(p)]
            if any(os.path.samefile(path, r) for r in reads):
                raise BadCommandLine(f"'{path}' is an input and would be overwritten: choose another name")


def settings_of(job: Invocation) -> Settings:
    """What the command line asks for. BadCommandLine for what it cannot mean."""
    from codegen.tune.build import FLAGS
    from codegen.tune.plans.settings import Settings
    from codegen.tune.plans.sizes import parse_sizes
    from codegen.tune.timing import cores

    a = job.arguments
    known = ("auto", *TUNE_METHODS, *TREE_METHODS)
    methods = tuple(dict.fromkeys(word.strip() for word in a.method.split(",")))
    for word in methods:
        if word not in known:
            raise BadCommandLine(f"--method: unknown method '{word}' (choose from {', '.join(known)})")
    check_flags(a.cflags)
    try:
        sizes = parse_sizes(",".join(a.tune_sizes))
    except ValueError as error:
        raise BadCommandLine(f"--sizes: {error}") from None
    if a.learned and not os.path.isdir(a.learned):
        raise BadCommandLine(f"--learned: there is no folder '{a.learned}'")
    if a.busy and (a.measure_threads or 1) != 1:
        raise BadCommandLine("--busy measures one thread")
    device = not target_named(job.options.target).runs_here
    trees = {*methods} & {*TREE_METHODS}
    for word, given in (("--busy", a.busy), ("--threads", a.measure_threads), ("loop trees", trees)):
        if device and given:
            raise BadCommandLine(f"{word} and --target {job.options.target} do not go together: the device is measured")
    threads = 1 if a.busy or device else a.measure_threads or cores()
    return Settings(methods, a.budget, threads, a.jobs or cores(), sizes, a.cflags or FLAGS, a.records or "", a.again,
                    busy=a.busy, learned=os.path.abspath(a.learned) if a.learned else "", seed=a.seed)
