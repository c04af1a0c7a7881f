"""Prints conditional expressions (`c ? a : b`) that occur more than once as `const` variables ahead of their statement;
`lower/conditionals.py` finds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codegen.ast.ctree import Instance
from codegen.recognize.access.ctypes import type_of
from codegen.record import record
from codegen.scop.expr import Expr, Ternary
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
    plain: BodyAfter, s: Statement, at: Instance, choices: Sequence[Expr],
    new_names: Callable[[str, int], tuple[str, ...]],
) -> tuple[BodyChosen, list[str]]:  # fmt: skip
    """A printer that knows the names of choices, and their declarations."""
    printer = BodyChosen(plain.scop, plain.ints, plain.held, plain.known, {}, plain)
    lines = []
    for e in choices:
        kind = type_of(plain.scop, s, e)
        assert kind is not None
        (name,) = new_names("choice", 1)
        lines.append(f"const {kind.spelling} {name} = {printer._print(e, s, at)[0]};")
        printer.chosen[plain._print(e, s, at)[0]] = name
    return printer, lines
