"""Machine descriptions: the built-in ones, files, errors, and detection on made-up hosts."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.machine.cpuinfo import parse_cpuinfo
from codegen.machine.detect import detect, isa_of_macros
from codegen.machine.load import load, names
from codegen.machine.model import Cache
from codegen.machine.sysfs import cpu_list
from codegen.machine.toml import dump, parse

BUILT_IN = {
    "generic", "neoverse-n1", "neoverse-n2", "neoverse-v1", "cortex-a72", "apple-m1", "haswell", "skylake-x", "zen2",
    "zen3", "zen4", "sapphire-rapids", "sandy-bridge", "kaby-lake", "xeon-phi-7210", "power8", "x-gene1",
    "xeon-e5-2630v4", "xeon-e5-2697v4", "xeon-e5450", "xeon-e5-2660", "opteron-8354", "sw26010-cpe", "sw26010-pro-cpe",
}


def test_all_built_in_machines_are_there() -> None:
    assert set(names()) == BUILT_IN
    assert names()[0] == "generic"


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_built_in_machine_is_sound(name: str) -> None:
    m = load(name)
    assert m.name == name and m.description
    sizes = [c.bytes for c in m.caches]
    assert sizes == sorted(sizes) and (len(sizes) >= 2 or "local store" in m.description)
    assert all(c.sets * c.ways * c.line == c.bytes and c.line == m.line_bytes for c in m.caches)
    assert m.vector_bits == {"avx2": 256, "avx512": 512, "neon": 128}.get(m.isa, m.vector_bits)
    assert parse("again.toml", dump(m)) == m


def test_generic_is_fixed() -> None:
    """Everybody's default output follows from these figures."""
    m = load("generic")
    assert m.cache(1) == Cache(1, 32768, 8, 64) and m.cache(3) is None
    second = m.cache(2)
    assert second is not None and second.bytes == 524288
    assert (m.isa, m.vector_bits, m.registers, m.line_bytes) == ("generic", 128, 16, 64)
    assert m.lanes(8) == 2 and m.lanes(4) == 4 and m.lanes(64) == 1


def test_file(tmp_path: Path) -> None:
    mine = replace(load("zen3"), name="mine", description='a "quoted" \\ name')
    path = tmp_path / "mine.toml"
    path.write_text(dump(mine, ("a comment",)), encoding="utf-8")
    assert load(str(path)) == mine


@pytest.mark.parametrize(("name", "hint"), [
    ("haswel", "did you mean 'haswell'?"), ("nativ", "did you mean 'native'?"), ("qqqqqq", "known machines: generic"),
])
def test_unknown_name(name: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        load(name)
    assert caught.value.id == "unknown-machine" and hint in caught.value.hint


def test_missing_file() -> None:
    with pytest.raises(InputError) as caught:
        load("nowhere/x.toml")
    assert caught.value.id == "unknown-machine" and caught.value.loc.file == "nowhere/x.toml"


GOOD = dump(load("haswell"))


@pytest.mark.parametrize(("old", "new", "line", "says"), [
    ("cores = 4", "cores = ", 9, "not TOML"),
    ("cores = 4", "cores = 0", 9, "must be positive"),
    ("cores = 4", "cores = true", 9, "must be a whole number"),
    ("cores = 4", "kores = 4", 9, "unknown key 'kores'"),
    ("cores = 4\n", "", 1, "missing key 'cores'"),
    ('isa = "avx2"', 'isa = "mmx"', 3, "unknown isa 'mmx'"),
    ("vector_bits = 256", "vector_bits = 255", 4, "not a width"),
    ("fma_latency = 5", 'fma_latency = "5"', 7, "must be a number"),
    ("level = 2", "level = 3", 17, "must be 1, 2"),
    ("bytes = 262144", "bytes = 262143", 26, "whole number of sets"),
    ("bytes = 262144", "bites = 262144", 26, "unknown cache key 'bites'"),
    ("bytes = 262144\n", "", 24, "cache 2 has no 'bytes'"),
])
def test_bad_file_is_located(old: str, new: str, line: int, says: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        parse("m.toml", GOOD.replace(old, new))
    assert caught.value.id == "bad-machine"
    assert says in caught.value.message
    assert caught.value.loc.line == line


def test_no_caches() -> None:
    with pytest.raises(InputError, match="at least one"):
        parse("m.toml", GOOD.split("[[caches]]")[0])


def _host(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return root


def _cache_files(index: int, level: int, kind: str, size: str, ways: str, shared: str) -> dict[str, str]:
    folder = f"sys/devices/system/cpu/cpu0/cache/index{index}"
    return {
        f"{folder}/level": str(level), f"{folder}/type": kind, f"{folder}/size": size,
        f"{folder}/ways_of_associativity": ways, f"{folder}/coherency_line_size": "64",
        f"{folder}/shared_cpu_list": shared,
    }


ZEN3 = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t: 33\nmodel name\t: AMD Ryzen 9\nflags\t: sse2 fma avx2\n"


def test_detect_a_full_host(tmp_path: Path) -> None:
    """Two threads per core: sharers and cores are counted in cores."""
    cpu = "sys/devices/system/cpu"
    host = _host(tmp_path, {
        "proc/cpuinfo": ZEN3, f"{cpu}/online": "0-3", f"{cpu}/cpu0/cpufreq/cpuinfo_max_freq": "4500000",
        **{f"{cpu}/cpu{n}/topology/thread_siblings_list": s for n, s in enumerate(("0,2", "1,3", "0,2", "1,3"))},
        **_cache_files(0, 1, "Data", "32K", "8", "0,2"),
        **_cache_files(1, 1, "Instruction", "64K", "8", "0,2"),
        **_cache_files(2, 2, "Unified", "512K", "8", "0,2"),
        **_cache_files(3, 3, "Unified", "32M", "16", "0-3"),
    })
    found = detect(host, cc="no-such-compiler")
    m = found.machine
    assert (m.isa, m.vector_bits, m.cores, m.frequency_hz) == ("avx2", 256, 2, 4.5e9)
    assert m.caches == (Cache(1, 32768, 8, 64, 1), Cache(2, 524288, 8, 64, 1), Cache(3, 33554432, 16, 64, 2))
    assert {n.what for n in found.notes if not n.found} == {"memory", "prefetch", "fork-join cost"}
    assert m.memory_bandwidth == 51.2e9 / 4  # of two of its eight cores
    assert m.operations == load("zen3").operations and m.load_latency == 7
    assert "found: caches = L1 32 KB 8-way, L2 512 KB 8-way, L3 32768 KB 16-way shared by 2 cores (sysfs)" in map(
        str, found.notes)
    assert parse("d.toml", dump(m, tuple(str(n) for n in found.notes))) == m


def test_detect_a_bare_host_assumes_and_says_so(tmp_path: Path) -> None:
    found = detect(tmp_path, cc="no-such-compiler")
    assert replace(found.machine, name="generic", description=load("generic").description) == load("generic")
    assert not any(n.found for n in found.notes)
    told = {n.what for n in found.notes}
    assert told >= {"vector FMA", "other operations", "vector load", "prefetch", "fork-join cost"}
    assert "assumed: caches = L1 32 KB 8-way, L2 512 KB 8-way (processor not known, as generic)" in map(
        str, found.notes)


def test_detect_half_described_caches_fall_back(tmp_path: Path) -> None:
    """Virtual machines often hide the associativity; a guess there would pass for a fact."""
    host = _host(tmp_path, {"proc/cpuinfo": ZEN3, **_cache_files(0, 1, "Data", "32K", "0", "0")})
    assert detect(host, cc="no-such-compiler").machine.caches == load("zen3").caches


def test_detect_narrower_vectors_than_described(tmp_path: Path) -> None:
    """The tables are about 512-bit vectors; a host that hides them gets figures derived from its FMA."""
    info = "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 97\nflags : sse2 fma avx2\n"
    found = detect(_host(tmp_path, {"proc/cpuinfo": info}), cc="no-such-compiler")
    assert (found.machine.vector_bits, found.machine.operations) == (256, ())
    assert "assumed: other operations = derived from FMA (as zen4)" in map(str, found.notes)


def test_detect_sve_width(tmp_path: Path) -> None:
    info = "CPU implementer : 0x41\nCPU part : 0xfff\nFeatures : fp asimd sve\n"
    host = _host(tmp_path, {"proc/cpuinfo": info, "proc/sys/abi/sve_default_vector_length": "64"})
    m = detect(host, cc="no-such-compiler").machine
    assert (m.isa, m.vector_bits, m.registers) == ("sve", 512, 32)


def test_detect_this_host() -> None:
    assert load("native").name == "native"


@pytest.mark.parametrize(("text", "machine", "isa"), [
    ("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\nFeatures\t: fp asimd\n", "neoverse-n1", "neon"),
    ("CPU implementer\t: 0x41\nCPU part\t: 0xd40\nFeatures\t: asimd sve\n", "neoverse-v1", "sve"),
    ("vendor_id : GenuineIntel\ncpu family : 6\nmodel : 143\nflags : avx2 fma avx512f\n", "sapphire-rapids", "avx512"),
    ("vendor_id : GenuineIntel\ncpu family : 6\nmodel : 60\nflags : avx2 fma\n", "haswell", "avx2"),
    (ZEN3, "zen3", "avx2"),
    ("vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 97\nflags : sse2\n", "zen4", "generic"),
    ("vendor_id : GenuineIntel\ncpu family : 6\nmodel : 79\nflags : avx2 fma\n", "xeon-e5-2697v4", "avx2"),
    ("vendor_id : GenuineIntel\ncpu family : 6\nmodel : 42\nflags : avx\n", "sandy-bridge", "generic"),
    ("CPU implementer\t: 0x41\nCPU part\t: 0xd49\nFeatures\t: asimd sve\n", "neoverse-n2", "sve"),
    ("processor\t: 0\ncpu\t\t: POWER8NVL (raw), altivec supported\n", "power8", ""),
    ("vendor_id : Other\ncpu family : x\n", "", ""),
    ("", "", ""),
])
def test_cpuinfo(text: str, machine: str, isa: str) -> None:
    info = parse_cpuinfo(text)
    assert (info.machine, info.isa) == (machine, isa)


def test_small_parsers() -> None:
    assert cpu_list("0-2,5") == (0, 1, 2, 5)
    assert cpu_list("") == () and cpu_list("a-b") == ()
    assert isa_of_macros(frozenset({"__AVX2__", "__AVX512F__"})) == "avx512"
    assert isa_of_macros(frozenset()) == "" and isa_of_macros(frozenset({"__x86_64__"})) == "generic"
