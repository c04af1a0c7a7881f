"""The directive `block`: strip-mines a loop, and splits instances into those before, inside and beyond the block.

This renames instances; it reorders nothing. Statement S[i, j, k] becomes S[i, j, k, kb] with size*kb <= k < size*kb +
size, and one statement for each place that the values `apart` can have. In the factorizations what lies beyond a block
of k is a product of what the block has finished: a statement of its own can be one node of the tree.

Dependences are those of the source, carried over to the new names, which stand one to one for the old ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import product

import islpy as isl

from codegen.plan.model import StripMine
from codegen.record import record
from codegen.scop.dependences import Dependence, Dependences, param_space
from codegen.scop.isl_helpers import parted
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Band, Hold, Leaf, Node, kids, seq, with_kids
from codegen.transform.find import free_name, illegal
from codegen.transform.program import Program, make_program


@record
class Blocked:
    """The region in new names: the pieces of each old statement, and the old instance of every new one."""

    scop: Scop
    pieces: Mapping[str, tuple[str, ...]]
    back: Mapping[str, isl.MultiAff]


def apply(p: Program, d: StripMine) -> Program:
    """The same order, in new names."""
    if d.size < 1:
        raise illegal("a block has at least one iteration", d.loc)
    if not free_name(p.scop, d.name, d.values):
        raise illegal(f"blocks cannot be counted by `{d.name}`", d.loc, "they need a name of their own")
    made = blocked(p.scop, d)
    renamed = isl.UnionMap.empty(param_space(p.scop))
    for name in sorted(n for old in d.values for n in made.pieces[old]):
        one = isl.Map.from_multi_aff(made.back[name]).intersect_domain(made.scop.statement(name).domain)
        renamed = renamed.union(isl.UnionMap.from_map(one.reverse()))
    whole = renamed.is_injective() and renamed.is_single_valued()
    old, new = _instances(p.scop, d.values), _instances(made.scop, [n for x in d.values for n in made.pieces[x]])
    if not whole or not renamed.domain().is_equal(old) or not renamed.range().is_equal(new):
        raise illegal("the blocks do not hold every iteration once", d.loc)
    tree = _tree(p.tree, made)
    return replace(make_program(made.scop, _renamed(p, d, renamed), tree, p.reassociate), stores=p.stores)


def _instances(scop: Scop, names: Collection[str]) -> isl.UnionSet:
    total = isl.UnionSet.empty(param_space(scop))
    for name in names:
        total = total.union(isl.UnionSet.from_set(scop.statement(name).domain))
    return total


def blocked(scop: Scop, d: StripMine) -> Blocked:
    """The statements in new names."""
    number = 1 + max(int(s.name[1:]) for s in scop.statements)
    pieces: dict[str, tuple[str, ...]] = {}
    back: dict[str, isl.MultiAff] = {}
    kept: list[Statement] = []
    more: list[Statement] = []
    for s in scop.statements:
        if s.name not in d.values:
            kept.append(s)
            pieces[s.name], back[s.name] = (s.name,), isl.MultiAff.identity_on_domain_space(s.domain.get_space())
            continue
        for k, (part, where) in enumerate(_places(scop, s, d)):
            name = s.name if k == 0 else f"S{number}"
            number += k > 0
            made, back[name] = _renamed_statement(s, name, d.name, part)
            (kept if k == 0 else more).append(replace(made, source=f"{s.source}{where}"))
            pieces[s.name] = (*pieces.get(s.name, ()), name)
    return Blocked(replace(scop, statements=(*kept, *more)), pieces, back)


def _places(scop: Scop, s: Statement, d: StripMine) -> list[tuple[isl.Set, str]]:
    """The parts of the statement's domain, with the block's number as the last dimension, and words for them."""
    n = s.domain.dim(isl.dim_type.set)
    whole = s.domain.insert_dims(isl.dim_type.set, n, 1).set_dim_name(isl.dim_type.set, n, d.name)
    drop = _drop(whole.get_space(), s.domain.get_space())
    local = isl.LocalSpace.from_space(whole.get_space())
    block = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, n))
    first = block.scale_val(isl.Val(d.size))
    past = first.add_constant_val(isl.Val(d.size))
    value = d.values[s.name].pullback_multi_aff(drop)
    whole = whole.intersect(value.ge_set(first)).intersect(value.lt_set(past))
    known = whole.intersect_params(scop.context)
    out = []
    lines = [e.pullback_multi_aff(drop) for e in d.apart.get(s.name, ())]
    for places in product(("", "beyond", "before"), repeat=len(lines)):
        part = whole
        for e, place in zip(lines, places, strict=True):
            inside = e.ge_set(first).intersect(e.lt_set(past))
            part = part.intersect({"": inside, "beyond": e.ge_set(past), "before": e.lt_set(first)}[place])
        if not part.intersect(known).is_empty():
            out.append((part.coalesce(), "".join(f", {x}" for x in dict.fromkeys(filter(None, places)))))
    return out


def _drop(wide: isl.Space, narrow: isl.Space) -> isl.MultiAff:
    """From instances with the block's number to those without."""
    space = wide.map_from_domain_and_range(narrow)
    multi = isl.MultiAff.zero(space)
    local = isl.LocalSpace.from_space(wide)
    for k in range(narrow.dim(isl.dim_type.set)):
        multi = multi.set_aff(k, isl.Aff.var_on_domain(local, isl.dim_type.set, k))
    return multi


def _renamed_statement(s: Statement, name: str, block: str, part: isl.Set) -> tuple[Statement, isl.MultiAff]:
    own = part.set_tuple_name(name)
    drop = _drop(own.get_space(), s.domain.get_space())
    back = isl.Map.from_multi_aff(drop).intersect_domain(own)
    accesses = tuple(
        replace(a, index=a.index.pullback_multi_aff(drop), relation=back.apply_range(a.relation)) for a in s.accesses
    )
    values = tuple(v.pullback_multi_aff(drop) for v in s.values)
    return replace(s, name=name, iterators=(*s.iterators, block), domain=own, accesses=accesses, values=values), drop


def _tree(node: Node, made: Blocked) -> Node:
    """The tree with pieces in place of statements; they share no instance, so their order says nothing."""
    if isinstance(node, Leaf):
        return seq([Leaf(n) for n in made.pieces[node.stmt]])
    if isinstance(node, Band):
        loops = tuple(
            replace(
                lp,
                exprs={
                    new: value.pullback_multi_aff(made.back[new])
                    for old, value in lp.exprs.items()
                    for new in made.pieces[old]
                },
            )
            for lp in node.loops
        )
        return replace(node, loops=loops, child=_tree(node.child, made))
    if isinstance(node, Hold):
        return Hold(node.slots, _tree(node.child, made))
    return with_kids(node, tuple(_tree(k, made) for k in kids(node)))


def _renamed(p: Program, d: StripMine, renamed: isl.UnionMap) -> Dependences:
    """Dependences between the new names. Statements that stay as they are keep those among themselves."""
    deps, done = p.deps, dict[int, isl.UnionMap]()  # flow is in both lists
    same = isl.UnionMap.empty(param_space(p.scop))
    for s in (x for x in p.scop.statements if x.name not in d.values):
        same = same.union(isl.UnionMap.from_map(isl.Map.identity(s.domain.get_space().map_from_set())))
    renamed = renamed.union(same)

    def both(m: isl.UnionMap) -> isl.UnionMap:
        if id(m) not in done:
            mine, others = parted(m, d.values, [isl.dim_type.in_, isl.dim_type.out])
            done[id(m)] = others.union(mine.apply_domain(renamed).apply_range(renamed).coalesce())
        return done[id(m)]

    return Dependences(
        tuple(Dependence(d.kind, d.array, both(d.relation)) for d in deps.all),
        {a: both(m) for a, m in deps.folds.items()},
        {a: both(m) for a, m in deps.flows.items()},
        deps.live_in.apply_domain(renamed),
        deps.live_out.apply_domain(renamed),
    )


def fresh(scop: Scop, wanted: str, stmts: Collection[str] | None = None) -> str:
    """A name that nothing in the region has, or no iterator of these statements: with more letters until it is new."""
    used = {*scop.names, *scop.arrays, *(x.name for x in scop.params)}
    used |= {it for s in scop.statements if stmts is None or s.name in stmts for it in s.iterators}
    while wanted in used:
        wanted += "b"
    return wanted
