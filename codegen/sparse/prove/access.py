"""Proves that every entry of a format has a place of its own in the array of values; returns what is wrong, in words,
or an empty text.

isl decides it for sums. Products of two unknowns need a lemma: an index g(v) + r, where r does not depend on v, tells
v and r apart when 0 <= r < g(v + 1) - g(v) and g does not fall. That covers strides (K*i + s), blocks (4*b + 2*r + c)
and packed triangles ((i*(i + 1)) div 2 + j). What is left of the index is taken apart in the same way.
"""
from __future__ import annotations

from fractions import Fraction

from codegen.sparse.algebra.affine import Facts, implied
from codegen.sparse.algebra.expr import Exp, var
from codegen.sparse.algebra.poly import Poly, names_of, plus, poly_of, scaled, substituted
from codegen.sparse.algebra.relation import Constraint, equal
from codegen.sparse.algebra.terms import subst
from codegen.sparse.synth.model import Layout
from codegen.sparse.synth.pair import tops
from codegen.sparse.synth.resolve import determines

_ONE: Poly = {(): Fraction(1)}


def own_places(lay: Layout, facts: Facts) -> str:
    """What is wrong with the access, in words; "" where each entry has a place of its own within the array.

    `facts`: what is known of an entry's tuple.
    """
    index = poly_of(lay.desc.access)
    if index is None:
        return "it is more than sums, products and divisions that come out even"
    inside = names_of(index) & frozenset(lay.desc.map.ins)
    if not _grows(index, facts):
        return "a smaller tuple could have a larger index"
    if not _injective(lay, sorted(inside), facts) and not _told_apart(index, sorted(inside), tops(lay), facts):
        return "two tuples could have the same index"
    return "" if _all_told(lay, inside) else "two entries could have the same index"


def _grows(index: Poly, facts: Facts) -> bool:
    """Every term is a product of things that are not negative, so the index is largest where all variables are."""
    return all(c >= 0 for c in index.values()) and all(
        implied(facts, Constraint(var(x))) for x in sorted(names_of(index)))


def _injective(lay: Layout, free: list[str], facts: Facts) -> bool:
    """Two tuples of one index are the same, by isl: an answer for indices without products."""
    other = {x: var(f"{x}'") for x in (*lay.desc.map.ins, *lay.coords)}
    both = (*facts, *(Constraint(subst(c.exp, other), c.equal) for c in facts),
            equal(lay.desc.access, subst(lay.desc.access, other)))
    return all(implied(both, equal(var(x), other[x])) for x in free)


def _told_apart(index: Poly, free: list[str], most: dict[str, Exp], facts: Facts) -> bool:
    """Different values of the variables in `free` give different indices."""
    if not free:
        return True
    for v in free:
        mine = {m: c for m, c in index.items() if v in m}
        rest = {m: c for m, c in index.items() if v not in m}
        others = [x for x in free if x != v]
        if names_of(mine) & set(others):
            continue
        step = plus(substituted(mine, v, plus({(v,): Fraction(1)}, _ONE)), mine, -1)
        if _below(plus(rest, {(): rest.get((), Fraction(0))}, -1), step, others, most, facts) \
                and _told_apart(rest, others, most, facts):
            return True
    return False


def _below(rest: Poly, step: Poly, others: list[str], most: dict[str, Exp], facts: Facts) -> bool:
    """rest < step, as it stands or with the variables of `rest` at their largest."""
    gap = plus(plus(step, rest, -1), _ONE, -1)
    if implied(facts, Constraint(scaled(gap))):
        return True
    for x in others:
        top = poly_of(most[x])
        if top is None:
            return False
        rest = substituted(rest, x, top)
    return implied(facts, Constraint(scaled(plus(plus(step, rest, -1), _ONE, -1))))


def _all_told(lay: Layout, inside: frozenset[str]) -> bool:
    """Do the variables in the index tell one entry from another? A position does so for what it is keyed on."""
    resolved = dict(lay.resolved)
    known = [resolved[v] for v in lay.desc.map.ins if v in inside and v in resolved]
    grown = True
    while grown:
        grown = False
        for p in (p for p in lay.positions if p.at[0] in inside and not set(p.key) <= set(known)):
            segments = {resolved[u] for u in p.segment.above if p.ptr and u in resolved}
            if p.stair or set(p.group) - segments <= set(known):
                known += p.key
                grown = True
    return determines(tuple(known), lay.coords)
