"""Makes variables `firstprivate` and `lastprivate`, arrays too: each iteration has its own, though they are live before
or after the loop. `lastprivates` returns the new region, or None unless a loop loses its dependences.

`for (i) { t = A[i]; B[i] = t * t; } return t;` writes one `t` over and over, which keeps the loop from running in
parallel. With an own `t` in each iteration, and the last one of them copied to `t` where it is final, only values
that flow from one iteration to another are left to keep. Elements that keep their value from before the loop, such as
the ends of a line that every iteration fills, are copied into each iteration's own.

What is made here is a proposal that `wrong_privatization` judges by comparing both regions: every read has the writer
it had, and what is there after the region is what was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from codegen.diagnostics import Diagnostic, Severity
from codegen.recognize.access.dereferenceable import certain
from codegen.recognize.access.strides import coefficients
from codegen.recognize.privatize.gain import gains
from codegen.recognize.privatize.privates import common_loops, fresh, make_inside, same_iterator, small, users_of
from codegen.recognize.stores import left_alone
from codegen.record import record
from codegen.scop.dependences import Dependences, compute_dependences, order_map, param_space, union_maps
from codegen.scop.flows import last_writers, times_of
from codegen.scop.isl_helpers import maps_of
from codegen.scop.model import Array, Scop
from codegen.scop.tree import Node, Seq, enclosing, statements

if TYPE_CHECKING:
    from codegen.recognize.privatize.lastprivate_copies import Copies

SUFFIX = "_own"


@record
class Privatized:
    """The region with variables of its own, by the statements that use them; copied where they are final, and some of
    them, `first`, where they come from before."""

    scop: Scop
    tree: Node
    deps: Dependences
    names: tuple[str, ...]
    first: tuple[str, ...] = ()


@record
class _Use:
    """A variable, the statements below one loop that use it, how many loops separate what they pass on, and their reads
    of values from elsewhere."""

    name: str
    users: tuple[str, ...]
    depth: int
    exposed: tuple[isl.Map, ...]


def lastprivates(scop: Scop, tree: Node, deps: Dependences) -> Privatized | None:
    """The region with such variables, if that takes a dependence off a loop; None otherwise."""
    candidates = tuple(_candidates(scop, tree, deps))
    if not candidates:
        return None
    from codegen.recognize.privatize.lastprivate_copies import with_copies
    from codegen.recognize.privatize.lastprivate_proof import wrong_privatization

    made, order = scop, tree
    done: list[_Use] = []
    for use in candidates:
        own = fresh(made, use.name + SUFFIX)
        moved = make_inside(made, use.name, own, use.users, use.depth)
        copies = _copies(scop, tree, moved, use, own)
        after = replace(moved, statements=(*moved.statements, *copies.all))
        grown = with_copies(order, use.users, copies, use.depth)
        if grown is not None and not wrong_privatization(made, order, after, grown, use.name, own):
            made, order = after, grown
            done.append(use)
    if not done:
        return None
    new = compute_dependences(made, order)
    if not any(gains(tree, deps, order, new, use.users[0], use.depth) for use in done):
        return None
    first = tuple(use.name for use in done if use.exposed)
    return Privatized(made, order, new, tuple(dict.fromkeys(use.name for use in done)), first)


def privatization_remarks(before: Scop, after: Scop, last: Privatized | None) -> tuple[Diagnostic, ...]:
    """Which arrays, and which variables that are looked at later, are now the iterations' own, and what it costs."""
    lasting, first = (last.names, last.first) if last else ((), ())
    found = []
    for name, array in sorted(after.arrays.items()):
        of = name.removesuffix(SUFFIX) if name not in before.arrays else name
        if of not in before.arrays or before.arrays[of].inside or not array.inside or not array.scope:
            continue
        if not array.rank and of not in lasting:
            continue
        s, a = next((s, a) for s, a in before.accesses() if a.array == of and len(s.iterators) >= array.scope)
        cost = _cost(array) if array.rank else ""
        start = "; some of it comes from before" if of in first else ""
        end = "; the last is kept" if of in lasting else ""
        loops = ", ".join(s.iterators[: array.scope])
        text = f"each iteration of {loops} has its own `{of}`{cost}{start}{end}"
        found.append(Diagnostic(Severity.REMARK, "privatized", text, a.loc, kind="passed"))
    return tuple(found)


def _cost(array: Array) -> str:
    """The memory that a variable of the iterations' own takes."""
    if not array.roomy:
        return f", {prod(map(int, array.extents)) * array.elem.bytes} bytes on the stack of each thread"
    sizes = " x ".join(e.replace("(long)", "") for e in array.extents)
    text = f", {sizes} elements of {array.elem.bytes} bytes for each thread"
    return f"{text}; where they cannot be had the region runs as written"


def _candidates(scop: Scop, tree: Node, deps: Dependences) -> Iterator[_Use]:
    for name in sorted({d.array for d in deps.all if d.kind != "flow"}):
        array = scop.arrays[name]
        if array.inside or array.depth > 1 or not small(scop, name) or left_alone(scop, name):
            continue
        parts = tree.children if isinstance(tree, Seq) else (tree,)
        for below in map(statements, parts):
            users = tuple(n for n in users_of(scop, name) if n in below)
            use = _use(scop, tree, name, users) if _written(scop, name, users) else None
            if use is not None:
                yield use


def _written(scop: Scop, name: str, users: Sequence[str]) -> bool:
    return any(a.write for s, a in scop.accesses() if a.array == name and s.name in users)


def _use(scop: Scop, tree: Node, name: str, users: tuple[str, ...]) -> _Use | None:
    """What these statements do with a variable; None where it is nothing for each iteration to have."""
    common = common_loops(tree, [scop.statement(n) for n in users])
    if not common:
        return None
    reads, writes = (
        union_maps(
            [a.relation for s, a in scop.accesses() if a.array == name and a.write == write and s.name in users],
            param_space(scop),
        ).intersect_params(scop.context)
        for write in (False, True)
    )
    flow, unfed = last_writers(reads, writes, times_of(order_map(scop, tree, everywhere=True), reads, writes))
    depth, pairs = 0, maps_of(flow)
    while depth < common and all(same_iterator(m, depth) for m in pairs):
        depth += 1
    exposed = tuple(maps_of(unfed))
    unsure = {str(m.get_tuple_name(isl.dim_type.in_)) for m in exposed}
    sure = all(
        certain(scop, s, k)
        for s in scop.statements
        if s.name in unsure
        for k, a in enumerate(s.accesses)
        if a.array == name and not a.write
    )
    return _Use(name, users, depth, exposed) if depth and pairs and sure else None


def _copies(scop: Scop, tree: Node, moved: Scop, use: _Use, own: str) -> Copies:
    from codegen.recognize.privatize.lastprivate_copies import Copies, back_copy, into_copy

    free = max(int(s.name[1:]) for s in moved.statements) + 1
    directions = _directions(tree, use.users[0])[: use.depth]
    back = back_copy(scop, f"S{free}", use.name, own, use.users, directions)
    if not use.exposed:
        return Copies(None, back)
    first = scop.statement(use.users[0])
    return Copies(into_copy(scop, f"S{free + 1}", (use.name, own), first, use.exposed, use.depth), back)


def _directions(tree: Node, user: str) -> list[int]:
    """1 for loops around a statement that count up, -1 for those that count down."""
    found = []
    for k, loop in enumerate(enclosing(tree, user)):
        value = loop.exprs[user]
        factors = coefficients(value, value.dim(isl.dim_type.in_))
        found.append(-1 if factors and factors[k] < 0 else 1)
    return found
