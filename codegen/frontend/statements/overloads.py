"""Replaces calls of C++ standard functions that are overloaded by argument type (`std::sqrt`, `std::abs`, `std::max`)
in the syntax tree, by the C functions that are meant or by a `?:`. Raises Unsupported for functions that are not known.

`std::sqrt` of a float is sqrtf, `std::abs` of a double is fabs, and `std::max` is a choice between two values. The
names become the compiler's own, which need no header. The slice gives such functions a prefix (`source/cxx/body.py`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping

from pycparser import c_ast

from codegen.diagnostics import Loc, Unsupported
from codegen.frontend.statements.valuetype import DOUBLE, FLOAT, LONG_DOUBLE, as_value, literal_ctype, operation
from codegen.frontend.syntax.declarators import DeclaredType, TypeTable, build_type_table, parameters
from codegen.frontend.syntax.purity import MATH_NAMES, PURE_NAMES
from codegen.frontend.syntax.symbols import location
from codegen.scop.types import INT, CType, promote
from codegen.source.cxx.prefix import STD

_COMPARE = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))
_CHOICES = {"max": ("<", False), "min": ("<", True)}  # min(a, b) is b < a ? b : a
_BY_FIRST = frozenset(("ldexp", "scalbn"))  # the second argument is an int
_CLASSIFY = frozenset(("isnan", "isinf", "isfinite", "isnormal", "signbit"))
_SUFFIX = {FLOAT.bits: "f", DOUBLE.bits: "", LONG_DOUBLE.bits: "l"}
_ABS = {32: "abs", 64: "labs"}

Types = Mapping[str, DeclaredType]


def with_overloads(ast: c_ast.FileAST) -> c_ast.FileAST:
    """The tree with all such calls resolved, in place; raises Unsupported for functions that are not known."""
    if not any(_named(n) for n in _walk(ast)):
        return ast
    table = build_type_table(ast)
    known = {d.name: table.shape(d.type) for d in ast.ext if isinstance(d, c_ast.Decl) and d.name}
    results = {f.decl.name: table.shape(f.decl.type.type) for f in ast.ext if isinstance(f, c_ast.FuncDef)}
    for func in ast.ext:
        if isinstance(func, c_ast.FuncDef):
            given = {p.name: table.shape(p.type) for p in parameters(func)}
            _Resolver(table, results).block(func.body, {**known, **given})
    return ast


def _walk(node: c_ast.Node) -> Iterator[c_ast.Node]:
    yield node
    for child in node:
        yield from _walk(child)


def _named(node: c_ast.Node) -> str:
    """The function that is called, without the prefix; empty if it has none."""
    name = getattr(node.name, "name", "") if isinstance(node, c_ast.FuncCall) else ""
    return str(name).removeprefix(STD) if str(name).startswith(STD) else ""


class _Resolver:
    def __init__(self, table: TypeTable, results: Types) -> None:
        self.table = table
        self.results = results

    def block(self, node: c_ast.Node, known: dict[str, DeclaredType]) -> None:
        """Statements and expressions inside a node; what is declared in it is known behind that."""
        inner = dict(known) if isinstance(node, (c_ast.Compound, c_ast.For)) else known
        for name, child in node.children():
            self.block(child, inner)
            if isinstance(child, c_ast.Decl) and child.name:
                inner[child.name] = self.table.shape(child.type)
            if _named(child):
                _replace(node, name, self.resolved(child, inner))

    def resolved(self, call: c_ast.FuncCall, known: Types) -> c_ast.Node:
        name, args = _named(call), list(getattr(call.args, "exprs", None) or ())
        types = [self.type_of(a, known) for a in args]
        if not args or any(t is None for t in types):
            raise _refused(call, name, "an argument of it has a type that cannot be read")
        found = [t for t in types if t is not None]
        if name in _CHOICES and len(args) == 2:
            return _choice(call, name, args)
        plain = _function(name, found)
        if plain is None or plain not in PURE_NAMES:
            raise _refused(call, name, "it is not known to compute a value from its arguments alone")
        return c_ast.FuncCall(c_ast.ID(plain, call.name.coord), call.args, call.coord)

    def type_of(self, node: c_ast.Node, known: Types) -> CType | None:
        """The arithmetic type of an expression."""
        if isinstance(node, c_ast.Constant):
            return None if node.type == "char" else literal_ctype(node)  # a char in C++, an int in C
        if isinstance(node, c_ast.BinaryOp):
            if node.op in _COMPARE:
                return INT
            return operation(node.op, self.type_of(node.left, known), self.type_of(node.right, known))
        if isinstance(node, c_ast.TernaryOp):
            return operation("?", self.type_of(node.iftrue, known), self.type_of(node.iffalse, known))
        if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-", "~", "!"):
            inner = self.type_of(node.expr, known)
            return None if inner is None else INT if node.op == "!" else promote(inner)
        if isinstance(node, c_ast.FuncCall):
            return self._result(str(getattr(node.name, "name", "")))
        shape = self.table.shape(node.to_type) if isinstance(node, c_ast.Cast) else self._shape(node, known)
        return None if shape is None or shape.declarators or shape.struct is not None else as_value(shape.elem)

    def _result(self, name: str) -> CType | None:
        if name in self.results:
            shape = self.results[name]
            return None if shape.declarators else as_value(shape.elem)
        plain = name.removeprefix("__builtin_")
        if name not in MATH_NAMES:
            return INT if plain in ("abs", *_CLASSIFY) else None
        return DOUBLE if MATH_NAMES[name] == plain else FLOAT if plain.endswith("f") else LONG_DOUBLE

    def _shape(self, node: c_ast.Node, known: Types) -> DeclaredType | None:
        if isinstance(node, c_ast.ID):
            return known.get(node.name)
        if isinstance(node, c_ast.StructRef):
            outer = self._shape(node.name, known)
            return None if outer is None else self.table.member(outer.struct, node.field.name)
        if isinstance(node, c_ast.ArrayRef):
            outer = self._shape(node.name, known)
        elif isinstance(node, c_ast.UnaryOp) and node.op == "*":
            outer = self._pointer(node.expr, known)
        else:
            return None
        if outer is None or not outer.declarators:
            return None
        return DeclaredType(outer.declarators[1:], outer.elem, outer.struct)

    def _pointer(self, node: c_ast.Node, known: Types) -> DeclaredType | None:
        """The shape of a pointer that others may be added to."""
        if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-"):
            return self._pointer(node.left, known) or self._pointer(node.right, known)
        found = self._shape(node, known)
        return found if found is not None and found.declarators else None


def _function(name: str, types: list[CType]) -> str | None:
    """The compiler's own function for arguments of these types."""
    floats = [t for t in types if t.kind == "float"]
    if name == "abs" and not floats:
        t = promote(types[0])
        return f"__builtin_{_ABS[t.bits]}" if t.signed and t.bits in _ABS else None
    if name in _CLASSIFY:
        return f"__builtin_{name}" if len(floats) == len(types) else None
    if name in _BY_FIRST:
        types, floats = types[:1], [t for t in types[:1] if t.kind == "float"]
    whole = len(floats) == len(types)
    bits = max((t.bits for t in floats), default=DOUBLE.bits)
    suffix = _SUFFIX.get(bits if whole else max(bits, DOUBLE.bits))
    plain = f"__builtin_{'fabs' if name == 'abs' else name}{suffix}"
    return plain if suffix is not None and plain in MATH_NAMES else None


def _choice(call: c_ast.FuncCall, name: str, args: list[c_ast.Node]) -> c_ast.Node:
    """The second argument if the comparison holds, else the first. Both are evaluated twice, so neither may change."""
    if any(isinstance(n, (c_ast.Assignment, c_ast.FuncCall)) or getattr(n, "op", "") in ("++", "--", "p++", "p--")
           for a in args for n in _walk(a)):  # fmt: skip
        calls = [n for a in args for n in _walk(a) if isinstance(n, c_ast.FuncCall)]
        if len(calls) == 0 or any(str(getattr(c.name, "name", "")) not in PURE_NAMES for c in calls):
            raise _refused(call, name, "its arguments would be evaluated twice")
    op, swapped = _CHOICES[name]
    first, second = args
    left, right = (second, first) if swapped else (first, second)
    test = c_ast.BinaryOp(op, copy.deepcopy(left), copy.deepcopy(right), call.coord)
    return c_ast.TernaryOp(test, copy.deepcopy(second), copy.deepcopy(first), call.coord)


def _replace(parent: c_ast.Node, name: str, new: c_ast.Node) -> None:
    """Put a node in the place of a child, whose name pycparser spells with an index in lists."""
    field, _, index = name.partition("[")
    if not index:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[int(index.rstrip("]"))] = new


def _refused(call: c_ast.FuncCall, name: str, why: str) -> Unsupported:
    loc = location(call, Loc("", 0))
    hint = "put the value into a variable before the region"
    return Unsupported("not-c", f"`std::{name}` is called here: {why}", loc, hint)
