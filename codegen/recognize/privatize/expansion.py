"""Scalar and array expansion: a variable with one value per iteration of some loops becomes an array.

`double t; for (i) for (j) { t = 0; for (k) t += A[i][k] * B[k][j]; ... }` uses one `t` over and over, and that ties the
statements of an iteration together. With t[i][j] in its place every statement can have loops of its own. A variable
that is looked at after the region gets its last values back by a copy at the end.

What is made here is only a proposal: `verify/expansion.py` proves that every read still finds its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import islpy as isl

from codegen.recognize.access.strides import coefficients
from codegen.recognize.privatize.lastprivate_copies import Copies, back_copy, with_copies
from codegen.recognize.stores import left_alone
from codegen.record import record
from codegen.scop.expr import Ref
from codegen.scop.isl_helpers import relation_of
from codegen.scop.model import Access, AccessStep, Array, Param, RegionBuffer, Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, seq

PREFIX = "tw_all_"  # of the memory's name; names of the user's that begin with tw_ rule products out


class NoExpansion(Exception):
    """Why there is no memory of this shape."""


@record
class Expansion:
    """The region with all values of a variable kept, and the copy that brings the last ones back (or None): at the end
    of the region, or of an iteration of the first loops around it, `depth` of them."""

    scop: Scop
    buffer: RegionBuffer
    copy: Statement | None
    depth: int = 0

    def tree(self, before: Node) -> Node:
        """The region's order with the copy. Raises NoExpansion."""
        if self.copy is None:
            return before
        s = self.copy
        if self.depth:
            names = [t.name for t in users(self.scop, self.buffer.array) if t is not s]
            made = with_copies(before, names, Copies(None, s), self.depth)
            if made is None:
                raise NoExpansion(f"loops around `{self.buffer.variable}` are not counted one by one")
            return made
        space = isl.LocalSpace.from_space(s.domain.get_space())
        loops = tuple(
            Loop(n, {s.name: isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, k))})
            for k, n in enumerate(s.iterators)
        )
        leaf: Node = Leaf(s.name)
        return seq([before, Band(loops, leaf, len(loops) > 1) if loops else leaf])


def users(scop: Scop, name: str) -> list[Statement]:
    return [s for s in scop.statements if any(a.array == name for a in s.accesses)]


def shared_loops(scop: Scop, name: str) -> tuple[str, ...]:
    """Iterators that all statements with the variable have in common, outermost first."""
    mine = users(scop, name)
    depth = 0
    while all(len(s.iterators) > depth for s in mine) and len({s.iterators[depth] for s in mine}) == 1:
        depth += 1
    return mine[0].iterators[:depth] if mine else ()


def expand(scop: Scop, name: str, over: Sequence[str], limit: int, within: str = "") -> Expansion:
    """The region with values of `name` for all iterations of the loops `over`; with `within`, the loop just around
    those, each iteration of that has its own. Raises NoExpansion."""
    array = scop.arrays.get(name)
    if array is None or array.place == "buffer":
        raise NoExpansion(f"`{name}` is no variable of the region")
    if array.mixed or not array.declarable:
        raise NoExpansion(f"parts of `{name}` are used, as several types" if array.mixed else "its type has no name")
    shared = shared_loops(scop, name)
    unknown = [n for n in over if n not in shared]
    if unknown or not over:
        raise NoExpansion(f"{', '.join(unknown)} is no loop around all uses of `{name}`" if unknown else "no loops")
    where = tuple(sorted({shared.index(n) for n in over}))
    own = _kept_apart(shared, where, within) if within else 0
    if left_alone(scop, name):
        raise NoExpansion(f"`{name}` is stored under a condition, and others may see it")
    cells = _cells(scop, name, where)
    bounds = [_bounds(cells, k, name) for k in range(cells.dim(isl.dim_type.set))]
    sizes = tuple(high.sub(low).add_constant_val(isl.Val(1)) for low, high in bounds)
    texts = tuple(size_text(v, scop.params) for v in sizes)
    buffer = RegionBuffer(PREFIX + name, name, sizes, texts, limit)
    if all(t.isdigit() for t in texts) and prod(map(int, texts)) * array.elem.bytes > limit:
        raise NoExpansion(f"its values take more than {limit} bytes")
    if buffer.array in scop.arrays or any(n.startswith(PREFIX) for n in scop.names):
        raise NoExpansion(f"the name {buffer.array} is taken")
    lows = [low for low, _ in bounds]
    wide = Array(buffer.array, buffer.array, array.elem, len(sizes), texts, place="buffer", unshared=True)
    if own:
        wide = replace(wide, place="inside", inside=True, scope=own)
    moved = tuple(_moved(s, name, array.scope, where, lows, wide) for s in scop.statements)
    arrays = {**{n: a for n, a in scop.arrays.items() if n != name or not array.inside}, wide.name: wide}
    after = replace(scop, statements=moved, arrays=arrays, buffers=scop.buffers if own else (*scop.buffers, buffer))
    if array.inside:
        return Expansion(after, buffer, None)
    depth = own + len(where) if own else 0
    copy = _copy_in(scop, name, where, lows, wide) if depth else _copy(scop, name, where, lows, wide)
    return Expansion(replace(after, statements=(*moved, copy)), buffer, copy, depth)


def _kept_apart(shared: Sequence[str], where: Sequence[int], within: str) -> int:
    """How many loops have memory of their own in each iteration: up to `within`, all others are expanded over."""
    own = where[0]
    if not own or shared[own - 1] != within or tuple(where) != tuple(range(own, own + len(where))):
        raise NoExpansion(f"{within} is not the loop around {', '.join(shared[k] for k in where)}")
    return own


# -- shapes ----------------------------------------------------------------------------------------


def _index(s: Statement, a: Access, scope: int, where: Sequence[int]) -> list[isl.PwAff]:
    """The iterators that are kept, then the subscripts of the source."""
    subscripts = [a.index.get_pw_aff(k) for k in range(scope, a.index.dim(isl.dim_type.out))]
    return [_iterator(s, d) for d in where] + subscripts


def _multi(s: Statement, values: Sequence[isl.PwAff], name: str) -> isl.MultiPwAff:
    space = s.domain.get_space()
    target = space.params().set_from_params().add_dims(isl.dim_type.set, len(values))
    target = target.set_tuple_name(isl.dim_type.set, name)
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k, v in enumerate(values):
        multi = multi.set_pw_aff(k, v)
    return multi


def _cells(scop: Scop, name: str, where: Sequence[int]) -> isl.Set:
    """All values that the variable has, by iterators and subscripts."""
    scope = scop.arrays[name].scope
    total: isl.Set | None = None
    for s, a in scop.accesses():
        if a.array == name:
            index = relation_of(_multi(s, _index(s, a, scope, where), name))
            one = index.intersect_domain(s.domain).range().intersect_params(scop.context)
            total = one if total is None else total.union(one)
    assert total is not None
    return total.coalesce()


def _bounds(cells: isl.Set, k: int, name: str) -> tuple[isl.PwAff, isl.PwAff]:
    """First and last value of a dimension, each a plain formula of the parameters."""
    alone = cells.project_out(isl.dim_type.set, k + 1, cells.dim(isl.dim_type.set) - k - 1)
    alone = alone.project_out(isl.dim_type.set, 0, k)
    if not (alone.dim_has_any_lower_bound(isl.dim_type.set, 0) and alone.dim_has_any_upper_bound(isl.dim_type.set, 0)):
        raise NoExpansion(f"the number of values of `{name}` has no bound")
    return _end(alone, alone.dim_min(0), name, False), _end(alone, alone.dim_max(0), name, True)


def last_subscripts(scop: Scop, name: str) -> tuple[isl.PwAff, ...]:
    """Values, one for each subscript of a variable, that no subscript goes beyond. Raises NoExpansion."""
    cells = _cells(scop, name, ())
    return tuple(_bounds(cells, k, name)[1] for k in range(cells.dim(isl.dim_type.set)))


def ends_of(scop: Scop, name: str) -> tuple[str, ...]:
    """C texts, one for each subscript of a variable, that no subscript reaches. Raises NoExpansion."""
    return tuple(size_text(v.add_constant_val(isl.Val(1)), scop.params) for v in last_subscripts(scop, name))


def _end(values: isl.Set, end: isl.PwAff, name: str, upper: bool) -> isl.PwAff:
    """A plain formula that no value lies beyond: of i < min(m, n), one of the two."""
    at = isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(values.get_space()), isl.dim_type.set, 0))
    for _, value in end.gist(values.params()).coalesce().get_pieces():
        if value.dim(isl.dim_type.div) or not value.get_denominator_val().is_one():
            continue
        bound = _on(isl.PwAff.from_aff(value), values)
        if values.is_subset(at.le_set(bound) if upper else at.ge_set(bound)):
            return isl.PwAff.from_aff(value)
    raise NoExpansion(f"the number of values of `{name}` is no plain formula")


def size_text(size: isl.PwAff, params: Sequence[Param]) -> str:
    """A size as C, for use as a factor of a product of type long."""
    aff = size.get_pieces()[0][1]
    by_name = {p.name: p for p in params}
    terms: list[tuple[int, Param]] = []
    for k in range(aff.dim(isl.dim_type.param)):
        c = int(aff.get_coefficient_val(isl.dim_type.param, k).to_str())
        if c:
            terms.append((c, by_name[str(aff.get_dim_name(isl.dim_type.param, k))]))
    constant = int(aff.get_constant_val().to_str())
    if not terms:
        return str(constant)
    if not constant and len(terms) == 1 and terms[0][0] == 1:
        p = terms[0][1]
        return p.text if p.ctype.signed or p.ctype.bits < 64 else f"(long){p.text}"
    texts = [f"{c} * (long){p.text}" if c != 1 else f"(long){p.text}" for c, p in terms]
    return f"({' + '.join(texts)} {'-' if constant < 0 else '+'} {abs(constant)})"


# -- statements ------------------------------------------------------------------------------------


def _moved(
    s: Statement, name: str, scope: int, where: Sequence[int], lows: Sequence[isl.PwAff], wide: Array
) -> Statement:
    """A statement that uses the memory in place of the variable."""
    out = []
    for a in s.accesses:
        if a.array == name:
            values = [v.sub(_on(low, s.domain)) for v, low in zip(_index(s, a, scope, where), lows, strict=True)]
            a = _access(s, values, wide, a)
        out.append(a)
    return replace(s, accesses=tuple(out))


def _on(value: isl.PwAff, points: isl.Set) -> isl.PwAff:
    """A formula of the parameters as one of these points."""
    aff = value.get_pieces()[0][1]
    space = isl.LocalSpace.from_space(points.get_space())
    out = isl.Aff.zero_on_domain(space).set_constant_val(aff.get_constant_val())
    for k in range(aff.dim(isl.dim_type.param)):
        out = out.set_coefficient_val(isl.dim_type.param, k, aff.get_coefficient_val(isl.dim_type.param, k))
    return isl.PwAff.from_aff(out)


def _access(s: Statement, values: Sequence[isl.PwAff], wide: Array, like: Access) -> Access:
    around = [_iterator(s, d) for d in range(wide.scope)]
    index = _multi(s, [*around, *values], wide.name)
    relation = relation_of(index).intersect_domain(s.instances(like))
    return Access(wide.name, like.write, index, relation, _steps(wide), like.loc, like.partial)


def _steps(wide: Array) -> tuple[AccessStep, ...]:
    """Variables of the region have subscripts, memory that stands for one is a line of elements."""
    if wide.inside:
        return tuple(AccessStep("sub", wide.scope + k) for k in range(wide.rank))
    return (AccessStep("flat", 0, "", tuple(" * ".join(wide.extents[k + 1 :]) or "1" for k in range(wide.rank))),)


def _iterator(s: Statement, d: int) -> isl.PwAff:
    space = isl.LocalSpace.from_space(s.domain.get_space())
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, d))


def _copy(scop: Scop, name: str, where: Sequence[int], lows: Sequence[isl.PwAff], wide: Array) -> Statement:
    """`x[e] = memory[last iteration that writes x[e]][e]` for every element that is written."""
    writes = [(s, a) for s, a in scop.accesses() if a.array == name and a.write]
    if not writes:
        raise NoExpansion(f"`{name}` is not written")
    depth, label = len(shared_loops(scop, name)), _label(scop)
    rank = writes[0][1].index.dim(isl.dim_type.out)
    last: isl.Map | None = None
    for s, a in writes:
        n = len(s.iterators)
        prefix = a.relation.reverse().project_out(isl.dim_type.out, depth, n - depth)
        prefix = prefix.reset_tuple_id(isl.dim_type.out).intersect_params(scop.context)
        last = prefix if last is None else last.union(prefix)
    assert last is not None
    final = last.coalesce().lexmax_pw_multi_aff()
    iterators = _names(writes[0][0], writes[0][1], rank)
    domain = isl.Map.from_pw_multi_aff(final).domain().set_tuple_name(label).coalesce()
    for k, it in enumerate(iterators):
        domain = domain.set_dim_name(isl.dim_type.set, k, it)
    final = isl.PwMultiAff.from_map(isl.Map.from_pw_multi_aff(final).set_tuple_name(isl.dim_type.in_, label))
    shell = Statement(label, iterators, domain, "=", 0, Ref(1), (), (), writes[0][1].loc, "")
    own = [_iterator(shell, k) for k in range(rank)]
    kept = [final.get_pw_aff(d).coalesce() for d in where]
    values = [v.sub(_on(low, domain)) for v, low in zip([*kept, *own], lows, strict=True)]
    index = _multi(shell, own, name)
    target = replace(
        writes[0][1], index=index, relation=relation_of(index).intersect_domain(domain), write=True
    )
    read = replace(_access(shell, values, wide, target), write=False)
    subscripts = "".join(f"[{n}]" for n in iterators)
    return replace(shell, accesses=(target, read), source=f"{name}{subscripts} = its last value")


def _copy_in(scop: Scop, name: str, where: Sequence[int], lows: Sequence[isl.PwAff], wide: Array) -> Statement:
    """The same, in the last iteration of the loops around that writes x[e]."""
    mine = [s.name for s in users(scop, name)]
    if not any(a.array == name and a.write for _, a in scop.accesses()):
        raise NoExpansion(f"`{name}` is not written")
    depth = where[-1] + 1
    made = back_copy(scop, _label(scop), name, wide.name, mine, [1] * depth)
    own = [_iterator(made, k) for k in (*where, *range(depth, len(made.iterators)))]
    values = [v.sub(_on(low, made.domain)) for v, low in zip(own, lows, strict=True)]
    target, read = made.accesses
    return replace(made, accesses=(target, _access(made, values, wide, read)))


def _label(scop: Scop) -> str:
    return f"S{max(int(s.name[1:]) for s in scop.statements) + 1}"


def _names(s: Statement, a: Access, rank: int) -> tuple[str, ...]:
    """Names for the copy's loops: those of the loops that run through the array where it is written."""
    out: list[str] = []
    for k in range(rank):
        c = coefficients(a.index.get_pw_aff(k), len(s.iterators)) or []
        moving = [s.iterators[d] for d, x in enumerate(c) if x]
        free = moving[0] if len(moving) == 1 and moving[0] not in out else f"e{k}"
        out.append(free)
    return tuple(out)
