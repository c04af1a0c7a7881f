"""The model of a region: arrays, statements, accesses, and what is assumed of the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from math import prod

import islpy as isl

from codegen.diagnostics import Loc
from codegen.record import record
from codegen.scop.dialect import STANDARD, Dialect
from codegen.scop.expr import Expr
from codegen.scop.origins import Origins
from codegen.scop.types import CType


@record
class Param:
    """An integer the region only reads. `name` is its isl name, `text` its C spelling."""

    name: str
    text: str
    ctype: CType
    asked: bool = True  # the model looks at it
    constant: bool = False  # a constant of the file

    @property
    def is_variable(self) -> bool:
        """Can a thread have a copy of it? Of macros and expressions there is none."""
        return self.text.isidentifier() and not self.constant


@record
class AccessStep:
    """One step from a variable to the accessed element, for printing.

    kind: "sub" (subscript number `index`), "deref" (`(*x)`, subscript `index` is 0), "member" (`.text`),
    "arrow" (`->text`, subscript `index` is 0), "data" (expression number `index` of a `Gather`) or "flat" (one C
    subscript made of several: `strides` gives the C text of the stride of each index from `index` on; the last is
    "1"). A member of a struct of `count` numbers of one type has its place there as `index`.
    """

    kind: str
    index: int = 0
    text: str = ""
    strides: tuple[str, ...] = ()
    count: int = 0


# Of one variable on a thread's stack, of which there are some megabytes.
STACK_BYTES = 16 * 1024


@record
class Array:
    """Storage that the region writes or subscripts. Scalars are arrays of rank 0.

    A variable declared inside the region is a new object in every iteration of the loops around its
    declaration; `scope` counts those loops, and its first `scope` indices are their iterators (they are not
    in the C text). `extents` are the C spellings of the declared sizes, "" where unknown.
    """

    name: str
    base: str
    elem: CType
    rank: int
    extents: tuple[str, ...] = ()
    scope: int = 0
    inside: bool = False
    place: str = "param"  # param, local, global, inside, buffer
    depth: int = 0  # C subscripts up to the last that follows a pointer; from 2 on, rows may lie anywhere
    mixed: bool = False  # `elem` is a struct or union, and accesses reach parts of it, of several types
    unshared: bool = False  # nobody else can see it while the region runs: it may be stored with what it holds
    scattered: bool = False  # pointers are followed behind its first subscript
    # Data decide about subscripts: only the first `rank` of them are in the model, and `elem`, which has no name, is
    # everything that they leave open; elements have this type.
    part: CType | None = None
    distinct: bool = False  # integers of which no two are equal, as a hint says

    @property
    def dims(self) -> int:
        """Rank in the model: scope iterators first, then C subscripts."""
        return self.rank + self.scope

    @property
    def opaque(self) -> bool:
        """Do data decide about some of its subscripts?"""
        return self.part is not None

    @property
    def declarable(self) -> bool:
        """Can generated code have another object of the same type?"""
        return self.elem.spelling not in ("struct", "union")

    @property
    def of_region(self) -> bool:
        """A number that the region has for itself, one for all iterations of its loops."""
        return self.inside and not self.rank and not self.scope and self.elem.kind in ("int", "float")

    @property
    def roomy(self) -> bool:
        """A variable of the region whose size only the run knows, or is too much for the stack of a thread: each thread
        has one in memory that the region asks for."""
        return self.inside and self.rank > 0 and not self.fits

    @property
    def fits(self) -> bool:
        """Of a fixed size that the stack of a thread takes."""
        known = len(self.extents) == self.rank and all(e.isdigit() for e in self.extents)
        return known and prod(map(int, self.extents)) * self.elem.bytes <= STACK_BYTES


@record
class Access:
    """One reference of a statement. `index` maps the statement's instances to array elements.

    A `partial` one is a read behind a condition of the statement's expression: `relation` has those instances alone
    for which it happens, and only for them does `index` mean anything.
    """

    array: str
    write: bool
    index: isl.MultiPwAff
    relation: isl.Map
    path: tuple[AccessStep, ...]
    loc: Loc
    partial: bool = False


@record
class Statement:
    """An assignment `lhs op rhs` under its loops. `accesses[0]` is the target; `values` are affine leaves.

    `steps` is what the source's loops add to their variables; empty where the statement is not one of the source's.
    """

    name: str
    iterators: tuple[str, ...]
    domain: isl.Set
    op: str
    target: int
    rhs: Expr
    accesses: tuple[Access, ...]
    values: tuple[isl.PwAff, ...]
    loc: Loc
    source: str
    steps: tuple[int, ...] = ()

    def instances(self, a: Access) -> isl.Set:
        """Those for which one of its accesses happens."""
        return a.relation.domain() if a.partial else self.domain

    @property
    def writes(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if a.write)

    @property
    def reads(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if not a.write)


@record
class Guard:
    """What must hold at run time for the model to be the program: a set of parameters, and why.

    `wide` names parameters of 64-bit types, which must lie within +-2^60; `rest` is what else must hold. Members behind
    pointers may be looked at after the tests in `first`, one after the other, hold.
    """

    valid: isl.Set
    rest: isl.Set
    wide: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    first: tuple[isl.Set, ...] = ()


@record
class RegionBuffer:
    """Memory that generated code takes for the time of the region, in place of a variable: array `array` in the model.

    `sizes` gives its extents, affine in the parameters, and their C texts. The region runs as it was written where one
    of them is not positive, where all buffers together are more than `limit` bytes, and where there is no memory.
    """

    array: str
    variable: str
    sizes: tuple[isl.PwAff, ...]
    texts: tuple[str, ...]
    limit: int


@record
class TileOffset:
    """A parameter that generated code chooses: any value from 0 to below `size` will do. Tiles of a loop of `length`
    iterations (a C text) begin so many ahead of it, so that threads which take `size` in turn get equal parts."""

    param: str
    length: str
    size: int


@record
class MemoryRead:
    """An element of memory that a computed parameter is made of.

    For each array or pointer on the way to it from the variable `base`, `levels` has the path to that array and the
    index, a set over the parameters.
    """

    text: str
    ctype: CType
    base: str
    levels: tuple[tuple[tuple[str, ...], isl.Set], ...]


@record
class Computed:
    """A parameter that is no variable of the source: C text that is evaluated once, ahead of the region.

    The source evaluates it for the parameters in `where`; for others nothing looks at it. `formula` is the text with
    `{0}`, `{1}`... in place of the elements it `reads`, `divisors` what it divides by, written the same way.
    """

    param: str
    text: str
    formula: str
    divisors: tuple[str, ...]
    where: isl.Set
    reads: tuple[MemoryRead, ...] = ()


@record
class OwnVariable:
    """A variable that stands in the statements for something of the source. Generated code declares it ahead of the
    region (`begin`), and does something with it in the end (`end`, or nothing): C texts."""

    name: str
    source: str  # the pointer of the source that it has to do with
    begin: str
    end: str = ""


@record
class Scop:
    """A region as isl sees it. Statement order in `statements` is textual order."""

    function: str
    region: int
    loc: Loc
    params: tuple[Param, ...]
    context: isl.Set
    arrays: Mapping[str, Array]
    statements: tuple[Statement, ...]
    guard: Guard
    outside: tuple[str, ...] = ()  # C variables of the function that the region mentions
    names: frozenset[str] = field(default_factory=frozenset)  # every identifier that must not be shadowed
    buffers: tuple[RegionBuffer, ...] = ()
    aheads: tuple[TileOffset, ...] = ()
    origins: Origins = Origins()
    computed: tuple[Computed, ...] = ()  # parameters that are evaluated ahead of the region, in this order
    own: tuple[OwnVariable, ...] = ()  # variables that generated code declares
    read: frozenset[str] = frozenset()  # names that the source's text reads, some perhaps in what never runs
    dialect: Dialect = STANDARD  # what C means
    together: bool = False  # loops around others are not taken apart where some statements begin or end
    visible: frozenset[str] = frozenset()  # what can be named around the region, but for volatile variables

    def statement(self, name: str) -> Statement:
        known: dict[str, Statement] | None = self.__dict__.get("_by_name")
        if known is None:  # asked for again and again; the answer stays with the region, which never changes
            known = {s.name: s for s in reversed(self.statements)}
            self.__dict__["_by_name"] = known
        return known[name]

    def param(self, name: str) -> Param:
        return next(p for p in self.params if p.name == name)

    def accesses(self) -> Iterator[tuple[Statement, Access]]:
        for s in self.statements:
            for a in s.accesses:
                yield s, a

    def accesses_to(self, array: str) -> tuple[tuple[Statement, Access], ...]:
        """Those of one array, in textual order."""
        known: dict[str, list[tuple[Statement, Access]]] | None = self.__dict__.get("_by_array")
        if known is None:
            known = {}
            for s, a in self.accesses():
                known.setdefault(a.array, []).append((s, a))
            self.__dict__["_by_array"] = known
        return tuple(known.get(array, ()))
