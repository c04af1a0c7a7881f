"""Translates a function of the C++ file that a region calls to a `static` C function, which is added to the region's
declarations; raises NotC for templates and overloads. `define` returns False where the body is not there or has no
counterpart in C."""
from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.source.cxx.around import declared
from codegen.source.cxx.body import Body, edited
from codegen.source.cxx.declare import CxxDeclarator
from codegen.source.cxx.names import Named, parameters_at
from codegen.source.cxx.refusal import NotC
from codegen.source.cxx.tokens import CxxToken, code, group_end, split_at, tokens
from codegen.source.cxx.types import prefix

if TYPE_CHECKING:
    from codegen.source.cxx.writer import CxxWriter

ALONE = "give the one that is meant a name of its own"
_DEEP = 8  # calls inside of calls
_SPECIFIERS = frozenset({"inline", "static", "constexpr", "extern", "const"})


class Definitions:
    """What a writer needs to define functions."""

    def __init__(self, writer: CxxWriter) -> None:
        self.writer = writer
        self.unit = writer.unit
        self.types = writer.types

    def define(self, found: list[Named], t: CxxToken) -> bool:
        """The function with its body as C; false where its body is not there, or cannot be read."""
        if any(n.kind != "function" for n in found):
            raise NotC(f"`{t.text}` is a template", t.begin, "write the expression it stands for")
        heads = {self._signature(n) for n in found}
        if len(heads) > 1:
            raise NotC(f"there are several functions `{t.text}`", t.begin, ALONE)
        n = next((n for n in found if n.entity.kind == "function"), None)
        if n is None or len(self.writer.doing) > _DEEP:
            return False
        self.writer.doing.append(t.text)
        try:
            self.writer.piece(n, self._definition(n))
            return True
        except NotC:
            return False  # whoever needs its body says so
        finally:
            self.writer.doing.pop()

    def _signature(self, n: Named) -> str:
        """The types of the parameters."""
        head = code(tokens(self.unit.text, n.entity.begin, n.entity.body if n.entity.body >= 0 else n.entity.end))
        at = parameters_at(head)
        inside = head[at + 1 : group_end(head, at) - 1] if at >= 0 else []
        parts = []
        for part in split_at(inside, ","):
            named = len(part) > 1 and part[-1].kind == "word" and (part[-2].kind == "word" or part[-2].text in "*&")
            parts.append(" ".join(x.text for x in (part[:-1] if named else part)))
        return ", ".join(parts)

    def _definition(self, n: Named) -> str:
        e, text = n.entity, self.unit.text
        head = code(tokens(text, e.begin, e.body))
        at = parameters_at(head)
        kind = [x for x in head[: at - 1] if x.text not in _SPECIFIERS]
        pointers = "".join(x.text for x in kind if x.text == "*")
        result = self.types.text([x for x in kind if x.text != "*"], e.scope)
        given = [declared(p, "param") for p in split_at(head[at + 1 : group_end(head, at) - 1], ",") if p]
        shown = []
        for p in (x[0] for x in given if x):
            d = CxxDeclarator(p.declarator.name, p.declarator.before, p.declarator.round, p.declarator.behind)
            kind_text = self.types.text(p.type, e.scope)
            shown.append(f"{prefix(p.qualifiers)}{kind_text} {self.types.declarator(d, e.scope, True)}")
        own = frozenset(x[0].name for x in given if x)
        with self.writer.at(e.scope):
            inside = Body(tokens(text, e.body, e.end), self.writer.names(), own)
            edits = inside.translate()
        self.writer.written |= inside.written
        body = edited(text, e.body, e.end, edits)
        lines = [x for x in body.split("\n") if not x.lstrip().startswith("#")]
        return f"static {result} {pointers}{n.name}({', '.join(shown) or 'void'}) {' '.join(lines)}"
