"""Returns the condition under which a guard against padding entries holds in all iterations of inner loops, the guard
at its worst values, or None: sums.py tests it before the loops, which then need no guard inside."""
from __future__ import annotations

from codegen.sparse.algebra.expr import Call, Exp, Name, single, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import calls, coefficient, names, subst
from codegen.sparse.ir.nest import For, Let, Level
from codegen.sparse.synth.model import Layout


def extreme(lay: Layout, c: Constraint, tail: list[Level]) -> Constraint | None:
    """A guard with inner loop variables at the value that is worst for it; None when that is not known."""
    if c.equal:
        return None
    e = c.exp
    for x in reversed(tail):
        if isinstance(x, Let):
            e = subst(e, {x.var: x.value})
        elif isinstance(x, For):
            worst = _worst(lay, e, x)
            if worst is None:
                return None
            e = worst
    return Constraint(e)


def _worst(lay: Layout, e: Exp, x: For) -> Exp | None:
    c = coefficient(e, Name(x.var))
    rest = e - var(x.var) * c
    if x.var in names(rest):
        found = [k for k in calls(rest) if k.args == (var(x.var),) and coefficient(rest, k)]
        if len(found) != 1 or c or not _rises(lay, found[0]):
            return None
        c = coefficient(rest, found[0])
        rest = rest - Exp(((found[0], c),))
        if x.var in names(rest):
            return None
        return rest + Exp(((Call(found[0].id, ((x.low if c > 0 else x.high - 1),)), c),))
    if not c:
        return e
    return rest + (x.low if c > 0 else x.high - 1) * c


def _rises(lay: Layout, k: Call) -> bool:
    return any(single(q.key) == k and not q.down for q in lay.desc.quantifiers)
