"""Returns the instruction set of this host; NEON instead of one whose vectors have no fixed length."""

from __future__ import annotations

from codegen.isa.load import load
from codegen.isa.model import Isa
from codegen.machine.detect import detect


def native_isa() -> Isa:
    """That of this host, or the nearest one with vectors of a fixed length."""
    machine = detect().machine
    isa = load(machine.isa or "generic", machine.vector_bits or 128)
    return isa if isa.bits else load("neon")
