"""Proof of inner loops of unrolled or vectorized loops: shared by all iterations, or split where only some run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import Bin, Block, CExpr, CNode, For, Instance, Int, Name, expr_names, substitute, walk
from codegen.ast.lowered import Alone, Inner, Load, Split, Together
from codegen.ast.normal_forms import difference, form
from codegen.recognize.access.dereferenceable import certain
from codegen.scop.dependences import param_space
from codegen.scop.tree import SEQUENTIAL
from codegen.verify.lowered.elements import Box, Dim, Wrong, constant_apart, found_at, same_code, wanted
from codegen.verify.lowered.strips import Match, check_head
from codegen.verify.lowered.variables import BodyContext, Instead, Variable
from codegen.verify.readback import TreePoint

Path = tuple[For, ...]


def check_inner(match: Match, at: BodyContext, x: Inner, plain: For, box: Box, variables: dict[str, Variable]) -> None:
    check_head(x.head, plain, box)
    match(at, plain.body, x.body, box, variables)


def check_together(
    match: Match, at: BodyContext, x: Together, plain: For, box: Box, variables: dict[str, Variable]
) -> None:
    """A loop in all lanes, with elements in variables all the while."""
    check_head(x.head, plain, box)
    paths = list(_paths(plain, ()))
    own = {load.name: Instead(_held(at, load, box, variables)) for load in x.loads}
    if own:
        _check_tests(x, plain, paths, box)
        _check_lasting(at, x, paths, box)
    elif x.tests or x.stores:
        raise Wrong("stores what it has not loaded")
    for array in {v.elements[0][0] for v in own.values()}:
        if not constant_apart([e for v in own.values() for e in v.elements if e[0] == array]):
            raise Wrong(f"has an element of `{array}` in two variables")
    inside = {**variables, **own}
    match(at, plain.body, x.body, box, inside)
    if x.several:
        if plain.step != 1 or plain.loop.kind != SEQUENTIAL:
            raise Wrong("turns vectors of a loop that is not in order")
        match(at, plain.body, x.several, (*box, Dim(plain.var, x.step, False)), inside)
    count = _count(plain)
    if not x.rest and (count is None or count % x.step or not x.several):
        raise Wrong(f"may leave iterations of `{plain.loop.name}` out at its end")


def _held(at: BodyContext, load: Load, box: Box, variables: dict[str, Variable]) -> tuple[tuple, ...]:  # type: ignore[type-arg]
    s = at.scop.statement(load.stmt)
    elements = found_at(at.scop, s, load.access, load.place, at.lanes, load.count)
    if any(isinstance(v, Instead) and v.elements[0][0] == elements[0][0] for v in variables.values()):
        raise Wrong(f"loads `{elements[0][0]}` while variables have it")
    return tuple(elements)


def _check_tests(x: Together, plain: For, paths: Sequence[tuple[Instance, Path]], box: Box) -> None:
    """Where a test does not hold nothing would run, and its bounds are known ahead of the loop."""
    bound = {d.var for d in box if d.size > 1} | {f.var for f in walk(plain) if isinstance(f, For)}
    for t in x.tests:
        if bound & (expr_names(t.lower) | expr_names(t.upper)):
            raise Wrong(f"asks ahead of `{plain.loop.name}` for what is known only in it")
        if not all(any(_alike(t, f) for f in path) for _, path in paths):
            raise Wrong(f"leaves `{plain.loop.name}` out where some of it runs")


def _check_lasting(at: BodyContext, x: Together, paths: Sequence[tuple[Instance, Path]], box: Box) -> None:
    """Elements in variables are there, since something that touches each runs for certain; so do stores of it."""
    sure = [p for p, path in paths if all(_runs(f) or any(_alike(f, t) for t in x.tests) for f in path)]
    for load in x.loads:
        s = at.scop.statement(load.stmt)
        array = s.accesses[load.access].array
        writes = any(_target(at, p) == array for p, _ in paths)
        stored = load in x.stores
        if writes != stored:
            raise Wrong(f"stores `{array}` where it does not change, or not where it does")
        elements = found_at(at.scop, s, load.access, load.place, at.lanes, load.count)
        if not all(any(_touches(at, p, e, box, writes) for p in sure) for e in elements):
            raise Wrong(f"loads or stores elements of `{array}` that may not be there")
    if any(store not in x.loads for store in x.stores):
        raise Wrong("stores what it has not loaded")


def _touches(at: BodyContext, p: Instance, e: tuple, box: Box, write: bool) -> bool:  # type: ignore[type-arg]
    """Does a statement read, or write, an element for certain in one of the iterations that run at once?"""
    s = at.scop.statement(p.stmt)
    numbers = [n for n, a in enumerate(s.accesses) if a.array == e[0] and (a.write or not write)]
    numbers = [n for n in numbers if certain(at.scop, s, n)]
    points = [tuple(k if j == i else 0 for j in range(len(box))) for i, d in enumerate(box) for k in range(d.size)]
    return any(wanted(s, p, n, box, by) == e for n in numbers for by in points)


def _target(at: BodyContext, p: Instance) -> str:
    s = at.scop.statement(p.stmt)
    return s.accesses[s.target].array


def _paths(node: CNode, path: Path) -> Iterator[tuple[Instance, Path]]:
    """Statements, each with the loops around it."""
    if isinstance(node, Instance):
        yield node, path
    elif isinstance(node, For):
        yield from _paths(node.body, (*path, node))
    elif isinstance(node, Block):
        for child in node.children:
            yield from _paths(child, path)
    else:
        raise Wrong("has something else than loops and statements")


def _alike(a: For, b: For) -> bool:
    return (a.lower, a.op, a.upper) == (b.lower, b.op, b.upper)


def _count(node: For) -> int | None:
    """Iterations from the first value of a loop to its last, where that is a number."""
    total = difference(form(node.upper), form(node.lower))
    return None if total is None else max(0, total + (node.op != "<"))


def _runs(node: For) -> bool:
    return (_count(node) or 0) > 0


def check_split(match: Match, at: BodyContext, x: Split, plain: For, box: Box, variables: dict[str, Variable]) -> None:
    """A loop that begins or ends elsewhere in some lanes: each lane runs through all of its own iterations, in order.
    """
    wide = [d for d in box if d.size > 1]
    if len(wide) != 1 or not wide[0].free or plain.step != 1:
        raise Wrong("splits a loop for several others around it")
    for part in (x.before, x.after):
        if part is None:
            continue
        _check_alone(part, plain, wide[0])
        used = {a.array for p, _ in _paths(plain, ()) for a in at.scop.statement(p.stmt).accesses}
        if any(isinstance(v, Instead) and v.elements[0][0] in used for v in variables.values()):
            raise Wrong("uses elements in memory while variables have them")
    _check_split_bounds(at, x, plain, wide[0])
    middle = replace(plain, lower=Name(x.names[0]), upper=Name(x.names[1]), op="<")
    check_together(match, at, x.middle, middle, box, variables)


def _check_alone(x: Alone, plain: For, lane: Dim) -> None:
    if (x.var, x.count) != (lane.var, lane.size):
        raise Wrong("does not go through all lanes")
    if (x.head.var, x.head.step) != (plain.var, plain.step) or not same_code(x.head.body, plain.body):
        raise Wrong("does something else in single lanes")
    if x.head.op != "<" or x.head.carried or x.head.form is not None or x.head.ahead or x.head.sure:
        raise Wrong("does something else in single lanes")


def _check_split_bounds(at: BodyContext, x: Split, plain: For, lane: Dim) -> None:
    """For every lane: the parts are all of its iterations, none twice, and come in their order."""
    past = plain.upper if plain.op == "<" else Bin("+", plain.upper, Int(1))
    own: dict[str, CExpr] = {lane.var: Name("lane")}
    ends: dict[str, CExpr] = {x.names[0]: x.first, x.names[1]: x.past}

    def of_lane(e: CExpr) -> CExpr:
        return substitute(substitute(e, own), ends)

    exprs = [plain.lower, past, x.first, x.past]
    names = sorted({lane.var, *(n for e in exprs for n in expr_names(e))} - {p.name for p in at.scop.params})
    space = param_space(at.scop).set_from_params().add_dims(isl.dim_type.set, len(names) + 2)
    here = TreePoint(isl.Set.universe(space).intersect_params(at.scop.context), (*names, "lane", plain.var), (), (), ())
    first, lanes = here.value(Name(lane.var)), here.value(Name("lane"))
    domain = here.domain.intersect(lanes.ge_set(first))
    domain = domain.intersect(lanes.lt_set(first.add_constant_val(isl.Val(lane.size))))
    it = here.value(Name(plain.var))

    def run(low: CExpr, high: CExpr) -> isl.Set:
        return domain.intersect(it.ge_set(here.value(low))).intersect(it.lt_set(here.value(high)))

    nothing = domain.subtract(domain)
    every = run(of_lane(plain.lower), of_lane(past))
    before = nothing if x.before is None else run(of_lane(x.before.head.lower), of_lane(x.before.head.upper))
    middle = run(x.first, x.past)
    after = nothing if x.after is None else run(of_lane(x.after.head.lower), of_lane(x.after.head.upper))
    if not before.union(middle).union(after).is_equal(every):
        raise Wrong(f"does not run every lane's iterations of `{plain.loop.name}`, or runs others")
    late, early = it.ge_set(here.value(x.first)), it.lt_set(here.value(x.past))
    clash = before.intersect(late), after.intersect(early), before.intersect(after)
    if not all(s.is_empty() for s in clash):
        raise Wrong(f"runs iterations of `{plain.loop.name}` again in some lanes, or out of order")
