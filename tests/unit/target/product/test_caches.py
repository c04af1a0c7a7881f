"""Block sizes that generated code computes from the caches it finds."""

from __future__ import annotations

import platform
import random
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from codegen.machine import sysfs
from codegen.machine.formulas import SECOND_TOLD, RegisterTile, gemm_blocks
from codegen.machine.load import load, names
from codegen.machine.model import Cache
from codegen.machine.processor import Processor
from codegen.target.support import SupportOptions, emit_support

HELPERS = frozenset({"tw_min", "tw_max", "tw_caches"})
FOLDER = "/sys/devices/system/cpu/cpu0/cache/index0"
BLOCKS = """
#include <stdio.h>
static long long l[6], tile[6];
{support}
int main(void)
{{
  long long threads;
  while (scanf("%lld %lld %lld %lld %lld %lld", l, l + 1, l + 2, l + 3, l + 4, l + 5) == 6
         && scanf("%lld %lld %lld %lld %lld %lld", tile, tile + 1, tile + 2, tile + 3, tile + 4, &threads) == 6) {{
    const long long mr = tile[0], row = tile[1], nr = tile[2], column = tile[3];
    const int along = (int)tile[4];
    const long long deep = tw_fit_depth(mr, row, nr, column, along);
    printf("%lld %lld %lld %lld\\n", deep, tw_fit_rows(deep, mr, row, along, threads), tw_fit_columns(deep, nr, column),
           tw_fit_run(deep, nr, column, along, threads));
  }}
  return 0;
}}
"""
GIVEN = ("-DTW_L1=l[0],l[1],1", "-DTW_L2=l[2],l[3],l[4]", "-DTW_L3=l[5],16,1")
ASKED = """
#include <stdio.h>
{support}
int main(void)
{{
  const tw_caches c = tw_known_caches(), again = tw_known_caches();
  printf("%lld %lld %lld %lld %lld", c.way * c.ways, c.ways, c.second, c.cores, c.third);
  return c.way != again.way || c.ways != again.ways || c.first != again.first || c.second != again.second
      || c.inner != again.inner || c.cores != again.cores || c.third != again.third;
}}
"""
TILES = ((14, 16, 1, 1), (6, 8, 1, 1), (4, 6, 1, 2), (8, 12, 2, 1), (5, 12, 4, 3))


def _output(text: str, folder: Path, flags: tuple[str, ...] = (), given: str = "") -> str:
    (folder / "a.c").write_text(text, encoding="utf-8")
    strict = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", *flags)
    subprocess.run(["cc", *strict, "a.c", "-o", "a"], cwd=folder, check=True)
    return subprocess.run([folder / "a"], input=given, text=True, capture_output=True, check=True).stdout


def _support() -> str:
    return emit_support(HELPERS, frozenset(), SupportOptions())


def _machines() -> list[tuple[Cache, Cache, Cache | None]]:
    """The caches of all machines that are described, and others that nobody has."""
    found = []
    for m in map(load, names()):
        first, *rest = (*m.caches, None)
        found.append((first, rest[0] or first, rest[1] if len(rest) > 1 else None))
    some = random.Random(1)
    for _ in range(100):
        ways, cores = (some.choice((1, 2, 3, 4, 8, 12, 16)) for _ in range(2)), some.choice((1, 2, 4))
        l1, l2 = (Cache(k + 1, 64 * w * 2 ** some.randint(4 + 3 * k, 9 + 3 * k), w, 64) for k, w in enumerate(ways))
        third = Cache(3, 2 ** some.randint(20, 30), 16, 64) if some.random() < 0.7 else None
        found.append((l1, Cache(2, l2.bytes * cores, l2.ways, 64, cores), third))
    return [x for x in found if x[0] is not None]


def test_blocks_are_those_of_the_formulas(tmp_path: Path) -> None:
    lines, wanted = [], []
    for first, second, third in _machines():
        third = third if third is not None and third.bytes >= second.bytes else None
        for mr, nr, lefts, rights in TILES:
            for size, along, threads in ((8, False, 1), (8, True, 1), (4, False, 2), (4, True, 8)):
                users = min(threads, second.shared_by)
                part = Cache(2, second.sets // users * second.ways * second.line, second.ways, second.line)
                cpu = Processor(size, 32, 4, Fraction(4), Fraction(2), first, part, third)
                b = gemm_blocks(cpu, RegisterTile(mr, nr, lefts, rights), along=along)
                wanted.append(f"{b.kc} {b.mc} {b.nc} {b.run or nr}")
                l3 = third.bytes if third else 0
                caches = f"{first.bytes} {first.ways} {second.bytes} {second.ways} {second.shared_by} {l3}"
                lines.append(f"{caches} {mr} {lefts * size} {nr} {rights * size} {int(along)} {threads}")
    support = _support()
    assert "== 2)" in support  # found out once; here it is another machine each time
    text = BLOCKS.format(support=support.replace("== 2)", "== 3)"))
    found = _output(text, tmp_path, GIVEN, "\n".join(lines)).splitlines()
    assert [(x, y, z) for x, y, z in zip(lines, found, wanted, strict=True) if y != z] == []


def test_caches_of_this_machine_are_found(tmp_path: Path) -> None:
    here = sysfs.caches(Path("/"))
    if here is None or len(here) < 2 or platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip("sysfs does not tell of caches")
    first, ways, second, _cores, third = map(int, _output(ASKED.format(support=_support()), tmp_path).split())
    assert (first, ways) == (here[0].bytes, here[0].ways)
    assert second == min(here[1].bytes, SECOND_TOLD * here[1].shared_by)
    assert third == (here[2].bytes if len(here) > 2 else 0)


# Files of each level, or none, and what is found: bytes and ways of the first cache, of the second its bytes and how
# many cores share it, and bytes of the third.
FILES = ("level", "type", "size", "ways_of_associativity", "shared_cpu_list")
TREES = {
    "two threads a core, four cores a second cache": (
        "1 Instruction 64K 4 0-1", "1 Data 32K 8 0-1", "2 Unified 1024K 16 0-3,8-11", "3 Unified 8192K 16 0-15",
        "32768 8 1048576 4 8388608"),
    "an emulated processor": ("1 Data 32K 8 0", "2 Unified 4096K 16 0", "32768 8 2097152 1 0"),
    "no folder": ("65536 4 524288 1 0",),
    "no sizes": ("1 Data - - 0", "2 Unified - - 0", "65536 4 524288 1 0"),
    "no ways": ("1 Data 32K 0 0", "2 Unified 512K 0 0", "65536 4 524288 1 0"),
    "a second cache smaller than the first": ("1 Data 32K 8 0", "2 Unified 16K 8 0", "65536 4 524288 1 0"),
    "no second cache": ("1 Data 32K 8 0", "65536 4 524288 1 0"),
    "words": ("1 Data much 8 0", "2 Unified more 8 0", "65536 4 524288 1 0"),
    "numbers without end": (f"1 Data {'9' * 200}K 8 0", "2 Unified 512K 8 0", "65536 4 524288 1 0"),
    "a third cache smaller than the second": (
        "1 Data 32K 8 0", "2 Unified 1024K 8 0", "3 Unified 1K 16 0", "32768 8 1048576 1 0"),
}  # fmt: skip


@pytest.mark.skipif(platform.machine() != "aarch64" or platform.system() != "Linux", reason="cpuid tells of caches")
@pytest.mark.parametrize("tree", TREES)
def test_what_sysfs_tells_is_believed_where_it_makes_sense(tree: str, tmp_path: Path) -> None:
    *levels, wanted = TREES[tree]
    for k, level in enumerate(levels):
        folder = tmp_path / f"index{k}"
        folder.mkdir()
        for name, value in zip(FILES, level.split(), strict=True):
            if value != "-":
                (folder / name).write_text(f"{value}\n")
    text = ASKED.format(support=_support())
    assert FOLDER in text
    assert _output(text.replace(FOLDER, f"{tmp_path}/index0"), tmp_path) == wanted
