"""When keeping elements in registers from one iteration to the next pays: what an ordered loop waits for.

A value that goes through memory comes back after a store and a load; one in a register is there at once. That counts
where the chain from value to value is what the loop waits for, and not where it waits for memory or for its units:
there the copies from register to register are only more to do.
"""

from __future__ import annotations

from codegen.machine import Machine
from codegen.machine.operations import operation
from codegen.plan.cost import CALL, bounds
from codegen.recognize.ctypes import type_of
from codegen.recognize.reuse import used_again
from codegen.record import record
from codegen.scop.expr import Binary, Call, Cast, Expr, Ref, Ternary, Unary, walk
from codegen.scop.model import Scop, Statement
from codegen.scop.tree import Place, enclosing, statements
from codegen.transform.program import Program

WORTH = 1.3  # what the model has to promise: it is no better than that
WIDTH = 4.0  # instructions that start in a cycle, copies among them
_NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "div", "&": "and", "|": "or", "^": "xor"}


@record
class Gain:
    """Cycles per iteration with values that go through memory, and with values in registers."""

    before: float
    after: float

    @property
    def pays(self) -> bool:
        return self.before > WORTH * self.after

    @property
    def text(self) -> str:
        """In words, for a remark."""
        return f"about {self.after:.2g} cycles an iteration, {self.before:.2g} with values that go through memory"


def carry_gain(p: Program, place: Place, machine: Machine) -> Gain | None:
    """What `carry` changes about an innermost loop; None where no value goes from one iteration to a later one."""
    names = statements(place.band)
    again = list(used_again(p.scop, place.band, enclosing(p.tree, names[0])))
    each = bounds(p, place, machine)
    chains = [(latency(p.scop, p.scop.statement(u.stmt), u.number, machine), u.age) for u in again if u.written]
    if not chains or each is None:
        return None
    registers = max(wait / age for wait, age in chains)
    memory = max((wait + machine.load_latency) / age for wait, age in chains)
    copies = sum(u.age for u in again) / WIDTH
    rest = max(each.issue, each.fetch)
    return Gain(max(rest, memory), max(rest, registers, copies))


def latency(scop: Scop, s: Statement, number: int, machine: Machine) -> float:
    """Cycles from a value that a statement reads to the one it stores."""
    spelled = any(isinstance(e, Ref) and e.access == number for e in walk(s.rhs))
    elem = scop.arrays[s.accesses[s.target].array].elem
    last = 0.0 if s.op == "=" else _latency(_NAMES.get(s.op[:-1], "add"), elem.kind == "float", elem.bits, machine)
    return last + (_path(scop, s, s.rhs, number, machine) or 0.0 if spelled else 0.0)


def _path(scop: Scop, s: Statement, e: Expr, number: int, machine: Machine) -> float | None:
    """The longest way from a read up to the root of an expression; None where it is not in there."""
    if isinstance(e, Ref):
        return 0.0 if e.access == number else None
    ways = [way for x in _parts(e) if (way := _path(scop, s, x, number, machine)) is not None]
    return max(ways) + _own(scop, s, e, machine) if ways else None


def _parts(e: Expr) -> tuple[Expr, ...]:
    if isinstance(e, Binary):
        return e.left, e.right
    if isinstance(e, Ternary):
        return e.cond, e.yes, e.no
    if isinstance(e, Call):
        return e.args
    return (e.arg,) if isinstance(e, (Unary, Cast)) else ()


def _own(scop: Scop, s: Statement, e: Expr, machine: Machine) -> float:
    """Of one operation. Compilers compare and select, and fold signs and conversions into what is around them."""
    kind = type_of(scop, s, e.left if isinstance(e, Binary) else e)
    real, bits = kind is None or kind.kind == "float", 64 if kind is None else kind.bits
    if isinstance(e, Call):
        like = {"fmin": "min", "fmax": "max", "fabs": "min", "fma": "mul", "sqrt": "div"}.get(e.name.rstrip("f"))
        return _latency(like, real, bits, machine) if like else CALL
    if isinstance(e, Ternary):
        return _latency("and", real, bits, machine)
    return _latency(_NAMES.get(e.op, "min"), real, bits, machine) if isinstance(e, Binary) else 0.0


def _latency(name: str, real: bool, bits: int, machine: Machine) -> float:
    """Integers are in registers of their own, where simple operations take a cycle."""
    if real:
        return operation(machine, "f32" if bits == 32 else "f64", name).latency
    return {"mul": 3.0, "div": 12.0}.get(name, 1.0)
