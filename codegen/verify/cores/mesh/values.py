"""Symbolic values of vectors in a mesh product: which elements each lane is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Union

from codegen.scop.model import Scop
from codegen.verify.cores.mesh.model import MeshProduct
from codegen.verify.cores.values import MARK, marked, same_as
from codegen.verify.poly import Poly
from codegen.verify.text.read import Node, Unread


class SlicedElement(NamedTuple):
    """Elements of local memory: of each lane the one behind the last lane's, or one for all lanes. `core` says on which
    core they lie where that is another one: a name, and its value there."""

    region: str
    copy: str
    offset: Poly
    each: bool
    core: tuple[str, Poly] | None = None


class RunningSum(NamedTuple):
    """Elements of the tile, one for each lane from this row and column on, with all that is to be added before a
    depth."""

    row: Poly
    column: Poly
    done: Poly


class LaneTerm(NamedTuple):
    kind: str
    text: str
    kids: tuple[VectorValue, ...]


VectorValue = Union[SlicedElement, RunningSum, LaneTerm]
SUM, LEFT, RIGHT = (LaneTerm("operand", n, ()) for n in ("sum", "left", "right"))


def operation(op: str, a: VectorValue, b: VectorValue) -> LaneTerm:
    return LaneTerm("binary", op, (a, b))


def of_text(e: Node, leaf: Callable[[Node], VectorValue | None]) -> VectorValue:
    """A value as the text computes it; `leaf` has those of names and elements."""
    found = leaf(e)
    return found if found is not None else LaneTerm(e.kind, e.text, tuple(of_text(k, leaf) for k in e.kids))


def wanted_sum(scop: Scop, p: MeshProduct) -> LaneTerm:
    """What the statement makes of a sum."""
    store = marked(scop, p.run.instance)
    e = store.kids[0] if store.kind == "do" else store
    s, at = scop.statement(p.run.instance.stmt), p.run.instance
    operands = {same_as(s, at, o.number): v for o, v in ((p.left, LEFT), (p.right, RIGHT), (p.target, SUM))}
    target = f"{MARK}{same_as(s, at, p.target.number)}"
    if e.kind != "assign" or e.text != "+=" or e.kids[0] != Node("name", target):
        raise Unread(f"{p.run.instance.stmt} is no sum of products")

    def leaf(x: Node) -> VectorValue | None:
        marks = x.kind == "name" and x.text.startswith(MARK)
        return operands[int(x.text.removeprefix(MARK))] if marks else None

    return operation("+", SUM, of_text(e.kids[1], leaf))


def alike(a: VectorValue, b: VectorValue) -> bool:
    """The same operations; sums and products of two either way."""
    if not isinstance(a, LaneTerm) or not isinstance(b, LaneTerm):
        return a == b
    if a[:2] != b[:2] or len(a.kids) != len(b.kids):
        return False
    if all(map(alike, a.kids, b.kids)):
        return True
    either = a.kind == "binary" and a.text in ("+", "*")
    return either and all(map(alike, a.kids, b.kids[::-1]))


def replaced(v: VectorValue, leaf: Callable[[Union[SlicedElement, RunningSum]], VectorValue]) -> VectorValue:
    """A value with something else in place of elements of local memory."""
    if not isinstance(v, LaneTerm):
        return leaf(v)
    return v._replace(kids=tuple(replaced(k, leaf) for k in v.kids))


def splat(values: Sequence[VectorValue], lanes: int) -> VectorValue:
    """A vector whose lanes are all the same."""
    if len(values) != lanes or any(v != values[0] for v in values) or _moves(values[0]):
        raise Unread("lanes that are not all the same")
    return values[0]


def _moves(v: VectorValue) -> bool:
    return any(map(_moves, v.kids)) if isinstance(v, LaneTerm) else isinstance(v, RunningSum) or v.each
