"""Dependences with variables in place of the large numbers that bound a region of fixed size. isl's scheduler takes
minutes for bounds like 1000 where it takes no time for variables (optimal-bst: 117 s), since such numbers grow in its
linear programs. An order for all sizes is one for those of the region."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import islpy as isl

from codegen.record import record
from codegen.scop.isl_helpers import maps_of, union_of

LARGE = 64  # from which on a number gets a variable
NEAR = 8  # numbers that are no further apart are told by one variable
_NAME = "tw_size"
_PARAM = isl.dim_type.param


@record
class Sizes:
    """The least number of each group of large ones, and the space with a variable for each of them."""

    least: tuple[int, ...]
    space: isl.Space

    @property
    def context(self) -> isl.Set:
        """Sizes are large."""
        known = isl.Set.universe(self.space)
        for k in range(len(self.least)):
            known = known.lower_bound_val(_PARAM, self._at(k), isl.Val(LARGE))
        return known

    def lifted(self, relation: isl.UnionMap) -> isl.UnionMap:
        """A relation for all sizes."""
        parts = (m.align_params(self.space) for m in maps_of(relation))
        found = [isl.Map.from_basic_map(self._of(b)) for m in parts for b in m.get_basic_maps()]
        return union_of(found, self.space)

    def dropped(self, value: isl.PwAff) -> isl.PwAff | None:
        """A value without the variables; None where it depends on them."""
        for k in range(len(self.least)):
            pos = value.find_dim_by_name(_PARAM, f"{_NAME}{k}")
            if pos >= 0 and value.involves_dims(_PARAM, pos, 1):
                return None
            value = value.drop_dims(_PARAM, pos, 1) if pos >= 0 else value
        return value

    def _of(self, part: isl.BasicMap) -> isl.BasicMap:
        found = isl.BasicMap.universe(part.get_space())
        for c in part.get_constraints():
            number = _constant(c)
            if abs(number) >= LARGE:
                group, sign = bisect_right(self.least, abs(number)) - 1, 1 if number > 0 else -1
                c = c.set_constant_val(isl.Val(number - sign * self.least[group]))
                c = c.set_coefficient_val(_PARAM, self._at(group), isl.Val(sign))
            found = found.add_constraint(c)
        return found

    def _at(self, group: int) -> int:
        return int(self.space.dim(_PARAM)) - len(self.least) + group


def sizes_in(relations: Sequence[isl.UnionMap]) -> Sizes | None:
    """The large numbers in some relations; None where there are none, or where quotients are."""
    parts = [b for r in relations for m in maps_of(r) for b in m.get_basic_maps()]
    if any(b.dim(isl.dim_type.div) for b in parts):
        return None
    numbers = sorted({abs(_constant(c)) for b in parts for c in b.get_constraints()})
    least: list[int] = []
    for n in (x for x in numbers if x >= LARGE):
        if not least or n > least[-1] + NEAR:
            least.append(n)
    if not least:
        return None
    space = relations[0].get_space().params()
    before = space.dim(_PARAM)
    space = space.add_dims(_PARAM, len(least))
    for k in range(len(least)):
        space = space.set_dim_name(_PARAM, before + k, f"{_NAME}{k}")
    return Sizes(tuple(least), space)


def _constant(c: isl.Constraint) -> int:
    return int(c.get_constant_val().to_str())
