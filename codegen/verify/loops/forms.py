"""Reads the printed text of lowered loops beside their form (`ast/lowered.py`): vectors and what is left before and
after them, rows side by side, loops inside that run in all lanes. Raises Unread where the text differs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ast.ctree import For, Instance
from codegen.ast.lowered import (
    Alone,
    Body,
    Braces,
    ByWidth,
    Do,
    Enough,
    Form,
    Inner,
    Interleaved,
    Item,
    Lanes,
    Lead,
    Load,
    Move,
    OverlappingSteps,
    Part,
    Peel,
    Plain,
    PutBoth,
    ReductionInit,
    ScalarReplacement,
    Split,
    StoreValue,
    Strips,
    Together,
    Until,
    Value,
    While,
    Work,
    Zip,
)
from codegen.target.text.body import BodyPrinter
from codegen.target.vector.lane_printer import LanePrinter, by_width_test, bytes_text, count_text, vector_type
from codegen.verify.loops.cursor import Names
from codegen.verify.loops.joins import read_join, read_start
from codegen.verify.loops.row_pointers import check_followed, read_rows
from codegen.verify.loops.scope import Place
from codegen.verify.text.read import Unread

if TYPE_CHECKING:
    from codegen.verify.loops.tree import TreeReader


class FormReader:
    """Reads one form from where the reader of the tree is."""

    def __init__(self, tree: TreeReader, here: Place) -> None:
        self.tree, self.cursor, self.here = tree, tree.cursor, here

    def form(self, form: Form) -> None:
        if isinstance(form, ScalarReplacement):
            raise Unread("a loop of another form")
        here = replace(self.here, own={}, lanes=None)
        if isinstance(form, Interleaved):
            self._interleaved(form, here)
        else:
            self._strips(form, here)

    # -- loops -------------------------------------------------------------------------------------

    def _interleaved(self, form: Interleaved, at: Place) -> None:
        node = form.head
        name = self.cursor.variable("long", at.ints.text(node.lower), node.var, fixed=False)
        end = self._end_of(node, name, at)
        here = replace(at, names={**at.names, node.var: name})
        choice = "TW_ABREAST && " if form.kept else ""  # whatever it is: both branches run all iterations that are left
        self.cursor.expect("if", f"{choice}{end} - {name} == {form.count}")
        self._body(form.body, here)
        self.cursor.expect("else")
        self.cursor.expect("for", f"; {name} < {end}; {name}++")
        self.tree.node(form.rest, here)
        self.cursor.expect("/for")
        self.cursor.expect("/if")
        self._check_alive(node, name)

    def _strips(self, form: Strips, at: Place) -> None:
        node = form.head
        text = self.cursor.next_statement()
        m = re.match(r"const long (\w+)_end = ", text)
        if m is None:
            raise Unread(f"`{text or self.cursor.peek().kind}` stands where loop `{node.loop.name}` should begin")
        end = self._end_of(node, m[1], at)
        name = self.cursor.variable("long", at.ints.text(node.lower), node.var, fixed=False)
        if end != f"{name}_end":
            raise Unread(f"loop `{node.loop.name}` has the end of another one")
        if form.here:
            self.cursor.expect("stmt", f"TW_HERE({name});")
        here = replace(at, names={**at.names, node.var: name}, lanes=form.lanes)
        self._parts(form.parts, name, here)
        self._check_alive(node, name)

    def _end_of(self, node: For, name: str, at: Place) -> str:
        """The variable for where a loop ends."""
        past = at.ints.text(node.upper) if node.op == "<" else f"{at.ints.text(node.upper, 5)} + 1"
        found = self.cursor.variable("long", past, f"end of {node.var}", fixed=True)
        if found != f"{name}_end" or node.op not in ("<", "<=") or node.step != 1:
            raise Unread(f"loop `{node.loop.name}` has an end of another form")
        return found

    def _check_alive(self, node: For, name: str) -> None:
        self.cursor.check_alive(name, node.var)
        self.cursor.check_alive(f"{name}_end", f"end of {node.var}")

    def _parts(self, parts: Sequence[Part], name: str, at: Place) -> None:
        for p in parts:
            if isinstance(p, Enough):
                self._enough(p, name, at)
            else:
                self._part(p, name, at)

    def _enough(self, p: Enough, name: str, at: Place) -> None:
        self.cursor.expect("if", f"{name} + {count_text(at.lanes, p.step, -1)} < {name}_end")
        here, rows = at, read_rows(self.cursor, at.scop, p, name)
        for x in p.ahead:
            here = self._starts(x, here) if isinstance(x, ReductionInit) else self._load(x, here)
        start = len(self.cursor.log)
        self._parts(p.then[:1], name, here)
        if rows:
            check_followed(p, rows, self.cursor.log[start:])
        self._parts(p.then[1:], name, here)
        for join in p.after:
            own = [self._own(here)[n] for n in join.names]
            read_join(self.cursor, _lanes(here), join.op, self._target(join.at, here), own)
        if p.orelse:
            self.cursor.expect("else")
            self._parts(p.orelse, name, at)
        self.cursor.expect("/if")

    def _starts(self, x: ReductionInit, at: Place) -> Place:
        found = read_start(self.cursor, _lanes(at), x.op, self._target(x.at, at), len(x.names))
        for own, name in zip(x.names, found, strict=True):
            self.cursor.declare(name, own)
        return replace(at, own={**at.own, **dict(zip(x.names, found, strict=True))})

    def _part(self, p: While | OverlappingSteps | Lead | Part, name: str, at: Place) -> None:
        if isinstance(p, While) and p.lanes is not None:
            at = replace(at, lanes=p.lanes)
        end, step = f"{name}_end", "" if isinstance(p, Peel) else count_text(at.lanes, p.step)
        if isinstance(p, While):
            steps = f"; {name} + {count_text(at.lanes, p.step, -1)} < {end}; {name} += {step}"
            self.cursor.expect("for", f"; {name} < {end}; {name}++" if p.step == 1 else steps)
            if p.single:
                self.cursor.expect("stmt", "TW_ONE_BY_ONE();")
        elif isinstance(p, OverlappingSteps):
            self.cursor.expect("for", f"; {name} < {end}; {name} += {step}")
            self.cursor.expect("stmt", f"{name} = tw_min({name}, {end} - {step});")
        elif isinstance(p, Lead):
            self._body(p.body, at)
            by = f"1 + {self._until(p.until, at)}" if p.until is not None else step
            self.cursor.expect("stmt", f"{name} += {by};")
            return
        else:
            assert not isinstance(p, Enough)
            first = f"{name} < {end} ? tw_min({end}, {name} + {self._until(p.until, at)}) : {name}"
            if self.cursor.variable("long", first, "a whole vector's first", fixed=True) != f"{name}_first":
                raise Unread("a loop up to a whole vector has another end")
            self.cursor.expect("for", f"; {name} < {name}_first; {name}++")
            self.cursor.expect("stmt", "TW_ONE_BY_ONE();")
        self._body(p.body, at)
        self.cursor.expect("/for")

    def _until(self, until: Until, at: Place) -> str:
        return f"tw_until(&{self._target(until.at, at)}, {bytes_text(at.lanes, until)}, {until.each})"

    def _target(self, x: Instance, at: Place) -> str:
        s = at.scop.statement(x.stmt)
        return BodyPrinter(at.scop, at.ints, at.held).access(s, x, s.target)

    def _inner(self, x: Inner, at: Place) -> None:
        if x.head.form is not None or x.head.lets or x.head.asked or x.head.ahead:
            raise Unread("a loop inside is more than a loop")
        self._body(x.body, self.tree.enter(x.head, at))
        self.cursor.expect("/for")

    def _split(self, x: Split, at: Place) -> None:
        """Before all lanes run, while they do, and after."""
        ends = [self.cursor.variable("long", at.ints.text(e), v, fixed=True)
                for e, v in zip((x.first, x.past), x.names, strict=True)]  # fmt: skip
        here = replace(at, names={**at.names, **dict(zip(x.names, ends, strict=True))})
        if x.before is not None:
            self._alone(x.before, here)
        self._together(x.middle, here)
        if x.after is not None:
            self._alone(x.after, here)
        for variable, name in zip(x.names, ends, strict=True):
            self.cursor.check_alive(name, variable)

    def _alone(self, x: Alone, at: Place) -> None:
        """A part of an inner loop, lane by lane."""
        first, head = Names(self.cursor, at.names)[x.var], self.cursor.expect("for").text
        m = re.match(r"long (\w+) = ", head)
        if m is None or head != f"long {m[1]} = {first}; {m[1]} < {first} + {x.count}; {m[1]}++":
            raise Unread(f"`{head}` is no loop over {x.count} lanes")
        self.cursor.declare(m[1], x.var)
        self.tree.node(x.head, replace(at, names={**at.names, x.var: m[1]}, own={}, lanes=None))
        self.cursor.expect("/for")

    def _together(self, x: Together, at: Place) -> None:
        node, tested = x.head, False
        if x.loads:
            runs = dict.fromkeys(f"{at.ints.text(t.lower, 5)} {t.op} {at.ints.text(t.upper, 5)}" for t in x.tests)
            tested = bool(runs)
            if tested:
                self.cursor.expect("if", " && ".join(runs))
        here = at
        for load in x.loads:
            here = self._load(load, here)
        if x.several:
            self._turned(x, here)
        else:
            inside = self.tree.enter(node, here)
            self._body(x.body, inside)
            self.cursor.expect("/for")
        for load in x.stores:
            self.cursor.expect("stmt", f"{self._loaded(load, here)} = {self._own(here)[load.name]};")
        if tested:
            self.cursor.expect("/if")

    def _turned(self, x: Together, at: Place) -> None:
        """As many iterations at once as there are lanes, and the rest one by one."""
        node, n = x.head, x.step
        high = at.ints.text(node.upper, 5)
        name = self.cursor.variable("long", at.ints.text(node.lower), node.var, fixed=False)
        here = replace(at, names={**at.names, node.var: name})
        self.cursor.expect("for", f"; {name} + {n - 1} {node.op} {high}; {name} += {n}")
        self._body(x.several, here)
        self.cursor.expect("/for")
        if x.rest:
            step = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
            self.cursor.expect("for", f"; {name} {node.op} {high}; {step}")
            self._body(x.body, here)
            self.cursor.expect("/for")
        self.cursor.check_alive(name, node.var)

    # -- bodies ------------------------------------------------------------------------------------

    def _body(self, body: Body, at: Place) -> None:
        for x in body:
            at = self._item(x, at)

    def _item(self, x: Item, at: Place) -> Place:
        """Reads one, and gives what is known behind it."""
        if isinstance(x, Load):
            return self._load(x, at)
        if isinstance(x, Value):
            return self._value(x, at)
        if isinstance(x, Zip):
            kind, own = vector_type(_lanes(at)), self._own(at)
            half = f"{kind}_{'high' if x.second else 'low'}({', '.join(own[n] for n in x.of)})"
            return self._named(x.name, kind, half, at, fixed=True)
        if isinstance(x, Braces):
            self._body(x.body, at)
        elif isinstance(x, Strips):
            self._strips(x, at)
        elif isinstance(x, ByWidth):
            self.cursor.expect("if", by_width_test(x))
            self._strips(x.wide, at)
            self.cursor.expect("else")
            self._strips(x.narrow, at)
            self.cursor.expect("/if")
        elif isinstance(x, Inner):
            self._inner(x, at)
        elif isinstance(x, Split):
            self._split(x, at)
        elif isinstance(x, Together):
            self._together(x, at)
        elif isinstance(x, Plain):
            self.tree.node(x.node, replace(at, own={}, lanes=None))
        else:
            self._store(x, at)
        return at

    def _store(self, x: Move | StoreValue | PutBoth | Do, at: Place) -> None:
        own = self._own(at)
        if isinstance(x, Move):
            self.cursor.expect("stmt", f"{own[x.name]} = {own[x.source]};")
            return
        work = x.first if isinstance(x, PutBoth) else x.work
        s, printer = at.scop.statement(work.at.stmt), self._printer(work, at)
        if isinstance(x, Do):
            value, target = printer.parts(s, work.at)
            texts: tuple[str, ...] = (f"{target} = {value};",)
        elif isinstance(x, StoreValue):
            texts = printer.put(s, work.at, own[x.name])
        else:
            assert isinstance(printer, LanePrinter)
            texts = printer.put_both(s, (own[x.names[0]], own[x.names[1]]))
        for text in texts:
            self.cursor.statement(text)

    def _value(self, x: Value, at: Place) -> Place:
        s, printer = at.scop.statement(x.work.at.stmt), self._printer(x.work, at)
        elem = at.scop.arrays[s.accesses[s.target].array].elem
        kind = vector_type(at.lanes) if x.work.places and at.lanes is not None else elem.spelling
        return self._named(x.name, kind, printer.parts(s, x.work.at)[0], at, fixed=True)

    def _load(self, x: Load, at: Place) -> Place:
        return self._named(x.name, vector_type(_lanes(at)), self._loaded(x, at), at, x.fixed)

    def _loaded(self, x: Load, at: Place) -> str:
        """What a variable is loaded with."""
        work = Work(Instance(x.stmt, (), (), ()))
        printer = LanePrinter(at.scop, at.ints, at.held, _lanes(at), self._own(at), work)
        return printer.at_place(at.scop.statement(x.stmt), x.access, x.place)

    def _printer(self, work: Work, at: Place) -> BodyPrinter:
        if not work.places:
            return BodyPrinter(at.scop, at.ints, at.held)
        return LanePrinter(at.scop, at.ints, at.held, _lanes(at), self._own(at), work)

    def _own(self, at: Place) -> Names:
        return Names(self.cursor, at.own)

    def _named(self, variable: str, kind: str, value: str, at: Place, fixed: bool) -> Place:
        """With the name of a variable of the form, which has to be declared here."""
        return replace(at, own={**at.own, variable: self.cursor.variable(kind, value, variable, fixed)})


def _lanes(at: Place) -> Lanes:
    if at.lanes is None:
        raise Unread("a vector stands where there are no lanes")
    return at.lanes
