"""Splits a proven C tree into kernels and the host loops that launch them.

A nest whose outer loops are marked as a grid becomes a kernel: the values of those loops are shared out to threads.
What stands outside of all grids and has none inside runs as a kernel of one thread, so that data stay where they are.
Loops around kernels run on the host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from codegen.ast.ctree import Bin, Block, CExpr, CNode, Declare, For, Fun, Held, If, Instance, Int, Name, walk
from codegen.ast.generate import expression
from codegen.diagnostics import Unsupported
from codegen.gpu import narrow
from codegen.gpu.body import DeviceBody, plain_type
from codegen.gpu.read_back import PrintedKernel, check_kernel, iterations_left
from codegen.gpu.staged.find import StagedLoop, element, sure_accesses
from codegen.gpu.staged.terms import TermLoop
from codegen.gpu.staged.terms_text import TermsKernel
from codegen.gpu.staged.text import StagedKernel
from codegen.gpu.stream.model import TimeTile
from codegen.gpu.tiles.find import TiledProduct
from codegen.record import record
from codegen.scop.dependences import param_space
from codegen.scop.expr import Binary, Ref
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.scop.tree import GRID
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View, fresh, texts_of
from codegen.target.view import reserved
from codegen.verify.readback import TreePoint, enter

AXES = ("x", "y", "z")  # the last loop of a grid runs along x
AHEAD = "TW_AHEAD"  # many loads of a thread's own loop are under way at once
MANY = 16  # iterations that are written out for that
MOST_STRIP = 8
SEVERAL = 8  # iterations of several statements that are written out: recurrences, whose loads need not wait for them
MOST_STATEMENTS = 8
STRIP = "TW_STRIP"  # a loop of a few iterations, as straight code
_WORD = re.compile(r"[A-Za-z_]\w*")


@record
class GridAxis:
    """One loop of a grid: how many iterations it has at most, and its threads in a block."""

    loop: str
    count: str
    threads: int


@record
class DeviceKernel:
    """A kernel with everything that templates print of it."""

    name: str
    axes: tuple[GridAxis, ...]  # outermost first
    body: tuple[View, ...]
    words: tuple[str, ...]  # that its text mentions
    around: frozenset[str]  # counters of the host's loops around it
    stmts: tuple[str, ...]
    node: CNode  # what it does
    tiled: TiledProduct | None = None  # the same in tiles
    staged: StagedKernel | None = None  # the same with operands in shared memory
    terms: TermsKernel | None = None  # the same with terms of sums that a block computes
    names: Mapping[str, str] = field(default_factory=dict)  # of the counters of the host's loops
    launches: isl.Set | None = None  # values of the host's loops, by parameters
    small: str = ""  # the test of sizes for which counters of type int will do


@record
class LaunchView(View):
    """A view of the host's code: the kernel starts here, with these arguments."""

    kernel: str = ""


@record
class StepsView(View):
    """A view of the host's code: iterations of the loop around it run in tiles, and the counter moves on."""

    steps: TimeTile | None = None
    counter: str = ""
    left: str = ""  # iterations from this one on
    kernel: str = ""  # the first kernel behind it


@dataclass
class Kernels:
    """Takes a tree apart."""

    scop: Scop
    name: str
    calls: Mapping[str, str] = field(default_factory=dict)
    kernels: list[DeviceKernel] = field(default_factory=list)
    helpers: set[str] = field(default_factory=set)
    scratch: list[Held] = field(default_factory=list)  # variables of the region that several kernels use
    counters: dict[str, str] = field(default_factory=dict)  # of loops on the host, by their printed names
    tiled: Mapping[str, TiledProduct] = field(default_factory=dict)  # by statement
    staged: Sequence[StagedLoop] = ()
    terms: Sequence[TermLoop] = ()
    steps: Sequence[TimeTile] = ()
    narrows: bool = True  # counters may be of type int
    bounds: narrow.Bounds = field(default_factory=dict)  # of parameters and of counters on the host

    def host(self, node: CNode) -> tuple[View, ...]:
        """What the launcher does."""
        start = isl.Set.universe(param_space(self.scop).set_from_params()).intersect_params(self.scop.context)
        self.bounds = narrow.sizes(self.scop)
        return self._host(node, {}, TreePoint(start, (), (), (), ()), reserved(self.scop))

    def _host(
        self, node: CNode, names: Mapping[str, str], at: TreePoint, taken: frozenset[str]
    ) -> tuple[View, ...]:
        if isinstance(node, Declare):
            self._keep(node)
            return self._host(node.body, names, at, taken)
        if not has_grid(node) or (isinstance(node, For) and node.loop.kind == GRID):
            return (self._kernel(node, names, at, taken),)
        ints = self._ints(names)
        if isinstance(node, Block):
            return tuple(v for part in _runs(node.children) for v in self._host(part, names, at, taken))
        if isinstance(node, If):
            inside = _within(at, node, True)
            orelse = () if node.orelse is None else self._host(node.orelse, names, _within(at, node, False), taken)
            return (View("if", ints.text(node.cond), body=self._host(node.then, names, inside, taken), orelse=orelse),)
        assert isinstance(node, For)
        name = fresh(node.loop.name, taken)
        self.counters[name] = node.var
        self.bounds = narrow.counters(node, self.bounds)
        now, first = {**names, node.var: name}, f"{self.name}_{len(self.kernels) + 1}"
        body = self._host(node.body, now, enter(node, at), taken | {name})
        tiles = next((x for x in self.steps if x.stencil.loop is node), None)
        if tiles is not None:
            left = iterations_left(node, self._ints(now))
            body = (StepsView("steps", steps=tiles, counter=name, left=left, kernel=first), *body)
        return (View("for", _head(node, name, ints), body=body),)

    def _keep(self, node: Declare) -> None:
        """A variable outside of all kernels: memory of the device, of which there is one object at a time."""
        for h in node.slots:
            array = self.scop.arrays[h.array]
            if any(h.sizes[: array.scope]) or not all(e.isdigit() for e in array.extents):
                raise Unsupported("gpu-array", f"`{array.name}` would need room for several values at once",
                                  self.scop.loc, "declare it inside the loops that use it")
            if all(h.array != x.array for x in self.scratch):
                self.scratch.append(h)

    def _ints(self, names: Mapping[str, str]) -> IntPrinter:
        return IntPrinter({p.name: p for p in self.scop.params}, names, self.helpers)

    def _kernel(self, node: CNode, names: Mapping[str, str], at: TreePoint, taken: frozenset[str]) -> View:
        chain = thread_loops(node)
        counts = _counts(self.scop, chain, at)
        ints = self._ints(names)
        axes = tuple(
            GridAxis(lp.loop.name, ints.text(c), lp.loop.factor) for lp, c in zip(chain, counts, strict=True)
        )
        name = f"{self.name}_{len(self.kernels) + 1}"
        shared = frozenset(h.array for h in self.scratch)
        body = _Thread(self, shared, tuple(id(lp) for lp in chain)).views(node, names, {}, taken)
        self._check(PrintedKernel(node, chain, names, body, shared, self._types()))
        words = set(_WORD.findall(" ".join(texts_of(body))))
        stmts = tuple(dict.fromkeys(x.stmt for x in walk(node) if isinstance(x, Instance)))
        around = frozenset(names.values())
        tiled = self.tiled.get(stmts[0]) if len(stmts) == 1 else None
        staged = next((self._staged(x, names, taken) for x in self.staged if chain and x.nest.grid is chain[0]), None)
        found = tuple(sorted(words))
        terms = None if chain else self._terms(node, names, taken)
        kernel = DeviceKernel(name, axes, body, found, around, stmts, node, tiled, staged, terms, dict(names),
                              at.domain)  # fmt: skip
        if self.narrows and not tiled and not staged and not terms:
            kernel = self._narrow(kernel, node, [narrow.GridLoop(x, c) for x, c in zip(chain, counts, strict=True)])
        self.kernels.append(kernel)
        return LaunchView("launch", kernel=name)

    def _terms(self, node: CNode, names: Mapping[str, str], taken: frozenset[str]) -> TermsKernel | None:
        """What one thread runs, if others compute terms for it."""
        inside = {id(x) for x in walk(node)}
        loops = tuple(t for t in self.terms if id(t.loop) in inside)
        shared = frozenset(h.array for h in self.scratch)
        return TermsKernel(node, loops, dict(names), taken, shared, self.calls, bool(names)) if loops else None

    def _narrow(self, k: DeviceKernel, node: CNode, grid: Sequence[narrow.GridLoop]) -> DeviceKernel:
        """With counters of either type, and a test of sizes for that; as it is where they have to be long."""
        most, both = narrow.limit(self.scop, node, grid, self.bounds), narrow.narrowed(k.body)
        if not most or both is None:
            return k
        words = (*k.words, *(w for x in k.axes for w in _WORD.findall(x.count)))
        return replace(k, body=both, small=narrow.condition(self.scop, words, sorted(k.around), most))

    def _types(self) -> Mapping[str, str]:
        """Of variables that a thread has for itself."""
        return {a.name: plain_type(a.elem) for a in self.scop.arrays.values() if a.inside}

    def _check(self, kernel: PrintedKernel) -> None:
        def printer(ints: IntPrinter, held: dict[str, Held]) -> DeviceBody:
            return DeviceBody(self.scop, ints, held, kernel.scratch, dict(self.calls))

        check_kernel(self.scop, kernel, printer)

    def _staged(self, what: StagedLoop, names: Mapping[str, str], taken: frozenset[str]) -> StagedKernel:
        """What a thread does before and behind the loop that reads shared memory, and the names of its counters."""
        nest, shared = what.nest, frozenset(h.array for h in self.scratch)
        thread = fresh(nest.grid.loop.name, taken)
        here = {**names, nest.grid.var: thread}
        held, parts = {h.array: h for h in nest.held}, (Block(nest.before), Block(nest.after))
        before, after = (_Thread(self, shared, ()).views(part, here, held, taken | {thread}) for part in parts)
        for part, views in zip(parts, (before, after), strict=True):
            self._check(PrintedKernel(part, (), here, views, shared, self._types(), held))
        counter = fresh(nest.loop.loop.name, taken | {thread})
        return StagedKernel(what, {**here, nest.loop.var: counter}, before, after, shared, self.calls)


@record
class _Thread:
    """What one thread of a kernel does."""

    kernels: Kernels
    scratch: frozenset[str]
    chain: tuple[int, ...]

    def views(
        self, node: CNode, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str]
    ) -> tuple[View, ...]:
        scop, ints = self.kernels.scop, self.kernels._ints(names)
        if isinstance(node, Block):
            out: list[View] = []
            for child in node.children:
                views = self.views(child, names, held, taken)
                out.extend((View("block", body=views),) if isinstance(child, Declare) else views)
            return tuple(out)
        if isinstance(node, Instance):
            s = scop.statement(node.stmt)
            printer = DeviceBody(scop, ints, held, self.scratch, dict(self.kernels.calls))
            return (View("stmt", printer.statement(s, node), stmt=s.name),)
        if isinstance(node, If):
            orelse = () if node.orelse is None else self.views(node.orelse, names, held, taken)
            return (View("if", ints.text(node.cond), body=self.views(node.then, names, held, taken), orelse=orelse),)
        if isinstance(node, Declare):
            now = {**held, **{h.array: h for h in node.slots}}
            decls = tuple(View("decl", self._declaration(h)) for h in node.slots if h.array not in self.scratch)
            return (*decls, *self.views(node.body, names, now, taken))
        assert isinstance(node, For)
        name = fresh(node.loop.name, taken)
        inner = self.views(node.body, {**names, node.var: name}, held, taken | {name})
        if id(node) not in self.chain:
            times = unrolled(scop, node)
            ahead = AHEAD if times == MANY else f"{STRIP}({times})" if times else ""
            return (View("for", _head(node, name, ints), pragma=ahead, body=inner),)
        axis = AXES[len(self.chain) - 1 - self.chain.index(id(node))]
        value = View("decl", f"const long {name} = {_own(node, ints, axis)};")
        return value, View("if", f"{name} {node.op} {ints.text(node.upper, 5)}", body=inner)

    def _declaration(self, h: Held) -> str:
        array = self.kernels.scop.arrays[h.array]
        sizes = [array.extents[k - array.scope] if size < 0 else str(size) for k, size in enumerate(h.sizes) if size]
        return f"{plain_type(array.elem)} {array.name}{''.join(f'[{s}]' for s in sizes)};"


def _head(node: For, name: str, ints: IntPrinter) -> str:
    """A loop's head."""
    advance = f"{name}++" if node.step == 1 else f"{name} += {node.step}"
    return f"long {name} = {ints.text(node.lower)}; {name} {node.op} {ints.text(node.upper, 5)}; {advance}"


def _asks_first(scop: Scop, at: Instance) -> bool:
    """Do values decide, by && or ||, which elements it reads? Those cannot be on their way before: written out many
    times, such iterations are branches that take registers for where they meet again."""
    s = scop.statement(at.stmt)
    sure = {element(scop, at, k) for k in sure_accesses(s.rhs)}
    late = (e.right for e in walk_expr(s.rhs) if isinstance(e, Binary) and e.op in ("&&", "||"))
    return any(element(scop, at, x.access) not in sure for e in late for x in walk_expr(e) if isinstance(x, Ref))


def unrolled(scop: Scop, node: For) -> int:
    """How many iterations of a loop over plain statements are written out: all, if it is a strip of few; less, where
    there are several statements; 0 where compilers decide."""
    body = node.body.children if isinstance(node.body, Block) else (node.body,)
    if any(not isinstance(x, Instance) or _asks_first(scop, x) for x in body):
        return 0
    if len(body) > 1:
        return SEVERAL if len(body) <= MOST_STATEMENTS else 0
    ends = node.upper.args if isinstance(node.upper, Fun) and node.upper.name == "min" else (node.upper,)
    few = (e.right.value for e in ends if isinstance(e, Bin) and e.op == "+" and e.left == node.lower
           and isinstance(e.right, Int) and node.op == "<" and node.step == 1)  # fmt: skip
    count = min(few, default=0)
    return count if 0 < count <= MOST_STRIP else MANY


def first_of(axis: str) -> str:
    """The name of a launch's first thread along an axis of which a grid has few blocks; empty where one will do."""
    return "" if axis == "x" else f"tw_first_{axis}"


def _own(node: For, ints: IntPrinter, axis: str) -> str:
    """The value of a loop that is this thread's."""
    number = " + ".join(x for x in (first_of(axis), f"TW_THREAD_{axis.upper()}") if x)
    own = number if node.step == 1 else f"{node.step} * ({number})"
    return own if node.lower == Int(0) else f"{ints.wide(node.lower, 5)} + {own}"


def has_grid(node: CNode) -> bool:
    """Are there loops for threads in it?"""
    return any(isinstance(x, For) and x.loop.kind == GRID for x in walk(node))


def _runs(children: Sequence[CNode]) -> list[CNode]:
    """Neighbours without loops for threads are one kernel."""
    out: list[list[CNode]] = []
    for c in children:
        if out and not has_grid(c) and not has_grid(out[-1][0]) and not isinstance(c, Declare):
            out[-1].append(c)
        else:
            out.append([c])
    return [Block(tuple(run)) if len(run) > 1 else run[0] for run in out]


def thread_loops(node: CNode) -> list[For]:
    """The loops for threads around everything that a kernel does, outermost first."""
    out: list[For] = []
    while isinstance(node, (For, If)) and len(out) < len(AXES):
        if isinstance(node, If):
            if node.orelse is not None:
                break
            node = node.then
        elif node.loop.kind == GRID:
            out.append(node)
            node = node.body
        else:
            break
    return out


def _within(at: TreePoint, node: If, holds: bool) -> TreePoint:
    cond = at.condition(node.cond)
    domain = at.domain.intersect(cond) if holds else at.domain.subtract(cond)
    return replace(at, domain=domain.coalesce())


def _counts(scop: Scop, chain: Sequence[For], at: TreePoint) -> list[CExpr]:
    """How many threads each loop needs, by the parameters and the host's loops. Raises Unsupported unless that is shown
    to be enough for all of its values."""
    outer = len(at.vars)
    for lp in chain:
        at = enter(lp, at)
    out = []
    for k, lp in enumerate(chain):
        line = _line(at.domain, at.vars, outer, outer + k)
        size = _size(line, 1)
        if size.n_piece() > 4 or lp.step > 1:
            size = _size(isl.Set.from_basic_set(line.simple_hull().remove_divs()), lp.step)
        build = isl.AstBuild.from_context(isl.Set.universe(size.get_domain_space().params()))
        out.append(expression(build.expr_from_pw_aff(size.coalesce())))
    for lp, count in zip(chain, out, strict=True):
        if not enough(lp, count, at):
            raise Unsupported("no-proof", f"threads for all of loop `{lp.loop.name}` could not be proven", scop.loc)
    return out


def _size(line: isl.Set, step: int) -> isl.PwAff:
    """How many values of a loop with this step there are, from the least on."""
    span = line.dim_max(0).sub(line.dim_min(0))
    steps = span if step == 1 else span.scale_down_val(isl.Val(step)).floor()
    return steps.add_constant_val(isl.Val(1))


def enough(lp: For, count: CExpr, at: TreePoint) -> bool:
    """Are so many threads enough for the loop, wherever what is inside of it runs?"""
    number = at.value(Name(lp.var)).sub(at.value(lp.lower))
    return bool(at.domain.is_subset(number.lt_set(at.value(count).scale_val(isl.Val(lp.step)))))


def _line(domain: isl.Set, names: Sequence[str], outer: int, which: int) -> isl.Set:
    """The values of one loop variable, with those of the host's loops as parameters."""
    have = domain.dim(isl.dim_type.set)
    domain = domain.project_out(isl.dim_type.set, which + 1, have - which - 1)
    domain = domain.project_out(isl.dim_type.set, outer, which - outer)
    first = domain.dim(isl.dim_type.param)
    domain = domain.move_dims(isl.dim_type.param, first, isl.dim_type.set, 0, outer) if outer else domain
    for k in range(outer):
        domain = domain.set_dim_name(isl.dim_type.param, first + k, names[k])
    return domain.coalesce()
