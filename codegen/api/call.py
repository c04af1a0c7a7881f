"""Generates, once for each form of call of a compiled C function (`f(n, a, b)`, `f(a, b=x)`), a Python function that
checks the arguments, reads sizes that are not given from the arrays' shapes, and calls C."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pycparser import c_ast

from codegen.api.arguments import check_array, extent_of, int_range, is_whole, reader
from codegen.api.signature import Parameter, Signature, evaluate
from codegen.frontend.rewrite.loops.canonical_loops import names_in
from codegen.record import record


@record
class Given:
    """The value of a parameter: one of those that a call gives, by its position, or that array's extent on an axis."""

    position: int
    axis: int | None = None


@record
class Callee:
    """The C function: what it takes, cffi's way to it, and the pairs of arrays that it takes for distinct memory."""

    signature: Signature
    ffi: Any
    call: Any
    distinct: tuple[tuple[int, int], ...]


def bind(s: Signature, spelled: Mapping[str, str], count: int, named: Sequence[str]) -> tuple[Given, ...]:
    """Where each parameter comes from in a call with `count` values and those named. Integers that are not given are
    extents of arrays. `spelled` has C's names of parameters that are called otherwise in Python."""
    names, sizes = [p.name for p in s.parameters], sizes_of(s)
    c_names = [spelled.get(n, n) for n in named]
    twice = [n for n in c_names if c_names.count(n) > 1]
    if twice:
        raise TypeError(f"{s.name}: {twice[0]} is given twice: {s.text}")
    unknown = [n for n in c_names if n not in names]
    if unknown:
        raise TypeError(f"{s.name}: {unknown[0]} is no parameter: {s.text}")
    short = [n for n in names if n not in sizes and n not in c_names]
    ordered = short if count < len(names) and count == len(short) else names
    if count > len(ordered):
        raise TypeError(f"{s.name} takes {len(ordered)} arguments, not {count}: {s.text}")
    places = {name: Given(k) for k, name in enumerate(ordered[:count])}
    again = [n for n in c_names if n in places]
    if again:
        raise TypeError(f"{s.name}: {again[0]} is given twice: {s.text}")
    places |= {name: Given(count + k) for k, name in enumerate(c_names)}
    left = {n: of for n, of in sizes.items() if n not in places and of[0] in places}
    places |= {n: Given(places[array].position, axis) for n, (array, axis) in left.items()}
    missing = [n for n in names if n not in places]
    if missing:
        raise TypeError(f"{s.name} misses {', '.join(missing)}: {s.text}")
    return tuple(places[n] for n in names)


def sizes_of(s: Signature) -> dict[str, tuple[str, int]]:
    """Integer parameters that are themselves an extent, and of which array's axis."""
    whole = {p.name for p in s.parameters if is_whole(p)}
    found: dict[str, tuple[str, int]] = {}
    for p in s.parameters:
        for axis, extent in enumerate(p.extents if p.array else ()):
            if isinstance(extent, c_ast.ID) and extent.name in whole:
                found.setdefault(extent.name, (p.name, axis))
    return found


def caller(callee: Callee, places: Sequence[Given]) -> Callable[..., Any]:
    """The Python function for one form of call; it takes the values that the call gives, in their order."""
    import numpy

    parameters = callee.signature.parameters
    known: dict[str, Any] = {
        "ndarray": numpy.ndarray, "number": (float, int), "call": callee.call, "buffer": callee.ffi.from_buffer,
        "slowly": partial(_call_slowly, callee, tuple(places)),
    }
    for k, p in enumerate(parameters):
        known[f"k{k}"] = numpy.dtype(p.dtype) if p.array else reader(callee.signature.name, p, callee.ffi)
        known |= {f"e{k}_{axis}": partial(evaluate, e) for axis, e in enumerate(p.extents)}
    exec(caller_text(callee, places), known)  # the text holds nothing but what is made here
    made: Callable[..., Any] = known["checked"]
    return made


def caller_text(callee: Callee, places: Sequence[Given]) -> str:
    """`checked(v0, v1, ...)`: the values as they are given. Parameter k is `v..` itself, or `n{k}` if it is an extent,
    `p{k}` is the address of array k and `k{k}` its type, or the reader of a scalar."""
    s = callee.signature
    values = ", ".join(f"v{k}" for k in sorted({g.position for g in places}))
    names = [f"v{g.position}" if g.axis is None else f"n{k}" for k, g in enumerate(places)]
    arrays = [k for k, p in enumerate(s.parameters) if p.array]
    tests = [t for k in arrays for t in _array_tests(s.parameters[k], k, names[k])]
    tests += [t for k, g in enumerate(places) if g.axis is not None for t in _extent_tests(s.parameters[k], k, g)]
    tests += [t for k, p in enumerate(s.parameters) if places[k].axis is None for t in _scalar_tests(p, names[k])]
    tests += [t for k in arrays for t in _shape_tests(s, k, names)]
    addresses = [f"    p{k} = buffer({names[k]})" for k in arrays]
    apart = [f"p{q} < p{p} + len(p{p}) and p{p} < p{q} + len(p{q})" for q, p in callee.distinct]
    handed = [f"p{k}" if p.array else f"k{k}({names[k]})" if p.dtype == "longdouble" else names[k]
              for k, p in enumerate(s.parameters)]
    return "\n".join([
        f"def checked({values}):",
        *([f"    if not ({' and '.join(tests)}):", f"        return slowly({values})"] if tests else []),
        *addresses,
        *([f"    if {' or '.join(apart)}:", f"        return slowly({values})"] if apart else []),
        f"    return call({', '.join(handed)})\n",
    ])


def _array_tests(p: Parameter, k: int, name: str) -> Iterator[str]:
    yield f"type({name}) is ndarray"
    yield f"{name}.dtype is k{k}"
    yield f"(f := {name}.flags).c_contiguous and f.aligned" if p.const else f"{name}.flags.carray"


def _extent_tests(p: Parameter, k: int, given: Given) -> Iterator[str]:
    """That the array has this axis, and that its extent fits the integer."""
    yield f"v{given.position}.ndim > {given.axis}"
    yield f"(n{k} := v{given.position}.shape[{given.axis}]) <= {int_range(p.dtype)[1]}"


def _scalar_tests(p: Parameter, name: str) -> Iterator[str]:
    if p.array:
        return
    if p.dtype.startswith(("float", "longdouble")):
        yield f"isinstance({name}, number)"
    elif p.dtype.startswith("complex"):
        yield "False"
    else:
        low, high = int_range(p.dtype)
        yield f"isinstance({name}, int) and {low} <= {name} <= {high}"


def _shape_tests(s: Signature, k: int, names: Sequence[str]) -> Iterator[str]:
    """The declared extents; where C does not say one, none is asked for."""
    p, array = s.parameters[k], names[k]
    if p.flat:
        return
    wanted = [_extent(s, e, f"e{k}_{axis}", names) for axis, e in enumerate(p.extents)]
    if all(wanted):
        yield f"{array}.shape == ({', '.join(wanted)},)"
        return
    yield f"{array}.ndim == {len(wanted)}"
    yield from (f"{array}.shape[{axis}] == {w}" for axis, w in enumerate(wanted) if w)


def _extent(s: Signature, extent: c_ast.Node | None, evaluator: str, names: Sequence[str]) -> str:
    """An extent in Python: a parameter, a number, or a call of the evaluator; empty where C does not say it."""
    enums = s.enums or {}
    whole = {q.name: names[j] for j, q in enumerate(s.parameters) if is_whole(q)}
    if isinstance(extent, c_ast.ID) and extent.name in whole:
        return whole[extent.name]
    if names_in(extent) & whole.keys():
        known = {**{n: str(v) for n, v in enums.items()}, **whole}
        return f"{evaluator}({{{', '.join(f'{n!r}: {v}' for n, v in known.items())}}})"
    value = evaluate(extent, enums)
    return "" if value is None else str(value)


def _call_slowly(callee: Callee, places: Sequence[Given], *given: Any) -> Any:
    """The call with every check by itself, and its message."""
    s = callee.signature
    owner = {g.position: p for g, p in zip(places, s.parameters, strict=True) if g.axis is None}
    values: list[Any] = [
        given[g.position] if g.axis is None else extent_of(s.name, owner[g.position], given[g.position], g.axis)
        for g in places
    ]
    for k, p in enumerate(s.parameters):
        if not p.array:
            values[k] = reader(s.name, p, callee.ffi)(values[k])
    sizes = dict(s.enums or {}) | {p.name: v for p, v in zip(s.parameters, values, strict=True) if is_whole(p)}
    for k, p in enumerate(s.parameters):
        if p.array:
            check_array(s.name, p, values[k], sizes)
            values[k] = callee.ffi.from_buffer(values[k])
    for q, r in callee.distinct:
        if values[q] < values[r] + len(values[r]) and values[r] < values[q] + len(values[q]):
            first, second = s.parameters[q].name, s.parameters[r].name
            raise ValueError(f"{s.name}: {first} and {second} overlap in memory; "
                             "copy one, or compile without assume_no_alias")
    return callee.call(*values)
