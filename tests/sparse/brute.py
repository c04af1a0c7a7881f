"""What the arrays of a format hold, straight from its descriptor: every tuple of small integers is tried.

Nothing here knows of positions, segments or padding; conditions are evaluated as they are written.
"""
from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

from codegen.sparse.algebra.expr import Call, Code, Decoded, Div, Exp, Mod, Name, Prod
from codegen.sparse.algebra.relation import Constraint, function_of
from codegen.sparse.algebra.terms import names, solve
from codegen.sparse.formats.model import Descriptor
from tests.sparse.reference import Entry, alto


class Outside(Exception):
    """An element that its array does not have."""


class Brute:
    """One format with its arrays."""

    def __init__(self, d: Descriptor, arrays: dict[str, Any]) -> None:
        self.d, self.arrays = d, arrays
        self.symbols = {n: v for n, v in arrays.items() if isinstance(v, int)}
        for n, e in d.lets:
            self.symbols[n] = self.value(e, self.symbols)
        self.most = max([2, *self.symbols.values()]) + 1

    def value(self, e: Exp, at: dict[str, int]) -> int:
        return e.const + sum(c * self.atom(a, at) for a, c in e.terms)

    def atom(self, a: object, at: dict[str, int]) -> int:
        if isinstance(a, Name):
            return at[a.id]
        if isinstance(a, Call):
            return self.element(a.id, [self.value(x, at) for x in a.args])
        if isinstance(a, Prod):
            return self.value(a.left, at) * self.value(a.right, at)
        if isinstance(a, (Code, Decoded)):
            return self.coded(a, at)
        assert isinstance(a, (Div, Mod))
        of = self.value(a.of, at)
        return of // a.by if isinstance(a, Div) else of % a.by

    def coded(self, a: Code | Decoded, at: dict[str, int]) -> int:
        """A code, or the number of all that have the code; -1 where none has it."""
        shape = [self.value(x, at) for x in a.extents]
        if isinstance(a, Code):
            numbers = [self.value(x, at) for x in a.args]
            inside = all(0 <= x < n for x, n in zip(numbers, shape, strict=True))
            return alto(numbers, shape) if inside else -7
        code = self.value(a.of, at)
        every = itertools.product(*map(range, shape))
        return next((c[a.at] for c in every if alto(c, shape) == code), -1)

    def element(self, name: str, args: list[int]) -> int:
        f = self.d.function(name)
        assert f is not None
        at = {**self.symbols, **dict(zip(f.domain.ins, args, strict=True))}
        if not all(self.holds(c, at) for c in f.domain.cons):
            raise Outside(name)
        index = 0
        for x, a in zip(f.domain.ins, args, strict=True):
            index = index * self.extent(f.domain.cons, x) + a
        return int(self.arrays[name][index])

    def extent(self, cons: tuple[Constraint, ...], x: str) -> int:
        return next(n for n in range(self.most * self.most) if not all(
            self.holds(c, {**self.symbols, x: n}) for c in cons if names(c.exp) - set(self.symbols) == {x}))

    def holds(self, c: Constraint, at: dict[str, int]) -> bool:
        found = self.value(c.exp, at)
        return found == 0 if c.equal else found >= 0

    def tuples(self) -> Iterator[dict[str, int]]:
        """Assignments of the tuple and the dense coordinates that fulfil every condition."""
        yield from self.extended(dict(self.symbols), [*self.d.map.ins, *self.d.map.outs])

    def extended(self, at: dict[str, int], todo: list[str]) -> Iterator[dict[str, int]]:
        if not all(self.true(c, at) for c in self.d.map.cons if names(c.exp) <= at.keys()):
            return
        if not todo:
            yield at
            return
        for v in todo:  # whatever an equality gives needs no trying
            for c in (c for c in self.d.map.cons if c.equal):
                e = solve(c.exp, Name(v))
                if e is not None and names(e) <= at.keys():
                    with contextlib.suppress(Outside):
                        yield from self.extended({**at, v: self.value(e, at)}, [x for x in todo if x != v])
                    return
        for n in range(-2, self.most):
            yield from self.extended({**at, todo[0]: n}, todo[1:])

    def true(self, c: Constraint, at: dict[str, int]) -> bool:
        try:
            return self.holds(c, at)
        except Outside:
            return False

    def in_shape(self, at: dict[str, int]) -> bool:
        return all(0 <= at[x] < self.symbols[n] for x, n in zip(self.d.map.outs, self.d.shape, strict=True))

    def entries(self) -> list[Entry]:
        """The entries, zeros left out where the format pads with them."""
        dense = function_of(self.d.map)
        assert dense is not None
        out = []
        data = self.arrays[self.d.data]
        for at in (at for at in self.tuples() if self.in_shape(at)):
            index = self.value(self.d.access, at)
            assert 0 <= index < len(data), f"value {index} of {len(data)}"
            value = data[index].item()
            if value or not self.d.fill:
                out.append((tuple(at[x] for x in self.d.map.outs), value))
        return out
