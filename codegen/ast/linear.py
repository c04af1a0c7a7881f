"""Linear forms of integer expressions of the C tree (sums of names with factors), and their values at a typical
point."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ast.ctree import Bin, CExpr, Cond, Fun, Int, Name, Neg, expr_names
from codegen.record import record


@record
class Linear:
    """terms: names in order, each with a factor that is not zero."""

    terms: tuple[tuple[str, int], ...]
    constant: int

    def factor(self, name: str) -> int:
        return dict(self.terms).get(name, 0)

    def plus(self, other: Linear, times: int = 1) -> Linear:
        total = dict(self.terms)
        for name, factor in other.terms:
            total[name] = total.get(name, 0) + times * factor
        kept = tuple(sorted((n, f) for n, f in total.items() if f))
        return Linear(kept, self.constant + times * other.constant)

    def scaled(self, times: int) -> Linear:
        return Linear((), 0).plus(self, times)

    def shifted(self, by: int) -> Linear:
        return Linear(self.terms, self.constant + by)

    def expression(self) -> CExpr:
        """What is added first, then what is subtracted."""
        total: CExpr | None = None
        for name, factor in sorted(self.terms, key=lambda t: t[1] < 0):
            size = Name(name) if abs(factor) == 1 else Bin("*", Int(abs(factor)), Name(name))
            if total is None:
                total = size if factor > 0 else Neg(size)
            else:
                total = Bin("+" if factor > 0 else "-", total, size)
        if total is None or not self.constant:
            return Int(self.constant) if total is None else total
        return Bin("+" if self.constant > 0 else "-", total, Int(abs(self.constant)))


# Summands without a loop's variable, the variable's factor, and the constant.
Along = tuple[frozenset[tuple[CExpr, int]], int, int]


def summands(e: CExpr) -> tuple[dict[CExpr, int], int]:
    """The summands of an expression, each with a factor that is not zero, and its constant. What is no sum and no
    multiple is a summand itself."""
    found: dict[CExpr, int] = {}
    constant = _add(e, 1, found)
    return {t: factor for t, factor in found.items() if factor}, constant


def _add(e: CExpr, times: int, found: dict[CExpr, int]) -> int:
    """Add the summands of a multiple; its constant is returned."""
    if isinstance(e, Int):
        return times * e.value
    if isinstance(e, Neg):
        return _add(e.arg, -times, found)
    if isinstance(e, Bin) and e.op in ("+", "-"):
        sign = times if e.op == "+" else -times
        return _add(e.left, times, found) + _add(e.right, sign, found)
    if isinstance(e, Bin) and e.op == "*":
        for one, other in ((e.left, e.right), (e.right, e.left)):
            inner: dict[CExpr, int] = {}
            factor = _add(one, 1, inner)
            if not any(inner.values()):
                return _add(other, times * factor, found)
    found[e] = found.get(e, 0) + times
    return 0


def linear(e: CExpr) -> Linear | None:
    """The expression as a sum of names; None where it is none."""
    found, constant = summands(e)
    terms = [(t.name, factor) for t, factor in found.items() if isinstance(t, Name)]
    return Linear(tuple(sorted(terms)), constant) if len(terms) == len(found) else None


def along(e: CExpr, var: str) -> Along | None:
    """The expression as it moves with a loop's variable; None where it does not do so in equal steps."""
    found, constant = summands(e)
    factor = found.pop(Name(var), 0)
    return None if any(var in expr_names(t) for t in found) else (frozenset(found.items()), factor, constant)


def coefficient(e: CExpr, var: str) -> int | None:
    """What a step of the variable adds to the expression; None where that is not a constant."""
    if var not in expr_names(e):
        return 0
    found = along(e, var)
    return None if found is None else found[1]


def value(e: CExpr, at: Mapping[str, int], other: int) -> int:
    """The expression's value where names are as in `at`, and others are `other`."""
    if isinstance(e, Int):
        return e.value
    if isinstance(e, Name):
        return at.get(e.name, other)
    if isinstance(e, Neg):
        return -value(e.arg, at, other)
    if isinstance(e, Cond):
        return value(e.yes if value(e.cond, at, other) else e.no, at, other)
    if isinstance(e, Fun):
        args = [value(a, at, other) for a in e.args]
        if e.name == "floord":
            return args[0] // args[1] if args[1] else 0
        return min(args) if e.name == "min" else max(args)
    return _operation(e.op, value(e.left, at, other), value(e.right, at, other))


def _operation(op: str, a: int, b: int) -> int:
    if op in ("/", "%"):
        return 0 if not b else a // b if op == "/" else a % b
    results = {
        "+": a + b, "-": a - b, "*": a * b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b,
        "&&": a and b, "||": a or b,
    }  # fmt: skip
    return int(results[op])
