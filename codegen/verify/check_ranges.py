"""Which indices a region touches and how much work it does, for given values of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from codegen.scop.model import Access, Scop
from codegen.verify.check_paths import Path

Values = Mapping[str, int]  # by C text


@dataclass(frozen=True)
class Touch:
    """The indices of one array at one level of its path: a single index, or several with their strides."""

    base: str
    path: Path
    indices: isl.Set
    positions: tuple[int, ...]
    strides: tuple[str, ...]


@dataclass(frozen=True)
class Ranges:
    """Prepared once per region; every question is about fixed parameters."""

    scop: Scop
    touches: tuple[Touch, ...]

    def span(self, values: Values) -> dict[tuple[str, Path], tuple[int, int]]:
        """Smallest and largest index at every level that is touched at all."""
        found: dict[tuple[str, Path], tuple[int, int]] = {}
        for t in self.touches:
            one = _bounds(_fixed(t.indices, self.scop, values), t, values)
            if one is not None:
                low, high = found.get((t.base, t.path), one)
                found[t.base, t.path] = (min(low, one[0]), max(high, one[1]))
        return found

    def work(self, values: Values) -> int:
        """How many statement instances run, at most."""
        total = 0
        for s in self.scop.statements:
            domain = _fixed(s.domain, self.scop, values)
            if not domain.is_empty():
                box = 1
                for d in range(domain.dim(isl.dim_type.set)):
                    box *= _number(domain.dim_max_val(d)) - _number(domain.dim_min_val(d)) + 1
                total += box
        return total

    def allowed(self, values: Values) -> bool:
        """Does the model describe the program for these values?"""
        return not _fixed(self.scop.guard.valid, self.scop, values).is_empty()


def ranges_of(scop: Scop) -> Ranges:
    """What a region touches outside itself."""
    touched: dict[tuple[str, Path, str, tuple[int, ...], tuple[str, ...]], isl.Set] = {}
    for s, a in scop.accesses():
        array = scop.arrays[a.array]
        if array.inside:
            continue
        image = a.relation.intersect_domain(s.domain).range()
        for path, positions, strides in levels(a, array.rank):
            key = (array.base, path, array.name, positions, strides)
            touched[key] = touched[key].union(image) if key in touched else image
    return Ranges(scop, tuple(Touch(k[0], k[1], touched[k], k[3], k[4]) for k in sorted(touched)))


def levels(access: Access, rank: int) -> list[tuple[Path, tuple[int, ...], tuple[str, ...]]]:
    """The subscripts of an access: path, index positions, strides (for flat ones)."""
    out: list[tuple[Path, tuple[int, ...], tuple[str, ...]]] = []
    path: Path = ()
    for step in access.path:
        if step.kind == "flat":
            positions = tuple(range(step.index, step.index + len(step.strides)))
            out.append((path, positions, step.strides))
        elif step.kind in ("sub", "deref", "arrow") and step.index < rank:
            out.append((path, (step.index,), ()))
        if step.kind != "member":
            path = (*path, "*")
        if step.kind in ("member", "arrow"):
            path = (*path, f".{step.text}")
    return out


def stride_value(text: str, values: Values) -> int:
    """A product of integers and parameters."""
    result = 1
    for factor in text.split(" * "):
        result *= values[factor] if factor in values else int(factor)
    return result


def _bounds(indices: isl.Set, t: Touch, values: Values) -> tuple[int, int] | None:
    if indices.is_empty():
        return None
    if not t.strides:
        (pos,) = t.positions
        return _number(indices.dim_min_val(pos)), _number(indices.dim_max_val(pos))
    space = indices.get_space()
    linear = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
    for pos, stride in zip(t.positions, t.strides, strict=True):
        linear = linear.set_coefficient_val(isl.dim_type.in_, pos, isl.Val(stride_value(stride, values)))
    image = indices.apply(isl.Map.from_aff(linear))
    return _number(image.dim_min_val(0)), _number(image.dim_max_val(0))


def _fixed(s: isl.Set, scop: Scop, values: Values) -> isl.Set:
    for p in scop.params:
        pos = s.find_dim_by_name(isl.dim_type.param, p.name)
        if pos >= 0:
            s = s.fix_val(isl.dim_type.param, pos, isl.Val(values[p.text]))
    return s


def _number(value: isl.Val) -> int:
    if not value.is_int():
        raise ValueError("an index or a loop has no bound")
    return int(value.to_python())
