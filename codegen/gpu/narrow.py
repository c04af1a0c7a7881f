"""Decides up to which sizes a kernel can count in `int` instead of `long` (`limit`; 0: never), prints the launcher's
test of sizes for that (`condition`), and turns the kernel into a template of its counters' type (`narrowed`): in `int`,
subscripts take half the registers, and additions.

A kernel is printed once, as a template of the type `tw_int` of its counters. With `long` it is the text that was
proven. With `int` it computes the same as long as nothing it computes leaves 32 bits. How large that can be is bounded
here by polynomials of P, the largest absolute value of a parameter that it uses, and at least 1: the launcher compares
these with the largest P for which all fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import Bin, Block, CExpr, CNode, Cond, Declare, For, Fun, If, Instance, Int, Name, Neg, walk
from codegen.patterns import pattern
from codegen.record import record
from codegen.scop.expr import Affine, Call, Cast, Lit, Sym
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.target.text.pieces import View, texts_of

MOST = (1 << 31) - 1
LEAST_LIMIT = 64  # below that sizes are too small for a device anyway
MANY = 4  # elements of a statement
FEW = 8  # iterations of a thread's loop that is written out
Poly = tuple[int, ...]  # coefficients, none of them negative, by ascending powers of P
Bounds = Mapping[str, Poly]  # of variables
# How text with `long` becomes text with `tw_int`, and the way back.
_NARROW = ((r"\blong\b", "tw_int"), (r"\b(\d+)L\b", r"(tw_int)\1"),
           (r"\btw_(min|max|floord)\(", r"tw_narrow_\1<tw_int>("),
           (r"\btw_first_([yz])\b", r"(tw_int)tw_first_\1"))  # fmt: skip
_WIDE = ((r"\(tw_int\)tw_first_([yz])\b", r"tw_first_\1"), (r"\btw_narrow_(min|max|floord)<tw_int>\(", r"tw_\1("),
         (r"\(tw_int\)(\d+)\b", r"\1L"), (r"\btw_int\b", "long"))  # fmt: skip
_LONG = pattern(r"0?[xX]?[\da-fA-F]+[uU]?[lL]+[uU]?|\d{10,}|0[xX][\da-fA-F]{8,}[uU]?")  # literals of 64 bits
_STRIDE = pattern(r"\w+(?: \* \w+)*")


class Unbounded(Exception):
    """Something is computed of which no bound is known."""


@record
class GridLoop:
    """A loop of a grid, and how many threads there have to be."""

    loop: For
    count: CExpr


def limit(scop: Scop, node: CNode, grid: Sequence[GridLoop], around: Bounds) -> int:
    """The largest absolute value of parameters for which a kernel can count in `int`; 0 where it is to count in `long`:
    nothing would be gained, or not all is known. `around` bounds the host's counters."""
    if any(not p.ctype.signed or p.ctype.bits > 32 for p in scop.params) or not _pays(scop, node, grid):
        return 0
    if any(_is_long(scop, x) for x in walk(node) if isinstance(x, Instance)):
        return 0
    try:
        found = _largest(_values(scop, node, {g.loop.var: g for g in grid}, around))
    except Unbounded:
        return 0
    if _at(found, LEAST_LIMIT) > MOST:
        return 0
    low, high = LEAST_LIMIT, MOST
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _at(found, middle) <= MOST else (low, middle - 1)
    return low


def condition(scop: Scop, words: Sequence[str], around: Sequence[str], most: int) -> str:
    """Whether no parameter is larger among those that a kernel's text has as `words`, as C. All of them are asked
    where it uses counters of the loops `around`, which are bounded by any."""
    every = any(n in words for n in around)
    tests = []
    for p in (p for p in scop.params if every or p.text in words):
        below = scop.context.add_constraint(_negative(scop, p.name))
        tests += [f"{p.text} <= {most}", *([] if below.is_empty() else [f"{p.text} >= -{most}"])]
    return " && ".join(tests) or "true"


def _negative(scop: Scop, name: str) -> isl.Constraint:
    """A parameter is below 0."""
    space = isl.LocalSpace.from_space(scop.context.get_space())
    at = scop.context.get_space().find_dim_by_name(isl.dim_type.param, name)
    below = isl.Constraint.alloc_inequality(space).set_constant_val(isl.Val(-1))
    return below.set_coefficient_val(isl.dim_type.param, at, isl.Val(-1))


def counters(node: For, around: Bounds) -> Bounds:
    """What is known inside of a loop: `around` it, and about its counter."""
    try:
        ends = _union(bound(node.lower, around), bound(node.upper, around))
    except Unbounded:
        return around
    return {**around, node.var: _sum(ends, (node.step,))}  # one step behind the end, where it stops


def narrowed(views: Sequence[View]) -> tuple[View, ...] | None:
    """The text with counters of type `tw_int`; none unless the way back leads to the same text."""
    out = tuple(_rewritten(v) for v in views)
    return out if [_replaced(t, _WIDE) for t in texts_of(out)] == texts_of(views) else None


def _rewritten(v: View) -> View:
    body, orelse = (tuple(_rewritten(x) for x in part) for part in (v.body, v.orelse))
    return replace(v, head=_replaced(v.head, _NARROW), body=body, orelse=orelse)


def _replaced(text: str, rules: Sequence[tuple[str, str]]) -> str:
    for old, new in rules:
        text = re.sub(old, new, text)
    return text


def _pays(scop: Scop, node: CNode, grid: Sequence[GridLoop]) -> bool:
    """Has a thread few iterations, and in each so many elements that subscripts are much of its work? In long loops
    compilers go on from one subscript to the next."""
    mine = [x for x in walk(node) if isinstance(x, For) and all(x is not g.loop for g in grid)]
    elements = max(sum(not scop.arrays[a.array].inside for a in scop.statement(x.stmt).accesses)
                   for x in walk(node) if isinstance(x, Instance))  # fmt: skip
    return len(grid) > 1 and elements >= MANY and all(_few(x) for x in mine)


def _few(node: For) -> bool:
    ends = node.upper.args if isinstance(node.upper, Fun) and node.upper.name == "min" else (node.upper,)
    return any(isinstance(e, Bin) and e.op == "+" and e.left == node.lower and isinstance(e.right, Int)
               and e.right.value <= FEW for e in ends)  # fmt: skip


def _is_long(scop: Scop, at: Instance) -> bool:
    """Are there numbers of 64 bits among a statement's data, which have to stay so?"""
    s = scop.statement(at.stmt)
    parts = list(walk_expr(s.rhs))
    kinds = [scop.arrays[a.array].elem for a in s.accesses]
    kinds += [e.ctype for e in parts if isinstance(e, (Affine, Cast, Sym)) and e.ctype is not None]
    long_ones = any(isinstance(e, Lit) and _LONG.fullmatch(e.text) for e in parts)
    return long_ones or any(isinstance(e, Call) for e in parts) or any(t.is_int and t.bits > 32 for t in kinds)


def sizes(scop: Scop) -> Bounds:
    """What is known of parameters, by their names and their texts."""
    return {name: (0, 1) for p in scop.params for name in (p.name, p.text)}


def _values(scop: Scop, node: CNode, grid: Mapping[str, GridLoop], known: Bounds) -> Iterator[Poly]:
    """Bounds of everything that is computed."""
    if isinstance(node, For):
        low, high = bound(node.lower, known), bound(node.upper, known)
        yield from (low, high)
        if node.var in grid:
            g = grid[node.var]
            number = _sum(bound(g.count, known), (g.loop.loop.factor,))
            yield from (number, _sum(low, _times((node.step,), number)))
            known = {**known, node.var: _union(low, high)}
        else:
            known = counters(node, known)
            yield known[node.var]
        yield from _values(scop, node.body, grid, known)
    elif isinstance(node, If):
        yield bound(node.cond, known)
        for part in (node.then, node.orelse):
            if part is not None:
                yield from _values(scop, part, grid, known)
    elif isinstance(node, Instance):
        yield from (bound(e, known) for e in node.values)
        for a, index in zip(scop.statement(node.stmt).accesses, node.accesses, strict=True):
            strides = next((x.strides for x in a.path if x.kind == "flat"), ())
            yield _place(scop, a.array, [bound(e, known) for e in index], strides)
    elif isinstance(node, (Block, Declare)):
        for child in node.children if isinstance(node, Block) else (node.body,):
            yield from _values(scop, child, grid, known)
    else:
        raise Unbounded


def _place(scop: Scop, name: str, index: Sequence[Poly], strides: Sequence[str]) -> Poly:
    """Where an element lies: row by row, or by the strides of a flat array."""
    if strides:
        total: Poly = (0,)
        for e, stride in zip(index, strides, strict=True):
            total = _sum(total, _times(e, _stride(scop, stride)))
        return total
    array = scop.arrays[name]
    if array.inside:  # a thread's own variable
        if array.extents:
            raise Unbounded
        return (0,)
    total = index[0] if index else (0,)
    sizes = array.extents[1:] if len(array.extents) == len(index) else ("",) * (len(index) - 1)
    for e, size in zip(index[1:], sizes, strict=True):
        total = _sum(_times(total, _stride(scop, size)), e)
    return total


def _stride(scop: Scop, text: str) -> Poly:
    """A product of parameters and numbers."""
    if _STRIDE.fullmatch(text) is None:
        raise Unbounded
    total: Poly = (1,)
    for word in text.split(" * "):
        if word.isdigit():
            total = _times(total, (int(word),))
        elif any(word == p.text for p in scop.params):
            total = _times(total, (0, 1))
        else:
            raise Unbounded
    return total


def bound(e: CExpr, known: Bounds) -> Poly:
    """What the absolute values of an expression, and of its parts, do not exceed."""
    if isinstance(e, Int):
        return (abs(e.value),)
    if isinstance(e, Name):
        if e.name not in known:
            raise Unbounded
        return known[e.name]
    if isinstance(e, Neg):
        return bound(e.arg, known)
    if isinstance(e, Fun):
        return _sum(_largest(bound(x, known) for x in e.args), (1,))
    if isinstance(e, Cond):
        return _largest(bound(x, known) for x in (e.cond, e.yes, e.no))
    left, right = bound(e.left, known), bound(e.right, known)
    if e.op == "*":
        return _union(_times(left, right), _union(left, right))
    return _sum(left, right) if e.op in "+-" else _union(left, right)


def _sum(a: Poly, b: Poly) -> Poly:
    size = max(len(a), len(b))
    return tuple(x + y for x, y in zip(_long(a, size), _long(b, size), strict=True))


def _times(a: Poly, b: Poly) -> Poly:
    out = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return tuple(out)


def _union(a: Poly, b: Poly) -> Poly:
    size = max(len(a), len(b))
    return tuple(max(x, y) for x, y in zip(_long(a, size), _long(b, size), strict=True))


def _largest(found: Iterator[Poly]) -> Poly:
    total: Poly = (0,)
    for one in found:
        total = _union(total, one)
    return total


def _long(a: Poly, size: int) -> Poly:
    return a + (0,) * (size - len(a))


def _at(a: Poly, value: int) -> int:
    return sum(c * value**k for k, c in enumerate(a))
