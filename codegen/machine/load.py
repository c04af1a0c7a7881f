"""Resolves --machine (a built-in name, `native`, or a TOML file) to a `Machine`; --isa, where given, replaces its
instruction set, vector width and registers."""
from __future__ import annotations

import os
from dataclasses import replace

from codegen.diagnostics import InputError, Loc
from codegen.isa.known import own
from codegen.isa.load import table
from codegen.machine.model import Machine
from codegen.machine.toml import built_in, parse
from codegen.resources import data_dir

NATIVE = "native"


def names() -> tuple[str, ...]:
    """The built-in machines, `generic` first, the rest by name."""
    found = sorted(name[:-5] for name in os.listdir(data_dir("machine")) if name.endswith(".toml"))
    return ("generic", *(n for n in found if n != "generic"))


def is_file(spec: str) -> bool:
    """Whether `spec` names a description file and not a built-in machine."""
    return spec.endswith(".toml") or os.sep in spec or "/" in spec


def load(spec: str) -> Machine:
    """The machine called `spec`: a built-in name, `native`, or the path of a TOML file.

    The result depends on the host for `native` only.
    """
    if spec == NATIVE:
        from codegen.machine.detect import detect

        return detect().machine
    if is_file(spec):
        return parse(spec, _read(spec))
    if spec not in names():
        raise _unknown(spec)
    return built_in(data_dir("machine") / f"{spec}.toml")


def load_for(spec: str, isa: str) -> Machine:
    """The machine `spec`, made to use another instruction set if `isa` names one: --machine with --isa."""
    machine = load(spec)
    mine = own(isa or machine.isa)
    if mine is not None:
        return replace(machine, isa=mine.name, vector_bits=mine.vector_bits, registers=mine.registers)
    if not isa or isa == machine.isa:
        return machine
    data = table(isa)
    if "vector_bits" not in data:  # for vectors of any width
        return replace(machine, isa=isa)
    bits = data["vector_bits"] or machine.vector_bits
    return replace(machine, isa=isa, vector_bits=bits, registers=data["registers"])


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except OSError as error:
        message = f"cannot read the machine file: {error.strerror or error}"
        raise InputError("unknown-machine", message, Loc(path)) from None
    except UnicodeDecodeError:
        raise InputError("bad-machine", "not TOML: not UTF-8 text", Loc(path)) from None


def _unknown(spec: str) -> InputError:
    import difflib  # only then: start-up time counts in a build

    close = difflib.get_close_matches(spec, [*names(), NATIVE], n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"known machines: {', '.join(names())}, native"
    return InputError("unknown-machine", f"unknown machine '{spec}'", Loc("tilewright"), hint)
