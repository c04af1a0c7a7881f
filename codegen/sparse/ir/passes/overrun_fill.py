"""Pass that marks loops which fill each segment with one value (`ahead`): their stores may run past a segment's end,
where the next one then writes. `pointers` returns the arrays that bound the segments of a nest."""
from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from codegen.sparse.algebra.expr import as_call, num, var
from codegen.sparse.algebra.terms import names
from codegen.sparse.ir.model import Computation, Loop, Step
from codegen.sparse.ir.nest import For, Let, Nest
from codegen.sparse.ir.statement import Store


def ahead(c: Computation) -> Computation:
    """Short segments, of which there are many, then need no loop that stops exactly."""
    return replace(c, steps=tuple(_ahead(s) for s in c.steps))


def _ahead(s: Step) -> Step:
    if not isinstance(s, Loop) or s.carried or len(pointers(s.nest)) < 1:
        return s
    last = s.nest[-1]
    if not isinstance(last, For) or not all(isinstance(x, Store) and _one_value(x, last.var) for x in s.body):
        return s
    return replace(s, ahead=True)


def _one_value(s: Store, v: str) -> bool:
    return s.op == "=" and s.index == var(v) and v not in names(s.value)


def pointers(nest: Nest) -> tuple[str, ...]:
    """The functions p, q, ... of loops over u from 0 on, over p(u) to p(u+1)-1, and so on; () for other nests."""
    loops = [x for x in nest if isinstance(x, For)]
    if len(loops) < 2 or loops[0].low != num(0) or not all(isinstance(x, (For, Let)) for x in nest):
        return ()
    out: list[str] = []
    for above, x in pairwise(loops):
        low, high = as_call(x.low), as_call(x.high)
        if low is None or high is None or low.id != high.id or low.args != (var(above.var),) \
                or high.args != (var(above.var) + 1,):
            return ()
        out.append(low.id)
    return tuple(out)
