"""`PointFacts`: what is known of parameters and loop variables at a point of the C tree, as an isl set. It tells
whether a linear form is >= 0 there in any case, and is narrowed by the bounds of each loop around."""

from __future__ import annotations

import islpy as isl

from codegen.ast.ctree import CExpr, For, Fun
from codegen.ast.linear import Linear, linear
from codegen.record import record


@record
class PointFacts:
    """`where`: the values that parameters, and loop variables as further parameters, may have."""

    where: isl.Set

    def holds(self, s: Linear) -> bool:
        """Is s >= 0 here, in any case?"""
        if not s.terms:
            return s.constant >= 0
        return self.also(s.scaled(-1).shifted(-1)).where.is_empty()

    def also(self, *sums: Linear) -> PointFacts:
        """Where the sums are >= 0, too."""
        where = self.where
        for s in sums:
            for name, _ in s.terms:
                if where.find_dim_by_name(isl.dim_type.param, name) < 0:
                    where = where.add_dims(isl.dim_type.param, 1)
                    where = where.set_dim_name(isl.dim_type.param, where.dim(isl.dim_type.param) - 1, name)
            c = isl.Constraint.inequality_alloc(isl.LocalSpace.from_space(where.get_space()))
            for name, factor in s.terms:
                k = where.find_dim_by_name(isl.dim_type.param, name)
                c = c.set_coefficient_val(isl.dim_type.param, k, isl.Val(factor))
            where = where.add_constraint(c.set_constant_val(isl.Val(s.constant)))
        return PointFacts(where)

    def inside(self, f: For) -> PointFacts:
        """In the body of a loop."""
        var = Linear(((f.var, 1),), 0)
        lowers = [var.plus(low, -1) for low in sums(f.lower, "max")]
        uppers = [high.plus(var, -1).shifted(-1 if f.op == "<" else 0) for high in sums(f.upper, "min")]
        return self.also(*lowers, *uppers)


def sums(e: CExpr, fun: str) -> list[Linear]:
    """Those parts of a bound that are sums: as many facts are known."""
    if isinstance(e, Fun) and e.name == fun:
        return [s for a in e.args for s in sums(a, fun)]
    s = linear(e)
    return [] if s is None else [s]
