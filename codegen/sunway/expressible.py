"""Checks that a slave file can express a region. Raises Unsupported for calls that are no math functions, for values
and parameters that are no plain variables, and for arrays that cores cannot reach, or whose type or size they do not
know."""

from __future__ import annotations

import re

from codegen.diagnostics import Unsupported
from codegen.scop.expr import Call, Sym
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop

_WORD = re.compile(r"[A-Za-z_]\w*")
_MATH = frozenset(
    {
        *("abs", "labs", "lround", "fma"),
        *(f"{f}{x}" for x in ("", "f") for f in (
            "sqrt", "exp", "exp2", "log", "log2", "log10", "pow", "fabs", "fmin", "fmax", "fmod", "sin", "cos", "tan",
            "asin", "acos", "atan", "atan2", "tanh", "ceil", "floor", "round", "rint", "trunc", "cbrt", "hypot", "erf",
            "erfc", "copysign")),
    }
)  # fmt: skip


def check_expressible(scop: Scop) -> None:
    """Raises Unsupported for what the slave file cannot say."""
    for s in scop.statements:
        for e in (x for v in (s.rhs,) for x in walk_expr(v)):
            if isinstance(e, Call) and e.name not in _MATH:
                raise Unsupported("sunway-call", f"`{e.name}` cannot be called on compute cores", s.loc)
            if isinstance(e, Sym) and (e.ctype is None or not re.fullmatch(_WORD, e.text)):
                raise Unsupported("sunway-value", f"`{e.text}` cannot be passed to compute cores", s.loc)
        for a in s.accesses:
            array = scop.arrays[a.array]
            if array.inside:
                continue
            if not re.fullmatch(_WORD, array.base) or array.depth > 1 or any(
                x.kind not in ("sub", "flat") and not x.count for x in a.path
            ):
                raise Unsupported("sunway-array", f"`{array.name}` cannot be reached from compute cores", s.loc,
                                  "pass it as a plain array")
            if array.elem.kind == "other":
                raise Unsupported("sunway-array", f"elements of `{array.name}` are of no plain type", s.loc)
        known = {p.text for p in scop.params}
        for used in (scop.arrays[x.array] for x in s.accesses):
            if not used.inside and any(w not in known for e in used.extents[1:] for w in _WORD.findall(e)):
                raise Unsupported("sunway-array", f"the size of `{used.name}` is not known to compute cores", s.loc,
                                  "use a variable or a plain number")
    for p in scop.params:
        if not re.fullmatch(_WORD, p.text):
            raise Unsupported("sunway-value", f"`{p.text}` cannot be passed to compute cores", scop.loc,
                              "copy it into a variable first")
