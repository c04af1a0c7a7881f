"""Chooses temporaries whose values are computed where they are read (`substitute` directives): those that are a name
for a part of a product's step."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.diagnostics import Diagnostic, InputError, Severity
from codegen.plan.model import Directive, Substitute
from codegen.recognize.products.contraction import NoContraction, contraction, gathers
from codegen.recognize.products.substitution import candidates, readers, without_variable
from codegen.scop.model import Scop, Statement
from codegen.transform.apply import apply
from codegen.transform.program import Program

MANY = 12  # temporaries beyond which none is looked at: a step has few


def substituted(source: Program) -> tuple[Program, tuple[Directive, ...]]:
    """Temporaries that hide matrix products by their accesses; the region as it is, and no directive, where there are
    none."""
    names = candidates(source.scop)
    p, done = source, list[Directive]()
    for name in _hiding(source.scop, names, source.reassociate) if len(names) <= MANY else ():
        d = Substitute(name)
        try:
            p = apply(p, d)
        except InputError:
            continue
        done.append(d)
    return p, tuple(done)


def remark(scop: Scop, names: Iterable[str]) -> Diagnostic:
    """That values stand where temporaries were read."""
    text = (
        f"{', '.join(f'`{n}`' for n in names)}: the value is computed where it is read, as a part of a product's step"
    )
    return Diagnostic(Severity.REMARK, "substituted", text, scop.loc, kind="passed")


def _hiding(scop: Scop, names: Iterable[str], free: bool) -> tuple[str, ...]:
    """Those whose values come to a statement that is a product without any of them."""
    after = scop
    for name in names:
        after = without_variable(after, name) or after
    left = [n for n in names if n not in after.arrays]
    to = readers(scop, dict.fromkeys(left))
    products = {s.name for s in after.statements if s is not _before(scop, s) and _is_product(after, s, free)}
    return tuple(n for n in left if to[n] & products)


def _before(scop: Scop, s: Statement) -> Statement:
    return scop.statement(s.name)


def _is_product(scop: Scop, s: Statement, free: bool) -> bool:
    """Could the statement be a matrix product, by its accesses alone?"""
    if len(s.iterators) < 3 or not gathers(s):
        return False
    return any(_columns(scop, s, depth, free) for depth in range(len(s.iterators) - 2))


def _columns(scop: Scop, s: Statement, depth: int, free: bool) -> bool:
    try:
        found = contraction(scop, s, range(depth), free)
    except NoContraction:
        return False
    return bool(found.columns and found.step.left and found.step.right)
