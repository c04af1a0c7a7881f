"""May-alias check of scalars: which variables and members that a region reads by name its stores through pointers may
change, by where the pointers were set from, and by C's types where that is not known. Those are no parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.members import find_member
from codegen.frontend.syntax.symbols import RegionSite
from codegen.scop.origins import Place

Written = Mapping[str, Iterable[tuple[str, ...]]]  # by variable, the members on the way to what is assigned


def reached(site: RegionSite, written: Written, read: Iterable[Place]) -> list[Place]:
    """The variables and members in `read` that a pointer which the region writes through was set from."""
    origins = site.origins
    stores = [p for w in sorted(written) for p in _stored(w, sorted(written[w]), site)]
    found = []
    for place in sorted(read):
        name, *path = place
        shape = site.variables[name].shape
        object_of_its_own = not shape.declarators and name not in origins.exposed
        plain = shape.declarators and not path  # elements are arrays of the model
        if name not in written and not object_of_its_own and not plain:
            found += [place] if any(origins.reaches(s, place) and _may_be(s, place, site) for s in stores) else []
    return found


def _may_be(stored: Place, read: Place, site: RegionSite) -> bool:
    """May elements that are stored to through a pointer be a number that is read by its name? Not if their types
    differ, as C has it; but characters may be anything, and a pointer that was cast leads to anything, as all do where
    types say nothing."""
    if not site.dialect.typed_memory or site.origins.reaches_by_cast(stored, read):
        return True
    one, two = _type(stored, site), _type(read, site)
    if one is None or two is None or two.declarators or one.struct is not None or two.struct is not None:
        return True
    a, b = one.elem, two.elem
    if "other" in (a.kind, b.kind) or a.bits <= 8:
        return True
    return a.kind == b.kind and (a.bits == b.bits or a.enum or b.enum)


def _type(place: Place, site: RegionSite) -> DeclaredType | None:
    """The type of a variable, or of a member on this way; None where it is not known."""
    shape: DeclaredType | None = site.variables[place[0]].shape if place[0] in site.variables else None
    for step in place[1:]:
        member = find_member(site.types, None if shape is None else shape.struct, step)
        shape = None if member is None or member.shared else member.shape
    return shape


def _stored(name: str, paths: Iterable[tuple[str, ...]], site: RegionSite) -> Iterator[Place]:
    """Where stores through a variable go; what a pointer within a struct leads to is no part of the struct."""
    for path in paths:
        var, member = site.variables.get(name), None
        struct = None if var is None else var.shape.struct
        for step in path:
            member = find_member(site.types, struct, step)
            struct = None if member is None else member.shape.struct
        behind = member is not None and any(la.kind == "pointer" for la in member.shape.declarators)
        if not behind or (name, *path) in site.origins.direct:
            yield (name, *path)
