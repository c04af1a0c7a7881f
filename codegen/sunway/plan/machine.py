"""Reads the descriptions of core groups from data/*.toml into records (`CoreGroup`, with its `ManagementCore`): cores,
local memory, and cycles of transfers and operations, for the planner, the printer and the timing model."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

from codegen.diagnostics import InputError, Loc
from codegen.options import GenOptions
from codegen.record import record

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@record
class ManagementCore:
    """The core that runs the program around launches, and whatever is not launched. Times are in its own cycles."""

    clock_hz: float
    line_bytes: int
    l1_bytes: int
    l2_bytes: int
    l2_latency: float
    memory_latency: float
    memory_bytes: float  # per cycle, along lines that follow each other
    page_bytes: int
    pages: int  # that are translated without a miss
    page_miss: float
    operations: float
    accesses: float
    fma_latency: float
    divide: float
    call: float
    fuses: bool = True


@record
class CoreGroup:
    """One core group. Times are in cycles of a compute core."""

    name: str
    description: str
    crts: bool  # the newer interface: athread_dma_*, RMA instead of register communication
    rows: int
    columns: int
    clock_hz: float
    ldm_bytes: int
    cache_bytes: int  # of local memory that are a data cache, which direct loads and stores go through
    reserve: int  # for stack, arguments and reply words
    vector_bits: int
    registers: int
    command: float  # of the memory controller, for a command, each block of it, and each byte
    row: float
    byte: float
    core_byte: float  # of a core's own channel, for each byte
    issue: float
    startup: float
    slow_blocks: tuple[tuple[int, float], ...]
    launch: float
    barrier: float
    fma_latency: float
    load_latency: float
    divide: float
    call: float
    gld: float  # a load or store that goes to main memory
    broadcast: float  # slots of the memory pipe that bring one element of local memory to all lanes
    message_latency: float
    message_bytes: float
    management: ManagementCore
    assumptions: tuple[tuple[str, str], ...]  # figures that no public source gives, and what they were taken from
    fuses: bool = True  # vectors are multiplied and added in one operation, which rounds once

    @property
    def short_name(self) -> str:
        """What the emulator calls it."""
        return self.name.removesuffix("-cpe")

    def lanes(self, bytes_: int) -> int:
        """Elements in a vector, which holds as many floats as doubles."""
        return self.vector_bits // (64 if bytes_ == 4 else 8 * bytes_)

    @property
    def set_slots(self) -> int:
        """Slots of the memory pipe for a vector made of single values: the headers go through a union in memory."""
        return self.lanes(8) + 1

    @property
    def peak(self) -> float:
        """Double precision, flop/s of all compute cores."""
        return 2.0 * self.vector_bits / 64 * self.clock_hz * self.rows * self.columns

    def transfer(self, bytes_: float, block: float, commands: float = 1) -> float:
        """Cycles of the memory controller for so many bytes in blocks of this length."""
        slow = next((f for b, f in self.slow_blocks if int(block) // 16 == b // 16), 1.0)
        return commands * self.command + slow * bytes_ * (self.byte + self.row / max(4.0, block))


@cache
def groups() -> Mapping[str, CoreGroup]:
    """All that there are, by name."""
    folder = resources.files("codegen.sunway.plan") / "data"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return {g.name: g for g in (_read(tomllib.loads(f.read_text(encoding="utf-8"))) for f in files)}


def _read(data: Mapping[str, Any]) -> CoreGroup:
    plain = {k: v for k, v in data.items() if not isinstance(v, dict)}
    slow = tuple((int(b), float(f)) for b, f in data["transfers"]["slow_blocks"])
    return CoreGroup(
        **plain, **{**data["transfers"], "slow_blocks": slow}, **data["cycles"],
        management=ManagementCore(**data["management"]), assumptions=tuple(sorted(data["assumptions"].items())),
    )  # fmt: skip


KB = 1024
SW26010 = groups()["sw26010-cpe"]
SW26010_PRO = groups()["sw26010-pro-cpe"]


def group_for(machine: str) -> CoreGroup:
    """The core group that --machine names; the SW26010 when it names none."""
    return groups().get(machine, SW26010)


def group_of(options: GenOptions) -> CoreGroup:
    """The core group that code is generated for, as options have it used: local memory is what the data cache leaves.
    Raises InputError where the machine has no such cache."""
    group, fuses = group_for(options.machine), options.fp_contract != "off"
    cache = int(options.ldm_cache) * KB if options.ldm_cache else group.cache_bytes
    if cache and not group.cache_bytes:
        why = f"the cores of {group.short_name} have no data cache, so --ldm-cache cannot be {options.ldm_cache}"
        raise InputError("no-data-cache", why, Loc("--ldm-cache"), f"leave it out, or say --machine {SW26010_PRO.name}")
    used = replace(group, cache_bytes=cache, ldm_bytes=group.ldm_bytes - cache)
    return replace(used, fuses=fuses, management=replace(group.management, fuses=fuses))
