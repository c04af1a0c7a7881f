"""The `Device` record (limits on threads, registers and shared memory, and rates), read from TOML: a built-in
description by its name (`--device`), or a file. InputError for unknown names, and for keys that are unknown, missing or
of another type."""

from __future__ import annotations

import difflib
import sys
from dataclasses import fields
from functools import cache
from importlib import resources
from typing import Any

from codegen.diagnostics import InputError, Loc
from codegen.record import record

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@record
class Device:
    """One device. Sizes are in bytes, rates in bytes and operations per second of the whole device."""

    name: str
    description: str
    multiprocessors: int
    warp: int  # threads that run in step
    threads_per_block: int
    threads_per_multiprocessor: int
    blocks_per_multiprocessor: int
    registers_per_multiprocessor: int  # of 32 bits
    registers_per_thread: int
    shared_per_block: int
    shared_per_multiprocessor: int
    l2: int
    memory: int
    bandwidth: float
    f32: float
    f64: float
    link: float  # between host and device, one way
    launch: float  # seconds
    architecture: str  # as the compiler's option names it; empty: any
    matrix_units: bool
    asynchronous_copy: bool
    clusters: bool
    bulk_copy: bool


def names() -> tuple[str, ...]:
    """The devices that are described."""
    found = (f.name[:-5] for f in (resources.files("codegen.gpu") / "data").iterdir() if f.name.endswith(".toml"))
    return tuple(sorted(found))


@cache
def load_device(device: str) -> Device:
    """The device that --device names, or that a file of the user's describes. Raises InputError."""
    if device.endswith(".toml"):
        try:
            with open(device, encoding="utf-8") as stream:
                return parse(device, stream.read())
        except OSError as error:
            message = f"cannot read the device file: {error.strerror or error}"
            raise InputError("unknown-machine", message, Loc(device)) from None
    if device not in names():
        close = difflib.get_close_matches(device, names(), n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known devices: {', '.join(names())}"
        raise InputError("unknown-machine", f"unknown device '{device}'", Loc("--device"), hint)
    file = resources.files("codegen.gpu") / "data" / f"{device}.toml"
    return parse(f"{device}.toml", file.read_text(encoding="utf-8"))


def parse(file: str, text: str) -> Device:
    """A description; every key has to be there, and no other."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError("bad-machine", f"not TOML: {error}", Loc(file)) from None
    kinds = {f.name: str(f.type) for f in fields(Device)}
    for key, value in found.items():
        if key not in kinds:
            close = difflib.get_close_matches(key, kinds, n=1)
            raise InputError("bad-machine", f"unknown key `{key}`", Loc(file), f"`{close[0]}`?" if close else "")
        if not _fits(kinds[key], value):
            raise InputError("bad-machine", f"`{key}` is no {kinds[key]}", Loc(file))
    missing = sorted(kinds.keys() - found.keys())
    if missing:
        raise InputError("bad-machine", f"`{missing[0]}` is missing", Loc(file))
    values: dict[str, Any] = {k: float(v) if kinds[k] == "float" else v for k, v in found.items()}
    return Device(**values)


def _fits(kind: str, value: object) -> bool:
    if kind in ("int", "float"):
        number = isinstance(value, int) or (kind == "float" and isinstance(value, float))
        return number and not isinstance(value, bool) and float(value) >= 0  # type: ignore[arg-type]
    return isinstance(value, bool if kind == "bool" else str)
