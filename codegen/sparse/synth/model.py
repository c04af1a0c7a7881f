"""What is known about a format: its tuple variables, seen from the dense coordinates."""
from __future__ import annotations

from codegen.diagnostics import InputError
from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.formats.model import Descriptor


@record
class Order:
    """Entries sorted lexicographically by `parts`, expressions of the dense coordinates.

    `free`: how many of the last parts nobody promises; they only tell different keys apart.
    """

    parts: tuple[Exp, ...] = ()
    down: bool = False
    free: int = 0


@record
class Position:
    """A tuple variable that counts stored things. `values`: the functions stored at it, as coordinates.

    `group`: it counts anew for each value of these. `full`: its key tells one dense element from another.
    """

    var: str
    size: str
    ptr: str
    parent: str
    values: tuple[tuple[str, Exp], ...]
    group: tuple[Exp, ...]
    key: tuple[Exp, ...]
    full: bool
    order: Order = Order()


@record
class Layout:
    """A descriptor solved for its tuple variables."""

    desc: Descriptor
    resolved: tuple[tuple[str, Exp], ...]
    positions: tuple[Position, ...]

    def __hash__(self) -> int:
        return hash(self.desc)

    @property
    def coords(self) -> tuple[str, ...]:
        return self.desc.map.outs

    @property
    def full(self) -> Position | None:
        return next((p for p in self.positions if p.full), None)

    @property
    def unique(self) -> bool:
        """Every dense element has one place, so two entries of the same coordinates cannot both be kept."""
        return self.full is None

    def position(self, name: str) -> Position | None:
        return next((p for p in self.positions if p.var == name), None)


def unsolved(d: Descriptor, message: str, hint: str = "") -> InputError:
    """The synthesis cannot go on; the message names what is missing."""
    return InputError("unsolved-format", f"{d.name}: {message}", d.loc, hint)
