"""KernelIR as text: statements by the macros of a dialect, with what is inside indented and in braces."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import Any

from codegen.isa.model import Isa
from codegen.kir.nodes import Block, For, Function, If, Stmt, Store
from codegen.print.expressions import Expressions
from codegen.print.names import Names
from codegen.print.templates import environment

Macro = Callable[..., str]


@cache
def macros(*dialects: str) -> dict[str, Macro]:
    """The macros of C, those of later dialects in place of earlier ones."""
    found: dict[str, Macro] = {}
    for name in ("c", *dialects):
        module = environment().get_template(f"dialect/{name}.j2").module
        found |= {x: getattr(module, x) for x in dir(module) if x[0].isupper()}
    return found


class Printer(Expressions):
    """Prints one function after another; `taken` are names that are known everywhere."""

    def __init__(self, isa: Isa | None = None, dialects: tuple[str, ...] = (), taken: Collection[str] = ()) -> None:
        super().__init__(Names(taken), isa)
        self.macros = macros(*dialects)
        self.lines: list[str] = []
        self.indent = ""

    def function(self, f: Function) -> str:
        """The text of a function."""
        self.lines = []
        self.name(f.sym)
        self.names.open()
        self._put(self._macro("Function", f))
        self._braced("", f.body)
        self.names.close()
        return "\n".join(self.lines) + "\n"

    def _macro(self, kind: str, node: Any) -> str:
        return str(self.macros[kind](node, self))

    def _statement(self, s: Stmt) -> None:
        kind = s.__class__.__name__
        if isinstance(s, For):
            self.names.open()
            how = self._macro(s.exec.__class__.__name__, s.exec)
            self._braced(how + self._macro(kind, s), s.body)
            self.names.close()
        elif isinstance(s, If):
            self._braced(self._macro(kind, s), s.then)
            if s.orelse:
                self.lines[-1] += " else {"
                self._inside(s.orelse)
        elif isinstance(s, Block):
            self._braced(self._macro(kind, s), s.body)
        else:
            self._put(self._macro("VectorStore" if isinstance(s, Store) and s.lanes else kind, s))

    def _braced(self, head: str, body: tuple[Stmt, ...]) -> None:
        """A head with its body in braces, which open where `{}` stands."""
        self._put(head.replace("{}", " {" if head != "{}" else "{", 1) if "{}" in head else head + "{")
        self._inside(body)

    def _inside(self, body: tuple[Stmt, ...]) -> None:
        outer, self.indent = self.indent, self.indent + "  "
        self.names.open()
        for s in body:
            self._statement(s)
        self.names.close()
        self.indent = outer
        self._put("}")

    def _put(self, text: str) -> None:
        """Lines of text, directives at the line's beginning."""
        self.lines += [line if line.startswith("#") else self.indent + line for line in text.split("\n")]


def print_function(f: Function, isa: Isa | None = None, dialects: tuple[str, ...] = ()) -> str:
    """The text of one function."""
    return Printer(isa, dialects).function(f)
