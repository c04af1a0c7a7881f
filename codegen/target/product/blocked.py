"""Converts a blocked matrix product of the C tree to `ProductView`, the record that `product.c.j2` prints (bounds,
subscripts, packing, offset tables, kernels, block sizes), or to `NestsView` for a product that runs in nests alone.
Also states what the printed text has to compute (`Wanted`), for the proof of the text.

The rows, columns and depth of a product are each one coordinate. A bundle of one iterator is that iterator itself; a
bundle of several is counted through in order, and tables hold the offset of each of its values in every array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from math import prod
from typing import Any, TypeVar

from codegen.ast.ctree import Bin, CExpr, For, Held, Instance, Int, Name, ProductNode, expr_names, substitute
from codegen.ast.plain_nest import opened
from codegen.isa.load import load as load_isa
from codegen.isa.model import C_TYPES
from codegen.recognize.access.extent import longest, longest_within
from codegen.record import mutable, record
from codegen.scop.expr import Expr
from codegen.scop.lanes import Lane
from codegen.scop.model import Scop, Statement
from codegen.scop.product import Blocking, Contraction, Nested
from codegen.target.product.calls import exact_call
from codegen.target.product.corners import Bundle, CornerTexts, CutPrinter
from codegen.target.product.in_place import left_in_place, moved_from, packed_type, right_ahead, target_in_place
from codegen.target.product.microkernel import (
    asked_sizes,
    columns_text,
    in_place_name,
    is_rolled,
    micro_kernel,
    nr_max,
    nr_text,
)
from codegen.target.product.microkernel import name as kernel_name
from codegen.target.product.microkernel_rolled import far_columns, looks_further
from codegen.target.product.packing import SLIVERS, STEPS, Packing, along, always_read, line, slivers
from codegen.target.product.tiles import edges, in_place, micro_kernel_of, thin_steps
from codegen.target.product.view import ExactCall, NestsView, OffsetTable, ProductView, Wanted, WantedTable
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.scalar import scalar

# With fewer steps than this, threads that keep to their own rows of the result win more than those that wait for no
# other: lu in steps of 48 takes 0.8 of the time on 16 cores.
SHALLOW = 128

T = TypeVar("T")


@mutable
class ProductPrinter:
    """Makes the view of one product, and views of the same one in other blocks: what does not depend on these is
    printed once. `fresh` gives names that hide nothing, `held` where variables of the region are kept."""

    scop: Scop
    ints: IntPrinter
    fresh: Callable[[str], str]
    held: dict[str, Held]
    known: dict[object, Any] = field(default_factory=dict)
    tables: dict[tuple[int, str], OffsetTable] = field(default_factory=dict)
    bases: dict[int, str] = field(default_factory=dict)

    def _once(self, key: object, make: Callable[[], T]) -> T:
        """What was made under this key, or is made now."""
        if key not in self.known:
            self.known[key] = make()
        found: T = self.known[key]
        return found

    def view(self, node: ProductNode, threads: bool) -> ProductView:
        what, how = node.product.what, node.product.how
        assert isinstance(how, Blocking)
        corners = self._once("corners", lambda: self._read(node))
        isa = load_isa(how.isa, how.bits)
        kernel = micro_kernel_of(what, how)
        target = self._once("target", self._tile_element)
        nr = nr_text(isa, kernel) if isa.bits else "tw_nr"
        left = self._packing(what.step.left, self.rows, what.rows[-1], str(how.mr))
        fetched = far_columns(isa, kernel)
        least = SLIVERS if fetched else 1
        right = self._packing(what.step.right, self.columns, what.columns[-1], nr, least)
        edge = edges(what, how, nr)
        copies = isa.lanes_max(what.step.elem) if how.spread else 1
        evenly, pointer, stride = self._once("direct", lambda: target_in_place(self))
        consts = self._once("constants", lambda: self._constants(what))
        few = (left.few, right.few)
        fixed = not is_rolled(isa, kernel)  # kernels are functions of their own, for packed operands
        as_it_lies = kernel.strided and not (fixed or corners or kernel.narrow)
        cut = self._cut(corners, how.mr, nr, copies, bool(kernel.narrow)) if corners else None
        wanted = self._once("wanted", lambda: self._wanted(how, corners, few))
        further = looks_further(isa, kernel)
        far = right_ahead(self, fetched) if as_it_lies and further else None
        return ProductView(
            self._comment(),
            C_TYPES[what.step.elem],
            C_TYPES[kernel.narrow or what.step.elem],
            kernel_name(isa, kernel),
            edge if fixed else (),
            self.rows,
            self.columns,
            self.depth,
            how,
            nr,
            columns_text(isa, kernel),
            nr_max(isa, kernel),
            tuple(self.tables.values()),
            tuple(self.bases.values()),
            replace(left, copies=copies, moved="" if kernel.narrow or copies > 1 else left.moved),
            replace(right, moved="" if kernel.narrow else right.moved),
            target,
            in_place(what, how, nr) + evenly if pointer else "",
            pointer,
            stride,
            len(what.step.left) // kernel.lefts,
            "".join(f", tw_s{k}" for k in range(len(consts))),
            consts,
            threads,
            threads and (cut is None or cut.deep) and self._once("deep", self._is_deep),
            self._work(how),
            what.step.careful,
            cut,
            replace(wanted, how=how, few=few),
            self._calls(how, corners),
            "" if fixed else asked_sizes(isa, kernel),
            "" if fixed else micro_kernel(isa, kernel),
            place=left_in_place(self, how, in_place_name(isa, kernel)) if as_it_lies else None,
            further=(", tw_far, tw_apart" if far else ", tw_b, 0") if further else "",
            far=far,
            thin=thin_steps(how) if right.along and pointer and self.columns.single and not corners else 0,
        )

    def _wanted(self, how: Blocking, corners: tuple[CExpr, ...], few: tuple[int | None, int | None]) -> Wanted:
        """The statement's parts, printed in coordinates that have one name each."""
        step, bundles = self.what.step, (self.rows, self.columns, self.depth)
        env: dict[str, CExpr] = {}
        for b, n in zip(bundles, ("tw_I", "tw_J", "tw_K"), strict=True):
            env |= {lp.var: Name(n if b.single else f"{n}{k}") for k, lp in enumerate(b.loops)}
        printer, at = BodyPrinter(self.scop, self.ints, self.held), self._instance(env)
        low = f"({C_TYPES[step.elem]})" if step.elem[1:] in ("8", "16") else ""
        return Wanted(
            self.what,
            how,
            tuple(printer._text(e, self.s, at, 1) for e in step.left),
            tuple(printer._text(e, self.s, at, 1) for e in step.right),
            printer.access(self.s, at, self.s.target),
            tuple(f"{low}{self._const(e, low)}" for e in step.consts),
            (self.rows.first, self.columns.first, self.depth.first),
            (self.rows.past, self.columns.past, self.depth.past),
            tuple(self.ints.text(substitute(e, env), 5) for e in corners),
            (self.rows.name, self.columns.name, self.depth.name),
            tuple(tuple((self.ints.text(lp.lower), self.ints.text(lp.upper)) for lp in b.loops) for b in bundles),
            tuple(self._wanted_table(number, name, t.name) for (number, name), t in self.tables.items()),
            few,
            self.scop.arrays[self.s.accesses[self.s.target].array].elem.spelling,
            (packed_type(self, step.left), packed_type(self, step.right)),
        )

    def wanted(self, node: ProductNode, given: Wanted) -> Wanted:
        """What a product has to do, made anew for whoever compares: with the blocks and tables of another claim."""
        corners = self._read(node)
        self.tables, self.bases = {}, {}
        most = (self._most(self.rows), self._most(self.columns))
        few = tuple(x if x in (None, m) else m for x, m in zip(given.few, most, strict=True))
        made = self._wanted(given.how, corners, (few[0], few[1]))
        tables = (self._wanted_table(int(t.base.rpartition("_")[2]), given.names[t.of], t.name) for t in given.tables)
        return replace(made, tables=tuple(tables))

    def _wanted_table(self, number: int, coordinate: str, name: str) -> WantedTable:
        bundles = (self.rows, self.columns, self.depth)
        (of,) = (k for k, b in enumerate(bundles) if b.name == coordinate)
        first: dict[str, CExpr] = {lp.var: lp.lower for b in bundles for lp in b.loops}
        moved = {lp.var: Name(f"tw_D{k}") for k, lp in enumerate(bundles[of].loops)}
        elem = self.scop.arrays[self.s.accesses[number].array].elem.spelling
        element, origin = (self._with(number, env) for env in ({**first, **moved}, first))
        return WantedTable(name, self._base(number), elem, of, element, origin, number == self.s.target)

    def nests(self, node: ProductNode) -> NestsView:
        how = node.product.how
        assert isinstance(how, Nested)
        calls = self._calls(how, self._read(node))
        return NestsView(f"{self.s.name}: {self.s.source}", C_TYPES[self.what.step.elem], calls)

    def exact_calls(self, node: ProductNode) -> tuple[ExactCall, ...]:
        """The calls of kernels for certain sizes."""
        how = node.product.how
        assert isinstance(how, (Blocking, Nested))
        self.tables, self.bases = {}, {}
        return self._calls(how, self._read(node))

    def _read(self, node: ProductNode) -> tuple[CExpr, ...]:
        """Open the body; gives the conditions that cut corners off."""
        self.what = what = node.product.what
        self.kernels = node.exact
        self.s = self.scop.statement(what.stmt)
        self.loops, self.instance, corners = opened(node.body)
        r, k = len(what.rows), len(what.rows) + len(what.depth)
        self.rows = self._bundle(self.loops[:r], "row")
        self.depth = self._bundle(self.loops[r:k], "dep")
        self.columns = self._bundle(self.loops[k:], "col")
        return corners

    def _calls(self, how: Blocking | Nested, corners: tuple[CExpr, ...]) -> tuple[ExactCall, ...]:
        return () if corners else tuple(exact_call(self, x, k) for x, k in zip(how.exact, self.kernels, strict=True))

    def _cut(self, corners: tuple[CExpr, ...], mr: int, nr: str, copies: int, narrow: bool) -> CornerTexts:
        step = self._one_step(mr, nr, copies, narrow)
        return CutPrinter(self.ints, self.rows, self.columns, self.depth, mr, nr).cut(corners, step)

    def _one_step(self, mr: int, nr: str, copies: int, narrow: bool) -> str:
        """One step of one element, from the packed operands: they hold what the operands were before the product."""
        step, k = self.what.step, f"({self.depth.name}r - {self.depth.name}b)"
        target = self._tile_element()

        def leaf(x: Lane) -> str:
            if x.op in ("acc", "const"):
                return f"({C_TYPES[step.elem]}){target}" if x.op == "acc" else f"tw_s{x.index}"
            base, b, width = ("tw_left", self.rows, str(mr)) if x.op == "a" else ("tw_right", self.columns, nr)
            count = len(step.left if x.op == "a" else step.right)
            scale = f" * {count}" if count > 1 else ""
            more = f" + {x.index} * {width}" if x.index else ""
            place = f"({b.name}t * tw_k + {k} * {width}){scale}{more} + {b.name}r"
            wide = f"({C_TYPES[step.elem]})" if narrow else ""
            return f"{base}[({place}) * {copies}]" if x.op == "a" and copies > 1 else f"{wide}{base}[{place}]"

        value = scalar(step.lane, step.elem, leaf)
        if step.careful:
            elem = C_TYPES[step.elem]
            return (
                f"{{ const {elem} tw_was = {target}, tw_now = {value}; "
                f"if (__builtin_memcmp(&tw_was, &tw_now, sizeof tw_now)) {target} = tw_now; }}"
            )
        return f"{target} = {value[1:-1] if value.startswith('(') else value};"

    def _packing(self, operands: tuple[Expr, ...], side: Bundle, d: int, width: str, least: int = 1) -> Packing:
        elem, fixed = self.what.step.elem, width.isdigit()
        found = self._once((side.name, fixed), lambda: self._packed(operands, side, d, fixed))
        most = self._once((side.name, "most"), lambda: self._most(side))
        few = most if most is not None and fixed and most < int(width) else None
        return replace(found, slivers=slivers(elem, width, least) if found.along else "1", few=few)

    def _packed(self, operands: tuple[Expr, ...], side: Bundle, d: int, fixed: bool) -> Packing:
        """The packing of slivers of any width, which is a number or not."""
        numbers = along(self.scop, self.s, operands, d)
        ahead: list[str] = []
        if always_read(operands):
            first, deep = self.coordinate(side, "t"), Name("tw_ahead")
            at = Bin("+", first, Name("tw_l")) if fixed else first
            ahead = [self.element(n, {side.name: at, self.depth.name: deep}) for n in numbers]
            ahead = [x for x in ahead if deep.name in x]  # some do not move with the depth
        values = tuple(self._operand(e, side, self.depth) for e in operands)
        loose = not any(along(self.scop, self.s, operands, x) for x in (d, self.what.depth[-1]))
        steps = STEPS if loose else 0
        moved = moved_from(self, operands, side, d) if fixed else ""
        unit = line(self.what.step.elem)
        return Packing(values, "1", bool(numbers), fixed, tuple(ahead), steps=steps, line=unit, moved=moved)

    def _most(self, side: Bundle) -> int | None:
        """How many values a coordinate has at most; None: any number."""
        total = 1
        for lp in side.loops:
            most = longest(self.scop, lp.loop)
            if isinstance(lp.lower, Int) and isinstance(lp.upper, Int):
                most = lp.upper.value - lp.lower.value
            if most is None:
                return None
            total *= most
        return total

    def _is_deep(self) -> bool:
        """May there be so many steps that it does not matter which core has the result in its cache?"""
        outer = self.what.outer
        most = [longest_within(self.scop, self.s, outer, k) for k in self.what.depth]
        return None in most or prod(filter(None, most)) > SHALLOW

    # -- coordinates -------------------------------------------------------------------------------

    def _bundle(self, loops: tuple[For, ...], name: str) -> Bundle:
        if len(loops) == 1:
            lp = loops[0]
            first, past = self.ints.text(lp.lower, 6), self.ints.text(lp.upper, 6)
            size = past if lp.lower == Int(0) else f"{past} - {first}"
            return Bundle(self.fresh(lp.loop.name), loops, first, past, f"(long){past}" if lp.lower == Int(0) else size)
        sizes = []
        for lp in loops:
            high, low = self.ints.wide(lp.upper, 6), self.ints.text(lp.lower, 6)
            sizes.append(high if lp.lower == Int(0) else f"({high} - {low})")
        size = " * ".join(sizes)
        return Bundle(self.fresh(name), loops, "0", size, size)

    def coordinate(self, b: Bundle, inner: str) -> CExpr:
        """The bundle's value inside a tile: block start, tile start and lane."""
        total: CExpr = Name(f"{b.name}b")
        for part in inner:
            total = Bin("+", total, Name(f"{b.name}{part}"))
        return total

    def _tile_element(self) -> str:
        """The element that is updated, inside a tile."""
        return self.element(self.s.target, {**self._tile(self.rows), **self._tile(self.columns)})

    def _tile(self, b: Bundle) -> dict[str, CExpr]:
        return {b.name: self.coordinate(b, "tr")}

    # -- elements ----------------------------------------------------------------------------------

    def _operand(self, e: Expr, side: Bundle, depth: Bundle) -> str:
        """C text of an operand's value in a packing loop."""
        place = {side.name: self.coordinate(side, "tr"), depth.name: self.coordinate(depth, "r")}
        return self._printer(place)._text(e, self.s, self._at(place), 1)

    def _constants(self, what: Contraction) -> tuple[str, ...]:
        """Declarations of what the steps use and no loop of the product changes."""
        elem = C_TYPES[what.step.elem]
        # A cast says that only the low bits of a wider number count.
        low = f"({elem})" if what.step.elem[1:] in ("8", "16") else ""
        return tuple(f"{elem} tw_s{k} = {low}{self._const(e, low)};" for k, e in enumerate(what.step.consts))

    def _const(self, e: Expr, cast: str) -> str:
        return self._printer({})._text(e, self.s, self.instance, 15 if cast else 1)

    def element(self, number: int, place: Mapping[str, CExpr]) -> str:
        return self._printer(place).access(self.s, self._at(place), number)

    def _at(self, place: Mapping[str, CExpr]) -> Instance:
        """The statement's instance with single iterators put in place."""
        bundles = (self.rows, self.columns, self.depth)
        return self._instance({b.loops[0].var: place[b.name] for b in bundles if b.single and b.name in place})

    def _instance(self, env: dict[str, CExpr]) -> Instance:
        """The statement's instance with values in place of loops' variables."""
        return Instance(
            self.instance.stmt,
            tuple(substitute(e, env) for e in self.instance.iterators),
            tuple(tuple(substitute(e, env) for e in a) for a in self.instance.accesses),
            tuple(substitute(e, env) for e in self.instance.values),
        )

    def _printer(self, place: Mapping[str, CExpr]) -> BodyPrinter:
        return _TablePrinter(self.scop, self.ints, self.held, self, place)

    def by_table(self, number: int, place: Mapping[str, CExpr]) -> str | None:
        """The access as base[offsets] when one of its bundles has several iterators."""
        bundles = [b for b in (self.rows, self.columns, self.depth) if self._moves(number, b)]
        if all(b.single for b in bundles):
            return None
        base = self._base(number)
        terms = [f"{self.table(number, b)}[{self.entry(b, place)}]" for b in bundles]
        return f"{base}[{' + '.join(terms)}]"

    def entry(self, b: Bundle, place: Mapping[str, CExpr]) -> str:
        """Where a table of the bundle holds a coordinate; it begins with the first."""
        first = b.loops[0].lower
        return self.ints.text(place[b.name] if not b.single or first == Int(0) else Bin("-", place[b.name], first))

    def _moves(self, number: int, b: Bundle) -> bool:
        names = {lp.var for lp in b.loops}
        return any(names & expr_names(e) for e in self.instance.accesses[number])

    def _base(self, number: int) -> str:
        name = f"tw_{self.scop.arrays[self.s.accesses[number].array].name}_{number}"
        if number not in self.bases:
            env = {lp.var: lp.lower for b in (self.rows, self.columns, self.depth) for lp in b.loops}
            array = self.scop.arrays[self.s.accesses[number].array]
            const = "" if number == self.s.target else "const "
            self.bases[number] = f"{const}{array.elem.spelling} *const {name} = &{self._with(number, env)};"
        return name

    def _with(self, number: int, env: Mapping[str, CExpr]) -> str:
        index = tuple(substitute(e, dict(env)) for e in self.instance.accesses[number])
        accesses = tuple(index if k == number else a for k, a in enumerate(self.instance.accesses))
        at = Instance(self.instance.stmt, self.instance.iterators, accesses, self.instance.values)
        return BodyPrinter(self.scop, self.ints, self.held).access(self.s, at, number)

    def table(self, number: int, b: Bundle) -> str:
        name = f"{self._base(number)}_{b.name}"
        if (number, b.name) not in self.tables:
            env: dict[str, CExpr] = {}
            for other in (self.rows, self.columns, self.depth):
                for lp in other.loops:
                    env[lp.var] = Name(lp.loop.name) if other is b else lp.lower
            heads = tuple(
                f"long {lp.loop.name} = {self.ints.text(lp.lower)}; {lp.loop.name} < {self.ints.text(lp.upper, 5)}; "
                f"{lp.loop.name}++"
                for lp in b.loops
            )
            value = f"&{self._with(number, env)} - {self._base(number)}"
            self.tables[number, b.name] = OffsetTable(name, b.size, heads, value)
        return name

    def _work(self, how: Blocking) -> str:
        return f"(double)tw_rows * tw_columns * tw_depth >= TW_SIZE({how.threads})"

    def _comment(self) -> str:
        return f"{self.s.name}: {self.s.source}"


@record
class _TablePrinter(BodyPrinter):
    """Prints accesses through offset tables where bundles have several iterators."""

    owner: ProductPrinter
    place: Mapping[str, CExpr]

    def access(self, s: Statement, at: Instance, number: int) -> str:
        return self.owner.by_table(number, self.place) or BodyPrinter.access(self, s, at, number)
