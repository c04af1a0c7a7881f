"""Returns the base pointer of an array as C text (`p->x` for `p->x[i]`), for hoisted variables and for the overlap
test: to its first element, or to its table of row pointers; None where there is no single one."""

from __future__ import annotations

from codegen.record import record
from codegen.scop.model import AccessStep, Scop


@record
class ElementPointer:
    """The C text of a pointer to the array's first element, as many steps into its accesses; the indices of the model
    from number `first` on count from there. `flat` if one subscript leads to an element."""

    text: str
    steps: int
    first: int
    flat: bool


def pointer_of(scop: Scop, name: str) -> ElementPointer | None:
    """None where elements hang on several pointers, as rows behind pointers to pointers do."""
    return None if scop.arrays[name].scattered else table_of(scop, name)


def table_of(scop: Scop, name: str) -> ElementPointer | None:
    """The pointer that all ways to the elements begin with; behind it may be further ones, such as those to rows."""
    array = scop.arrays[name]
    paths = {a.path for _, a in scop.accesses_to(name)}
    found = {_way(p) for p in paths}
    if array.inside or len(found) != 1:
        return None
    way = next(iter(found))
    text = array.base + "".join(("->" if step.kind == "arrow" else ".") + step.text for step in way)
    flat = all(len(p) == len(way) + 1 for p in paths)
    return ElementPointer(text, len(way), sum(step.kind == "arrow" for step in way), flat)


def _way(path: tuple[AccessStep, ...]) -> tuple[AccessStep, ...]:
    """The members ahead of the first subscript; nothing where none follows."""
    count = next((k for k, step in enumerate(path) if step.kind not in ("member", "arrow")), len(path))
    return path[:count] if count < len(path) and path[count].kind in ("sub", "flat", "data") else ()
