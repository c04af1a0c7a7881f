"""Decides whether a result for several threads should run the loops as they were written when there is one thread
(`threads_only`): where the plan only shares out the source's loops, and no tests in them are gone (`peeled` says
whether loops were taken apart for that)."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ast.ctree import CNode, For, If, Instance, walk
from codegen.ast.generate import generate as generate_ast
from codegen.ast.peel import has_tests
from codegen.plan.model import Parallel, Schedule
from codegen.region import ProvenRegion
from codegen.scop.model import Scop
from codegen.strategy.cost.cycles import shape
from codegen.transform.program import Program


def threads_only(source: Program, made: ProvenRegion) -> bool:
    """Does the plan share out the loops of the source, and nothing else? Then one thread does best with what was
    written: mask-pattern takes 1.24 of its time in loops from isl, upsample-linear 1.33. Not where loops were taken
    apart, so that tests in them are gone: lattice_spin_energy takes 1.2 of the time as written. Nor where they go past
    points that a test of the source leaves out: relax_level, every other point, takes 1.4 of the time as written."""
    kinds = {type(d) for d in made.plan.directives} - {Schedule}
    shared = kinds == {Parallel} and shape(source) == shape(made.program)
    return shared and not peeled(made) and not _passes(source.scop, made.code)


def _passes(scop: Scop, code: CNode) -> bool:
    """Do all innermost loops take longer steps than those of the source, without a test in them and each statement in
    one of them? Then nothing is left of the points between."""
    found = list(walk(code))
    bodies = [(lp, list(walk(lp.body))) for lp in found if isinstance(lp, For)]
    innermost = [(lp, body) for lp, body in bodies if not any(isinstance(n, For) for n in body)]
    names = [n.stmt for n in found if isinstance(n, Instance)]
    plain = len(set(names)) == len(names) and not any(isinstance(n, If) for _, body in innermost for n in body)
    return plain and all(lp.step > _own_step(scop, body) for lp, body in innermost)


def _own_step(scop: Scop, body: Sequence[CNode]) -> int:
    """The longest step of the source's innermost loops around what a loop runs."""
    found = (scop.statement(n.stmt).steps for n in body if isinstance(n, Instance))
    return max((abs(steps[-1]) for steps in found if steps), default=1)


def peeled(made: ProvenRegion) -> bool:
    """Were loops taken apart where tests in them change, so that none is left with a test of its own variable?"""
    if has_tests(made.code):
        return False
    if _without_tests(made):
        return True
    whole = generate_ast(made.program.scop, made.tree, peel=False)
    return sum(1 for _ in walk(whole)) != sum(1 for _ in walk(made.code))


def _without_tests(made: ProvenRegion) -> bool:
    """Did isl take loops apart, and no test is left in any? Such as that of `i == p` in block_lu, which one thread runs
    in 0.62 of the instructions then."""
    found = list(walk(made.code))
    inside = any(isinstance(n, If) for lp in found if isinstance(lp, For) for n in walk(lp.body))
    return not inside and sum(isinstance(n, Instance) for n in found) > len(made.program.scop.statements)
