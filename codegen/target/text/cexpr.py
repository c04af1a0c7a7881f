"""Integer expressions of the C tree as C text: minimal parentheses, and no arithmetic narrower than 64 bits.

Loop variables are `long`, but for a few. What has a narrower type is widened by a cast exactly where arithmetic would
otherwise be done in its own type, so no overflow arises that the source did not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from codegen.ast.ctree import Bin, CExpr, Cond, Fun, Int, Name, Neg
from codegen.record import mutable
from codegen.scop.model import Param
from codegen.scop.types import CType
from codegen.target.text.constant_conditions import settled

_LEVEL = {"||": 1, "&&": 2, "==": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
_UNARY, _ATOM = 7, 8


@mutable
class IntPrinter:
    """Prints expressions. `names` maps loop variables to C identifiers; `helpers` collects what was used. The variables
    `narrow` are of type int."""

    params: Mapping[str, Param]
    names: Mapping[str, str]
    helpers: set[str] = field(default_factory=set)
    narrow: frozenset[str] = frozenset()

    def text(self, e: CExpr, level: int = 0) -> str:
        """C text that binds at least as tightly as `level`."""
        text, own = self._print(e)
        return f"({text})" if own < level else text

    def is_int(self, e: CExpr) -> bool:
        """Is it a loop variable of type int?"""
        return isinstance(e, Name) and e.name in self.narrow

    def wide(self, e: CExpr, level: int = 0) -> str:
        """C text whose type is long, for use as an operand."""
        if isinstance(e, Name) and e.name in self.params and self._narrow(e):
            return f"(long){self.params[e.name].text}"
        if isinstance(e, Int):
            return f"({e.value}L)" if e.value < 0 and level > _UNARY else f"{e.value}L"
        if self._narrow(e):
            return f"(long){self.text(e, _UNARY)}"
        return self.text(e, level)

    def _print(self, e: CExpr) -> tuple[str, int]:
        if isinstance(e, Int):
            return (str(e.value), _ATOM if e.value >= 0 else _UNARY)
        if isinstance(e, Name):
            return self._name(e.name)
        if isinstance(e, Neg) and isinstance(e.arg, Int):
            return self._print(Int(-e.arg.value))
        if isinstance(e, Neg):
            return f"-{self.wide(e.arg, _ATOM)}", _UNARY
        if isinstance(e, Fun):
            return self._fun(e), _ATOM
        e = self.settled(e)
        if not isinstance(e, (Bin, Cond)):
            return self._print(e)
        if isinstance(e, Cond):
            return f"{self.text(e.cond, 1)} ? {self.text(e.yes, 1)} : {self.text(e.no, 1)}", 0
        return self._bin(e)

    def _name(self, name: str) -> tuple[str, int]:
        if name in self.params:
            p = self.params[name]
            if not p.ctype.signed and p.ctype.bits >= 64:
                return f"(long){p.text}", _UNARY
            return p.text, _ATOM
        return self.names.get(name, name), _ATOM

    def _fun(self, e: Fun) -> str:
        self.helpers.add(f"tw_{e.name}")
        out = self.text(e.args[0])
        for a in e.args[1:]:
            out = f"tw_{e.name}({out}, {self.text(a)})"
        return out

    def _bin(self, e: Bin) -> tuple[str, int]:
        level = _LEVEL[e.op]
        left, right = e.left, e.right
        if e.op == "+" and isinstance(right, Neg):
            return self._bin(Bin("-", left, right.arg))
        if e.op == "+" and isinstance(right, Int) and right.value < 0:
            return self._bin(Bin("-", left, Int(-right.value)))
        if e.op == "+" and isinstance(left, (Int, Neg)) and not isinstance(right, (Int, Neg)):
            # 1 + x reads better as x + 1, and -a + b as b - a.
            return self._bin(Bin("-", right, left.arg) if isinstance(left, Neg) else Bin("+", right, left))
        if e.op == "+" and (behind := _subtracted_last(left, right)) is not None:
            return self._bin(behind)
        # Dividing cannot overflow; adding and multiplying in 32 bits can.
        narrow = e.op in "+-*" and self._narrow(left) and self._narrow(right)
        # Comparing an unsigned parameter with something of 32 bits would convert that to unsigned.
        narrow = narrow or (
            level in (3, 4)
            and self._narrow(left)
            and self._narrow(right)
            and (self._unsigned(left) or self._unsigned(right))
        )
        # && inside || gets parentheses although C does not need them: gcc asks for them.
        need = level + 1 if e.op == "||" else level
        lhs = self.wide(left, level) if narrow and not isinstance(left, Int) else self.text(left, need)
        rhs = (
            self.wide(right, level + 1) if narrow and isinstance(left, Int) else self.text(right, max(need, level + 1))
        )
        if e.op == "||" and isinstance(left, Bin) and left.op == "&&":
            lhs = f"({self.text(left)})"
        if e.op == "||" and isinstance(right, Bin) and right.op == "&&":
            rhs = f"({self.text(right)})"
        if e.op == "||" and isinstance(left, Bin) and left.op == "||":
            lhs = self.text(left)
        return f"{lhs} {e.op} {rhs}", level

    def settled(self, e: CExpr) -> CExpr:
        """An expression without what the types of parameters decide."""
        return settled(e, self.params)

    def _unsigned(self, e: CExpr) -> bool:
        if isinstance(e, Name):
            return e.name in self.params and not self.params[e.name].ctype.signed
        return isinstance(e, Bin) and e.op in "/%" and self._unsigned(e.left)

    def _narrow(self, e: CExpr) -> bool:
        """Would C give this expression a type of less than 64 bits (or an unsigned one)?"""
        if isinstance(e, Int):
            return -(1 << 31) < e.value < (1 << 31)
        if isinstance(e, Name):
            return self.is_int(e) or (e.name in self.params and _may_be_narrow(self.params[e.name].ctype))
        if isinstance(e, Bin) and e.op in "/%":
            return self._narrow(e.left) and self._narrow(e.right)
        if isinstance(e, Cond):
            return self._narrow(e.yes) and self._narrow(e.no)
        return isinstance(e, Bin) and _LEVEL[e.op] < 5


def _may_be_narrow(t: CType) -> bool:
    """Whether the type has less than 64 bits on some machine."""
    return t.bits < 64 or t.varies


def _subtracted_last(left: CExpr, right: CExpr) -> Bin | None:
    """A sum with what is subtracted behind all that is added: k + 2 - 16 * b of -16 * b + k + 2."""
    for size, other in ((_subtracted(right), left), (_subtracted(left), right)):
        if size is not None:
            return Bin("-", other, size)
    inner = _subtracted_last(left.left, left.right) if isinstance(left, Bin) and left.op == "+" else None
    return None if inner is None else Bin("-", Bin("+", inner.left, right), inner.right)


def _subtracted(e: CExpr) -> CExpr | None:
    """16 * x of -16 * x."""
    if isinstance(e, Bin) and e.op == "*" and isinstance(e.left, Int) and -(1 << 62) < e.left.value < 0:
        return e.right if e.left.value == -1 else Bin("*", Int(-e.left.value), e.right)
    return None
