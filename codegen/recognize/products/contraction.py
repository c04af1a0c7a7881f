"""Recognizes products (contractions): reductions of a function of two operands over some of a statement's loops.

C[..] = F(C[..], a, b, constants), where `a` varies with the rows and the depth, `b` with the depth and the columns, and
every element of C is told apart by row and column. The operators play no part: F is whatever the body says. A product
without columns (or rows) is a matrix-vector product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import islpy as isl

from codegen.recognize.access.boxes import cuts, hull
from codegen.recognize.access.dereferenceable import exists, owned
from codegen.recognize.access.strides import coefficients
from codegen.recognize.products.lane_steps import NoStep, Questions, lower
from codegen.recognize.products.narrow import narrow_of
from codegen.scop.expr import Affine, Expr, Ref, walk
from codegen.scop.lanes import chained
from codegen.scop.model import Access, Array, Scop, Statement
from codegen.scop.product import Contraction, ProductStep

_PLAIN = ("sub", "flat")


class NoContraction(Exception):
    """Which condition failed. With `close` the accesses are those of a product, and only its step is not."""

    def __init__(self, message: str, close: bool = False) -> None:
        super().__init__(message)
        self.close = close


def contraction(
    scop: Scop, s: Statement, outer: Sequence[int], free: bool = False, held: bool = False
) -> Contraction:
    """The product that `s` is inside the loops over the iterators `outer`. Raises NoContraction.

    With `held` its target may be a variable of the region, which then needs storage for all its rows.
    Whether the loops may really run in this way is a matter of dependences and is proven elsewhere.
    """
    if any(n.startswith("tw_") for n in scop.names):
        raise NoContraction("it uses names that begin with tw_, as those of generated code do")
    own = _own_read(s)
    moves = {k: _dims(s, a) for k, a in enumerate(s.accesses)}
    inner = [d for d in range(len(s.iterators)) if d not in outer]
    mine = s.accesses[s.target].array if held else ""
    if any(_new_inside(scop.arrays[a.array], outer) for a in s.accesses if a.array != mine):
        raise NoContraction("it uses a variable declared in the region")
    target = [d for d in inner if d in moves[s.target]]
    depth = tuple(d for d in inner if d not in moves[s.target])
    if not depth:
        raise NoContraction("no loop folds into the target")
    domain = s.domain.intersect_params(scop.context)
    cut = cuts(domain, outer, depth)
    if cut is None:
        raise NoContraction("its loops do not form a box with cut corners")
    reads = [set(moves[k]) for k in _reads(s, own)] + [_value_dims(s, k) for k in range(len(s.values))]
    groups, batch = _operand_groups(target, depth, reads)
    rows, columns = _roles(scop, s, groups)
    if cut and (len(rows), len(columns), len(depth)) != (1, 1, 1):
        raise NoContraction("its loops do not form a box")
    if any(abs(_slope(a, d)) > 1 for a in cut for d in depth):
        raise NoContraction("its depth does not end at a plain bound")
    for part in (rows, columns, depth):
        _one_coordinate(scop, s, part, moves)
    if cut:
        _require_operands(scop, s, own, hull(domain, outer))
    sides = dict.fromkeys(rows, "a") | dict.fromkeys(columns, "b")
    try:
        side = partial(_side, s, sides=sides, depth=set(depth), vector=not columns)
        asked = Questions(side, lambda k: exists(scop, s, k, domain), lambda: owned(scop, s))
        step = lower(scop, s, own, asked, free)
    except NoStep as error:
        raise NoContraction(str(error), len(groups) == 2) from None
    if columns:
        step = _of_matrices(scop, s, step, free)
    elif step.careful:
        raise NoContraction("its target must be left alone where the condition does not hold")
    return Contraction(s.name, (*outer, *batch), rows, columns, depth, step, own, bool(cut))


def _new_inside(array: Array, outer: Sequence[int]) -> bool:
    """A variable of the region that may be another object in each step; a whole array in memory that was declared
    outside all loops of the product is as good as any other."""
    return array.inside and not (array.roomy and set(range(array.scope)) <= set(outer))


def _operand_groups(
    target: Sequence[int], depth: Sequence[int], reads: list[set[int]]
) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """The target's loops by the operands that vary with them, one group or two, and those that vary all operands."""
    reads = [{d for d in r if d in target} for r in reads if any(d in target or d in depth for d in r)]
    groups, batch = _groups(target, reads)
    if not 1 <= len(groups) <= 2:
        raise NoContraction(
            "the loops around it vary one operand each only in part" if groups else "no operand varies with the target"
        )
    return groups, batch


def _require_operands(scop: Scop, s: Statement, own: int, box: isl.Set) -> None:
    """Kernels read whole boxes of operands: raises NoContraction where elements of the box need not exist."""
    for k in _reads(s, own):
        if not exists(scop, s, k, box):
            raise NoContraction(f"elements of `{s.accesses[k].array}` beside those it uses need not exist")


def _of_matrices(scop: Scop, s: Statement, step: ProductStep, free: bool) -> ProductStep:
    """The step of a product of two matrices: chained where the order is free, and of half the width where that does."""
    if free or not step.elem.startswith("f"):
        step = replace(step, lane=chained(step.lane))
    return replace(step, narrow=narrow_of(scop, s, step))


def gathers(s: Statement) -> bool:
    """Does the statement read the very element it writes, as every step of a product does?"""
    target = s.accesses[s.target]
    return any(not a.write and a.array == target.array and a.relation.is_equal(target.relation) for a in s.accesses)


def folds_others(scop: Scop, s: Statement) -> bool:
    """Does a loop around the statement, which does not change the element it gathers in, change an operand? That is
    never a variable of the region."""
    if not gathers(s) or any(scop.arrays[a.array].inside for a in s.accesses):
        return False
    kept = [d for d in range(len(s.iterators)) if not _moves(s.accesses[s.target], d)]
    values = [v for v in s.values if any(v.involves_dims(isl.dim_type.in_, d, 1) for d in kept)]
    return bool(values) or any(not a.write and _moves(a, d) for a in s.accesses for d in kept)


def _moves(a: Access, d: int) -> bool:
    return any(
        a.index.get_pw_aff(k).involves_dims(isl.dim_type.in_, d, 1) for k in range(a.index.dim(isl.dim_type.out))
    )


def _one_coordinate(scop: Scop, s: Statement, part: Sequence[int], moves: Mapping[int, frozenset[int]]) -> None:
    """Several loops are counted through as one: tables hold the offsets of elements, and only of elements."""
    if len(part) < 2:
        return
    if any(_value_dims(s, k) & set(part) for k in range(len(s.values))):
        raise NoContraction("it computes with the index of one of several loops that are counted as one")
    for k, a in enumerate(s.accesses):
        if moves[k] & set(part) and (scop.arrays[a.array].depth > 1 or any(x.kind not in _PLAIN for x in a.path)):
            raise NoContraction(f"elements of `{a.array}` have no fixed distances")


def _slope(value: isl.Aff, d: int) -> int:
    return int(value.get_coefficient_val(isl.dim_type.in_, d).to_str())


def _own_read(s: Statement) -> int:
    target = s.accesses[s.target]
    same = [k for k, a in enumerate(s.accesses) if k != s.target and a.array == target.array]
    own = [k for k in same if s.accesses[k].relation.is_equal(target.relation)]
    if len(own) != 1:
        raise NoContraction("it does not read what it writes exactly once")
    return own[0]


def _reads(s: Statement, own: int) -> list[int]:
    """Accesses that bring in operands."""
    used = {e.access for e in walk(s.rhs) if isinstance(e, Ref)}
    return sorted(used - {own, s.target})


def _dims(s: Statement, a: Access) -> frozenset[int]:
    """Iterators that move an access; every subscript must be one affine formula."""
    found: set[int] = set()
    for k in range(a.index.dim(isl.dim_type.out)):
        c = coefficients(a.index.get_pw_aff(k), len(s.iterators))
        if c is None:
            raise NoContraction(f"a subscript of `{a.array}` is no plain affine formula")
        found |= {d for d, x in enumerate(c) if x}
    return frozenset(found)


def _value_dims(s: Statement, number: int) -> set[int]:
    c = coefficients(s.values[number], len(s.iterators))
    if c is None:
        raise NoContraction("it uses an index that is no plain affine formula")
    return {d for d, x in enumerate(c) if x}


def _groups(target: Sequence[int], reads: Sequence[set[int]]) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Target iterators that vary together in some operand; iterators of all operands are a batch around them."""
    groups = _components(target, reads)
    if len(groups) != 1:
        return groups, ()
    moving = [r for r in reads if r]
    batch = tuple(d for d in target if len(moving) > 1 and all(d in r for r in moving))
    rest = [d for d in target if d not in batch]
    inside = _components(rest, [r - set(batch) for r in reads])
    return (inside, batch) if len(inside) == 2 else (groups, ())


def _components(nodes: Sequence[int], reads: Sequence[set[int]]) -> list[tuple[int, ...]]:
    parts = [{d} for d in nodes]
    for r in reads:
        touched = [p for p in parts if p & r]
        if touched:
            parts = [p for p in parts if not p & r] + [set().union(*touched)]
    return sorted(tuple(sorted(p)) for p in parts)


def _roles(scop: Scop, s: Statement, groups: list[tuple[int, ...]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Columns run along the target's lines if one group does; their vectors then load and store whole."""
    ordered = [_in_memory_order(s, g) for g in groups]
    if len(ordered) == 1:
        return ordered[0], ()
    first, second = ordered
    if _unit(scop, s, s.accesses[s.target], first[-1]) and not _unit(scop, s, s.accesses[s.target], second[-1]):
        return second, first
    return first, second


def _in_memory_order(s: Statement, group: tuple[int, ...]) -> tuple[int, ...]:
    """Iterators sorted so that the last moves the target's last subscript."""
    index = s.accesses[s.target].index

    def place(d: int) -> int:
        found = -1
        for k in range(index.dim(isl.dim_type.out)):
            c = coefficients(index.get_pw_aff(k), len(s.iterators))
            found = k if c and c[d] else found
        return found

    return tuple(sorted(group, key=lambda d: (place(d), d)))


def _unit(scop: Scop, s: Statement, a: Access, d: int) -> bool:
    """Does the access move by one element when iterator `d` advances?"""
    array = scop.arrays[a.array]
    steps = []
    for k in range(array.scope, a.index.dim(isl.dim_type.out)):
        c = coefficients(a.index.get_pw_aff(k), len(s.iterators))
        steps.append(c[d] if c else None)
    return bool(steps) and steps[-1] == 1 and not any(steps[:-1])


def unit_stride(scop: Scop, s: Statement, access: int, d: int) -> bool:
    """Does access number `access` move by one element along iterator `d`?"""
    return _unit(scop, s, s.accesses[access], d)


def _side(s: Statement, e: Expr, sides: dict[int, str], depth: set[int], vector: bool) -> str:
    """Which operand an expression belongs to: "a", "b", "const", or "" when it needs both."""
    found: set[str] = set()
    deep = False
    for x in walk(e):
        if not isinstance(x, (Ref, Affine)):
            continue
        dims = _dims(s, s.accesses[x.access]) if isinstance(x, Ref) else _value_dims(s, x.value)
        found |= {sides[d] for d in dims if d in sides}
        deep = deep or bool(set(dims) & depth)
    if len(found) == 2:
        return ""
    if found and vector:
        return found.pop() if isinstance(e, Ref) else ""  # a matrix is used where it lies, element by element
    return found.pop() if found else "b" if deep else "const"
