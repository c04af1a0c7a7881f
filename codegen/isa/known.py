"""Which instruction sets there are, by name: the built-in ones (tables in isa/data), and those of users' files, which
`--isa FILE` makes known here. `load.py` and `user.py` read the tables."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codegen.record import record

ISAS = ("generic", "neon", "sve", "avx2", "avx512")  # each a table in isa/data


@record
class OwnIsa:
    """An instruction set of the user's: its table, and what a machine must know of it."""

    name: str
    table: Mapping[str, Any]
    vector_bits: int
    registers: int


# By name. Filled while the command line is read, before any work; plans and machines then speak of it by its name.
_own: dict[str, OwnIsa] = {}


def is_file(spec: str) -> bool:
    """Whether --isa names a file and not an instruction set."""
    return spec.endswith(".toml") or "/" in spec


def use(spec: str) -> str:
    """The name of the instruction set that --isa asks for; a file is read, checked and known from then on."""
    if not is_file(spec):
        return spec
    from codegen.isa.user import read

    return read(spec)


def add(isa: OwnIsa) -> None:
    _own[isa.name] = isa


def own(name: str) -> OwnIsa | None:
    return _own.get(name)


def known() -> tuple[str, ...]:
    """All names that plans and machines may use."""
    return (*ISAS, *_own)
