"""The computation: a chain of steps, each a loop nest (its domain) around statements, or a step over whole arrays.

Arrays are named.
Schedules are the places in the chain: step number, then the loops from outside in, then the statement's number.
"""
from __future__ import annotations

from typing import Union

from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.ir.nest import INDEX, Nest
from codegen.sparse.ir.statement import Stmt


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
