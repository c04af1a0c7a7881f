"""Scalar replacement: returns the lowered form of a loop in which elements stay in variables from iteration to
iteration. Which ones do is given (`For.carried`, see `ast/scalar_replacement.py`).

The variables of value number i are called "i.0" for what this iteration has, "i.1" for the one before, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.ast.ctree import Bin, CExpr, For, Instance, Int, ReplacedElements, substitute
from codegen.ast.lowered import (
    Ahead,
    Do,
    First,
    Flush,
    Index,
    InVariable,
    Item,
    Load,
    Move,
    One,
    ScalarReplacement,
    StoreValue,
    Value,
    Work,
)
from codegen.ast.scalar_replacement import instances
from codegen.lower.conditionals import repeated_choices
from codegen.lower.shift import simple
from codegen.scop.expr import Gather, Ref, walk
from codegen.scop.model import Scop, Statement


def scalar_replacement(scop: Scop, node: For, ahead: Sequence[Ahead]) -> ScalarReplacement:
    """The form of a loop that keeps values; `ahead` are reads that were made before it."""
    body = instances(node)
    first: list[First] = []
    last: list[Flush] = []
    for i, c in enumerate(node.carried):
        at = body[c.source[0]]
        for age in range(c.length, 0, -1):
            wait = min(a for _, _, a in c.reads if a >= age) - age  # iterations until somebody reads it
            there = _placed(at, c.source[1], node.var, simple(Bin("-", node.lower, Int(age))))
            first.append(First(f"{i}.{age}", at.stmt, c.source[1], there, wait))
        if c.last:
            last.append(Flush(f"{i}.1", at.stmt, _placed(at, c.source[1], node.var, node.lower)))
    lines: list[Item] = []
    for k, at in enumerate(body):
        known = {x.access: x.name for x in ahead if x.at == at}
        lines += _statement(scop, scop.statement(at.stmt), k, at, node.carried, known)
    for i, c in enumerate(node.carried):
        lines += [Move(f"{i}.{age}", f"{i}.{age - 1}") for age in range(c.length, 0, -1)]
    return ScalarReplacement(node, tuple(first), tuple(lines), tuple(last))


def _statement(
    scop: Scop, s: Statement, k: int, at: Instance, carried: Sequence[ReplacedElements], known: Mapping[int, str]
) -> list[Item]:
    """A statement, what is read ahead of it to be kept, and its value where that is."""
    given = {**known, **{n: f"{i}.{age}" for i, c in enumerate(carried) for w, n, age in c.reads if w == k}}
    new = [(i, c) for i, c in enumerate(carried) if c.source[0] == k]
    loads = [(i, c.source[1]) for i, c in new if c.source[1] != s.target]
    given.update({n: f"{i}.0" for i, n in loads})
    places = tuple(InVariable(given[n]) if n in given else One(at.accesses[n]) for n in range(len(s.accesses)))
    work = Work(at, 1, places, repeated_choices(scop, s, at, places))
    out: list[Item] = [Load(f"{i}.0", s.name, n, One(at.accesses[n])) for i, n in loads]
    stored = next(((i, c) for i, c in new if c.source[1] == s.target), None)
    if stored is None:
        return [*out, Do(work)]
    name = f"{stored[0]}.0"
    return [*out, Value(name, work), *(() if stored[1].last else (StoreValue(work, name),))]


def old_value(s: Statement) -> int:
    """The access by which `+=` reads its target; -1 for plain assignments."""
    spelled = {e.access for e in walk(s.rhs) if isinstance(e, (Ref, Gather))}
    return next((k for k, a in enumerate(s.accesses) if not a.write and k not in spelled), -1)


def _placed(at: Instance, access: int, var: str, value: CExpr) -> Index:
    """The subscripts of an access where the loop's variable has this value."""
    return tuple(simple(substitute(e, {var: value})) for e in at.accesses[access])
