"""Reading Linux's sysfs: data caches, cores, frequency. Every function returns None for "not said"."""
from __future__ import annotations

from pathlib import Path

from codegen.machine.model import Cache

_CPU = "sys/devices/system/cpu"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def read(path: Path) -> str:
    """The stripped text of a small file, empty when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def cpu_list(text: str) -> tuple[int, ...]:
    """The numbers of a kernel CPU list such as `0-3,8`; empty when it is not one."""
    out: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        if not low.isdigit() or (high and not high.isdigit()):
            return ()
        out.extend(range(int(low), int(high or low) + 1))
    return tuple(out)


def caches(root: Path) -> tuple[Cache, ...] | None:
    """CPU 0's data caches, level 1 first; None unless levels 1, 2, ... are all fully described."""
    threads = max(1, len(cpu_list(read(root / _CPU / "cpu0/topology/thread_siblings_list"))))
    found: dict[int, Cache] = {}
    for folder in sorted((root / _CPU / "cpu0/cache").glob("index*")):
        if read(folder / "type") in ("Data", "Unified"):
            cache = _cache(folder, threads)
            if cache is None:
                return None
            found[cache.level] = cache
    if not found or sorted(found) != list(range(1, len(found) + 1)):
        return None
    return tuple(found[level] for level in sorted(found))


def _cache(folder: Path, threads: int) -> Cache | None:
    names = ("level", "ways_of_associativity", "coherency_line_size")
    level, ways, line = (int(t) if (t := read(folder / n)).isdigit() else 0 for n in names)
    size = _size(read(folder / "size"))
    if not (level and ways and line and size) or size % (ways * line):
        return None
    sharers = len(cpu_list(read(folder / "shared_cpu_list"))) or 1
    return Cache(level, size, ways, line, max(1, sharers // threads))


def _size(text: str) -> int:
    digits, unit = (text[:-1], _UNITS.get(text[-1:], 0)) if text[-1:] in _UNITS else (text, 1)
    return int(digits) * unit if digits.isdigit() else 0


def cores(root: Path) -> int | None:
    """Physical cores online: CPUs that share one sibling list are threads of one core."""
    online = cpu_list(read(root / _CPU / "online"))
    lists = {read(root / _CPU / f"cpu{n}/topology/thread_siblings_list") for n in online}
    if not online:
        return None
    return len(online) if "" in lists else len(lists)


def frequency(root: Path) -> float | None:
    """The highest frequency in Hz; the current one would make two runs differ."""
    text = read(root / _CPU / "cpu0/cpufreq/cpuinfo_max_freq")
    return float(text) * 1e3 if text.isdigit() else None


def sve_bits(root: Path) -> int | None:
    """Width of an SVE register as new processes get it."""
    text = read(root / "proc/sys/abi/sve_default_vector_length")
    return int(text) * 8 if text.isdigit() and int(text) else None
