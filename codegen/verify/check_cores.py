"""Checking code for a core group: the slave file and the emulator become part of the result's library."""

from __future__ import annotations

from codegen.options import GenOptions
from codegen.record import record
from codegen.region import RegionOutcome

STEM = "result"
SLAVE = "result_slave.c"


@record
class CoreTexts:
    """What a master file needs besides itself."""

    support: str
    slave: str
    args: str


def core_texts(outcomes: tuple[RegionOutcome, ...], options: GenOptions) -> CoreTexts | None:
    """The launches' declarations, the slave file and its header; None for other targets."""
    if options.target != "sunway":
        return None
    from codegen.sunway.files import master_support, slave_files
    from codegen.sunway.machine import group_for
    from codegen.sunway.threads import parse_grid

    parts = [o.slave for o in outcomes if o.slave is not None]
    grid = parse_grid(options.threads)
    files = slave_files(parts, STEM, "", group_for(options.machine), grid)
    return CoreTexts(master_support(parts, STEM, grid), files.slave, files.args)


def emulator_flags(options: GenOptions) -> tuple[str, ...]:
    """Where its headers are, and which machine it is."""
    if options.target != "sunway":
        return ()
    from codegen.sunway.host import emulator_folder
    from codegen.sunway.machine import group_for

    return "-I", str(emulator_folder()), f"-DSW_DEFAULT={int(group_for(options.machine).crts)}"


def slave_sources(options: GenOptions) -> tuple[str, ...]:
    """What is compiled with the result."""
    return (SLAVE,) if options.target == "sunway" else ()


def emulator_sources(options: GenOptions) -> tuple[str, ...]:
    """The machine in place of the real one: linked with the result."""
    if options.target != "sunway":
        return ()
    from codegen.sunway.host import emulator_folder

    return tuple(str(p) for p in sorted(emulator_folder().glob("*.c")))
