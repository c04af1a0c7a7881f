"""Generates the loops around phases (`skeleton`) and over the elements of messages (`transfers`, `panel_transfers`),
each as a small model of its own that the usual code generator and proofs handle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import Bin, CExpr, CNode, For, Fun, If, Instance, Name
from codegen.ast.generate import expression, generate
from codegen.lower.shift import simple
from codegen.mpi.blocks import GIVER, TAKER, RankBlocks, block_params, ordered, running
from codegen.mpi.boxes import Box, box_around, boxes_of
from codegen.mpi.messages import (
    START,
    WIDE,
    Exchange,
    RankedProgram,
    has_current,
    just_written,
    message_space,
)
from codegen.mpi.pairs import two_ranks
from codegen.mpi.panels.buffers import (
    PanelBuffer,
    buffers_of,
    concerned,
    known_panel,
    panel_ranks,
    right_to_send,
    with_buffer,
)
from codegen.mpi.phases import Cut, Phase
from codegen.record import record
from codegen.scop.dependences import Dependences
from codegen.scop.expr import Lit
from codegen.scop.model import Access, Guard, Param, Scop, Statement
from codegen.scop.tree import Band, Leaf, Loop, Node, Seq
from codegen.scop.types import LONG
from codegen.target.text.pieces import fresh
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


def transfers(
    p: Program, cut: Cut, x: Exchange, blocks: Sequence[RankBlocks], apart: bool = True
) -> tuple[MessageLoops, ...]:
    """The loops over the elements that an exchange moves, array by array: a nest for each box of them if they may be
    taken apart, or one for a set that is not a few boxes."""
    space = message_space(p, x.outer, blocks)
    known = p.scop.context.align_params(space)
    q = next((q for q in cut.phases if q.name == x.phase), None)
    if q is not None:
        runs = running(p.scop, q, x.outer, space)
        own = [b for b in blocks if x.phase in b.phases]
        known = known.intersect(runs).intersect(ordered(space, own, GIVER, TAKER)).coalesce()
    ranks = known.intersect(two_ranks(space, blocks)).coalesce()
    out: list[MessageLoops] = []
    for array in sorted(x.elements):
        made = _message_model(p, x, blocks, array, known)
        (statement,) = made.statements
        right = _right(RankedProgram(p, cut, blocks), x, q, array)
        right = None if right is None else right.set_tuple_name(statement.name)
        boxes = boxes_of(made, made.arrays[array], statement.domain, ranks, blocks, right) if apart else ()
        out += _in_boxes(made, array, boxes)
    return tuple(out)


def box_transfers(ranked: RankedProgram, x: Exchange, known: isl.Set) -> tuple[MessageLoops, ...] | None:
    """The loops over boxes around what an exchange moves, which have elements that their giver may send as well; None
    where there are no such boxes."""
    out: list[MessageLoops] = []
    for array, elements in sorted(x.elements.items()):
        made = _message_model(ranked.p, x, ranked.blocks, array, known)
        (statement,) = made.statements
        current = has_current(ranked, array, known.get_space()).set_tuple_name(statement.name)
        part = elements.set_tuple_name(statement.name)
        box = box_around(made, made.arrays[array], part, ranked.blocks, current, known)
        if box is None:
            return None
        out += _in_boxes(made, array, (box,))
    return tuple(out)


def panel_transfers(ranked: RankedProgram, q: Phase, x: Exchange) -> tuple[MessageLoops, ...]:
    """The loops over the elements that ranks send ahead of a panel, each with its place in a buffer."""
    out: list[MessageLoops] = []
    for array, buffer in sorted(buffers_of(ranked, q, TAKER).items()):
        near = concerned(ranked, q, array)
        space = message_space(near.p, x.outer, near.blocks)
        known = near.p.scop.context.align_params(space).intersect(known_panel(space, q))
        made = _message_model(near.p, x, near.blocks, array, known)
        (statement,) = made.statements
        right = right_to_send(near, q, buffer).set_tuple_name(statement.name)
        ranks = panel_ranks(near, q, array)
        boxes = boxes_of(made, made.arrays[array], statement.domain, ranks, near.blocks, right)
        out += _in_boxes(made, array, boxes, buffer)
    return tuple(out)


def _in_boxes(made: Scop, array: str, boxes: Sequence[Box], buffer: PanelBuffer | None = None) -> list[MessageLoops]:
    """A nest for each box, or one for all where there are none."""
    (statement,) = made.statements
    whole, known = statement.domain, made.context
    found = [_over(_with_elements(made, b.elements(whole).intersect_params(known)), array, b, buffer) for b in boxes]
    return found or [_over(made, array, None, buffer)]


def _right(ranked: RankedProgram, x: Exchange, q: Phase | None, array: str) -> isl.Set | None:
    """What a giver can send without doing harm: what it has just written, or has as the source has it; None where only
    what is needed is known to be right."""
    if q is None and x.phase not in (START, WIDE):
        return None
    current = has_current(ranked, array, message_space(ranked.p, x.outer, ranked.blocks))
    if q is not None:
        return current.union(just_written(ranked, q, array))
    return None if current.is_empty() else current


def _message_model(p: Program, x: Exchange, blocks: Sequence[RankBlocks], array: str, known: isl.Set) -> Scop:
    """A model whose one statement has the elements of a message as its instances."""
    space = known.get_space()
    elements = x.elements[array].align_params(space)
    like, reach = p.scop.accesses_to(array)[0]
    domain = elements.set_tuple_name("X")
    endings = tuple(map(str, range(domain.dim(isl.dim_type.set))))
    stem = fresh("e", p.scop.names - {"e"}, endings)
    names = tuple(stem + x for x in endings)
    statement = _plain("X", names, domain, (_identity(reach, domain),), like)
    params = (*p.scop.params, *(Param(n, n, LONG) for n in x.outer), *block_params(blocks, GIVER, TAKER))
    true = isl.Set.universe(space)
    return replace(p.scop, params=params, context=known, statements=(statement,), guard=Guard(true, true))


def _with_elements(scop: Scop, domain: isl.Set) -> Scop:
    """The model with other elements."""
    (statement,) = scop.statements
    access = _identity(statement.accesses[0], domain)
    return replace(scop, statements=(replace(statement, domain=domain, accesses=(access,)),))


def _over(scop: Scop, array: str, box: Box | None = None, buffer: PanelBuffer | None = None) -> MessageLoops:
    """The loops over the elements of a message."""
    scop = scop if buffer is None else with_buffer(scop, buffer)
    (statement,) = scop.statements
    tree: Node = Leaf(statement.name)
    loops = tuple(_counting(n, [statement], k) for k, n in enumerate(statement.iterators))
    if loops:
        tree = Band(loops, tree)
    code = generate(scop, tree, peel=False) if box is None else _box_loops(box, buffer, statement, loops, scop.context)
    return MessageLoops(array, ModelLoops(scop, tree, code), statement.accesses[0])


def _box_loops(
    box: Box, buffer: PanelBuffer | None, statement: Statement, loops: Sequence[Loop], known: isl.Set
) -> CNode:
    build = isl.AstBuild.from_context(known)

    def value(e: isl.Aff) -> CExpr:
        return expression(build.expr_from_pw_aff(isl.PwAff.from_aff(e)))

    def extreme(name: str, ends: Sequence[isl.Aff]) -> CExpr:
        values = tuple(value(e) for e in ends)
        return values[0] if len(values) == 1 else Fun(name, values)

    at = tuple(Name(f"x{k}") for k in range(len(loops)))
    there = () if buffer is None else tuple(simple(Bin("-", x, value(e))) for x, e in zip(at, buffer.lows, strict=True))
    code: CNode = Instance(statement.name, at, (at,) if buffer is None else (at, there), ())
    for k in reversed(range(len(loops))):
        low, past = extreme("max", box.lows[k]), extreme("min", box.pasts[k])
        code = For(at[k].name, low, "<", past, 1, code, loops[k])
    when = box.when.gist(known)
    always = when.is_equal(isl.Set.universe(when.get_space()))
    return code if always else If(expression(build.expr_from_set(when)), code)


def _identity(reach: Access, domain: isl.Set) -> Access:
    """The access of a statement whose instances are the elements."""
    target = domain.get_space().set_tuple_name(isl.dim_type.set, reach.array)
    index = isl.MultiPwAff.zero(domain.get_space().map_from_domain_and_range(target))
    local = isl.LocalSpace.from_space(domain.get_space())
    for k in range(domain.dim(isl.dim_type.set)):
        index = index.set_pw_aff(k, isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, k)))
    relation = isl.Map.from_multi_pw_aff(index).intersect_domain(domain)
    return replace(reach, write=True, index=index, relation=relation, partial=False)
