"""Parses the preamble of a mesh product (tile shapes, the partition of local memory, trip counts), and checks that the
regions of local memory have room and do not overlap. Raises Unread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codegen.ast.ctree import CExpr, Name
from codegen.scop.dependences import Dependences
from codegen.scop.model import Scop
from codegen.verify.cores.frame import LocalMemoryFrame
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.memory import MainArray
from codegen.verify.cores.mesh.model import MeshProduct
from codegen.verify.cores.mesh.names import LocalPlace, MeshIntegers, MeshScope, check_least, of_tree
from codegen.verify.cores.records import KernelNames
from codegen.verify.cores.values import NameScope
from codegen.verify.poly import ZERO, Poly, poly, var
from codegen.verify.text.facts import Facts
from codegen.verify.text.integers import IntegerCondition, negated, ways
from codegen.verify.text.lanes import show
from codegen.verify.text.read import NOTHING, Node, Unread
from codegen.verify.text.samples import FEW

UNIT = 4  # rows of a tile and depths of slices are multiples of it
VECTORS = 4  # and columns of so many vectors
BYTES = 8


class TileShape(NamedTuple):
    """What the text was promised of tiles: their sides, and the elements of local memory that they need."""

    tall: Poly
    wide: Poly
    deep: Poly
    room: int
    lanes: int
    copies: int  # of slices


class Extent(NamedTuple):
    first: Poly
    past: Poly


class MeshSizes(NamedTuple):
    """All that stands ahead of the turns."""

    p: MeshProduct
    scop: Scop
    deps: Dependences
    words: KernelNames
    kernel: KernelReader
    core: NameScope  # for nests on a tile
    scope: MeshScope
    shape: TileShape
    spans: tuple[Extent, Extent, Extent]  # rows, columns and depth
    regions: Mapping[str, tuple[Poly, ...]]  # where copies begin, by name
    room: int
    switches: frozenset[str]  # variables that begin with 0
    replies: frozenset[str]
    messages: frozenset[str]  # words that tell whether a core's own message is gone; in the beginning it is
    defined: Mapping[str, Node]  # what names were declared as

    def place(self, sc: MeshScope, e: Node) -> LocalPlace:
        """An address in local memory."""
        offset = ZERO
        while e.kind == "binary" and e.text == "+":
            e, far = e.kids
            offset = offset + sc.value(far)
        if e.kind == "unary" and e.text == "&" and e.kids[0].kind == "index":
            e, far = e.kids[0].kids
            found = self.place(sc, e)
            return found._replace(offset=found.offset + offset + sc.value(far))
        copy = ""
        if e.kind == "index" and e.kids[0].kind == "name" and len(self.regions.get(e.kids[0].text, ())) == 2:
            e, at = e.kids
            number = None if _switch(at, self.switches) else sc.value(at).number
            copy = show(at) if number is None else str(number)
        if e.kind != "name" or e.text not in self.regions or (len(self.regions[e.text]) == 2) != bool(copy):
            raise Unread(f"a place {show(e)} in local memory")
        return LocalPlace(e.text, copy, offset)

    def outside(self, name: str) -> MainArray:
        if name not in self.core.outsides:
            raise Unread(f"`{name}` is no array")
        return self.core.outsides[name]


def _switch(e: Node, switches: frozenset[str]) -> bool:
    return any(n.kind == "name" and n.text in switches for n in (e, *e.kids))


class SizesReader:
    """Reads what stands ahead of the turns."""

    def __init__(
        self, scop: Scop, deps: Dependences, words: KernelNames, p: MeshProduct, names: Mapping[str, str]
    ) -> None:
        self.scop, self.deps, self.words, self.p = scop, deps, words, p
        self.kernel = KernelReader(scop, words, 0, dict(names))
        integers: dict[str, CExpr] = {c: Name(v) for v, c in names.items()}
        integers[words.id] = Name(words.id)
        self.core = NameScope(scop, integers, {}, {}, {}, frozenset(), {}, words.args)
        facts = Facts()
        rows, columns, depth = (Extent(of_tree(a, facts), of_tree(b, facts)) for a, b in p.spans)
        self.spans = rows, columns, depth
        facts.samples.draw([rows.past - rows.first - 1, columns.past - columns.first - 1], FEW)
        scope = MeshScope(facts, {})
        for side, count in ((words.row, words.rows), (words.column, words.columns)):
            scope = scope.counted(side, ZERO, poly(count))
        self.scope = MeshScope(scope.facts, {})
        self.regions: dict[str, tuple[Poly, ...]] = {}
        self.shapes: dict[str, TileShape] = {}
        self.room, self.base = 0, ""
        self.messages: set[str] = set()
        self.switches: set[str] = set()
        self.defined: dict[str, Node] = {}
        self.known = False  # that there is something to do

    def arguments(self, left: list[Node]) -> None:
        """What a core has of the launch's arguments, and words for replies."""
        while left and left[0].kind == "declare":
            s = left[0]
            if s.kids[0].text == "volatile int" and s.kids[2] == Node("number", "1") and not s.kids[1].kids:
                self.messages.add(s.text)
            elif s.kids[0].text.startswith("const tw_shape") or _is_memory(s):
                break
            else:
                self.core = self.kernel._declare(s, self.core, LocalMemoryFrame(self.kernel.buffers))
            left.pop(0)
        names = {c: var(v.name) for c, v in self.core.integers.items() if isinstance(v, Name)}
        self.scope = self.scope._replace(names=names)
        if self.kernel.buffers:
            raise Unread("local memory that no tile is in")

    def sizes(self, left: list[Node]) -> MeshSizes:
        """Up to the loop over turns."""
        rows, columns, _ = self.spans
        while left and left[0].kind != "for":
            s = left.pop(0)
            if s.kind == "if":
                self._leave(s, rows, columns)
            elif s.kind == "declare":
                self._declare(s)
            else:
                raise Unread(f"`{s.kind}` ahead of the turns")
        if not self.known or len(self.shapes) != 1:
            raise Unread("tiles of which nothing is known")
        (shape,) = self.shapes.values()
        return MeshSizes(
            self.p, self.scop, self.deps, self.words, self.kernel, self.core, self.scope, shape,
            self.spans, self.regions, self.room, frozenset(self.switches),
            frozenset(self.kernel._replies), frozenset(self.messages), self.defined,
        )  # fmt: skip

    def _leave(self, s: Node, rows: Extent, columns: Extent) -> None:
        """A core leaves where there is nothing to do, and all others with it."""
        cond, then, other = s.kids
        leaves = then if then.kind != "block" or len(then.kids) != 1 else then.kids[0]
        if leaves.kind != "return" or other != NOTHING:
            raise Unread("a condition ahead of the turns")
        test = self.scope.cond(cond)
        for way in ways(test):
            there = self.scope.facts.assume(way)
            if there is None:
                continue
            if not there.holds(rows.first - rows.past) and not there.holds(columns.first - columns.past):
                raise Unread("cores leave where there is something to do")
        stay = ways(negated(test))
        if len(stay) != 1:
            raise Unread("a condition ahead of the turns")
        self.scope.facts.learn(*stay[0])
        check_least(self.scope.facts, "a product without elements", rows.past - rows.first - 1,
                    columns.past - columns.first - 1)  # fmt: skip
        self.known = True

    def _declare(self, s: Node) -> None:
        kind, sizes, value = s.kids
        words = kind.text.replace("*", " * ").split()
        if kind.text == "const tw_shape" and value.kind == "call" and value.text == "tw_best_shape":
            self._shape(s.text, [*value.kids])
        elif "*" in words:
            self._region(s)
        elif words == ["double"] and len(sizes.kids) == 1 and value == NOTHING and not self.base:
            self.base, self.room = s.text, int(sizes.kids[0].text)
        elif words == ["int"] and value == Node("number", "0") and not sizes.kids:
            self.switches.add(s.text)
        else:
            self.scope = self.scope.declared(s)
            self.defined[s.text] = value

    def _shape(self, name: str, given: Sequence[Node]) -> None:
        """What tw_best_shape promises: positive multiples of its units, and that they fit."""
        f = self.scope.facts
        if not self.known or len(given) != 9 or any(x.kind != "number" for x in given[3:6]):
            raise Unread("the shape of tiles is chosen in another way")
        check_least(f, "a shape of nothing", *(self.scope.value(x) - 1 for x in given[:2]))
        room, lanes, copies = (int(x.text) for x in given[3:6])
        tall, wide, deep = (f.fresh(n) for n in ("tall", "wide", "deep"))
        rows, columns, depth = (s.past - s.first for s in self.spans)
        for side, most, of in ((tall, 6, rows), (wide, 3, columns), (deep, 7, depth)):
            f.samples.give(str(side), lambda n, most=most: 1 + n % most, of)
        shape = TileShape(tall * UNIT, wide * VECTORS * lanes, deep * UNIT, room, lanes, copies)
        slices = copies * shape.deep * (shape.tall + shape.wide)
        f.learn(tall - 1, wide - 1, deep - 1, room - shape.tall * shape.wide - slices)
        self.shapes[name] = shape
        sides = {f"{name}.{n}": getattr(shape, n) for n in ("tall", "wide", "deep")}
        self.scope = self.scope._replace(names={**self.scope.names, **sides})

    def _region(self, s: Node) -> None:
        """A pointer into local memory, or one to each of two copies."""
        kind, sizes, value = s.kids
        if kind.text.replace(" ", "") != "double*const" or not self.base:
            raise Unread(f"`{s.text}`")
        given = value.kids if value.kind == "braces" else (value,)
        if [show(x) for x in sizes.kids] != ([] if value.kind != "braces" else [str(len(given))]):
            raise Unread(f"`{s.text}` has another number of copies")
        self.regions[s.text] = tuple(self._offset(x) for x in given)

    def _offset(self, e: Node) -> Poly:
        offset = ZERO
        while e.kind == "binary" and e.text == "+":
            e, far = e.kids
            offset = offset + self.scope.value(far)
        if e == Node("name", self.base):
            return offset
        number = MeshIntegers(self.scope.facts, self.scope.names, free=False).value(e.kids[1]).number if e.kids else 0
        name = e.kids[0].text if e.kind == "index" else e.text
        if name not in self.regions or number is None or not 0 <= number < len(self.regions[name]):
            raise Unread(f"a place {show(e)} in local memory")
        return offset + self.regions[name][number]


def _is_memory(s: Node) -> bool:
    return s.kids[0].text == "double" and bool(s.kids[1].kids) and s.kids[2] == NOTHING


def check_regions(x: MeshSizes, sizes: Mapping[str, Poly]) -> None:
    """Regions of local memory, each with so many elements in every copy, lie beside each other and have room."""
    f, parts = x.scope.facts, []
    if set(sizes) != set(x.regions):
        raise Unread("local memory for nothing")
    for name, size in sizes.items():
        for k, at in enumerate(x.regions[name]):
            check_least(f, f"`{name}` lies outside of local memory", at, x.room - at - size)
            if any(c % x.shape.lanes for c in at.terms.values()):
                raise Unread(f"`{name}` begins where no vector does")
            parts.append((f"{name} {k}", at, size))
    for k, (one, a, n) in enumerate(parts):
        for two, b, m in parts[k + 1 :]:
            if not f.holds(b - a - n) and not f.holds(a - b - m):
                raise Unread(f"`{one}` and `{two}` overlap in local memory")


def tests(sc: MeshScope, parts: Sequence[Node]) -> IntegerCondition:
    return IntegerCondition("and", tuple(map(sc.cond, parts)))



