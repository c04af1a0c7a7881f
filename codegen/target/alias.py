"""--check-alias: the run-time test that arrays do not overlap."""

from __future__ import annotations

import islpy as isl

from codegen.ast.generate import expression
from codegen.diagnostics import Unsupported
from codegen.scop.model import Array, Scop
from codegen.target.cexpr import IntPrinter
from codegen.target.pointers import pointer_of


def alias_guard(scop: Scop) -> tuple[str, frozenset[str]]:
    """A C condition that holds when no written array overlaps another, and the helpers it calls."""
    ints = IntPrinter({p.name: p for p in scop.params}, {})
    written = {a.array for _, a in scop.accesses() if a.write}
    arrays = [scop.arrays[n] for n in sorted(scop.arrays) if _shared(scop.arrays[n])]
    spans: dict[str, str] = {}
    tests = []
    for k, one in enumerate(arrays):
        for two in arrays[k + 1 :]:
            if not {one.name, two.name} & written or (_own(one) and _own(two)) or _same(scop, one, two):
                continue
            for x in (one, two):
                if x.name not in spans:
                    spans[x.name] = _span(scop, x, ints)
            tests.append(f"tw_disjoint({spans[one.name]}, {spans[two.name]})")
    helpers = set(ints.helpers) | ({"tw_disjoint"} if tests else set())
    return " && ".join(tests), frozenset(helpers)


def _shared(array: Array) -> bool:
    """Whether a pointer from elsewhere may lead to it: any array, and scalars that the whole file sees."""
    return not array.inside and array.place != "buffer" and (array.rank > 0 or array.place == "global")


def _own(array: Array) -> bool:
    """Whether the name stands for the storage itself, not for a pointer to it."""
    return array.place in ("global", "local") and array.depth == 0


def _same(scop: Scop, one: Array, two: Array) -> bool:
    """Whether two names of the model stand for members of the same elements."""
    a, b = pointer_of(scop, one.name), pointer_of(scop, two.name)
    return a is not None and b is not None and a.text == b.text


def _span(scop: Scop, array: Array, ints: IntPrinter) -> str:
    """`pointer, first byte, byte past the last` of what the region touches."""
    if array.rank == 0:
        return f"&{array.base}, 0, (long)sizeof {array.base}"
    at = pointer_of(scop, array.name)
    uses = [(s, a) for s, a in scop.accesses() if a.array == array.name]
    if at is None:
        raise Unsupported(
            "alias-unknown",
            f"`{array.base}` is found through pointers in memory: whether it overlaps with other arrays cannot "
            "be tested before the loops, as --check-alias asks",
            uses[0][1].loc,
            "put it into one block of memory behind one pointer, or leave --check-alias out if nothing overlaps",
        )
    touched: isl.Set | None = None
    for s, a in uses:
        image = a.relation.intersect_domain(s.domain).range()
        touched = image if touched is None else touched.union(image)
    assert touched is not None
    build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space()))
    unit = f"(long)sizeof *{at.text}"
    low = ints.wide(expression(build.expr_from_pw_aff(touched.dim_min(at.first))), 6)
    high = ints.wide(expression(build.expr_from_pw_aff(touched.dim_max(at.first))), 5)
    flat = next((x for _, a in uses for x in a.path if x.kind == "flat"), None)
    if flat is not None:
        return f"{at.text}, ({low}) * {flat.strides[0]} * {unit}, ({high} + 1) * {flat.strides[0]} * {unit}"
    return f"{at.text}, ({low}) * {unit}, ({high} + 1) * {unit}"
