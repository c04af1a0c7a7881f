"""Legality of the directive `product` for matrix-vector products: raises InputError unless the matrix lies as the form
says, its lines run forward, and the sizes make a kernel; and returns the dependence that keeps a reduction in the
source's order, if any."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.isa.known import ISAS, own
from codegen.isa.load import table
from codegen.plan.model import Multiply
from codegen.recognize.access.strides import coefficients
from codegen.recognize.products.contraction import NoContraction
from codegen.recognize.products.matrix_vector import fold, layout
from codegen.recognize.reductions import find_reductions
from codegen.scop.dependences import Dependence
from codegen.scop.distance import is_zero
from codegen.scop.model import Statement
from codegen.scop.product import Contraction, MatrixVector
from codegen.scop.tree import FoundLoop, Loop
from codegen.transform.find import illegal
from codegen.transform.program import Program, pending

GENERIC = (64, 128, 256, 512, 1024, 2048)  # bits of vectors where the table gives no width

FARTHEST = 1 << 16  # elements that a line is fetched ahead of its use


def has_width(isa: str, bits: int) -> bool:
    """Whether an instruction set has vectors of this fixed width."""
    mine = own(isa)
    if mine is not None:
        return bits == mine.vector_bits
    have = table(isa).get("vector_bits") if isa in ISAS else 0
    return bits in GENERIC if have is None else 0 < bits == have


def check_matvec(
    p: Program, s: Statement, found: Contraction, d: Multiply, how: MatrixVector, loops: Mapping[str, Loop]
) -> None:
    """The matrix lies as the form says, its lines run forward, and the sizes make a kernel."""
    try:
        form = layout(p.scop, s, found)
    except NoContraction as error:
        raise illegal(f"{d.stmt} is no matrix-vector product: {error}", d.loc) from None
    if how.form not in (("lanes",) if form == "lanes" else ("across", "fold")):
        raise illegal(f"the matrix of {d.stmt} does not lie as form {how.form} needs it", d.loc)
    for n in d.rows if form == "lanes" else (*d.rows, *d.depth):
        if sum(coefficients(loops[n].exprs[s.name], len(s.iterators)) or ()) < 0:
            raise illegal(f"loop {n} of {d.stmt} runs backwards along the matrix", d.loc)
    target = s.accesses[s.target].array
    if p.scop.arrays[target].inside and not _stored(p, target, found.rows[0]):
        raise illegal(f"`{target}` has no storage for the rows of {d.stmt}", d.loc, "store it before the product")
    if not has_width(how.isa, how.bits):
        raise illegal(f"{how.isa} has no vectors of {how.bits} bits for {d.stmt}", d.loc)
    lanes = how.bits // int(found.step.elem[1:])
    across = how.form == "across" and lanes
    whole = how.streams % lanes == how.pair % lanes == 0 if across else not how.pair
    sized = 1 <= how.streams <= 64 and 1 <= how.vectors <= 32 and how.block > 0 and how.shared > 0
    sized = sized and how.ahead <= FARTHEST and 0 <= how.pair <= 64
    if lanes < 2 or not whole or not sized:
        raise illegal(f"these sizes make no kernel for {d.stmt}", d.loc)


def _stored(p: Program, name: str, row: int) -> bool:
    """Is there an object for each row of a variable of the region?"""
    array = p.scop.arrays[name]
    slot = p.stores[name][1] if name in p.stores else None
    return slot is not None and array.scope > row and slot.sizes[row] > 0


def reduced_array(p: Program, s: Statement, found: Contraction, d: Multiply) -> tuple[str, str]:
    """The operator and the array of a reduction whose steps are joined in an order of their own."""
    op = next((r.op for r in find_reductions(p.scop) if r.stmt == s.name), "")
    if not op or fold(found.step.lane) is None:
        raise illegal(f"the steps of {d.stmt} are no fold", d.loc)
    return op, s.accesses[s.target].array


def kept(p: Program, place: FoundLoop, free: str) -> Dependence | None:
    """What keeps a reduction in the source's order. The steps of one statement, which reads no elements of the array
    `free` but those it writes, may be taken in any."""
    ties = (d for d in p.deps.all if d.array != free)
    return next((d for d in ties if not is_zero(pending(p, d, place), place.loop.exprs)), None)
