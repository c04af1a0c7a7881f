"""Returns the steps that count source entries the destination has no place for, before anything is stored: the
conversion then gives up with RANGE. No steps where there can be none."""
from __future__ import annotations

from codegen.sparse.algebra.affine import implied
from codegen.sparse.algebra.expr import num, var
from codegen.sparse.algebra.relation import Constraint, equal
from codegen.sparse.algebra.terms import subst
from codegen.sparse.ir.model import Define, Loop, Require, Step
from codegen.sparse.ir.nest import Guard
from codegen.sparse.ir.statement import Store
from codegen.sparse.synth.members import let_facts, shape_facts
from codegen.sparse.synth.pair import Pair
from codegen.sparse.synth.stream import Stream

COUNT = "outside"


def inside(p: Pair, stream: Stream) -> tuple[Step, ...]:
    """Steps that count the entries outside, and leave where there are any. Nothing where the source has none."""
    names = {t: var(s) for t, s in zip(p.target.coords, p.source.coords, strict=True)}
    facts = (*shape_facts(p.source), *let_facts(p.source), *let_facts(p.target), *p.source.members)
    out: list[Step] = []
    for c in p.target.members:
        said = Constraint(subst(c.exp, names), c.equal)
        if implied(facts, said):
            continue
        for other in _others(c):
            test = Guard((Constraint(stream.at(p.target, other.exp)),))
            out.append(Loop((*stream.nest, test), (Store(COUNT, None, num(1), "+="),), f"entries outside {said}"))
    if not out:
        return ()
    return (Define(COUNT, num(0)), *out, Require(equal(var(COUNT), num(0)), "RANGE"))


def _others(c: Constraint) -> tuple[Constraint, ...]:
    """Where the constraint does not hold."""
    below = Constraint(c.exp * -1 - 1)
    return (below, Constraint(c.exp - 1)) if c.equal else (below,)
