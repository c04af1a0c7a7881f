"""Proof of one tile of a time-tiled stencil: fetched with its halo, computed for some steps, and stored to the other
copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from codegen.ast.ctree import Bin, CExpr, Fun, Int, Name
from codegen.scop.model import Scop, Statement
from codegen.verify.cores.commands import command_of, is_transfer, wait_of
from codegen.verify.cores.expr import integer, polynomial, same
from codegen.verify.cores.frame import PUTS
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.loop_heads import step_of, with_integer
from codegen.verify.cores.memory import BoxCopy, TransferCommand, box
from codegen.verify.cores.records import KernelNames
from codegen.verify.cores.steps.margins import check_margins, check_unfetched
from codegen.verify.cores.steps.model import TIME, GridSweep, loops_of
from codegen.verify.cores.types import plain_type
from codegen.verify.cores.values import NameScope, marked
from codegen.verify.cores.vectors import PrintedNest
from codegen.verify.poly import Poly, poly, total, var
from codegen.verify.text.read import NOTHING, Node, Unread, nodes, read_expression

HALO, STEPS, TO_COME = Name("\0halo"), Name("\0steps"), Name("\0to come")


@dataclass
class TileContext:
    """What is known around a tile. `sides` are pointers to copies of arrays: which, and whether it is written."""

    scop: Scop
    words: KernelNames
    kernel: KernelReader
    sweeps: Sequence[GridSweep]
    sides: Mapping[str, tuple[str, bool]]
    most: int  # steps
    halo: int  # of one step
    growth: int  # with each further step
    steps: str  # the C name of their number
    before: CExpr  # the time of the first step
    last: Node  # the test for the last block

    @property
    def widest(self) -> int:
        return self.halo + self.growth * (self.most - 1)


class TileText:
    """The loops over tiles, and the statements for one of them."""

    def __init__(self, block: TileContext) -> None:
        self.b, self.scop = block, block.scop
        grid = self.scop.arrays[block.sweeps[0].target]
        self.axes = range(grid.rank)
        texts: dict[str, CExpr] = {p.text: Name(p.name) for p in self.scop.params}
        self.sizes = [integer(read_expression(e), texts) for e in grid.extents]
        self.arrays = {x.instance.stmt: [a.array for a in self._statement(x).accesses] for x in block.sweeps}
        grids = {a for x in block.sweeps for a, c in zip(self.arrays[x.instance.stmt], x.shifts, strict=True)
                 if c is not None}  # fmt: skip
        if any(self.scop.arrays[a].extents != grid.extents for a in grids):
            raise Unread("grids of different sizes")
        self.grids = sorted(grids)
        self.written = {x.target for x in block.sweeps}
        self.sides: list[int] = []
        self.at = [Name(f"\0at{d}") for d in self.axes]
        self.lows: list[CExpr] = [Name(f"\0low{d}") for d in self.axes]
        self.lens: list[CExpr] = [Name(f"\0len{d}") for d in self.axes]
        self.own: list[CExpr] = [Name(f"\0own{d}") for d in self.axes]
        self.known: dict[str, CExpr] = {}
        self.fetched: dict[str, str] = {}  # arrays, and the buffer of each
        self.tests: dict[str, Node] = {}  # names for conditions
        self.optional: dict[str, str] = {}  # arrays that are fetched where a named condition holds
        self.leaving: dict[str, str] = {}  # names for conditions under which a tile goes: the one for its fetch
        self.moved: set[str] = set()
        self.put: set[str] = set()

    def _statement(self, x: GridSweep) -> Statement:
        return self.scop.statement(x.instance.stmt)

    def run(self, s: Node, sc: NameScope) -> None:
        """Raises Unread unless tiles cover the grid, and each is right."""
        for d in self.axes:
            s, sc = self._over(s, sc, d)
        body = list(s.kids) if s.kind == "block" else [s]
        w = self.b.words
        turn = Node("after", "++", (Node("name", w.turn),))
        each = Node("binary", "%", (turn, Node("number", str(w.rows * w.columns))))
        deal = Node("binary", "!=", (each, Node("name", w.id)))
        if not body or body[0] != Node("if", "", (deal, Node("continue"), NOTHING)):
            raise Unread("tiles are dealt out in another way")
        left = [x for n in body[1:] for x in (n.kids if n.kind == "several" else (n,))]
        sc = self._come(left, sc)
        self._steps(left.pop(0) if left else NOTHING, sc)
        self._go(left, sc)

    def _over(self, s: Node, sc: NameScope, d: int) -> tuple[Node, NameScope]:
        """A loop over tiles along one axis, from the first element to the last."""
        if s.kind == "block" and len(s.kids) == 1:
            s = s.kids[0]
        first, cond, step, inside = s.kids if s.kind == "for" else (NOTHING,) * 4
        plain = first.kind == "declare" and first.kids[2] == Node("number", "0") and cond.kind == "binary"
        if not plain or cond.text != "<" or cond.kids[0] != Node("name", first.text):
            raise Unread("tiles are run through in another way")
        side = step_of(step, first.text)
        if side < 1 or not same(sc.integer(cond.kids[1]), self.sizes[d]):
            raise Unread("tiles do not cover the grid")
        self.sides.append(side)
        return inside, with_integer(sc, first.text, self.at[d])

    # -- what comes ----------------------------------------------------------------------------------

    def _come(self, left: list[Node], sc: NameScope) -> NameScope:
        """Declarations and commands ahead of the steps."""
        reply, counts, waited = "", list[Poly](), False
        while left and not (left[0].kind == "for" and not is_transfer(left[0])):
            s = left.pop(0)
            wait = wait_of(s.kids[0]) if s.kind == "do" else None
            if s.kind == "declare" and s.kids[0].text == "const long":
                sc = with_integer(sc, s.text, self._number(sc.integer(s.kids[2])))
            elif s.kind == "declare" and s.kids[0].text == "const int":
                self.tests[s.text] = s.kids[2]
                sc = with_integer(sc, s.text, Name(s.text))
            elif s.kind == "declare" and waited:
                sc = self._view(s, sc)
            elif s.kind == "do" and s.kids[0].kind == "assign" and not reply:
                reply = self._reset(s.kids[0])
            elif wait is not None:
                if wait.reply != reply or polynomial(sc.integer(wait.much)) != total(counts) or waited:
                    raise Unread("tiles are used before they are there")
                waited = True
            elif reply and not waited:
                counts.append(self._get(s, sc, reply))
            else:
                raise Unread(f"`{s.kind}` where a tile is fetched")
        if not waited or {c.array for c in sc.copies.values()} != set(self.grids):
            raise Unread("a grid is not fetched")
        return sc

    def _number(self, value: CExpr) -> CExpr:
        """Where the margin begins, how long it is, and how long the tile itself; names of their own for them."""
        for d in self.axes:
            at, side, size = self.at[d], Int(self.sides[d]), self.sizes[d]
            far = Fun("min", (size, Bin("+", Bin("+", at, side), HALO)))
            forms: dict[CExpr, CExpr] = {
                self.lows[d]: Fun("max", (Int(0), Bin("-", at, HALO))),
                self.lens[d]: Bin("-", far, self.lows[d]),
                self.own[d]: Fun("min", (side, Bin("-", size, at))),
            }
            for name, form in forms.items():
                if same(value, form):
                    return name
        raise Unread("a number that belongs to no tile")

    def _reset(self, e: Node) -> str:
        if e.text != "=" or e.kids[0].text not in self.b.kernel._replies or e.kids[1] != Node("number", "0"):
            raise Unread("something is set where commands are counted")
        return e.kids[0].text

    def _get(self, s: Node, sc: NameScope, reply: str) -> Poly:
        """A command that fetches a grid's tile; how many there are of it."""
        test = ""
        if s.kind == "if":
            test = s.kids[0].text
            if s.kids[0].kind != "name" or test not in self.tests or s.kids[2] != NOTHING:
                raise Unread("a condition around a command")
            s = s.kids[1].kids[0] if s.kids[1].kind == "block" and len(s.kids[1].kids) == 1 else s.kids[1]
        c, base = self._command(s, sc, reply, False)
        self._check_box(c, self.lows, self.lens)
        array, to = self.b.sides.get(base, (c.outside.array, False))
        if to or c.outside.array != array or (array in self.written) != (base in self.b.sides):
            raise Unread(f"`{array}` is fetched from the copy that is written")
        room = prod(side + 2 * self.b.widest for side in self.sides)
        taken = array in self.fetched or c.buffer in self.fetched.values()
        if taken or self.b.kernel.buffers[c.buffer].elements < room:
            raise Unread(f"`{c.buffer}` has no room for the tile")
        self.fetched[array] = c.buffer
        if test:
            self.optional[array] = test
        return c.commands() * (var(test) if test else poly(1))

    def _command(self, s: Node, sc: NameScope, reply: str, put: bool) -> tuple[TransferCommand, str]:
        c = command_of(sc, self.b.kernel.buffers, s)
        calls = [n for n in nodes(s) if n.kind == "call" and n.text.startswith("athread_")]
        if c is None or c.put != put or c.shared or c.reply != reply or c.copy or len(calls) != 1:
            raise Unread("another command than the tile's")
        bases = [_base(n.kids[0]) for n in calls[0].kids if n.kind == "unary" and n.text == "&"]
        known = [x for x in bases if x in sc.outsides]
        if len(known) != 1 or (calls[0].text in PUTS) != put or self.b.kernel.buffers[c.buffer].copies != 1:
            raise Unread("another command than the tile's")
        return c, known[0]

    def _check_box(self, c: TransferCommand, lows: Sequence[CExpr], lens: Sequence[CExpr]) -> None:
        found = box(c, lens[1:])
        if not all(map(same, (*found[0], *found[1]), (*lows, *lens))):
            raise Unread(f"another part of `{c.outside.array}` than the tile")

    def _view(self, s: Node, sc: NameScope) -> NameScope:
        """A pointer to the tile in its buffer."""
        kind, sizes, value = s.kids
        if value.kind == "cast" and value.text == "void *":
            value = value.kids[0]
        array = next((a for a, b in self.fetched.items() if value == Node("name", b)), None)
        shape = [sc.integer(x) for x in sizes.kids]
        if array is None or len(shape) != len(self.axes) - 1 or not all(map(same, shape, self.lens[1:])):
            raise Unread(f"`{s.text}` addresses no tile")
        if plain_type(kind.text) != self.b.kernel.buffers[self.fetched[array]].elem:
            raise Unread(f"`{s.text}` addresses elements of another type")
        copy = BoxCopy(s.text, value.text, array, tuple(self.lows), tuple(self.lens), True, False)
        return sc._replace(copies={**sc.copies, s.text: copy})

    # -- steps ---------------------------------------------------------------------------------------

    def _steps(self, s: Node, sc: NameScope) -> None:
        """The loop over steps: each statement on its margin, one after the other."""
        first, cond, step, inside = s.kids if s.kind == "for" else (NOTHING,) * 4
        name = first.text
        want = (read_expression(f"{self.b.steps} - 1"), read_expression(f"{name} >= 0"),
                Node("after", "--", (Node("name", name),)))  # fmt: skip
        if first.kind != "declare" or (first.kids[2], cond, step) != want:
            raise Unread("steps are counted in another way")
        sc = with_integer(sc, name, TO_COME)
        body = list(inside.kids) if inside.kind == "block" else [inside]
        now = Bin("-", Bin("-", Bin("+", self.b.before, STEPS), Int(1)), TO_COME)
        if body and body[0].kind == "declare" and same(sc.integer(body[0].kids[2]), now):
            sc = with_integer(sc, body.pop(0).text, Name(TIME))
        if len(body) != 2 * len(self.b.sweeps):
            raise Unread("more or fewer statements in a step")
        widths = []
        for k, x in enumerate(self.b.sweeps):
            margin, nest = body[2 * k : 2 * k + 2]
            widths.append(self._margin(margin, sc))
            self._sweep(x, nest, with_integer(sc, margin.text, Name("\0margin")))
        check_margins(self.arrays, self.b.sweeps, widths, self.b.growth, self.b.halo)
        self._check_optional(widths, sc)

    def _margin(self, s: Node, sc: NameScope) -> int:
        value = polynomial(sc.integer(s.kids[2])) if s.kind == "declare" else var("")
        width = (value - var(TO_COME.name) * self.b.growth).number
        if width is None:
            raise Unread("a margin that does not become smaller by the step")
        return width

    def _sweep(self, x: GridSweep, text: Node, sc: NameScope) -> None:
        margin = Name("\0margin")
        lows = [Fun("max", (low, Bin("-", self.at[d], margin))) for d, low in enumerate(x.lows)]
        ends = [Bin("+", Bin("+", self.at[d], Int(self.sides[d])), margin) for d in self.axes]
        highs = [Fun("min", (high, ends[d])) for d, high in enumerate(x.highs)]
        nest = PrintedNest(loops_of(x, lows, highs), x.instance, marked(self.scop, x.instance))
        nest.read(sc, [text])
        views = {c.array: c.name for c in sc.copies.values()}
        for k, (array, shift) in enumerate(zip(self.arrays[x.instance.stmt], x.shifts, strict=True)):
            found = nest.places.get(k, set())
            if found and found != {views[array] if shift is not None else ""}:
                raise Unread(f"{x.instance.stmt} finds `{array}` in another place")

    def _check_optional(self, widths: Sequence[int], sc: NameScope) -> None:
        """An array that is not fetched: the condition says that there are steps, and that all that writes it writes
        the whole tile and its margin."""
        writes = {x.instance.stmt: [a.write for a in self._statement(x).accesses] for x in self.b.sweeps}
        for array, test in self.optional.items():
            found = [_test(sc, e) for e in _alternatives(self.tests[test])]
            wanted: list[tuple[str, CExpr, CExpr]] = [("==", STEPS, Int(0))]
            for x in (x for x in self.b.sweeps if x.target == array):
                for d in self.axes:
                    wanted.append(("<", self.lows[d], x.lows[d]))
                    wanted.append((">", Bin("+", self.lows[d], self.lens[d]), x.highs[d]))
            for op, a, b in wanted:
                if not any(op == o and same(a, m) and same(b, n) for o, m, n in found):
                    raise Unread(f"`{array}` is not fetched where parts of it stay as they are")
            check_unfetched(array, self.arrays, writes, self.b.sweeps, widths)

    # -- what goes -----------------------------------------------------------------------------------

    def _go(self, left: list[Node], sc: NameScope) -> None:
        """The tile without its margin goes to the other copy, array by array."""
        reply, counts, waited = "", list[Poly](), False
        for s in left:
            wait = wait_of(s.kids[0]) if s.kind == "do" else None
            if waited:
                raise Unread("something happens after the tile is gone")
            if s.kind == "declare" and s.kids[0].text == "const long":
                sc = with_integer(sc, s.text, self._number(sc.integer(s.kids[2])))
            elif s.kind == "do" and s.kids[0].kind == "assign" and s.kids[0].kids[0].kind == "name" and not reply:
                reply = self._reset(s.kids[0])
            elif wait is not None:
                waited = wait.reply == reply and polynomial(sc.integer(wait.much)) == total(counts)
            elif s.kind == "declare":
                sc = self._leave(s, sc)
            elif s.kind == "for" and not is_transfer(s):
                self._move(s, sc)
            elif s.kind == "if" and reply:
                counts.append(self._put_if(s, sc, reply))
            elif reply:
                counts.append(self._put(s, sc, reply))
            else:
                raise Unread(f"`{s.kind}` where a tile goes")
        if not waited or self.put != self.written:
            raise Unread("a tile is not gone, or nobody waits for it")

    def _leave(self, s: Node, sc: NameScope) -> NameScope:
        """When a tile goes that is not always fetched: where it was fetched, and in the last block. Elsewhere every
        step writes all of it and its margin, before anything reads it: so does the next block, which needs none of
        these values. What steps do not write lies in tiles that are fetched, and so goes on to the last block."""
        first = s.kids[2].kids[0].text if s.kids[2].kids else ""
        want = Node("binary", "||", (Node("name", first), self.b.last))
        if s.kids[0].text != "const int" or s.kids[1].kids or s.kids[2] != want or first not in self.optional.values():
            raise Unread(f"`{s.text}` says something else than when a tile goes")
        self.leaving[s.text] = first
        return with_integer(sc, s.text, Name(s.text))

    def _put_if(self, s: Node, sc: NameScope, reply: str) -> Poly:
        test, body, otherwise = s.kids
        inner = body.kids if body.kind == "block" else (body,)
        if test.kind != "name" or test.text not in self.leaving or otherwise != NOTHING or len(inner) != 2:
            raise Unread("a condition around what brings a tile back")
        self._move(inner[0], sc)
        before = set(self.put)
        count = self._put(inner[1], sc, reply)
        (array,) = self.put - before
        if self.optional.get(array) != self.leaving[test.text]:
            raise Unread(f"`{array}` does not go where it is needed")
        return count * var(test.text)

    def _move(self, s: Node, sc: NameScope) -> None:
        """The tile's own elements, side by side at the beginning of the buffer. Each comes from a place that is not
        before the one it goes to, and they go in ascending order, so that none is lost."""
        counters = []
        for d in self.axes:
            if s.kind == "block" and len(s.kids) == 1:
                s = s.kids[0]
            first, cond, step, inside = s.kids if s.kind == "for" else (NOTHING,) * 4
            plain = first.kind == "declare" and first.kids[2] == Node("number", "0") and cond.kind == "binary"
            if not plain or cond.text != "<" or cond.kids[0] != Node("name", first.text):
                raise Unread("a tile is moved in another way")
            if step_of(step, first.text) != 1 or not same(sc.integer(cond.kids[1]), self.own[d]):
                raise Unread("another part than the tile is moved")
            sc = with_integer(sc, first.text, Name(f"\0q{d}"))
            counters.append(Name(f"\0q{d}"))
            s = inside
        s = s.kids[0] if s.kind == "block" and len(s.kids) == 1 else s
        e = s.kids[0] if s.kind == "do" else NOTHING
        to, source = e.kids if e.kind == "assign" and e.text == "=" else (NOTHING, NOTHING)
        copy, at = sc.copies.get(_base(source)), _subscripts(source)
        if copy is None or to.kind != "index" or to.kids[0] != Node("name", copy.buffer) or copy.array in self.moved:
            raise Unread("a tile is moved elsewhere")
        place = poly(0)
        for d, c in enumerate(counters):
            place = place * polynomial(self.own[d]) + polynomial(c)
        wanted = [Bin("+", Bin("-", self.at[d], self.lows[d]), c) for d, c in enumerate(counters)]
        if polynomial(sc.integer(to.kids[1])) != place or len(at) != len(wanted):
            raise Unread("a tile is moved elsewhere")
        if not all(same(sc.integer(x), w) for x, w in zip(at, wanted, strict=True)):
            raise Unread("another part than the tile is moved")
        self.moved.add(copy.array)

    def _put(self, s: Node, sc: NameScope, reply: str) -> Poly:
        c, base = self._command(s, sc, reply, True)
        self._check_box(c, self.at, self.own)
        array, to = self.b.sides.get(base, ("", False))
        if not to or array not in self.moved or self.fetched[array] != c.buffer or array in self.put:
            raise Unread(f"`{base}` is no copy that is written")
        self.put.add(array)
        return c.commands()


def _base(e: Node) -> str:
    while e.kind == "index":
        e = e.kids[0]
    return e.text if e.kind == "name" else ""


def _subscripts(e: Node) -> list[Node]:
    found: list[Node] = []
    while e.kind == "index":
        found.insert(0, e.kids[1])
        e = e.kids[0]
    return found


def _alternatives(e: Node) -> list[Node]:
    return [x for k in e.kids for x in _alternatives(k)] if e.kind == "binary" and e.text == "||" else [e]


def _test(sc: NameScope, e: Node) -> tuple[str, CExpr, CExpr]:
    if e.kind != "binary":
        raise Unread("a condition of another form")
    return e.text, sc.integer(e.kids[0]), sc.integer(e.kids[1])
