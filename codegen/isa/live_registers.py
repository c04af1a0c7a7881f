"""Register pressure of a lane expression: how many instructions it takes, and how many registers it holds."""

from __future__ import annotations

from codegen.isa.derived import X, Y, derived
from codegen.isa.model import Vec, is_float
from codegen.isa.text import fuse
from codegen.record import record
from codegen.scop.lanes import Lane, walk

# Any table with both: `fuse` asks for nothing else.
_FUSING = Vec("f64", "", "", "", 0, 0, (("fma", "fma"), ("fms", "fms")))


@record
class Demand:
    """What one vector of a step asks for. `temporaries` are the most results that wait at one time, `literals` the
    numbers that stay in registers of their own."""

    operations: int
    temporaries: int
    literals: int


def demand(vec: Vec, e: Lane) -> Demand:
    """The demand of an expression, evaluated arguments first, equal parts once."""
    native = resolve(vec, e)
    order = [x for x in dict.fromkeys(_postorder(native)) if x.args]
    last = {a: i for i, x in enumerate(order) for a in x.args if a.args}
    waiting = [sum(last[x] > i for x in order[: i + 1]) for i in range(len(order) - 1)]
    literals = len({x for x in walk(native) if x.op == "number"})
    return Demand(len(order), max(waiting, default=0), literals)


def resolve(vec: Vec, e: Lane) -> Lane:
    """The expression in operations that the instruction set has. Where it does not say, compilers fuse multiply-adds of
    floating point if the processor can."""
    if not e.args:
        return e
    op, args = fuse(_FUSING if is_float(vec.elem) else vec, e)
    if op in ("fma", "fms"):
        return Lane(op, tuple(resolve(vec, a) for a in args))
    if vec.op(op):
        return Lane(op, tuple(resolve(vec, a) for a in args), e.index)
    return resolve(vec, _put(derived(vec.elem)[op], dict(zip((X, Y), args, strict=False))))


def _put(pattern: Lane, values: dict[Lane, Lane]) -> Lane:
    if pattern in values:
        return values[pattern]
    return Lane(pattern.op, tuple(_put(a, values) for a in pattern.args), pattern.index)


def _postorder(e: Lane) -> list[Lane]:
    return [*(x for a in e.args for x in _postorder(a)), e]
