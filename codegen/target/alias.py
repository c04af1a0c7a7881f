"""--check-alias: the run-time test that arrays do not overlap."""

from __future__ import annotations

import islpy as isl

from codegen.ast.generate import expression
from codegen.scop.model import Scop
from codegen.target.cexpr import IntPrinter


def alias_guard(scop: Scop) -> tuple[str, frozenset[str]]:
    """A C condition that holds when no written array overlaps another, and the helpers it calls."""
    ints = IntPrinter({p.name: p for p in scop.params}, {})
    spans = {}
    written = {a.array for _, a in scop.accesses() if a.write}
    for name in sorted(scop.arrays):
        array = scop.arrays[name]
        if not array.inside and array.rank and array.place != "buffer":
            spans[name] = _span(scop, name, ints)
    tests = []
    names = sorted(spans)
    for k, a in enumerate(names):
        for b in names[k + 1 :]:
            one, two = scop.arrays[a], scop.arrays[b]
            if one.base == two.base or not {a, b} & written or {one.place, two.place} <= {"global", "local"}:
                continue
            tests.append(f"tw_disjoint({spans[a]}, {spans[b]})")
    helpers = set(ints.helpers) | ({"tw_disjoint"} if tests else set())
    return " && ".join(tests), frozenset(helpers)


def _span(scop: Scop, name: str, ints: IntPrinter) -> str:
    """`pointer, first byte, byte past the last` of what the region touches."""
    array = scop.arrays[name]
    touched: isl.Set | None = None
    for s, a in scop.accesses():
        if a.array == name:
            image = a.relation.intersect_domain(s.domain).range()
            touched = image if touched is None else touched.union(image)
    assert touched is not None
    build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space()))
    unit = f"(long)sizeof *{array.base}"
    low = ints.wide(expression(build.expr_from_pw_aff(touched.dim_min(0))), 6)
    high = ints.wide(expression(build.expr_from_pw_aff(touched.dim_max(0))), 5)
    if any(x.kind == "flat" for _, a in scop.accesses() if a.array == name for x in a.path):
        stride = next(x.strides[0] for _, a in scop.accesses() if a.array == name for x in a.path if x.kind == "flat")
        return f"{array.base}, ({low}) * {stride} * {unit}, ({high} + 1) * {stride} * {unit}"
    return f"{array.base}, ({low}) * {unit}, ({high} + 1) * {unit}"
