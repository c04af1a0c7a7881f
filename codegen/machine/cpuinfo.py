"""Reading /proc/cpuinfo: which processor this is, and which instruction set it has."""
from __future__ import annotations

from codegen.record import record

# (implementer, part) of Arm's main ID register -> built-in machine.
_ARM = {
    (0x41, 0xD08): "cortex-a72",
    (0x41, 0xD0C): "neoverse-n1",
    (0x41, 0xD40): "neoverse-v1",
    (0x41, 0xD49): "neoverse-n2",
    (0x50, 0x000): "x-gene1",
    (0x61, 0x022): "apple-m1",
    (0x61, 0x023): "apple-m1",
}
# (vendor, family) -> (first model, last model, built-in machine), which is the nearest relative in execution units: Ivy
# Bridge has Sandy Bridge's, Skylake and its client successors have Kaby Lake's, Ice Lake servers have Skylake-X's.
_X86: dict[tuple[str, int], tuple[tuple[int, int, str], ...]] = {
    ("GenuineIntel", 6): (
        (23, 23, "xeon-e5450"), (29, 29, "xeon-e5450"), (42, 42, "sandy-bridge"), (45, 45, "xeon-e5-2660"),
        (58, 58, "sandy-bridge"), (62, 62, "xeon-e5-2660"), (60, 60, "haswell"), (63, 63, "haswell"),
        (69, 70, "haswell"), (61, 61, "xeon-e5-2630v4"), (71, 71, "xeon-e5-2630v4"), (86, 86, "xeon-e5-2630v4"),
        (79, 79, "xeon-e5-2697v4"), (78, 78, "kaby-lake"), (94, 94, "kaby-lake"), (142, 142, "kaby-lake"),
        (158, 158, "kaby-lake"), (165, 166, "kaby-lake"), (85, 85, "skylake-x"), (106, 106, "skylake-x"),
        (108, 108, "skylake-x"), (87, 87, "xeon-phi-7210"), (143, 143, "sapphire-rapids"),
        (207, 207, "sapphire-rapids"),
    ),
    ("AuthenticAMD", 16): ((0, 255, "opteron-8354"),),
    ("AuthenticAMD", 23): ((48, 175, "zen2"),),
    ("AuthenticAMD", 25): (
        (0, 15, "zen3"), (16, 31, "zen4"), (32, 95, "zen3"), (96, 127, "zen4"), (160, 175, "zen4"),
    ),
}


@record
class CpuInfo:
    """What the file says: empty strings where it says nothing we know."""

    model: str = ""
    machine: str = ""
    isa: str = ""


def parse_cpuinfo(text: str) -> CpuInfo:
    """Read the first processor's block; the others are taken to be alike."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    machine = _arm_machine(fields) or _x86_machine(fields) or _power_machine(fields)
    flags = frozenset((fields.get("Features") or fields.get("flags") or "").split())
    return CpuInfo(fields.get("model name", machine), machine, isa_of_flags(flags))


def isa_of_flags(flags: frozenset[str]) -> str:
    """The widest instruction set among the kernel's feature words; empty when there are none."""
    if "sve" in flags:
        return "sve"
    if "asimd" in flags or "neon" in flags:
        return "neon"
    if "avx512f" in flags:
        return "avx512"
    if "avx2" in flags and "fma" in flags:
        return "avx2"
    return "generic" if flags else ""


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        return -1


def _arm_machine(fields: dict[str, str]) -> str:
    implementer = _number(fields.get("CPU implementer", ""))
    return _ARM.get((implementer, _number(fields.get("CPU part", ""))), "")


def _x86_machine(fields: dict[str, str]) -> str:
    family = _number(fields.get("cpu family", ""))
    model = _number(fields.get("model", ""))
    rows = _X86.get((fields.get("vendor_id", ""), family), ())
    return next((name for low, high, name in rows if low <= model <= high), "")


def _power_machine(fields: dict[str, str]) -> str:
    return "power8" if fields.get("cpu", "").upper().startswith("POWER8") else ""
