"""Chooses variables of the region to expand into arrays (`expand` directives): those that hide a matrix product, over
as few loops as show it, where the product saves more than the array costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import inf, prod

import islpy as isl

from codegen.diagnostics import Diagnostic, InputError, Severity
from codegen.machine import Machine
from codegen.plan.model import Directive, Expand
from codegen.recognize.access.strides import coefficients
from codegen.recognize.privatize.expansion import PREFIX, NoExpansion, expand, shared_loops, users
from codegen.recognize.privatize.gain import gains
from codegen.recognize.products.contraction import NoContraction, contraction, gathers
from codegen.record import record
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import enclosing
from codegen.strategy.cost.tile_sizes import constant_extent
from codegen.strategy.products.selection import Products, find_products
from codegen.transform.apply import apply
from codegen.transform.program import Program

# Beyond this many bytes a region runs as written: all values of a variable at once must not surprise anybody.
LIMIT = 1 << 30
# Each value goes to memory and comes back: its line is fetched, written back and read once more, four times its bytes
# at about 4 bytes a cycle. Cycles per byte.
MOVED = 1.0
# Cycles to copy an element of an operand for a product.
PACKED = 4.0
# Vector steps that the core could start while the plain nest does one (`blocked.py`). dct-8x8, f64, Neoverse N1:
# 820 cycles a block in plain nests, 1160 in products that take a row of blocks together.
PLAIN = 4
TRIES = 12  # expansions looked at in a region; each costs a dependence analysis
MANY = 60  # accesses of a region beyond which none is looked at: each would take a second


@record
class Expanded:
    """A region in which variables are expanded, the products found in it, and how it came about."""

    program: Program
    products: Products
    directives: tuple[Directive, ...]
    remarks: tuple[Diagnostic, ...]


def expand_for_products(p: Program, found: Products, machine: Machine, fusion: str) -> Expanded:
    """Expand what shows more products; the region as it is when nothing does."""
    now, shows = Expanded(p, found, (), ()), Shows(p.reassociate, {})
    tries = TRIES if sum(1 for _ in p.scop.accesses()) <= MANY else 0
    for name in candidates(p, blocked(found)):
        best: Expanded | None = None
        for over in choices(now.program, name):
            tries -= 1
            d = Expand(name, over, LIMIT)
            worth = tries >= 0 and shows.more(now.program.scop, d, blocked((best or now).products))
            made = _tried(now, d, machine, fusion) if worth else None
            if made is not None and blocked(made.products) > blocked((best or now).products):
                best = made  # all the products there were, and others
        now = best or now
    return _in_iterations(p, now, machine, fusion)


def _in_iterations(source: Program, now: Expanded, machine: Machine, fusion: str) -> Expanded:
    """The same with memory for each iteration of the loops around, where one of them carries nothing any more by that:
    its iterations can run on threads, each with its own products."""
    chosen = now.directives
    for k, d in enumerate(chosen):
        assert isinstance(d, Expand)
        shared = shared_loops(source.scop, d.variable)
        first = min(shared.index(n) for n in d.over)
        if not first:
            continue
        made = Expanded(source, now.products, (), ())
        for other in (*chosen[:k], replace(d, within=shared[first - 1]), *chosen[k + 1 :]):
            assert isinstance(other, Expand)
            made = _tried(made, other, machine, fusion) or now
        user = users(source.scop, d.variable)[0].name
        before, after = now.program, made.program
        apart = made is not now and gains(before.tree, before.deps, after.tree, after.deps, user, first)
        if apart and blocked(made.products) >= blocked(now.products):
            now, chosen = made, made.directives
    return now


@record
class Shows:
    """Which statements could be matrix products by their accesses alone, before dependences are asked. Of those that do
    not use what is expanded the answers stay the same."""

    free: bool
    known: dict[str, bool]

    def more(self, scop: Scop, d: Expand, done: frozenset[str]) -> bool:
        """Could a statement other than these be one with the variable expanded?"""
        try:
            after = expand(scop, d.variable, d.over, d.limit).scop
        except NoExpansion:
            return False
        return any(self._product(after, s) for s in after.statements if s.name not in done)

    def _product(self, scop: Scop, s: Statement) -> bool:
        if any(a.array.startswith(PREFIX) for a in s.accesses):
            return self._asked(scop, s)
        if s.name not in self.known:
            self.known[s.name] = self._asked(scop, s)
        return self.known[s.name]

    def _asked(self, scop: Scop, s: Statement) -> bool:
        return len(s.iterators) > 2 and any(self._columns(scop, s, depth) for depth in range(len(s.iterators) - 2))

    def _columns(self, scop: Scop, s: Statement, depth: int) -> bool:
        try:
            return bool(contraction(scop, s, range(depth), self.free).columns)
        except NoContraction:
            return False


def candidates(p: Program, done: frozenset[str]) -> tuple[str, ...]:
    """Variables in statements deep enough for a product, other than those that are one; not those with a value from
    before."""
    scop = p.scop
    brought = {m.get_tuple_name(isl.dim_type.out) for m in maps_of(p.deps.live_in)}
    deep = [s for s in scop.statements if len(s.iterators) >= 3 and s.name not in done and gathers(s)]
    names = {a.array for s in deep for a in s.accesses}
    written = {a.array for _, a in scop.accesses() if a.write}
    return tuple(n for n in sorted((names & written) - brought) if len(users(scop, n)) > 1 and shared_loops(scop, n))


def choices(p: Program, name: str) -> Iterator[tuple[str, ...]]:
    """Innermost loops first: they cost least. Values that a subscript tells apart anyway need no loop for that."""
    mine = users(p.scop, name)
    around = [enclosing(p.tree, s.name) for s in mine]
    shared = [n for k, n in enumerate(shared_loops(p.scop, name)) if len({id(loops[k]) for loops in around}) == 1]
    wanted = [k for k, n in enumerate(shared) if not all(_tells(p.scop, s, name, k) for s in mine)]
    for first in range(len(wanted) - 1, -1, -1):
        yield tuple(shared[k] for k in wanted[first:])


def _tells(scop: Scop, s: Statement, name: str, d: int) -> bool:
    """Is iterator `d` itself a subscript wherever the statement uses the variable?"""
    scope, n = scop.arrays[name].scope, len(s.iterators)
    unit = [Fraction(k == d) for k in range(n)]
    return all(
        any(coefficients(a.index.get_pw_aff(k), n) == unit for k in range(scope, a.index.dim(isl.dim_type.out)))
        for a in s.accesses
        if a.array == name
    )


def blocked(found: Products) -> frozenset[str]:
    """Statements with rows and columns that become products."""
    return frozenset(d.stmt for d in found.directives if d.columns)


def _tried(now: Expanded, d: Expand, machine: Machine, fusion: str) -> Expanded | None:
    try:
        p = apply(now.program, d)
    except InputError:
        return None
    found = find_products(p, machine, fusion)
    if not _worth(p, found, d.variable, machine):
        return None
    return Expanded(p, found, (*now.directives, d), (*now.remarks, _remark(p.scop, d)))


def _worth(p: Program, found: Products, variable: str, machine: Machine) -> bool:
    """Do the products over the new values save more than it costs to keep these and to copy operands? Sizes that
    parameters decide are long ones."""
    name = PREFIX + variable
    for d in found.directives:
        s = p.scop.statement(d.stmt)
        mine = [a for a in s.accesses if a.array == name]
        if not d.columns or not mine:
            continue
        elem = p.scop.arrays[s.accesses[s.target].array].elem.bytes
        saved = (PLAIN - 1) / (machine.lanes(elem) * machine.fma_throughput)
        rows, columns, depth = (_steps(p, d.stmt, part) for part in (d.rows, d.columns, d.depth))
        moved = elem * MOVED / depth if any(a.write for a in mine) else 0.0
        if PACKED / rows + PACKED / columns + moved > saved:
            return False
    return True


def _steps(p: Program, stmt: str, names: tuple[str, ...]) -> float:
    """Iterations of some of the loops around a statement together, as far as they are known."""
    sizes = [constant_extent(p.scop, lp, stmt) for lp in enclosing(p.tree, stmt) if lp.name in names]
    return prod(inf if n is None else n or 1 for n in sizes)


def _remark(scop: Scop, d: Expand) -> Diagnostic:
    array = scop.arrays[PREFIX + d.variable]
    extents = " x ".join(array.extents).replace("(long)", "")
    each = " for each thread" if array.inside else ""
    text = (
        f"`{d.variable}` is kept for all {', '.join(d.over)} at once: {extents} values of {array.elem.bytes} bytes"
        f"{each}; beyond {d.limit >> 20} MiB, or without the memory, the region runs as written"
    )
    s = next(s for s in scop.statements if any(a.array == array.name and a.write for a in s.accesses))
    return Diagnostic(Severity.REMARK, "expanded", text, s.loc, kind="passed")
