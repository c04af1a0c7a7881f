"""Reads the text of a C tree beside it: loops, conditions, declarations and statements, in their order.

Expressions are compared with what their printer makes of the node. Everything else is read from the text: names of
counters, types, first values, bounds and steps of loops, what stands in which branch, and what is declared where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from codegen.ast.ctree import (
    Bin,
    Block,
    ByThreads,
    CNode,
    Declare,
    For,
    Held,
    If,
    Instance,
    Int,
    Name,
    ProductNode,
    walk,
)
from codegen.ast.lowered import Form, ScalarReplacement
from codegen.ast.pipelines import stage_of
from codegen.lower.conditions import without_condition
from codegen.lower.shift import simple
from codegen.patterns import pattern
from codegen.scop.expr import DataLoop, Ternary
from codegen.scop.expr import walk as walk_expr
from codegen.target.pragmas import few_threads
from codegen.target.text.body import BodyAfter, BodyPrinter
from codegen.verify.loops.cursor import Cursor
from codegen.verify.loops.declared import declaration, omitted
from codegen.verify.loops.gathered import Gathered
from codegen.verify.loops.scope import Place
from codegen.verify.text.read import Unread

HEAD = pattern(r"(long|int) (\w+) = ")
_LITTLE = pattern(r"\(double\)(.*) (?:<|>=) TW_PARALLEL_MIN(?: && tw_max_threads\(\) > 1)?")
_COMPARISON = pattern(r"[<>=!]=")
_TURN = pattern(r"long (\w+) = tw_thread\(\); ")
_LINE = "tw_place tw_line[TW_LINE];"


class TreeReader:
    """Reads on from where its cursor is. `loops` are those that have been read, with what they are in the tree."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.loops: list[tuple[int, For]] = []

    def node(self, node: CNode, here: Place) -> None:
        """Raises Unread unless the text that follows is that of the node."""
        if isinstance(node, Block):
            rest = node.children
            while rest:
                rest = rest[self.first_of(rest, here) :]
        elif isinstance(node, Instance):
            self._statement(node, here)
        elif isinstance(node, If):
            self._if(node, here)
        elif isinstance(node, Declare):
            self._declare(node, here)
        elif isinstance(node, ByThreads):
            self._by_threads(node, here)
        elif isinstance(node, ProductNode):
            self.product(node, here)
        else:
            self.loop(node, here)

    def first_of(self, nodes: Sequence[CNode], here: Place) -> int:
        """Reads the first of nodes, with others that share its text; gives how many those are."""
        self.node(nodes[0], here)
        return 1

    def product(self, node: ProductNode, here: Place) -> None:
        raise Unread("a product stands where none is read")

    # -- statements and conditions -----------------------------------------------------------------

    def _statement(self, node: Instance, here: Place) -> None:
        s = here.scop.statement(node.stmt)
        printer = BodyAfter(here.scop, here.ints, here.held, here.known)
        if any(isinstance(e, DataLoop) for e in walk_expr(s.rhs)):
            from codegen.verify.loops.data_loops import read_code

            read_code(self.cursor, printer, s, node)
        else:
            self.cursor.statement(printer.statement(s, node))

    def _if(self, node: If, here: Place) -> None:
        cond = here.ints.settled(node.cond)
        if isinstance(cond, Int):  # by types alone
            taken = node.then if cond.value else node.orelse
            if taken is not None:
                self.node(taken, here)
            return
        self.cursor.expect("if", here.ints.text(cond))
        self.node(node.then, here)
        if node.orelse is not None:
            if self.cursor.peek().kind == "else":
                self.cursor.take()
            self.node(node.orelse, here)
        self.cursor.expect("/if")

    def _by_threads(self, node: ByThreads, here: Place) -> None:
        """Either way does all of the work, so that any test would do which changes nothing."""
        if here.inside or here.names:
            raise Unread("the number of threads is asked inside of loops")
        self.cursor.expect("if", few_threads(node, here.ints))
        self.node(node.few, here)
        self.cursor.expect("else")
        self.node(node.many, here)
        self.cursor.expect("/if")

    def _declare(self, node: Declare, here: Place) -> None:
        self.declared(node.slots, here, lambda now: self.node(node.body, now))

    def declared(self, slots: Sequence[Held], here: Place, body: Callable[[Place], None]) -> None:
        """Declarations, and what stands behind them. One that is not used may be left out."""
        cursor, found, absent = self.cursor, [], []
        for h in slots:
            name = here.scop.arrays[h.array].name
            if cursor.next_statement() in declaration(here.scop, h, here.inside):
                cursor.take()
                cursor.known(name, f"held {name}")
                found.append(name)
            else:
                absent.append(name)
        first = cursor.at
        body(replace(here, held={**here.held, **{h.array: h for h in slots}}))
        for name in found:
            cursor.check_alive(name, f"held {name}")
        omitted(absent, cursor.events[first : cursor.at])

    # -- loops -------------------------------------------------------------------------------------

    def loop(self, node: For, here: Place) -> None:
        if node.form is not None and not isinstance(node.form, ScalarReplacement):
            self._form(node.form, here)
        elif node.lets:
            self._lets(node, here)
        elif node.asked:
            self._asked(node, here)
        elif self.cursor.next_statement() == _LINE:
            self._pipeline(node, here)
        elif isinstance(node.form, ScalarReplacement) or node.ahead:
            self._ahead(node, here)
        else:
            self._shared_out(node, here)

    def _form(self, form: Form, here: Place) -> None:
        from codegen.verify.loops.forms import FormReader

        FormReader(self, here).form(form)

    def _lets(self, node: For, here: Place) -> None:
        """Values that are computed ahead of the loop; those that it does not use may be missing."""
        given: dict[str, str] = {}
        for variable, e in node.lets:
            name = self.cursor.named("long", here.ints.text(e))
            if name:
                self.cursor.take()
                self.cursor.declare(name, variable)
                given[variable] = name
        self.loop(replace(node, lets=()), replace(here, names={**here.names, **given}))
        for variable, name in given.items():
            self.cursor.check_alive(name, variable)

    def _asked(self, node: For, here: Place) -> None:
        """A condition that all statements of the loop share."""
        inside = [x for x in walk(node.body) if isinstance(x, Instance)]
        s = here.scop.statement(inside[0].stmt)
        if not isinstance(s.rhs, Ternary):
            raise Unread("a condition is asked that no statement has")
        cond = BodyPrinter(here.scop, here.ints, here.held).value(s.rhs.cond, s, inside[0])
        self.cursor.expect("if", f"{_runs(node, here)} && ({cond})" if node.asked[0] else cond)
        bare = {x.stmt: without_condition(here.scop.statement(x.stmt)) for x in inside}
        scop = replace(here.scop, statements=tuple(bare.get(q.name, q) for q in here.scop.statements))
        self.loop(replace(node, asked=node.asked[1:]), replace(here, scop=scop))
        self.cursor.expect("/if")

    def _ahead(self, node: For, here: Place) -> None:
        """Values that are read ahead of a loop, if it runs at all."""
        cursor, tested = self.cursor, self._if_it_runs(node, here)
        printer, given = BodyPrinter(here.scop, here.ints, here.held), dict[str, str]()
        for x in node.ahead:
            if x.name in given:
                continue
            s = here.scop.statement(x.at.stmt)
            kind = here.scop.arrays[s.accesses[x.access].array].elem.spelling
            given[x.name] = cursor.variable(kind, printer.access(s, x.at, x.access), f"ahead {x.name}")
        known = {(x.at, x.access): given[x.name] for x in node.ahead}
        if isinstance(node.form, ScalarReplacement):
            from codegen.verify.loops.carried import read_carried

            read_carried(self, node, here, {x.name: given[x.name] for x in node.ahead})
        else:
            self._shared_out(node, replace(here, known=known))
        for variable, name in given.items():
            cursor.check_alive(name, f"ahead {variable}")
        if tested:
            cursor.expect("/if")

    def _if_it_runs(self, node: For, here: Place) -> bool:
        """Whether it is asked if the loop runs, which has to be so unless it does for sure."""
        if self.cursor.peek().kind == "if":
            self.cursor.expect("if", _runs(node, here))
            return True
        if not node.sure and here.ints.settled(Bin(node.op, node.lower, node.upper)) != Int(1):
            raise Unread(f"what loop `{node.loop.name}` needs is read where it may not run")
        return False

    def _shared_out(self, node: For, here: Place) -> None:
        """A loop, or two of them of which one runs on threads, among variables for what it gathers."""
        gathered = Gathered(self.cursor, here.scop, node)
        gathered.begin()
        if self.cursor.peek().kind == "if":
            if not asks_for_work(self.cursor.take().text):
                raise Unread(f"loop `{node.loop.name}` stands behind a condition that it does not have")
            self._one_of_two(node, here)
            self.cursor.expect("else")
            self._one_of_two(node, here)
            self.cursor.expect("/if")
        else:
            self.plain_loop(node, here)
        gathered.end()

    def _one_of_two(self, node: For, here: Place) -> None:
        """The loop for threads, or for one: that may have a form of its own."""
        if node.alone is not None and self.cursor.peek().kind == "stmt":
            self._form(node.alone, here)
        else:
            self.plain_loop(node, here)

    def plain_loop(self, node: For, here: Place) -> None:
        inner = self.enter(node, here)
        stage = here.stage if here.stage is not None and here.stage[0] is node else None
        name = inner.names[node.var]
        if stage is not None:
            self.cursor.expect("stmt", f"tw_follow(tw_line, {stage[1]}, {name});")
        self.node(node.body, inner)
        if stage is not None:
            self.cursor.expect("stmt", f"tw_reach(tw_line, {name});")
        self.cursor.expect("/for")

    def enter(self, node: For, here: Place) -> Place:
        """Reads what stands ahead of a loop and its head: the place inside it."""
        pragma = self.cursor.pragma()
        head = self.cursor.expect("for").text
        m = HEAD.match(head)
        if m is None:
            raise Unread(f"`{head}` is no loop with a counter")
        name, ints = m[2], here.ints
        step = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
        low, high = ints.text(node.lower), ints.text(node.upper, 5)
        if head != f"{'int' if node.narrow else 'long'} {name} = {low}; {name} {node.op} {high}; {step}":
            raise Unread(f"`{head}` is not loop `{node.loop.name}`, {low} to {high}")
        self.cursor.declare(name, node.var)
        self.loops.append((len(self.cursor.log) - 1, node))
        narrow = here.narrow | {node.var} if node.narrow else here.narrow - {node.var}
        threads = here.inside or " parallel" in pragma or " for" in pragma
        return replace(here, names={**here.names, node.var: name}, narrow=narrow, inside=threads)

    def _pipeline(self, node: For, here: Place) -> None:
        """Iterations that threads take in turn. What that covers is shown in pipelines.py."""
        cursor, stage = self.cursor, stage_of(node)
        cursor.expect("stmt", _LINE)
        cursor.expect("stmt", "tw_begin(tw_line);")
        cursor.pragma()
        head = cursor.expect("for").text
        m = _TURN.match(head)
        if m is None or stage is None or here.inside:
            raise Unread("a pipeline of another form")
        turn = m[1]
        cursor.declare(turn, turn)
        self.loops.append((len(cursor.log) - 1, node))
        ints = replace(here, names={**here.names, turn: turn}).ints
        value = ints.text(simple(Bin("+", node.lower, Bin("*", Int(node.step), Name(turn)))))
        if head != f"{m[0]}{value} {node.op} {ints.text(node.upper, 5)}; {turn} += tw_team_size()":
            raise Unread(f"`{head}` is not loop `{node.loop.name}`")
        names = dict(here.names)
        if cursor.next_statement().startswith("const long "):
            names[node.var] = cursor.variable("long", value, node.var)
        cursor.expect("stmt", f"tw_enter(tw_line, {turn});")
        self.node(node.body, replace(here, names=names, inside=True, stage=(stage, turn)))
        cursor.expect("stmt", f"tw_follow(tw_line, {turn}, TW_LAST);")
        cursor.expect("stmt", "tw_reach(tw_line, TW_LAST);")
        cursor.expect("/for")


def _runs(node: For, here: Place) -> str:
    return f"{here.ints.text(node.lower, 5)} {node.op} {here.ints.text(node.upper, 5)}"


def asks_for_work(test: str) -> bool:
    """Does a test ask how much there is to do, and change nothing?"""
    m = _LITTLE.fullmatch(test)
    return m is not None and not any(x in _COMPARISON.sub("", m[1]) for x in ("=", "++", "--", ";", "{"))
