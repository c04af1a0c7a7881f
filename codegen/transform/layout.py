"""The directive `layout`: keeps an array in panels of its last subscript, each in one piece, in memory of the region's
own for as long as that runs. Raises InputError where that cannot be.

`A[i][j]` is the element `P[j / size][i][j % size]`. Where a nest goes down a few columns of a matrix again and again,
each row of them is on a page of its own, and no prefetcher follows; in a panel they are one stream. Elements that the
region reads are copied ahead of it, unless nothing comes from before, and those that it writes are copied back behind
it. All statements name the block of their column by an iterator (`block` gives them one): everything stays affine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.plan.model import Relayout
from codegen.recognize.access.dereferenceable import certain
from codegen.recognize.privatize.expansion import NoExpansion, last_subscripts, size_text
from codegen.recognize.stores import left_alone
from codegen.scop.dependences import Dependence, Dependences, accesses_of, order_map, param_space, union_maps
from codegen.scop.element_access import element_access, in_one_piece
from codegen.scop.expr import Ref, is_code
from codegen.scop.flows import last_writers, times_of
from codegen.scop.model import Access, Array, RegionBuffer, Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, seq
from codegen.transform.find import free_name, illegal
from codegen.transform.program import Program, make_program
from codegen.verify.layout import wrong_layout

LIMIT = 1 << 40  # bytes beyond which the region runs as it was written


def apply(p: Program, d: Relayout) -> Program:
    """The program with the array in panels; refused where a value would be another."""
    scop = with_layout(p.scop, d)
    into, back = _copied(scop, d, False), _copied(scop, d, True)
    tree = seq([*map(_nest, into), p.tree, *map(_nest, back)])
    problem = wrong_layout(p.scop, p.tree, scop, tree, scop.buffers[-1])
    if problem:
        raise illegal(problem, d.loc)
    deps = _carried_over(p, scop, d, order_map(scop, tree))
    return replace(make_program(scop, deps, tree, p.reassociate), stores=p.stores)


def with_layout(scop: Scop, d: Relayout) -> Scop:
    """The region with panels in place of the array, and with the copies, whether or not values are right."""
    if d.size < 1:
        raise illegal("a panel has at least one column", d.loc)
    array = scop.arrays.get(d.array)
    if array is None or array.place in ("buffer", "inside") or array.rank < 2:
        raise illegal(f"`{d.array}` is no array with columns", d.loc)
    if not free_name(scop, d.name, [s.name for s in scop.statements]):
        raise illegal(f"`{d.array}` cannot be kept in `{d.name}`", d.loc, "the panels need a name of their own")
    _check_uses(scop, d)
    try:
        lasts = last_subscripts(scop, d.array)
    except NoExpansion as error:
        raise illegal(f"`{d.array}` has no panels: {error}", d.loc) from None
    sizes, texts = _extents(scop, lasts, d.size)
    wide = Array(d.name, d.name, array.elem, len(sizes), texts, place="buffer", unshared=True)
    moved = tuple(_moved(s, d, wide) for s in scop.statements)
    made = replace(
        scop,
        statements=moved,
        arrays={**scop.arrays, d.name: wide},
        buffers=(*scop.buffers, RegionBuffer(d.name, d.array, sizes, texts, LIMIT)),
    )
    for write in (True,) if d.fresh else (False, True):
        uses = [(s, a) for s, a in scop.accesses() if a.array == d.array and a.write == write]
        if uses:
            made = replace(made, statements=(*made.statements, _copy(made, uses, d, wide)))
    return made


def _check_uses(scop: Scop, d: Relayout) -> None:
    users = [s for s in scop.statements if any(a.array == d.array for a in s.accesses)]
    array = scop.arrays[d.array]
    if array.mixed or array.opaque or not array.declarable or any(is_code(s.rhs) for s in users):
        raise illegal(f"elements of `{d.array}` are more than one number, or their type has no name", d.loc)
    uses = [(s, k, a) for s in users for k, a in enumerate(s.accesses) if a.array == d.array]
    sure = all(certain(scop, s, k) and not a.partial for s, k, a in uses)
    if not sure or left_alone(scop, d.array):
        raise illegal(f"`{d.array}` is used under a condition; elsewhere the element need not exist", d.loc)


def _extents(scop: Scop, lasts: Sequence[isl.PwAff], size: int) -> tuple[tuple[isl.PwAff, ...], tuple[str, ...]]:
    """Panels, rows and columns of a panel, in the model and as C."""
    ends = [v.add_constant_val(isl.Val(1)) for v in lasts]
    panels = lasts[-1].scale_down_val(isl.Val(size)).floor().add_constant_val(isl.Val(1))
    past = size_text(lasts[-1].add_constant_val(isl.Val(size)), scop.params)
    past = past[1:-1] if past.startswith("(") and past.endswith(")") else past  # else it is a name, perhaps with a cast
    number = str(int(past) // size) if past.isdigit() else f"tw_floord({past}, {size})"
    columns = lasts[-1].sub(lasts[-1]).add_constant_val(isl.Val(size))
    sizes = (panels, *ends[:-1], columns)
    return sizes, (number, *(size_text(v, scop.params) for v in ends[:-1]), str(size))


def _block(s: Statement, column: isl.PwAff, size: int) -> isl.PwAff | None:
    """The iterator of a statement that counts the blocks which a value of it lies in."""
    local = isl.LocalSpace.from_space(s.domain.get_space())
    for k in reversed(range(len(s.iterators))):
        block = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k))
        first = block.scale_val(isl.Val(size))
        inside = column.ge_set(first).intersect(column.lt_set(first.add_constant_val(isl.Val(size))))
        if s.domain.is_subset(inside):
            return block
    return None


def _moved(s: Statement, d: Relayout, wide: Array) -> Statement:
    return replace(s, accesses=tuple(_cell(s, a, d, wide) if a.array == d.array else a for a in s.accesses))


def _cell(s: Statement, a: Access, d: Relayout, wide: Array) -> Access:
    """The cell of an element."""
    *rows, column = (a.index.get_pw_aff(k) for k in range(a.index.dim(isl.dim_type.out)))
    block = _block(s, column, d.size)
    if block is None:
        raise illegal(f"no iterator of {s.name} counts blocks of {d.size} columns", d.loc, "write `block` ahead of it")
    return _access(s, wide, a.write, [block, *rows, column.sub(block.scale_val(isl.Val(d.size)))], a)


def _access(s: Statement, array: Array, write: bool, values: Sequence[isl.PwAff], like: Access) -> Access:
    path = in_one_piece(array.extents) if array.place == "buffer" else like.path
    return element_access(s.domain, array.name, write, values, path, like.loc)


def _copy(scop: Scop, uses: Sequence[tuple[Statement, Access]], d: Relayout, wide: Array) -> Statement:
    """One instance for each element that is used: in panels, along their rows. Copied back where it is written."""
    label = f"S{1 + max(int(s.name[1:]) for s in scop.statements)}"
    like, array = uses[0][1], scop.arrays[d.array]
    elements = like.relation.range()
    for _, a in uses[1:]:
        elements = elements.union(a.relation.range())
    elements = elements.intersect_params(scop.context).reset_tuple_id().coalesce()
    rank = elements.dim(isl.dim_type.set)
    domain = elements.insert_dims(isl.dim_type.set, 0, 1)
    iterators = _names(scop, 1 + rank)
    local = isl.LocalSpace.from_space(domain.get_space())
    first, column = (isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k)) for k in (0, rank))
    first = first.scale_val(isl.Val(d.size))
    domain = domain.intersect(column.ge_set(first).intersect(column.lt_set(first.add_constant_val(isl.Val(d.size)))))
    domain = domain.set_tuple_name(label)
    for k, it in enumerate(iterators):
        domain = domain.set_dim_name(isl.dim_type.set, k, it)
    text = f"{d.array} in panels" if not like.write else f"{d.array} out of panels"
    s = Statement(label, iterators, domain, "=", 0, Ref(1), (), (), like.loc, text)
    local = isl.LocalSpace.from_space(domain.get_space())
    own = [isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k)) for k in range(1 + rank)]
    element = _access(s, array, like.write, own[1:], like)
    cell = _cell(s, replace(element, write=not like.write), d, wide)
    return replace(s, accesses=(element, cell) if like.write else (cell, element))


def _names(scop: Scop, count: int) -> tuple[str, ...]:
    taken = {*scop.names, *scop.arrays, *(x.name for x in scop.params)}
    free = (n for n in ("c", "e", "f", "g", "h", *(f"e{k}" for k in range(99))) if n not in taken)
    return tuple(next(free) for _ in range(count))


def _copied(scop: Scop, d: Relayout, write: bool) -> list[Statement]:
    """The copy that writes the array, or reads it."""
    own = [s for s in scop.statements if {a.array for a in s.accesses} == {d.array, d.name}]
    return [s for s in own if s.accesses[0].array == (d.array if write else d.name)]


def _nest(s: Statement) -> Node:
    local = isl.LocalSpace.from_space(s.domain.get_space())
    loops = tuple(
        Loop(n, {s.name: isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k))}, coincident=True)
        for k, n in enumerate(s.iterators)
    )
    return Band(loops, Leaf(s.name))


# -- dependences -----------------------------------------------------------------------------------------------------


def _carried_over(p: Program, scop: Scop, d: Relayout, times: isl.UnionMap) -> Dependences:
    """The dependences of the region with panels, from those without: an element is one cell, so what met in the one
    meets in the other. Only what the copies add is found anew."""
    space = param_space(scop)
    names = {d.array: d.name}
    own = {s.name for s in scop.statements[len(p.scop.statements) :]}
    reads, writes = (
        union_maps(accesses_of(scop, d.name, w), space).intersect_params(scop.context) for w in (False, True)
    )
    copies = isl.UnionSet.empty(space)
    for s in scop.statements:
        copies = copies.union(isl.UnionSet.from_set(s.domain)) if s.name in own else copies
    into, back = writes.intersect_domain(copies), reads.intersect_domain(copies)
    fetched, kept = (
        union_maps(accesses_of(scop, d.array, w), space).intersect_params(scop.context) for w in (False, True)
    )
    unfed = p.deps.live_in.intersect_range(isl.UnionSet.from_set(_universe(p.scop, d.array)))
    brought = fetched.apply_range(unfed.reverse())
    mine = writes.subtract_domain(copies)
    last, _ = last_writers(back, writes, times_of(times, back, writes)) if not back.is_empty() else (back, back)
    new = (
        Dependence("flow", d.name, brought.union(last).coalesce()),
        Dependence("output", d.name, into.apply_range(mine.reverse()).coalesce()),
        Dependence("flow", d.name, mine.apply_range(back.reverse()).coalesce()),
        Dependence("anti", d.array, fetched.apply_range(kept.reverse()).coalesce()),
    )
    found = tuple(Dependence(x.kind, names.get(x.array, x.array), x.relation) for x in p.deps.all)
    flows = {names.get(a, a): m for a, m in p.deps.flows.items()}
    flows[d.name] = flows.get(d.name, last).union(brought).union(last).coalesce()
    old = union_maps(accesses_of(p.scop, d.array, True), space).intersect_params(scop.context)
    return Dependences(
        (*found, *(x for x in new if not x.relation.is_empty())),
        {names.get(a, a): m for a, m in p.deps.folds.items()},
        flows,
        p.deps.live_in.subtract(unfed).union(fetched),
        p.deps.live_out.subtract(old).union(writes).union(kept),
    )


def _universe(scop: Scop, array: str) -> isl.Set:
    a = next(a for _, a in scop.accesses() if a.array == array)
    return isl.Set.universe(a.relation.get_space().range())
