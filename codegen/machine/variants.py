"""Variants of the default machine: instruction sets that compilers of the one portable output may be told to use.

The default machine stands for no processor in particular. Where the compiler's macros say which vectors there are, its
products take the register tiles and blocks of these variants instead of its own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from codegen.isa.load import load as load_isa
from codegen.machine.load import load
from codegen.machine.model import Machine
from codegen.machine.toml import built_in
from codegen.record import record
from codegen.resources import data_dir

DEFAULT = "generic"
ARM = "defined(__aarch64__)"


@record
class MachineVariant:
    """A machine, and the condition of the C preprocessor under which it is the one."""

    when: str
    machine: Machine


@cache
def _variants() -> tuple[MachineVariant, ...]:
    return (
        MachineVariant(load_isa("avx512").enabled, _described("avx512")),
        MachineVariant(load_isa("avx2").enabled, _described("avx2")),
        MachineVariant(ARM, _described("aarch64")),
    )


def _described(name: str) -> Machine:
    return built_in(data_dir("machine") / "variants" / f"{name}.toml")


def variants(machine: Machine) -> tuple[MachineVariant, ...]:
    """Those of a machine, the first that holds counts; none where it is a certain processor."""
    return _variants() if has_variants(machine) else ()


def has_variants(machine: Machine) -> bool:
    return machine.name == DEFAULT and machine == replace(load(DEFAULT), cores=machine.cores)
