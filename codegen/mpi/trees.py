"""Loop nests over phases and over the elements of messages, each as a small model of its own that the usual code
generator and proofs handle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import CNode
from codegen.ast.generate import generate
from codegen.mpi.blocks import GIVER, TAKER, RankBlocks, block_params, ordered, running
from codegen.mpi.messages import Exchange, message_space
from codegen.mpi.phases import Cut, Phase
from codegen.record import record
from codegen.scop.dependences import Dependences, param_space
from codegen.scop.expr import Lit
from codegen.scop.model import Access, Guard, Param, Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, Seq
from codegen.scop.types import LONG
from codegen.transform.program import Program


@record
class ModelLoops:
    """A model and its loops."""

    scop: Scop
    tree: Node
    code: CNode


@record
class MessageLoops:
    """The loops over the elements of one array in a message; `reach` is an access to the array, as the source spells
    it."""

    array: str
    made: ModelLoops
    reach: Access


def no_dependences(space: isl.Space) -> Dependences:
    none = isl.UnionMap.empty(space)
    return Dependences((), {}, {}, none, none)


def skeleton(p: Program, cut: Cut) -> ModelLoops:
    """The loops around the phases. A phase runs in the iterations in which it has something to do on any rank."""
    stmts = tuple(_phase_statement(p.scop, q) for q in cut.phases)
    scop = replace(p.scop, statements=stmts)
    tree = _around(cut.tree, {s.name: s for s in stmts}, 0)
    return ModelLoops(scop, tree, generate(scop, tree, whole=True, peel=False))


def _phase_statement(scop: Scop, q: Phase) -> Statement:
    runs: isl.Set | None = None
    for name in q.stmts:
        domain = scop.statement(name).domain
        n = domain.dim(isl.dim_type.set)
        own = domain.project_out(isl.dim_type.set, q.depth, n - q.depth).set_tuple_name(q.name)
        runs = own if runs is None else runs.union(own)
    assert runs is not None
    first = scop.statement(q.stmts[0])
    return _plain(q.name, tuple(lp.name for lp in q.outer), runs.coalesce(), (), first)


def _plain(
    name: str, iterators: tuple[str, ...], domain: isl.Set, accesses: tuple[Access, ...], like: Statement
) -> Statement:
    return Statement(name, iterators, domain, "=", 0, Lit("0"), accesses, (), like.loc, like.source)


def _around(node: Node, stmts: dict[str, Statement], depth: int) -> Node:
    """The tree of phases, whose loops count the iterators of phases."""
    if isinstance(node, Leaf):
        return node
    if isinstance(node, Seq):
        return Seq(tuple(_around(k, stmts, depth) for k in node.children))
    assert isinstance(node, Band)
    (loop,) = node.loops
    inside = _leaves(node)
    return Band((_counting(loop.name, [stmts[n] for n in inside], depth),), _around(node.child, stmts, depth + 1))


def _leaves(node: Node) -> list[str]:
    if isinstance(node, Leaf):
        return [node.stmt]
    children = node.children if isinstance(node, Seq) else (node.child,)
    return [n for k in children for n in _leaves(k)]


def _counting(name: str, stmts: Sequence[Statement], position: int) -> Loop:
    """A loop over the iterator at a position."""
    exprs = {}
    for s in stmts:
        local = isl.LocalSpace.from_space(s.domain.get_space())
        exprs[s.name] = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, position))
    return Loop(name, exprs)


def transfers(p: Program, cut: Cut, x: Exchange, blocks: Sequence[RankBlocks]) -> tuple[MessageLoops, ...]:
    """The loops over the elements that an exchange moves, array by array."""
    space = message_space(p, x.outer, blocks)
    known = p.scop.context.align_params(space)
    q = next((q for q in cut.phases if q.name == x.phase), None)
    if q is not None:
        runs = running(p.scop, q, x.outer, space)
        own = [b for b in blocks if x.phase in b.phases]
        known = known.intersect(runs).intersect(ordered(space, own, GIVER, TAKER)).coalesce()
    return tuple(_transfer(p, x, blocks, array, known) for array in sorted(x.elements))


def _transfer(p: Program, x: Exchange, blocks: Sequence[RankBlocks], array: str, known: isl.Set) -> MessageLoops:
    space = known.get_space()
    elements = x.elements[array].align_params(space)
    like, reach = p.scop.accesses_to(array)[0]
    domain = elements.set_tuple_name("X")
    access = _identity(reach, domain)
    names = tuple(f"e{k}" for k in range(domain.dim(isl.dim_type.set)))
    statement = _plain("X", names, domain, (access,), like)
    params = (*p.scop.params, *(Param(n, n, LONG) for n in x.outer), *block_params(blocks, GIVER, TAKER))
    true = isl.Set.universe(space)
    scop = replace(
        p.scop, params=params, context=known, statements=(statement,),
        guard=Guard(true, true),
    )  # fmt: skip
    tree: Node = Leaf("X")
    if names:
        tree = Band(tuple(_counting(n, [statement], k) for k, n in enumerate(names)), tree)
    return MessageLoops(array, ModelLoops(scop, tree, generate(scop, tree, peel=False)), access)


def _identity(reach: Access, domain: isl.Set) -> Access:
    """The access of a statement whose instances are the elements."""
    target = domain.get_space().set_tuple_name(isl.dim_type.set, reach.array)
    index = isl.MultiPwAff.zero(domain.get_space().map_from_domain_and_range(target))
    local = isl.LocalSpace.from_space(domain.get_space())
    for k in range(domain.dim(isl.dim_type.set)):
        index = index.set_pw_aff(k, isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k)))
    relation = isl.Map.from_multi_pw_aff(index).intersect_domain(domain)
    return replace(reach, write=True, index=index, relation=relation, partial=False)


def space_of(made: ModelLoops) -> isl.Space:
    return param_space(made.scop)
