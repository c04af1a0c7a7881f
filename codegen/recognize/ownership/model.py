"""Records of the ownership analysis: references, thread axes, blocks, and answers."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from codegen.recognize.ownership.algebra import Matrix
from codegen.record import record


@record
class Form:
    """Affine rows over a statement's iterators. `offset` holds for each row the coefficients of the region's
    parameters, in their order, and the constant last."""

    matrix: Matrix
    offset: Matrix

    def __hash__(self) -> int:
        """Computed once: fractions take long, and tests ask for the same few forms over and over."""
        own = self.__dict__
        if "_hash" not in own:
            own["_hash"] = hash((self.matrix, self.offset))
        found: int = own["_hash"]
        return found

    def row(self, k: int) -> "Form":
        return Form((self.matrix[k],), (self.offset[k],))


@record
class Reference:
    """One occurrence of an array in a statement. `form` is None where subscripts are no plain affine formulas: then
    only the exact test can tell."""

    stmt: str
    number: int
    array: str
    write: bool
    text: str
    depth: int  # iterators of the statement
    relation: isl.Map  # instances to elements
    form: Form | None


@record
class ThreadAxis:
    """A thread coordinate: the loop of that name, `size` of its iterations to one thread.

    `values` gives the loop's value at an instance, `threads` the coordinate (what the exact test asks); with size 1
    they tell the same iterations apart. `forms` are the values as affine rows, where they are such.
    """

    name: str
    size: int
    values: Mapping[str, isl.PwAff]
    threads: Mapping[str, isl.PwAff]
    forms: Mapping[str, Form | None]


@record
class Coordinate:
    """A block coordinate: a loop around the threads. Tile loops have a `size`, and `of` is the loop they cut."""

    name: str
    values: Mapping[str, isl.PwAff]
    size: int = 0
    of: str = ""


@record
class NestFrame:
    """A nest seen as blocks: its statements' instances, the references, the loops around and inside a block."""

    domains: Mapping[str, isl.Set]
    references: tuple[Reference, ...]
    blocks: tuple[Coordinate, ...]
    inner: tuple[ThreadAxis, ...]  # candidates for threads, one iteration to a thread

    def axis(self, name: str) -> ThreadAxis:
        return next(a for a in self.inner if a.name == name)

    def others(self, ref: Reference) -> tuple[Reference, ...]:
        """All references to the array of `ref`, itself among them."""
        return tuple(r for r in self.references if r.array == ref.array)


@record
class OwnershipAnswer:
    """Is every element at a reference used by one thread only? `answer` is yes, no or when; `when` is then the
    condition on the block. `test` names the test that decided, `why` says it in words."""

    answer: str
    test: str
    why: str
    when: str = ""
