"""Nodes of the lowered C tree: vector loops with their remainders, unrolled and jammed rows, values kept in variables.

A `For` that has such a form is printed by it, and by nothing else. The loop itself says what it stands for: the proofs
read the loop as they read any other, and show on top of that (`verify/lowered`) that its form runs the same iterations,
each one's statements in their order, on the same elements. `lower/` makes the forms, `target/` prints them.

Subscripts are written out wherever elements are touched; `count` neighbours in a row are those whose last subscript is
0, 1, ... count - 1 larger. Variables have names that are free in the form; printers may spell them differently.
"""

from __future__ import annotations

from typing import Union

from codegen.ast.ctree import Bin, CExpr, CNode, For, Instance, Int, Name
from codegen.isa.widths import WIDTHS as WIDTHS
from codegen.record import record
from codegen.scop.expr import Expr
from codegen.scop.types import CType

Index = tuple[CExpr, ...]


@record
class Lanes:
    """Vectors of `count` elements of one type. With `wider`, a macro has the count in the text, and the form is right
    for vectors of all `WIDTHS`: it is written for the first of them, and numbers that depend on the count say how."""

    elem: CType
    count: int
    wider: bool = False

    @property
    def bytes(self) -> int:
        return self.count * self.elem.bytes

    @property
    def kind(self) -> str:
        """The element type, as names of vector types have it."""
        return f"{'f' if self.elem.kind == 'float' else 'int' if self.elem.signed else 'uint'}{self.elem.bits}"

    @property
    def macro(self) -> str:
        """The macro that has the count."""
        return f"TW_{self.kind.upper()}_LANES"

    def vectors(self, number: int) -> CExpr:
        """How many elements that many vectors have."""
        if not self.wider or not number:
            return Int(number * self.count)
        return Name(self.macro) if number == 1 else Bin("*", Int(number), Name(self.macro))


# -- where lanes find a value, or put it ----------------------------------------------------------


@record
class One:
    """One element, the same for all lanes."""

    at: Index


@record
class Contiguous:
    """Neighbours in a row: lane k has the one k elements further on."""

    at: Index


@record
class Backwards:
    """The same neighbours, the last one in lane 0."""

    at: Index


@record
class Picked:
    """Of the elements of two vectors, counted through: lane k has the one at `places[k]`."""

    at: tuple[Index, Index]
    places: tuple[int, ...]


@record
class Each:
    """One by one: lane k has the one at `at[k]`."""

    at: tuple[Index, ...]


@record
class InVariable:
    """A variable has it."""

    name: str


Place = Union[One, Contiguous, Backwards, Picked, Each, InVariable]


@record
class Work:
    """One statement in one iteration (`count` 1), or in `count` consecutive ones of a loop at once, a lane for each.

    `at` is the statement in the first of them. Each access is found at its place; without places, where `at` says.
    Before it, values of `choices` that it makes more than once get names of their own.
    """

    at: Instance
    count: int = 1
    places: tuple[Place, ...] = ()
    choices: tuple[Expr, ...] = ()


# -- what is done in a body -----------------------------------------------------------------------


@record
class Load:
    """Variable `name` gets what lies at a place of access `access` of a statement. It stays as it is if `fixed`."""

    name: str
    stmt: str
    access: int
    place: Place
    count: int = 1
    fixed: bool = True


@record
class Move:
    """Variable `name` gets the value of another one."""

    name: str
    source: str


@record
class Value:
    """Variable `name` gets the value that a statement would store."""

    name: str
    work: Work


@record
class StoreValue:
    """A statement's value, which a variable has, is stored."""

    work: Work
    name: str


@record
class PutBoth:
    """The values of two statements whose elements lie in turn: `first` has the first of them."""

    first: Work
    second: Work
    names: tuple[str, str]


@record
class Do:
    """A statement computes its value and stores it."""

    work: Work


@record
class Zip:
    """Variable `name` gets the first halves of two vectors, an element of each in turn, or their second halves."""

    name: str
    of: tuple[str, str]
    second: bool
    stmt: str  # for which


@record
class Braces:
    """A part with variables of its own."""

    body: "Body"


@record
class Inner:
    """A loop inside, as it is, around a body of its own."""

    head: For
    body: "Body"


@record
class Together:
    """A loop inside, in all lanes of the one around it. `loads` are elements that stay in variables all the while:
    nobody else looks at them, and `stores` brings back those that change. Both are there where the loop and all of
    `tests` run, of which those are tested that are not sure to. With `several`, that is the body for as many
    iterations as there are lanes, as long as all of them are there."""

    head: For
    body: "Body"
    loads: tuple[Load, ...] = ()
    stores: tuple[Load, ...] = ()
    tests: tuple[For, ...] = ()  # loops that have an iteration, as is asked ahead of the loads
    several: "Body" = ()
    step: int = 1
    rest: bool = True  # whether iterations may be left after those


@record
class Alone:
    """A loop inside, lane after lane: in it, `var` of the loop around it stands for `count` iterations in turn."""

    head: For
    var: str
    count: int


@record
class Split:
    """A loop inside that begins or ends elsewhere in some lanes: `first` and `past` bound where all of them run, called
    by `names`. Before and after that each lane runs alone."""

    head: For
    names: tuple[str, str]
    first: CExpr
    past: CExpr
    before: Alone | None
    middle: Together
    after: Alone | None


@record
class Plain:
    """A part of the tree, as it is."""

    node: CNode


@record
class ReductionInit:
    """Variables begin with what a reduction does not change by: its neutral value, or the old value of its target."""

    names: tuple[str, ...]
    at: Instance
    op: str


@record
class Join:
    """All lanes of variables are folded into the target of a statement."""

    names: tuple[str, ...]
    at: Instance
    op: str


# -- how a loop gets from its first iteration to its last -----------------------------------------


@record
class Until:
    """How many elements it is from the one that a statement stores to the next multiple of `bytes`, for elements of
    `each` bytes: any number from 0 on that is less than bytes / each."""

    at: Instance
    bytes: int
    each: int


@record
class While:
    """Steps of so many iterations as long as all of them are there. One by one: no vectors, if `single`. With `lanes`
    its vectors are of that length, whatever those of the loop are."""

    step: int
    body: "Body"
    note: str = ""
    single: bool = False
    lanes: Lanes | None = None


@record
class OverlappingSteps:
    """Steps while any iteration is left, the last one so far back that it ends with the loop: some run again."""

    step: int
    body: "Body"


@record
class Lead:
    """One step of so many iterations, which are there, and on to the first that begins a whole vector, or by all."""

    step: int
    body: "Body"
    until: Until | None


@record
class Peel:
    """One by one up to the first iteration that begins a whole vector, or to the end."""

    body: "Body"
    until: Until


@record
class Enough:
    """Where so many iterations are left, this, else that. `ahead` comes before the first of them, `after` after the
    last."""

    step: int
    then: tuple["Part", ...]
    orelse: tuple["Part", ...] = ()
    ahead: tuple[Load | ReductionInit, ...] = ()
    after: tuple[Join, ...] = ()


Part = Union[While, OverlappingSteps, Lead, Peel, Enough]


@record
class Strips:
    """A loop in parts, each of which goes on where the one before it stopped.

    `head` has its variable and bounds. With `here` compilers are kept from computing addresses ahead of it."""

    head: For
    parts: tuple[Part, ...]
    lanes: Lanes | None = None
    here: bool = False


@record
class ByWidth:
    """A loop in vectors of any width, and another way for it where they are as short as can be."""

    wide: Strips
    narrow: Strips


@record
class Interleaved:
    """All iterations at once where there are exactly so many, else one by one. With `kept`, which have values in arrays
    of the region: a macro of the file says whether the compiler is better off with all at once. With `far`, iterations
    read what does not lie side by side."""

    head: For
    count: int
    body: "Body"
    rest: CNode
    kept: bool = False
    far: bool = False


@record
class First:
    """Variable `name` gets, ahead of a loop, an element that an iteration before it would have touched by an access.
    It is read where the loop has more than `wait` iterations; without, nobody asks for it."""

    name: str
    stmt: str
    access: int
    index: Index
    wait: int


@record
class Flush:
    """After a loop an element gets what a variable has, by the target of a statement."""

    name: str
    stmt: str
    index: Index


@record
class ScalarReplacement:
    """A loop that keeps values in variables from iteration to iteration, as its `carried` says, if it runs at all."""

    head: For
    first: tuple[First, ...]
    body: "Body"
    last: tuple[Flush, ...]


Loops = Union[Inner, Together, Split, Plain, Strips, ByWidth]
Item = Union[Load, Move, Value, StoreValue, PutBoth, Do, Zip, Braces, Loops]
Body = tuple[Item, ...]
Form = Union[Strips, Interleaved, ScalarReplacement]


@record
class Ahead:
    """A read of a statement in a loop that is made once, ahead of the loop. All of one name are of one element."""

    name: str
    at: Instance
    access: int
