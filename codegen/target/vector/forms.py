"""Prints lowered loops (`ast/lowered.py`): vectors, unrolled rows, remainders. Nothing is decided here but names and
layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from codegen.ast.ctree import CNode, For, Held, Instance
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
    Join,
    Lanes,
    Lead,
    Load,
    Move,
    OverlappingSteps,
    Part,
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
from codegen.record import mutable, record
from codegen.scop.model import Scop
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View, fresh
from codegen.target.vector.lane_printer import LanePrinter, by_width_test, bytes_text, count_text, vector_type
from codegen.target.vector.reductions import begin_text, join_texts
from codegen.target.vector.row_pointers import with_rows

Names = Mapping[str, str]
Plainly = Callable[[CNode, Names, frozenset[str]], tuple[View, ...]]


@record
class PrintScope:
    """Where something is printed: names of loop variables and of variables of the form, and what is taken."""

    names: Names
    own: Names
    taken: frozenset[str]
    lanes: Lanes | None = None
    far: bool = False  # rows of an interleaved loop read what does not lie side by side

    def named(self, items: Sequence[Item | ReductionInit]) -> PrintScope:
        """With names for the variables of a body that have none yet."""
        found = dict.fromkeys(n for x in items for n in _variables(x) if n not in self.own)
        own, taken = dict(self.own), self.taken
        for first in dict.fromkeys(n.partition(".")[0] for n in found):
            numbers = [n.partition(".")[2] for n in found if n.partition(".")[0] == first]
            text = fresh(first.rstrip("'"), taken, tuple(numbers))
            own |= {f"{first}.{k}": f"{text}{k}" for k in numbers}
            taken |= {f"{text}{k}" for k in numbers}
        return replace(self, own=own, taken=taken)


def _variables(x: Item | ReductionInit) -> Iterator[str]:
    """The variables that an item of a body declares."""
    if isinstance(x, Braces):
        for item in x.body:
            yield from _variables(item)
    elif isinstance(x, ReductionInit):
        yield from x.names
    elif isinstance(x, (Load, Value, Zip)):
        yield x.name


def _items(parts: Sequence[Part]) -> Iterator[Item | ReductionInit]:
    """Everything in the bodies of the parts of a loop."""
    for p in parts:
        if isinstance(p, Enough):
            yield from p.ahead
            yield from _items((*p.then, *p.orelse))
        else:
            yield from p.body


@mutable
class FormPrinter:
    """Views of loops that have a form. `plain` prints a part of the tree."""

    scop: Scop
    ints: IntPrinter
    held: dict[str, Held]
    plain: Plainly

    def view(self, form: Form, taken: frozenset[str]) -> View:
        at = PrintScope(self.ints.names, {}, taken)
        assert not isinstance(form, ScalarReplacement)
        return self._abreast(form, at) if isinstance(form, Interleaved) else self._strips(form, at)

    def _ints(self, at: PrintScope) -> IntPrinter:
        return IntPrinter(self.ints.params, at.names, self.ints.helpers)

    def _past(self, node: For, at: PrintScope) -> str:
        ints = self._ints(at)
        return ints.text(node.upper) if node.op == "<" else f"{ints.text(node.upper, 5)} + 1"

    # -- loops ------------------------------------------------------------------------------------

    def _abreast(self, form: Interleaved, at: PrintScope) -> View:
        node = form.head
        name = fresh(node.loop.name, at.taken, ("_end",))
        end = f"{name}_end"
        here = replace(at, names={**at.names, node.var: name}, taken=at.taken | {name, end}, far=form.far)
        body = self._body(form.body, here.named(form.body))
        rest = View("for", f"; {name} < {end}; {name}++", body=self.plain(form.rest, here.names, here.taken))
        first = View("decl", f"long {name} = {self._ints(at).text(node.lower)};")
        last = View("decl", f"const long {end} = {self._past(node, at)};")
        choice = ""
        if form.kept:
            self.ints.helpers.add("tw_abreast")
            choice = "TW_ABREAST && "
        full = View("if", f"{choice}{end} - {name} == {form.count}", body=body, orelse=(rest,))
        return View("block", body=(first, last, full))

    def _strips(self, form: Strips, at: PrintScope) -> View:
        node = form.head
        name = fresh(node.loop.name, at.taken, ("_end", "_first"))
        taken = at.taken | {name, f"{name}_end", f"{name}_first"}
        here = PrintScope({**at.names, node.var: name}, at.own, taken, form.lanes)
        if form.lanes is not None:
            self.ints.helpers.add(vector_type(form.lanes))
        first = self._ints(at).text(node.lower)
        begin = [f"const long {name}_end = {self._past(node, at)};", f"long {name} = {first};"]
        if form.here:
            self.ints.helpers.add("tw_here")
            begin.append(f"TW_HERE({name});")
        here = here.named(tuple(_items(form.parts)))
        parts = (v for p in form.parts for v in self._part(p, name, here))
        return View("block", body=(*(View("decl", text) for text in begin), *parts))

    def _part(self, p: Part, name: str, at: PrintScope) -> Iterator[View]:
        end = f"{name}_end"
        if isinstance(p, Enough):
            parts = [list(self._part(x, name, at)) for x in p.then]
            lines = (self._begin(x, at) if isinstance(x, ReductionInit) else self._loaded(x, at) for x in p.ahead)
            ahead = [View("decl", text) for text in lines]
            after = [View("stmt", text, stmt=x.at.stmt) for x in p.after for text in self._end(x, at)]
            orelse = tuple(v for x in p.orelse for v in self._part(x, name, at))
            there = f"{name} + {count_text(at.lanes, p.step, -1)} < {end}"
            whole = (*ahead, *(v for views in parts for v in views), *after)
            body = with_rows(self.scop, p, name, whole, parts[0], at.taken) if at.lanes is not None else whole
            yield View("if", there, body=body, orelse=orelse)
            return
        if isinstance(p, While) and p.lanes is not None:
            at = replace(at, lanes=p.lanes)
            self.ints.helpers.add(vector_type(p.lanes))
        body = self._body(p.body, at)
        if isinstance(p, While):
            step = count_text(at.lanes, p.step)
            head = f"; {name} + {count_text(at.lanes, p.step, -1)} < {end}; {name} += {step}"
            single = (View("decl", "TW_ONE_BY_ONE();"),) if p.single else ()
            yield View("for", f"; {name} < {end}; {name}++" if p.step == 1 else head, p.note, body=(*single, *body))
        elif isinstance(p, OverlappingSteps):
            step = count_text(at.lanes, p.step)
            back = View("decl", f"{name} = tw_min({name}, {end} - {step});")
            yield View("for", f"; {name} < {end}; {name} += {step}", "the rest, and some again", body=(back, *body))
        elif isinstance(p, Lead):
            yield from body
            by = count_text(at.lanes, p.step) if p.until is None else f"1 + {self._until(p.until, at)}"
            yield View("decl", f"{name} += {by};")
        else:
            start = f"tw_min({end}, {name} + {self._until(p.until, at)})"
            yield View("decl", f"const long {name}_first = {name} < {end} ? {start} : {name};")
            each = (View("decl", "TW_ONE_BY_ONE();"), *body)
            yield View("for", f"; {name} < {name}_first; {name}++", "up to a whole vector", body=each)

    def _until(self, until: Until, at: PrintScope) -> str:
        s = self.scop.statement(until.at.stmt)
        target = BodyPrinter(self.scop, self._ints(at), self.held).access(s, until.at, s.target)
        return f"tw_until(&{target}, {bytes_text(at.lanes, until)}, {until.each})"

    def _inner(self, x: Inner, at: PrintScope) -> View:
        name = fresh(x.head.loop.name, at.taken)
        here = replace(at, names={**at.names, x.head.var: name}, taken=at.taken | {name})
        (loop,) = self.plain(x.head, at.names, at.taken)
        return replace(loop, body=self._body(x.body, here.named(x.body)))

    def _split(self, x: Split, at: PrintScope) -> View:
        """Before all lanes run, while they do, and after."""
        ints, name = self._ints(at), fresh(x.head.loop.name, at.taken, ("_from", "_past"))
        texts = f"{name}_from", f"{name}_past"
        names = {**at.names, **dict(zip(x.names, texts, strict=True))}
        here = replace(at, names=names, taken=at.taken | {name, *texts})
        return View("block", body=(
            View("decl", f"const long {texts[0]} = {ints.text(x.first)}; /* all lanes run from here */"),
            View("decl", f"const long {texts[1]} = {ints.text(x.past)};"),
            *((self._alone(x.before, here),) if x.before is not None else ()),
            self._together(x.middle, name, here),
            *((self._alone(x.after, here),) if x.after is not None else ()),
        ))

    def _alone(self, x: Alone, at: PrintScope) -> View:
        """A part of an inner loop, lane by lane."""
        lane, first = fresh("lane", at.taken), at.names[x.var]
        head = f"long {lane} = {first}; {lane} < {first} + {x.count}; {lane}++"
        return View("for", head, body=self.plain(x.head, {**at.names, x.var: lane}, at.taken | {lane}))

    def _together(self, x: Together, name: str, at: PrintScope) -> View:
        ints, node = self._ints(at), x.head
        here = replace(at, names={**at.names, node.var: name}, taken=at.taken | {name}).named(x.loads)
        ahead = [View("decl", self._loaded(load, here)) for load in x.loads]
        after = [View("decl", self._store(load, here)) for load in x.stores]
        begin, high = f"long {name} = {ints.text(node.lower)}", ints.text(node.upper, 5)
        step = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
        body = self._body(x.body, here.named(x.body))
        loop = View("for", f"{begin}; {name} {node.op} {high}; {step}", node.loop.note, body=body)
        if x.several:
            n = x.step
            block = self._body(x.several, here.named(x.several))
            several = View("for", f"; {name} + {n - 1} {node.op} {high}; {name} += {n}", f"{n} turned", body=block)
            rest = (View("for", f"; {name} {node.op} {high}; {step}", "the rest", body=body),) if x.rest else ()
            loop = View("block", body=(View("decl", f"{begin};"), several, *rest))
        if not x.loads:
            return loop
        runs = dict.fromkeys(f"{ints.text(t.lower, 5)} {t.op} {ints.text(t.upper, 5)}" for t in x.tests)
        whole = (*ahead, loop, *after)
        return View("if", " && ".join(runs), body=whole) if runs else View("block", body=whole)

    # -- bodies -----------------------------------------------------------------------------------

    def _body(self, body: Body, at: PrintScope) -> tuple[View, ...]:
        return tuple(v for k, x in enumerate(body) for v in (*self._item(x, at), *self._between(body[: k + 2], at)))

    def _between(self, items: Body, at: PrintScope) -> tuple[View, ...]:
        """What stands ahead of the last of these: after every second value of rows, where another one follows."""
        values = [isinstance(x, Value) for x in items]
        if not at.far or len(items) % 2 == 0 or not all(values[-3:]) or len(items) < 3:
            return ()
        self.ints.helpers.add("tw_next_rows")
        return (View("decl", "TW_NEXT_ROWS();"),)

    def _item(self, x: Item, at: PrintScope) -> Iterator[View]:
        if isinstance(x, Braces):
            yield View("block", body=self._body(x.body, at))
        elif isinstance(x, Strips):
            yield self._strips(x, at)
        elif isinstance(x, ByWidth):
            wide, narrow = (self._strips(each, at) for each in (x.wide, x.narrow))
            yield View("if", by_width_test(x), body=(wide,), orelse=(narrow,))
        elif isinstance(x, Inner):
            yield self._inner(x, at)
        elif isinstance(x, Split):
            yield self._split(x, at)
        elif isinstance(x, Together):
            yield self._together(x, fresh(x.head.loop.name, at.taken, ("_from", "_past")), at)
        elif isinstance(x, Plain):
            yield from self.plain(x.node, at.names, at.taken)
        elif isinstance(x, Load):
            yield View("stmt", self._loaded(x, at), stmt=x.stmt)
        elif isinstance(x, Move):
            yield View("decl", f"{at.own[x.name]} = {at.own[x.source]};")
        elif isinstance(x, Zip):
            yield View("stmt", self._zip(x, at), stmt=x.stmt)
        else:
            yield from self._statement(x, at)

    def _statement(self, x: Value | StoreValue | PutBoth | Do, at: PrintScope) -> Iterator[View]:
        work = x.first if isinstance(x, PutBoth) else x.work
        s, printer = self.scop.statement(work.at.stmt), self._printer(work, at)
        if isinstance(x, Value):
            elem = self.scop.arrays[s.accesses[s.target].array].elem
            kind = vector_type(at.lanes) if work.places and at.lanes is not None else elem.spelling
            texts: tuple[str, ...] = (f"const {kind} {at.own[x.name]} = {printer.parts(s, work.at)[0]};",)
        elif isinstance(x, Do):
            value, target = printer.parts(s, work.at)
            texts = (f"{target} = {value};",)
        elif isinstance(x, StoreValue):
            texts = printer.put(s, work.at, at.own[x.name])
        else:
            assert isinstance(printer, LanePrinter)
            texts = printer.put_both(s, (at.own[x.names[0]], at.own[x.names[1]]))
        yield from (View("stmt", text, stmt=s.name) for text in texts)

    def _printer(self, work: Work, at: PrintScope) -> BodyPrinter:
        if not work.places:
            return BodyPrinter(self.scop, self._ints(at), self.held)
        assert at.lanes is not None
        return LanePrinter(self.scop, self._ints(at), self.held, at.lanes, at.own, work)

    def _access(self, x: Load, at: PrintScope) -> str:
        """What a variable is loaded with."""
        assert at.lanes is not None
        s = self.scop.statement(x.stmt)
        work = Work(Instance(x.stmt, (), (), ()))
        return LanePrinter(self.scop, self._ints(at), self.held, at.lanes, at.own, work).at_place(s, x.access, x.place)

    def _loaded(self, x: Load, at: PrintScope) -> str:
        assert at.lanes is not None
        return f"{'const ' if x.fixed else ''}{vector_type(at.lanes)} {at.own[x.name]} = {self._access(x, at)};"

    def _store(self, x: Load, at: PrintScope) -> str:
        return f"{self._access(x, at)} = {at.own[x.name]};"

    def _zip(self, x: Zip, at: PrintScope) -> str:
        assert at.lanes is not None
        kind = vector_type(at.lanes)
        self.ints.helpers.add(f"{kind}_low")
        sides = ", ".join(at.own[n] for n in x.of)
        return f"const {kind} {at.own[x.name]} = {kind}_{'high' if x.second else 'low'}({sides});"

    def _begin(self, x: ReductionInit, at: PrintScope) -> str:
        assert at.lanes is not None
        target = BodyPrinter(self.scop, self._ints(at), self.held)
        s = self.scop.statement(x.at.stmt)
        return begin_text(at.lanes, x.op, target.access(s, x.at, s.target), [at.own[n] for n in x.names])

    def _end(self, x: Join, at: PrintScope) -> list[str]:
        assert at.lanes is not None
        target = BodyPrinter(self.scop, self._ints(at), self.held)
        s = self.scop.statement(x.at.stmt)
        own = [at.own[n] for n in x.names]
        return join_texts(at.lanes, x.op, target.access(s, x.at, s.target), own, self.ints.helpers)
