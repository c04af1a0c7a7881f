"""The region with scalars forwarded (`forwarded`): sums that a scalar gathers for an array element are gathered in the
element itself, with the `forward` directives for that. Only products gain from it."""

from __future__ import annotations

from codegen.diagnostics import InputError
from codegen.plan.model import Directive, Forward
from codegen.recognize.products.forward import candidates
from codegen.transform.apply import apply
from codegen.transform.program import Program


def forwarded(source: Program) -> tuple[Program, tuple[Directive, ...]]:
    """All scalars for which that changes nothing; the region as it is, and no directive, where there is none."""
    p, done = source, list[Directive]()
    for name in candidates(source.scop):
        d = Forward(name)
        try:
            p = apply(p, d)
        except InputError:
            continue
        done.append(d)
    return p, tuple(done)
