"""`stage_of` returns the loop over stages in which a pipelined (doacross) loop of the C tree does all its work; None
where there is none, and the loop can only run sequentially. Printer and proofs ask the same question."""

from __future__ import annotations

from codegen.ast.ctree import Block, CNode, Declare, For, If
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
