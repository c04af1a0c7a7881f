"""Decides whether a result for several threads should run the loops as they were written when there is one thread
(`threads_only`): where the plan only shares out the source's loops, and no tests in them are gone (`peeled` says
whether loops were taken apart for that); and whether it should with little work (`for_much_work`)."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.ast.ctree import CNode, For, If, Instance, walk
from codegen.ast.generate import generate as generate_ast
from codegen.ast.peel import has_tests
from codegen.plan.model import Balance, Distribute, Jam, Parallel, Pipeline, Plan, Schedule, Tile, Unskew, Vector
from codegen.region import ProvenRegion
from codegen.scop.model import Scop, Statement
from codegen.strategy.cost.cycles import shape
from codegen.transform.program import Program


def threads_only(source: Program, made: ProvenRegion) -> bool:
    """Does the plan share out the loops of the source, and nothing else? Then one thread does best with what was
    written: mask-pattern takes 1.24 of its time in loops from isl, upsample-linear 1.33. Not where loops were taken
    apart, so that tests in them are gone: lattice_spin_energy takes 1.2 of the time as written. Nor where they go past
    points that a test of the source leaves out: relax_level, every other point, takes 1.4 of the time as written."""
    kinds = {type(d) for d in made.plan.directives} - {Schedule}
    if Pipeline in kinds:
        shared = kinds <= {Balance, Parallel, Pipeline, Tile} and _wavefront(source, made.plan)
    else:
        shared = kinds == {Parallel} and shape(source) == shape(made.program)
    return shared and not peeled(made) and not _passes(source.scop, made.code)


def _wavefront(source: Program, plan: Plan) -> bool:
    """Are the loops of the source cut into tiles only so that threads can take rows of them in turn? Where each point
    has an element of its own, tiles bring nothing back into a cache, and cut what comes by whole lines from memory.
    Sums over rectangles, Neoverse N1, one thread, of gcc's speed in tiles: 500 x 500 0.96, 2000 x 1000 of f64 0.77."""
    trees = [d.tree for d in plan.directives if isinstance(d, Schedule)]
    own = all(_own_elements(s) for s in source.scop.statements)
    return own and len(trees) == 1 and shape(source.with_tree(trees[0])) == shape(source)


def _own_elements(s: Statement) -> bool:
    """Does every instance write another element?"""
    return bool(s.accesses[s.target].relation.is_injective())


def for_much_work(plan: Plan) -> bool:
    """Does all that a plan has to offer come of tiles that threads take in turn? With too little work for threads, the
    loops as written are in a cache in any case. Tiles over time, f64, Neoverse N1, one thread, of gcc's speed: 60
    points of 1-D 0.81, 12 x 12 0.73, 8 x 8 x 8 0.61; 40 x 40 for 20 steps 1.11."""
    kinds = {type(d) for d in plan.directives}
    return Pipeline in kinds and kinds <= {Balance, Distribute, Jam, Pipeline, Schedule, Tile, Unskew, Vector}


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
