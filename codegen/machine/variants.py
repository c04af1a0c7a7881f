"""What the compilers that read the default output may be told to use: one text is made for all of it.

The default machine stands for no processor in particular. Where the compiler's macros say which vectors there are, its
products take the register tiles and blocks of these variants instead of its own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from codegen.isa.load import load as load_isa
from codegen.machine.load import load
from codegen.machine.model import Cache, Machine
from codegen.record import record

DEFAULT = "generic"


@record
class Variant:
    """A machine, and the condition of the C preprocessor under which it is the one."""

    when: str
    machine: Machine


@cache
def _variants() -> tuple[Variant, ...]:
    base = load(DEFAULT)
    line = base.line_bytes
    # The smallest second cache beside such vectors: larger ones gain nothing more by larger blocks.
    server = (Cache(1, 32 << 10, 8, line), Cache(2, 1 << 20, 16, line))
    client = (Cache(1, 32 << 10, 8, line), Cache(2, 256 << 10, 8, line))
    arm = (Cache(1, 64 << 10, 4, line), Cache(2, 512 << 10, 8, line))
    wide = replace(base, isa="avx512", vector_bits=512, registers=32, caches=server)
    half = replace(base, isa="avx2", vector_bits=256, caches=client)
    return (
        Variant(load_isa("avx512").enabled, wide),
        Variant(load_isa("avx2").enabled, half),
        Variant("defined(__aarch64__)", replace(base, registers=32, caches=arm)),
    )


def variants(machine: Machine) -> tuple[Variant, ...]:
    """Those of a machine, the first that holds counts; none where it is a certain processor."""
    return _variants() if machine.name == DEFAULT and machine == replace(load(DEFAULT), cores=machine.cores) else ()
