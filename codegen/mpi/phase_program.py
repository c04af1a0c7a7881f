"""A phase as a program of its own, whose parameters are the loops around it and the ends of this rank's block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.mpi.blocks import MINE, RankBlocks, block_params, blocks_for, ordered, run_by, running, with_params
from codegen.mpi.phases import Phase
from codegen.recognize.reductions import free_pairs
from codegen.scop.dependences import compute_dependences, param_space
from codegen.scop.model import Access, Array, Guard, Param, Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, Seq
from codegen.scop.types import LONG
from codegen.transform.program import Program, make_program

OUTER = "tw_outer_"  # with a number: the iteration of a loop around a phase


def outer_names(q: Phase) -> tuple[str, ...]:
    """The parameters that stand for the loops around a phase."""
    return tuple(f"{OUTER}{k}" for k in range(q.depth))


def fixed(domain: isl.Set, names: Sequence[str], space: isl.Space) -> isl.MultiAff:
    """From the inner iterators of a statement to all of them: the first ones are the parameters `names` of `space`."""
    name, n, d = domain.get_tuple_name(), domain.dim(isl.dim_type.set), len(names)
    inner = space.set_from_params().add_dims(isl.dim_type.set, n - d).set_tuple_name(isl.dim_type.set, name)
    local = isl.LocalSpace.from_space(inner)
    out = isl.MultiAff.zero(inner.map_from_domain_and_range(domain.get_space().align_params(space)))
    for k in range(n):
        if k < d:
            at = space.find_dim_by_name(isl.dim_type.param, names[k])
            value = isl.Aff.var_on_domain(local, isl.dim_type.param, at)
        else:
            value = isl.Aff.var_on_domain(local, isl.dim_type.set, k - d)
        out = out.set_aff(k, value)
    return out


def phase_program(p: Program, q: Phase, blocks: Sequence[RankBlocks]) -> Program:
    """What one rank runs of a phase."""
    names = outer_names(q)
    own = blocks_for(blocks, q.name) if q.shared is not None else ()
    params = (*(Param(n, n, LONG) for n in names), *block_params(own, MINE))
    space = with_params(param_space(p.scop), [x.name for x in params])
    given = {s: fixed(p.scop.statement(s).domain, names, space) for s in q.stmts}
    arrays = {n: _array(a, q.depth) for n, a in p.scop.arrays.items()}
    true = isl.Set.universe(space)
    context = p.scop.context.align_params(space).intersect(running(p.scop, q, names, space))
    context = context.intersect(ordered(space, own, MINE)).coalesce()
    stmts = []
    for s in p.scop.statements:
        if s.name in q.stmts:
            inside = _statement(s, given[s.name], p.scop.arrays, q.depth, space)
            if own:
                inside = replace(inside, domain=run_by(inside.domain, q, s.name, own, MINE, q.depth))
            stmts.append(replace(inside, domain=inside.domain.gist_params(context)))
    scop = replace(
        p.scop,
        params=(*p.scop.params, *params),
        context=context,
        arrays=arrays,
        statements=tuple(stmts),
        guard=Guard(true, true),
    )
    tree = _tree(q.tree, given)
    return make_program(scop, compute_dependences(scop, tree, _free(scop, p.reassociate)), tree, p.reassociate)


def _free(scop: Scop, reassociate: bool) -> Mapping[str, isl.UnionMap] | None:
    return free_pairs(scop, reassociate) or None


def _array(a: Array, depth: int) -> Array:
    """A variable that is declared inside the loops around a phase is one object for the phase."""
    return replace(a, scope=max(0, a.scope - depth)) if a.inside else a


def _statement(
    s: Statement, given: isl.MultiAff, arrays: Mapping[str, Array], depth: int, space: isl.Space
) -> Statement:
    return replace(
        s,
        iterators=s.iterators[depth:],
        domain=s.domain.align_params(space).preimage_multi_aff(given),
        accesses=tuple(_access(a, given, arrays[a.array], depth, space) for a in s.accesses),
        values=tuple(v.align_params(space).pullback_multi_aff(given) for v in s.values),
    )


def _access(a: Access, given: isl.MultiAff, array: Array, depth: int, space: isl.Space) -> Access:
    index = a.index.align_params(space).pullback_multi_aff(given)
    relation = a.relation.align_params(space).preimage_domain_multi_aff(given)
    gone = min(array.scope, depth) if array.inside else 0
    if gone:
        name = relation.get_tuple_name(isl.dim_type.out)
        relation = relation.project_out(isl.dim_type.out, 0, gone).set_tuple_name(isl.dim_type.out, name)
        index = index.drop_dims(isl.dim_type.out, 0, gone).set_tuple_name(isl.dim_type.out, name)
    return replace(a, index=index, relation=relation)


def _tree(node: Node, given: Mapping[str, isl.MultiAff]) -> Node:
    if isinstance(node, Leaf):
        return node
    if isinstance(node, Seq):
        return Seq(tuple(_tree(k, given) for k in node.children))
    assert isinstance(node, Band)
    return replace(node, loops=tuple(_loop(lp, given) for lp in node.loops), child=_tree(node.child, given))


def _loop(lp: Loop, given: Mapping[str, isl.MultiAff]) -> Loop:
    exprs = {
        s: v.align_params(given[s].get_domain_space().params()).pullback_multi_aff(given[s])
        for s, v in lp.exprs.items()
    }
    return replace(lp, exprs=exprs)
