"""Matrix-vector products of one matrix: a strip of the matrix for all of them, before the next strip is read.

Each product in a nest of its own would read the whole matrix from memory again. The loop that they share in the source
is cut into strips of lines that stay in the second cache; inside a strip every statement has its own nest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import lcm

from codegen.diagnostics import InputError
from codegen.machine import Machine
from codegen.plan.distribute import below, circles, only
from codegen.plan.matvec import form_of, lanes_of, sizes
from codegen.plan.model import Directive, Distribute, LoopRef, Tile
from codegen.recognize.strides import coefficients
from codegen.record import record
from codegen.scop.distance import same_value
from codegen.scop.expr import Ref
from codegen.scop.product import Contraction
from codegen.scop.tree import Band, Loop, Node, enclosing, kids, Seq, seq, statements
from codegen.transform.apply import apply
from codegen.transform.program import Program

# Lines in a strip: enough to make little of the ends, few enough to stay in the second cache. Neoverse N1, f64,
# 4000 x 4000, the two products of bicg: 13.0 ms in strips of 4, 13.2 of 8, 13.7 of 16, 13.9 of 32, 15.7 one by one.
MOST_LINES = 16
# Up to so many threads, one that reads the matrix once is as fast as all that read it twice.
FEW_THREADS = 2

Find = Callable[[str, int], "Contraction | None"]


@record
class Strip:
    """One part of the region in strips: its tree, the directives that cut it, and its products."""

    tree: Node
    lines: int
    shape: tuple[Directive, ...]
    products: tuple[Contraction, ...]


def parts_of(tree: Node) -> tuple[Node, ...]:
    """What a region consists of, one after the other."""
    return kids(tree) if isinstance(tree, Seq) else (tree,)


def strip(p: Program, part: Node, find: Find, machine: Machine) -> Strip | None:
    """The part in strips; None where it has no two products of one matrix, or they cannot be had in strips."""
    if not isinstance(part, Band):
        return None
    names = statements(part)
    found = [(n, find(n, 0)) for n in names]
    products = [what for _, what in found if what is not None]
    if any(what.columns for what in products) or not _shared(p, products):
        return None
    forms = {what.stmt: form_of(p, p.scop.statement(what.stmt), what) for what in products}
    if "lanes" in forms.values() and machine.cores > FEW_THREADS:
        return None
    loop = enclosing(p.tree, names[0])[0]
    if any(sum(coefficients(v, v.dim_in()) or ()) < 0 for v in loop.exprs.values()):
        return None
    lines = strip_lines([(forms[what.stmt], what) for what in products], machine)
    first = LoopRef(loop.name, names[0])
    made = Strip(_tree(p, part, loop), lines, (Tile(((first, lines),)), Distribute(first)), tuple(products))
    return made if _legal(p, part, made) else None


def _shared(p: Program, products: list[Contraction]) -> bool:
    """Do two of the products use one matrix?"""
    seen: set[str] = set()
    for what in products:
        s = p.scop.statement(what.stmt)
        mine = {s.accesses[e.access].array for e in what.step.left if isinstance(e, Ref)}
        if mine & seen:
            return True
        seen |= mine
    return False


def strip_lines(products: list[tuple[str, Contraction]], machine: Machine) -> int:
    """A number of lines that all the products take in whole groups."""
    total = 1
    for form, what in sorted(products, key=lambda x: x[0]):
        streams = sizes(form, lanes_of(machine, what))[1]
        fitting = (n for n in range(streams, 0, -1) if lcm(total, n) <= MOST_LINES)
        total = lcm(total, next(fitting, 1) if form == "lanes" else streams)
    return total * max(1, MOST_LINES // 2 // total)


def _tree(p: Program, part: Band, loop: Loop) -> Node:
    """The part with one nest for each statement below the shared loop, as far as dependences allow."""
    names = statements(part)
    inside = same_value(p.must, loop.exprs)
    parts = [below(only(part, circle), 1) for circle in circles(p.scop, inside, names)]
    return Band((replace(loop, exprs={n: loop.exprs[n] for n in names}),), seq(parts))


def _legal(p: Program, part: Node, made: Strip) -> bool:
    """Can the region be cut in this way?"""
    others = [made.tree if x is part else x for x in parts_of(p.tree)]
    q = p.with_tree(seq(others))
    try:
        for d in made.shape:
            q = apply(q, d)
    except InputError:
        return False
    return True
