"""Which calls may stand in a statement: those that only compute a value from their arguments."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from codegen.frontend.syntax.declarators import parameters

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


def is_pure(name: str, declared: frozenset[str], functions: Mapping[str, c_ast.FuncDef], depth: int = 0) -> bool:
    """May `name` be called any number of times, in any order, without anyone noticing?"""
    if name in declared:
        return True
    if name in functions:
        return depth < 8 and _pure_body(functions[name], declared, functions, depth)
    return name in PURE_NAMES


def _pure_body(
    func: c_ast.FuncDef, declared: frozenset[str], functions: Mapping[str, c_ast.FuncDef], depth: int
) -> bool:
    """A body that reads and writes its own variables only: no pointers, no loops that might not end."""
    own: set[str] = set()
    for p in parameters(func):
        if not isinstance(p.type, c_ast.TypeDecl):
            return False
        own.add(p.name)
    return all(_pure_node(n, own, declared, functions, depth) for n in func.body.block_items or ())


def _pure_node(
    node: c_ast.Node, own: set[str], declared: frozenset[str], functions: Mapping[str, c_ast.FuncDef], depth: int
) -> bool:
    if isinstance(node, c_ast.Decl):
        if not isinstance(node.type, c_ast.TypeDecl) or "static" in (node.storage or ()):
            return False
        own.add(node.name)
    if isinstance(node, c_ast.FuncCall):
        args = getattr(node.args, "exprs", None) or ()
        return is_pure(getattr(node.name, "name", ""), declared, functions, depth + 1) and all(
            _pure_node(a, own, declared, functions, depth) for a in args
        )
    if isinstance(node, c_ast.ID):
        return node.name in own
    if isinstance(node, c_ast.UnaryOp) and node.op in ("&", "*"):
        return False
    banned = (c_ast.While, c_ast.DoWhile, c_ast.For, c_ast.Goto, c_ast.Label, c_ast.ArrayRef, c_ast.StructRef)
    if isinstance(node, banned):
        return False
    return all(_pure_node(child, own, declared, functions, depth) for child in node if not _is_type(child))


def _is_type(node: c_ast.Node) -> bool:
    return isinstance(node, (c_ast.TypeDecl, c_ast.Typename, c_ast.IdentifierType))
