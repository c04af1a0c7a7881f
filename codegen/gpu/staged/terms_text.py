"""Prints a kernel of one block whose first thread runs a nest in order, while the others compute the terms of its sums
(`terms.py`), and the function that starts it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from codegen.ast.ctree import Bin, Block, CNode, Declare, For, Held, If, Instance, Int
from codegen.diagnostics import Unsupported
from codegen.gpu.body import DeviceBody, plain_type
from codegen.gpu.staged.read_back import check_statements
from codegen.gpu.staged.terms import STAGES, TERMS, THREADS, WARP, TermLoop
from codegen.gpu.tiles.text import Printed
from codegen.print.templates import environment
from codegen.recognize.access.ctypes import type_of
from codegen.record import record
from codegen.scop.model import Scop
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View, fresh
from codegen.verify.text.read import Unread

FIRST = "tw_thread == 0"


@record
class TermsKernel:
    """A nest that one thread runs, with loops in it whose terms others compute."""

    node: CNode
    loops: tuple[TermLoop, ...]
    names: Mapping[str, str]  # of the counters of the host's loops
    taken: frozenset[str]
    scratch: frozenset[str]
    calls: Mapping[str, str]
    step: bool  # a loop of the host launches it


def kernel_text(scop: Scop, p: TermsKernel, how: Printed) -> str:
    """The kernel, and the function that starts it."""
    ints = IntPrinter({x.name: x for x in scop.params}, p.names)
    try:
        body = _Nest(scop, p, ints).views(p.node, p.names, {}, p.taken)
    except Unread as problem:
        raise Unsupported("no-proof", str(problem), scop.loc) from None
    stmts = ", ".join(t.instance.stmt for t in p.loops)
    # What the first thread writes, terms of others may read behind a barrier: a restricted pointer says that none does.
    parameters = {n: text.replace("*__restrict__ ", "*") for n, text in how.parameters.items()}
    values = {
        "name": how.name, "parameters": parameters, "body": body, "threads": THREADS, "warp": WARP, "terms": TERMS,
        "bytes": STAGES * TERMS * 8, "step": p.step,
        "comment": f"{stmts}: one thread adds up terms that the rest of its block computes, {TERMS} at a time",
    }  # fmt: skip
    template = environment().get_template("gpu/terms.cu.j2")
    text = template.render(k={**values, "given": ()}).partition("/* Starts")[0]
    given = [n for n in how.parameters if re.search(rf"\b{n}\b", text)]
    return template.render(k={**values, "given": given}).rstrip("\n")


@record
class _Nest:
    """What a block does. Its threads run through all loops together; statements are the first one's."""

    scop: Scop
    kernel: TermsKernel
    ints: IntPrinter

    def views(
        self, node: CNode, names: Mapping[str, str], held: Mapping[str, Held], taken: frozenset[str]
    ) -> tuple[View, ...]:
        ints = replace(self.ints, names=names)
        if isinstance(node, Block):
            parts = [(c, self.views(c, names, held, taken)) for c in node.children]
            return tuple(v for c, vs in parts for v in ((View("block", body=vs),) if isinstance(c, Declare) else vs))
        if isinstance(node, Instance):
            return (View("if", FIRST, body=(View("stmt", self._printed(node, ints, held)),)),)
        if isinstance(node, If):
            orelse = () if node.orelse is None else self.views(node.orelse, names, held, taken)
            return (View("if", ints.text(node.cond), body=self.views(node.then, names, held, taken), orelse=orelse),)
        if isinstance(node, Declare):
            mine = [h for h in node.slots if h.array not in self.kernel.scratch]
            decls = tuple(View("decl", self._declaration(h)) for h in mine)
            return (*decls, *self.views(node.body, names, {**held, **{h.array: h for h in node.slots}}, taken))
        assert isinstance(node, For)
        name = fresh(node.loop.name, taken)
        inner = {**names, node.var: name}
        sums = next((t for t in self.kernel.loops if t.loop is node), None)
        if sums is not None:
            return (View("block", body=self._sum(sums, name, ints, replace(self.ints, names=inner), held)),)
        advance = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
        head = f"long {name} = {ints.text(node.lower)}; {name} {node.op} {ints.text(node.upper, 5)}; {advance}"
        return (View("for", head, body=self.views(node.body, inner, held, taken | {name})),)

    def _declaration(self, h: Held) -> str:
        """A variable of the first thread."""
        array = self.scop.arrays[h.array]
        sizes = [array.extents[k - array.scope] if n < 0 else str(n) for k, n in enumerate(h.sizes) if n]
        return f"{plain_type(array.elem)} {array.name}{''.join(f'[{n}]' for n in sizes)} = {'{}' if sizes else '0'};"

    def _printed(self, at: Instance, ints: IntPrinter, held: Mapping[str, Held]) -> str:
        return self._printer(ints, held).statement(self.scop.statement(at.stmt), at)

    def _printer(self, ints: IntPrinter, held: Mapping[str, Held]) -> DeviceBody:
        return DeviceBody(self.scop, ints, dict(held), self.kernel.scratch, dict(self.kernel.calls))

    def _sum(
        self, t: TermLoop, name: str, ints: IntPrinter, inner: IntPrinter, held: Mapping[str, Held]
    ) -> tuple[View, ...]:
        """Part after part: one is added up while the next one comes. All threads meet ahead of each."""
        s, at = self.scop.statement(t.instance.stmt), t.instance
        kind = type_of(self.scop, s, s.rhs)
        assert kind is not None
        plain = self._printer(inner, held)
        target, term = plain.access(s, at, s.target), plain.text(s.rhs, s, at)
        place = "tw_terms[(tw_part + 1) % 2 * TERMS + tw_r]"
        added = f"tw_sum {s.op} {place};"
        check_statements([added], [plain.statement(s, at)], {place: term}, {"tw_sum": target})
        past = t.loop.upper if t.loop.op == "<" else Bin("+", t.loop.upper, Int(1))
        element = plain_type(self.scop.arrays[s.accesses[s.target].array].elem)
        return (
            View("decl", f"{plain_type(kind)} *const tw_terms = ({plain_type(kind)} *)tw_memory;"),
            View("decl", f"const long tw_from = {ints.text(t.loop.lower)}, tw_past = {ints.text(past)};"),
            View("for", "long tw_part = 0, tw_at = tw_from; tw_at < tw_past + TERMS; tw_part++, tw_at += TERMS", body=(
                View("stmt", "__syncthreads();"),
                View("if", "tw_thread >= WARP", body=(
                    View("for", "int tw_q = 0; tw_q < TERMS / (THREADS - WARP); tw_q++", pragma="TW_UNROLL",
                         body=(
                             View("decl", "const int tw_r = tw_thread - WARP + tw_q * (THREADS - WARP);"),
                             View("decl", f"const long {name} = tw_at + tw_r;"),
                             View("if", f"{name} < tw_past",
                                  body=(View("stmt", f"tw_terms[tw_part % 2 * TERMS + tw_r] = {term};"),)))),),
                     orelse=(
                    View("if", f"{FIRST} && tw_part > 0", body=(
                        View("decl", "const int tw_left = tw_past < tw_at ? (int)(tw_past - (tw_at - TERMS)) : TERMS;"),
                        View("decl", f"{element} tw_sum = {target};"),
                        View("for", "int tw_r = 0; tw_r < tw_left; tw_r++", pragma="TW_AHEAD",
                             body=(View("stmt", added),)),
                        View("stmt", f"{target} = tw_sum;"))),)))),
        )  # fmt: skip
