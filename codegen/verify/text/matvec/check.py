"""Proof of a region's matrix-vector products, read back from the text that was printed for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from codegen.target.matvec.kernel import MatvecKernel, together
from codegen.target.matvec.pair import kernel_of
from codegen.target.matvec.view import MatvecView
from codegen.verify.text.blocks import bounds, renamed
from codegen.verify.text.matvec.block import MatvecBlock
from codegen.verify.text.matvec.operands import OtherProduct, claimed
from codegen.verify.text.printed import matvec_blocks
from codegen.verify.text.read import Unread, read_expression, read_statements

# The rows of one of two products are the steps of the other.
_OTHER = {"rows": "depth", "depth": "rows", "y": "z", "z": "y", "x": "u", "u": "x", "s": "w", "w": "s"}
_NAME = re.compile(r"\btw_(rows|depth|y|z|[xusw](?=\d))(\d*)\b")
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
    """Why one block does not do what it should, for every number of lines that are taken together. Of two products that
    share it each is shown."""
    key = f"{text} {v.wanted} {v.beside and v.beside.wanted}"
    if key in _PROVEN:
        return ""
    mk = kernel_of(v)
    for streams in (mk.streams, *([mk.wide] if mk.wide else [])):
        each = re.sub(rf"\b{together(mk)}\b", str(streams), text) if mk.wide else text
        for way, mine, other in _products(each, v, mk):
            problem = _wrong(way, mine, mk, streams, other)
            if problem:
                return problem
    _PROVEN.add(key)
    return ""


def _products(text: str, v: MatvecView, mk: MatvecKernel) -> Iterator[tuple[str, MatvecView, OtherProduct | None]]:
    """The products of a block, each with its text, in which it has the names of one that is alone, and the other."""
    if v.beside is None or mk.beside is None:
        yield text, v, None
        return
    yield text, v, OtherProduct(mk.beside.operands, mk.beside.consts, False)
    yield _NAME.sub(_other_name, text), v.beside, OtherProduct(mk.operands, mk.consts, True)


def _other_name(m: re.Match[str]) -> str:
    return f"tw_{_OTHER[m[1]]}{m[2]}"


def _wrong(text: str, v: MatvecView, mk: MatvecKernel, streams: int, other: OtherProduct | None) -> str:
    try:
        (block,) = read_statements(text)
        short = bounds(block, zip(v.wanted.first, v.wanted.past, (v.rows, v.depth), strict=True), False)
        proof = MatvecBlock(claimed(v.wanted, mk, streams, lambda e: renamed(read_expression(e), short), other))
        try:
            proof.prove(renamed(block, short))
        except Unread as error:
            return proof.facts.spelled(str(error))
    except Unread as error:
        return str(error)
    return ""
