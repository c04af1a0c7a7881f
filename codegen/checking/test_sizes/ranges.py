"""For given parameter values: the least and largest index of each array that a region touches, about how many statement
instances it runs, and whether its model holds there."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

import islpy as isl

from codegen.checking.harness.gathers import Aim, Aimed, aims_of
from codegen.checking.harness.paths import Path
from codegen.record import record
from codegen.scop.isl_helpers import val
from codegen.scop.model import Access, Scop

Values = Mapping[str, int]  # by C text
LITTLE = 1_000_000
SHARES = (0.1, 0.5, 0.9)


@record
class Touch:
    """The indices of one array at one level of its path: a single index, or several with their strides."""

    base: str
    path: Path
    indices: isl.Set
    positions: tuple[int, ...]
    strides: tuple[str, ...]


@record
class Ranges:
    """Prepared once per region; every question is about fixed parameters."""

    scop: Scop
    touches: tuple[Touch, ...]
    aims: tuple[Aim, ...] = ()

    @property
    def known(self) -> frozenset[tuple[str, Path]]:
        """The levels whose indices are known for given parameters."""
        return frozenset({*((t.base, t.path) for t in self.touches), *((a.base, a.path) for a in self.aims)})

    def span(self, values: Values) -> dict[tuple[str, Path], tuple[int, int]]:
        """Smallest and largest index at every level that is touched at all."""
        found: dict[tuple[str, Path], tuple[int, int]] = {}
        for t in self.touches:
            one = _bounds(fixed(t.indices, self.scop, values), t, values)
            if one is not None:
                _widen(found, (t.base, t.path), one)
        aimed = Aimed(self.scop, values, found)
        for aim in self.aims:
            one = aimed.at(aim)
            if one is not None:
                _widen(found, (aim.base, aim.path), one)
        return found

    def work(self, values: Values) -> int:
        """About how many statement instances run; never less than that while it is little."""
        domains = [d for s in self.scop.statements if not (d := fixed(s.domain, self.scop, values)).is_empty()]
        most = sum(_walk(d, None) for d in domains)
        if most <= LITTLE:
            return most
        return sum(sum(_walk(d, share) for share in SHARES) // len(SHARES) for d in domains)

    def allowed(self, values: Values) -> bool:
        """Does the model describe the program for these values?"""
        return not fixed(self.scop.guard.valid, self.scop, values).is_empty()


def _widen(found: dict[tuple[str, Path], tuple[int, int]], key: tuple[str, Path], by: tuple[int, int]) -> None:
    low, high = found.get(key, by)
    found[key] = min(low, by[0]), max(high, by[1])


def _walk(domain: isl.Set, share: float | None) -> int:
    """The points of a domain if every iterator had as many values as where this walk comes by.

    The walk takes each iterator to this share of its range; without one, the box around the domain is counted.
    """
    count = 1
    for d in range(domain.dim(isl.dim_type.set)):
        low, high = _number(domain.dim_min_val(d)), _number(domain.dim_max_val(d))
        step = 1 if share is None else max(1, _number(domain.get_stride(d)))
        count *= (high - low) // step + 1
        if share is not None:
            domain = domain.lower_bound_val(isl.dim_type.set, d, val(low + int((high - low) * share)))
            domain = domain.fix_val(isl.dim_type.set, d, domain.dim_min_val(d))
    return count


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
    for d in scop.computed:
        for read in d.reads:
            for path, index in read.levels:
                key = (read.base, path, f"{d.param} {read.text}", (0,), ())
                touched[key] = touched[key].union(index) if key in touched else index
    return Ranges(scop, tuple(Touch(k[0], k[1], touched[k], k[3], k[4]) for k in sorted(touched)), aims_of(scop))


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
    """The value of a stride: sums and products of integers and parameters."""
    names = "|".join(re.escape(n) for n in sorted(values, key=len, reverse=True))
    numbers = re.sub(rf"(?<![\w.>])(?:{names})(?!\w)", lambda m: f"({values[m.group()]})", text) if names else text
    return _evaluated(ast.parse(numbers.replace("(long)", ""), mode="eval").body)


def _evaluated(e: ast.expr) -> int:
    if isinstance(e, ast.BinOp):
        left, right = _evaluated(e.left), _evaluated(e.right)
        if isinstance(e.op, ast.Mult):
            return left * right
        return left + right if isinstance(e.op, ast.Add) else left - right
    if isinstance(e, ast.UnaryOp):
        return -_evaluated(e.operand)
    assert isinstance(e, ast.Constant)
    return int(str(e.value))


def _bounds(indices: isl.Set, t: Touch, values: Values) -> tuple[int, int] | None:
    if indices.is_empty():
        return None
    if not t.strides:
        (pos,) = t.positions
        return _number(indices.dim_min_val(pos)), _number(indices.dim_max_val(pos))
    space = indices.get_space()
    linear = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(space))
    for pos, stride in zip(t.positions, t.strides, strict=True):
        linear = linear.set_coefficient_val(isl.dim_type.in_, pos, val(stride_value(stride, values)))
    image = indices.apply(isl.Map.from_aff(linear))
    return _number(image.dim_min_val(0)), _number(image.dim_max_val(0))


def fixed(s: isl.Set, scop: Scop, values: Values) -> isl.Set:
    """A set with the parameters that it has set to these values."""
    for p in scop.params:
        pos = s.find_dim_by_name(isl.dim_type.param, p.name)
        if pos >= 0:
            s = s.fix_val(isl.dim_type.param, pos, val(values[p.text]))
    return s


def _number(value: isl.Val) -> int:
    if not value.is_int():
        raise ValueError("an index or a loop has no bound")
    return int(value.to_python())
