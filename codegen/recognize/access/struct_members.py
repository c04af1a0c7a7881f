"""Rewrites arrays of small structs as arrays with one more dimension, where members of one type lie side by side
(`with_members`).

`C[i][j].re` and `C[i][j].im` are then elements 0 and 1 of row `C[i][j]`, which a transfer takes along together. Whether
the struct has that layout is asked when the program runs (`layout_tests`).
"""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.scop.model import Access, Array, Scop


def with_members(scop: Scop) -> Scop:
    """The region with such arrays in place of one array for each member. Paths stay, so that C can be printed."""
    wide = {n: a for n, a in scop.arrays.items() if _is_wide(scop, a)}
    if not wide:
        return scop
    statements = tuple(
        replace(s, accesses=tuple(_wider(a, wide[a.array]) if a.array in wide else a for a in s.accesses))
        for s in scop.statements
    )
    arrays = {n: a for n, a in scop.arrays.items() if n not in wide}
    for n, a in wide.items():
        count = next(x.path[-1].count for _, x in scop.accesses() if x.array == n)
        arrays[a.base] = replace(a, name=a.base, rank=a.rank + 1, extents=(*a.extents, str(count)), depth=1)
    return replace(scop, statements=statements, arrays=arrays)


def layout_tests(scop: Scop) -> dict[str, str]:
    """For each such array, C text that is true if its members lie side by side without gaps."""
    out = {}
    for _, a in scop.accesses():
        subscripted = all(s.kind == "sub" for s in a.path[:-1])
        if a.path and a.path[-1].count and subscripted and scop.arrays[a.array].rank == len(a.path):
            element = f"{scop.arrays[a.array].base}{'[0]' * (len(a.path) - 1)}"
            step = a.path[-1]
            out[a.array] = f"sizeof {element} == {step.count} * sizeof {element}.{step.text}"
    return out


def _is_wide(scop: Scop, a: Array) -> bool:
    """Is the array reached by subscripts and one member in all places, and are all others of its variable?"""
    of_base = [n for n, x in scop.arrays.items() if x.base == a.base]
    accesses = [x for _, x in scop.accesses() if x.array in of_base]
    alike = all(
        x.path and x.path[-1].kind == "member" and x.path[-1].count and all(s.kind == "sub" for s in x.path[:-1])
        for x in accesses
    )
    shapes = {(scop.arrays[n].extents, scop.arrays[n].rank) for n in of_base}
    free = a.base not in scop.arrays or a.base in of_base
    rows = len(a.extents) == a.rank > 0 and all(a.extents[1:])  # a size that is not known is that of a pointer
    return alike and rows and bool(accesses) and not a.inside and free and len(shapes) == 1


def _wider(a: Access, array: Array) -> Access:
    """The access with the member's place as its last subscript."""
    n = a.index.dim(isl.dim_type.out)
    place = a.path[-1].index
    relation = a.relation.add_dims(isl.dim_type.out, 1).set_tuple_name(isl.dim_type.out, array.base)
    relation = relation.fix_val(isl.dim_type.out, n, isl.Val(place))
    space = a.index.get_space().add_dims(isl.dim_type.out, 1).set_tuple_name(isl.dim_type.out, array.base)
    index = isl.MultiPwAff.zero(space)
    for k in range(n):
        index = index.set_pw_aff(k, a.index.get_pw_aff(k))
    last = index.get_pw_aff(n).add_constant_val(isl.Val(place))
    return replace(a, array=array.base, index=index.set_pw_aff(n, last), relation=relation)
