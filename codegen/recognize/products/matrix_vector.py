"""Matrix-vector products, contractions without columns: decides whether their matrix can be used where it lies, and
along which loop vectors load it (`layout`; NoContraction otherwise), and whether their steps give the same bits in any
order (`in_any_order`).

Lanes need neighbours. Along the result ("lanes") every element is computed in its own lane, step by step in the
source's order. Along the depth ("across") neighbours belong to one element of the result.
"""

from __future__ import annotations

import islpy as isl

from codegen.isa.known import own
from codegen.recognize.access.ctypes import element_name
from codegen.recognize.products.contraction import NoContraction, unit_stride
from codegen.recognize.reductions import find_reductions
from codegen.record import record
from codegen.scop.expr import Ref
from codegen.scop.lanes import Lane, walk
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.product import Contraction
from codegen.scop.types import CType

MOST_OPERANDS = 4
# Operators that may be applied in any order, what joins two partial results, and what changes nothing.
_FOLDS = {
    "add": ("add", "zero"),
    "sub": ("add", "zero"),
    "mul": ("mul", "one"),
    "min": ("min", "most"),
    "anymin": ("anymin", "most"),
    "max": ("max", "least"),
    "anymax": ("anymax", "least"),
    "and": ("and", "ones"),
    "or": ("or", "zero"),
    "xor": ("xor", "zero"),
}


@record
class ReductionStep:
    """A step acc = op(acc, value): partial results start from `neutral` and are joined by `join`."""

    join: str
    neutral: str


def looks_like_one(s: Statement, what: Contraction) -> bool:
    """Is it a loop over rows around a loop over the depth, with a matrix in it? Others are nobody's surprise."""
    if what.columns or len(what.rows) != 1 or len(what.depth) != 1:
        return False
    both = (what.rows[0], what.depth[0])
    return any(all(_moves(s.accesses[e.access], d) for d in both) for e in what.step.left if isinstance(e, Ref))


def layout(scop: Scop, s: Statement, what: Contraction) -> str:
    """How the matrix lies: "lanes" or "across". Raises NoContraction with the condition that failed."""
    if what.columns or len(what.rows) != 1 or len(what.depth) != 1:
        raise NoContraction("several loops make its rows or its depth")
    if not what.step.left or len(what.step.left) > MOST_OPERANDS or len(what.step.right) > MOST_OPERANDS:
        raise NoContraction("it has too many operands")
    numbers = [e.access for e in what.step.left if isinstance(e, Ref)]
    assert len(numbers) == len(what.step.left), "the matrix side consists of elements"
    for k in numbers:
        _usable(scop, s, what, s.accesses[k])
    for d, name in ((what.rows[0], "lanes"), (what.depth[0], "across")):
        if all(unit_stride(scop, s, k, d) for k in numbers):
            return name
    names = " nor ".join(s.iterators[d] for d in (what.rows[0], what.depth[0]))
    raise NoContraction(f"the matrix is contiguous along neither {names}")


def matrices(scop: Scop, what: Contraction) -> frozenset[str]:
    """The arrays that a product reads as its matrix."""
    s = scop.statement(what.stmt)
    return frozenset(s.accesses[e.access].array for e in what.step.left if isinstance(e, Ref))


def writes_matrix(scop: Scop, what: Contraction) -> bool:
    """Does the region write what a product reads as its matrix?"""
    mine = matrices(scop, what)
    return any(a.array in mine for s in scop.statements for a in s.writes)


def _usable(scop: Scop, s: Statement, what: Contraction, a: Access) -> None:
    """Can vectors be loaded from the array itself, every element once?"""
    array = scop.arrays[a.array]
    if not same_type(array.elem, what.step.elem):
        raise NoContraction(f"elements of `{a.array}` are {array.elem.shown}, the sum is made in {what.step.elem}")
    if array.depth > 1 or any(x.kind not in ("sub", "flat") for x in a.path):
        raise NoContraction(f"lines of `{a.array}` lie at no fixed distance")
    moves = a.relation.intersect_domain(s.domain)
    if not all(_moves(a, d) for d in (what.rows[0], what.depth[0])):
        raise NoContraction(f"`{a.array}` does not vary with both rows and depth")
    if not _apart(moves, what).is_injective():
        raise NoContraction(f"elements of `{a.array}` are used several times")


def same_type(t: CType, elem: str) -> bool:
    """Do loads of lanes of type `elem` give the elements as the computation wants them?"""
    name = element_name(t)
    return name is not None and t.by_keyword and name[1:] == elem[1:] and (name[0] == "f") == (elem[0] == "f")


def _moves(a: Access, d: int) -> bool:
    return any(
        a.index.get_pw_aff(k).involves_dims(isl.dim_type.in_, d, 1) for k in range(a.index.dim(isl.dim_type.out))
    )


def _apart(moves: isl.Map, what: Contraction) -> isl.Map:
    """The accesses with the outer iterators as further subscripts: runs of the product are judged one by one."""
    n = moves.dim(isl.dim_type.in_)
    outer = [d for d in range(n) if d not in what.inner]
    space = moves.get_space().domain().map_from_set()
    keep = isl.Map.universe(space.reset_tuple_id(isl.dim_type.out))
    for d in range(n):
        keep = keep.equate(isl.dim_type.in_, d, isl.dim_type.out, d)
    for d in reversed([d for d in range(n) if d not in outer]):
        keep = keep.project_out(isl.dim_type.out, d, 1)
    return moves.reset_tuple_id(isl.dim_type.out).flat_range_product(keep)


def in_any_order(scop: Scop, s: Statement, what: Contraction, isa: str) -> bool:
    """Do the steps of an element give the same bits in any order, made on lanes, and does the statement read no other
    elements of its array? Signed integers wrap around there, so that none but the source's own order has to be free of
    overflow. What is done in tables of the user's own, nobody knows."""
    free = any(r.stmt == s.name and r.wraps for r in find_reductions(scop))
    if not free or fold(what.step.lane) is None or own(isa) is not None:
        return False
    target = s.accesses[s.target]
    return all(a.relation.is_equal(target.relation) for a in s.accesses if a.array == target.array)


def fold(step: Lane) -> ReductionStep | None:
    """How partial results of the step are joined; None where the step is no reduction."""
    if step.op not in _FOLDS or len(step.args) != 2:
        return None
    first, second = step.args
    if step.op != "sub" and second == Lane("acc"):
        first, second = second, first
    if first != Lane("acc") or Lane("acc") in walk(second):
        return None
    return ReductionStep(*_FOLDS[step.op])
