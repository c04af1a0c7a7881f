"""The directive `product`: replaces a statement's innermost loops by one band that is carried out as a blocked product,
a matrix-vector product, or nests for certain sizes. Recognizes the product anew, and raises InputError where it is
none, where a dependence is in the way, or where the plan's sizes make no code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import islpy as isl

from codegen.isa.known import known as known_isas
from codegen.isa.load import load as load_isa
from codegen.lower.nest.exact import unfit
from codegen.plan.model import LoopRef, Multiply
from codegen.recognize.access.strides import coefficients
from codegen.recognize.products.contraction import NoContraction, contraction
from codegen.recognize.products.matrix_vector import in_any_order
from codegen.scop.model import Statement
from codegen.scop.product import Blocking, Contraction, MatrixVector, Nested, Product, in_registers
from codegen.scop.tree import BLOCKED, FOLDED, PACKED, Band, Leaf, Loop, enclosing
from codegen.scop.tree import loops as tree_loops
from codegen.transform.find import chains, illegal, rebuild
from codegen.transform.matvec import check_matvec, has_width, kept, reduced_array
from codegen.transform.program import Program, carried
from codegen.verify.products import unsafe_matvec, unsafe_product

LARGEST = 1 << 32  # elements of a packed block: their bytes are counted in 64 bits


def apply(p: Program, d: Multiply) -> Program:
    """Replace the loops by one product band. That the statement is a product is found anew, not taken from the plan."""
    s = next((s for s in p.scop.statements if s.name == d.stmt), None)
    if s is None:
        raise illegal(f"there is no statement {d.stmt}", d.loc)
    names = (*d.rows, *d.depth, *d.columns)
    (chain,) = chains(p.tree, tuple(LoopRef(n, d.stmt) for n in names), d.loc)
    first = len(chain.loops) - len(names)
    if chain.child != Leaf(d.stmt) or {lp.name for lp in chain.loops[first:]} != set(names):
        raise illegal(f"{', '.join(names)} are not the innermost loops of {d.stmt} alone", d.loc)
    by_name = {lp.name: lp for lp in chain.loops[first:]}
    where = {n: _iterator(s, by_name[n], d) for n in names}
    outer = [k for k in range(len(s.iterators)) if k not in where.values()]
    try:
        found = contraction(p.scop, s, outer, p.reassociate, isinstance(d.how, MatrixVector))
    except NoContraction as error:
        raise illegal(f"{d.stmt} is no product of these loops: {error}", d.loc) from None
    wanted = tuple(tuple(where[n] for n in part) for part in (d.rows, d.columns, d.depth))
    if wanted != (found.rows, found.columns, found.depth) or found.outer != tuple(outer):
        text = "; ".join(", ".join(s.iterators[k] for k in part) for part in (found.rows, found.columns, found.depth))
        raise illegal(f"rows, columns and depth of {d.stmt} are {text}", d.loc)
    kinds = _kinds(p, s, found, d, by_name)
    loops = tuple(replace(by_name[n], **kinds[n], note=_note(n, d)) for n in names)
    band = Band(loops, chain.child, product=Product(found, d.how))
    after = p.with_tree(rebuild(p.tree, replace(chain, child=band), [(chain.loops[:first], False)]))
    together = _together(s, enclosing(after.tree, s.name)[: -len(loops)])
    packed = not isinstance(d.how, MatrixVector) and unsafe_product(s, found, loops, together)
    problem = packed or (in_registers(d.how) and unsafe_matvec(s, together))
    if problem:
        raise illegal(problem, d.loc)
    free = s.accesses[s.target].array if in_any_order(p.scop, s, found, d.how.isa) else ""
    for place in (q for q in tree_loops(after.tree) if q.band is band and q.loop.kind in (BLOCKED, FOLDED)):
        blocker = carried(after, place).blocker if place.loop.kind == BLOCKED else kept(after, place, free)
        if blocker is not None:
            raise illegal(
                f"a {blocker.kind} dependence through `{blocker.array}` is carried by loop {place.loop.name}", d.loc
            )
    return after


def _together(s: Statement, around: Sequence[Loop]) -> isl.Map:
    """Instances of one execution of the product; the proof of the finished code asks the same of them."""
    together = isl.Map.universe(s.domain.get_space().map_from_set()).intersect_domain(s.domain)
    together = together.intersect_range(s.domain)
    for lp in around:
        value = isl.Map.from_pw_aff(lp.exprs[s.name])
        together = together.intersect(value.apply_range(value.reverse()))
    return together


def _kinds(
    p: Program, s: Statement, found: Contraction, d: Multiply, loops: Mapping[str, Loop]
) -> dict[str, dict[str, Any]]:
    """What becomes of each loop: rows and columns in any order, the depth in its own unless its steps are a
    reduction."""
    free = BLOCKED if isinstance(d.how, MatrixVector) else PACKED
    kinds: dict[str, dict[str, Any]] = {n: {"kind": free} for n in (*d.rows, *d.columns)}
    kinds |= {n: {"kind": ""} for n in d.depth}
    if isinstance(d.how, MatrixVector):
        check_matvec(p, s, found, d, d.how, loops)
        if d.how.form == "fold":
            kinds[d.depth[0]] = {"kind": FOLDED, "reductions": (reduced_array(p, s, found, d),)}
        return kinds
    any_width = d.how.isa == "sve" and isinstance(d.how, Blocking)
    if d.how.isa not in known_isas() or not (any_width or has_width(d.how.isa, d.how.bits)):
        raise illegal(f"there is no instruction set {d.how.isa} with vectors of {d.how.bits} bits", d.loc)
    if isinstance(d.how, Blocking):
        _check_blocks(found, d, d.how)
    _check_nests(p, s, found, d, d.how, loops)
    return kinds


def _check_blocks(found: Contraction, d: Multiply, how: Blocking) -> None:
    if not (1 <= how.mr <= 32 and 1 <= how.nv <= 16 and min(how.mc, how.kc, how.nc) > 0):
        raise illegal(f"these sizes make no blocks of {d.stmt}", d.loc, "a tile has at most 32 by 16 vectors")
    if how.kc * max(how.mc, how.nc, how.run) > LARGEST:
        raise illegal(f"blocks of {d.stmt} have more than {LARGEST} elements", d.loc, "use smaller blocks")
    if how.spread and not load_isa(how.isa, how.bits).bits:
        raise illegal(f"vectors of {how.isa} have no length that values could be spread over", d.loc)
    if not found.columns:
        raise illegal(f"{d.stmt} is a matrix-vector product; it has no columns to make tiles of", d.loc)


def _check_nests(
    p: Program, s: Statement, found: Contraction, d: Multiply, how: Blocking | Nested, loops: Mapping[str, Loop]
) -> None:
    if how.exact and any(backwards(s, lp) for lp in loops.values()):
        names = ", ".join(n for n, lp in loops.items() if backwards(s, lp))
        raise illegal(f"loop {names} of {d.stmt} runs backwards, which no nest does", d.loc)
    for x in how.exact:
        wrong = unfit(p.scop, s, found, how, x)
        if wrong:
            raise illegal(wrong, d.loc, "leave it out")


def backwards(s: Statement, lp: Loop) -> bool:
    return sum(coefficients(lp.exprs[s.name], len(s.iterators)) or ()) < 0


def _iterator(s: Statement, lp: Loop, d: Multiply) -> int:
    """The iterator that the loop steps through, one by one, forwards or backwards."""
    c = coefficients(lp.exprs[s.name], len(s.iterators)) or []
    moving = [k for k, x in enumerate(c) if x]
    value = lp.exprs[s.name].get_pieces()[0][1]
    if len(moving) != 1 or abs(c[moving[0]]) != 1 or not value.get_constant_val().is_zero():
        raise illegal(f"loop {lp.name} is no plain loop of {d.stmt}", d.loc, "apply product before skewing or tiling")
    return moving[0]


def _note(name: str, d: Multiply) -> str:
    return "rows" if name in d.rows else "columns" if name in d.columns else "depth"
