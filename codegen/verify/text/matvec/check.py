"""Proof of a region's matrix-vector products, read back from the text that was printed for it."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.target.matvec.view import MatvecView
from codegen.verify.text.blocks import bounds, renamed
from codegen.verify.text.matvec.block import MatvecBlock
from codegen.verify.text.matvec.operands import claimed
from codegen.verify.text.printed import matvec_blocks
from codegen.verify.text.read import Unread, read_expression, read_statements

_PROVEN: set[str] = set()  # what was proven before in this process


def wrong_matvecs(text: str, views: Sequence[MatvecView]) -> str:
    """Why the text of a region does not carry out its matrix-vector products; empty when it does."""
    blocks = matvec_blocks(text)
    if len(blocks) != len(views):
        return f"{len(blocks)} matrix-vector products were printed in place of {len(views)}"
    for block, v in zip(blocks, views, strict=True):
        problem = wrong_matvec(block, v)
        if problem:
            return f"{v.comment}: {problem}"
    return ""


def wrong_matvec(text: str, v: MatvecView) -> str:
    """Why one product's block does not do what it should."""
    key = f"{text} {v.wanted}"
    try:
        if key not in _PROVEN:
            (block,) = read_statements(text)
            short = bounds(block, zip(v.wanted.first, v.wanted.past, (v.rows, v.depth), strict=True), False)
            claim = claimed(v.wanted, lambda e: renamed(read_expression(e), short))
            proof = MatvecBlock(claim)
            try:
                proof.prove(renamed(block, short))
            except Unread as error:
                return proof.facts.spelled(str(error))
            _PROVEN.add(key)
    except Unread as error:
        return str(error)
    return ""
