"""Prints the lines of a loop under scalar replacement, which keeps array elements in variables from iteration to
iteration: what is loaded before the loop, its body, and what is stored after it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from codegen.ast.ctree import Bin, Held, Instance, Int
from codegen.ast.lowered import Do, First, Flush, InVariable, Item, Load, Move, ScalarReplacement, StoreValue, Value
from codegen.lower.scalar_replacement import old_value
from codegen.lower.shift import simple
from codegen.record import record
from codegen.scop.model import Scop, Statement
from codegen.target.text.body import BodyAfter, BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.conditionals import named_choices

NewNames = Callable[[str, int], tuple[str, ...]]


@record
class ReplacementLines:
    """What is printed, as (line, statement that it carries out): before the loop, in it, and after it."""

    ahead: tuple[tuple[str, str], ...]
    body: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]


def replacement_lines(
    scop: Scop,
    form: ScalarReplacement,
    ints: tuple[IntPrinter, IntPrinter],
    held: dict[str, Held],
    known: dict[str, str],
    new_names: NewNames,
) -> ReplacementLines:
    """The lines of a loop; `known` has the names of values that were read ahead of it. Integers outside and inside the
    loop have printers of their own."""
    outer, inner = ints
    names, kinds = dict(known), {}
    for i, c in enumerate(form.head.carried):
        array = scop.arrays[c.array]
        stem = re.sub(r"\W+", "_", array.base).strip("_")
        names |= {f"{i}.{age}": text for age, text in enumerate(new_names(stem, c.length + 1))}
        kinds[str(i)] = array.elem.spelling
    p = _Printer(scop, form, outer, inner, held, names, kinds, new_names)
    return ReplacementLines(
        tuple((p.first(x), "") for x in form.first),
        tuple(line for x in form.body for line in p.lines(x)),
        tuple((p.flush(x), x.stmt) for x in form.last),
    )


@record
class _Printer:
    scop: Scop
    form: ScalarReplacement
    outer: IntPrinter
    inner: IntPrinter
    held: dict[str, Held]
    names: dict[str, str]
    kinds: dict[str, str]  # of the values that are kept, by their numbers
    new_names: NewNames

    def first(self, x: First) -> str:
        head, text = self.form.head, self._element(self.outer, x.stmt, x.access, x.index)
        if x.wait:
            begin, end = simple(Bin("+", head.lower, Int(x.wait))), self.outer.text(head.upper, 5)
            text = f"{self.outer.text(begin, 5)} {head.op} {end} ? {text} : 0"
        return f"{self._kind(x.name)} {self.names[x.name]} = {text};"

    def flush(self, x: Flush) -> str:
        s = self.scop.statement(x.stmt)
        return f"{self._element(self.outer, x.stmt, s.target, x.index)} = {self.names[x.name]};"

    def lines(self, x: Item) -> Iterator[tuple[str, str]]:
        if isinstance(x, Move):
            yield f"{self.names[x.name]} = {self.names[x.source]};", ""
        elif isinstance(x, Load):
            assert not isinstance(x.place, InVariable)
            text = self._element(self.inner, x.stmt, x.access, x.place.at)
            yield f"const {self._kind(x.name)} {self.names[x.name]} = {text};", x.stmt
        elif isinstance(x, StoreValue):
            s = self.scop.statement(x.work.at.stmt)
            target = BodyPrinter(self.scop, self.inner, self.held).access(s, x.work.at, s.target)
            yield f"{target} = {self.names[x.name]};", s.name
        else:
            assert isinstance(x, (Value, Do))
            yield from self._statement(x)

    def _statement(self, x: Value | Do) -> Iterator[tuple[str, str]]:
        """One statement, whose old value may be in a variable."""
        s, at = self.scop.statement(x.work.at.stmt), x.work.at
        given = {(at, n): self.names[p.name] for n, p in enumerate(x.work.places) if isinstance(p, InVariable)}
        plain = BodyAfter(self.scop, self.inner, self.held, given)
        chosen, named = named_choices(plain, s, at, x.work.choices, self.new_names)
        yield from ((text, s.name) for text in named)
        old = given.get((at, old_value(s)))
        if isinstance(x, Do) and old is None:
            yield chosen.statement(s, at), s.name
            return
        value, target = chosen.parts(s, at)
        if old is not None and s.op != "=":
            value = old + value[len(target) :]
        into = target if isinstance(x, Do) else f"const {self._kind(x.name)} {self.names[x.name]}"
        yield f"{into} = {value};", s.name

    def _element(self, ints: IntPrinter, stmt: str, access: int, index: tuple) -> str:  # type: ignore[type-arg]
        s: Statement = self.scop.statement(stmt)
        at = Instance(stmt, (), (index,) * (access + 1), ())
        return BodyPrinter(self.scop, ints, self.held).access(s, at, access)

    def _kind(self, name: str) -> str:
        return self.kinds[name.partition(".")[0]]
