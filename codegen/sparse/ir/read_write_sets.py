"""Read and write sets of the sparse IR: which arrays, symbols and variables a node reads, writes or defines."""
from __future__ import annotations

from codegen.sparse.algebra.terms import functions, names
from codegen.sparse.ir.counting import Count, Distinct, Gather, Max, Number, Prefix, Scatter
from codegen.sparse.ir.model import Alloc, Copy, Define, Shrink, Sweep
from codegen.sparse.ir.nest import For, Let, Tick
from codegen.sparse.ir.sorting import Radix, SortList, SortSegments
from codegen.sparse.ir.statement import OnChange, Recall, Reject, Store
from codegen.sparse.ir.walk import expressions, parts

_WRITES = {Store: ("target",), Alloc: ("array",), Define: ("name",), Count: ("counter",), Prefix: ("array",),
           Scatter: ("counter",), Sweep: ("array",), Max: ("name",), Number: ("table", "name"),
           Gather: ("values",), Copy: ("target",), SortList: ("list", "name"), Radix: ("arrays", "values"),
           SortSegments: ("array",), Shrink: ("array",), Distinct: ("seen", "found", "ptr", "name"),
           Recall: ("table",), Reject: ("seen",), OnChange: ("var",)}
_READS = {Count: ("counter",), Prefix: ("array",), Scatter: ("counter",), Sweep: ("array",), Max: ("array",),
          Number: ("table",), Gather: ("table",), Copy: ("source",), SortSegments: ("array", "ptr"),
          Shrink: ("array",), Distinct: ("seen",), Recall: ("table", "values"), Reject: ("seen",)}


def _named(node: object, table: dict[type, tuple[str, ...]]) -> frozenset[str]:
    out: set[str] = set()
    for x in parts(node):
        for field in table.get(type(x), ()):
            value = getattr(x, field)
            out |= set(value) if isinstance(value, tuple) else {value}
    return frozenset(out - {""})


def writes(node: object) -> frozenset[str]:
    """Arrays and symbols that a node writes."""
    return _named(node, _WRITES)


def reads(node: object) -> frozenset[str]:
    """Arrays, symbols and variables that a node reads; with a field of an array the array itself."""
    out = set(_named(node, _READS))
    for x in parts(node):
        if isinstance(x, Store) and x.op != "=":
            out.add(x.target)
    for e in expressions(node):
        out |= functions(e) | names(e)
    return frozenset({*out, *(n.partition("[")[0] for n in out)})


def bound(nest: tuple[object, ...]) -> frozenset[str]:
    """Variables a nest defines."""
    return frozenset(x.var for x in nest if isinstance(x, (For, Let, Tick)))
