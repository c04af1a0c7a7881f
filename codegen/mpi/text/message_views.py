"""Builds the `View` records (C lines and loops that templates print) of messages: loops over their elements, the ends
of the blocks of giver and taker, and the call that exchanges them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from codegen.ast.ctree import Bin, Block, CExpr, CNode, For, If, Instance, Int, Name, expr_names, substitute
from codegen.ast.generate import expression
from codegen.lower.shift import simple
from codegen.mpi.blocks import GIVER, TAKER, RankBlocks
from codegen.mpi.messages import WIDE, Exchange
from codegen.mpi.text.near import apart
from codegen.mpi.trees import MessageLoops
from codegen.scop.model import Access, Param, Scop
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View, fresh, words_of
from codegen.target.view import reserved

EACH = "long tw_k = 0; tw_k < tw_messages(); tw_k++"  # message
NEAR = (
    "long tw_k = tw_first_near({}, (const long[]){{ {} }}, (const long[]){{ {} }}); "
    "tw_k < tw_messages(); tw_k = tw_next_near()"
)


@dataclass
class MessageViews:
    """Prints messages of a region. `cyclic`: each rank has several blocks, dealt out in turn; `early`: what is sent is
    waited for later."""

    scop: Scop
    blocks: Sequence[RankBlocks]
    helpers: set[str]
    cyclic: bool = False
    early: bool = False

    def ints(self, names: Mapping[str, str], params: Sequence[Param] = ()) -> IntPrinter:
        return IntPrinter({p.name: p for p in (*self.scop.params, *params)}, names, self.helpers)

    def value(self, v: isl.PwAff, binding: int = 0) -> str:
        """A value of the region's parameters; any number where nothing runs."""
        build = isl.AstBuild.from_context(self.scop.context.intersect(v.domain().params()))
        plain = v.gist_params(v.domain().params()).coalesce()
        return self.ints({}).text(expression(build.expr_from_pw_aff(plain)), binding)

    def ends(self, who: str, rank: str, words: set[str]) -> tuple[View, ...]:
        """Where the blocks of a rank begin and end, if it is asked."""
        out = []
        for b in self.blocks:
            first, past = (self.value(v) for v in (b.first, b.past))
            found = []
            for name, r, end in zip(b.ends(who), (rank, f"{rank} + 1"), ("tw_low", "tw_high"), strict=True):
                part = f"{'tw_dealt' if self.cyclic else 'tw_part'}({first}, {past}, {r})"
                text = part if b.axes == 1 else f"{end}({b.axis}, {first}, {past}, {rank})"
                if name in words:
                    found.append(f"{name} = {text}")
            if found:
                out.append(View("decl", f"const long {', '.join(found)};"))
        return tuple(out)

    def exchange(self, x: Exchange, parts: Sequence[MessageLoops], given: Mapping[str, str]) -> tuple[View, ...]:
        """The elements of all messages, and the exchange of them."""
        inside = self.all_elements(parts, given)
        body = self.between_two(inside)
        if self.cyclic:
            own = (*self.ends(GIVER, "tw_own", words_of(inside)), *inside)
            body = (dealt("tw_own", "tw_giver(tw_k)", "", own),)
        arrays = self.names(parts)
        what = f"what other ranks read of {arrays}" if x.phase else f"{arrays}: what others hold and this rank computed"
        move = "tw_send();" if self.early and x.phase not in ("", WIDE) else "tw_exchange();"
        return View("for", self._each(parts), what, body=body), View("decl", move)

    def _each(self, parts: Sequence[MessageLoops]) -> str:
        """All messages, or those between near ranks if others have no elements."""
        found = () if self.cyclic else apart(parts, self.blocks)
        if not found:
            return EACH
        rows = (self.value(b.past.sub(b.first).coalesce()) for b in sorted(self.blocks, key=lambda b: b.axis))
        return NEAR.format(len(found), ", ".join(x.text for x in found), ", ".join(rows))

    def names(self, parts: Sequence[MessageLoops]) -> str:
        """The arrays of messages."""
        return ", ".join(self.scop.arrays[a].base for a in dict.fromkeys(t.array for t in parts))

    def between_two(self, inside: tuple[View, ...]) -> tuple[View, ...]:
        """What goes from one rank to another, with the ends of their blocks."""
        words = words_of(inside)
        return (*self.ends(GIVER, "tw_giver(tw_k)", words), *self.ends(TAKER, "tw_taker(tw_k)", words), *inside)

    def all_elements(self, parts: Sequence[MessageLoops], given: Mapping[str, str]) -> tuple[View, ...]:
        """The elements of a message; what is sent under the same condition stands under one."""
        out: list[View] = []
        for v in (v for t in parts for v in self.elements(t, given)):
            if out and _same_condition(out[-1], v):
                out[-1] = replace(out[-1], body=(*out[-1].body, *v.body))
            else:
                out.append(v)
        return tuple(out)

    def elements(self, t: MessageLoops, given: Mapping[str, str]) -> tuple[View, ...]:
        scop = spelled(t.made.scop, given)
        (statement,) = scop.statements
        ints = IntPrinter({p.name: p for p in scop.params}, {}, self.helpers)
        size = f"sizeof({scop.arrays[t.array].elem.spelling})"

        def text(at: Instance, names: Mapping[str, str], count: str) -> str:
            body = BodyPrinter(scop, IntPrinter(ints.params, names, self.helpers), {})
            where = ", ".join(f"&{body.access(statement, at, k)}" for k in range(len(statement.accesses)))
            call = "tw_run" if len(statement.accesses) == 1 else "tw_panel_run"
            return f"{call}(tw_k, {where}, {count}, {size});"

        return self._runs(t.made.code, {}, reserved(scop), ints, text, t.reach)

    def _runs(
        self,
        node: CNode,
        names: Mapping[str, str],
        taken: frozenset[str],
        ints: IntPrinter,
        text: Callable[[Instance, Mapping[str, str], str], str],
        reach: Access,
    ) -> tuple[View, ...]:
        """Loops over elements; those that lie side by side go together."""
        own = IntPrinter(ints.params, names, self.helpers)
        if isinstance(node, Block):
            return tuple(v for k in node.children for v in self._runs(k, names, taken, ints, text, reach))
        if isinstance(node, If):
            orelse = () if node.orelse is None else self._runs(node.orelse, names, taken, ints, text, reach)
            body = self._runs(node.then, names, taken, ints, text, reach)
            return (View("if", own.text(node.cond), body=body, orelse=orelse),)
        if isinstance(node, Instance):
            return (View("stmt", text(node, names, "1")),)
        assert isinstance(node, For)
        if _side_by_side(node, reach):
            assert isinstance(node.body, Instance)
            first = replace(node.body, accesses=tuple(_first(node, index) for index in node.body.accesses))
            past = node.upper if node.op == "<" else Bin("+", node.upper, Int(1))
            run = View("stmt", text(first, names, own.wide(simple(Bin("-", past, node.lower)))))
            some = own.text(Bin("<", node.lower, past))  # else a buffer may have no such place
            return (run,) if len(first.accesses) == 1 else (View("if", some, body=(run,)),)
        name = fresh(node.loop.name, taken)
        body = self._runs(node.body, {**names, node.var: name}, taken | {name}, ints, text, reach)
        return (View("for", head(node, name, own), body=body),)


def _same_condition(a: View, b: View) -> bool:
    return a.kind == b.kind == "if" and a.head == b.head and not a.orelse and not b.orelse


def dealt(name: str, rank: str, what: str, body: tuple[View, ...]) -> View:
    """A loop over all blocks of a rank."""
    return View("for", f"long {name} = {rank}; {name} < tw_blocks(); {name} += tw_ranks()", what, body=body)


def head(node: For, name: str, ints: IntPrinter) -> str:
    step = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
    return f"long {name} = {ints.text(node.lower)}; {name} {node.op} {ints.text(node.upper, 5)}; {step}"


def _side_by_side(node: For, reach: Access) -> bool:
    """Is it a loop over the last subscript alone, which steps from element to element in memory?"""
    at, last = node.body, reach.path[-1] if reach.path else None
    if not isinstance(at, Instance) or node.step != 1 or last is None:
        return False
    index = at.accesses[0]
    if index[-1] != Name(node.var) or any(node.var in expr_names(e) for e in index[:-1]):
        return False
    if last.kind == "flat":
        return last.strides[-1] == "1" and last.index + len(last.strides) == len(index)
    return last.kind == "sub" and last.index == len(index) - 1


def _first(node: For, index: tuple[CExpr, ...]) -> tuple[CExpr, ...]:
    """The subscripts of the first element."""
    return (*index[:-1], simple(substitute(index[-1], {node.var: node.lower})))


def spelled(scop: Scop, given: Mapping[str, str]) -> Scop:
    """The loops around a phase by the names that they have in the text."""
    params = tuple(replace(p, text=given.get(p.name, p.text)) for p in scop.params)
    return replace(scop, params=params)
