"""Two matrix-vector products of one matrix in one block and one kernel: the sums of its lines, and the result that runs
along them. Each element of the matrix is loaded once for both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from codegen.ast.ctree import CNode, ProductNode
from codegen.isa.load import load as load_isa
from codegen.isa.widths import OPEN, WIDTHS
from codegen.scop.model import Statement
from codegen.scop.product import MatrixVector
from codegen.target.matvec.kernel import Beside, MatvecKernel, name
from codegen.target.matvec.view import MatvecPrinter, MatvecView, MatvecWanted, matvec_kernel_of

__all__ = ["MatvecPrinter", "kernel_of", "pair_view", "tied"]

_TURNED = {"tw_I": "tw_K", "tw_K": "tw_I"}
_PLACE = re.compile(r"\btw_[IK]\b")


def kernel_of(v: MatvecView) -> MatvecKernel:
    """The kernel that a block calls, of one product or of two."""
    mine = matvec_kernel_of(v.wanted.what, v.wanted.how)
    if v.beside is None:
        return mine
    step = v.beside.wanted.what.step
    return replace(mine, beside=Beside(step.lane, len(step.right), len(step.consts)))


def pair_view(printer: MatvecPrinter, nodes: Sequence[CNode], threads: bool) -> MatvecView | None:
    """The view of two products at the head of nodes that share a block; None where they do not. Where `threads` may
    share work, products by themselves are faster: one of the two sums can not be shared out beside the other."""
    both = [n for n in nodes[:2] if isinstance(n, ProductNode)]
    if len(both) != 2 or _forms(both) != {"across", "lanes"}:
        return None
    if tied(*(printer.scop.statement(n.product.what.stmt) for n in both)):
        return None
    across, lanes = sorted((printer.view(_in_pair(n), False) for n in both), key=lambda v: v.how.form)
    if not _same_elements(across.wanted, lanes.wanted) or across.copies or lanes.copies:
        return None
    lanes = replace(lanes, consts=tuple(x.replace(" tw_s", " tw_w", 1) for x in lanes.consts))
    serial = f"tw_work < TW_SIZE({min(across.how.threads, lanes.how.threads)}) || tw_max_threads() {_alone(lanes.how)}"
    made = replace(across, beside=lanes, serial=serial if threads else "")
    return replace(made, kernel=name(load_isa(made.how.isa, made.how.bits), kernel_of(made)))


def _alone(how: MatrixVector) -> str:
    """The test for so few threads that one does better. Two that read all of the matrix twice need about the time of
    one that reads it once. Cascade Lake with AVX-512, bicg n = 300, 500 and 1000 in us: one thread for both 28, 89 and
    384, two that share each 47, 99 and 449. With vectors of 16 bytes, sums keep one thread busier."""
    if how.isa == OPEN:
        return f"<= (TW_VECTOR_BYTES > {WIDTHS[0]} ? 2 : 1)"
    return "<= 2" if how.bits > 8 * WIDTHS[0] else "== 1"


def _forms(nodes: Sequence[ProductNode]) -> set[str]:
    """Of products that one kernel can carry out: of one matrix each, in the same vectors."""
    hows = [n.product.how for n in nodes]
    steps = [n.product.what.step for n in nodes]
    if any(len(step.left) != 1 for step in steps) or steps[0].elem != steps[1].elem:
        return set()
    found = [x for x in hows if isinstance(x, MatrixVector) and (x.pair or x.form != "across")]
    return {x.form for x in found} if len({(x.isa, x.bits) for x in found}) == 1 and len(found) == 2 else set()


def _in_pair(node: ProductNode) -> ProductNode:
    """A product with as many lines at a time as a kernel of two takes."""
    how = node.product.how
    assert isinstance(how, MatrixVector)
    both = replace(how, streams=how.pair, pair=0) if how.form == "across" else how
    return replace(node, product=replace(node.product, how=both))


def tied(s: Statement, other: Statement) -> bool:
    """Does one use the array that the other one writes?"""
    pairs = ((s, other), (other, s))
    return any(x.accesses[x.target].array in {a.array for a in y.accesses} for x, y in pairs)


def _same_elements(across: MatvecWanted, lanes: MatvecWanted) -> bool:
    """Is the matrix the same, and all of it, with rows and steps exchanged?"""
    turned = tuple(_PLACE.sub(lambda m: _TURNED[m[0]], e) for e in lanes.left)
    ranges = (lanes.first[::-1], lanes.past[::-1])
    return across.left == turned and (across.first, across.past) == ranges
