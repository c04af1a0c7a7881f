"""Proof of what ranks run around phases (`check_ranks`): the views of a region are read beside the proven loops and
sets, and Unproven is raised where they differ.

Phases stand where the loops around them have them, each with the block that is this rank's. Behind each of them, and at
both ends, the elements of messages are those of the proven loops. Whoever sends a message and whoever receives it run
the same text, in which nothing depends on the rank but the blocks of the two, so both have its elements in one order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

import islpy as isl

from codegen.ast.ctree import Block, CNode, For, If, Instance, Name
from codegen.mpi.blocks import GIVER, MINE, PANEL, STEPS, TAKER, RankBlocks, blocks_for
from codegen.mpi.messages import START, WIDE, Exchange
from codegen.mpi.panels.buffers import PANELS
from codegen.mpi.phase_program import outer_names
from codegen.mpi.phases import JOINED, Phase, Unproven
from codegen.mpi.text.near import none_farther, read_near
from codegen.mpi.text.read_elements import ElementReader, Row, counter_of
from codegen.mpi.text.read_panels import PanelText
from codegen.mpi.text.views import RankViews, StepsOfRank
from codegen.mpi.trees import MessageLoops, ModelLoops
from codegen.patterns import pattern
from codegen.region import ProvenRegion as Result
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View, words_of
from codegen.target.view import reserved
from codegen.verify.guards import Parameters
from codegen.verify.text.read import Node, Unread, read_expression, read_statements

_WAIT = "tw_wait();"
_MESSAGES = "tw_messages()"
_HELD = pattern(r"tw_(?:enter_blocks|leave_blocks|outside|whole_box)\(.*\);")
_DEPTH = pattern(r"const long tw_depth = tw_wide_steps\(.*\);")
_FEW = pattern(rf"tw_few_tiles\({STEPS[1]} - {STEPS[0]}, \d+\)")
_TYPES = {("float", 64): "MPI_DOUBLE", ("float", 32): "MPI_FLOAT"}


def check_ranks(ranks: RankViews, around: ModelLoops, views: Sequence[View]) -> None:
    """Raises Unproven unless the views of a region run its phases and exchange its messages as it was proven."""
    try:
        _RankReader(ranks, around).region(Row(views))
    except Unread as problem:
        raise Unproven(f"what was printed around phases could not be proven: {problem}") from None


class _RankReader:
    def __init__(self, ranks: RankViews, around: ModelLoops) -> None:
        self.ranks, self.around, self.scop = ranks, around, ranks.scop
        self.taken = reserved(ranks.scop)
        self.ends = {name for b in ranks.blocks for w in (MINE, GIVER, TAKER) for name in b.ends(w)}

    def region(self, row: Row) -> None:
        known = frozenset[str]() if self.ranks.cyclic else self._blocks(row, MINE, "tw_rank()")
        self._held(row)
        if self.ranks.steps is None:
            self._shared(row, known)
        else:
            self._in_steps(row, known)
        last = self._moved("")
        if last is not None:
            self._exchange(row, last, {}, known)
        elif self.ranks.early:
            row.text(_WAIT)
        self._held(row)
        row.end()

    def _held(self, row: Row) -> None:
        """For tests alone: ranks lose what they do not hold, and have everything at the end."""
        while row.next_text() and _HELD.fullmatch(row.next_text()):
            row.text(row.next_text())

    def _shared(self, row: Row, known: frozenset[str]) -> None:
        first = self._moved(START)
        if first is not None:
            self._exchange(row, first, {}, known)
        self._around(row, self.around.code, {}, known)

    def _in_steps(self, row: Row, known: frozenset[str]) -> None:
        """Several steps without a message where that is better, else with one each."""
        assert self.ranks.steps is not None
        x = self.ranks.steps.found
        if not _DEPTH.fullmatch(row.next_text()):
            raise Unread("nothing says how many steps ranks take without a message")
        row.text(row.next_text())
        both = row.take("if", "tw_depth > 1")
        (loop,) = both.body if len(both.body) == 1 else (View("block"),)
        low, high = STEPS
        m = re.fullmatch(rf"long {low} = (.*); {low} < (.*); {low} = tw_next_step\({low}, tw_depth\)", loop.head)
        if m is None or loop.kind != "for":
            raise Unread("steps without a message are taken in another way")
        self._check_value(m[1], x.wide.first)
        self._check_value(m[2], x.wide.past)
        inside = Row(loop.body)
        inside.text(f"const long {high} = tw_min(tw_next_step({low}, tw_depth), {m[2]});")
        self._exchange(inside, x.move, {}, known | {low, high})
        self._tiles(inside, self.ranks.steps, known | {low, high})
        inside.end()
        rest = Row(both.orelse)
        self._shared(rest, known)
        rest.end()

    def _tiles(self, row: Row, steps: StepsOfRank, known: frozenset[str]) -> None:
        """One of the programs that were proven for the steps of a rank, whichever."""
        if not steps.plain:
            self._printed(row, steps.made, {}, known)
            return
        both = row.take("if")
        if not _FEW.fullmatch(both.head):
            raise Unread("steps without a message are run in another way")
        for views, made in zip((both.body, both.orelse), (*steps.plain, steps.made), strict=True):
            one = Row(views)
            self._printed(one, made, {}, known)
            one.end()

    # -- blocks ------------------------------------------------------------------------------------

    def _blocks(self, row: Row, who: str, rank: str) -> frozenset[str]:
        """Where blocks of a rank begin and end, as far as that is declared next."""
        found = set[str]()
        mine = {name: (b, k) for b in self.ranks.blocks for k, name in enumerate(b.ends(who))}
        while row.next_text().startswith(f"const long tw_{who}"):
            (s,) = read_statements(row.text(row.next_text()))
            for d in s.kids if s.kind == "several" else (s,):
                if d.text not in mine or d.text in found or d.kids[0].text != "const long" or d.kids[1].kids:
                    raise Unread(f"`{d.text}` is no end of a block")
                self._check_end(*mine[d.text], rank, d.kids[2])
                found.add(d.text)
        return frozenset(found)

    def _check_end(self, b: RankBlocks, which: int, rank: str, value: Node) -> None:
        who = read_expression(rank)
        if b.axes == 1:
            function = "tw_dealt" if self.ranks.cyclic else "tw_part"
            at = Node("binary", "+", (who, Node("number", "1"))) if which else who
            ends = value.kids[:2] if value.kids[2:] == (at,) else ()
        else:
            function = ("tw_low", "tw_high")[which]
            axis = Node("number", str(b.axis))
            ends = value.kids[1:3] if (value.kids[:1], value.kids[3:]) == ((axis,), (who,)) else ()
        if value.kind != "call" or value.text != function or len(ends) != 2:
            raise Unread("a block is another rank's, or shared out in another way")
        for e, wanted in zip(ends, (b.first, b.past), strict=True):
            self._check_number(e, wanted)

    @cached_property
    def _parameters(self) -> Parameters:
        return Parameters(self.scop)

    def _check_value(self, text: str, wanted: isl.PwAff) -> None:
        self._check_number(read_expression(text), wanted)

    def _check_number(self, e: Node, wanted: isl.PwAff) -> None:
        """A number of the region's parameters, where something runs."""
        found = isl.Map.from_pw_aff(self._parameters.point.value(self._parameters.value(e))).range()
        if not isl.Set.from_pw_aff(wanted).intersect_params(self.scop.context).is_subset(found):
            raise Unread("a block begins or ends elsewhere")

    # -- loops around phases -----------------------------------------------------------------------

    def _ints(self, names: Mapping[str, str]) -> IntPrinter:
        return IntPrinter({p.name: p for p in self.scop.params}, names, set())

    def _around(self, row: Row, node: CNode, names: Mapping[str, str], known: frozenset[str]) -> None:
        ints = self._ints(names)
        if isinstance(node, Block):
            for child in node.children:
                self._around(row, child, names, known)
        elif isinstance(node, If):
            v = row.take("if", ints.text(node.cond))
            for views, inner in ((v.body, node.then), (v.orelse, node.orelse)):
                inside = Row(views)
                if inner is not None:
                    self._around(inside, inner, names, known)
                inside.end()
        elif isinstance(node, For):
            v = row.take("for")
            inside, name = Row(v.body), counter_of(v.head, node, ints)
            self._check_new(name, names)
            self._around(inside, node.body, {**names, node.var: name}, known)
            inside.end()
        else:
            assert isinstance(node, Instance)
            q = next(q for q in self.ranks.cut.phases if q.name == node.stmt)
            self._phase(row, q, node, names, known)

    def _check_new(self, name: str, names: Mapping[str, str]) -> None:
        if name in self.taken or name in names.values() or name in self.ends or name.startswith("tw_"):
            raise Unread(f"`{name}` hides another variable")

    def _phase(self, row: Row, q: Phase, at: Instance, names: Mapping[str, str], known: frozenset[str]) -> None:
        outer = row
        own = [e for e in at.iterators if not (isinstance(e, Name) and e.name in names)]
        row = Row(outer.take("block").body) if own else row
        given, ints = dict[str, str](), self._ints(names)
        for param, e in zip(outer_names(q), at.iterators, strict=True):
            text = ints.text(e)
            if not any(e is x for x in own):
                given[param] = text
                continue
            m = re.fullmatch(rf"const long (\w+) = {re.escape(text)};", row.next_text())
            if m is None:
                raise Unread(f"a phase runs in another iteration than `{text}`")
            self._check_new(m[1], {**names, **given})
            row.text(m[0])
            given[param] = m[1]
        self._beside_messages(row, q, given, known)
        after = self._moved(q.name)
        if after is not None:
            self._exchange(row, after, given, known)
        if own:
            row.end()

    def _beside_messages(self, row: Row, q: Phase, given: Mapping[str, str], known: frozenset[str]) -> None:
        """A phase behind the wait for what is under way, or in pieces of which only the first is ahead of it."""
        margins = self.ranks.early.get(q.name)
        if q.panels is not None:
            self._panels(row, q, given, known)
            return
        if margins is None:
            if self.ranks.early:
                row.text(_WAIT)
            self._in_turns(row, q, given, known) if q.ordered else self._gathering(row, q, given, known)
            return
        if not any(low or high for low, high in margins.sides):
            self._run_of(row, q, given, known)
            return
        pieces = f"int tw_piece = 0; tw_piece < {1 + 2 * len(margins.sides)}; tw_piece++"
        inside, ends = Row(row.take("for", pieces).body), dict[str, str]()
        for b in blocks_for(self.ranks.blocks, q.name):
            (first, past), (low, high) = b.ends(MINE), margins.sides[b.axis]
            if not {first, past} <= known:
                raise Unread("pieces of a block of which nothing is known")
            names = tuple(f"tw{b.axis + 1 if b.axis else ''}_{word}" for word in ("from", "to"))
            piece = "tw_piece" if b.axes == 1 else f"tw_piece_at({b.axis}, tw_piece)"
            asked = f"({piece}, {first}, {past}, {low}, {high})"
            inside.text(f"const long {names[0]} = tw_piece_from{asked}, {names[1]} = tw_piece_to{asked};")
            ends |= {first: names[0], past: names[1]}
        wait = Row(inside.take("if", "tw_piece == 1").body)
        wait.text(_WAIT)
        wait.end()
        self._run_of(inside, q, {**given, **ends}, known)
        inside.end()

    def _panels(self, row: Row, q: Phase, given: Mapping[str, str], known: frozenset[str]) -> None:
        """The next panel is on its way, to where it is read in the next turn, before one is computed."""
        text, move = PanelText(self.ranks.ranked, q), self._moved(PANELS + q.name)
        over = row.take("for")
        for value, wanted in text.values(over.head):
            self._check_value(value, wanted)
        inside, here = Row(over.body), known | set(PANEL)
        ahead = Row(inside.take("block").body)
        for line in text.declared("tw_turn + 1", "tw_turn + 2", arrives=True):
            ahead.text(line)
        if move is None:
            raise Unread("nothing is sent for panels")
        self._messages(ahead, move[1], given, here, f"tw_panel_messages({PANEL[0]} < {PANEL[1]})")
        ahead.text("tw_panel_send();")
        ahead.end()
        now = Row(inside.take("if", "tw_turn >= 0").body)
        for line in text.declared("tw_turn", "tw_turn + 1", arrives=False):
            now.text(line)
        self._printed(now, self.ranks.results[q.name], given, here)
        now.end()
        inside.end()

    def _in_turns(self, row: Row, q: Phase, given: Mapping[str, str], known: frozenset[str]) -> None:
        self._messages(row, self.ranks.turns[q.name], given, known)
        row.text("tw_take_turn();")
        self._run_of(row, q, given, known)
        row.text("tw_hand_on();")

    def _gathering(self, row: Row, q: Phase, given: Mapping[str, str], known: frozenset[str]) -> None:
        for k, (op, array) in enumerate(q.reduced):
            (t,) = (t for t in self.ranks.totals[q.name] if t.array == array)
            inside = Row(row.take("block").body)
            inside.text(f"const long tw_k = {k};")
            self._elements(inside, [t], given, known)
            if JOINED[op] in ("MPI_SUM", "MPI_BXOR"):
                row.text(f"tw_partial({k});")
        self._run_of(row, q, given, known)
        for k, (op, array) in enumerate(q.reduced):
            t_ = self.scop.arrays[array].elem
            kind = _TYPES.get((t_.kind, t_.bits)) or f"MPI_{'' if t_.signed else 'U'}INT{t_.bits}_T"
            row.text(f"tw_total({k}, {kind}, {JOINED[op]});")

    def _run_of(self, row: Row, q: Phase, given: Mapping[str, str], known: frozenset[str]) -> None:
        if self.ranks.cyclic and q.shared is not None:
            row = self._dealt(row, "tw_rank()")
            known = known | self._blocks(row, MINE, "tw_own")
            self._printed(row, self.ranks.results[q.name], given, known)
            row.end()
        else:
            self._printed(row, self.ranks.results[q.name], given, known)

    def _dealt(self, row: Row, rank: str) -> Row:
        return Row(row.take("for", f"long tw_own = {rank}; tw_own < tw_blocks(); tw_own += tw_ranks()").body)

    def _printed(self, row: Row, made: Result, given: Mapping[str, str], known: frozenset[str]) -> None:
        """What was proven of a phase, for the names that stand for loops around it and for its block here."""
        for x in self.ranks.printed:
            if x.made is made and dict(x.given) == dict(given) and row.starts_with(x.views):
                row.skip(len(x.views))
                if not words_of(x.views) & (self.ends | {*STEPS, *PANEL}) <= known | set(given):
                    raise Unread("a phase runs for a block of which nothing is known")
                return
        raise Unread("a phase is another one than was proven for this place")

    # -- messages ----------------------------------------------------------------------------------

    def _moved(self, phase: str) -> tuple[Exchange, Sequence[MessageLoops]] | None:
        return next((m for m in self.ranks.found if m[0].phase == phase), None)

    def _exchange(
        self, row: Row, move: tuple[Exchange, Sequence[MessageLoops]], given: Mapping[str, str], known: frozenset[str]
    ) -> None:
        x, parts = move
        self._messages(row, parts, given, known)
        row.text("tw_send();" if self.ranks.early and x.phase not in ("", WIDE) else "tw_exchange();")

    def _messages(
        self, row: Row, parts: Sequence[MessageLoops], given: Mapping[str, str], known: frozenset[str],
        messages: str = _MESSAGES,
    ) -> None:  # fmt: skip
        """The elements of each message, for the blocks of who gives and who takes it, and for nobody else's."""
        over = row.take("for")
        if over.head != f"long tw_k = 0; tw_k < {messages}; tw_k++":
            self._near(over.head, parts, messages)
        inside = Row(over.body)
        steps = known & {*STEPS, *PANEL}
        if self.ranks.cyclic and self._deals(inside):
            inner = self._dealt(inside, "tw_giver(tw_k)")
            inside.end()
            ends = self._blocks(inner, GIVER, "tw_own")
            self._elements(inner, parts, given, steps | ends)
            return
        ends = self._blocks(inside, GIVER, "tw_giver(tw_k)")
        self._elements(inside, parts, given, steps | ends | self._blocks(inside, TAKER, "tw_taker(tw_k)"))

    def _near(self, head: str, parts: Sequence[MessageLoops], messages: str) -> None:
        """Messages between near ranks alone: no other one has an element. A panel has some that a rank gives itself."""
        found, blocks = read_near(head), sorted(self.ranks.blocks, key=lambda b: b.axis)
        if self.ranks.cyclic or len(found) != len(blocks) or messages != _MESSAGES:
            raise Unread("messages are gone through in another way")
        for (_, rows), b in zip(found, blocks, strict=True):
            self._check_value(rows, b.past.sub(b.first))
        if not none_farther(parts, blocks, [x for x, _ in found]):
            raise Unread("messages to ranks that are not near are left out")

    def _deals(self, row: Row) -> bool:
        return bool(row.left) and row.left[0].kind == "for" and row.left[0].head.startswith("long tw_own = ")

    def _elements(
        self, row: Row, parts: Sequence[MessageLoops], given: Mapping[str, str], known: frozenset[str]
    ) -> None:
        """All that is left of a list of views."""
        inside = words_of(row.left)
        if not inside & (self.ends | {*STEPS, *PANEL}) <= known:
            raise Unread("a message depends on a block of which nothing is known")
        ElementReader(self.taken | self.ends | set(given.values())).read(row, parts, given)
        row.end()

