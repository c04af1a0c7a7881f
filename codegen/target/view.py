"""Converts the C tree to views, the strings and nesting that templates print; every decision is already made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

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
    mentions,
    walk,
)
from codegen.ast.lowered import Form, ScalarReplacement
from codegen.ast.pipelines import stage_of
from codegen.ast.plain_nest import plain_nest
from codegen.lower.conditions import without_condition
from codegen.lower.shift import simple
from codegen.record import mutable
from codegen.scop.expr import DataLoop, Ternary
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.scop.product import Blocking, Contraction, MatrixVector, Nested
from codegen.scop.tree import BLOCKED, CONCURRENT, PIPELINED, THREADED
from codegen.source.layout.lexis import KEYWORDS
from codegen.target.declarations import with_declarations
from codegen.target.firstprivate import named_alone
from codegen.target.guards.buffers import alignment, memory_of, shape
from codegen.target.pragmas import Maker, Pragma, collapsed, few_threads
from codegen.target.reduction_variables import gathered_apart, with_variables
from codegen.target.text.body import BodyAfter, BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.code import code_views
from codegen.target.text.pieces import View, fresh, words_of

if TYPE_CHECKING:
    from codegen.target.emit import Kernel
    from codegen.target.product.view import ProductView

Blocks: TypeAlias = Callable[[Contraction], Blocking]  # in which blocks a product suits a machine
# Lines of a loop's body that are printed a second time for little work; and inside another loop, where OpenMP would be
# asked again and again: gauss-jordan 134 x 134 beside 100 columns, Neoverse N1, one thread, 1.13 times as fast.
SHORT, SHORT_INSIDE = 6, 12


@mutable
class ViewBuilder:
    """Turns a C tree into views. `pragmas` supplies the text in front of parallel and vector loops."""

    scop: Scop
    pragmas: Mapping[str, Maker]
    helpers: set[str] = field(default_factory=set)
    kernels: set[Kernel] = field(default_factory=set)
    threads: bool = False  # whether products may start threads
    once: bool = False  # no loop is printed a second time for little work
    blocks: Blocks | None = None  # of products, in place of their own
    variants: tuple[Blocks, ...] = ()  # of the machine: blocked products are there for all of them
    variant_kernels: tuple[set[Kernel], ...] = ()  # what those call
    tests: list[str] = field(default_factory=list)  # for threads, of all loops that have them; "" where none suffices
    _inside: bool = False  # inside a loop that runs on threads
    _stage: tuple[For, str] | None = None  # the loop over stages of the pipeline around, and its turn's name
    _copied: set[str] = field(default_factory=set)  # what is gathered in variables of the same name
    _known: Mapping[tuple[Instance, int], str] = field(default_factory=dict)  # values that were read ahead
    _narrow: frozenset[str] = frozenset()  # the counter of the loop around, where it is an int

    def build(self, node: CNode) -> tuple[View, ...]:
        self.variant_kernels = tuple(set() for _ in self.variants)
        return self._views(node, {}, {}, reserved(self.scop))

    def _views(
        self, node: CNode, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]
    ) -> tuple[View, ...]:
        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers, self._narrow)
        if isinstance(node, Block):
            out, rest = list[View](), node.children
            while rest:
                pair = self._pair(rest, names, held, taken) if isinstance(rest[0], ProductNode) else None
                views = (pair,) if pair is not None else self._views(rest[0], names, held, taken)
                # Each part has variables of its own, under the same name.
                out.extend((View("block", body=views),) if isinstance(rest[0], Declare) else views)
                rest = rest[1:] if pair is None else rest[2:]
            return tuple(out)
        if isinstance(node, Instance):
            s = self.scop.statement(node.stmt)
            printer = BodyAfter(self.scop, ints, held, self._known)
            if any(isinstance(e, DataLoop) for e in walk_expr(s.rhs)):
                return code_views(printer, s, node)
            return (View("stmt", printer.statement(s, node), stmt=s.name),)
        if isinstance(node, If):
            return self._if(node, ints, partial(self._views, names=names, held=held, taken=taken))
        if isinstance(node, Declare):
            now = {**held, **{h.array: h for h in node.slots}}
            body = self._views(node.body, names, now, taken)
            return with_declarations(self.scop, node.slots, node.body, body, self._declaration)
        if isinstance(node, ByThreads):
            few, many = (self._views(x, names, held, taken) for x in (node.few, node.many))
            return (View("if", few_threads(node, ints), body=few, orelse=many),)
        if isinstance(node, ProductNode):
            if isinstance(node.product.how, MatrixVector):
                return (self._matvec(node, node.product.how, names, held, taken),)
            return (self._product(node, names, held, taken),)
        if node.form is not None and not isinstance(node.form, ScalarReplacement):
            return (self._form(node.form, names, held, taken),)
        if node.lets:
            return (self._lets(node, names, held, taken),)
        if node.asked:
            return (self._asked(node, names, held, taken),)
        stage = stage_of(node) if PIPELINED in self.pragmas and not self._inside else None
        if stage is not None:
            return (self._pipeline(node, stage, names, held, taken),)
        return (self._ahead(node, names, held, taken),)

    @staticmethod
    def _if(node: If, ints: IntPrinter, views: Callable[[CNode], tuple[View, ...]]) -> tuple[View, ...]:
        cond = ints.settled(node.cond)
        if isinstance(cond, Int):  # by types alone
            taken = node.then if cond.value else node.orelse
            return () if taken is None else (View("block", body=views(taken)),)
        return (View("if", ints.text(cond), body=views(node.then), orelse=views(node.orelse) if node.orelse else ()),)

    def _form(self, form: Form, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]) -> View:
        """A loop by the form that it has."""
        from codegen.target.vector.forms import FormPrinter

        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        plain = partial(self._plainly, held)
        return FormPrinter(self.scop, ints, held, plain).view(form, taken)

    def _plainly(
        self, held: dict[str, Held], node: CNode, names: Mapping[str, str], taken: frozenset[str]
    ) -> tuple[View, ...]:
        return self._views(node, names, held, taken)

    def _lets(self, node: For, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]) -> View:
        """A loop, and ahead of it the subscripts that it uses again and again."""
        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        first = fresh("at", taken | {node.loop.name}, tuple(map(str, range(len(node.lets)))))
        given = {name: f"{first}{k}" for k, (name, _) in enumerate(node.lets)}
        loop = self._views(replace(node, lets=()), {**names, **given}, held, taken | set(given.values()))
        used = words_of(loop)  # a comparison that the type of its element decides is printed without the element
        lets = [(given[name], e) for name, e in node.lets if given[name] in used]
        return View("block", body=(*(View("decl", f"const long {name} = {ints.text(e)};") for name, e in lets), *loop))

    def _asked(self, node: For, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]) -> View:
        """A loop behind the condition of its statements."""
        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        inside = [x for x in walk(node.body) if isinstance(x, Instance)]
        s = self.scop.statement(inside[0].stmt)
        assert isinstance(s.rhs, Ternary)
        cond = BodyPrinter(self.scop, ints, held).value(s.rhs.cond, s, inside[0])
        bare = {x.stmt: without_condition(self.scop.statement(x.stmt)) for x in inside}
        saved = self.scop
        self.scop = replace(saved, statements=tuple(bare.get(q.name, q) for q in saved.statements))
        loop = self._views(replace(node, asked=node.asked[1:]), names, held, taken)
        self.scop = saved
        if not node.asked[0]:
            return View("if", cond, body=loop)
        runs = f"{ints.text(node.lower, 5)} {node.op} {ints.text(node.upper, 5)}"
        return View("if", f"{runs} && ({cond})", body=loop)

    def _ahead(self, node: For, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]) -> View:
        """A loop, and ahead of it what it reads from one place, if it runs at all."""
        if not node.ahead:
            return self._for(node, names, held, taken)
        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        printer = BodyPrinter(self.scop, ints, held)
        numbers = tuple(dict.fromkeys(x.name.partition(".")[2] for x in node.ahead))
        first = fresh("c", taken | {node.loop.name}, numbers)
        given = {x.name: f"{first}{x.name.partition('.')[2]}" for x in node.ahead}
        lines: dict[str, str] = {}
        for x in node.ahead:
            s = self.scop.statement(x.at.stmt)
            kind = self.scop.arrays[s.accesses[x.access].array].elem.spelling
            lines.setdefault(x.name, f"const {kind} {given[x.name]} = {printer.access(s, x.at, x.access)};")
        saved, self._known = self._known, {(x.at, x.access): given[x.name] for x in node.ahead}
        loop = self._for(node, names, held, taken | set(given.values()))
        self._known = saved
        ahead = (View("decl", text) for text in lines.values())
        return _if_it_runs(node, ints, (*ahead, *(loop.body if isinstance(node.form, ScalarReplacement) else (loop,))))

    def _pipeline(
        self, node: For, stage: For, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]
    ) -> View:
        """Iterations are shared out to threads in turn; each follows the one before it from stage to stage. What that
        covers is shown in verify/pipelines.py."""
        name = fresh(node.loop.name, taken, ("_turn",))
        turn, now = f"{name}_turn", {**names, node.var: name}
        ints = IntPrinter({p.name: p for p in self.scop.params}, {**names, turn: turn}, self.helpers)
        pragma = self.pragmas[PIPELINED](node, ints)
        self.tests.append("" if names else pragma.test)
        taken = taken | {name, turn}
        self._inside, self._stage = True, (stage, turn)
        body = self._views(node.body, now, held, taken)
        self._inside, self._stage = False, None
        value = ints.text(simple(Bin("+", node.lower, Bin("*", Int(node.step), Name(turn)))))
        threads = "num_threads((int)tw_min(tw_max_threads(), TW_LINE))"
        head = f"long {turn} = tw_thread(); {value} {node.op} {ints.text(node.upper, 5)}; {turn} += tw_team_size()"
        inside = (
            *((View("decl", f"const long {name} = {value};"),) if mentions(node.body, node.var) else ()),
            View("decl", f"tw_enter(tw_line, {turn});"),
            *body,
            View("decl", f"tw_follow(tw_line, {turn}, TW_LAST);"),
            View("decl", "tw_reach(tw_line, TW_LAST);"),
        )
        copies = named_alone(pragma.text[len(pragma.words) :], (View("for", head, body=inside),))
        own = View("for", head, node.loop.note, f"{pragma.words} {threads}{copies}", body=inside, loop=node)
        line = (View("decl", "tw_place tw_line[TW_LINE];"), View("decl", "tw_begin(tw_line);"))
        return View("block", body=(*line, own))

    def _product(
        self, node: ProductNode, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]
    ) -> View:
        # What few regions need; start-up time counts in a build.
        from codegen.target.product.blocked import ProductPrinter

        given = set(taken)

        def new_name(name: str) -> str:
            found = fresh(name, frozenset(given), ("b", "p", "t", "r"))
            given.update({found, *(found + x for x in ("b", "p", "t", "r"))})
            return found

        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        printer = ProductPrinter(self.scop, ints, new_name, held)
        what, how = node.product.what, node.product.how
        plain = self._plain(node, names, held, taken)
        if isinstance(how, Nested):
            nests = printer.nests(node)
            self._call((how.isa, how.bits, x.kernel) for x in nests.exact)
            return View("nested", body=plain, nested=nests, stmt=what.stmt)
        assert isinstance(how, Blocking)
        threads = self.threads and not self._inside
        views: list[ProductView] = []
        kernels = (self.kernels, *self.variant_kernels)
        for blocks, found in zip((self.blocks, *self.variants), kernels, strict=True):
            mine = replace(node, product=replace(node.product, how=blocks(what))) if blocks else node
            views.append(printer.view(mine, threads))
            found.update(views[-1].kernels)
        return View("product", body=plain, product=views[0], variants=tuple(views[1:]), stmt=what.stmt)

    def _call(self, kernels: Iterable[Kernel]) -> None:
        """These are called whatever the variant of the machine."""
        found = tuple(kernels)
        for each in (self.kernels, *self.variant_kernels):
            each.update(found)

    def _plain(
        self, node: ProductNode, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]
    ) -> tuple[View, ...]:
        saved, self.pragmas = self.pragmas, {**self.pragmas, BLOCKED: lambda node, ints: Pragma()}
        plain = self._views(plain_nest(node), names, held, taken)
        self.pragmas = saved
        return plain

    def _matvec(
        self,
        node: ProductNode,
        how: MatrixVector,
        names: Mapping[str, str],
        held: dict[str, Held],
        taken: frozenset[str],
    ) -> View:
        from codegen.target.matvec.view import MatvecPrinter, matvec_kernel_of

        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        view = MatvecPrinter(self.scop, ints, held).view(node, self.threads and not self._inside)
        self._call([(how.isa, how.bits, matvec_kernel_of(node.product.what, how))])
        return View("matvec", body=self._plain(node, names, held, taken), matvec=view, stmt=node.product.what.stmt)

    def _pair(
        self, nodes: Sequence[CNode], names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]
    ) -> View | None:
        """Two products at the head of nodes, if they share a kernel."""
        from codegen.target.matvec.pair import MatvecPrinter, kernel_of, pair_view

        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        view = pair_view(MatvecPrinter(self.scop, ints, held), nodes, self.threads and not self._inside)
        if view is None:
            return None
        self._call([(view.how.isa, view.how.bits, kernel_of(view))])
        make = self._views if view.serial else self._plain
        body = (v for x in nodes[:2] if isinstance(x, ProductNode) for v in make(x, names, held, taken))
        return View("matvec", body=tuple(body), matvec=view, stmt="" if view.serial else view.wanted.what.stmt)

    def _declaration(self, h: Held) -> str:
        array, sizes = self.scop.arrays[h.array], shape(self.scop, h)
        if not array.roomy:
            return f"{alignment(self.scop, h)}{array.elem.spelling} {array.name}{''.join(f'[{s}]' for s in sizes)};"
        start, each = memory_of(h.array)
        rows = "".join(f"[{s}]" for s in sizes[1:])
        name = f"(*const restrict {array.name}){rows}" if rows else f"*const restrict {array.name}"
        turn = f" + tw_thread() * {each}" if self.threads and self._inside else ""
        return f"{array.elem.spelling} {name} = (void *)({start}{turn});"

    def _for(self, node: For, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]) -> View:
        ints = IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)
        name = fresh(node.loop.name, taken)
        inner = {**names, node.var: name}
        step = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
        kind = "int" if node.narrow else "long"
        head = f"{kind} {name} = {ints.text(node.lower)}; {name} {node.op} {ints.text(node.upper, 5)}; {step}"
        if isinstance(node.form, ScalarReplacement):
            return self._carried(node, head, ints, inner, held, taken | {name})
        make = self.pragmas.get(node.loop.kind) if node.loop.kind in CONCURRENT else None
        pragma = make(node, ints) if make is not None else Pragma()
        outside, self._inside = self._inside, self._inside or node.loop.kind in THREADED
        apart = tuple(a for a in gathered_apart(self.scop, node, pragma) if a not in self._copied)
        self._copied |= set(apart)
        self._narrow = frozenset({node.var} if kind == "int" else ())
        body = self._views(node.body, inner, held, taken | {name})
        self._narrow = frozenset()
        self._inside = outside
        self._copied -= set(apart)
        pragma = collapsed(node, pragma, (View("for", head, body=body),))
        if self._stage is not None and self._stage[0] is node:
            wait = View("decl", f"tw_follow(tw_line, {self._stage[1]}, {name});")
            body = (wait, *body, View("decl", f"tw_reach(tw_line, {name});"))
        strips = bool(node.loop.reductions and node.loop.tile) and not _own_memory(body)
        plain = strips or all(v.kind == "stmt" for v in body)
        if pragma.test:
            tiles = any(x.loop.tile for x in walk(node) if isinstance(x, For))
            plain = plain or (_short(body, SHORT_INSIDE if names else SHORT) and not tiles)
        if not names and pragma.test:
            self.tests.append(pragma.test)
            plain = not self.once and plain
        elif node.loop.kind in THREADED:
            self.tests.append("")
        if pragma.test and plain:
            # Asking OpenMP takes as long as a thousand iterations, even if it then starts no threads. Again and again
            # inside another loop, that counts for a team of one thread, too.
            both = (pragma.threaded, pragma.alone)
            many, few = (View("for", head, node.loop.note, x, body, loop=node) for x in both)
            if node.alone is not None:
                few = self._form(node.alone, names, held, taken)
            if not names:
                return with_variables(self.scop, node, apart, View("if", pragma.little, body=(few,), orelse=(many,)))
            asked = f"{pragma.test} && tw_max_threads() > 1"
            return with_variables(self.scop, node, apart, View("if", asked, body=(many,), orelse=(few,)))
        loop = View("for", head, node.loop.note, pragma.text, body, loop=node)
        return with_variables(self.scop, node, apart, loop)

    def _carried(
        self,
        node: For,
        head: str,
        ints: IntPrinter,
        names: dict[str, str],
        held: dict[str, Held],
        taken: frozenset[str],
    ) -> View:
        """A loop that keeps values in variables, and what is read ahead of it, if it runs at all."""
        from codegen.target.vector.scalar_replacement import replacement_lines

        form = node.form
        assert isinstance(form, ScalarReplacement)
        given = set(taken)

        def new_names(stem: str, count: int) -> tuple[str, ...]:
            endings = tuple(f"_{k}" for k in range(count))
            found = fresh(stem, frozenset(given) - {stem}, endings)
            given.update({found, *(found + x for x in endings)})
            return tuple(found + x for x in endings)

        inner = IntPrinter(ints.params, names, self.helpers)
        slots = node.body.slots if isinstance(node.body, Declare) else ()
        held = {**held, **{h.array: h for h in slots}}
        known = {x.name: self._known[x.at, x.access] for x in node.ahead}
        lines = replacement_lines(self.scop, form, (ints, inner), held, known, new_names)
        ahead, body, after = (
            tuple(View("stmt", text, stmt=s) for text, s in part) for part in (lines.ahead, lines.body, lines.after)
        )
        body = with_declarations(self.scop, slots, node.body, body, self._declaration)
        return _if_it_runs(node, ints, (*ahead, View("for", head, node.loop.note, body=body), *after))


def _if_it_runs(node: For, ints: IntPrinter, body: tuple[View, ...]) -> View:
    """A loop and what is read ahead of it, which may not be there to be read where the loop has no iterations."""
    if node.sure or ints.settled(Bin(node.op, node.lower, node.upper)) == Int(1):
        return View("block", body=body)
    return View("if", f"{ints.text(node.lower, 5)} {node.op} {ints.text(node.upper, 5)}", body=body)


def reserved(scop: Scop) -> frozenset[str]:
    """Names that generated loops must not hide."""
    import re

    counters = {it for s in scop.statements for it in s.iterators}
    used = {a.base for a in scop.arrays.values()} | {a.name for a in scop.arrays.values()}
    for p in scop.params:
        used.update(re.findall(r"[A-Za-z_]\w*", p.text))
    return frozenset(used | KEYWORDS | (scop.names - counters))


def _short(views: Iterable[View], most: int) -> bool:
    """May it stand there twice?"""
    return not _own_memory(views) and 0 < _lines(views) <= most


def _lines(views: Iterable[View]) -> int:
    """How many lines views take; more than enough where they are no plain loops."""
    plain = ("for", "if", "stmt", "decl", "block")
    return sum(1 + _lines(v.body) + _lines(v.orelse) if v.kind in plain else SHORT_INSIDE + 1 for v in views)


def _own_memory(views: Iterable[View]) -> bool:
    """Is there something that threads have for themselves, by their number?"""
    return any("tw_thread()" in v.head or _own_memory((*v.body, *v.orelse)) for v in views)


__all__ = ["View", "ViewBuilder", "fresh", "reserved"]
