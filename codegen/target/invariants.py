"""What a vector loop reads again and again from one place: read once, ahead of the loop.

Compilers do not do it by themselves. Told to use vectors whatever may overlap, they still read a value in every
iteration that a store of another iteration might change. The proofs have shown that none does: such a loop carries no
dependence. Neoverse N1, f64: gauss-jordan 0.119 s, with the factor of a row in a variable 0.093 s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codegen.ast.ctree import Block, For, Instance, expr_names
from codegen.record import record
from codegen.scop.expr import Binary, Expr, Ref, Ternary, children
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import PARALLEL_VECTOR, VECTOR
from codegen.target.body import ATOM, BodyPrinter


@record
class Invariant:
    """An access of a statement whose element stays the same in all iterations, and the type of its value."""

    statement: Statement
    at: Instance
    access: int
    type: str


def invariants(scop: Scop, node: For) -> tuple[Invariant, ...]:
    """Those of a vector loop, or of one that keeps values in variables, that consists of plain statements."""
    free = node.loop.kind in (VECTOR, PARALLEL_VECTOR)
    if (not free and not node.carried) or node.loop.reductions:
        return ()
    body = node.body.children if isinstance(node.body, Block) else (node.body,)
    if not all(isinstance(child, Instance) for child in body):
        return ()
    found = [(scop.statement(x.stmt), x) for x in body if isinstance(x, Instance)]
    written = {s.accesses[s.target].array for s, _ in found}
    if free and len(found) == 1 and _moves(node, found[0][1], found[0][0].target):
        written = set()  # what one statement reads, it reads before it writes; no other iteration writes it
    out = []
    for s, at in found:
        for k in dict.fromkeys(always_read(s.rhs)):
            array = scop.arrays[s.accesses[k].array]
            plain = array.rank and not array.inside and array.elem.kind != "other"
            if plain and array.name not in written and not _moves(node, at, k):
                out.append(Invariant(s, at, k, array.elem.spelling))
    return tuple(out)


def _moves(node: For, at: Instance, access: int) -> bool:
    return any(node.var in expr_names(e) for e in at.accesses[access])


def always_read(e: Expr) -> Iterator[int]:
    """The accesses that every evaluation of an expression makes: no others may be made ahead of it."""
    if isinstance(e, Ref):
        yield e.access
    elif isinstance(e, Ternary):
        yield from always_read(e.cond)
    elif isinstance(e, Binary) and e.op in ("&&", "||"):
        yield from always_read(e.left)
    else:
        for child in children(e):
            yield from always_read(child)


@record
class BodyAfter(BodyPrinter):
    """Prints statements that use values read ahead: `known` names them by statement and access."""

    known: Mapping[tuple[str, int], str]

    def _print(self, e: Expr, s: Statement, at: Instance) -> tuple[str, int]:
        if isinstance(e, Ref) and (s.name, e.access) in self.known:
            return self.known[s.name, e.access], ATOM
        return BodyPrinter._print(self, e, s, at)
