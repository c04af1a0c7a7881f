"""Functions on expressions (expr.py): list their atoms, names and calls, substitute, rename, and solve `e = 0` for an
atom."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from codegen.sparse.algebra.expr import Atom, Call, Code, Decoded, Div, Exp, Name, Prod, atom, div, mod, num, product


def inner(a: Atom) -> tuple[Exp, ...]:
    """The expressions inside an atom. Extents of a code are none of them: they say which code it is."""
    if isinstance(a, (Call, Code)):
        return a.args
    if isinstance(a, Prod):
        return (a.left, a.right)
    return () if isinstance(a, Name) else (a.of,)


def atoms(e: Exp) -> Iterator[Atom]:
    """Every atom, also inside others, outermost first."""
    for a, _ in e.terms:
        yield a
        for part in inner(a):
            yield from atoms(part)


def names(e: Exp) -> frozenset[str]:
    return frozenset(a.id for a in atoms(e) if isinstance(a, Name))


def calls(e: Exp) -> tuple[Call, ...]:
    return tuple(a for a in atoms(e) if isinstance(a, Call))


def functions(e: Exp) -> frozenset[str]:
    return frozenset(c.id for c in calls(e))


def rewrite(e: Exp, f: Callable[[Atom], Exp | None]) -> Exp:
    """Replace atoms bottom-up; f answers None to keep one."""
    out = num(e.const)
    for a, c in e.terms:
        out = out + _rebuilt(a, f) * c
    return out


def _rebuilt(a: Atom, f: Callable[[Atom], Exp | None]) -> Exp:
    if isinstance(a, Name):
        found = f(a)
        return atom(a) if found is None else found
    parts = tuple(rewrite(p, f) for p in inner(a))
    if isinstance(a, Call):
        new = Call(a.id, parts)
        found = f(new)
        return atom(new) if found is None else found
    if isinstance(a, Prod):
        return product(parts[0], parts[1])
    if isinstance(a, (Code, Decoded)):
        extents = tuple(rewrite(x, f) for x in a.extents)
        return atom(Code(parts, extents) if isinstance(a, Code) else Decoded(parts[0], a.at, extents))
    return div(parts[0], a.by) if isinstance(a, Div) else mod(parts[0], a.by)


def subst(e: Exp, values: Mapping[str, Exp]) -> Exp:
    """Names replaced by expressions."""
    return rewrite(e, lambda a: values.get(a.id) if isinstance(a, Name) else None)


def rename_calls(e: Exp, names_: Mapping[str, str]) -> Exp:
    """Functions renamed."""
    return rewrite(e, lambda a: atom(Call(names_[a.id], a.args)) if isinstance(a, Call) and a.id in names_ else None)


def coefficient(e: Exp, a: Atom) -> int:
    return next((c for b, c in e.terms if b == a), 0)


def solve(e: Exp, a: Atom) -> Exp | None:
    """x with e = 0 equivalent to a = x; None unless the coefficient is ±1 and `a` occurs nowhere else.

    Where `a` is one of the numbers of a code, e = 0 says more than a = x, which reads it back: the code's other numbers
    follow, too.
    """
    c = coefficient(e, a)
    if c not in (1, -1):
        return _decoded(e, a)
    rest = e - atom(a) * c
    return None if a in set(atoms(rest)) else rest * -c


def _decoded(e: Exp, a: Atom) -> Exp | None:
    for code, c in e.terms:
        if c in (1, -1) and isinstance(code, Code) and atom(a) in code.args:
            rest = e - atom(code) * c
            whole = a not in set(atoms(rest)) and code.args.count(atom(a)) == 1
            return atom(Decoded(rest * -c, code.args.index(atom(a)), code.extents)) if whole else None
    return None
