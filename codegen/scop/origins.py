"""Points-to facts of a function as part of the model: which pointers may lead to the same memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from codegen.record import record

Place = tuple[str, ...]  # a variable, and the members on the way to a pointer in it


@record
class Origins:
    """Variables and members that were set from one another have one number in `family`.

    restricted  parameters that are `restrict` and never change
    fresh       local pointers that only ever hold newly allocated memory
    settled     parameters that never change: they lead nowhere that the function itself made
    exposed     local variables whose address is taken
    direct      as `family`, with the members of a struct apart from the struct
    visible     global scalars that may change: pointers of other files may lead to them
    recast      the numbers in `direct` of pointers that were cast: what they lead to may have any type
    """

    family: Mapping[Place, int] = field(default_factory=dict)
    restricted: frozenset[str] = frozenset()
    fresh: frozenset[str] = frozenset()
    settled: frozenset[str] = frozenset()
    exposed: frozenset[str] = frozenset()
    direct: Mapping[Place, int] = field(default_factory=dict)
    visible: frozenset[str] = frozenset()
    recast: frozenset[int] = frozenset()

    def related(self, one: Place, two: Place) -> bool:
        """Does the function itself show that the two may lead to the same memory?

        A member that is not known by itself goes with its struct, but not with the struct's other members.
        """
        alone = one[0] == two[0]
        first, second = self._number(one, alone), self._number(two, alone)
        return first is not None and first == second

    def reaches(self, pointer: Place, read: Place) -> bool:
        """May a store through a pointer change a variable or a member that is read by its name? What a pointer within a
        struct leads to is no part of the struct."""
        return bool(self._shared(pointer, read))

    def reaches_by_cast(self, pointer: Place, read: Place) -> bool:
        """As `reaches`, with a cast of a pointer on the way."""
        return not self._shared(pointer, read).isdisjoint(self.recast)

    def _shared(self, pointer: Place, read: Place) -> set[int]:
        return self._direct(pointer) & self._direct(read)

    def _direct(self, place: Place) -> set[int]:
        """The numbers of the nearest place around one, and of those within it."""
        around = next((self.direct[place[:k]] for k in range(len(place), 0, -1) if place[:k] in self.direct), None)
        within = {n for p, n in self.direct.items() if p[: len(place)] == place}
        return within if around is None else within | {around}

    def inside(self, name: str) -> tuple[Place, ...]:
        """The members of a variable that something was set from."""
        return tuple(p for p in sorted(self.family) if p[0] == name and len(p) > 1)

    def _number(self, place: Place, alone: bool) -> int | None:
        """The family of a place, or of the nearest struct around it; if `alone`, one in which that member occurs."""
        for k in range(len(place), 0, -1):
            number = self.family.get(place[:k])
            if number is not None:
                rest = place[k:]
                found = not rest or any(n == number and p[1:][-len(rest) :] == rest for p, n in self.family.items())
                return number if found or not alone else None
        return None
