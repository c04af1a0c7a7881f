"""The memory that a region touches behind one pointer, as C text for the overlap test."""

from __future__ import annotations

import re
from collections.abc import Sequence

import islpy as isl

from codegen.ast.ctree import Fun
from codegen.ast.generate import expression
from codegen.recognize.reach import reach
from codegen.scop.expr import Expr, Ref, may_skip, sure_parts
from codegen.scop.model import Access, Array, Scop, Statement
from codegen.target.cexpr import IntPrinter
from codegen.target.computed import condition_text
from codegen.target.pointers import pointer_of

Uses = Sequence[tuple[Statement, Access]]


def span_pointer(scop: Scop, array: Array) -> str:
    """The pointer to test; empty where the elements hang on several, or on one that may lead nowhere."""
    if array.opaque and not _bounded(scop, array):
        return ""
    if array.rank == 0 and not array.opaque:
        return f"&{array.base}"
    at = pointer_of(scop, array.name)
    return "" if at is None or may_lead_nowhere(scop, array) else at.text


def may_lead_nowhere(scop: Scop, array: Array) -> bool:
    """Is the pointer to the elements in a struct that the region reads only under conditions on data? Then it may not
    be read ahead of the loops."""
    at = None if array.opaque and not _bounded(scop, array) else pointer_of(scop, array.name)
    return at is not None and "->" in at.text and not _read_ahead(scop, at.text) and not _followers(scop, at.text)


def _lead(pointer: str) -> str:
    """What has to be followed to read a pointer `p->q`."""
    return pointer.rpartition("->")[0] + "->"


def _read_ahead(scop: Scop, pointer: str) -> bool:
    """Is there a size in the same struct? Sizes are read ahead of the loops."""
    return any(p.text.startswith(_lead(pointer)) for p in scop.params)


def _followers(scop: Scop, pointer: str) -> Uses:
    """Accesses through members of the same struct that happen whatever the data are."""
    ways = {n: way.text for n in scop.arrays if (way := pointer_of(scop, n)) is not None}
    mine = (x for x in scop.accesses() if ways.get(x[1].array, "").startswith(_lead(pointer)))
    return [(s, a) for s, a in mine if _certain(s, a)]


def span_text(scop: Scop, arrays: Sequence[Array], ints: IntPrinter) -> str:
    """From which element on, and up to which, arrays behind the same pointer are touched."""
    name = span_pointer(scop, arrays[0])
    at = pointer_of(scop, arrays[0].name)
    if any(x.opaque for x in arrays):
        return _opaque_span(scop, arrays, name)
    if arrays[0].rank == 0 or at is None:
        return f"TW_SPAN({name}, 0, 1)"
    uses = [(s, a) for s, a in _uses(scop, arrays) if not a.relation.intersect_domain(s.domain).is_empty()]
    if not uses:
        return f"TW_SPAN({name}, 0, 0)"
    low, past = _bound(scop, uses, at.first, False, ints), _bound(scop, uses, at.first, True, ints)
    stride = next((x.strides[0] for _, a in uses for x in a.path if x.kind == "flat"), "")
    if stride:
        wide = f"(unsigned long){stride}" if "*" in stride else stride
        text = f"TW_ROWS({name}, {low}, {past}, {wide})"
    else:
        text = f"TW_SPAN({name}, {low}, {past})"
    reached = _reached(scop, name, ints) if "->" in name else ""
    return f"({reached} ? {text} : TW_NOWHERE)" if reached else text


def _bounded(scop: Scop, array: Array) -> bool:
    """Is it known what subscripts that depend on data can reach?"""
    others = any(x.base == array.base and not x.opaque for x in scop.arrays.values())
    return not others and (_declared(array) or reach(scop, array.name) is not None)


def _declared(array: Array) -> bool:
    """Does the name stand for the elements themselves, all of which C knows?"""
    return array.place in ("global", "local") and array.depth == 0 and bool(array.extents) and array.extents[0] != ""


def _opaque_span(scop: Scop, arrays: Sequence[Array], name: str) -> str:
    """Everything that subscripts which depend on data may reach."""
    if _declared(arrays[0]):
        return f"TW_SPAN(&{name}, 0, 1)"
    ends = [end for x in arrays if x.opaque for end in [reach(scop, x.name)] if end is not None]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    return f"TW_SPAN({name}, {low}, {high + 1})"


def _uses(scop: Scop, arrays: Sequence[Array]) -> Uses:
    names = {x.name for x in arrays}
    return [(s, a) for s, a in scop.accesses() if a.array in names]


def _bound(scop: Scop, uses: Uses, pos: int, past: bool, ints: IntPrinter) -> str:
    """The first element, or the one past the last. Where some use does not run, it may be too wide."""
    found: list[isl.PwAff] = []
    for s, a in uses:
        image = a.relation.intersect_domain(s.domain).range()
        rank = image.dim(isl.dim_type.set)
        line = image.project_out(isl.dim_type.set, pos + 1, rank - pos - 1).project_out(isl.dim_type.set, 0, pos)
        value = _end(line, past)
        if not any(value.plain_is_equal(v) for v in found):
            found.append(value.coalesce())
    kept = list(found)
    for v in found:
        if any(w is not v and _covers(w, v, past) for w in kept):
            kept.remove(v)
    build = isl.AstBuild.from_context(isl.Set.universe(scop.context.get_space()))
    texts = tuple(expression(build.expr_from_pw_aff(v)) for v in kept)
    return ints.text(texts[0] if len(texts) == 1 else Fun("max" if past else "min", texts))


def _end(line: isl.Set, past: bool) -> isl.PwAff:
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
    if _read_ahead(scop, pointer):
        return ""
    where = isl.Set.empty(scop.context.get_space())
    for s, a in _followers(scop, pointer):
        where = where.union(s.instances(a).params())
    where = where.coalesce().gist(scop.context)
    if isl.Set.universe(where.get_space()).is_subset(where):
        return ""
    build = isl.AstBuild.from_context(isl.Set.universe(where.get_space()))
    return ints.text(expression(build.expr_from_set(where)), 1)


def _certain(s: Statement, a: Access) -> bool:
    """Does every instance make the access, whatever the data?"""
    number = next(k for k, x in enumerate(s.accesses) if x is a)
    if a.write or number == s.target:
        return not may_skip(s.rhs)
    return number in _always(s.rhs)


def _always(e: Expr) -> set[int]:
    """The accesses of an expression that no condition in it stands before."""
    own = {e.access} if isinstance(e, Ref) else set[int]()
    return own.union(*(_always(x) for x in sure_parts(e)))


def cell_text(scop: Scop, pointer: str, ints: IntPrinter) -> str:
    """A single value in memory; one that is read ahead of the region only where the source reads it, too."""
    number = next((k for k, c in enumerate(scop.computed) if pointer in (f"&{r.text}" for r in c.reads)), None)
    test = "" if number is None else condition_text(scop, number, ints)
    text = f"TW_SPAN({pointer}, 0, 1)"
    return f"({test} ? {text} : TW_NOWHERE)" if test else text


def pointee(text: str) -> str:
    """The variable whose memory holds a value read as `p->n`; empty for other texts."""
    found = re.fullmatch(r"(\w+)->[\w.]+", text)
    return found.group(1) if found else ""
