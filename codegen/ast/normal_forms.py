"""Normal forms of integer expressions of the C tree: equal forms have equal values.

A form is a sum of terms with whole factors, and a constant. Terms are whatever is no sum: names, quotients, minima.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.ast.ctree import Bin, CExpr, Int, Name, Neg, expr_kids, expr_names, substitute

Form = tuple[frozenset[tuple[object, int]], int]


def form(e: CExpr) -> Form:
    known: Form | None = e.__dict__.get("_form")
    if known is None:  # proofs ask for the same expressions again and again
        terms: dict[object, int] = {}
        constant = _add(e, 1, terms)
        known = e.__dict__["_form"] = frozenset((t, c) for t, c in terms.items() if c), constant
    return known


def shifted(e: CExpr, by: Mapping[str, int]) -> Form:
    """The form where variables are so much larger."""
    terms, constant = form(e)
    for t, c in terms:
        if isinstance(t, str):
            constant += c * by.get(t, 0)
        elif not by.keys().isdisjoint(expr_names(e)):
            return form(substitute(e, {x: Bin("+", Name(x), Int(k)) for x, k in by.items() if k}))
    return terms, constant


def forms(index: Sequence[CExpr]) -> tuple[Form, ...]:
    return tuple(map(form, index))


def later(e: CExpr, var: str, by: int) -> Form:
    """The form where a variable is so much larger."""
    return shifted(e, {var: by})


def plus(f: Form, by: int) -> Form:
    return f[0], f[1] + by


def difference(a: Form, b: Form) -> int | None:
    """a - b, where that is a number."""
    return a[1] - b[1] if a[0] == b[0] else None


def constant(e: CExpr) -> int | None:
    terms, value = form(e)
    return None if terms else value


def _add(e: CExpr, times: int, terms: dict[object, int]) -> int:
    """Add the terms of an expression; its constant is returned."""
    if isinstance(e, Int):
        return times * e.value
    if isinstance(e, Neg):
        return _add(e.arg, -times, terms)
    if isinstance(e, Bin) and e.op in ("+", "-"):
        return _add(e.left, times, terms) + _add(e.right, times if e.op == "+" else -times, terms)
    if isinstance(e, Bin) and e.op == "*":
        for one, other in ((e.left, e.right), (e.right, e.left)):
            factor = constant(one)
            if factor is not None:
                return _add(other, times * factor, terms)
    term = _term(e)
    terms[term] = terms.get(term, 0) + times
    return 0


def _term(e: CExpr) -> object:
    if isinstance(e, Name):
        return e.name
    what = getattr(e, "op", None) or getattr(e, "name", "")
    return type(e).__name__, what, tuple(map(form, expr_kids(e)))
