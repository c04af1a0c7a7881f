"""Checks what Python gives to conversions and kernels: `fields` the names, sizes and arrays of a format, `FormatCheck`
what the arrays promise (in C, in time linear in their lengths), and `broken` says which promise does not hold.
TypeError or ValueError, before anything is computed."""
from __future__ import annotations

import numbers
import operator
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from codegen.sparse.algebra.evaluate import evaluate
from codegen.sparse.algebra.expr import Call, num, single, var
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.algebra.terms import subst
from codegen.sparse.direct import key_functions
from codegen.sparse.emit.convert import checking
from codegen.sparse.emit.file import c_file
from codegen.sparse.emit.formats import Struct, struct
from codegen.sparse.emit.types import INDICES, VALUES, Types
from codegen.sparse.formats.load import load
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.indirect import plain
from codegen.sparse.python.arrays import exactly, lengths, to_struct
from codegen.sparse.python.build import declarations, load_library
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.model import Layout
from codegen.sparse.synth.pair import pair

if TYPE_CHECKING:
    import numpy

STATUS = {1: "no memory", 2: "an index is out of range", 3: "the input is not sorted as its format promises",
          4: "two entries have the same coordinates", 5: "the system is singular"}
OK, NO_MEMORY, RANGE, UNSORTED = 0, 1, 2, 3


class ConversionError(ValueError):
    """The generated function gave up; `status` is what it returned."""

    def __init__(self, status: int, why: str = "") -> None:
        super().__init__(why or STATUS.get(status, f"status {status}"))
        self.status = status


def types_of(value: str, index: str) -> Types:
    """ValueError for a type that is not there."""
    for name, known in ((value, VALUES), (index, INDICES)):
        if name not in known:
            raise ValueError(f"there is no type {name!r}; there are {', '.join(known)}")
    return Types(value, index)


def known_names(given: Mapping[str, Any], wanted: Mapping[str, object], who: str) -> None:
    """TypeError unless all that is wanted is given, and nothing else."""
    strange = sorted(set(given) - set(wanted))
    missing = [n for n in wanted if n not in given]
    if strange or missing:
        words = [f"does not take {', '.join(strange)}"] if strange else []
        words += [f"needs {', '.join(missing)}"] if missing else []
        raise TypeError(f"{who} {' and '.join(words)}; its arguments are {', '.join(wanted)}")


def whole(name: str, value: Any) -> int:
    """A size; TypeError for what is no integer, ValueError for one that is negative or too large."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if not 0 <= number < 1 << 63:
        raise ValueError(f"{name} is {number}, and must be from 0 to {(1 << 63) - 1}")
    return number


def scalar(name: str, value: Any, kind: str) -> int | float:
    """A number of the type of values; TypeError for what is none, ValueError for one that it does not have."""
    try:
        number = float(value) if kind[0] == "f" and isinstance(value, numbers.Real) else operator.index(value)
    except (TypeError, OverflowError):
        raise TypeError(f"{name} must be a number of type {kind}, not {type(value).__name__}") from None
    most = 1 << (int(kind[1:]) - 1)
    if kind[0] == "i" and not -most <= number < most:
        raise ValueError(f"{name} is {number}, which {kind} does not have")
    return number


def fields(lay: Layout, s: Struct, given: Mapping[str, Any], who: str) -> dict[str, Any]:
    """What a format is given, its sizes as integers; TypeError and ValueError for other names, sizes and arrays than it
    has."""
    known_names(given, dict.fromkeys((*s.shape, *s.sizes, *(a.name for a in s.arrays))), who)
    values = {n: whole(n, given[n]) for n in (*s.shape, *s.sizes)}
    need = lengths(lay, values)
    for a in s.arrays:
        exactly(a.name, given[a.name], a.type, need[a.name])
    return {**given, **values}


class FormatCheck:
    """The check of one format, compiled."""

    def __init__(self, d: Descriptor, types: Types) -> None:
        self.desc, self.layout = d, layout(d)
        self.inner = plain(d)
        self.struct = struct(self.layout, types)
        coo = load("COO" if d.rank == 2 else f"COO{d.rank}")
        function = checking(pair(self.inner, coo, None), self.inner, "tw_check", types)
        file = c_file(f"check of {d.name}", (self.struct,), (function,), types, "", key_functions(d))
        self.ffi, self.library = load_library(file.source, declarations((self.struct,), [function.prototype]))

    def __call__(self, values: Mapping[str, Any], who: str) -> None:
        """ValueError unless these `fields` keep all promises of the format."""
        made, keep = to_struct(self.ffi, self.layout, self.struct, values)
        status = self.library.tw_check(made)
        del keep
        if status != OK:
            raise refusal(int(status), self.layout, values, who)
        check_rows(self.desc, values, who)


def check_rows(d: Descriptor, values: Mapping[str, Any], who: str) -> None:
    """What formats promise beside their maps: an order of rows has each of them once, a triangle is of a square."""
    import numpy

    if d.mirror and values[d.shape[0]] != values[d.shape[1]]:
        raise ConversionError(RANGE, f"{who}: {d.shape[0]} is {values[d.shape[0]]} and {d.shape[1]} is "
                              f"{values[d.shape[1]]}, and a symmetric matrix is square")
    if d.permutation is None:
        return
    rows, order = values[d.shape[0]], values[d.permutation.array]
    if order.size and (order.min() < 0 or order.max() >= rows or numpy.bincount(order, minlength=rows).max() > 1):
        raise ConversionError(RANGE, f"{who}: {d.permutation.array} does not have each row once")


def refusal(status: int, lay: Layout, values: Mapping[str, Any], who: str) -> ConversionError:
    """Why C gave up, with the first promise that is broken."""
    found = next(broken(lay, values), "") if status in (RANGE, UNSORTED) else ""
    return ConversionError(status, f"{who}: {found or STATUS.get(status, f'status {status}')}")


def broken(lay: Layout, values: Mapping[str, Any]) -> Iterator[str]:
    """The promises of a format's arrays that do not hold, in words; those on orders of entries are left to C."""
    known = {n: v for n, v in values.items() if isinstance(v, int)}
    for n, e in lay.desc.lets:
        known[n] = evaluate(e, known)
    for q in lay.positions:
        if q.segment.chained and len(q.segment.above) == 1:
            yield from _pointers(q.ptr, values[q.ptr], q.size, known[q.size])
        if q.stair:
            yield from _pointers(q.stair.ptr, values[q.stair.ptr], q.stair.size, known[q.stair.size])
    for f in lay.desc.functions:
        for c in f.range.cons:
            yield from _out_of_range(f.name, values[f.name], f.range.ins[0], c, known)
    for quantifier in lay.desc.quantifiers:
        a = single(quantifier.key)
        if isinstance(a, Call) and a.args == (var(quantifier.variable),) and a.id in values:
            yield from _not_rising(a.id, values[a.id], quantifier.sign)


def _pointers(name: str, array: numpy.ndarray[Any, Any], size: str, count: int) -> Iterator[str]:
    if not array.size:
        return
    if array[0] != 0:
        yield f"{name}[0] is {array[0]}, and must be 0"
    if array[-1] != count:
        yield f"{name}[{array.size - 1}] is {array[-1]}, and {size} is {count}"
    yield from _not_rising(name, array, "<=")


def _not_rising(name: str, array: numpy.ndarray[Any, Any], sign: str) -> Iterator[str]:
    if sign not in ("<", "<="):
        return
    wrong = (array[1:] <= array[:-1] if sign == "<" else array[1:] < array[:-1]).nonzero()[0]
    if wrong.size:
        at = int(wrong[0])
        what = "below" if sign == "<=" else "not above"
        yield f"{name}[{at + 1}] is {array[at + 1]}, which is {what} {name}[{at}], {array[at]}"


def _out_of_range(
    name: str, array: numpy.ndarray[Any, Any], value: str, c: Constraint, known: Mapping[str, int]
) -> Iterator[str]:
    """A limit is a value times a factor plus a rest, and not negative."""
    rest = evaluate(subst(c.exp, {value: num(0)}), known)
    factor = evaluate(subst(c.exp, {value: num(1)}), known) - rest
    if c.equal or factor not in (1, -1):
        return
    wrong = (array < -rest if factor == 1 else array > rest).nonzero()[0]
    if wrong.size:
        at = int(wrong[0])
        limit = f"at least {-rest}" if factor == 1 else f"at most {rest}"
        yield f"{name}[{at}] is {array[at]}, and must be {limit}"
