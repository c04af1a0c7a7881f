"""The text form of a machine: TOML in, a located error for whatever is wrong, TOML out."""
from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from codegen.diagnostics import InputError, Loc
from codegen.isa.known import known as known_isas
from codegen.machine.model import Cache, Machine
from codegen.machine.toml_operations import read_operations, write_operations
from codegen.machine.toml_reader import TomlReader, check_value
from codegen.resources import toml

# key -> (accepted types, required); the order is the order of printing.
_KEYS: dict[str, tuple[tuple[type, ...], bool]] = {
    "name": ((str,), True),
    "description": ((str,), False),
    "isa": ((str,), True),
    "vector_bits": ((int,), True),
    "registers": ((int,), True),
    "fma_throughput": ((int, float), True),
    "fma_latency": ((int, float), True),
    "line_bytes": ((int,), True),
    "cores": ((int,), True),
    "parallel_overhead_cycles": ((int,), True),
    "frequency_hz": ((int, float), False),
    "load_latency": ((int, float), False),
    "prefetches_per_cycle": ((int, float), False),
    "prefetch_latency": ((int, float), False),
    "add_latency": ((int, float), False),
    "core_bandwidth": ((int, float), False),
    "memory_bandwidth": ((int, float), False),
}
_TABLES = ("caches", "operations")
_CACHE_KEYS = ("level", "bytes", "ways", "line", "shared_by")


def built_in(file: Path) -> Machine:
    """The machine that a file of the tool's own describes."""
    text, data = toml(file)
    return _machine(TomlReader(file.name, text), data)


def parse(file: str, text: str) -> Machine:
    """The machine that `text` describes; InputError `bad-machine` at the offending line."""
    if sys.version_info >= (3, 11):  # only then: start-up time counts in a build
        import tomllib
    else:
        import tomli as tomllib

    try:
        return _machine(TomlReader(file, text), tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(file, str(error)) from None


def _machine(reader: TomlReader, data: dict[str, Any]) -> Machine:
    _check_keys(reader, data)
    caches = tuple(_cache(reader, c, i) for i, c in enumerate(data["caches"]))
    if [c.level for c in caches] != list(range(1, len(caches) + 1)):
        raise reader.fail("cache levels must be 1, 2, ... in order", "caches")
    fields = {key: data[key] for key in _KEYS if key in data}
    fields.setdefault("description", "")
    reals = {key: float(fields[key]) for key in _KEYS if key in fields and float in _KEYS[key][0]}
    operations = read_operations(reader, data.get("operations", {}))
    return Machine(**{**fields, **reals}, caches=caches, operations=operations)


def _syntax_error(file: str, message: str) -> InputError:
    found = re.search(r"\s*\(at line (\d+), column (\d+)\)", message)
    if found is None:
        return InputError("bad-machine", f"not TOML: {message}", Loc(file))
    loc = Loc(file, int(found[1]), int(found[2]))
    return InputError("bad-machine", f"not TOML: {message[:found.start()]}", loc)


def _check_keys(reader: TomlReader, data: dict[str, Any]) -> None:
    for key in data:
        if key not in _KEYS and key not in _TABLES:
            known = ", ".join([*_KEYS, *_TABLES])
            raise reader.fail(f"unknown key '{key}'", key, hint=f"known keys: {known}")
    for key, (types, required) in _KEYS.items():
        if key in data:
            check_value(reader, key, data[key], types)
        elif required:
            raise reader.fail(f"missing key '{key}'")
    if data["isa"] not in known_isas():
        hint = f"one of {', '.join(known_isas())}; tables of your own are named with --isa FILE"
        raise reader.fail(f"unknown isa '{data['isa']}'", "isa", hint=hint)
    if data["vector_bits"] % 8 or data["line_bytes"] & (data["line_bytes"] - 1):
        key = "vector_bits" if data["vector_bits"] % 8 else "line_bytes"
        raise reader.fail(f"'{key}' is {data[key]}, not a width a machine can have", key)
    caches = data.get("caches")
    if not isinstance(caches, list) or not caches or not all(isinstance(c, dict) for c in caches):
        raise reader.fail("at least one [[caches]] table is needed", "caches")


def _cache(reader: TomlReader, data: dict[str, Any], nth: int) -> Cache:
    for key in data:
        if key not in _CACHE_KEYS:
            known = ", ".join(_CACHE_KEYS)
            raise reader.fail(f"unknown cache key '{key}'", key, hint=f"known keys: {known}")
    for key in _CACHE_KEYS[:-1]:
        if key not in data:
            raise reader.fail(f"cache {nth + 1} has no '{key}'", "caches", nth)
    for key, value in data.items():
        check_value(reader, key, value, (int,), nth)
    cache = Cache(**data)
    if cache.bytes % (cache.ways * cache.line):
        raise reader.fail("cache size is not a whole number of sets", "bytes", nth)
    return cache


def dump(machine: Machine, comments: tuple[str, ...] = ()) -> str:
    """Canonical TOML of `machine`, with `comments` on top; `parse` gives the same machine back."""
    lines = [f"# {c}" for c in comments]
    for key in _KEYS:
        value = getattr(machine, key)
        if value is not None:
            lines.append(f"{key} = {_literal(value)}")
    for cache in machine.caches:
        lines += ["", "[[caches]]"]
        lines += [f"{key} = {getattr(cache, key)}" for key in _CACHE_KEYS]
    lines += write_operations(machine.operations)
    return "\n".join(lines) + "\n"


def _literal(value: str | int | float) -> str:
    if isinstance(value, str):
        body = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c >= " " else f"\\u{ord(c):04x}" for c in body) + '"'
    return str(int(value)) if float(value).is_integer() else repr(value)
