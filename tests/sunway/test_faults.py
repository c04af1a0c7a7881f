"""Faults planted in programs for core groups: the emulator names each of them, and runs the programs without one.

`KINDS` has them by kernel, in the order of tests/sunway/faults/*.c, with the kind that the emulator gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.sunway.emulation.host import compile_program, run_program

FAULTS = Path(__file__).parent / "faults"
KINDS = {
    "tiles": {
        "get not waited for": "in-flight", "put not waited for": "in-flight", "waits for two": "reply-count",
        "waits for nothing": "reply-not-reset", "reply not reset": "reply-not-reset",
        "reply never set": "reply-not-reset", "reply set too late": "reply-reset",
        "contiguous get too short": "undefined", "one row short": "undefined",
        "length in elements": "undefined", "gap given as pitch": "bounds", "gap and block exchanged": "stride",
        "length no multiple of blocks": "stride", "gap without blocks": "stride", "negative gap": "stride",
        "no length": "length", "negative length": "length", "odd address": "alignment", "odd length": "alignment",
        "into main memory": "not-local", "reply in main memory": "not-local", "row mode": "mode",
        "get behind the buffer": "ldm-bounds", "get behind the array": "bounds", "get ahead of the array": "bounds",
        "put one row short": "not-written", "put with its gap as pitch": "bounds", "put of a broadcast": "mode",
        "put behind the array": "bounds", "put to half the column": "race", "put forgotten": "not-written",
        "put of nothing": "undefined", "put before its get has come": "in-flight", "two gets to one place": "in-flight",
        "tile skipped": "not-written", "wrong factor": "wrong-value", "changed while it goes": "stale-put",
        "filled while it goes": "in-flight", "overflow with a transfer": "ldm-overflow",
        "overflow without a transfer": "ldm-overflow", "overflow by calls": "ldm-overflow",
        "overflow of the stack": "ldm-overflow", "overflow by ldm_malloc": "ldm-overflow",
        "freed out of order": "ldm-free",
        "index behind the end": "ldm-bounds", "index ahead of the beginning": "ldm-bounds", "no address": "address",
        "vector not aligned": "alignment", "too many commands": "too-many",
        # what the management core does
        "spawn before init": "not-initialised", "65 threads": "threads", "join first": "join", "spawn twice": "join",
        "slave call on the management core": "not-launched", "result before join": "race",
        "operand changed before join": "race",
    },
    "halo": {
        "a core does not come": "barrier", "full barrier of 16": "barrier", "a mask without this core": "barrier",
        "a mask that is none": "barrier", "different masks": "barrier", "rows only": "race", "columns only": "race",
        "halo too small": "undefined", "halo that is not there": "ldm-bounds", "goes on behind the barrier": "race",
        "in place": "race", "no barrier": "race",
    },
    "table": {
        "no barrier ahead": "not-started", "reply is not zero": "broadcast", "no barrier between tables": "broadcast",
        "mask of nobody": "reply-count", "mask of some": "reply-count", "reply set behind the barrier": "reply-reset",
        "table not waited for": "in-flight",
    },
    "along": {
        "wrong sender": "wrong-value", "to itself": "mesh", "nobody sends": "mesh", "sent twice": "mesh",
        "not taken": "mesh", "a core has gone": "barrier", "to no core": "mesh", "taken along the row": "mesh",
    },
    "slices": {
        "column of 16": "barrier", "filled while it is sent": "stale-source", "filled when one has it": "stale-source",
        "source changed when one has it": "stale-source", "sent over a source": "stale-source",
        "sent before it came": "in-flight",
        "no barrier at all": "not-started", "a barrier the first time only": "in-flight",
        "slice too short": "undefined",
        "two senders": "early", "sent from main memory": "not-local", "no bytes": "length",
        "source changed": "stale-source", "words set while it comes": "reply-reset",
        "one slice not waited for": "in-flight", "slices not waited for": "in-flight",
        "waits for two slices": "mesh", "sending not waited for": "missing-wait",
    },
    "directly": {
        "all store the same": "race", "all store something": "race", "a store behind the array": "bounds",
        "a store ahead of the array": "bounds", "a load behind the array": "bounds",
        "a get behind a global array": "bounds", "a store behind a global array": "bounds",
        "no memb ahead of a get": "memb", "local memory of another core": "not-local", "no memb at the barrier": "memb",
        "loads beside puts": "race",
    },
    "kept": {
        "kept twice": "kept", "read by another core": "kept", "stored by another core": "kept",
        "never given back": "kept", "another tile given back": "kept", "kept tile not returned": "not-written",
    },
}  # fmt: skip
PLANTED = [(kernel, name) for kernel, faults in KINDS.items() for name in faults]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Path:
    """All of them in one program, so that it is compiled once."""
    made = tmp_path_factory.mktemp("faults") / "faults"
    assert compile_program(sorted(FAULTS.glob("*.c")), made, library, ["-w"]) == ""
    return made


@pytest.mark.parametrize(("kernel", "fault"), PLANTED, ids=[f"{k}-{f.replace(' ', '-')}" for k, f in PLANTED])
def test_fault_is_named(program: Path, kernel: str, fault: str) -> None:
    ran = run_program(program, [kernel, fault])
    assert ran.code == 3 and ran.err.rstrip().endswith(f"[{KINDS[kernel][fault]}]"), ran.err or ran.out


@pytest.mark.parametrize("kernel", KINDS)
def test_nothing_is_wrong_without_one(program: Path, kernel: str) -> None:
    ran = run_program(program, [kernel])
    assert (ran.code, ran.out) == (0, "equal\n"), ran.err


def test_barriers_of_rows_and_columns_together_are_barriers(program: Path) -> None:
    ran = run_program(program, ["halo", "rows and columns"])
    assert (ran.code, ran.out) == (0, "equal\n"), ran.err


def test_there_are_enough() -> None:
    assert len(PLANTED) >= 61 + 15
