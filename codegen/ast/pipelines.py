"""The loop over stages of a pipelined (doacross) loop in the C tree. `stage_of` returns the one in which the pipelined
loop does all its work; None where there is none, and the loop can only run sequentially. Printer and proofs ask the
same question. `joined_stages` brings a last stage into that loop."""

from __future__ import annotations

from dataclasses import replace

from codegen.ast.ctree import Bin, Block, CExpr, CNode, Declare, For, Fun, If, Instance, Name, block, walk, with_kids
from codegen.ast.facts import PointFacts
from codegen.ast.linear import linear
from codegen.recognize.access.strides import coefficients
from codegen.scop.model import Scop
from codegen.scop.tree import PIPELINED, STAGE


def stage_of(node: CNode) -> For | None:
    """The one loop over stages in which a pipelined loop does all its work. None where there is none, as where isl has
    dropped a loop of a single iteration: then the iterations can only run one after the other."""
    if not isinstance(node, For) or node.loop.kind != PIPELINED:
        return None
    body = node.body
    while not isinstance(body, For):
        if isinstance(body, If) and body.orelse is None:
            body = body.then
        elif isinstance(body, Declare):
            body = body.body
        elif isinstance(body, Block) and len(body.children) == 1:
            body = body.children[0]
        else:
            return None
    return body if body.loop.kind == STAGE else None


def joined_stages(scop: Scop, tree: CNode) -> CNode:
    """The tree with a last stage that stands right behind the loop over those before it in that loop, too: isl takes it
    out where it runs other statements than they do, and no option keeps it from that."""
    return _joined(scop, tree, PointFacts(scop.context))


def _joined(scop: Scop, node: CNode, here: PointFacts) -> CNode:
    inside = here.inside(node) if isinstance(node, For) else here
    if not isinstance(node, For) or node.loop.kind != PIPELINED or not isinstance(node.body, Block):
        return with_kids(node, lambda x: _joined(scop, x, inside))
    stages, *rest = node.body.children
    if not rest or not isinstance(stages, For) or not all(_is_next(scop, stages, x) for x in rest):
        return node
    body = If(Bin("<", Name(stages.var), stages.upper), stages.body, block(rest))
    return replace(node, body=replace(stages, lower=_first(stages, inside), op="<=", body=body))


def _first(stages: For, here: PointFacts) -> CExpr:
    """Where the loop begins with the last stage in it, which runs also where all before it are none."""
    low, last = linear(stages.lower), linear(stages.upper)
    if low is not None and last is not None and here.holds(last.plus(low, -1)):
        return stages.lower
    return Fun("min", (stages.lower, stages.upper))


def _is_next(scop: Scop, stages: For, part: CNode) -> bool:
    """Is all of the part in the first stage behind those of the loop?"""
    if stages.loop.kind != STAGE or (stages.op, stages.step) != ("<", 1):
        return False
    return all(_stage(scop, stages, x) == stages.upper for x in walk(part) if isinstance(x, Instance))


def _stage(scop: Scop, stages: For, x: Instance) -> CExpr | None:
    """The stage of an instance, where that is one of its iterators."""
    value = stages.loop.exprs.get(x.stmt)
    factors = None if value is None else coefficients(value, len(scop.statement(x.stmt).iterators))
    own = [k for k, c in enumerate(factors or ()) if c]
    return x.iterators[own[0]] if factors is not None and len(own) == 1 and factors[own[0]] == 1 else None
