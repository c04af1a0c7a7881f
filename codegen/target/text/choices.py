"""Choices that an expression makes more than once, as `MIN(a, MIN(b, c))` does when macros are expanded: it compares
`b < c ? b : c` with `a`, and chooses it. Under a name of its own compilers select where they would branch: dtw-banded,
Neoverse N1, takes 0.8 of the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from codegen.ast.ctree import Instance
from codegen.recognize.access.ctypes import type_of
from codegen.record import record
from codegen.scop.expr import Expr, Ternary, is_code, sure_parts, walk
from codegen.scop.model import Statement
from codegen.target.text.body import ATOM, BodyAfter


@record
class BodyChosen(BodyAfter):
    """Prints a statement some of whose choices have names: `chosen` has them by the text they would have without."""

    chosen: dict[str, str]
    plain: BodyAfter

    def _print(self, e: Expr, s: Statement, at: Instance) -> tuple[str, int]:
        name = self.chosen.get(self.plain._print(e, s, at)[0]) if isinstance(e, Ternary) else None
        return (name, ATOM) if name else BodyAfter._print(self, e, s, at)


def named_choices(
    plain: BodyAfter, s: Statement, at: Instance, new_names: Callable[[str, int], tuple[str, ...]]
) -> tuple[BodyChosen, list[str]]:
    """A printer that knows the names of choices that are made for sure and come again, and their declarations."""
    printer = BodyChosen(plain.scop, plain.ints, plain.held, plain.known, {}, plain)
    again = Counter(plain._print(e, s, at)[0] for e in walk(s.rhs) if isinstance(e, Ternary) and not is_code(e))
    lines = []
    for e in sorted(_sure(s.rhs), key=lambda x: sum(1 for _ in walk(x))):  # what lies inside another one first
        text, kind = plain._print(e, s, at)[0], type_of(plain.scop, s, e)
        if isinstance(e, Ternary) and not e.branch and kind is not None and again[text] > 1:
            again[text] = 0
            (name,) = new_names("choice", 1)
            lines.append(f"const {kind.spelling} {name} = {printer._print(e, s, at)[0]};")
            printer.chosen[text] = name
    return printer, lines


def _sure(e: Expr) -> Iterator[Expr]:
    """Parts that are evaluated whatever the values are."""
    yield e
    for part in sure_parts(e):
        yield from _sure(part)
