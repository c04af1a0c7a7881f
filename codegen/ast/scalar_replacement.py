"""Scalar replacement: finds the elements that a sequential loop may keep in variables from one iteration to the next,
and notes them in the loop (`For.carried`), for loops whose schedule asks for it.

Subscripts that differ by a constant name elements that a later iteration meets again: in `s[i] = s[i - 1] + x[i]` what
is written in one iteration is read in the next, in `x[i - 1] + x[i] + x[i + 1]` two of three values have been read
before. Compilers keep such values only while no store may hit another array's element; here arrays do not overlap.
What is found here is judged by `verify/scalar_replacement.py`; `lower/scalar_replacement.py` makes lines of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

import islpy as isl

from codegen.ast.ctree import (
    Block,
    CNode,
    Declare,
    For,
    Instance,
    ProductNode,
    ReplacedElements,
    expr_names,
    with_kids,
)
from codegen.ast.linear import Along, along
from codegen.recognize.access.dereferenceable import certain
from codegen.recognize.access.reuse import worth_keeping
from codegen.record import record
from codegen.scop.expr import is_code
from codegen.scop.model import Scop
from codegen.scop.tree import SEQUENTIAL

MOST = 4  # iterations that a value is kept for


@record
class _Use:
    """One access in a loop's body."""

    at: int
    number: int
    array: str
    write: bool
    forms: tuple[Along, ...] | None


def with_scalar_replacement(scop: Scop, node: CNode) -> CNode:
    """The tree in which loops that ask for it know what they keep."""
    if isinstance(node, For) and node.loop.carry:
        return replace(node, carried=replaced_elements(scop, node))
    return node if isinstance(node, ProductNode) else with_kids(node, lambda x: with_scalar_replacement(scop, x))


def instances(node: For) -> tuple[Instance, ...]:
    """The statements that a loop consists of, below declarations; empty when there is something else in it."""
    inner = node.body.body if isinstance(node.body, Declare) else node.body
    body = inner.children if isinstance(inner, Block) else (inner,)
    return tuple(x for x in body if isinstance(x, Instance)) if all(isinstance(x, Instance) for x in body) else ()


def replaced_elements(scop: Scop, node: For) -> tuple[ReplacedElements, ...]:
    """What one loop can keep."""
    body = instances(node)
    if any(is_code(scop.statement(x.stmt).rhs) for x in body):
        return ()  # it may read what it has written
    if node.step != 1 or node.loop.kind != SEQUENTIAL:
        return ()
    found: list[ReplacedElements] = []
    uses = list(_uses(scop, node.var, body))
    for array in sorted({u.array for u in uses}):
        mine = [u for u in uses if u.array == array]
        if any(_age(r, s) is not None for r in mine if not r.write for s in mine if s is not r):
            sure = {u for u in mine if certain(scop, scop.statement(body[u.at].stmt), u.number)}
            found.extend(_of_array(mine, sure, array, lambda a, b: _meet(scop, node.var, body, a, b)))
    return tuple(found)


def _meet(scop: Scop, var: str, body: Sequence[Instance], a: _Use, b: _Use) -> bool:
    """May two accesses touch one element while the loop runs once? Iterators that it leaves alone are equal."""
    one, other = body[a.at], body[b.at]
    pairs = _relation(scop, one, a).apply_range(_relation(scop, other, b).reverse()).intersect_params(scop.context)
    for k, e in enumerate(one.iterators):
        for n, f in enumerate(other.iterators):
            if e == f and var not in expr_names(e):
                pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, n)
    return not pairs.is_empty()


def _relation(scop: Scop, at: Instance, u: _Use) -> isl.Map:
    return scop.statement(at.stmt).accesses[u.number].relation


def _uses(scop: Scop, var: str, body: Sequence[Instance]) -> Iterator[_Use]:
    for k, at in enumerate(body):
        s = scop.statement(at.stmt)
        for number, a in enumerate(s.accesses):
            if not worth_keeping(scop.arrays[a.array]):
                continue
            forms = tuple(along(e, var) for e in at.accesses[number])
            whole = None if any(f is None for f in forms) else tuple(f for f in forms if f is not None)
            yield _Use(k, number, a.array, a.write, whole)


def _of_array(
    uses: Sequence[_Use], sure: Collection[_Use], array: str, meet: Callable[[_Use, _Use], bool]
) -> list[ReplacedElements]:
    writes, reads = [u for u in uses if u.write], [u for u in uses if not u.write]
    served: dict[_Use, list[tuple[_Use, int]]] = {}
    first = {r for r in reads if all(_age(r, s) is None for s in uses if s is not r)}
    for r in reads:
        if r not in sure or r.forms is None or any(w.forms is None for w in writes):
            continue
        options = [
            (age, s)
            for s in uses
            if s in sure and s is not r and (s.write or s in first)
            for age in (_age(r, s),)
            if age is not None and _untouched(r, s, age, writes)
        ]
        if options:
            age, source = min(options, key=lambda x: (x[0], not x[1].write, -x[1].at))
            served.setdefault(source, []).append((r, age))
    out = []
    for source, users in served.items():
        if any(age for _, age in users):
            ages = tuple((r.at, r.number, age) for r, age in users)
            last = _is_last(source, [r for r, _ in users], uses, meet)
            out.append(ReplacedElements(array, (source.at, source.number), ages, last))
    return out


def _age(r: _Use, s: _Use) -> int | None:
    """How many iterations ago `s` touched the element that `r` reads; None where it never did, or just now comes."""
    if r.forms is None or s.forms is None or len(r.forms) != len(s.forms):
        return None
    before = s.at < r.at if s.write else (s.at, s.number) < (r.at, r.number)
    pairs = list(zip(r.forms, s.forms, strict=True))
    if any(a[:2] != b[:2] for a, b in pairs):
        return None
    ages = range(0 if before else 1, MOST + 1)
    return next((age for age in ages if all(a[2] - b[2] == -a[1] * age for a, b in pairs)), None)


def _untouched(r: _Use, s: _Use, age: int, writes: Sequence[_Use]) -> bool:
    """Does nobody else write the element between the source and the read?"""
    for w in writes:
        if w.forms is None or r.forms is None or len(w.forms) != len(r.forms):
            return False
        if any(a[0] != b[0] or a[1] != b[1] for a, b in zip(r.forms, w.forms, strict=True)):
            return False  # they may meet
        for e in range(age + 1):
            after = e < age or w.at > s.at or (w.at == s.at and not s.write)
            before = e > 0 or w.at < r.at
            same = all(a[2] - b[2] == -a[1] * e for a, b in zip(r.forms, w.forms, strict=True))
            if same and after and before and not (w is s and e == age):
                return False
    return True


def _is_last(
    source: _Use, users: Sequence[_Use], uses: Sequence[_Use], meet: Callable[[_Use, _Use], bool]
) -> bool:
    """Is one element written over and over, and looked at by those readers only?"""
    if not source.write or source.forms is None or any(f[1] for f in source.forms):
        return False
    return not any(meet(source, u) for u in uses if u is not source and u not in users)
