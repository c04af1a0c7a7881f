"""Conditional stores: decides which of those that the source makes only under a condition on data stay conditional, and
makes each of the others the store of a chosen value (`settled`).

`if (a[i] > *s) *s = a[i];` is modelled as a read and a write of `*s`, but nothing may be stored where the condition
does not hold: the memory may be read-only, and other threads of the program may change it meanwhile. Such a statement
keeps its `if` (`Ternary.branch`). Where nobody else can see the target, or the region stores to the same element in any
case, what it holds may as well be stored again: the statement becomes the choice of a value, which vectors can make.
For that it must hold something: the statement reads it whatever the data, or the region has stored to it before.
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.frontend.syntax.constructs import constructs
from codegen.frontend.syntax.symbols import RegionSite, escapes
from codegen.recognize.access.dereferenceable import always, owned
from codegen.scop.dependences import order_map
from codegen.scop.expr import Expr, Ref, Ternary, children, is_code, may_skip, walk, with_parts
from codegen.scop.model import Array, Scop, Statement
from codegen.scop.tree import Node


def settled(scop: Scop, site: RegionSite, tree: Node) -> Scop:
    """The region with `if` left only where a store must not be made, and with arrays that nobody else sees marked."""
    arrays = {n: replace(a, unshared=_unshared(a, site)) for n, a in scop.arrays.items()}
    scop = replace(scop, arrays=arrays)
    return replace(scop, statements=tuple(_settled(scop, s, tree) for s in scop.statements))


def conditional(s: Statement) -> bool:
    """May the statement leave its target alone?"""
    return may_skip(s.rhs)


def left_alone(scop: Scop, name: str) -> bool:
    """May there be elements that others see and that the region leaves alone, though the model has it write them?"""
    writers = [s for s in scop.statements if s.accesses[s.target].array == name and conditional(s)]
    return not scop.arrays[name].unshared and not all(owned(scop, s) for s in writers)


def without_branches(s: Statement) -> Statement:
    """The statement as a choice of the value that is stored, for code that decides by other means what is stored."""
    return replace(s, rhs=_chosen(s.rhs))


def _unshared(array: Array, site: RegionSite) -> bool:
    """Is it of no concern to anybody but this run of the function? A variable of its own whose address goes nowhere."""
    var = site.variables.get(array.base)
    if array.inside or array.place == "buffer":
        return True
    if constructs(site):
        return False  # the threads of a construct share what was declared before it
    if var is None or var.static or var.place not in ("local", "param") or array.base in site.hidden:
        return False
    return all(la.kind == "array" for la in var.shape.declarators) and (
        not (var.shape.declarators and var.place == "param") and not escapes(site.function.body, var)
    )


def _settled(scop: Scop, s: Statement, tree: Node) -> Statement:
    target = s.accesses[s.target]
    array = scop.arrays[target.array]
    if not conditional(s) or array.elem.enum or is_code(s.rhs):
        return s
    seen = (s.accesses[e.access] for e in always(s.rhs) if isinstance(e, Ref))
    read = any(a.array == target.array and a.relation.is_equal(target.relation) for a in seen)
    mine = array.unshared or owned(scop, s)
    may_choose = mine and (read or (not _uniform(s) and _stored_before(scop, s, tree)))
    return without_branches(s) if may_choose else s


def _uniform(s: Statement) -> bool:
    """Are the conditions on data the same in all iterations of the innermost loop? Then one branch around that loop
    does: mix_down (Neoverse N1, gcc) takes 2.7 times as long with a choice in each of them."""
    last = s.domain.dim(isl.dim_type.set) - 1
    tests = (e.cond for e in walk(s.rhs) if isinstance(e, Ternary) and e.branch)
    read = [s.accesses[x.access].relation for t in tests for x in walk(t) if isinstance(x, Ref)]
    return last >= 0 and bool(read) and all(r.project_out(isl.dim_type.in_, last, 1).is_single_valued() for r in read)


def _stored_before(scop: Scop, s: Statement, tree: Node) -> bool:
    """Has the region stored to the element whatever the data, ahead of every instance of the statement?"""
    target = s.accesses[s.target]
    times = order_map(scop, tree)
    mine = times.intersect_domain(isl.UnionSet.from_set(s.domain))
    found = isl.UnionSet.empty(times.get_space())
    for t in scop.statements:
        stores = t.accesses[t.target]
        if stores.array == target.array and not any(map(may_skip, walk(t.rhs))):
            same = target.relation.apply_range(stores.relation.reverse())
            earlier = mine.lex_gt_union_map(times.intersect_domain(isl.UnionSet.from_set(t.domain)))
            found = found.union(isl.UnionMap.from_map(same).intersect(earlier).domain())
    return bool(isl.UnionSet.from_set(s.domain.intersect_params(scop.context)).is_subset(found))


def _chosen(e: Expr) -> Expr:
    if not children(e):
        return e
    made = with_parts(e, _chosen)
    return replace(made, branch=False) if isinstance(made, Ternary) else made


__all__ = ["conditional", "left_alone", "settled", "without_branches"]
