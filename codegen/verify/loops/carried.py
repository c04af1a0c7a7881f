"""Reads the printed text of loops with scalar replacement (elements kept in variables from iteration to iteration)
beside their form (`ast/lowered.py`); raises Unread where the text differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ast.ctree import Bin, Declare, For, Instance, Int
from codegen.ast.lowered import (
    Do,
    First,
    Index,
    InVariable,
    Item,
    Load,
    Move,
    One,
    ScalarReplacement,
    StoreValue,
    Value,
)
from codegen.lower.scalar_replacement import old_value
from codegen.lower.shift import simple
from codegen.patterns import pattern
from codegen.target.text.body import BodyAfter, BodyPrinter
from codegen.target.text.conditionals import named_choices
from codegen.verify.loops.cursor import Names
from codegen.verify.loops.scope import Place
from codegen.verify.text.read import Unread

if TYPE_CHECKING:
    from codegen.verify.loops.tree import TreeReader

_CHOICE = pattern(r"const .+? (\w+) = ")


def read_carried(tree: TreeReader, node: For, here: Place, known: dict[str, str]) -> None:
    """What is read ahead of the loop, the loop, and what is stored behind it; `known` are names of values ahead."""
    form = node.form
    assert isinstance(form, ScalarReplacement)
    reader = _Carried(tree, form, here)
    for name, text in known.items():
        reader.names[name], reader.owner[name] = text, f"ahead {name}"
    for x in form.first:
        reader.first(x)
    inner = tree.enter(node, here)
    slots = node.body.slots if isinstance(node.body, Declare) else ()
    tree.declared(slots, inner, reader.body)
    tree.cursor.expect("/for")
    for last in form.last:
        s = here.scop.statement(last.stmt)
        target = reader.element(here, last.stmt, s.target, last.index)
        tree.cursor.expect("stmt", f"{target} = {reader.name(last.name)};")


class _Carried:
    def __init__(self, tree: TreeReader, form: ScalarReplacement, here: Place) -> None:
        self.tree, self.cursor, self.form, self.here = tree, tree.cursor, form, here
        self.names: dict[str, str] = {}
        self.owner: dict[str, str] = {}

    def first(self, x: First) -> None:
        """An element of an iteration before the loop, where the loop is long enough to ask for it."""
        head, ints = self.form.head, self.here.ints
        text = self.element(self.here, x.stmt, x.access, x.index)
        if x.wait:
            begin = simple(Bin("+", head.lower, Int(x.wait)))
            text = f"{ints.text(begin, 5)} {head.op} {ints.text(head.upper, 5)} ? {text} : 0"
        self._declare(x.name, text, fixed=False)

    def body(self, now: Place) -> None:
        for x in self.form.body:
            self._item(x, now)

    def _item(self, x: Item, now: Place) -> None:
        if isinstance(x, Move):
            self.cursor.expect("stmt", f"{self.name(x.name)} = {self.name(x.source)};")
        elif isinstance(x, Load):
            if not isinstance(x.place, One):
                raise Unread("a variable is loaded with more than an element")
            self._declare(x.name, self.element(now, x.stmt, x.access, x.place.at), fixed=True)
        elif isinstance(x, StoreValue):
            s = now.scop.statement(x.work.at.stmt)
            target = BodyPrinter(now.scop, now.ints, now.held).access(s, x.work.at, s.target)
            self.cursor.expect("stmt", f"{target} = {self.name(x.name)};")
        elif isinstance(x, (Value, Do)):
            self._statement(x, now)
        else:
            raise Unread("a loop that keeps values does more than that")

    def _statement(self, x: Value | Do, now: Place) -> None:
        """One statement, whose old value may be in a variable."""
        s, at = now.scop.statement(x.work.at.stmt), x.work.at
        given = {(at, n): self.name(p.name) for n, p in enumerate(x.work.places) if isinstance(p, InVariable)}
        found: list[str] = []

        def next_name(stem: str, count: int) -> tuple[str, ...]:
            """The name that the text has for a choice."""
            m = _CHOICE.match(self.cursor.later(len(found)))
            if m is None or count != 1:
                raise Unread(f"a {stem} has no name")
            found.append(m[1])
            return (m[1],)

        plain = BodyAfter(now.scop, now.ints, now.held, given)
        chosen, lines = named_choices(plain, s, at, x.work.choices, next_name)
        for name, line in zip(found, lines, strict=True):
            self.cursor.expect("stmt", line)
            self.cursor.declare(name, "choice")
        old = given.get((at, old_value(s)))
        if isinstance(x, Do) and old is None:
            self.cursor.statement(chosen.statement(s, at))
            return
        value, target = chosen.parts(s, at)
        if old is not None and s.op != "=":
            value = old + value[len(target) :]
        if isinstance(x, Do):
            self.cursor.statement(f"{target} = {value};")
        else:
            self._declare(x.name, value, fixed=True)

    def _declare(self, variable: str, value: str, fixed: bool) -> None:
        name = self.cursor.variable(self._kind(variable), value, variable, fixed)
        self.names[variable], self.owner[variable] = name, variable

    def name(self, variable: str) -> str:
        text = Names(self.cursor, {self.owner.get(variable, variable): self.names.get(variable, "")})
        return text[self.owner.get(variable, variable)]

    def _kind(self, variable: str) -> str:
        """The type of a value that is kept, by its number."""
        number = variable.partition(".")[0]
        return self.here.scop.arrays[self.form.head.carried[int(number)].array].elem.spelling

    def element(self, here: Place, stmt: str, access: int, index: Index) -> str:
        s = here.scop.statement(stmt)
        at = Instance(stmt, (), (index,) * (access + 1), ())
        return BodyPrinter(here.scop, here.ints, here.held).access(s, at, access)

