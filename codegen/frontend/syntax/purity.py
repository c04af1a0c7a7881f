"""Decides whether a function may be called in a statement of the model (`is_pure`): it was declared pure, is a known
math function, or has a body in this file that uses nothing but its own numbers, constant tables and such functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pycparser import c_ast

from codegen.frontend.syntax.declarators import parameters
from codegen.record import record
from codegen.scop.dialect import STANDARD, Dialect

_MATH = (
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "rint",
    "round",
    "roundeven",
    "scalbn",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
)
_BUILTIN = (
    "isnan", "isinf", "isinf_sign", "isfinite", "isnormal", "signbit", "isgreater", "isgreaterequal", "isless",
    "islessequal", "islessgreater", "isunordered", "finite", "fpclassify", "llabs", "huge_val", "huge_valf",
    "huge_vall", "inf", "inff", "infl", "popcount", "popcountl", "popcountll", "clz", "clzl", "clzll", "ctz", "ctzl",
    "ctzll", "parity", "bswap16", "bswap32", "bswap64", "expect",
)  # fmt: skip
_OTHER = (
    "isnormal",
    "isgreater",
    "isgreaterequal",
    "isless",
    "islessequal",
    "islessgreater",
    "isunordered",
    "fpclassify",
    "finite",
    "ilogb",
    "ilogbf",
    "ilogbl",
    "lroundf",
    "lroundl",
    "llroundf",
    "llroundl",
    "lrintf",
    "lrintl",
    "llrintf",
    "llrintl",
    "scalbln",
    "scalblnf",
    "nexttoward",
    "imaxabs",
    "abs",
    "labs",
    "llabs",
    "lround",
    "llround",
    "lrint",
    "llrint",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "cabs",
    "creal",
    "cimag",
    "conj",
    "cexp",
    "csqrt",
    "min",
    "max",
    "imin",
    "imax",
    "MIN",
    "MAX",
)
NANS = frozenset(f"{p}nan{s}" for p in ("", "__builtin_") for s in ("", "f", "l"))  # with a text as argument
# Functions whose result has the floating type that their name's ending tells, and their names without it.
MATH_NAMES = {p + m + s: m for p in ("", "__builtin_") for m in _MATH for s in ("", "f", "l")}
PURE_NAMES = frozenset(
    [*MATH_NAMES, *_OTHER]
    + ["__builtin_" + m + s for m in ("abs", "labs") for s in ("", "f", "l")]
    + ["__builtin_" + m for m in _BUILTIN]
    + [f"__{m}{s}" for m in ("isnan", "isinf", "finite", "signbit", "fpclassify") for s in ("", "f", "l")]
    + [f"c{m}{s}" for m in ("abs", "arg", "real", "imag", "exp", "log", "pow", "sqrt") for s in ("", "f", "l")]
    + ["conjf", "conjl"]
)


_LOOPS = (c_ast.While, c_ast.DoWhile, c_ast.For, c_ast.Goto, c_ast.Label)


def is_pure(
    name: str,
    declared: frozenset[str],
    functions: Mapping[str, c_ast.FuncDef],
    loops: bool = False,
    dialect: Dialect = STANDARD,
) -> bool:
    """May `name` be called any number of times, in any order, without anyone noticing? With `loops` it may hold loops
    and jumps, as functions do that are called where they cannot be written out."""
    return _Body(declared, functions, loops, dialect).calls(name)


def is_known(name: str, dialect: Dialect) -> bool:
    """Is it a function of the standard library that only computes a value, and does no other have its name?"""
    own = name.startswith("__builtin_") or (dialect.known_library and name not in dialect.unknown)
    return own and name in PURE_NAMES


@record
class _Body:
    """Bodies that read and write their own variables only, and tables of constants: no pointers."""

    declared: frozenset[str]
    functions: Mapping[str, c_ast.FuncDef]
    loops: bool
    dialect: Dialect
    depth: int = 0

    def calls(self, name: str) -> bool:
        if name in self.declared:
            return True
        if name in self.functions:
            return self.depth < 8 and replace(self, depth=self.depth + 1)._function(self.functions[name])
        return is_known(name, self.dialect)

    def _function(self, func: c_ast.FuncDef) -> bool:
        if not all(isinstance(p.type, c_ast.TypeDecl) for p in parameters(func)):
            return False
        numbers, tables = {str(p.name) for p in parameters(func)}, set[str]()
        return all(self._node(n, numbers, tables) for n in func.body.block_items or ())

    def _node(self, node: c_ast.Node, numbers: set[str], tables: set[str]) -> bool:
        """Is nothing looked at or changed but these variables, and elements of these tables? Declarations add some."""
        if isinstance(node, c_ast.Decl):
            if not self._declared(node, numbers, tables):
                return False
        elif isinstance(node, c_ast.FuncCall):
            args = getattr(node.args, "exprs", None) or ()
            return self.calls(getattr(node.name, "name", "")) and all(self._node(a, numbers, tables) for a in args)
        elif isinstance(node, c_ast.ArrayRef):
            table = isinstance(node.name, c_ast.ID) and node.name.name in tables
            return table and self._node(node.subscript, numbers, tables)
        elif isinstance(node, c_ast.ID):
            return node.name in numbers
        elif isinstance(node, (c_ast.StructRef, *(() if self.loops else _LOOPS))) or _is_address(node):
            return False
        return all(self._node(child, numbers, tables) for child in node if not _is_type(child))

    def _declared(self, node: c_ast.Decl, numbers: set[str], tables: set[str]) -> bool:
        kept = "static" in (node.storage or ())
        if isinstance(node.type, c_ast.ArrayDecl) and isinstance(node.type.type, c_ast.TypeDecl):
            tables.add(str(node.name))
            numbers.discard(str(node.name))
            constants = isinstance(node.init, c_ast.InitList) and all(map(_is_number, node.init.exprs))
            return kept and "const" in (node.type.type.quals or ()) and constants
        numbers.add(str(node.name))
        tables.discard(str(node.name))
        return isinstance(node.type, c_ast.TypeDecl) and not kept


def _is_address(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op in ("&", "*")


def _is_number(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.UnaryOp) and node.op in ("-", "+"):
        return _is_number(node.expr)
    return isinstance(node, c_ast.Constant)


def _is_type(node: c_ast.Node) -> bool:
    return isinstance(node, (c_ast.TypeDecl, c_ast.Typename, c_ast.IdentifierType, c_ast.ArrayDecl))
