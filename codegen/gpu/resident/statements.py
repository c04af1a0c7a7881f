"""Walks over the host's statements in a part of the program in which arrays stay on the device, and collects the edits
that copy arrays home ahead of statements which may use them. Raises Leaves where a statement leaves that part.

A textual walk over the user's own tokens. Ahead of a statement that may read elements, what is on the device alone is
copied home; ahead of one that may write some, the device also forgets what it has. Calls of functions that nobody knows
run as if nothing stayed. No line is added, so that compilers still speak of the user's lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from codegen.gpu.resident.effects import Around, Effect, effect_of
from codegen.record import record
from codegen.source.edits import Edit
from codegen.source.nests import Token, TokenFinder


@record
class Crossing:
    """A statement for which something comes home: where it is, and what it does."""

    offset: int
    effect: Effect


class Leaves(Exception):
    """Nothing can stay on the device in this part of the program: why, and where."""

    def __init__(self, why: str, offset: int) -> None:
        super().__init__(why)
        self.why, self.offset = why, offset


@dataclass
class StatementWalk:
    """Walks over the statements of one part. Of regions there are the spans, and whether they run on the device; others
    are like any statement."""

    finder: TokenFinder
    around: Around
    regions: Sequence[tuple[int, int, bool]]
    name: str  # of the functions that are called
    edits: list[Edit] = field(default_factory=list)
    crossings: list[Crossing] = field(default_factory=list)

    def statements(self, at: int, end: int, loops: int = 0) -> None:
        """All statements of a block; positions are those of tokens. Raises Leaves."""
        while at < end:
            at = self.statement(at, loops, True)

    def statement(self, at: int, loops: int, in_block: bool) -> int:
        """One statement, and where the next begins."""
        token = self.tokens[at]
        found = self.region_at(token.begin)
        if found is not None:
            if not found[2]:
                self.around_statement(found[0], found[1], Effect.CALLS, True)
            return self.behind(at, found[1])
        if token.is_directive:
            return self.directive(at)
        word, headed = token.text, self.next_of(at)
        if word == "{":
            close = self.finder.after_group(at)
            self.statements(at + 1, close - 1, loops)
            return close
        if word in ("if", "switch", "while") and headed == "(":
            inside = self.condition(at + 1)
            at = self.statement(inside, loops + (word != "if"), False)
            if word == "if" and at < len(self.tokens) and self.tokens[at].text == "else":
                return self.statement(at + 1, loops, False)
            return at
        if word == "for" and headed == "(":
            return self.statement(self.head(at, in_block), loops + 1, False)
        if word == "do":
            at = self.statement(at + 1, loops + 1, False)
            return self.condition(at + 1) + 1
        if word in ("case", "default"):
            while self.tokens[at].text != ":":
                at = self.finder.after_group(at)
            return at + 1
        if word in ("break", "continue"):
            if loops == 0:
                raise Leaves(f"`{word}` leaves it", token.begin)
            return at + 2
        if word in ("return", "goto") or (headed == ":" and word != "default"):
            raise Leaves(f"`{word}` leaves it" if headed != ":" else f"others may jump to `{word}`", token.begin)
        return self.plain(at, in_block)

    def plain(self, at: int, in_block: bool) -> int:
        """A statement without others inside."""
        end = self.finder.after_statement(at)
        begin, stop = self.tokens[at].begin, self.tokens[end - 1].end
        if any(t.is_directive for t in self.tokens[at:end]):
            raise Leaves("a directive stands within a statement", begin)
        effect = effect_of(self.finder.text[begin:stop], self.around)
        if effect == Effect.ENDS:
            raise Leaves("what is declared here ends before it", begin)
        self.around_statement(begin, stop, effect, in_block)
        return end

    def around_statement(self, begin: int, stop: int, effect: Effect, in_block: bool) -> None:
        if effect in (Effect.NONE, Effect.RESIDENT):
            return
        self.crossings.append(Crossing(begin, effect))
        first = {Effect.READS: "home", Effect.WRITES: "leave", Effect.CALLS: "pause"}[effect]
        last = f" {self.name}_resume();" if effect == Effect.CALLS else ""
        self.edits.append(Edit(begin, begin, f"{'' if in_block else '{ '}{self.name}_{first}(); "))
        self.edits.append(Edit(stop, stop, f"{last}{'' if in_block else ' }'}"))

    def condition(self, at: int) -> int:
        """The expression in parentheses at `at`; where its statement begins."""
        end = self.finder.after_group(at)
        self.expression(self.tokens[at].end, self.tokens[end - 1].begin)
        return end

    def expression(self, begin: int, end: int) -> None:
        """An expression that runs again and again: copies go into it."""
        text = self.finder.text[begin:end]
        effect = effect_of(text, self.around, True) if text.strip() else Effect.NONE
        if effect in (Effect.NONE, Effect.RESIDENT):
            return
        if effect >= Effect.CALLS:
            raise Leaves("a condition calls a function that may use the arrays; make the call a statement", begin)
        self.crossings.append(Crossing(begin, effect))
        word = "home" if effect == Effect.READS else "leave"
        self.edits += [Edit(begin, begin, f"({self.name}_{word}(), "), Edit(end, end, ")")]

    def head(self, at: int, in_block: bool) -> int:
        """The head of a `for`."""
        close = self.finder.after_group(at + 1)
        ends = [k for k in self.top(at + 2, close - 1) if self.tokens[k].text == ";"]
        if len(ends) != 2:
            raise Leaves("a loop that is not understood", self.tokens[at].begin)
        first = effect_of(self.finder.text[self.tokens[at + 1].end : self.tokens[ends[0]].end], self.around)
        if first not in (Effect.NONE, Effect.RESIDENT):
            raise Leaves("a loop begins with an access to memory; make that a statement", self.tokens[at].begin)
        self.expression(self.tokens[ends[0]].end, self.tokens[ends[1]].begin)
        self.expression(self.tokens[ends[1]].end, self.tokens[close - 1].begin)
        return close

    def top(self, at: int, end: int) -> list[int]:
        """Tokens that stand in no inner brackets."""
        out = []
        while at < end:
            out.append(at)
            at = self.finder.after_group(at)
        return out

    def directive(self, at: int) -> int:
        words = self.tokens[at].text.lstrip("#%: ").split()
        if words[:2] in (["pragma", "tilewright"], ["pragma", "scop"], ["pragma", "GCC"]):
            return at + 1
        raise Leaves(f"`#{' '.join(words[:2])}` stands in it", self.tokens[at].begin)

    def region_at(self, offset: int) -> tuple[int, int, bool] | None:
        return next((r for r in self.regions if r[0] <= offset < r[1]), None)

    def behind(self, at: int, offset: int) -> int:
        while at < len(self.tokens) and self.tokens[at].begin < offset:
            at += 1
        return at

    def next_of(self, at: int) -> str:
        return self.tokens[at + 1].text if at + 1 < len(self.tokens) else ""

    @property
    def tokens(self) -> list[Token]:
        return self.finder.tokens


def stands_alone(tokens: Sequence[Token], at: int) -> bool:
    """Does a statement begin at `at` that no condition or loop waits for?"""
    while at > 0 and tokens[at - 1].is_directive:
        at -= 1
    return at > 0 and tokens[at - 1].text in ("{", "}", ";")


