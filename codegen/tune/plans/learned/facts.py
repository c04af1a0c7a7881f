"""Computes what the learned cost model knows of a region at the sizes that are measured, whatever the plan: statements,
trip counts, operations, and how accesses move along each iterator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import prod

import islpy as isl

from codegen.checking.test_sizes.ranges import fixed
from codegen.checking.test_sizes.survey import extents
from codegen.machine import Machine
from codegen.recognize.access.strides import coefficients
from codegen.record import record
from codegen.scop.model import Access, Scop, Statement
from codegen.scop.tree import Node
from codegen.strategy.cost.cycles import operations

Row = tuple[float, ...]  # coefficients of a statement's iterators
UNKNOWN = 64  # values of a subscript, or of a loop, that is not affine


@record
class AccessFacts:
    """How an access moves: for each subscript the iterators that it has, without their signs; None where data or
    conditions decide."""

    array: str
    bytes: int
    write: bool
    rows: tuple[Row | None, ...]

    def step(self, iterator: int) -> str:
        """Where the next value of an iterator leads: nowhere ("still"), to the neighbour ("unit") or away ("far")."""
        if any(row is None or row[iterator] for row in self.rows[:-1]):
            return "far"
        last = self.rows[-1] if self.rows else None
        if last is None:
            return "far" if self.rows else "still"
        return "still" if not last[iterator] else "unit" if last[iterator] == 1 else "far"


@record
class StatementFacts:
    """A statement: how many values each iterator has, operations of an instance, and what it accesses."""

    name: str
    extents: tuple[int, ...]
    operations: float
    accesses: tuple[AccessFacts, ...]
    target: int

    @property
    def instances(self) -> float:
        """At most so many: those of the box around its domain."""
        return float(prod(self.extents))

    @property
    def work(self) -> float:
        return self.instances * max(1.0, self.operations)

    @cached_property
    def boxes(self) -> tuple[AccessFacts, ...]:
        """The accesses to arrays, those that move alike once."""
        return tuple({(a.array, a.rows): a for a in self.accesses if a.rows}.values())


@record
class RegionFacts:
    """A region as it is measured: `tree` is the order of the source."""

    scop: Scop
    tree: Node
    statements: Mapping[str, StatementFacts]
    machine: Machine
    threads: int

    @cached_property
    def work(self) -> float:
        return sum(s.work for s in self.statements.values()) or 1.0

    @cached_property
    def elem(self) -> int:
        """Bytes of the widest element."""
        return max((a.bytes for s in self.statements.values() for a in s.accesses), default=8)

    @cached_property
    def bytes(self) -> float:
        """Of all arrays, as far as they are touched."""
        found: dict[str, float] = {}
        for s in self.statements.values():
            for a in s.accesses:
                cells = prod(_cells(row, s.extents) for row in a.rows)
                found[a.array] = max(found.get(a.array, 0.0), cells * a.bytes)
        return sum(found.values())


def _cells(row: Row | None, widths: tuple[int, ...]) -> float:
    return UNKNOWN if row is None else 1 + sum(c * (w - 1) for c, w in zip(row, widths, strict=True))


def facts_of(scop: Scop, tree: Node, sizes: Mapping[str, int], machine: Machine, threads: int) -> RegionFacts:
    """`sizes` are the parameters by their C text."""
    found = {s.name: _statement(scop, s, sizes) for s in scop.statements}
    return RegionFacts(scop, tree, found, machine, threads)


def _statement(scop: Scop, s: Statement, sizes: Mapping[str, int]) -> StatementFacts:
    try:
        known = extents(fixed(s.domain, scop, sizes))
    except (KeyError, ValueError, isl.Error):
        known = {}
    widths = tuple(max(1, known.get(name, UNKNOWN)) for name in s.iterators) if known else (1,) * len(s.iterators)
    accesses = tuple(_access(scop, s, a) for a in s.accesses)
    return StatementFacts(s.name, widths, operations(s), accesses, s.target)


def _access(scop: Scop, s: Statement, a: Access) -> AccessFacts:
    array, n = scop.arrays[a.array], len(s.iterators)
    rows = []
    for k in range(array.scope, a.index.dim(isl.dim_type.out)):
        rows.append(row_of(a.index.get_pw_aff(k), n))
    return AccessFacts(a.array, array.elem.bytes, a.write, tuple(rows))


def row_of(value: isl.PwAff, n: int) -> Row | None:
    """Coefficients of the n iterators without their signs."""
    found = coefficients(value, n)
    return None if found is None else tuple(abs(float(c)) for c in found)
