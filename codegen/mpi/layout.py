"""Reads `--distribute 'A: block, *; B: *, block'`: for each array of a region the dimensions whose indices ranks hold
in blocks, and the axes of the grid of ranks. InputError for anything else."""

from __future__ import annotations

import re
from collections.abc import Mapping

import islpy as isl

from codegen.diagnostics import InputError, Loc
from codegen.record import record
from codegen.scop.dependences import param_space
from codegen.scop.model import Array, Scop

AXES = 3  # of a grid of ranks, at most
HINT = "write --distribute 'A: block, *' for the rows of a matrix A, more arrays behind a semicolon"


@record
class ArrayDistribution:
    """The dimension of an array whose indices, from 0 to before `extent`, are shared out among ranks in blocks: among
    those along one axis of a grid of ranks with so many axes."""

    array: str
    position: int
    extent: isl.PwAff
    axis: int = 0
    axes: int = 1


def words(text: str) -> Mapping[str, tuple[str, ...]]:
    """The arrays of the option with a word for each of their dimensions. Raises InputError."""
    out: dict[str, tuple[str, ...]] = {}
    for part in filter(str.strip, text.split(";")):
        name, colon, rest = (x.strip() for x in part.partition(":"))
        dims = tuple(x.strip() for x in rest.split(","))
        if not colon or not re.fullmatch(r"[A-Za-z_]\w*", name) or any(x not in ("block", "*") for x in dims):
            raise _bad(f"`{part.strip()}` is no distribution of an array")
        if not 1 <= dims.count("block") <= AXES:
            raise _bad(f"`{name}` needs one to {AXES} dimensions in blocks, and `*` for the others")
        if name in out:
            raise _bad(f"`{name}` is distributed twice")
        out[name] = dims
    if len({dims.count("block") for dims in out.values()}) > 1:
        raise _bad("all arrays need as many dimensions in blocks: ranks form one grid")
    return out


def axes_of(text: str) -> int:
    """The axes of the grid of ranks. Raises InputError."""
    return max((dims.count("block") for dims in words(text).values()), default=1)


def _bad(message: str, hint: str = HINT) -> InputError:
    return InputError("bad-distribution", message, Loc("--distribute"), hint)


def check_named(text: str, source: str) -> None:
    """The arrays are somewhere in the source. Raises InputError."""
    for name in words(text):
        if not re.search(rf"\b{re.escape(name)}\b", source):
            raise _bad(f"there is no array `{name}` in the source", "name arrays as the source does")


def layouts(scop: Scop, text: str) -> tuple[ArrayDistribution, ...]:
    """The arrays of a region of which ranks hold blocks. Raises InputError."""
    out = []
    for name, dims in words(text).items():
        for array in (scop.arrays[n] for n in sorted(scop.arrays)):
            if array.base == name and not array.inside:
                blocks = [k for k, word in enumerate(dims) if word == "block"]
                for axis, position in enumerate(blocks):
                    extent = _extent(scop, array, dims, position)
                    out.append(ArrayDistribution(array.name, position, extent, axis, len(blocks)))
    return tuple(out)


def _extent(scop: Scop, array: Array, dims: tuple[str, ...], position: int) -> isl.PwAff:
    """How many indices a dimension of an array has."""
    if array.rank != len(dims) or array.opaque or array.mixed:
        raise _bad(f"`{array.base}` has {array.rank} dimension(s) in the region, not {len(dims)}")
    extents = (*array.extents, *("",) * (array.rank - len(array.extents)))
    unknown = next((k for k, e in enumerate(extents) if not e), None)
    found = extent_of(scop, array, position) if unknown is None else None
    if found is None:
        hint = "declare it with its size, as in `double A[n][n]`, and do not change the size before the region"
        which = (position if unknown is None else unknown) + 1
        raise _bad(f"how many elements `{array.base}` has in dimension {which} is not known", hint)
    return found


def extent_of(scop: Scop, array: Array, position: int) -> isl.PwAff | None:
    """How many indices a dimension of an array has; None where that is neither a number nor a parameter."""
    text = array.extents[position] if position < len(array.extents) else ""
    space = param_space(scop)
    local = isl.LocalSpace.from_space(space)
    if text.isdigit():
        return isl.PwAff.from_aff(isl.Aff.zero_on_domain(local).add_constant_val(isl.Val(int(text))))
    param = next((p for p in scop.params if text and p.text == text), None)
    if param is None:
        return None
    at = space.find_dim_by_name(isl.dim_type.param, param.name)
    return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.param, at))
