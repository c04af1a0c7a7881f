"""Symbolic contents of packed operands: for each place of a buffer the element that was put there last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from codegen.kir.nodes import Buffer
from codegen.verify.poly import Poly, Unread, poly


class OperandElement(NamedTuple):
    """An element of an array: its offset, linear in the counters of the loops around."""

    of: Buffer | str
    at: Poly


class CopiedElement(NamedTuple):
    """Of a place in a buffer: the array, where in it the copy began, and how far behind that its element is; no array
    for a zero."""

    of: str
    origin: Poly
    behind: int


class Pack:
    """A buffer. Its contents are numbered, so that one can tell whether they are those of before."""

    def __init__(self, name: str, size: int) -> None:
        self.name, self.size = name, size
        self.cells: dict[int, CopiedElement] = {}
        self.number = 0
        self.used: set[int] = set()  # contents that something was read of
        self._read: dict[Poly, OperandElement] = {}
        self._filled: set[Poly] = set()  # offsets whose places all hold something
        self._unread: set[int] = set()  # places whose elements nothing has asked for yet: they might not be there

    def forget(self) -> None:
        if self._unread:
            raise Unread(f"{self.name} holds elements that no point needs")
        self.cells, self._read, self._filled = {}, {}, set()
        self.number += 1

    def put(self, at: Poly, value: OperandElement | None, counters: Sequence[tuple[str, int]]) -> None:
        """Copy elements, or zeros, for all values of the counters; others do not move the place."""
        free = [(at.terms.get((c,), 0), value.at.terms.get((c,), 0) if value else 0, n) for c, n in counters]
        names = {(c,) for c, _ in counters}
        if set(at.terms) - names - {()}:
            raise Unread(f"{self.name} is filled elsewhere in every turn")
        of = str(value.of) if value else ""
        origin = Poly({m: x for m, x in value.at.terms.items() if m and m not in names}) if value else poly(0)
        first = value.at.constant if value else 0
        for digits in product(*(range(n) for _, _, n in free)):
            place = at.constant + sum(x * to for x, (to, _, _) in zip(digits, free, strict=True))
            if not 0 <= place < self.size:
                raise Unread(f"{self.name} has no element {place}")
            behind = first + sum(x * source for x, (_, source, _) in zip(digits, free, strict=True))
            if place in self._unread:
                raise Unread(f"{self.name} holds elements that no point needs")
            self.cells[place] = CopiedElement(of, origin, behind)
            if of:
                self._unread.add(place)
        self._read = {}
        self.number += 1

    def check_filled(self, at: Poly, counts: Mapping[str, int]) -> None:
        """Refuse a read where something is not in the buffer, or was not stored to."""
        if at in self._filled:
            return
        moving = [(c, counts[m[0]]) for m, c in at.terms.items() if m]
        for digits in product(*(range(n) for _, n in moving)):
            place = at.constant + sum(x * c for x, (c, _) in zip(digits, moving, strict=True))
            if place not in self.cells:
                raise Unread(f"{self.name} is read at {place}, where nothing was stored")
        self._filled.add(at)

    def element(self, at: Poly, counts: Mapping[str, int]) -> OperandElement:
        """The element that stands at an offset, whatever the counters are."""
        self.used.add(self.number)
        if at not in self._read:
            self._read[at] = self._element(at, counts)
        return self._read[at]

    def _element(self, at: Poly, counts: Mapping[str, int]) -> OperandElement:
        moving = [(m[0], c, counts[m[0]]) for m, c in at.terms.items() if m]
        here = self._cell(at.constant)
        by = [self._cell(at.constant + c).behind - here.behind for _, c, _ in moving]
        for digits in product(*(range(n) for _, _, n in moving)):
            place = at.constant + sum(x * c for x, (_, c, _) in zip(digits, moving, strict=True))
            want = here.behind + sum(x * b for x, b in zip(digits, by, strict=True))
            if self._cell(place) != (here.of, here.origin, want):
                raise Unread(f"{self.name} does not hold in {place} what is read from there")
            self._unread.discard(place)
        along = Poly({(n,): b for (n, _, _), b in zip(moving, by, strict=True) if b})
        return OperandElement(here.of, here.origin + here.behind + along)

    def _cell(self, place: int) -> CopiedElement:
        found = self.cells.get(place)
        if found is None or not found.of:
            raise Unread(f"{self.name} holds nothing in {place} that may be read")
        return found
