"""Returns the compilers, flags and sources (`Emulator`) with which `check` builds and runs device code: nvcc and a
device where both are there and arrays are on the host, else the CPU emulator. OpenCL runs on whatever OpenCL finds."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path

from codegen.gpu.dialect import Dialect
from codegen.limits import QUESTION, LimitPassed, run
from codegen.options import GenOptions
from codegen.source.language import CXX, compiler_for
from codegen.targets.base import Emulator

# As the check compiles everything: products and sums are rounded apart, integers wrap.
FLAGS = ("-std=c++14", "-O1", "-fPIC", "-ffp-contract=off", "-DTW_NO_FMA", "-fwrapv", "-fvisibility=hidden", "-w")

ALWAYS = "-DTW_DEVICE_ALWAYS"  # small sizes run on the device, too


def emulator_folder() -> Path:
    """Where the emulator's headers and its source lie."""
    return Path(str(resources.files("codegen.gpu") / "emulator"))


def emulator(dialect: Dialect, options: GenOptions) -> Emulator:
    """How results are built and run."""
    if options.arrays == "host" and device_there(dialect.compiler):
        return on_device(dialect)
    folder = str(emulator_folder())
    found = compiler_for(CXX) or ["c++"]
    words = (*found, "-x", "c++", *FLAGS, "-fsanitize=thread", "-I", folder)
    flags = ("-I", folder, ALWAYS) if options.arrays == "host" else ("-I", folder, "-DEMU_HOST_MEMORY=1")
    sources = (str(emulator_folder() / "emulator.c"),)
    return Emulator(flags, sources, companions=((dialect.ending, words),), links=("-lstdc++",))


def on_device(dialect: Dialect) -> Emulator:
    """With the real compiler."""
    apart = ("-fmad=false", "-DTW_NO_FMA")
    words = (dialect.compiler, "-O2", "-Xcompiler", "-fPIC,-fwrapv", *apart, "-arch=native", "-DTW_DEVICE_ONLY", ALWAYS)
    home = Path(shutil.which(dialect.compiler) or "").resolve().parent.parent
    folders = [f for f in (home / "lib64", home / "lib") if f.is_dir()]
    links = (*(f"-L{f}" for f in folders), "-lcudart", "-lstdc++")
    return Emulator((ALWAYS,), companions=((dialect.ending, words),), links=links, reserves=True)


def opencl() -> Emulator:
    """OpenCL runs here: on a device, or on the processor."""
    return Emulator((ALWAYS, "-DTW_DEVICE_ONLY"), links=("-lOpenCL",), reserves=True)


@cache
def device_there(compiler: str) -> bool:
    """Is there a compiler, and a device that it compiles for?"""
    probe = shutil.which("nvidia-smi")
    if compiler != "nvcc" or shutil.which(compiler) is None or probe is None:
        return False
    try:
        return run([probe, "-L"], replace(QUESTION, wall=20)).code == 0
    except (OSError, LimitPassed):
        return False
