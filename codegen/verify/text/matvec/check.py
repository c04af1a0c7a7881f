"""Proof of a region's matrix-vector products, read back from the text that was printed for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.target.matvec.kernel import MatvecKernel, together
from codegen.target.matvec.view import MatvecView, matvec_kernel_of
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
    """Why one product's block does not do what it should, for every number of lines that are taken together."""
    key = f"{text} {v.wanted}"
    if key in _PROVEN:
        return ""
    mk = matvec_kernel_of(v.wanted.what, v.wanted.how)
    for streams in (mk.streams, *([mk.wide] if mk.wide else [])):
        problem = _wrong(re.sub(rf"\b{together(mk)}\b", str(streams), text) if mk.wide else text, v, mk, streams)
        if problem:
            return problem
    _PROVEN.add(key)
    return ""


def _wrong(text: str, v: MatvecView, mk: MatvecKernel, streams: int) -> str:
    try:
        (block,) = read_statements(text)
        short = bounds(block, zip(v.wanted.first, v.wanted.past, (v.rows, v.depth), strict=True), False)
        proof = MatvecBlock(claimed(v.wanted, mk, streams, lambda e: renamed(read_expression(e), short)))
        try:
            proof.prove(renamed(block, short))
        except Unread as error:
            return proof.facts.spelled(str(error))
    except Unread as error:
        return str(error)
    return ""
