"""Reads and writes the `[operations.TYPE]` tables of a machine's TOML: one line for each instruction, with its latency,
throughput and execution units."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from codegen.machine.model import OPERATIONS, TYPES, Operation
from codegen.machine.toml_reader import TomlReader, check_value

_KEYS = ("latency", "throughput", "units", "chain")


def read_operations(reader: TomlReader, data: object) -> tuple[Operation, ...]:
    """The operations of all tables, in their order in the file."""
    if not isinstance(data, dict):
        raise reader.fail("'operations' must be tables, such as [operations.f64]", "operations")
    out: list[Operation] = []
    for type_, table in data.items():
        if type_ not in TYPES:
            raise reader.fail(f"unknown type '{type_}'", f"operations.{type_}", hint=f"one of {', '.join(TYPES)}")
        if not isinstance(table, dict):
            raise reader.fail(f"'operations.{type_}' must be a table", "operations")
        out += [_operation(reader, type_, name, value) for name, value in table.items()]
    return tuple(out)


def _operation(reader: TomlReader, type_: str, name: str, data: Any) -> Operation:
    table = f"operations.{type_}"
    if name not in OPERATIONS:
        known = ", ".join(OPERATIONS)
        raise reader.fail(f"unknown operation '{name}'", name, hint=f"one of {known}", table=table)
    if not isinstance(data, dict) or not set(_KEYS[:2]) <= set(data) <= set(_KEYS):
        wanted = '{ latency = ..., throughput = ..., units = "...", chain = ... }; the last two may be left out'
        raise reader.fail(f"'{name}' must be {wanted}", name, table=table)
    for key in ("latency", "throughput", *(["chain"] if "chain" in data else [])):
        check_value(reader, key, data[key], (int, float), within=(table, name))
    check_value(reader, "units", data.get("units", ""), (str,), within=(table, name))
    units = "".join(sorted(set(data.get("units", ""))))
    if units and not units.isalnum():
        raise reader.fail("'units' must be letters and digits, one for each unit", name, table=table)
    chain = float(data.get("chain", 0))
    return Operation(type_, name, float(data["latency"]), float(data["throughput"]), units, chain)


def write_operations(operations: Sequence[Operation]) -> list[str]:
    """The lines that `read_operations` reads back, provided that each type's operations stand together."""
    lines: list[str] = []
    for type_, group in groupby(operations, key=lambda o: o.type):
        lines += ["", f"[operations.{type_}]"]
        for o in group:
            figures = f"latency = {_number(o.latency)}, throughput = {_number(o.throughput)}"
            units = f', units = "{o.units}"' if o.units else ""
            chain = f", chain = {_number(o.chain)}" if o.chain else ""
            lines.append(f"{o.name} = {{ {figures}{units}{chain} }}")
    return lines


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
