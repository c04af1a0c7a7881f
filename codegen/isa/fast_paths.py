"""Fast paths for chains of minima and maxima: fewer instructions, with a test for NaN and signed zero behind them.

`acc < t ? acc : t` over many t is a comparison and a choice for each; one instruction does it where there are no NaN
and no zeros of both signs, which differ between spellings. Which instructions may stand in is a matter of the table:

- for min and max, one that returns NaN if an operand is NaN. If the last result is no NaN, there was none in the chain.
  It is then the least number of the chain, in every spelling and order. Only of zeros is the sign in doubt.
- for fmin and fmax, one that returns acc where t is NaN. Then only an acc that was NaN to begin with goes wrong, and
  the last result is that NaN. The sign of zeros is left open by C.
"""

from __future__ import annotations

from codegen.isa.live_registers import demand
from codegen.isa.model import Vec, is_float
from codegen.record import record
from codegen.scop.lanes import Lane, walk

ACC = Lane("acc")
# min and max as choices: whether the first operand of the comparison is taken where it is the smaller one.
_LESS = {"lt": True, "le": True, "gt": False, "ge": False}
# What passes NaN on, and to what the sign of a zero is nothing but the sign of a zero.
_SMOOTH = ("add", "sub", "mul", "neg")


@record
class FastPath:
    """A step to take instead, and the mask (of `scop/lanes.py`) of results that say nothing."""

    step: Lane
    doubt: str


def fast_path_of(vec: Vec, step: Lane) -> FastPath | None:
    """The cheaper step of a chain, if there is one."""
    kind, pair, doubt = _chain(step)
    if not kind or not is_float(vec.elem) or not vec.fold(kind) or pair.count(ACC) != 1:
        return None
    (other,) = (x for x in pair if x != ACC)
    if ACC in walk(other):
        return None
    quick = Lane(vec.fold(kind), (_smooth(vec, other) if doubt == "nought" else other, ACC))
    return FastPath(quick, doubt) if demand(vec, quick).operations < demand(vec, step).operations else None


def operations_of(vec: Vec, step: Lane) -> int:
    """Instructions of a step, the usual way where there are two."""
    hurry = fast_path_of(vec, step)
    return demand(vec, hurry.step if hurry else step).operations


def _chain(e: Lane) -> tuple[str, tuple[Lane, ...], str]:
    if e.op in ("fmin", "fmax"):
        return e.op, e.args, "nan"
    kind, pair = extreme(e)
    return kind, pair, "nought"


def extreme(e: Lane) -> tuple[str, tuple[Lane, ...]]:
    """("min" or "max", operands) of what is one of them among ordered numbers; "" if it is neither."""
    if e.op in ("min", "max"):
        return e.op, e.args
    if e.op != "select" or e.args[0].op not in _LESS:
        return "", ()
    x, y = e.args[0].args
    if e.args[1:] not in ((x, y), (y, x)):
        return "", ()
    return "min" if _LESS[e.args[0].op] == (e.args[1] == x) else "max", (x, y)


def _smooth(vec: Vec, e: Lane) -> Lane:
    """The same number, except that NaN wins and signs of zeros may differ."""
    kind, pair = extreme(e)
    if kind:
        return Lane(vec.fold(kind), tuple(_smooth(vec, x) for x in pair))
    return Lane(e.op, tuple(_smooth(vec, x) for x in e.args)) if e.op in _SMOOTH else e
