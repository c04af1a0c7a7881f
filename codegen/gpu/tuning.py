"""How candidates for a device are built and timed (`device_tuning`): by the device's compiler, with the clock around
kernels, copies left out. InputError where there is no device to measure on."""

from __future__ import annotations

import shutil
from dataclasses import replace

from codegen.diagnostics import InputError, Loc
from codegen.gpu.dialect import Dialect
from codegen.gpu.emit import DevicePart
from codegen.gpu.emulation import ALWAYS, device_there, on_device
from codegen.gpu.plan.device import load_device
from codegen.gpu.plan.knobs import KNOBS, expected
from codegen.gpu.plan.strategy import device_plan, in_strips
from codegen.gpu.region import proven_loops
from codegen.gpu.stream.choose import with_steps
from codegen.gpu.stream.knobs import time_steps
from codegen.limits import QUESTION, LimitPassed, run
from codegen.options import GenOptions
from codegen.region import RegionOutcome
from codegen.region_model import Modelled
from codegen.strategy.choice import Decision
from codegen.targets.tuning import Authors, DeviceTuning

HEAD = 'extern "C" void tw_device_begin(void);\nextern "C" void tw_device_end(void);\n'

ALL_KNOBS = (*KNOBS, time_steps)


def device_tuning(dialect: Dialect, options: GenOptions) -> DeviceTuning:
    """The device of this machine. Raises InputError where there is none."""
    if not device_there(dialect.compiler):
        raise InputError("no-device", f"plans for {dialect.name} are measured on a device, and there is none here: "
                         f"{_missing(dialect.compiler)}", Loc("--target"),
                         "run `tune` on a machine with one; its plans can be used anywhere")  # fmt: skip
    built = on_device(dialect)
    words = (dialect.compiler, "-O3", "-Xcompiler", "-fPIC,-fwrapv", "-arch=native", "-w", "-DTW_DEVICE_ONLY")
    return DeviceTuning(
        _asked("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"),
        _asked(dialect.compiler, "--version"), dialect.ending, words, ("-fmad=false", "-DTW_NO_FMA"), (ALWAYS,),
        built.links, HEAD, lambda outcome: timed(outcome, dialect), lambda model: authors(model, options, dialect),
        ALL_KNOBS, expected,
    )  # fmt: skip


def _missing(compiler: str) -> str:
    if shutil.which(compiler) is None:
        return f"no `{compiler}` on the path"
    return "no GPU that `nvidia-smi` finds"


def _asked(*words: str) -> str:
    """The first line of an answer; of compilers the one with the version."""
    try:
        lines = run(list(words), QUESTION).out.decode("utf-8", "replace").splitlines()
    except (OSError, LimitPassed):
        return "?"
    return next((x for x in lines if "release" in x), lines[0] if lines else "?").strip()


def timed(outcome: RegionOutcome, dialect: Dialect) -> RegionOutcome:
    """With the clock around the kernels of a region. Copies are the same in all of its plans."""
    part = outcome.part
    assert isinstance(part, DevicePart)
    wait = f"(void){dialect.api}DeviceSynchronize();"
    before, after = (*part.before, wait, "tw_device_begin();"), (wait, "tw_device_end();", *part.after)
    return replace(outcome, part=replace(part, before=before, after=after, kept=None, stays=False))


def authors(model: Modelled, options: GenOptions, dialect: Dialect) -> Authors:
    """Plans without tiles and strips, those that leave products together with what stands around them, and time steps
    in tiles even where plain launches are predicted to be faster."""
    device, program = load_device(options.device), model.program

    def strips() -> Decision:
        return in_strips(program, device_plan(program, device, dialect.tiles), device)

    def steps() -> Decision:
        found = strips()
        return with_steps(found, proven_loops(found.program), device, gain=0)

    return (
        ("one thread for each element", lambda: device_plan(program, device, False)),
        ("products apart", lambda: device_plan(program, device, dialect.tiles)),
        ("strips", strips),
        *((("time steps in tiles", steps),) if dialect.tiles else ()),
    )
