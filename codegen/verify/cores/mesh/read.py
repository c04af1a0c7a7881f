"""Proof of a matrix product on the mesh of cores: its text, read back, against the C tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codegen.ast.ctree import CExpr, For
from codegen.scop.dependences import Dependences
from codegen.scop.model import Scop
from codegen.verify.cores.mesh.model import check_target, product_of
from codegen.verify.cores.mesh.names import statements
from codegen.verify.cores.mesh.sizes import BYTES, SizesReader
from codegen.verify.cores.mesh.turns import TurnReader
from codegen.verify.cores.messages import check_messages
from codegen.verify.cores.records import KernelNames
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import NOTHING, Node, Unread


class MeshText(NamedTuple):
    """A kernel's statements, the bytes that the places of its arrays are multiples of, and names of its own."""

    body: Sequence[Node]
    aligned: Sequence[int]
    words: KernelNames


def read_mesh(
    scop: Scop, deps: Dependences, node: For, at: TreePoint, names: Mapping[str, str], text: MeshText
) -> None:
    """Raises Unread unless the text does what the kernel of the tree does. `names` has the C names of loops around."""
    body, words = text.body, text.words
    p = product_of(scop, deps, node, at)
    if any(scop.arrays[a].elem.kind != "float" or scop.arrays[a].elem.bits != 64
           for a in (p.target.array, p.left.array, p.right.array)):  # fmt: skip
        raise Unread("a product of other numbers than `double`")
    left = statements(Node("block", "", tuple(body)))
    ahead = SizesReader(scop, deps, words, p, names)
    ahead.arguments(left)
    where: CExpr | None = None
    if len(left) == 1 and left[0].kind == "if" and left[0].kids[2] == NOTHING:
        where = ahead.core.integer(left[0].kids[0])
        left = statements(left[0].kids[1])
    sizes = ahead.sizes(left)
    turns = TurnReader(sizes)
    turns.run(left)
    check_target(scop, p, turns.fetches, where)
    if not text.aligned or any(n % (sizes.shape.lanes * BYTES) for n in text.aligned):
        raise Unread("local memory that begins where no vector does")
    if not check_messages(body, words):
        raise Unread("nothing is shared")
