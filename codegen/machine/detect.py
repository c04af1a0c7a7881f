"""Detects the host's processor: caches, cores, instruction sets, with a note for every figure on where it comes
from."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from codegen.isa.load import table
from codegen.limits import QUESTION, LimitPassed, run
from codegen.machine import sysfs
from codegen.machine.cpuinfo import CpuInfo, parse_cpuinfo
from codegen.machine.load import load
from codegen.machine.model import Cache, Machine
from codegen.record import record

LEAST_BITS = 128  # of vectors where a table does not say


@record
class Note:
    """One figure of a detected machine and how it was come by."""

    what: str
    value: str
    how: str
    found: bool

    def __str__(self) -> str:
        return f"{'found' if self.found else 'assumed'}: {self.what} = {self.value} ({self.how})"


@record
class Detected:
    """This host, and the notes on where its figures come from."""

    machine: Machine
    notes: tuple[Note, ...]


def detect(root: Path = Path("/"), cc: str = "cc") -> Detected:
    """Describe the host from sysfs and /proc below `root`, and from `cc -march=native`'s macros."""
    info = parse_cpuinfo(sysfs.read(root / "proc/cpuinfo"))
    base = load(info.machine or "generic")
    origin = f"as {base.name}" if info.machine else "processor not known, as generic"
    described = f"this host: {info.model or 'unknown processor'}"
    machine = replace(base, name="native", description=described, frequency_hz=None)
    notes = [Note("processor", info.model or "unknown", "/proc/cpuinfo", bool(info.model))]
    for step in (_isa, _caches, _cores, _frequency, _memory):
        machine, note = step(machine, base, info, root, cc)
        notes.append(replace(note, how=note.how or origin))
    units = f"{base.fma_throughput:g} per cycle, latency {base.fma_latency:g}"
    notes.append(Note("vector FMA", units, origin, bool(info.machine)))
    notes += _assumed(machine, origin, bool(info.machine))
    return Detected(machine, tuple(notes))


def _assumed(m: Machine, origin: str, known: bool) -> tuple[Note, ...]:
    """Figures that no host tells: those of the processor's description where one is known, else guesses."""
    types = ", ".join(dict.fromkeys(o.type for o in m.operations))
    fetch = f"{m.prefetches_per_cycle:g} per cycle, memory answers in {m.prefetch_latency:g} cycles"
    return (
        Note("other operations", f"tables for {types}" if types else "derived from FMA", origin, known and bool(types)),
        Note("vector load", f"latency {m.load_latency:g}", origin, known),
        Note("prefetch", fetch, origin, False),
        Note("fork-join cost", f"{m.parallel_overhead_cycles} cycles", origin, False),
    )


def _isa(m: Machine, base: Machine, info: CpuInfo, root: Path, cc: str) -> tuple[Machine, Note]:
    isa, how = info.isa, "/proc/cpuinfo"
    if not isa:
        isa, how = isa_of_macros(compiler_macros(cc)), f"{cc} -march=native"
    if not isa:
        return m, Note("isa", f"{m.isa}, {m.vector_bits} bits", "", False)
    bits, registers = base.vector_bits, base.registers
    if isa != base.isa:
        data = table(isa)
        bits, registers = data.get("vector_bits") or LEAST_BITS, data["registers"]
    if isa == "sve":
        bits = sysfs.sve_bits(root) or bits
    # The tables are about the vectors of the description.
    operations = m.operations if bits == base.vector_bits else ()
    m = replace(m, isa=isa, vector_bits=bits, registers=registers, operations=operations)
    return m, Note("isa", f"{isa}, {bits} bits", how, True)


def _caches(m: Machine, base: Machine, info: CpuInfo, root: Path, cc: str) -> tuple[Machine, Note]:
    caches = sysfs.caches(root)
    if caches is None:
        return m, Note("caches", cache_summary(base.caches), "", False)
    return replace(m, caches=caches, line_bytes=caches[0].line), Note("caches", cache_summary(caches), "sysfs", True)


def _cores(m: Machine, base: Machine, info: CpuInfo, root: Path, cc: str) -> tuple[Machine, Note]:
    cores = sysfs.cores(root)
    if cores is None:
        return m, Note("cores", str(base.cores), "", False)
    return replace(m, cores=cores), Note("cores", str(cores), "sysfs", True)


def _frequency(m: Machine, base: Machine, info: CpuInfo, root: Path, cc: str) -> tuple[Machine, Note]:
    hertz = sysfs.frequency(root)
    if hertz is not None:
        return replace(m, frequency_hz=hertz), Note("frequency", f"{hertz / 1e9:g} GHz", "sysfs", True)
    shown = f"{base.frequency_hz / 1e9:g} GHz" if base.frequency_hz else "not needed"
    return replace(m, frequency_hz=base.frequency_hz), Note("frequency", shown, "", False)


def _memory(m: Machine, base: Machine, info: CpuInfo, root: Path, cc: str) -> tuple[Machine, Note]:
    """Of a part of the processor's cores, such as a virtual machine has, the part of its bandwidth."""
    if base.memory_bandwidth is None:
        return m, Note("memory", "bandwidth not known", "", False)
    share = base.memory_bandwidth * min(1.0, m.cores / base.cores)
    m = replace(m, memory_bandwidth=share)
    return m, Note("memory", memory_summary(m), "", False)


def measured(found: Detected, compiler: Sequence[str]) -> Detected:
    """With the bandwidth of memory as it is; OSError or LimitPassed where it cannot be measured."""
    from codegen.machine.bandwidth import measure

    speed = measure(found.machine, compiler)
    machine = replace(found.machine, core_bandwidth=round(speed.one, -7), memory_bandwidth=round(speed.all, -7))
    note = Note("memory", memory_summary(machine), "measured", True)
    return Detected(machine, tuple(note if n.what == "memory" else n for n in found.notes))


def memory_summary(m: Machine) -> str:
    """Bandwidth for people."""
    one = f"{m.core_bandwidth / 1e9:.3g} GB/s for one core, " if m.core_bandwidth else ""
    return f"{one}{m.memory_bandwidth / 1e9:.3g} GB/s for all" if m.memory_bandwidth else f"{one}more not known"


def cache_summary(caches: tuple[Cache, ...]) -> str:
    """One line for people: `L1 64 KB 4-way, L2 ... shared by 4 cores`."""
    shared = (f" shared by {c.shared_by} cores" if c.shared_by > 1 else "" for c in caches)
    return ", ".join(f"L{c.level} {c.bytes >> 10} KB {c.ways}-way{s}" for c, s in zip(caches, shared, strict=True))


def compiler_macros(cc: str) -> frozenset[str]:
    """Names the compiler predefines for this host; empty when it cannot be asked."""
    command = [cc, "-march=native", "-dM", "-E", "-x", "c", "/dev/null"]
    try:
        done = run(command, QUESTION)
    except (OSError, LimitPassed):
        return frozenset()
    words = (line.split() for line in done.out.decode("utf-8", "replace").splitlines())
    return frozenset(w[1] for w in words if len(w) > 1)


def isa_of_macros(macros: frozenset[str]) -> str:
    """The instruction set those macros stand for; empty when there are none."""
    table = (("__ARM_FEATURE_SVE", "sve"), ("__ARM_NEON", "neon"), ("__AVX512F__", "avx512"), ("__AVX2__", "avx2"))
    return next((isa for macro, isa in table if macro in macros), "generic" if macros else "")
