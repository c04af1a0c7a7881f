"""Returns the access of a statement to an element of an array that is given by its subscripts."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from codegen.diagnostics import Loc
from codegen.scop.isl_helpers import relation_of
from codegen.scop.model import Access, AccessStep


def element_access(
    domain: isl.Set, array: str, write: bool, values: Sequence[isl.PwAff], path: tuple[AccessStep, ...], loc: Loc
) -> Access:
    """Each instance of the domain accesses the element with these values as subscripts."""
    space = domain.get_space()
    target = space.params().set_from_params().add_dims(isl.dim_type.set, len(values))
    multi = isl.MultiPwAff.zero(space.map_from_domain_and_range(target.set_tuple_name(isl.dim_type.set, array)))
    for k, v in enumerate(values):
        multi = multi.set_pw_aff(k, v)
    relation = relation_of(multi).intersect_domain(domain)
    return Access(array, write, multi, relation, path, loc)


def in_one_piece(sizes: Sequence[str]) -> tuple[AccessStep, ...]:
    """One C subscript for an array whose elements lie in one piece of memory."""
    return (AccessStep("flat", 0, strides=tuple(" * ".join(sizes[k + 1 :]) or "1" for k in range(len(sizes)))),)
