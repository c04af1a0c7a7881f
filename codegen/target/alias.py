"""The run-time test that arrays do not overlap, in front of code that takes them for separate memory."""

from __future__ import annotations

from itertools import combinations, product

import islpy as isl

from codegen.ast.generate import expression
from codegen.diagnostics import Diagnostic, Severity, Unsupported
from codegen.record import record
from codegen.scop.model import Access, Array, Scop
from codegen.scop.origins import Place
from codegen.target.cexpr import IntPrinter
from codegen.target.pointers import pointer_of

SEPARATE = "arrays do not overlap"  # what generated code says about it


@record
class AliasTest:
    """A C condition that holds when no written array overlaps another, and the helpers it calls."""

    text: str = ""
    helpers: frozenset[str] = frozenset()
    remarks: tuple[Diagnostic, ...] = ()


def alias_test(scop: Scop, trust: bool, strict: bool) -> AliasTest:
    """What has to be tested. With `trust`, only arrays that the function itself sets from one another may overlap; what
    no test can tell is refused then, and if `strict` for all arrays."""
    ints = IntPrinter({p.name: p for p in scop.params}, {})
    spans: dict[str, str] = {}
    tests = []
    remarks: dict[str, Diagnostic] = {}
    for one, two, shown in _pairs(scop, trust):
        for x in (one, two):
            if x.name not in spans:
                spans[x.name] = _span(scop, x, ints)
        missing = next((x for x in (one, two) if not spans[x.name]), None)
        if missing is None:
            tests.append(f"tw_disjoint({spans[one.name]}, {spans[two.name]})")
            if shown:
                remarks[f"{one.base} {two.base}"] = _tested(scop, one, two)
        elif shown or strict:
            raise _unknown(scop, missing, two if missing is one else one, shown)
    helpers = set(ints.helpers) | ({"tw_disjoint"} if tests else set())
    return AliasTest(" && ".join(tests), frozenset(helpers), tuple(remarks.values()))


def _pairs(scop: Scop, trust: bool) -> list[tuple[Array, Array, bool]]:
    """Arrays of which one is written, and that may overlap; and whether the function itself shows that."""
    written = {a.array for _, a in scop.accesses() if a.write}
    arrays = [scop.arrays[n] for n in sorted(scop.arrays) if _shared(scop, scop.arrays[n])]
    places = {x.name: (_place(scop, x), *(() if x.rank else scop.origins.inside(x.base))) for x in arrays}
    out = []
    for one, two in combinations(arrays, 2):
        if not {one.name, two.name} & written or (_own(one) and _own(two)) or _same(scop, one, two):
            continue
        shown = any(scop.origins.related(p, q) for p, q in product(places[one.name], places[two.name]))
        if shown or not (trust or _apart(scop, one, two) or _apart(scop, two, one)):
            out.append((one, two, shown))
    return out


def _shared(scop: Scop, array: Array) -> bool:
    """Whether a pointer from elsewhere may lead to it: any array, and scalars whose address others may have."""
    seen = array.rank > 0 or array.place == "global" or array.base in scop.origins.exposed
    return seen and not array.inside and array.place != "buffer"


def _own(array: Array) -> bool:
    """Whether the name stands for the storage itself, not for a pointer to it."""
    return array.place in ("global", "local") and array.depth == 0


def _apart(scop: Scop, one: Array, two: Array) -> bool:
    """Is the first memory that the second, which is not set from it, cannot lead to?"""
    origins = scop.origins
    direct = one.depth <= 1 and len(_place(scop, one)) == 1
    alone = (_own(one) and one.place == "local") or (direct and one.base in origins.restricted | origins.fresh)
    plain = two.depth <= 1 and len(_place(scop, two)) == 1
    return alone and (_own(two) or (plain and two.base in origins.settled | origins.fresh))


def _place(scop: Scop, array: Array) -> Place:
    """The variable and the members that lead to the pointer, or to the elements of the variable itself."""
    path = _accesses(scop, array)[0].path
    way = []
    for step in path:
        if step.kind not in ("member", "arrow"):
            break
        way.append(step.text)
    return (array.base, *(way if len(way) < len(path) else ()))


def _accesses(scop: Scop, array: Array) -> list[Access]:
    return [a for _, a in scop.accesses() if a.array == array.name]


def _same(scop: Scop, one: Array, two: Array) -> bool:
    """Whether two names of the model stand for members of the same elements."""
    a, b = pointer_of(scop, one.name), pointer_of(scop, two.name)
    return a is not None and b is not None and a.text == b.text


def _tested(scop: Scop, one: Array, two: Array) -> Diagnostic:
    loc = _accesses(scop, one)[0].loc
    names = f"`{one.base}` and `{two.base}`"
    words = f"the function sets {names} from one another: the source's own loops run where they overlap"
    return Diagnostic(Severity.REMARK, "overlap", words, loc, "use one of them for both", kind="missed")


def _unknown(scop: Scop, array: Array, other: Array, shown: bool) -> Unsupported:
    loc = _accesses(scop, array)[0].loc
    if shown:
        return Unsupported(
            "alias-unknown",
            f"`{array.base}` is found through pointers in memory, and the function sets it and `{other.base}` from one "
            "another: whether they overlap cannot be tested before the loops",
            loc,
            "use one of them for both, or put the memory behind one pointer",
        )
    return Unsupported(
        "alias-unknown",
        f"`{array.base}` is found through pointers in memory: whether it overlaps with other arrays cannot "
        "be tested before the loops, as --check-alias asks",
        loc,
        "put it into one block of memory behind one pointer, or leave --check-alias out if nothing overlaps",
    )


def _span(scop: Scop, array: Array, ints: IntPrinter) -> str:
    """`pointer, first byte, byte past the last` of what the region touches; empty where one pointer does not tell."""
    if array.rank == 0:
        return f"&{array.base}, 0, (long)sizeof {array.base}"
    at = pointer_of(scop, array.name)
    if at is None:
        return ""
    uses = [(s, a) for s, a in scop.accesses() if a.array == array.name]
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
