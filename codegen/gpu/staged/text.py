"""Prints the kernel of a loop of threads that reads its operands from shared memory, and the function that starts
it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from codegen.ast.ctree import For, Held, Instance, substitute
from codegen.diagnostics import Unsupported
from codegen.gpu.body import DeviceBody, plain_type
from codegen.gpu.staged.find import LoopOperand, StagedLoop, element
from codegen.gpu.staged.prove import bytes_of
from codegen.gpu.staged.read_back import check_statements
from codegen.gpu.tiles import model
from codegen.gpu.tiles.model import DEEP, StagedOperand
from codegen.gpu.tiles.text import Printed, RegisterBody, formula, plus, staging
from codegen.print.templates import environment
from codegen.record import record
from codegen.scop.model import Scop
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View
from codegen.verify.text.read import Unread

# Names of the template that are printed without their first letters where the region has no such names.
LOCALS = (
    "thread", "rows", "depth", "parts", "part", "left", "slot", "stage", "compute", "mine", "to", "kernel", "wide",
    "k", "x", "r", "first", "begin", "threads", "own_rows", "bytes",
)  # fmt: skip
_FIRST, _BEGIN = "tw_first", "tw_begin"


@record
class StagedKernel:
    """A loop with the names of its counters, and what a thread does before and behind it."""

    what: StagedLoop
    names: Mapping[str, str]  # of all loops around its statements
    before: tuple[View, ...]
    after: tuple[View, ...]
    scratch: frozenset[str]
    calls: Mapping[str, str]


def kernel_text(scop: Scop, p: StagedKernel, how: Printed, api: str) -> str:
    """The kernel, and the function that starts it."""
    k = _Context(scop, p, IntPrinter({x.name: x for x in scop.params}, p.names), how).values()
    template = environment().get_template("gpu/staged.cu.j2")
    body = template.render(k={**k, "given": ()}, api=api).partition("/* Starts the kernel")[0]
    text = template.render(k={**k, "given": [n for n in how.parameters if re.search(rf"\b{n}\b", body)]}, api=api)
    taken = _taken(scop, p, how)
    for name in LOCALS:
        if name not in taken:
            text = re.sub(rf"\btw_{name}\b", name, text)
    return text.rstrip("\n")


def _taken(scop: Scop, p: StagedKernel, how: Printed) -> frozenset[str]:
    """Names of the region that the kernel mentions."""
    return how.taken | set(p.names.values()) | {scop.arrays[h.array].name for h in p.what.nest.held}


@record
class _Context:
    scop: Scop
    kernel: StagedKernel
    ints: IntPrinter
    how: Printed

    def values(self) -> dict[str, object]:
        p = self.kernel.what
        nest = p.nest
        thread, counter = (self.ints.names[lp.var] for lp in (nest.grid, nest.loop))
        body, tail = ([self._body(at, m, full) for m, at in enumerate(nest.body)] for full in (True, False))
        self.check(body, tail)
        return {
            "name": self.how.name, "parameters": self.how.parameters, "comment": self._comment(),
            "rows_of": self._by_width(p.threads, p.single, "V > 1"), "depth": p.staging.depth,
            "threads": self._by_width(p.threads, p.single + p.helpers, "V > 1"), "helpers": p.helpers,
            "stages": p.staging.stages, "vector": p.vector,
            "before": p.order.before, "loop": p.order.loop, "blocks": self._blocks(), "thread": thread,
            "counter": counter if any(re.search(rf"\b{counter}\b", x) for x in body) else "",
            "at": str, "within": lambda n: f"tw_part + {n}" if n else "tw_part",
            "first_row": plus(self._low(nest.grid)), "past_row": self.ints.wide(nest.grid.upper, 5),
            "longest": (1 << 31) // max(p.single + p.helpers, p.staging.depth),
            "first_depth": self._low(nest.loop), "past_depth": self.ints.wide(nest.loop.upper, 5),
            "rows": self._count(nest.grid), "deep": self._count(nest.loop), "aligned": self._aligned(),
            "strides": sorted({x for o in p.operands for x in (o.staged.own, o.staged.depth) if not x.isdigit()}),
            "ahead": self.kernel.before, "behind": self.kernel.after, "body": body,
            "tail": tail,
            "alone": any(o.staged.alone for o in p.operands),
            "operands": [self._operand(o, n) for n, o in enumerate(p.operands)],
            "own": self._own(), "kept": [self._kept(m, a) for m, a in p.kept],
        }  # fmt: skip

    def check(self, body: Sequence[str], tail: Sequence[str]) -> None:
        """Raises Unsupported unless statements compute what those of the plain loop do, from places of its elements."""
        p = self.kernel.what
        plain, calls = self._printer(self.ints.names), dict(self.kernel.calls)
        wanted = [replace(plain, calls=calls).statement(self.scop.statement(x.stmt), x) for x in p.nest.body]
        places: dict[str, str] = {}
        for o in p.operands:
            element_ = self._element(p.nest.body[o.reader], o.staged.access, self.ints.names)
            places[f"{self._named(o.staged.name, 'shared')}[{self._place(o.staged)}]"] = element_
            places[f"{self._named(o.staged.name, 'registers')}[tw_k]"] = element_
        found = (self._kept(m, number) for m, number in p.kept)
        kept = {x["name"]: x["element"] for x in found}
        try:
            for lines in (body, tail):
                check_statements(lines, wanted, places, kept)
        except Unread as problem:
            raise Unsupported("no-proof", str(problem), self.scop.loc) from None

    def _by_width(self, wide: int, single: int, test: str) -> str:
        """A number that depends on what copies bring."""
        return str(wide) if wide == single else f"{test} ? {wide} : {single}"

    def _blocks(self) -> dict[str, str]:
        """Threads of a block, those that compute, and its shared memory, where it is started."""
        p, test = self.kernel.what, "tw_wide" if self._aligned() else "false"
        room = self._by_width(bytes_of(p, p.vector), bytes_of(p, 1), test)
        threads = self._by_width(p.threads, p.single + p.helpers, test)
        return {"threads": threads, "rows": self._by_width(p.threads, p.single, test), "bytes": room}

    def _comment(self) -> str:
        p = self.kernel.what
        arrays = " and ".join(o.staged.name for o in p.operands)
        stmts = ", ".join(dict.fromkeys(at.stmt for at in p.nest.body))
        what = f"{stmts}: one thread for each {p.nest.grid.loop.name}, {arrays} in shared memory"
        return f"{what}, {p.staging.depth} iterations of {p.nest.loop.loop.name} at a time, {p.staging.stages} times"

    def _low(self, lp: For) -> str:
        return self.ints.wide(lp.lower, 5)

    def _count(self, lp: For) -> str:
        high = self.ints.wide(lp.upper, 5)
        return high if self._low(lp) == "0L" else f"{high} - {self.ints.text(lp.lower, 6)}"

    def _printer(self, names: Mapping[str, str]) -> DeviceBody:
        return DeviceBody(self.scop, replace(self.ints, names=names), self._held(), self.kernel.scratch)

    def _held(self) -> dict[str, Held]:
        return {h.array: h for h in self.kernel.what.nest.held}

    def _own(self) -> list[str]:
        """Scalars of a thread, but for those that several kernels use."""
        arrays = (self.scop.arrays[h.array] for h in self.kernel.what.nest.held if h.array not in self.kernel.scratch)
        return [f"{plain_type(a.elem)} {a.name} = 0;" for a in arrays]

    def _element(self, at: Instance, number: int, names: Mapping[str, str]) -> str:
        return self._printer(names).access(self.scop.statement(at.stmt), at, number)

    def _operand(self, o: LoopOperand, n: int) -> dict[str, object]:
        p, s = self.kernel.what, o.staged
        nest = p.nest
        names = {**self.ints.names, nest.grid.var: _FIRST, nest.loop.var: _BEGIN}
        rooms = [f"tw_room({model.room(q.staged)}, sizeof({q.staged.kind}))" for q in p.operands[:n]]
        return {
            **staging(s, "tw_rows"), "deep": s.layout == DEEP, "offset": " + ".join(rooms) or "0",
            **{word: self._named(s.name, word) for word in ("shared", "registers", "from")},
            "first": self._element(nest.body[o.reader], s.access, names),
            "own_place": self._place(s),
        }  # fmt: skip

    def _place(self, s: StagedOperand) -> str:
        """Where a thread finds its element of an iteration."""
        text = model.place(s)
        return formula(re.sub(r" \+ x \* (\w+|\(.*?\))", "", text) if s.alone else re.sub(r"\bx\b", "thread", text))

    def _named(self, name: str, what: str) -> str:
        taken = _taken(self.scop, self.kernel, self.how)
        return f"tw_{name}_{what}" if f"{name}_{what}" in taken else f"{name}_{what}"

    def _kept(self, m: int, number: int) -> dict[str, str]:
        at = self.kernel.what.nest.body[m]
        array = self.scop.arrays[self.scop.statement(at.stmt).accesses[number].array]
        return {"kind": plain_type(array.elem), "name": self._named(array.base, "kept"),
                "element": self._element(at, number, self.ints.names)}  # fmt: skip

    def _body(self, at: Instance, m: int, full: bool) -> str:
        """A statement that has its operands in registers, or at the end of the loop in shared memory."""
        p, s = self.kernel.what, self.scop.statement(at.stmt)
        known = {}
        for o in p.operands:
            here = element(self.scop, p.nest.body[o.reader], o.staged.access)
            place = f"{self._named(o.staged.name, 'shared')}[{self._place(o.staged)}]"
            deep = full and o.staged.layout == DEEP
            known[here] = f"{self._named(o.staged.name, 'registers')}[tw_k]" if deep else place
        for n, number in p.kept:
            known[element(self.scop, p.nest.body[n], number)] = self._kept(n, number)["name"]
        found = {k: known[e] for k in range(len(s.accesses)) if (e := element(self.scop, at, k)) in known}
        printer = RegisterBody(self.scop, self.ints, self._held(), self.kernel.scratch, dict(self.kernel.calls), found)
        return printer.statement(s, at)

    def _aligned(self) -> str:
        """When all copies of 16 bytes begin and end where they may."""
        p = self.kernel.what
        wide = [o for o in p.operands if o.staged.vector > 1]
        apart = {x for o in wide for x in (o.staged.own, o.staged.depth) if x != "1"}
        if p.vector == 1 or not wide or any(int(x) % p.vector for x in apart if x.isdigit()):
            return ""
        sizes = {"tw_depth" if o.staged.layout == DEEP else "tw_rows" for o in wide}
        lengths = (*sorted(x for x in apart if not x.isdigit()), *sorted(sizes))
        pointers = [f"(size_t)&{self._start(o)} % 16 == 0" for o in wide]
        return " && ".join((*pointers, *(f"{x} % {p.vector} == 0" for x in lengths)))

    def _start(self, o: LoopOperand) -> str:
        """The first element that the loop touches by an operand."""
        nest = self.kernel.what.nest
        at, low = nest.body[o.reader], {lp.var: lp.lower for lp in (nest.grid, nest.loop)}
        index = tuple(tuple(substitute(e, low) for e in x) for x in at.accesses)
        return self._element(replace(at, accesses=index), o.staged.access, self.ints.names)
