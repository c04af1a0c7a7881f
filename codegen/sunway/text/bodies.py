"""Prints statement bodies whose accesses go to local copies in a core's memory, and chooses names for generated
variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.ast.ctree import Bin, CExpr, Instance, Int
from codegen.record import record
from codegen.scop.model import Scop, Statement
from codegen.scop.types import CType
from codegen.target.text.body import BodyPrinter
from codegen.target.view import fresh, reserved


@dataclass
class LocalView:
    """A buffer as the code around an access sees it: its C name and where it starts."""

    view: str
    lows: tuple[CExpr, ...]
    most: tuple[int, ...]
    single: bool = False  # a variable, not a buffer


@record
class LocalNames:
    """Names of the generated code's own variables, none of which is one of the user's."""

    args: str = "args"
    id: str = "id"
    row: str = "rid"
    column: str = "cid"
    turn: str = "turn"
    tile: str = "tile"
    done: str = "done"
    sent: str = "sent"
    stays: str = "stays"

    @property
    def all(self) -> tuple[str, ...]:
        own = self.turn, self.tile, self.done, self.sent, self.stays
        return self.args, self.id, self.row, self.column, *own


def words_for(scop: Scop) -> LocalNames:
    taken = reserved(scop) | scop.names
    return LocalNames(*(fresh(w, taken) for w in LocalNames().all))


@record
class StagedBody(BodyPrinter):
    """Statement bodies that read and write local copies. `shared` variables live in the arguments."""

    locals: Mapping[tuple[int, int], LocalView] = field(default_factory=dict)
    shared: frozenset[str] = frozenset()
    words: LocalNames = LocalNames()

    def access(self, s: Statement, at: Instance, number: int) -> str:
        local = self.locals.get((id(at), number))
        if local is None:
            array = self.scop.arrays[s.accesses[number].array]
            if not array.inside and array.rank == 0:
                return f"(*{array.base})"
            if any(step.count for step in s.accesses[number].path):
                return array.base + "".join(f"[{self.ints.text(e)}]" for e in at.accesses[number])
            plain = BodyPrinter.access(self, s, at, number)
            return f"{self.words.args}->{plain}" if array.name in self.shared else plain
        out = local.view
        if local.single:
            return out
        for e, low in zip(at.accesses[number], local.lows, strict=True):
            out += f"[{self.ints.text(minus(e, low))}]"
        return out


def minus(e: CExpr, low: CExpr) -> CExpr:
    """e - low, with what can be seen at once taken away."""
    if low == Int(0):
        return e
    if e == low:
        return Int(0)
    if isinstance(e, Bin) and e.op in ("+", "-") and isinstance(e.right, Int):
        inner = minus(e.left, low)
        if inner == Int(0):
            return e.right if e.op == "+" else Int(-e.right.value)
        return Bin(e.op, inner, e.right)
    if isinstance(e, Int) and isinstance(low, Int):
        return Int(e.value - low.value)
    return Bin("-", e, low)


def base_type(t: object) -> str:
    """The plain C type of an element, whatever typedef it is spelled with."""
    assert isinstance(t, CType)
    if t.plain_char:
        return "char"  # with or without a sign, as in the source
    if t.kind == "float":
        return {32: "float", 64: "double"}.get(t.bits, "long double")
    if t.kind == "int":
        word = {8: "signed char", 16: "short", 32: "int", 64: "long"}[t.bits]
        return word if t.signed else f"unsigned {word.removeprefix('signed ')}"
    return t.spelling
