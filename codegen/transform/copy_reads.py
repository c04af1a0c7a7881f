"""The directive `copy`: adds a statement that copies elements to an array of their own, and lets the named statements
read the copies, so that these reads can be moved behind later writes. Raises InputError where a read would see another
value (`copied_values.py` finds out).

A read that is moved behind later writes of its element would see them. A copy made when the first of the moved reads
comes in the source has the value for all of them, as long as nobody writes the element between that first read and the
others. Copies are plain statements and the memory for them a plain array: dependences, orders and proofs treat them
like any other. The results are those of the source, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.plan.model import CopyReads
from codegen.recognize.access.dereferenceable import always
from codegen.recognize.privatize.expansion import size_text
from codegen.scop.element_access import element_access, in_one_piece
from codegen.scop.expr import Ref, is_code
from codegen.scop.isl_helpers import relation_of
from codegen.scop.model import Array, RegionBuffer, Scop, Statement
from codegen.scop.tree import Band, Hold, Leaf, Node, Seq, enclosing, kids, seq, statements, with_kids
from codegen.transform.copied_values import carried_over, is_read, lost_copies, to_copy, values_of, wrong_copies
from codegen.transform.find import free_name, illegal
from codegen.transform.formulas import size_of
from codegen.transform.program import Program, make_program

# Bytes of copies beyond which the region runs as it was written. They are a few lines of arrays that exist anyway.
LIMIT = 1 << 40


def apply(p: Program, d: CopyReads) -> Program:
    """The program with the copies in it; refused where a read would see another value."""
    if d.array in p.deps.folds:
        raise illegal(f"steps into `{d.array}` may be swapped; its values have no time of their own", d.loc)
    scop, tree = made(p, d)
    problem = lost_copies(scop, tree, d)
    if problem:
        raise illegal(problem, d.loc, f"give `{d.name}` an index more, so that each copy has a cell while it is read")
    deps = carried_over(p, scop, tree, d)
    return replace(make_program(scop, deps, tree, p.reassociate), stores=p.stores)


def made(p: Program, d: CopyReads) -> tuple[Scop, Node]:
    """The region and its order with copies of the right values, wherever they are kept; without the dependences, which
    take the most time."""
    scop = with_copies(p.scop, d)
    copy = scop.statements[-1]
    _fits(scop, d)
    tree = _with_copy(p, d, copy)
    problem = wrong_copies(p, scop, tree, d)
    if problem:
        raise illegal(problem, d.loc)
    return scop, tree


def with_copies(scop: Scop, d: CopyReads) -> Scop:
    """The region with copies, whether or not they have the right values. The copy is the last statement."""
    readers = [s for s in scop.statements if s.name in d.stmts]
    if len(readers) != len(d.stmts) or not readers or len({s.iterators for s in readers}) > 1:
        raise illegal("copies are for the pieces of one statement", d.loc)
    if d.array not in scop.arrays or not free_name(scop, d.name, d.stmts):
        raise illegal(f"`{d.array}` cannot be copied to `{d.name}`", d.loc, "the copies need a name of their own")
    if any(is_code(s.rhs) for s in scop.statements if any(a.array == d.array for a in s.accesses)):
        raise illegal(f"a statement that uses `{d.array}` may read what it has written", d.loc)
    if scop.arrays[d.array].mixed or not scop.arrays[d.array].declarable:
        raise illegal(f"elements of `{d.array}` are more than one number, or their type has no name", d.loc)
    if not d.at:
        raise illegal(f"`{d.name}` has no index", d.loc, "say which cell each copy has, as in `c[i: n]`")
    sizes = tuple(_bound(scop, text, d) for _, text in d.at)
    texts = tuple(size_text(v, scop.params) for v in sizes)
    what = f"{scop.arrays[d.array].base}{''.join(f'[{t}]' for t in d.subscripts)}"
    elem = scop.arrays[d.array].elem
    arrays = {**scop.arrays, d.name: Array(d.name, d.name, elem, len(d.at), texts, place="buffer", unshared=True)}
    moved = tuple(_redirected(s, d, texts) if s.name in d.stmts else s for s in scop.statements)
    copy = _copy(scop, readers, d, texts)
    buffers = (*scop.buffers, RegionBuffer(d.name, what, sizes, texts, LIMIT))
    return replace(scop, arrays=arrays, statements=(*moved, copy), buffers=buffers)


def _copy(scop: Scop, readers: Sequence[Statement], d: CopyReads, sizes: tuple[str, ...]) -> Statement:
    """One instance for each copy: the readers' iterators that tell copies apart."""
    first = readers[0]
    name = f"S{1 + max(int(s.name[1:]) for s in scop.statements)}"
    values = [*values_of(first, d.subscripts, d), *values_of(first, [t for t, _ in d.at], d)]
    dims = [k for k in range(len(first.iterators)) if any(v.involves_dims(isl.dim_type.in_, k, 1) for v in values)]
    domain: isl.Set | None = None
    for s in readers:
        part = s.domain.set_tuple_name(name)
        for k in reversed(range(len(s.iterators))):
            if k not in dims:
                part = part.project_out(isl.dim_type.set, k, 1)
        part = part.set_tuple_name(name)
        domain = part if domain is None else domain.union(part)
    assert domain is not None
    iterators = tuple(first.iterators[k] for k in dims)
    for k, it in enumerate(iterators):
        domain = domain.set_dim_name(isl.dim_type.set, k, it)
    blank = replace(first, name=name, iterators=iterators, domain=domain.coalesce(), accesses=(), values=())
    where = "".join(f"[{t}]" for t in d.subscripts)
    cell = values_of(blank, [t for t, _ in d.at], d)
    target = element_access(blank.domain, d.name, True, cell, in_one_piece(sizes), blank.loc)
    original = next(a for s in readers for a in s.accesses if is_read(s, a, d))
    element = values_of(blank, d.subscripts, d)
    source = element_access(blank.domain, d.array, False, element, original.path, original.loc)
    return replace(
        blank,
        op="=",
        target=0,
        rhs=Ref(1),
        accesses=(target, source),
        source=f"{d.name}[..] = {scop.arrays[d.array].base}{where}",
    )


def _redirected(s: Statement, d: CopyReads, sizes: tuple[str, ...]) -> Statement:
    found = [k for k, a in enumerate(s.accesses) if is_read(s, a, d)]
    if not found:
        raise illegal(f"{s.name} does not read {d.array}[{']['.join(d.subscripts)}]", d.loc)
    if not any(isinstance(e, Ref) and e.access in found for e in always(s.rhs)):
        raise illegal(f"{s.name} reads `{d.array}` on a condition; elsewhere the element need not exist", d.loc)
    own = element_access(s.domain, d.name, False, values_of(s, [t for t, _ in d.at], d), in_one_piece(sizes), s.loc)
    return replace(s, accesses=tuple(replace(own, loc=a.loc) if k in found else a for k, a in enumerate(s.accesses)))


def _bound(scop: Scop, text: str, d: CopyReads) -> isl.PwAff:
    size = size_of(scop, text)
    if size is None:
        hint = "it may be a number, or a sum of parameters times whole numbers"
        raise illegal(f"{text!r} is not an affine size", d.loc, hint)
    return size


def _fits(scop: Scop, d: CopyReads) -> None:
    """Every copy lies inside its memory."""
    copy = scop.statements[-1]
    params = ", ".join(p.name for p in scop.params)
    image = copy.accesses[0].relation.intersect_params(scop.context).range().reset_tuple_id()
    for k, (text, size) in enumerate(d.at):
        one = image.project_out(isl.dim_type.set, k + 1, len(d.at) - k - 1).project_out(isl.dim_type.set, 0, k)
        local = isl.LocalSpace.from_space(one.get_space())
        value = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, 0))
        past = isl.PwAff.read_from_str(isl.DEFAULT_CONTEXT, f"[{params}] -> {{ [x] -> [({size})] }}")
        zero = isl.PwAff.from_aff(isl.Aff.zero_on_domain(local))
        outside = value.lt_set(zero).union(value.ge_set(past))
        if not one.intersect(outside).is_empty():
            raise illegal(f"copies at {text} do not fit into {size}", d.loc)


def _with_copy(p: Program, d: CopyReads, copy: Statement) -> Node:
    """The tree with the copy just before its first reader: loops run over the least value that a reader has there."""
    readers = [s for s in p.scop.statements if s.name in d.stmts]
    around = enclosing(p.tree, readers[0].name)
    first: isl.Map | None = None
    for s in readers:
        if len(enclosing(p.tree, s.name)) != len(around) or any(s.name not in lp.exprs for lp in around):
            raise illegal("copies are for statements that share all their loops", d.loc)
        values = relation_of(_loop_values(s, [lp.exprs[s.name] for lp in around]))
        one = to_copy(s, copy).reverse().apply_range(values.intersect_domain(s.domain))
        first = one if first is None else first.union(one)
    assert first is not None
    least = first.lexmin_pw_multi_aff().coalesce()
    values_ = {lp.name: least.get_pw_aff(k) for k, lp in enumerate(around)}
    return _inserted(p.tree, d, copy.name, values_)


def _loop_values(s: Statement, values: Sequence[isl.PwAff]) -> isl.MultiPwAff:
    space = s.domain.get_space()
    target = space.params().set_from_params().add_dims(isl.dim_type.set, len(values))
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target))
    for k, v in enumerate(values):
        multi = multi.set_pw_aff(k, v)
    return multi


def _inserted(node: Node, d: CopyReads, name: str, values: dict[str, isl.PwAff]) -> Node:
    if isinstance(node, Leaf):
        return seq([Leaf(name), node]) if node.stmt == d.stmts[0] else node
    if isinstance(node, Seq):
        parts: list[Node] = []
        for k in kids(node):
            mine = isinstance(k, Leaf) and k.stmt in d.stmts
            if mine and not any(isinstance(x, Leaf) and x.stmt == name for x in parts):
                parts.append(Leaf(name))
            parts.append(k if mine else _inserted(k, d, name, values))
        return seq(parts)
    if isinstance(node, Band) and set(d.stmts) & set(statements(node)):
        loops = tuple(replace(lp, exprs={**lp.exprs, name: values[lp.name]}) for lp in node.loops)
        return replace(node, loops=loops, child=_inserted(node.child, d, name, values))
    if isinstance(node, Hold):
        return with_kids(node, (_inserted(node.child, d, name, values),))
    return node
