"""Loops that keep elements in variables from iteration to iteration, as C."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from codegen.ast.carry import instances
from codegen.ast.ctree import Bin, Carried, CExpr, For, Held, Instance, Int, substitute
from codegen.lower.shift import simple
from codegen.record import record
from codegen.scop.expr import Gather, Ref, walk
from codegen.scop.model import Scop, Statement
from codegen.target.body import BodyAfter
from codegen.target.cexpr import IntPrinter
from codegen.target.choices import named_choices


@record
class CarriedLines:
    """What is printed, as (line, statement that it carries out): before the loop, in it, and after it."""

    ahead: tuple[tuple[str, str], ...]
    body: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]


@record
class _Kept:
    """One `Carried` with its variables: the value of this iteration, of the one before, and so on."""

    what: Carried
    names: tuple[str, ...]
    type: str


def carried_lines(
    scop: Scop,
    node: For,
    outer: IntPrinter,
    inner: IntPrinter,
    held: dict[str, Held],
    known: Mapping[tuple[Instance, int], str],
    new_names: Callable[[str, int], tuple[str, ...]],
) -> CarriedLines:
    """The lines of a loop over plain statements; `known` names values that were read ahead of it."""
    body = instances(node)
    kept = []
    for c in node.carried:
        array = scop.arrays[c.array]
        stem = re.sub(r"\W+", "_", array.base).strip("_")
        kept.append(_Kept(c, new_names(stem, c.length + 1), array.elem.spelling))
    ahead, lines, after = [], [], []
    outside = BodyAfter(scop, outer, held, known)
    for x in kept:
        s, at = scop.statement(body[x.what.source[0]].stmt), body[x.what.source[0]]
        for age in range(x.what.length, 0, -1):
            text = outside.access(s, _placed(at, node.var, simple(Bin("-", node.lower, Int(age)))), x.what.source[1])
            wait = min(a for _, _, a in x.what.reads if a >= age) - age  # iterations until somebody reads it
            if wait:
                soon = f"{outer.text(simple(Bin('+', node.lower, Int(wait))), 5)} {node.op} {outer.text(node.upper, 5)}"
                text = f"{soon} ? {text} : 0"
            ahead.append((f"{x.type} {x.names[age]} = {text};", ""))
        if x.what.last:
            after.append((f"{outside.access(s, _placed(at, node.var, node.lower), s.target)} = {x.names[1]};", s.name))
    for k, at in enumerate(body):
        s = scop.statement(at.stmt)
        given = {**known, **{(at, n): x.names[age] for x in kept for w, n, age in x.what.reads if w == k}}
        new = [x for x in kept if x.what.source[0] == k]
        given.update({(at, x.what.source[1]): x.names[0] for x in new if x.what.source[1] != s.target})
        printer = BodyAfter(scop, inner, held, given)
        for x in (x for x in new if x.what.source[1] != s.target):
            lines.append((f"const {x.type} {x.names[0]} = {printer.access(s, at, x.what.source[1])};", s.name))
        stored = next((x for x in new if x.what.source[1] == s.target), None)
        chosen, named = named_choices(printer, s, at, new_names)
        lines.extend((text, s.name) for text in (*named, *_statement(chosen, s, at, given, stored)))
    for x in kept:
        for age in range(x.what.length, 0, -1):
            lines.append((f"{x.names[age]} = {x.names[age - 1]};", ""))
    return CarriedLines(tuple(ahead), tuple(lines), tuple(after))


def _statement(
    printer: BodyAfter, s: Statement, at: Instance, given: Mapping[tuple[Instance, int], str], stored: _Kept | None
) -> list[str]:
    """One statement; what it stores goes through a variable where that is kept."""
    old = given.get((at, _old_value(s)))
    if stored is None and old is None:
        return [printer.statement(s, at)]
    value, target = printer.parts(s, at)
    if old is not None and s.op != "=":
        value = old + value[len(target) :]
    if stored is None:
        return [f"{target} = {value};"]
    memory = [] if stored.what.last else [f"{target} = {stored.names[0]};"]
    return [f"const {stored.type} {stored.names[0]} = {value};", *memory]


def _old_value(s: Statement) -> int:
    """The access by which `+=` reads its target; -1 for plain assignments."""
    spelled = {e.access for e in walk(s.rhs) if isinstance(e, (Ref, Gather))}
    return next((k for k, a in enumerate(s.accesses) if not a.write and k not in spelled), -1)


def _placed(at: Instance, var: str, value: CExpr) -> Instance:
    """The statement where the loop's variable has this value."""

    def put(e: CExpr) -> CExpr:
        return simple(substitute(e, {var: value}))

    accesses = tuple(tuple(map(put, a)) for a in at.accesses)
    return Instance(at.stmt, tuple(map(put, at.iterators)), accesses, tuple(map(put, at.values)))
