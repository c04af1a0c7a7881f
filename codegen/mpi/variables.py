"""Cuts a region into phases with replicated scalars (`cut_with_variables`): a scalar local to the region that several
phases use becomes one object on every rank, unless fewer statements are shared out then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.mpi.phases import Cut, Wanted, cut
from codegen.recognize.reductions import free_pairs
from codegen.scop.dependences import compute_dependences
from codegen.scop.model import Access, Scop
from codegen.transform.program import Program, make_program

MANY = 16  # variables that are tried, one after the other


def cut_with_variables(
    p: Program, wanted: Wanted, held: Mapping[str, int] | None = None
) -> tuple[Program, Cut, tuple[str, ...]]:
    """The region in phases, with variables that were in the way as one object each: the program in which they are, and
    their names."""
    found, own = cut(p, wanted, held), tuple[str, ...]()
    for _ in range(MANY):
        name = next((n for n in found.torn if n not in own and _plain(p.scop, n)), "")
        if not name:
            break
        other = _as_one_object(p, name)
        more = cut(other, wanted, held)
        if _shared(more) < _shared(found):
            break
        p, found, own = other, more, (*own, name)
    return p, found, own


def _shared(found: Cut) -> int:
    return sum(len(q.stmts) for q in found.shared)


def _plain(scop: Scop, name: str) -> bool:
    """A number that no other object of the region has the C name of."""
    array = scop.arrays[name]
    alone = sum(1 for a in scop.arrays.values() if a.base == array.base) == 1
    return alone and array.rank == 0 and array.declarable and not any(a.path for _, a in scop.accesses_to(name))


def _as_one_object(p: Program, name: str) -> Program:
    """The program in which all iterations use the same object."""
    array = p.scop.arrays[name]
    stmts = tuple(
        replace(s, accesses=tuple(_one(a, array.scope) if a.array == name else a for a in s.accesses))
        for s in p.scop.statements
    )
    arrays = {**p.scop.arrays, name: replace(array, inside=False, scope=0, place="local")}
    scop = replace(p.scop, statements=stmts, arrays=arrays)
    deps = compute_dependences(scop, p.tree, free_pairs(scop, p.reassociate) or None)
    return make_program(scop, deps, p.tree, p.reassociate)


def _one(a: Access, scope: int) -> Access:
    if not scope:
        return a
    relation = a.relation.project_out(isl.dim_type.out, 0, scope).set_tuple_name(isl.dim_type.out, a.array)
    index = a.index.drop_dims(isl.dim_type.out, 0, scope).set_tuple_name(isl.dim_type.out, a.array)
    return replace(a, relation=relation, index=index)


def declarations(scop: Scop, names: Sequence[str]) -> tuple[str, ...]:
    """Their declarations; each is set before it is used, which not all compilers see."""
    return tuple(f"{scop.arrays[n].elem.spelling} {scop.arrays[n].base} = 0;" for n in names)
