"""Strip mining of matrix-vector products: a few rows of the matrix serve all statements before the next ones are read.

Products of one matrix, each in a nest of its own, would read all of it from memory again. The loop that they share in
the source is cut into strips of lines that stay in the second cache; inside a strip every statement has its own nest.
Products whose sums are scalars of the region get a strip of sums in this way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import lcm

import islpy as isl

from codegen.diagnostics import InputError
from codegen.lower.matrix_vector import WIDE_ROWS
from codegen.machine import Machine
from codegen.machine.variants import has_variants
from codegen.plan.model import Directive, Distribute, LoopRef, Multiply, StoreIn, Tile
from codegen.recognize.access.strides import coefficients
from codegen.recognize.products.contraction import NoContraction, contraction
from codegen.recognize.products.matrix_vector import matrices
from codegen.record import record
from codegen.scop.distance import same_value
from codegen.scop.product import Contraction
from codegen.scop.tree import Band, Loop, Node, enclosing, parts_of, seq, statements
from codegen.strategy.cost.cycles import CALL, operations
from codegen.strategy.orders.distribution import below, only, strongly_connected
from codegen.strategy.products.matrix_vector import form_of, lanes_of, matvec_form, reason_against, sizes, strip_near
from codegen.strategy.products.pairs import pair_lines, paired
from codegen.transform.apply import apply
from codegen.transform.program import Program

# Lines in a strip: enough to make little of the ends, few enough to stay in the second cache. Neoverse N1, f64,
# 4000 x 4000, the two products of bicg: 13.0 ms in strips of 4, 13.2 of 8, 13.7 of 16, 13.9 of 32, 15.7 one by one.
MOST_LINES = 16
# Up to so many threads, one that reads the matrix once is as fast as all that read it twice. Neoverse N1, f64, two
# threads that share each product against one in strips, n = 400, 1000, 2000: atax 1.5, 1.3, 1.4, bicg 1.8, 1.4, 1.3.
FEW_THREADS = 1

Find = Callable[[str, int], "Contraction | None"]


@record
class Strip:
    """One part of the region in strips: its tree, the directives that cut it, its products, and those of them that
    share a kernel."""

    tree: Node
    lines: int
    shape: tuple[Directive, ...]
    products: tuple[Contraction, ...]
    paired: frozenset[str] = frozenset()


def strip(p: Program, part: Node, find: Find, machine: Machine) -> Strip | None:
    """The part in strips; None where that has no use or is not legal."""
    if not isinstance(part, Band):
        return None
    names = statements(part)
    usual = [what for what in (find(n, 0) for n in names) if what is not None]
    held = [what for what in (_held(p, n, machine) for n in names) if what is not None]
    if any(what.columns for what in usual) or not (held or _shared(p, usual)) or _calls(p, names):
        return None
    products = [*usual, *held]
    forms = {what.stmt: form_of(p, p.scop.statement(what.stmt), what, machine) for what in products}
    if "lanes" in forms.values() and machine.cores > FEW_THREADS:
        return None
    if "lanes" not in forms.values() and all(_whole(p, what) for what in products):
        return None
    loop = enclosing(p.tree, names[0])[0]
    if any(sum(coefficients(v, v.dim(isl.dim_type.in_)) or ()) < 0 for v in loop.exprs.values()):
        return None
    both = paired(p, products, forms)
    lines = strip_rows([(forms[what.stmt], what) for what in products], machine, both)
    tree = _tree(p, part, loop)
    shape = _shape(p, part, tree, LoopRef(loop.name, names[0]), lines, held)
    made = Strip(tree, lines, shape or (), tuple(products), both)
    return made if shape and _legal(p, part, made, machine) else None


def _calls(p: Program, names: tuple[str, ...]) -> bool:
    """Are there calls for every element? They take most of the time, and the sums get ready meanwhile. softmax-rows,
    Neoverse N1, of gcc's speed: 0.92 in strips, 1.01 in the source's order."""
    return any(len(s.iterators) > 1 and operations(s) >= CALL for s in map(p.scop.statement, names))


def _whole(p: Program, what: Contraction) -> bool:
    """Sums of integers, each along a row, that compilers take in any order: all of them in one go. The largest
    element and the sum of every row, Neoverse N1, 1080 x 1920: 0.82 of gcc's speed in strips."""
    return p.scop.arrays[_target(p, what)].elem.is_int


def _held(p: Program, name: str, machine: Machine) -> Contraction | None:
    """The product whose sums are scalars of the region, one for each row."""
    s = p.scop.statement(name)
    array = p.scop.arrays[s.accesses[s.target].array]
    if not array.inside or array.rank or array.scope != 1 or len(s.iterators) != 2:
        return None
    try:
        found = contraction(p.scop, s, (), p.reassociate, True)
    except NoContraction:
        return None
    if found.columns or reason_against(p, s, found, machine) or form_of(p, s, found, machine) == "lanes":
        return None
    return found


def _shape(
    p: Program, part: Node, tree: Node, first: LoopRef, lines: int, held: list[Contraction]
) -> tuple[Directive, ...] | None:
    """What cuts the loop into strips, and keeps a strip of each scalar sum."""
    cut = Tile(((first, lines),))
    try:
        after = apply(_with(p, part, tree), cut)
    except InputError:
        return None
    tile = next(lp.name for lp in enclosing(after.tree, first.stmt) if lp.tile)
    out: list[Directive] = [cut, Distribute(first)]
    for name in sorted({_target(p, what) for what in held}):
        user = next(s for s in p.scop.statements if any(a.array == name for a in s.accesses))
        out.append(StoreIn(name, LoopRef(tile, first.stmt), ((user.iterators[0], tile, lines),)))
    return tuple(out)


def _target(p: Program, what: Contraction) -> str:
    s = p.scop.statement(what.stmt)
    return s.accesses[s.target].array


def _with(p: Program, part: Node, tree: Node) -> Program:
    """The region with one of its parts replaced."""
    return p.with_tree(seq([tree if x is part else x for x in parts_of(p.tree)]))


def in_strip(p: Program, made: Strip, what: Contraction, machine: Machine) -> tuple[Multiply, str]:
    """How a product is carried out in strips, and that in words."""
    pair = pair_lines(lanes_of(machine, what)) if what.stmt in made.paired else 0
    how, words = matvec_form(p, p.scop.statement(what.stmt), what, machine, made.lines, pair)
    if _comes_first(p, made, what):
        how = replace(how, near=strip_near(lanes_of(machine, what), made.lines))
    names = [lp.name for lp in enclosing(p.tree, what.stmt)]
    rows, depth = (tuple(names[d] for d in part) for part in (what.rows, what.depth))
    return Multiply(what.stmt, rows, (), depth, how), f"strips of {made.lines} lines, {words}"


def _comes_first(p: Program, made: Strip, what: Contraction) -> bool:
    """Is the product the first in a strip that reads its matrix? For the others it is in the cache by then."""
    names = statements(made.tree)
    before = (p.scop.statement(n) for n in names[: names.index(what.stmt)])
    return not matrices(p.scop, what) & {a.array for s in before for a in s.accesses}


def _shared(p: Program, products: list[Contraction]) -> bool:
    """Do two of the products use one matrix?"""
    seen: set[str] = set()
    for what in products:
        mine = matrices(p.scop, what)
        if mine & seen:
            return True
        seen |= mine
    return False


def strip_rows(products: list[tuple[str, Contraction]], machine: Machine, both: frozenset[str] = frozenset()) -> int:
    """A number of lines that all the products take in whole groups, of vectors as wide as compilers may have; those in
    `both` share a kernel."""
    total = 1
    for form, what in sorted(products, key=lambda x: x[0]):
        cpu = lanes_of(machine, what)
        streams = pair_lines(cpu) if what.stmt in both else sizes(form, cpu)[1]
        fitting = (n for n in range(streams, 0, -1) if lcm(total, n) <= MOST_LINES)
        total = lcm(total, next(fitting, 1) if form == "lanes" else streams)
    if has_variants(machine) and any(form == "across" for form, _ in products):
        return lcm(total, WIDE_ROWS)  # in fewer, kernels of wide vectors would find no whole group
    most = MOST_LINES if both else MOST_LINES // 2  # lines that are read once need not stay in the cache
    return total * max(1, most // total)


def _tree(p: Program, part: Band, loop: Loop) -> Node:
    """The part with one nest for each statement below the shared loop, as far as dependences allow."""
    names = statements(part)
    inside = same_value(p.must, loop.exprs)
    parts = [below(only(part, component), 1) for component in strongly_connected(p.scop, inside, names)]
    return Band((replace(loop, exprs={n: loop.exprs[n] for n in names}),), seq(parts))


def _legal(p: Program, part: Node, made: Strip, machine: Machine) -> bool:
    """Can the region be cut and its products be carried out in this way?"""
    q = _with(p, part, made.tree)
    try:
        for d in (*made.shape, *(in_strip(p, made, what, machine)[0] for what in made.products)):
            q = apply(q, d)
    except InputError:
        return False
    return True


def in_strips(
    p: Program, find: Find, machine: Machine, rest: Callable[[tuple[str, ...]], Node]
) -> tuple[Node, tuple[Strip, ...]]:
    """The region's tree, parts in strips in their places; `rest` gives the tree of the statements between them."""
    made: list[Strip] = []
    nodes: list[Node] = []
    between: list[str] = []

    def flush() -> None:
        if between:
            nodes.append(rest(tuple(between)))
            between.clear()

    for part in parts_of(p.tree):
        found = strip(p, part, find, machine)
        if found is None:
            between.extend(statements(part))
            continue
        flush()
        made.append(found)
        nodes.append(found.tree)
    flush()
    return seq(nodes), tuple(made)
