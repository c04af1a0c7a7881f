"""The table of semirings (plus-times, min-plus, or-and, ...): how a kernel's sums and products are written in C, and
what a sum begins with. A new one is a row of the table."""
from __future__ import annotations

from functools import reduce

from codegen.record import record

_FUNCTIONS = {"min": "tw_lesser", "max": "tw_greater"}  # helpers; others are operators of C


@record
class Semiring:
    """What sums and products are made with, in C, and what a sum begins with, which products of entries never meet."""

    name: str
    plus: str
    times: str
    zero: str

    @property
    def reals(self) -> bool:
        """Does it need an infinity?"""
        return "INFINITY" in self.zero

    def add(self, place: str, value: str) -> str:
        """A value is added at a place."""
        if self.plus in _FUNCTIONS:
            return f"{place} = {self.total([place, value])};"
        return f"{place} {self.plus}= {value};"

    def total(self, values: list[str]) -> str:
        return _joined(self.plus, values)

    def product(self, values: list[str]) -> str:
        return _joined(self.times, values)

    def zeros(self, count: int) -> str:
        """The beginning of so many sums in an array."""
        return "{0}" if self.zero == "0" else f"{{ {', '.join([self.zero] * count)} }}"


def _joined(sign: str, values: list[str]) -> str:
    if sign in _FUNCTIONS:
        return reduce(lambda a, b: f"{_FUNCTIONS[sign]}({a}, {b})", values)
    return f" {sign} ".join(values)


PLUS_TIMES = Semiring("plus-times", "+", "*", "0")
SEMIRINGS = {
    s.name: s
    for s in (
        PLUS_TIMES,
        Semiring("min-plus", "min", "+", "INFINITY"),
        Semiring("max-plus", "max", "+", "-INFINITY"),
        Semiring("min-times", "min", "*", "INFINITY"),
        Semiring("max-times", "max", "*", "-INFINITY"),
        Semiring("max-min", "max", "min", "-INFINITY"),
        Semiring("min-max", "min", "max", "INFINITY"),
        Semiring("or-and", "|", "&", "0"),
    )
}
