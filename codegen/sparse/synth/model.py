"""Records of a format's layout: its tuple variables as functions of the dense coordinates, positions, segments and
orders."""
from __future__ import annotations

from codegen.diagnostics import InputError, Loc
from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.algebra.relation import Constraint
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
class Segment:
    """Which arrays bound a position, at the tuple variables `above`.

    low(.., u) <= v < high(.., u); where both are one array, high is its next element, low(.., u + 1). Without `low`
    the position counts from 0, and `high` has how many there are.
    """

    low: str = ""
    high: str = ""
    above: tuple[str, ...] = ()

    @property
    def chained(self) -> bool:
        return bool(self.low) and self.low == self.high


@record
class Stair:
    """Jagged diagonals: entry number s of row r is at var = ptr(s) + r, one of `size`. Rows have ever fewer entries, so
    that diagonal s has one for each row from 0 to ptr(s + 1) - ptr(s) - 1."""

    var: str
    ptr: str
    size: str


@record
class Position:
    """A tuple variable that counts stored things. `values`: the functions stored at it, as coordinates.

    `group`: it counts anew for each value of these; from the start of its segment on, where it has one. `full`: its key
    tells one dense element from another. `stair`: where the entries so counted are, unless the position itself says it.
    """

    var: str
    size: str
    segment: Segment
    values: tuple[tuple[str, Exp], ...]
    group: tuple[Exp, ...]
    key: tuple[Exp, ...]
    full: bool
    order: Order = Order()
    stair: Stair | None = None

    @property
    def at(self) -> tuple[str, str]:
        """The variable that values are stored at, and how many there are."""
        return (self.stair.var, self.stair.size) if self.stair else (self.var, self.size)

    @property
    def ptr(self) -> str:
        """The array of the segments' starts; "" without one."""
        return self.segment.low

    @property
    def parent(self) -> str:
        """The variable that counts the segments, the last one where there are several; "" without any."""
        return self.segment.above[-1] if self.segment.low else ""

    @property
    def counts(self) -> str:
        """The array that has how many there are of each group; "" without one."""
        return "" if self.segment.low else self.segment.high

    @property
    def covers(self) -> bool:
        """Does the position take every value below its size, each once? Segments of two arrays may leave gaps."""
        return not self.group and (not self.segment.low or self.segment.chained)


@record
class Layout:
    """A descriptor solved for its tuple variables. `members`: which dense elements the format has a place for, where
    that is not every one; conditions on the coordinates."""

    desc: Descriptor
    resolved: tuple[tuple[str, Exp], ...]
    positions: tuple[Position, ...]
    members: tuple[Constraint, ...] = ()

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

    @property
    def counted(self) -> tuple[str, ...]:
        """Symbols that are found by counting."""
        return tuple(dict.fromkeys(n for p in self.positions for n in (p.size, p.at[1])))

    def position(self, name: str) -> Position | None:
        return next((p for p in self.positions if p.var == name), None)


def unsolved(d: Descriptor, message: str, hint: str = "", loc: Loc | None = None) -> InputError:
    """The synthesis cannot go on; the message names what is missing."""
    return InputError("unsolved-format", f"{d.name}: {message}", loc or d.map_loc, hint)
