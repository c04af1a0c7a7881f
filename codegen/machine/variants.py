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
# Compilers that are told how long the scalable vectors of 64-bit Arm are (-msve-vector-bits) take them for their own
# vectors of that length. Where they are not told, vectors have the 16 bytes of NEON.
_TOLD = "defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS"
SVE = {512: f"{_TOLD} >= 512", 256: f"{_TOLD} == 256"}
ARM = f"defined(__aarch64__) && !({_TOLD} > 128)"
# Compilers of which functions with a target attribute keep it in all that they are made of: clang's loops on threads
# become functions without.
DISPATCHES = "defined(__x86_64__) && defined(__GNUC__) && !(defined(__clang__) && defined(_OPENMP))"


@record
class MachineVariant:
    """A machine, the condition of the C preprocessor under which it is the one, and a word for it in generated text.

    Where a program can ask its processor, `level` names the version of a function for this machine, and `features` are
    what the processor must have, in the words of target attributes and of `__builtin_cpu_supports`. `tune` is a
    processor whose costs compilers had better reckon with; by their usual ones, loads of long vectors are so cheap that
    values are loaded again instead of kept.
    """

    label: str
    when: str
    machine: Machine
    level: str = ""
    features: tuple[str, ...] = ()
    tune: str = ""


_AVX2 = ("avx2", "fma", "bmi", "bmi2")
_AVX512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl", *_AVX2)


@cache
def _variants() -> tuple[MachineVariant, ...]:
    arm = _described("aarch64")
    told = (replace(arm, isa="generic", vector_bits=bits) for bits in SVE)
    return (
        MachineVariant("aarch64", ARM, arm),
        *(MachineVariant(f"sve{m.vector_bits}", SVE[m.vector_bits], m) for m in told),
        MachineVariant("avx512", load_isa("avx512").enabled, _described("avx512"), "avx512", _AVX512, "skylake-avx512"),
        MachineVariant("avx2", load_isa("avx2").enabled, _described("avx2"), "avx2", _AVX2),
    )


def _described(name: str) -> Machine:
    return built_in(data_dir("machine") / "variants" / f"{name}.toml")


def variants(machine: Machine) -> tuple[MachineVariant, ...]:
    """Those of a machine, the first that holds counts; none where it is a certain processor."""
    return _variants() if has_variants(machine) else ()


def has_variants(machine: Machine) -> bool:
    return machine.name == DEFAULT and machine == replace(load(DEFAULT), cores=machine.cores)


def label_of(when: str) -> str:
    """The word for the variant with a condition."""
    return next((v.label for v in _variants() if v.when == when), "other")
