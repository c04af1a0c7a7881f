"""The context at one point of the walk over a region: loops around it, its iteration domain, and what names stand
for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Loc
from codegen.record import record
from codegen.scop.types import CType


@record
class Iterator:
    """A loop variable. `pos` is its set dimension, `step` what the loop adds to it."""

    name: str
    ctype: CType
    pos: int
    outside: bool  # declared before the region
    step: int = 1


@record
class Binding:
    """An integer variable whose value is a formula of iterators and parameters: that of `node` where `frame` is.

    With `value` it is known as a function already: what a counter holds behind its loop.
    """

    node: c_ast.Node
    frame: Frame
    ctype: CType
    value: isl.PwAff | None = None


@record
class LocalVar:
    """A variable declared inside the region, under `scope` loops; `array` is its name in the model."""

    array: str
    scope: int


@record
class Frame:
    """An immutable point of view. Domains are sets `[params] -> { [i, j, ...] }` without a tuple name."""

    space: isl.Space  # params only
    domain: isl.Set
    iterators: tuple[Iterator, ...] = ()
    bindings: Mapping[str, Binding] = field(default_factory=dict)
    locals: Mapping[str, LocalVar] = field(default_factory=dict)
    predicate: c_ast.Node | None = None  # a condition on data under which statements run, in variables of the region
    dead: frozenset[str] = frozenset()  # variables whose values are not needed where the predicate does not hold
    sure: bool = True  # the source evaluates what stands here at every point of the domain

    def bound(self, name: str, binding: Binding | None) -> Frame:
        """With another value for a variable; None where it is not known any more."""
        bindings = {k: b for k, b in self.bindings.items() if k != name}
        return replace(self, bindings=bindings if binding is None else {**bindings, name: binding})

    def under(self, predicate: c_ast.Node, dead: frozenset[str]) -> Frame:
        """Below an `if` on data; before it, these variables are `dead`."""
        dead = dead if self.predicate is None else dead & self.dead
        return replace(self, predicate=predicate, dead=dead, sure=False)

    def iterator(self, name: str) -> Iterator | None:
        return next((it for it in reversed(self.iterators) if it.name == name), None)

    def zero(self) -> isl.PwAff:
        return isl.PwAff.from_aff(isl.Aff.zero_on_domain(self._local_space()))

    def _local_space(self) -> isl.LocalSpace:
        return isl.LocalSpace.from_space(self.domain.get_space())

    def constant(self, value: int) -> isl.PwAff:
        aff = isl.Aff.zero_on_domain(self._local_space())
        return isl.PwAff.from_aff(aff.set_constant_val(isl.Val.read_from_str(self.domain.get_ctx(), str(value))))

    def dim(self, pos: int) -> isl.PwAff:
        return isl.PwAff.from_aff(isl.Aff.var_on_domain(self._local_space(), isl.dim_type.set, pos))

    def param(self, name: str) -> isl.PwAff:
        pos = self.space.find_dim_by_name(isl.dim_type.param, name)
        return isl.PwAff.from_aff(isl.Aff.var_on_domain(self._local_space(), isl.dim_type.param, pos))

    def restrict(self, cond: isl.Set) -> Frame:
        return replace(self, domain=self.domain.intersect(cond).coalesce())

    def lift(self, value: isl.PwAff) -> isl.PwAff:
        """Re-read a value of an outer frame (fewer loops) in this one."""
        missing = len(self.iterators) - value.dim(isl.dim_type.in_)
        if missing <= 0:
            return value
        first = value.dim(isl.dim_type.in_)
        return value.insert_dims(isl.dim_type.in_, first, missing)

    def enter(self, name: str, ctype: CType, outside: bool, step: int = 1) -> Frame:
        """Below one more loop: the domain gets a new, unconstrained last dimension."""
        pos = len(self.iterators)
        domain = self.domain.insert_dims(isl.dim_type.set, pos, 1)
        taken = {it.name for it in self.iterators}
        shown = name if name not in taken else f"{name}_{pos}"
        domain = domain.set_dim_name(isl.dim_type.set, pos, shown)
        it = Iterator(name, ctype, pos, outside, step)
        bindings = {k: b for k, b in self.bindings.items() if k != name}
        return replace(self, domain=domain, iterators=(*self.iterators, it), bindings=bindings)


@record
class Assumption:
    """`low <= value <= high` must hold for all of `domain`, or the C arithmetic would wrap."""

    domain: isl.Set
    value: isl.PwAff
    low: int
    high: int
    reason: str
    loc: Loc
