"""Prints lane expressions as C with the intrinsics of one instruction set."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from codegen.isa.derived import X, derived
from codegen.isa.model import Isa, Vec, is_float
from codegen.record import record
from codegen.scop.lanes import Lane

# Macros of generated files (file.c.j2): the compiler moves nothing across the one, the other asks for a cache line.
BARRIER = "TW_KEEP_ORDER();"
PREFETCH = "TW_PREFETCH"
ANEW = "TW_ANEW"  # leaves a variable as it is
HOLD = "TW_HOLD"  # the same, where a distance is no constant
PREFETCH_FAR = "TW_PREFETCH_FAR"  # into the second cache
LINE_BYTES = 64

# The operations that round once, and what they are when they round twice: a product, and what joins it to the rest.
FUSED = {
    f"{op}{how}": (f"mul{how}", join) for op, join in (("fma", "add"), ("fms", "sub")) for how in ("", "_lane", "_n")
}

Leaf = Callable[[Lane], str]


@record
class ScalarOperand:
    """Where an expression finds a if not in a vector: `how` is _lane or _n, `texts` are the operation's arguments."""

    how: str
    texts: tuple[str, ...]


def helper_name(isa: Isa, elem: str, op: str) -> str:
    return f"{isa.prefix}_{op}_{elem}"


def call(isa: Isa, elem: str, op: str, args: Sequence[str]) -> str:
    """C text of an operation on arguments that are C text: its pattern, or a call of its helper."""
    pattern = isa.vec(elem).op(op)
    if pattern and is_inline(pattern) and not (op in FUSED and is_float(elem)):
        return pattern.format(*(bare(a) if _alone(pattern, i) else a for i, a in enumerate(args)))
    return f"{helper_name(isa, elem, op)}({', '.join(map(bare, args))})"


def is_inline(pattern: str) -> bool:
    """Whether the pattern can stand in an expression: no statements, and no argument written twice."""
    return not pattern.startswith("{{") and all(pattern.count(f"{{{i}}}") < 2 for i in range(4))


def _alone(pattern: str, i: int) -> bool:
    """Whether the argument stands between parentheses or commas and needs no parentheses of its own."""
    return re.search(rf"(\(|, )\{{{i}\}}[,)]", pattern) is not None


def bare(text: str) -> str:
    """Without the parentheses around all of it."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return text[1:-1] if c == ")" and i == len(text) - 1 else text
    return text


def expression(isa: Isa, elem: str, e: Lane, leaf: Leaf, a: Callable[[int], ScalarOperand] | None = None) -> str:
    """C text of a lane expression. Multiply-adds become one operation where the instruction set has one.

    `a` tells where operand number so and so is; only for expressions that `takes` allows.
    """
    if e.op == "number":
        return call(isa, elem, "dup", [_literal(isa.vec(elem), e.index)])
    if not e.args:
        return leaf(e)
    if derived(elem).get(e.op) == X:
        return expression(isa, elem, e.args[0], leaf, a)
    op, args = fuse(isa.vec(elem), e)
    left = next((x for x in args[-2:] if _is_a(x)), None)
    if a and left:
        where = a(left.index)
        texts = [expression(isa, elem, x, leaf, a) for x in _without(args)]
        return call(isa, elem, op + where.how, [*texts, *where.texts])
    return call(isa, elem, op, [expression(isa, elem, x, leaf, a) for x in args])


def _literal(vec: Vec, value: int) -> str:
    return str(value) if value >= 0 else f"({vec.scalar}){value}"


def takes_lane(vec: Vec, e: Lane) -> bool:
    """Whether every a in the expression can be a lane of a register."""
    return takes(vec, e, "_lane")


def spreads(isa: Isa, elem: str, e: Lane) -> bool:
    """Whether kernels had better find the values of a in whole vectors: where every use of one would cost an operation
    to bring it into all lanes. The length of a vector must be known to store them so."""
    vec = isa.vec(elem)
    return bool(isa.bits and vec.broadcast) and not takes(vec, e, "_lane") and not takes(vec, e, "_n")


def takes(vec: Vec, e: Lane, how: str) -> bool:
    """Whether every a in the expression is the factor of an operation that has the form `how`."""
    if not e.args:
        return not _is_a(e)
    op, args = fuse(vec, e)
    if any(_is_a(x) for x in args[-2:]) and vec.op(op + how):
        args = _without(args)
    return all(takes(vec, x, how) for x in args)


def _without(args: tuple[Lane, ...]) -> tuple[Lane, ...]:
    """The arguments of a multiplication except the factor a."""
    return (*args[:-2], args[-2] if _is_a(args[-1]) else args[-1])


def _is_a(e: Lane) -> bool:
    return e.op == "a"


def fuse(vec: Vec, e: Lane) -> tuple[str, tuple[Lane, ...]]:
    """The operation of a node and its arguments, with a product that is added or subtracted taken in."""
    if e.op == "add" and vec.op("fma"):
        for other, product in (e.args, e.args[::-1]):
            if product.op == "mul":
                return "fma", (other, *product.args)
    if e.op == "sub" and vec.op("fms") and e.args[1].op == "mul":
        return "fms", (e.args[0], *e.args[1].args)
    return e.op, e.args
