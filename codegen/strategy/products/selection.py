"""Selects the statements to compute as matrix or matrix-vector products (`find_products`): distributes loops so that
each has a nest of its own, and returns the tree, `Multiply` directives with block sizes from the processor model, and
remarks, also on rejected statements. `in_panels` does so for loops blocked to expose products (LU, Cholesky)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import islpy as isl

from codegen.diagnostics import Diagnostic, Severity
from codegen.isa.fast_paths import fast_path_of
from codegen.isa.live_registers import demand
from codegen.isa.load import load as load_isa
from codegen.isa.model import Isa, is_float, longer
from codegen.isa.text import spreads, takes_lane
from codegen.machine import Machine
from codegen.machine.formulas import RegisterTile, gemm_blocks
from codegen.machine.processor import processor
from codegen.machine.registers import LANES, VALUES, VECTORS, Needs, register_tile
from codegen.plan.model import Directive, Multiply
from codegen.recognize.products.contraction import NoContraction, contraction
from codegen.recognize.products.matrix_vector import looks_like_one
from codegen.record import record
from codegen.scop.lanes import Lane, chained, rounds, walk
from codegen.scop.memo import remember
from codegen.scop.model import Scop, Statement
from codegen.scop.product import Blocking, Contraction, How, ProductStep
from codegen.scop.tree import Band, Leaf, Loop, Node, enclosing, parts_of, put, seq, statements
from codegen.scop.tree import walk as walk_tree
from codegen.strategy.cost.profitability import busy_units, needs_wide_product, skips, too_small, unwanted, written_out
from codegen.strategy.orders.distribution import Arrange, ProductNest, distribute, only, part
from codegen.strategy.orders.isl_schedule import isl_schedule
from codegen.strategy.orders.reshape import arranged
from codegen.strategy.products.independent import independent
from codegen.strategy.products.matrix_vector import form_of, lanes_of, matvec_form, reason_against
from codegen.strategy.products.pairs import pair_lines, paired
from codegen.strategy.products.strips import Strip, in_strip, in_strips
from codegen.strategy.remarks import formula
from codegen.transform.program import Program, make_program

if TYPE_CHECKING:
    from codegen.strategy.products.panels import Panel

# Steps below which the plain nest is faster: what a packed product costs however small it is (memory, sizes of blocks,
# edges) and the start of each short row in the plain nest hardly depend on the width of vectors. Time of the plain nest
# of the packed one's at 12, 14, 16 and 20 in each direction, Neoverse N1: f64 0.69, 0.86, 1.14, 1.50, f32 0.71, 0.86,
# 1.16, 1.60; where columns do not lie side by side 0.96, 1.20, 1.62, 2.10 and 0.87, 1.13, 1.50, 2.06.
DIRECT_STEPS = 3000
# The same of the box around a product with cut corners, of which about half runs. At 14, 16 and 18 in each direction:
# rows of one operand with each other f64 0.78, 1.03, 1.21 and f32 0.70, 0.92, 1.03, columns f64 0.66, 0.85, 1.01 and
# f32 0.70, 0.94, 1.00; with the depth cut 0.30 to 0.50.
DIRECT_STEPS_CUT = 5000


@record
class Products:
    """The region's tree with products in nests of their own (some once `shape` is applied), and how to carry each of
    them out."""

    tree: Node
    directives: tuple[Multiply, ...]
    remarks: tuple[Diagnostic, ...]
    missed: tuple[Diagnostic, ...] = ()
    shape: tuple[Directive, ...] = ()
    rows: tuple[tuple[Directive, ...], ...] = ()  # blocks that follow each other on threads
    told: tuple[Diagnostic, ...] = ()  # on the order of the rest


def find_products(p: Program, machine: Machine, fusion: str) -> Products:
    """No directives when the region has no product; its tree then means nothing."""
    known: dict[tuple[str, int], Contraction | None] = {}
    against: dict[str, str] = {}

    def product(name: str, depth: int) -> Contraction | None:
        if (name, depth) not in known:
            known[name, depth] = _product(p, name, depth, machine, against)
        return known[name, depth]

    def is_product(name: str, depth: int) -> bool:
        return product(name, depth) is not None

    def parted(arrange: Arrange) -> tuple[Node, tuple[Strip, ...]]:
        nests.clear()

        def arranged(names: tuple[str, ...]) -> Node:
            tree, found = distribute(p.scop, p.deps, p.tree, names, is_product, arrange)
            nests.extend(found)
            return tree

        return in_strips(p, product, machine, arranged)

    nests: list[ProductNest] = []
    others: list[tuple[str, ...]] = []  # statements beside products

    def as_written(rest: tuple[str, ...]) -> Node:
        others.append(rest)
        return only(p.tree, rest)

    def ordered(rest: tuple[str, ...]) -> Node:
        return _arranged(p, rest, fusion)

    tree, strips = parted(as_written)
    if others and (nests or strips):  # only then isl is asked for an order of the others, which takes the most time
        tree, strips = parted(ordered)
    while worse := unwanted(p, parts_of(tree), nests, product):
        against.update({n: f"no matrix-vector product: {why}" for n, why in worse.items()})
        known.update({key: None for key in known if key[0] in worse})
        tree, strips = parted(ordered)
    tree, directives, remarks = _directed(p, machine, tree, strips, [(n, product(n.stmt, n.depth)) for n in nests])
    done = {d.stmt for d in directives}
    missed = tuple(_missed(p.scop, n, why) for n, why in sorted(against.items()) if n not in done)
    shape = tuple(d for x in strips for d in x.shape)
    return Products(tree, directives, remarks, missed, shape)


def _directed(
    p: Program,
    machine: Machine,
    tree: Node,
    strips: Sequence[Strip],
    nests: Sequence[tuple[ProductNest, Contraction | None]],
) -> tuple[Node, tuple[Multiply, ...], tuple[Diagnostic, ...]]:
    """How each product is carried out, in a tree with its loops in the order that this takes."""
    directives = []
    remarks = []
    for made, what in ((x, w) for x in strips for w in x.products):
        directive, words = in_strip(p, made, what, machine)
        directives.append(directive)
        remarks.append(_remark(p.scop, what, words))
    both = _paired(p, [found for _, found in nests if found is not None], machine)
    for nest, found in nests:
        assert found is not None
        tree = _ordered(p.scop, tree, nest, found)
        how, words = _how(p, found, machine, found.stmt in both)
        directives.append(_directive(tree, found, how))
        remarks.append(_remark(p.scop, found, words))
    return tree, tuple(directives), tuple(remarks)


def in_panels(p: Program, machine: Machine, fusion: str) -> tuple[Program, tuple[Directive, ...], Products] | None:
    """The region with loops in blocks, if that makes products: in new names, how, and with all its products."""
    from codegen.strategy.products.panels import Panel, find_panels
    from codegen.strategy.products.stages import find_stages

    panels = find_panels(p, machine, fusion, nested=True)
    if panels is None or not any(what.columns for what in panels.products):
        panels = find_stages(p, machine, fusion) or panels
    if panels is None:
        return None
    q = panels.program
    done: list[Products] = []
    for x in panels.parts:
        if isinstance(x, Panel):
            done.append(_of_panel(q, x, machine))
            continue
        scop, deps = part(q.scop, q.deps, x)
        rest = make_program(scop, deps, only(q.tree, x), q.reassociate)
        found = find_products(rest, machine, fusion)
        done.append(found if found.directives else Products(_arranged(rest, x, fusion), (), (), found.missed))
    together = Products(
        seq([x.tree for x in done]),
        tuple(d for x in done for d in x.directives),
        tuple(r for x in done for r in x.remarks),
        tuple(r for x in done for r in x.missed),
        tuple(d for x in done for d in x.shape),
        tuple(d for x in done for d in x.rows),
        panels.remarks,
    )
    return q.with_tree(together.tree), panels.blocks, together


def _of_panel(q: Program, panel: Panel, machine: Machine) -> Products:
    directives, remarks = [], []
    for what in panel.products:
        how, words = _how(q, what, machine)
        directives.append(_directive(panel.tree, what, how))
        remarks.append(_remark(q.scop, what, f"panels of {panel.size}, {words}"))
    return Products(panel.tree, tuple(directives), tuple(remarks), rows=(panel.rows,) if panel.rows else ())


def _product(p: Program, name: str, depth: int, machine: Machine, against: dict[str, str]) -> Contraction | None:
    s = p.scop.statement(name)
    try:
        found = contraction(p.scop, s, range(depth), p.reassociate)
    except NoContraction as error:
        if error.close and not depth:
            against.setdefault(name, f"no product: {error}")
        return None
    loops = enclosing(p.tree, name)
    if not independent(p, s, found, loops[:depth], _loops(s, found, depth, loops[depth:])):
        return None
    if not found.columns:
        why = reason_against(p, s, found, machine) or written_out(s, found)
        if why and looks_like_one(s, found):
            against.setdefault(name, f"no matrix-vector product: {why}")
        return None if why else found
    if not found.step.left or not found.step.right:
        return None
    if skips(s):
        against.setdefault(name, f"no product: where its condition fails, loop {s.iterators[-1]} does nothing at all")
        return None
    vec = load_isa(machine.isa, machine.vector_bits).vec(found.step.elem)
    why = too_small(s, found, DIRECT_STEPS) or needs_wide_product(p.scop, s, found, vec)
    why = why or busy_units(p.scop, s, found, machine) or written_out(s, found)
    if why:
        against.setdefault(name, f"no product: {why}")
    return None if why else found


def _arranged(p: Program, names: tuple[str, ...], fusion: str) -> Node:
    """Statements without products: isl's order for them alone."""
    if set(names) != set(statements(p.tree)):
        scop, deps = part(p.scop, p.deps, names)
        p = make_program(scop, deps, only(p.tree, names), p.reassociate)
    return arranged(p, isl_schedule(p.scop, p.deps, p.tree, fusion)).tree


def _ordered(scop: Scop, tree: Node, nest: ProductNest, what: Contraction) -> Node:
    """The product's own loops: batches outside, then rows, columns and depth."""
    path, band = next((path, n) for path, n in walk_tree(tree) if isinstance(n, Band) and n.child == Leaf(nest.stmt))
    s = scop.statement(nest.stmt)
    first = enclosing(tree, nest.stmt)[: nest.depth]
    loops = _loops(s, what, len(first), band.loops)
    batch = [d for d in what.outer if d >= nest.depth]
    assert len(loops) == len(s.iterators) - nest.depth
    inner = Band(loops[len(batch) :], band.child, True)
    return put(tree, path, Band(loops[: len(batch)], inner, True) if batch else inner)


def _loops(s: Statement, what: Contraction, depth: int, own: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """The loops below the first `depth`, in the order of the product."""
    by_iterator = {k + depth: lp for k, lp in enumerate(own)}
    batch = [d for d in what.outer if d >= depth]
    free = {*what.rows, *what.columns}  # their direction does not matter
    return tuple(_forward(s, by_iterator[d], d) if d in free else by_iterator[d] for d in (*batch, *what.inner))


def _forward(s: Statement, lp: Loop, d: int) -> Loop:
    space = isl.LocalSpace.from_space(s.domain.get_space())
    return replace(lp, exprs={s.name: isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, d))})


def _paired(p: Program, products: Sequence[Contraction], machine: Machine) -> frozenset[str]:
    """Products that share a kernel with a neighbour."""
    vectors = [what for what in products if not what.columns]
    if len(vectors) < 2:
        return frozenset()
    return paired(p, vectors, {x.stmt: form_of(p, p.scop.statement(x.stmt), x, machine) for x in vectors})


def _how(p: Program, what: Contraction, machine: Machine, both: bool = False) -> tuple[How, str]:
    """How a product is carried out, and that in words; with `both`, beside another one."""
    if not what.columns:
        pair = pair_lines(lanes_of(machine, what)) if both else 0
        return matvec_form(p, p.scop.statement(what.stmt), what, machine, pair=pair)
    how = blocking(what, machine)
    vec = load_isa(how.isa, how.bits).vec(what.step.elem)
    now, then = (demand(vec, x).operations for x in (what.step.lane, chained(what.step.lane)))
    order = f"; {now} operations for each step in the source's order, {then} with --reassociate" if then < now else ""
    return how, _words(how) + order


def _words(how: Blocking) -> str:
    spread = ", the left operand spread over vectors" if how.spread else ""
    run = f", along rows by {how.run} columns" if how.run else ""
    tiles = f"{how.isa} tiles of {how.mr} rows by {how.nv} vectors{spread}"
    return f"{tiles}, blocks of {how.mc} x {how.kc} x {how.nc}{run}"


def _directive(tree: Node, what: Contraction, how: How) -> Multiply:
    loops = enclosing(tree, what.stmt)
    names = [lp.name for lp in loops[len(loops) - len(what.inner) :]]
    r, k = len(what.rows), len(what.rows) + len(what.depth)
    return Multiply(what.stmt, tuple(names[:r]), tuple(names[k:]), tuple(names[r:k]), how)


_NAMES = {"add": "add", "sub": "add", "mul": "mul", "div": "div", "and": "and", "or": "or", "xor": "xor"}


@remember(64)
def blocking(what: Contraction, machine: Machine) -> Blocking:
    """Register tile and blocks from the processor's description."""
    isa = load_isa(machine.isa, machine.vector_bits)
    combine, reduce = operations(what.step.lane)
    cpu = processor(machine, what.step.elem, combine, reduce)
    needs = _needs(isa, what.step)
    mr, nv = register_tile(machine.registers, cpu.lanes, cpu.latency, cpu.throughput, needs)
    spread = needs.a == VECTORS
    lefts = len(what.step.left) * (cpu.lanes if spread else 1)
    b = gemm_blocks(cpu, RegisterTile(mr, nv * cpu.lanes, lefts, len(what.step.right)))
    # Two threads halve the time: work of twice the cost of starting them breaks even.
    threads = int(2 * machine.parallel_overhead_cycles * cpu.lanes * cpu.throughput)
    direct = DIRECT_STEPS_CUT if what.cut else DIRECT_STEPS
    return Blocking(machine.isa, machine.vector_bits, mr, nv, b.mc, b.kc, b.nc, direct, threads, spread, run=b.run)


def takes_lanes(what: Contraction, machine: Machine) -> bool:
    """Does the machine multiply by lanes of a register in the product's kernel, in floating point?"""
    needs = _needs(load_isa(machine.isa, machine.vector_bits), what.step)
    return is_float(what.step.elem) and needs.a == LANES


def _needs(isa: Isa, step: ProductStep) -> Needs:
    isa = (longer(isa, step.elem) if step.narrow else None) or isa
    vec = isa.vec(step.elem)
    once, times = rounds(step.lane, len(step.left), len(step.right))
    hurry = fast_path_of(vec, once)  # the usual way; the other may spill a register
    asked = demand(vec, hurry.step if hurry else once)
    a = LANES if takes_lane(vec, once) else VECTORS if spreads(isa, step.elem, once) else VALUES
    constants = asked.literals + len(step.consts)
    return Needs(a, len(step.left) // times, len(step.right) // times, asked.temporaries, constants)


def operations(lane: Lane) -> tuple[str, str]:
    """The operation that joins the operands and the one that folds the result, for the cost of a step."""
    ops = [x.op for x in walk(lane) if x.args and x.op not in ("select", "wrap8", "wrap16", "wrapu8", "wrapu16")]
    plain = [o.removeprefix("any").removeprefix("f") for o in ops]
    known = [_NAMES.get(o, o if o in ("min", "max") else "min") for o in plain] or ["add"]
    return (known[1] if len(known) > 1 else known[0]), known[0]


def _missed(scop: Scop, name: str, why: str) -> Diagnostic:
    return Diagnostic(Severity.REMARK, "no-product", why, scop.statement(name).loc, kind="missed")


def _remark(scop: Scop, what: Contraction, how: str) -> Diagnostic:
    s = scop.statement(what.stmt)

    def names(part: tuple[int, ...]) -> str:
        return ", ".join(s.iterators[d] for d in part)

    columns = f" and columns {names(what.columns)}" if what.columns else ""
    kind = "product" if what.columns else "matrix-vector product"
    text = (
        f"a {kind} of rows {names(what.rows)}{columns} over {names(what.depth)}, step "
        f"{formula(what.step.lane)} in {what.step.elem}: {how}"
    )
    return Diagnostic(Severity.REMARK, "product", text, s.loc, kind="passed")
