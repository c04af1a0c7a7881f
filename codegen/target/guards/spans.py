"""Address ranges that a region touches behind one pointer, as C text for the overlap test."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import islpy as isl

from codegen.ast.ctree import Fun
from codegen.ast.generate import expression
from codegen.frontend.expressions.affine import constant_of
from codegen.recognize.access.reach import reach
from codegen.scop.effort import Exhausted, at_most
from codegen.scop.model import Access, Array, Scop, Statement
from codegen.scop.unconditional import certain, followed, leads, may_be_skipped
from codegen.target.guards.computed_parameters import condition_expr
from codegen.target.guards.pointers import only_pointer, table_of
from codegen.target.text.cexpr import IntPrinter

Uses = Sequence[tuple[Statement, Access]]
EXACT = 20_000  # operations of isl for one end of the elements that one access touches
CASES = 8  # for which the end of them has formulas of its own


def span_pointer(scop: Scop, array: Array) -> str:
    """The pointer to test; empty where the elements hang on several, or on one that may lead nowhere."""
    if array.opaque and not _bounded(scop, array):
        return ""
    if array.rank == 0 and not array.opaque:
        return f"&{array.base}"
    at = only_pointer(scop, array.name)
    return "" if at is None or may_lead_nowhere(scop, array) else at.text


def start_pointer(scop: Scop, array: Array) -> str:
    """Of an array that `span_pointer` has no pointer for: where the pointers to its rows lie, or its first element if
    data choose among them. Empty where that may not be looked at, either.

    Who passes one array twice, to read and to write, passes the same pointer."""
    at = table_of(scop, array.name)
    if at is None or (array.opaque and array.scattered) or any(x.base == array.base for x in _others(scop, array)):
        return ""
    uses = (s.instances(a).params() for s, a in uses_of(scop, [array]))
    return at.text if not is_loaded(at.text) or is_followed(scop, at.text, uses) else ""


def _others(scop: Scop, array: Array) -> list[Array]:
    """Arrays of the other kind, of which only some have subscripts that depend on data."""
    return [x for x in scop.arrays.values() if x.opaque != array.opaque]


def may_lead_nowhere(scop: Scop, array: Array) -> bool:
    """Is the pointer to the elements in memory that the region need not look at wherever it uses the elements, as data
    decide? Then it may not be read ahead of the loops."""
    at = None if array.opaque and not _bounded(scop, array) else table_of(scop, array.name)
    if at is None or not is_loaded(at.text):
        return False
    return not is_followed(scop, at.text, (s.instances(a).params() for s, a in uses_of(scop, [array])))


def is_loaded(pointer: str) -> bool:
    """Whether it takes a read through a pointer to know a pointer, given as C text."""
    return "->" in pointer or "[" in pointer


def is_followed(scop: Scop, text: str, uses: Iterable[isl.Set]) -> bool:
    """Does the source follow all pointers on the way to a member for sure, for these parameters?"""
    where = _where(scop, text)
    return where is None or all(use.intersect(scop.context).is_subset(where) for use in uses)


def _where(scop: Scop, text: str) -> isl.Set | None:
    """For which parameters the source follows the pointers on the way to a member for sure; None for all, as far as
    the guard of the region lets the fast version run."""
    if "[" in text:
        return _where_read(scop, text)
    lead = text.rpartition("->")[0] + "->"
    if any(p.asked and p.text.startswith(lead) for p in scop.params):
        return None  # read ahead of the loops
    where = isl.Set.empty(scop.context.get_space())
    for c in scop.computed:
        if lead in leads(c.text) and not may_be_skipped(c.text):
            where = where.union(c.where.align_params(where.get_space()))
    for other, here in followed(scop):
        where = where.union(here) if other == lead else where
    return where.coalesce()


def _where_read(scop: Scop, text: str) -> isl.Set:
    """For which parameters the source surely has an access behind a pointer, and reads all pointers on the way."""
    behind = {n for n in scop.arrays if (at := table_of(scop, n)) is not None and at.text == text}
    where = isl.Set.empty(scop.context.get_space())
    for s, a in scop.accesses():
        if a.array in behind and certain(s, a):
            where = where.union(s.instances(a).params())
    return where.coalesce()


def span_text(scop: Scop, arrays: Sequence[Array], ints: IntPrinter) -> str:
    """From which element on, and up to which, arrays behind the same pointer are touched."""
    name = span_pointer(scop, arrays[0]) or start_pointer(scop, arrays[0])
    text = _opaque_span(scop, arrays, name) if any(x.opaque for x in arrays) else _span(scop, arrays, name, ints)
    reached = _reached(scop, name, ints) if is_loaded(name) else ""
    return f"({reached} ? {text} : TW_NOWHERE)" if reached else text


def _span(scop: Scop, arrays: Sequence[Array], name: str, ints: IntPrinter) -> str:
    at = table_of(scop, arrays[0].name)
    if arrays[0].rank == 0 or at is None:
        return f"TW_SPAN({name}, 0, 1)"
    uses = [(s, a) for s, a in uses_of(scop, arrays) if not a.relation.intersect_domain(s.domain).is_empty()]
    if not uses:
        return f"TW_SPAN({name}, 0, 0)"
    low, past = bound_text(scop, uses, at.first, False, ints), bound_text(scop, uses, at.first, True, ints)
    stride = next((x.strides[0] for _, a in uses for x in a.path if x.kind == "flat"), "")
    if stride:
        wide = f"(unsigned long long){stride}" if "*" in stride else stride
        return f"TW_ROWS({name}, {low}, {past}, {wide})"
    return f"TW_SPAN({name}, {low}, {past})"


def _bounded(scop: Scop, array: Array) -> bool:
    """Is it known what subscripts that depend on data can reach?"""
    others = any(x.base == array.base and not x.opaque for x in scop.arrays.values())
    return not others and (_declared(array) or reach(scop, array.name) is not None)


def _declared(array: Array) -> bool:
    """Does the name stand for the elements themselves, all of which C knows?"""
    return array.place in ("global", "local") and array.depth == 0 and bool(array.extents) and array.extents[0] != ""


def _opaque_span(scop: Scop, arrays: Sequence[Array], name: str) -> str:
    """Everything that subscripts which depend on data may reach; the first elements where that is not known."""
    if _declared(arrays[0]):
        return f"TW_SPAN(&{name}, 0, 1)"
    ends = [reach(scop, x.name) or (0, _written_from(scop)) for x in arrays if x.opaque]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    return f"TW_SPAN({name}, {low}, {high + 1})"


def _written_from(scop: Scop) -> int:
    """The number of the element from which on arrays are written, if that is a number: who compares an array from its
    beginning with one that is written has to look so far."""
    found = [0]
    for s, a in scop.accesses():
        image = a.relation.intersect_domain(s.domain).range()
        if a.write and not scop.arrays[a.array].opaque and image.dim(isl.dim_type.set) == 1 and not image.is_empty():
            first = constant_of(image.dim_min(0))
            found += [] if first is None else [first]
    return max(found)


def uses_of(scop: Scop, arrays: Sequence[Array]) -> Uses:
    names = {x.name for x in arrays}
    return [(s, a) for s, a in scop.accesses() if a.array in names]


def bound_text(scop: Scop, uses: Uses, pos: int, past: bool, ints: IntPrinter) -> str:
    """The first element, or the one past the last. Where some use does not run, it may be too wide."""
    build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space()))
    texts = tuple(expression(build.expr_from_pw_aff(v)) for v in bounds(uses, pos, past))
    return ints.text(texts[0] if len(texts) == 1 else Fun("max" if past else "min", texts))


def bounds(uses: Uses, pos: int, past: bool) -> list[isl.PwAff]:
    """Values of which the least is the first element, or the greatest the one past the last."""
    found: list[isl.PwAff] = []
    for s, a in uses:
        image = a.relation.intersect_domain(s.domain).range()
        rank = image.dim(isl.dim_type.set)
        line = image.project_out(isl.dim_type.set, pos + 1, rank - pos - 1).project_out(isl.dim_type.set, 0, pos)
        value = line_end(line, past)
        if not any(value.plain_is_equal(v) for v in found):
            found.append(value.coalesce())
    kept, gone = list(found), list[isl.PwAff]()
    for v in found:  # what stands for another, where that one counts, need not count there itself
        left = [w for w in kept if w is not v]
        if all(any(_covers(w, x, past) for w in left) for x in (v, *gone)):
            kept, gone = left, [*gone, v]
    return kept


def line_end(line: isl.Set, past: bool) -> isl.PwAff:
    """The end of a line of elements. Where the exact one takes many cases, or much work, that of a wider line."""
    try:
        with at_most(EXACT):
            value = _exact_end(line, past)
    except Exhausted:
        return _exact_end(_widened(line), past)
    return value if value.n_piece() <= CASES else _exact_end(_widened(line), past)


def _widened(line: isl.Set) -> isl.Set:
    """A line with all of these elements, without remainders of divisions: its ends are the least of a few formulas."""
    return isl.Set.from_basic_set(line.remove_divs().simple_hull())


def _exact_end(line: isl.Set, past: bool) -> isl.PwAff:
    """The end of a line of elements; a number where that says it more simply than cases of the parameters."""
    value = line.dim_max(0) if past else line.dim_min(0)
    if value.n_piece() > 1:
        whole = line.project_out(isl.dim_type.param, 0, line.dim(isl.dim_type.param))
        most = whole.dim_max_val(0) if past else whole.dim_min_val(0)
        if most.is_int():
            space = isl.LocalSpace.from_space(value.get_domain_space())
            value = isl.PwAff.from_aff(isl.Aff.zero_on_domain(space).set_constant_val(most))
    return value.add_constant_val(isl.Val(1)) if past else value


def _covers(one: isl.PwAff, two: isl.PwAff, past: bool) -> bool:
    """Is the first bound, a single formula, as wide as the second wherever that one counts?"""
    if one.n_piece() != 1:
        return False
    formula = isl.PwAff.from_aff(one.get_pieces()[0][1])
    return bool((formula.lt_set(two) if past else formula.gt_set(two)).is_empty())


def _reached(scop: Scop, pointer: str, ints: IntPrinter) -> str:
    """When the region follows the pointer for sure: before that, it may lead nowhere. Empty if always."""
    where = _where(scop, pointer)
    if where is None:
        return ""
    for known in (scop.context, *scop.guard.first):  # which were tested before
        where = where.gist(known)
    if isl.Set.universe(where.get_space()).is_subset(where):
        return ""
    build = isl.AstBuild.from_context(isl.Set.universe(where.get_space()))
    return ints.text(expression(build.expr_from_set(where)), 1)


def cell_text(scop: Scop, pointer: str, ints: IntPrinter) -> str:
    """A single value in memory; one that is read ahead of the region, or found through a pointer in memory, only where
    the source surely comes to it, too."""
    number = next((k for k, c in enumerate(scop.computed) if pointer in (f"&{r.text}" for r in c.reads)), None)
    way = pointer.removeprefix("&").rpartition("->")[0]
    test = _reached(scop, way, ints) if "->" in way else ""
    test = test if number is None else condition_expr(scop, number, ints)
    text = f"TW_SPAN({pointer}, 0, 1)"
    return f"({test} ? {text} : TW_NOWHERE)" if test else text


def pointee(text: str) -> str:
    """The variable whose memory holds a value read as `p->n`; empty for other texts."""
    found = re.fullmatch(r"(\w+)->[\w.]+", text)
    return found.group(1) if found else ""
