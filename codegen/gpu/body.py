"""Prints statement bodies for a device: flat pointers instead of arrays of arrays, C's conversions where C++ has
others. Before that, `check_region` raises Unsupported for calls, types, values and arrays that a device cannot have."""

from __future__ import annotations

import re
from dataclasses import field

from codegen.ast.ctree import CExpr, Instance, Int
from codegen.diagnostics import Unsupported
from codegen.recognize.access.ctypes import type_of
from codegen.record import record
from codegen.scop.expr import Affine, Call, Cast, Expr, Lit, Sym, is_code
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Array, Scop, Statement
from codegen.scop.types import CType
from codegen.target.text.body import ATOM, UNARY, BodyPrinter

WORD = re.compile(r"[A-Za-z_]\w*")
_DOUBLE = (
    "sqrt", "exp", "exp2", "log", "log2", "log10", "pow", "fabs", "fmin", "fmax", "fmod", "sin", "cos", "tan", "asin",
    "acos", "atan", "atan2", "tanh", "sinh", "cosh", "ceil", "floor", "round", "rint", "trunc", "cbrt", "hypot", "erf",
    "erfc", "copysign", "fma", "expm1", "log1p", "fdim",
)  # fmt: skip
# What device compilers know by the names of C, with the type of the arguments.
MATH = {**dict.fromkeys(_DOUBLE, "double"), **{f"{n}f": "float" for n in _DOUBLE}, "abs": "int", "labs": "long"}


def plain_type(t: CType) -> str:
    """The C type of an element, whatever typedef it is spelled with."""
    if t.kind == "float":
        return {32: "float", 64: "double"}[t.bits]
    if t.plain_char:
        return "char"
    word = {8: "signed char", 16: "short", 32: "int", 64: "long"}[t.bits]
    return word if t.signed else f"unsigned {word.removeprefix('signed ')}"


def is_plain(t: CType | None) -> bool:
    """Has a device the same type?"""
    return t is not None and ((t.kind == "float" and t.bits in (32, 64)) or (t.is_int and t.bits in (8, 16, 32, 64)))


def check_region(scop: Scop, words: frozenset[str]) -> None:
    """What a device cannot do, whose language has these words besides those of C. Raises Unsupported."""
    known = {p.text for p in scop.params}
    symbols = {e.text for s in scop.statements for e in walk_expr(s.rhs) if isinstance(e, Sym)}
    counters = {it for s in scop.statements for it in s.iterators}
    for name in sorted((known | symbols | counters | {a.base for a in scop.arrays.values()}) & words):
        raise Unsupported("gpu-value", f"`{name}` is a word of the device's language", scop.loc, "rename it")
    for p in scop.params:
        if not WORD.fullmatch(p.text):
            raise Unsupported("gpu-value", f"`{p.text}` cannot be passed to a device", scop.loc,
                              "copy it into a variable first")
    for s in scop.statements:
        if is_code(s.rhs):
            raise Unsupported("nonaffine-bound", "data decide how often a loop runs", s.loc,
                              "compute the bound before the region")
        for e in walk_expr(s.rhs):
            _check_expr(e, s)
        for a in s.accesses:
            _check_array(scop.arrays[a.array], s)
            flat = [x for x in a.path if x.kind == "flat"]
            if any(x.kind not in ("sub", "flat") and not x.count for x in a.path) or (flat and len(a.path) > 1):
                raise _no_array(scop.arrays[a.array], s, "is reached through pointers")
            if any(w not in known for x in flat for n in x.strides for w in WORD.findall(n)):
                raise _no_array(scop.arrays[a.array], s, "has rows of a length that the region does not know")


def _check_expr(e: Expr, s: Statement) -> None:
    if isinstance(e, Call) and e.name not in MATH:
        raise Unsupported("gpu-call", f"`{e.name}` cannot be called on a device", s.loc, "write its text in its place")
    if isinstance(e, Sym) and (not is_plain(e.ctype) or not WORD.fullmatch(e.text)):
        words = f"`{e.text}` cannot be passed to a device"
        raise Unsupported("gpu-value", words, s.loc, "copy it into a variable first")
    if isinstance(e, Cast) and not is_plain(e.ctype):
        raise Unsupported("gpu-value", f"a device has no type `{e.type_text}`", s.loc, "use a plain type")
    if isinstance(e, Lit) and (e.text.startswith("sizeof") or re.fullmatch(r".*[.eEpP].*[lL]", e.text)):
        raise Unsupported("gpu-value", f"`{e.text}` may mean something else on a device", s.loc, "use a plain number")


def _check_array(array: Array, s: Statement) -> None:
    if array.opaque:
        raise Unsupported("data-dependent-subscript", f"data decide which elements of `{array.base}` are used: which "
                          "of them a device needs is not known before it runs", s.loc,
                          "subscripts may use loop variables and integers the region does not change")
    if array.mixed or not is_plain(array.elem):
        raise _no_array(array, s, "has elements of no plain type")
    if array.roomy:
        raise _no_array(array, s, "is too large for a thread's own memory")
    if array.inside:
        return
    if not WORD.fullmatch(array.base) or array.depth > 1:
        raise _no_array(array, s, "is reached through pointers")


def _no_array(array: Array, s: Statement, why: str) -> Unsupported:
    return Unsupported("gpu-array", f"`{array.name}` cannot be given to a device: it {why}", s.loc,
                       "pass a plain array of numbers")


@record
class DeviceBody(BodyPrinter):
    """Statements that reach arrays by one pointer each. `scratch` are variables of the region that several kernels
    use, in memory of the device."""

    scratch: frozenset[str] = frozenset()
    calls: dict[str, str] = field(default_factory=dict)  # functions of C, and what the device calls them

    def text(self, e: Expr, s: Statement, at: Instance) -> str:
        """An expression of a statement, as what is assigned."""
        return self._text(e, s, at, 1)

    def access(self, s: Statement, at: Instance, number: int) -> str:
        a = s.accesses[number]
        array, index = self.scop.arrays[a.array], at.accesses[number]
        if array.inside:
            if array.name not in self.scratch:
                return BodyPrinter.access(self, s, at, number)
            index = index[array.scope :]
            return f"{array.name}[{self._row(index, array.extents)}]"
        if len(a.path) == 1 and a.path[0].kind == "flat":
            return BodyPrinter.access(self, s, at, number)
        return f"{array.base}[{self._row(index, array.extents)}]"

    def _row(self, index: tuple[CExpr, ...], extents: tuple[str, ...]) -> str:
        """The place of an element, row by row."""
        if not index:
            return "0"
        text, zero = self.ints.text(index[0], 5), index[0] == Int(0)
        for k, (e, size) in enumerate(zip(index[1:], extents[1:], strict=True)):
            wide = self.ints.wide(index[0], 6) if k == 0 else f"({text})"
            head = "" if zero else f"{wide} * {size if WORD.fullmatch(size) or size.isdigit() else f'({size})'}"
            tail = "" if e == Int(0) else self.ints.text(e, 5)
            text, zero = " + ".join(x for x in (head, tail) if x) or "0", not head and not tail
        return text

    def _print(self, e: Expr, s: Statement, at: Instance) -> tuple[str, int]:
        if isinstance(e, Call):
            kind = MATH[e.name]
            args = ", ".join(self._argument(x, kind, s, at) for x in e.args)
            return f"{self.calls.get(e.name, e.name)}({args})", ATOM
        if isinstance(e, Cast):
            assert e.ctype is not None
            return f"({plain_type(e.ctype)}){self._text(e.arg, s, at, UNARY)}", UNARY
        if isinstance(e, Affine):
            return f"({plain_type(e.ctype)}){self.ints.text(at.values[e.value], 8)}", UNARY
        return BodyPrinter._print(self, e, s, at)

    def _argument(self, e: Expr, kind: str, s: Statement, at: Instance) -> str:
        """Overloads of C++ go by the argument's type; functions of C have one."""
        found = type_of(self.scop, s, e)
        if found is not None and plain_type(found) == kind:
            return self._text(e, s, at, 1)
        return f"({kind}){self._text(e, s, at, UNARY)}"
