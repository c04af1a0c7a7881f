"""Integer expressions of the C tree as sums of names with factors, and their values at a typical point."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ast.ctree import Bin, CExpr, Cond, Fun, Int, Name, Neg
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


def linear(e: CExpr) -> Linear | None:
    """The expression as a sum; None where it is none."""
    if isinstance(e, Int):
        return Linear((), e.value)
    if isinstance(e, Name):
        return Linear(((e.name, 1),), 0)
    if isinstance(e, Neg):
        inner = linear(e.arg)
        return None if inner is None else inner.scaled(-1)
    if not isinstance(e, Bin) or e.op not in ("+", "-", "*"):
        return None
    left, right = linear(e.left), linear(e.right)
    if left is None or right is None:
        return None
    if e.op != "*":
        return left.plus(right, 1 if e.op == "+" else -1)
    if not left.terms:
        return right.scaled(left.constant)
    return left.scaled(right.constant) if not right.terms else None


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
