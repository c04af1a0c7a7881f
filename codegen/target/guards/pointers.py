"""Returns the base pointer of an array as C text (`p->x` for `p->x[i]`), for hoisted variables and for the overlap
test: to its first element, or to its table of row pointers; None where there is no single one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from codegen.record import record
from codegen.scop.model import Access, AccessStep, Scop, Statement

_SUBSCRIPTS = ("sub", "flat", "data")


@record
class ElementPointer:
    """The C text of a pointer to the array's first element, as many steps into its accesses; the indices of the model
    from number `first` on count from there. `flat` if one subscript leads to an element. `loaded` if there are
    subscripts on the way: the pointer lies in memory behind another one."""

    text: str
    steps: int
    first: int
    flat: bool
    loaded: bool = False


def pointer_of(scop: Scop, name: str) -> ElementPointer | None:
    """None where elements hang on several pointers, as rows behind pointers to pointers do."""
    return None if scop.arrays[name].scattered else table_of(scop, name)


def only_pointer(scop: Scop, name: str) -> ElementPointer | None:
    """As `pointer_of`, and the last pointer where all others on the way are the same for all elements, as in
    `pp[0][0][i]`."""
    at = table_of(scop, name)
    return at if at is not None and (not scop.arrays[name].scattered or (at.loaded and at.flat)) else None


def table_of(scop: Scop, name: str) -> ElementPointer | None:
    """The pointer that all ways to the elements begin with; behind it may be further ones, such as those to rows. With
    more than one level of rows, it is behind those whose subscripts are the same for all elements."""
    array = scop.arrays[name]
    uses = scop.accesses_to(name)
    found = {_way(a.path) for _, a in uses}
    if array.inside or len(found) != 1:
        return None
    steps = len(next(iter(found)))
    if array.scattered and not array.opaque and not all(is_row(a.path[steps:]) for _, a in uses):
        return next(_behind_fixed(scop, array.base, uses, steps), None) or _pointer(array.base, uses, steps, ())
    return _pointer(array.base, uses, steps, ())


def is_row(path: Sequence[AccessStep]) -> bool:
    """Whether these steps lead from a table of row pointers, or of structs with such, to elements."""
    ends = len(path) > 1 and path[0].kind == "sub" and path[-1].kind in ("sub", "flat")
    return ends and all(step.kind == "member" and not step.count for step in path[1:-1])


def _behind_fixed(
    scop: Scop, base: str, uses: Sequence[tuple[Statement, Access]], steps: int
) -> Iterator[ElementPointer]:
    """Pointers behind subscripts that have one value each; first one behind which no table follows."""
    paths = {a.path for _, a in uses}
    way = next(iter(paths))
    longest = min(len(p) for p in paths) - 1
    values: list[str] = []
    found: list[ElementPointer] = []
    for end in range(steps, longest):
        if len({p[: end + 1] for p in paths}) != 1:
            break
        if way[end].kind not in ("member", "arrow"):
            value = _value(scop, uses, way[end].index) if way[end].kind in ("sub", "deref") else ""
            if not value:
                break
            values.append(value)
        rest = [p[end + 1 :] for p in paths]
        if all(len(r) == 1 and r[0].kind in ("sub", "flat") for r in rest) or all(map(is_row, rest)):
            found.insert(0, _pointer(base, uses, end + 1, values))
    yield from found


def _value(scop: Scop, uses: Sequence[tuple[Statement, Access]], number: int) -> str:
    """The value of an index, a number or a parameter; empty where it has several."""
    line: isl.Set | None = None
    for s, a in uses:
        image = a.relation.intersect_domain(s.domain).range()
        image = image.project_out(isl.dim_type.set, number + 1, image.dim(isl.dim_type.set) - number - 1)
        image = image.project_out(isl.dim_type.set, 0, number).reset_tuple_id()
        line = image if line is None else line.union(image)
    if line is None or line.is_empty():
        return ""
    low, high = line.dim_min_val(0), line.dim_max_val(0)
    if low.is_int() and low.eq(high):
        return str(low.to_python())
    for p in scop.params:
        at = line.find_dim_by_name(isl.dim_type.param, p.name)
        if at >= 0 and p.text.isidentifier():
            same = isl.Set.universe(line.get_space()).equate(isl.dim_type.set, 0, isl.dim_type.param, at)
            if line.is_subset(same):
                return p.text
    return ""


def _pointer(
    base: str, uses: Sequence[tuple[Statement, Access]], steps: int, values: Sequence[str]
) -> ElementPointer:
    way = uses[0][1].path[:steps]
    subscripts = iter(values)
    text = base
    for step in way:
        member = f"{'->' if step.kind == 'arrow' else '.'}{step.text}"
        text += member if step.kind in ("member", "arrow") else f"[{next(subscripts)}]"
    first = sum(step.kind != "member" for step in way)
    flat = all(len(a.path) == steps + 1 for _, a in uses)
    return ElementPointer(text, steps, first, flat, bool(values))


def _way(path: tuple[AccessStep, ...]) -> tuple[AccessStep, ...]:
    """The members ahead of the first subscript; nothing where none follows."""
    count = next((k for k, step in enumerate(path) if step.kind not in ("member", "arrow")), len(path))
    return path[:count] if count < len(path) and path[count].kind in _SUBSCRIPTS else ()
