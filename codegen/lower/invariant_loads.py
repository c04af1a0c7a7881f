"""Finds the loop-invariant loads of a vector loop, or of one with scalar replacement, that are read once, ahead of the
loop: elements that are read for certain and that no other iteration writes.

Compilers do not do it by themselves. Told to use vectors whatever may overlap, they still read a value in every
iteration that a store of another iteration might change. The proofs show that none does.
Neoverse N1, f64: gauss-jordan 0.119 s, with the factor of a row in a variable 0.093 s. Conditions that are asked ahead
of the loop come first: mix_down, x86-64, 0.96 of gcc's speed with the gain of a track read in the loop, 0.98 before it.
"""

from __future__ import annotations

from codegen.ast.ctree import Block, For, Instance, expr_names
from codegen.ast.lowered import Ahead
from codegen.lower.conditions import without_conditions
from codegen.lower.lane_accesses import element
from codegen.recognize.access.dereferenceable import always
from codegen.scop.expr import Ref, is_code, walk
from codegen.scop.model import Scop
from codegen.scop.tree import PARALLEL_VECTOR, VECTOR


def read_ahead(scop: Scop, node: For, conditions: int) -> tuple[Ahead, ...]:
    """Such reads of a vector loop, or of one that keeps values in variables, that consists of plain statements. So many
    of their conditions are asked before: what is read only under those is read for sure, and they need nothing."""
    free = node.loop.kind in (VECTOR, PARALLEL_VECTOR)
    if (not free and not node.carried) or node.loop.reductions:
        return ()
    body = node.body.children if isinstance(node.body, Block) else (node.body,)
    found = [(scop.statement(x.stmt), x) for x in body if isinstance(x, Instance)]
    if len(found) != len(body) or any(is_code(s.rhs) for s, _ in found):
        return ()  # code may read what it has written
    written = {s.accesses[s.target].array for s, _ in found}
    if free and len(found) == 1 and _moves(node, found[0][1], found[0][0].target):
        written = set()  # what one statement reads, it reads before it writes; no other iteration writes it
    names: dict[object, str] = {}
    out = []
    for s, at in found:
        bare = without_conditions(s, conditions)
        sure = {e.access for part in (s.rhs, bare.rhs) for e in always(part) if isinstance(e, Ref)}
        for k in dict.fromkeys(e.access for e in walk(bare.rhs) if isinstance(e, Ref) and e.access in sure):
            array = scop.arrays[s.accesses[k].array]
            plain = array.rank and not array.inside and array.elem.kind != "other"
            if plain and array.name not in written and not _moves(node, at, k):
                name = names.setdefault(element(s, at, k), f"c.{len(names)}")
                out.append(Ahead(name, at, k))
    return tuple(out)


def _moves(node: For, at: Instance, access: int) -> bool:
    return any(node.var in expr_names(e) for e in at.accesses[access])
