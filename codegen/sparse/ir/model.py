"""The computation: a chain of steps, each a loop nest (its domain) around statements, or a step over whole arrays.

Arrays are named; an element is a call in an expression, so reads are found in expressions and writes in statements.
Schedules are the places in the chain: step number, then the loops from outside in, then the statement's number.
"""
from __future__ import annotations

from typing import Union

from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.algebra.relation import Constraint

INDEX, VALUE, WIDE, FLAG = "index", "value", "wide", "flag"
RECORD = "record"  # and a number: so many indices x0, x1, ... and a value v; a field of array a is called "a[].x0"


# --- domains -----------------------------------------------------------------------------------------------------

@record
class For:
    """low <= var < high, ascending."""

    var: str
    low: Exp
    high: Exp


@record
class Let:
    """A name for a value."""

    var: str
    value: Exp
    kind: str = WIDE


@record
class Guard:
    """Only where every condition holds; `nonzero` is a value that must differ from 0."""

    cons: tuple[Constraint, ...]
    nonzero: Exp | None = None


@record
class Tick:
    """`var` counts the iterations that get here, from 0."""

    var: str


Level = Union[For, Let, Guard, Tick]
Nest = tuple[Level, ...]


# --- statements --------------------------------------------------------------------------------------------------

@record
class Store:
    """target(index) op value; op is =, +=, min or max. Without an index the target is a variable."""

    target: str
    index: Exp | None
    value: Exp
    op: str = "="


@record
class OnChange:
    """Where one of the keys differs from the one before (and at the start): count `var` on and run the body."""

    var: str
    keys: tuple[Exp, ...]
    body: tuple["Stmt", ...]


@record
class Once:
    """The body runs where flag(index) was not yet stamped with `stamp`."""

    flag: str
    index: Exp
    stamp: Exp
    body: tuple["Stmt", ...]


@record
class Recall:
    """At each new `key`, table(values(p)) = p for every p of low..high-1; then `var` = table(index)."""

    var: str
    table: str
    values: str
    key: Exp
    low: Exp
    high: Exp
    index: Exp


@record
class Insert:
    """Append key words to an ordered list."""

    list: str
    words: tuple[Exp, ...]


@record
class Find:
    """A new name for the position of key words in an ordered list without repeats."""

    var: str
    list: str
    words: tuple[Exp, ...]


@record
class Reject:
    """Give up with DUPLICATE where bit `index` of `seen` is set already; else set it."""

    seen: str
    index: Exp


Stmt = Union[Store, OnChange, Once, Recall, Insert, Find, Reject, Let]


# --- steps -------------------------------------------------------------------------------------------------------

@record
class Loop:
    """A nest around statements. `carried`: iterations depend on one another, so the order is kept on one thread.

    `ahead`: the innermost loop stores one value all over its segment, and segments come one after the other; so
    stores may run past a segment's end, since what is there gets its own value later. `grouped`: iterations that store
    to one element agree in this; with `follow` they come one after the other, else only a look at run time can tell.
    """

    nest: Nest
    body: tuple[Stmt, ...]
    note: str
    carried: bool = False
    ahead: bool = False
    grouped: Exp | None = None
    follow: bool = False


@record
class Alloc:
    """A new array of `size` elements. `fill`: None leaves it as it comes, else every element's first value."""

    array: str
    size: Exp
    kind: str = INDEX
    fill: int | None = None


@record
class Free:
    array: str


@record
class Define:
    """A symbol gets its value."""

    name: str
    value: Exp


@record
class Packet:
    """What an entry takes with it: names from the nest, and its value. `count`: how many entries there are."""

    nest: Nest
    names: tuple[str, ...]
    value: Exp
    count: Exp


@record
class Count:
    """How many iterations each of `size` buckets gets; `counter` has two elements more, zero at first.

    `packet`: entries may be put near their place first, when there are too many places to write at once.
    """

    nest: Nest
    counter: str
    index: Exp
    size: Exp
    note: str
    packet: Packet | None = None


@record
class Prefix:
    """Counts become starts: what Count left in `array` as running sums."""

    array: str
    size: Exp


@record
class Scatter:
    """The body at every iteration, with `var` the next position of bucket `index`; `counter` holds their starts.

    Afterwards `counter` holds the starts of all buckets and the total. `local`: each bucket counts from 0.
    """

    nest: Nest
    var: str
    counter: str
    index: Exp
    size: Exp
    body: tuple[Stmt, ...]
    note: str
    local: bool = False
    packet: Packet | None = None


@record
class Sweep:
    """Repair a monotonic function: array(x + 1) at least (or at most) array(x), x ascending."""

    array: str
    size: Exp
    sign: str


@record
class Max:
    """name = the largest count of `size` buckets that Count left in `array`, at least 0."""

    name: str
    array: str
    size: Exp


@record
class Number:
    """Marked elements of `table` get numbers in order, from 0 (descending: from the top); `name` is how many."""

    table: str
    size: Exp
    name: str
    down: bool = False


@record
class Gather:
    """values(table(x)) = x + low for every marked x of `table`."""

    values: str
    table: str
    size: Exp
    low: Exp


@record
class Copy:
    """size elements from one array to another."""

    target: str
    source: str
    size: Exp


@record
class SortList:
    """Sort an ordered list, without its repeats when `unique`; `name` is how many it then has.

    `free`: the last so many words do not count for the order; keys that differ only there come as they were inserted.
    """

    list: str
    unique: bool
    name: str = ""
    free: int = 0


@record
class NewList:
    list: str
    width: int


@record
class Word:
    """One word of a sort key: an expression with its bounds, or MORTON or a user's key of expressions."""

    value: Exp
    low: Exp
    high: Exp
    down: bool = False


@record
class Radix:
    """Entries of a nest into arrays sorted by words, first word first; equal keys keep their order.

    `arrays`: one for each coordinate; `values` gets the values. `count` is how many entries there are.
    """

    nest: Nest
    words: tuple[Word, ...]
    coords: tuple[Exp, ...]
    extents: tuple[Exp, ...]
    value: Exp
    arrays: tuple[str, ...]
    values: str
    count: Exp
    note: str
    position: Exp | None = None


@record
class SortSegments:
    """Sort array(ptr(x)) .. array(ptr(x + 1) - 1) for every x below size."""

    array: str
    ptr: str
    size: Exp


@record
class Require:
    """Give up with a status unless the condition holds."""

    condition: Constraint
    status: str


@record
class Shrink:
    """Give back the memory beyond `size` elements."""

    array: str
    size: Exp
    kind: str = INDEX


@record
class Branch:
    """`then` where the entries already come in the order of `keys`, else `other`."""

    nest: Nest
    keys: tuple[Exp, ...]
    then: tuple["Step", ...]
    other: tuple["Step", ...]
    note: str


Step = Union[Branch, Loop, Alloc, Free, Define, Count, Prefix, Scatter, Sweep, Max, Number, Gather, Copy, SortList,
             NewList, Radix, SortSegments, Require, Shrink]


@record
class Computation:
    """Steps in order. `live`: arrays and symbols that belong to the result; `log`: what was done, for --explain."""

    steps: tuple[Step, ...]
    live: frozenset[str]
    log: tuple[str, ...] = ()
