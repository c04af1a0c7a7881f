"""Statement bodies as C text, with subscripts and integers in terms of the new loops."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ast.ctree import CExpr, Held, Instance, Int, expr_names
from codegen.recognize.access.ctypes import type_of
from codegen.record import record
from codegen.scop.expr import (
    Affine,
    Binary,
    Call,
    Cast,
    DataBlock,
    DataLoop,
    Declare,
    Expr,
    Gather,
    Jump,
    Lit,
    Ref,
    Store,
    Sym,
    Ternary,
    Unary,
    walk,
)
from codegen.scop.model import Access, AccessStep, Scop, Statement
from codegen.scop.types import INT, common
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.constant_comparisons import decided, truth_value

LEVEL = {
    "||": 3,
    "&&": 4,
    "|": 5,
    "^": 6,
    "&": 7,
    "==": 8,
    "!=": 8,
    "<": 9,
    ">": 9,
    "<=": 9,
    ">=": 9,
    "<<": 10,
    ">>": 10,
    "+": 11,
    "-": 11,
    "*": 12,
    "/": 12,
    "%": 12,
}
_COND, UNARY, ATOM = 2, 13, 15
_BELOW = LEVEL["+"] - 5  # levels of integer expressions lie so much lower
# Mixtures that gcc and clang ask to see parenthesised.
_TESTS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
# What a comparison of a value with itself gives. The source may spell one element in two ways, and compilers warn where
# they see that it is one.
_SELF = {"<": "0", ">": "0", "!=": "0", "<=": "1", ">=": "1", "==": "1"}
_CAREFUL = {
    ("||", "&&"),
    ("|", "&"),
    ("|", "^"),
    ("^", "&"),
    ("&", "+"),
    ("&", "-"),
    ("|", "+"),
    ("|", "-"),
    ("<<", "+"),
    (">>", "+"),
    ("<<", "-"),
    (">>", "-"),
    ("^", "+"),
    ("^", "-"),
}


@record
class BodyPrinter:
    """Prints one instance of a statement."""

    scop: Scop
    ints: IntPrinter
    held: dict[str, Held]

    def statement(self, s: Statement, at: Instance) -> str:
        return self._store(s.rhs, s, at) if s.op == "=" else self._plain(s.rhs, s, at)

    def _plain(self, value: Expr, s: Statement, at: Instance) -> str:
        target = self.access(s, at, s.target)
        if not truth_value(self.scop, Ref(s.target), s):
            return f"{target} {s.op} {self._text(value, s, at, 1)};"
        # Compilers ask whether a truth value was meant where one becomes of a choice of numbers, or of twice a number.
        if s.op == "=" and isinstance(value, Ternary):
            return f"{target} = ({self._text(value, s, at, 1)}) != 0;"
        text = self._text(value, s, at, 1)
        return f"{target} = ({target} + {text}) != 0;" if (s.op, text) == ("+=", target) else f"{target} {s.op} {text};"

    def parts(self, s: Statement, at: Instance) -> tuple[str, str]:
        """The value that is stored, and where. The statement is a plain assignment."""
        target, value = self.access(s, at, s.target), self._text(s.rhs, s, at, 1)
        return (value if s.op == "=" else f"{target} {s.op[:-1]} ({value})"), target

    def value(self, e: Expr, s: Statement, at: Instance) -> str:
        """An expression of a statement."""
        return self._text(e, s, at, 1)

    def put(self, s: Statement, at: Instance, value: str) -> tuple[str, ...]:
        """Statements that store a value that is there already."""
        return (f"{self.access(s, at, s.target)} = {value};",)

    def _store(self, value: Expr, s: Statement, at: Instance) -> str:
        """`target = value;`, where branches that keep the target as it is do not touch it."""
        if isinstance(value, (Store, DataLoop, DataBlock, Declare, Jump)):
            return self._code(value, s, at)
        if not isinstance(value, Ternary) or not value.branch:
            return self._plain(value, s, at)
        cond = self._text(value.cond, s, at, 1)
        if self._keeps(value.yes, s, at):
            return f"if (!({cond})) {self._apart(self._store(value.no, s, at))}"
        yes = self._store(value.yes, s, at)
        if self._keeps(value.no, s, at):
            return f"if ({cond}) {self._apart(yes)}"
        if yes.startswith(("if (", "for (")):
            yes = f"{{ {yes} }}"  # or the `else` would be the inner one's
        return f"if ({cond}) {yes} else {self._store(value.no, s, at)}"

    def _code(self, e: Store | DataLoop | DataBlock | Declare | Jump, s: Statement, at: Instance) -> str:
        """A statement that is carried out as it was written."""
        if isinstance(e, Store):
            return f"{self._text(e.place, s, at, UNARY)} {e.op} {self._text(e.value, s, at, 1)};"
        if isinstance(e, DataBlock):
            items = [self._store(x, s, at) for x in e.items]
            return items[0] if len(items) == 1 and not isinstance(e.items[0], Declare) else f"{{ {' '.join(items)} }}"
        if isinstance(e, Declare):
            value = "" if e.value is None else f" = {self._text(e.value, s, at, 1)}"
            return f"{e.ctype.spelling} {e.name}{value};"
        if isinstance(e, Jump):
            return f"{e.word};"
        return f"for ({self.loop_head(e, s, at)}) {self._store(e.body, s, at)}"

    def loop_head(self, e: DataLoop, s: Statement, at: Instance) -> str:
        """What stands between the brackets of a loop that data decide about."""
        step = {1: f"{e.counter}++", -1: f"{e.counter}--"}.get(e.step, f"{e.counter} += {e.step}")
        return f"{e.ctype.spelling} {e.counter} = {self.value(e.first, s, at)}; {self.value(e.cond, s, at)}; {step}"

    def line(self, e: Expr, s: Statement, at: Instance) -> str:
        """One statement of those that a statement of the model is carried out by."""
        return self._store(e, s, at)

    @staticmethod
    def _apart(text: str) -> str:
        """A statement below an `if` without `else`: in braces where readers could take an inner `else` for its own."""
        return f"{{ {text} }}" if text.startswith(("if (", "for (")) and " else " in text else text

    def _keeps(self, value: Expr, s: Statement, at: Instance) -> bool:
        if isinstance(value, DataBlock):
            return not value.items
        if self.scop.arrays[s.accesses[s.target].array].opaque:
            return isinstance(value, Ref)  # all of what it was
        return isinstance(value, Ref) and self.access(s, at, value.access) == self.access(s, at, s.target)

    def access(self, s: Statement, at: Instance, number: int) -> str:
        a = s.accesses[number]
        array = self.scop.arrays[a.array]
        index = at.accesses[number]
        if array.inside:
            members = "".join(f".{step.text}" for step in a.path if step.kind == "member")
            return array.name + "".join(f"[{t}]" for t in self._kept(a, index)) + members
        return self._path(array.base, a.path, index)

    def _gather(self, e: Gather, s: Statement, at: Instance) -> str:
        """An element with its subscripts as they are computed."""
        a = s.accesses[e.access]
        ints, values = self.ints, at.values
        args = tuple(
            ints.text(values[x.value]) if isinstance(x, Affine) else self._subscript(x, s, at, 1) for x in e.args
        )
        return self._path(self.scop.arrays[a.array].base, a.path, (), args)

    def _subscript(self, e: Expr, s: Statement, at: Instance, level: int) -> str:
        """Sums and products of type int in the type of the loops: the source's do not leave theirs, so the value is
        the same, while casts of counters keep compilers from seeing how the subscript moves. A table of a knapsack,
        filled from `j - weight[i]`: 14 times the time with them."""
        if isinstance(e, Affine) and e.ctype == INT:
            return self.ints.text(at.values[e.value], max(0, level - _BELOW))
        if isinstance(e, Binary) and e.op in ("+", "-", "*") and type_of(self.scop, s, e) == INT:
            own = LEVEL[e.op]
            text = f"{self._subscript(e.left, s, at, own)} {e.op} {self._subscript(e.right, s, at, own + 1)}"
            return f"({text})" if own < level else text
        return self._text(e, s, at, level)

    def _kept(self, a: Access, index: tuple[CExpr, ...]) -> list[str]:
        held = self.held[a.array]
        out = []
        for e, size, start in zip(index, held.sizes, held.starts, strict=True):
            if size:
                text = self.ints.text(e, 5)
                out.append(text if start == Int(0) else f"{text} - {self.ints.text(start, 6)}")
        return out

    def _path(
        self, base: str, path: tuple[AccessStep, ...], index: tuple[CExpr, ...], args: tuple[str, ...] = ()
    ) -> str:
        text = base
        for k, step in enumerate(path):
            if step.kind == "data":
                text += f"[{args[step.index]}]"
            elif step.kind == "sub":
                text += f"[{self._sub(index, step.index, path)}]"
            elif step.kind == "flat":
                text += f"[{self._flat(index[step.index : step.index + len(step.strides)], step.strides)}]"
            elif step.kind == "deref":
                text = f"(*{text})" if k + 1 < len(path) else f"*{text}"
            else:
                text += ("->" if step.kind == "arrow" else ".") + step.text
        return text

    def _sub(self, index: tuple[CExpr, ...], k: int, path: tuple[AccessStep, ...]) -> str:
        return self.ints.text(index[k])

    def _flat(self, index: tuple[CExpr, ...], strides: tuple[str, ...]) -> str:
        terms = []
        for e, stride in zip(index, strides, strict=True):
            if e == Int(0):
                continue
            if stride == "1":
                terms.append(self.ints.text(e, 5))
            else:
                terms.append(f"{self.ints.wide(e, 6)} * {stride}")
        return (" + ".join(terms) or "0").replace(" + -", " - ")

    # -- expressions -------------------------------------------------------------------------------

    def _text(self, e: Expr, s: Statement, at: Instance, level: int) -> str:
        text, own = self._print(e, s, at)
        return f"({text})" if own < level else text

    def _print(self, e: Expr, s: Statement, at: Instance) -> tuple[str, int]:
        if isinstance(e, (Lit, Sym)):
            return e.text, ATOM if not e.text.startswith("sizeof") else UNARY
        if isinstance(e, Ref):
            text = self.access(s, at, e.access)
            return text, UNARY if text.startswith("*") else ATOM
        if isinstance(e, Gather):
            text = self._gather(e, s, at)
            return text, UNARY if text.startswith("*") else ATOM
        if isinstance(e, Affine) and e.ctype == INT and self.ints.is_int(at.values[e.value]):
            return self.ints.text(at.values[e.value]), ATOM
        if isinstance(e, Affine):
            return f"({e.ctype.spelling}){self.ints.text(at.values[e.value], 8)}", UNARY
        if isinstance(e, Unary):
            arg = self._text(e.arg, s, at, UNARY)
            gap = " " if arg.startswith(e.op) else ""
            return f"{e.op}{gap}{arg}", UNARY
        if isinstance(e, Cast):
            return f"({e.type_text}){self._text(e.arg, s, at, UNARY)}", UNARY
        if isinstance(e, Call):
            return f"{e.name}({', '.join(self._text(a, s, at, 1) for a in e.args)})", ATOM
        if isinstance(e, Ternary):
            cond, yes, no = (self._text(x, s, at, lv) for x, lv in ((e.cond, _COND + 1), (e.yes, 1), (e.no, _COND)))
            # Compilers ask whether `a | b ? c : d` was meant.
            plain = not isinstance(e.cond, Binary) or e.cond.op in _TESTS
            return f"{cond if plain else f'({cond})'} ? {yes} : {no}", _COND
        assert isinstance(e, Binary)
        return self._binary(e, s, at)

    def _binary(self, e: Binary, s: Statement, at: Instance) -> tuple[str, int]:
        level = LEVEL[e.op]
        sides = []
        for arg, need, other in ((e.left, level, e.right), (e.right, level + 1, e.left)):
            text, own = self._print(arg, s, at)
            if level == LEVEL["<"] and isinstance(arg, Affine) and self._splits(arg, other, s, at):
                text, own = self.ints.text(at.values[arg.value], LEVEL["+"] - _BELOW), LEVEL["+"]
            careful = isinstance(arg, Binary) and (
                (e.op, arg.op) in _CAREFUL
                or (level in (8, 9) and LEVEL[arg.op] in (8, 9))
                or (level in (5, 6, 7) and LEVEL[arg.op] in (8, 9))
            )
            sides.append(f"({text})" if own < need or careful else text)
        if sides[0] == sides[1] and e.op in _SELF and self._whole(e.left, s):
            return _SELF[e.op], ATOM
        known = decided(self.scop, e, s, at)
        if known is not None:
            return str(int(known)), ATOM
        return f"{sides[0]} {e.op} {sides[1]}", level

    def _splits(self, e: Affine, other: Expr, s: Statement, at: Instance) -> bool:
        """Is a counter compared with an int that stays while it counts? Compilers make two loops of such a one, if
        nothing is cast; comparing 64 bits comes to the same."""
        kind = type_of(self.scop, s, other)
        if e.ctype != INT or kind is None or not kind.is_int or common(INT, kind) != INT:
            return False
        moving, parts = expr_names(at.values[e.value]) - set(self.ints.params), list(walk(other))
        if any(isinstance(x, (Affine, Call, Gather)) for x in parts):
            return False
        read = [t for x in parts if isinstance(x, Ref) for t in at.accesses[x.access]]
        return bool(moving and read) and all(moving.isdisjoint(expr_names(t)) for t in read)

    def _whole(self, e: Expr, s: Statement) -> bool:
        """Is it an integer? Then it equals itself."""
        kind = type_of(self.scop, s, e)
        return kind.is_int if kind is not None else truth_value(self.scop, e, s)


@record
class BodyAfter(BodyPrinter):
    """Prints statements that use values read before: `known` names them by instance and access."""

    known: Mapping[tuple[Instance, int], str]

    def _print(self, e: Expr, s: Statement, at: Instance) -> tuple[str, int]:
        if isinstance(e, Ref) and (at, e.access) in self.known:
            return self.known[at, e.access], ATOM
        return BodyPrinter._print(self, e, s, at)
