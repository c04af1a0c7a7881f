"""isl values and conditions as C expressions, and the box around a set of array elements."""

from __future__ import annotations

import islpy as isl

from codegen.ast.ctree import CExpr, Fun, Int
from codegen.ast.generate import expression

_SET, _IN, _OUT = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


def box_set(touched: isl.Set) -> isl.Set:
    """All points between the least and the greatest coordinate in every dimension."""
    n = touched.dim(_SET)
    result = isl.Set.universe(touched.get_space())
    for k in range(n):
        line = touched.project_out(_SET, k + 1, n - k - 1).project_out(_SET, 0, k)
        line = line.reset_tuple_id() if line.has_tuple_id() else line
        pairs = isl.Map.universe(line.get_space().map_from_set())
        up = line.apply(pairs.order_le(_IN, 0, _OUT, 0))
        down = line.apply(pairs.order_ge(_IN, 0, _OUT, 0))
        side = up.intersect(down).insert_dims(_SET, 1, n - k - 1).insert_dims(_SET, 0, k)
        result = result.intersect(side.set_tuple_name(touched.get_tuple_name()))
    return result.coalesce()


def value_expr(value: isl.PwAff, context: isl.Set) -> CExpr:
    """A value in terms of loop variables and parameters as a C expression, where `context` holds."""
    context = context.align_params(value.get_space().params())
    build = isl.AstBuild.from_context(context)
    pieces = [isl.PwAff.from_aff(aff) for _, aff in value.get_pieces()]
    if len(pieces) > 1:
        domain = value.domain().intersect(context)
        for name in ("min", "max"):
            whole = pieces[0]
            for p in pieces[1:]:
                whole = whole.min(p) if name == "min" else whole.max(p)
            if whole.intersect_domain(domain).is_equal(value.intersect_domain(domain)):
                texts = [expression(build.expr_from_pw_aff(p)) for p in pieces]
                return Fun(name, tuple(sorted(texts, key=lambda e: (not isinstance(e, Int), repr(e)))))
    return expression(build.expr_from_pw_aff(value))


def condition_expr(where: isl.Set, context: isl.Set) -> CExpr:
    build = isl.AstBuild.from_context(context.align_params(where.get_space().params()))
    return expression(build.expr_from_set(where))
