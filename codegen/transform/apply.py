"""Applies a plan to a program, one directive after the other; each is checked for legality when it is applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module

import islpy as isl

from codegen.diagnostics import Loc
from codegen.plan.model import (
    Balance,
    CopyReads,
    Diamond,
    Directive,
    Distribute,
    Expand,
    Forward,
    Grid,
    InLanes,
    Interleave,
    Jam,
    LoopRef,
    Multiply,
    OnMesh,
    Order,
    Parallel,
    Pipeline,
    Plan,
    Ranks,
    Registers,
    Relayout,
    Reverse,
    ScalarReplace,
    Schedule,
    Skew,
    StageIn,
    StageShared,
    Stay,
    StoreIn,
    StripMine,
    Substitute,
    Tile,
    TimeSteps,
    Unroll,
    Unskew,
    Vector,
)
from codegen.plan.text import keyword
from codegen.recognize.products.forward import forward
from codegen.recognize.reductions import free_pairs
from codegen.scop.dependences import compute_dependences
from codegen.scop.tree import GRID, Band, Loop, Slot, statements, walk
from codegen.transform import mark, order, tile
from codegen.transform.find import find, illegal
from codegen.transform.program import Program, make_program, violation


def apply_plan(p: Program, plan: Plan) -> Program:
    """The program after all directives. Raises InputError at the first that is illegal."""
    rewritten = False
    for d in plan.directives:
        if not isinstance(d, _REWRITE):
            rewritten = True
        elif rewritten:
            raise illegal(f"`{keyword(d)}` comes too late", d.loc, "move the directive to the front of the plan")
        try:
            _check_values(p, d)
            p = apply(p, d)
            _check_order(p, d)
        except isl.Error as error:
            why = str(error).splitlines()[0]
            raise illegal(f"isl cannot carry out this directive: {why}", d.loc, "leave it out") from None
    return p


def _check_values(p: Program, d: Directive) -> None:
    """The values of blocks, which become conditions of generated loops, can be computed."""
    from codegen.transform.formulas import value_in_room

    if isinstance(d, StripMine):
        for name in sorted(d.values):
            if not all(value_in_room(p.scop, name, v) for v in (d.values[name], *d.apart.get(name, ()))):
                raise illegal(f"a value of {name} goes beyond 64 bits", d.loc, "use smaller factors")


def _check_order(p: Program, d: Directive) -> None:
    """What authors of the tool's own do not get wrong: every iteration has a time of its own, which C can compute."""
    from codegen.transform.formulas import same_time, too_wide

    alike = same_time(p.scop, p.tree) if isinstance(d, (Schedule, Unskew)) else ""
    if alike:
        raise illegal(alike, d.loc, "give each statement as many loops as it has in the source")
    wide = too_wide(p.scop, p.tree) if isinstance(d, (Schedule, Skew, Diamond)) else ""
    if wide:
        raise illegal(wide, d.loc, "use smaller factors")


def apply(p: Program, d: Directive) -> Program:
    """One step. An order that breaks a dependence is refused with that dependence as the reason."""
    after = _APPLY[type(d)](p, d)
    if not isinstance(d, Schedule):
        _products_kept(p, after, d)
    if isinstance(d, _REORDERS):
        broken = violation(after)
        if broken:
            raise illegal(f"this directive is illegal: {broken}", d.loc, "leave it out, or choose another order")
    return after


def _products_kept(before: Program, after: Program, d: Directive) -> None:
    """The loops of a product are carried out as they are."""
    now = {statements(n): n for _, n in walk(after.tree) if isinstance(n, Band) and n.product is not None}
    for _, old in walk(before.tree):
        if isinstance(old, Band) and old.product is not None:
            (name,) = statements(old)
            new = now.get((name,))
            if new is None or new.product is not old.product or not all(map(_same_loop, old.loops, new.loops)):
                raise illegal(f"loops of {name} are those of a product", d.loc, "leave the directive out")


def _same_loop(a: Loop, b: Loop) -> bool:
    same = (a.name, a.kind, a.tile) == (b.name, b.kind, b.tile) and a.exprs.keys() == b.exprs.keys()
    return same and all(e.is_equal(b.exprs[n]) for n, e in a.exprs.items())


def _forward(p: Program, d: Forward) -> Program:
    found = forward(p.scop, p.tree, d.variable)
    if found is None:
        raise illegal(f"`{d.variable}` is not just gathered for one element", d.loc, "leave the directive out")
    scop, tree = found
    deps = compute_dependences(scop, tree, free_pairs(scop, p.reassociate))
    return make_program(scop, deps, tree, p.reassociate)


def _substitute(p: Program, d: Substitute) -> Program:
    from codegen.recognize.products.substitution import substituted
    from codegen.verify.substitution import wrong_substitution

    found = substituted(p.scop, p.tree, d.variable)
    if found is None:
        why = f"`{d.variable}` is no temporary whose value can stand where it is read"
        raise illegal(why, d.loc, "leave the directive out")
    scop, tree = found
    problem = wrong_substitution(p.scop, p.tree, scop, tree, d.variable)
    if problem:
        raise illegal(f"the value of `{d.variable}` cannot stand where it is read: {problem}", d.loc, "leave it out")
    deps = compute_dependences(scop, tree, free_pairs(scop, p.reassociate))
    return make_program(scop, deps, tree, p.reassociate)


def _expand(p: Program, d: Expand) -> Program:
    from codegen.recognize.privatize.expansion import NoExpansion, expand
    from codegen.verify.expansion import wrong_expansion

    if any(isinstance(n, Band) and n.product is not None for _, n in walk(p.tree)):
        raise illegal("variables are expanded before products are made", d.loc, "move the directive to the front")
    try:
        made = expand(p.scop, d.variable, d.over, d.limit, d.within)
        tree = made.tree(p.tree)
    except NoExpansion as error:
        raise illegal(f"`{d.variable}` cannot be expanded: {error}", d.loc, "leave the directive out") from None
    problem = wrong_expansion(p.scop, p.tree, made.scop, tree, made.buffer)
    if problem:
        raise illegal(f"`{d.variable}` cannot be expanded: {problem}", d.loc, "leave the directive out")
    deps = compute_dependences(made.scop, tree, free_pairs(made.scop, p.reassociate))
    return make_program(made.scop, deps, tree, p.reassociate)


def _schedule(p: Program, d: Schedule) -> Program:
    return p.with_tree(d.tree)


def _store(p: Program, d: StoreIn) -> Program:
    array = p.scop.arrays.get(d.variable)
    if array is None or not array.inside:
        names = sorted(a for a, x in p.scop.arrays.items() if x.inside)
        raise illegal(
            f"`{d.variable}` is not a variable of the region", d.loc, f"variables: {', '.join(names) or 'none'}"
        )
    find(p.tree, d.loop, d.loc)
    users = [s for s in p.scop.statements if any(a.array == d.variable for a in s.accesses)]
    scope = users[0].iterators[: array.scope]
    sizes, starts = [0] * array.scope, [""] * array.scope
    for it, start, size in d.dims:
        if it not in scope:
            raise illegal(f"`{d.variable}` has no dimension {it}", d.loc, f"dimensions: {', '.join(scope) or 'none'}")
        if size <= 0:
            raise illegal("a size must be positive", d.loc)
        sizes[scope.index(it)], starts[scope.index(it)] = size, start
    slot = Slot(d.variable, (*sizes, *([-1] * array.rank)), (*starts, *([""] * array.rank)))
    return replace(p, stores={**p.stores, d.variable: (d.loop.name, slot)})


def _check_array(p: Program, name: str, loc: Loc) -> None:
    if name not in p.scop.arrays or p.scop.arrays[name].inside:
        names = sorted(a for a, x in p.scop.arrays.items() if not x.inside)
        raise illegal(f"there is no array `{name}`", loc, f"arrays: {', '.join(names)}")


def _check_statement(p: Program, name: str, loc: Loc) -> None:
    names = [s.name for s in p.scop.statements]
    if name not in names:
        raise illegal(f"there is no statement `{name}`", loc, f"statements: {', '.join(names)}")


def _stage(p: Program, d: StageIn) -> Program:
    _check_array(p, d.array, d.loc)
    _check_statement(p, d.stmt, d.loc)
    for place in find(p.tree, LoopRef(d.loop, d.stmt), d.loc) if d.loop else ():
        if not place.loop.tile:
            raise illegal(f"loop `{d.loop}` is no tile loop", d.loc, "name one that `tile` has made, or write `in`")
    return replace(p, staging=(*p.staging, d))


def _shared(p: Program, d: StageShared) -> Program:
    _check_array(p, d.array, d.loc)
    find(p.tree, d.loop, d.loc)
    return replace(p, tiles=(*p.tiles, d))


def _registers(p: Program, d: Registers) -> Program:
    for ref, _ in d.loops:
        if any(q.loop.kind != GRID for q in find(p.tree, ref, d.loc)):
            raise illegal(f"loop {ref} has no threads of a grid", d.loc, "write `grid` ahead of it")
    if d.loops[0][0].stmt != d.loops[1][0].stmt:
        raise illegal("the two loops are around different statements", d.loc, "one tile is of one statement")
    return replace(p, tiles=(*p.tiles, d))


def _mesh(p: Program, d: OnMesh) -> Program:
    _check_statement(p, d.stmt, d.loc)
    return replace(p, staging=(*p.staging, d))


def _steps(p: Program, d: TimeSteps) -> Program:
    find(p.tree, d.loop, d.loc)
    if d.steps < (1 if d.threads else 2) or min(d.sides) < 1:
        raise illegal("there are two steps at least, and tiles have points", d.loc)
    return replace(p, staging=(*p.staging, d))


def _lanes(p: Program, d: InLanes) -> Program:
    find(p.tree, d.loop, d.loc)
    if d.row:
        find(p.tree, LoopRef(d.row, d.loop.stmt), d.loc)
    if d.row == d.loop.name:
        raise illegal(f"loop `{d.row}` cannot be the one of the rows, too", d.loc, "name another loop behind `with`")
    if min(d.vectors, d.rows) < 1:
        raise illegal("there is one vector in one row at least", d.loc)
    return replace(p, staging=(*p.staging, d))


def _stay(p: Program, d: Stay) -> Program:
    _check_array(p, d.array, d.loc)
    if d.tiles <= 0:
        raise illegal("a number of tiles must be positive", d.loc)
    return replace(p, stays={**p.stays, (d.array, d.stmt): d.tiles})


def _by(name: str) -> Callable[[Program, Directive], Program]:
    """`apply` of a module that few plans need, which is loaded when one does."""

    def apply(p: Program, d: Directive) -> Program:
        made: Program = import_module(f"codegen.transform.{name}").apply(p, d)
        return made

    return apply


# What speaks of the source's own loops, or gives statements other names and other data. Everything else speaks of the
# statements that come of it.
_REWRITE = (Ranks, Forward, Substitute, Expand, StripMine, CopyReads, Relayout)
# After these the dependences are asked.
_REORDERS = (Schedule, Balance, Tile, Diamond, Order, Reverse, Skew, Unskew, Distribute, Unroll, Multiply)
_APPLY: Mapping[type, Callable[..., Program]] = {
    Forward: _forward,
    Substitute: _substitute,
    Expand: _expand,
    CopyReads: _by("copy_reads"),
    StripMine: _by("block"),
    Relayout: _by("layout"),
    Schedule: _schedule,
    Tile: tile.apply,
    Balance: _by("balance"),
    Diamond: _by("diamond"),
    Order: order.order,
    Reverse: order.reverse,
    Skew: order.skew,
    Distribute: order.distribute,
    Parallel: mark.parallel,
    Ranks: mark.ranks,
    Pipeline: _by("pipeline"),
    Vector: mark.vector,
    Unskew: order.unskew,
    Unroll: mark.unroll,
    Jam: mark.jam,
    Interleave: mark.interleave,
    ScalarReplace: mark.scalar_replace,
    StoreIn: _store,
    Stay: _stay,
    StageIn: _stage,
    OnMesh: _mesh,
    TimeSteps: _steps,
    InLanes: _lanes,
    Grid: _by("grid"),
    Registers: _registers,
    StageShared: _shared,
    Multiply: _by("product"),
}
