"""Finds row lengths for arrays whose declarations do not show them, since kernels have flat pointers instead of arrays
of arrays: returns the region with names for these, the values to pass, and the tests that have to hold. Unsupported
where C knows no length.

C fixes the length of a row where the array is declared; a variable that it was declared with may have changed since. So
the compiler is asked again: the length is compared where the region knows it by a parameter, and passed on where not.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.diagnostics import Unsupported
from codegen.gpu.body import WORD
from codegen.record import record
from codegen.scop.model import Scop
from codegen.target.text.pieces import fresh
from codegen.target.view import reserved


@record
class RowLengths:
    """The region with rows of known length; what has to be passed for that, and what has to hold."""

    scop: Scop
    values: tuple[tuple[str, str], ...]  # names, and the host's texts
    tests: tuple[str, ...]


def with_sizes(scop: Scop) -> RowLengths:
    """Names for lengths that no parameter gives. Raises Unsupported where C knows none."""
    known = {p.text for p in scop.params}
    taken = reserved(scop) | scop.names
    arrays, values, tests = dict(scop.arrays), list[tuple[str, str]](), list[str]()
    for name in sorted(scop.arrays):
        array = scop.arrays[name]
        if array.inside or _is_flat(scop, name):
            continue
        extents = list(array.extents)
        for k, size in enumerate(array.extents[1:], 1):
            if not size:
                words = f"`{array.name}` cannot be given to a device: C does not know how long its rows are"
                raise Unsupported("gpu-array", words, scop.loc, "pass a plain array of numbers")
            inner, outer = (f"sizeof {array.base}{'[0]' * n}" for n in (k + 1, k))
            if size.isdigit():
                continue
            if all(w in known for w in WORD.findall(size)):
                tests.append(f"{outer} == (unsigned long)({size}) * {inner}" if not WORD.fullmatch(size)
                             else f"{outer} == (unsigned long){size} * {inner}")
                continue
            extents[k] = fresh(f"{array.base}_{k}", taken)
            taken |= {extents[k]}
            values.append((extents[k], f"(long)({outer} / {inner})"))
        arrays[name] = replace(array, extents=tuple(extents))
    return RowLengths(replace(scop, arrays=arrays), tuple(values), tuple(tests))


def _is_flat(scop: Scop, name: str) -> bool:
    return any(x.kind == "flat" for _, a in scop.accesses_to(name) for x in a.path)

