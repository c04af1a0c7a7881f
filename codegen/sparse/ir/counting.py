"""Counting steps of the sparse IR: histograms by bucket, prefix sums, scatters, and numbering of distinct values."""
from __future__ import annotations

from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.ir.nest import Nest
from codegen.sparse.ir.statement import Stmt


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
class Distinct:
    """The distinct values among the entries of each owner, in the order in which they are met.

    Owners ascend, so entries of one owner follow one another. `found` gets the values, ptr(owner + 1) how many there
    are up to an owner's end; owners without entries keep 0. `name`: how many there are in all, where anyone asks.
    `seen` is a table for `index`, of `span` elements, -1 at first.
    """

    nest: Nest
    owner: Exp
    value: Exp
    index: Exp
    span: Exp
    seen: str
    found: str
    ptr: str
    name: str
    note: str


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
