"""Converts an inner loop whose trip count depends on data into the expression of one statement (`DataLoop`), such as
`for (k = ptr[i]; k < ptr[i + 1]; k++) sum += val[k] * x[col[k]];`. It may hold loops, `if`, jumps, numbers that it
declares and assignments; Unsupported for anything else.

Such a loop is one statement of the model, carried out as it was written. Its counter and its variables are data, so
that elements which they are subscripts of may lie anywhere. It stores to one place, or to one array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from pycparser import c_ast

from codegen.diagnostics import Loc, Unsupported
from codegen.frontend.context.frame import LocalVar
from codegen.frontend.expressions.affine import NotAffine, c_text, refuse
from codegen.frontend.memory.arrays import DataSubscript
from codegen.frontend.memory.declare import check_plain
from codegen.frontend.statements.body import BodyBuilder
from codegen.frontend.statements.if_conversion import ChosenAssignment, as_put
from codegen.frontend.statements.loops import Header, read_header
from codegen.frontend.syntax.symbols import RegionSite, location
from codegen.record import mutable
from codegen.scop.expr import DataBlock, DataLoop, Declare, Expr, Jump, Ref, Store, Sym, Ternary
from codegen.scop.types import CType

_HINT = "compute the bound before the region, or move the loop into a region of its own"


@mutable
class LoopReader:
    """Reads one such loop. `fresh` gives names that nothing else has."""

    site: RegionSite
    builder: BodyBuilder
    fresh: Callable[[str], str]
    target: int | None = None  # the access that stores
    stored: str = ""  # its C text
    counters: set[str] = field(default_factory=set)  # variables of the function that are counted with

    def read(self, node: c_ast.For | c_ast.Compound) -> Expr:
        """The loop, behind variables of its own if it is a block."""
        return self._code(node)

    def _loop(self, node: c_ast.For) -> DataLoop:
        b = self.builder
        loc = location(node, self.site.loc)
        header = read_header(node, dict(self.site.variables), self.site.types, loc)
        self._check(header, loc)
        self._check_step(node, loc)
        first = b.expr(header.first)
        code, frame, before = dict(b.code), b.frame, b.sure
        counter = self._named(header.name, header.ctype, loc)
        cond = b.expr(header.cond)
        b.sure = False
        body = self._code(node.stmt)
        b.code, b.frame, b.sure = code, frame, before
        return DataLoop(counter, header.ctype, first, cond, header.step, body)

    def _check(self, header: Header, loc: Loc) -> None:
        if header.early or header.wraps:
            raise Unsupported("loop-form", f"`{header.name}` counts in the condition of the loop", loc, _HINT)
        if header.outside and self.site.used_outside(header.name):
            words = f"the loop variable `{header.name}` is used after a loop that data decide about"
            raise Unsupported("counter-after-loop", words, loc, "declare it in the loop, `for (int i = ...)`")
        if header.outside:
            self.counters.add(header.name)

    def _check_step(self, node: c_ast.For, loc: Loc) -> None:
        """A loop whose turns were counted by its step (`variable_steps.py`) has one that stays as it is."""
        last = (node.stmt.block_items or [None])[-1] if isinstance(node.stmt, c_ast.Compound) else None
        if not isinstance(last, c_ast.Assignment) or c_text(last.rvalue) not in self.site.strides:
            return
        mark = self.builder.affiner.mark()
        try:
            self.builder.affiner.value(last.rvalue, self.builder.frame)
        except NotAffine as error:
            self.builder.affiner.back(mark)
            what = f"the step of loop `{c_text(last.lvalue)}` may change while it runs"
            raise refuse(error, "loop-form", what, _HINT, loc) from None

    def _named(self, name: str, ctype: CType, loc: Loc) -> str:
        """Make a variable of the loop known."""
        b = self.builder
        if b.frame.iterator(name) is not None or name in b.affiner.params or name in b.affiner.enums:
            raise Unsupported("local-declaration", f"`{name}` means something else around this loop", loc, "rename it")
        text = self.fresh(name)
        b.code = {**b.code, name: Sym(text, ctype)}
        b.frame = replace(b.frame.bound(name, None), locals={**b.frame.locals, name: LocalVar("", 0)})
        return text

    def _code(self, node: c_ast.Node | None) -> Expr:
        """A statement of the loop."""
        if node is None or isinstance(node, c_ast.EmptyStatement):
            return DataBlock(())
        if isinstance(node, c_ast.Compound):
            code, frame = dict(self.builder.code), self.builder.frame
            made = DataBlock(tuple(self._code(x) for x in node.block_items or ()))
            self.builder.code, self.builder.frame = code, frame
            return made
        if isinstance(node, c_ast.For):
            return self._loop(node)
        if isinstance(node, c_ast.If):
            cond = self.builder.expr(node.cond)
            return Ternary(cond, self._code(node.iftrue), self._code(node.iffalse), True)
        if isinstance(node, (c_ast.Break, c_ast.Continue)):
            return Jump(type(node).__name__.lower())
        if isinstance(node, c_ast.Decl):
            return self._declared(node)
        put = as_put(node)
        if put is None or isinstance(put.rvalue, c_ast.Assignment):
            what, loc = f"`{c_text(node)}` cannot stand in a loop that data decide about", location(node, self.site.loc)
            raise Unsupported("unsupported-statement", what, loc, "such loops hold loops, `if` and assignments")
        return self._stored(put)

    def _declared(self, node: c_ast.Decl) -> Declare:
        loc = location(node, self.site.loc)
        shape = self.site.types.shape(node.type)
        check_plain(node, shape, loc)
        if shape.declarators or shape.elem.kind == "other" or shape.elem.enum or isinstance(node.init, c_ast.InitList):
            what = f"`{node.name}` is declared in a loop that data decide about, and is no number"
            raise Unsupported("local-declaration", what, loc, "declare it before the loop")
        value = None if node.init is None else self.builder.expr(node.init)
        return Declare(self._named(str(node.name), shape.elem, loc), shape.elem, value)

    def _stored(self, put: ChosenAssignment) -> Store:
        b = self.builder
        if isinstance(put.lvalue, c_ast.ID) and put.lvalue.name in b.code:
            return Store(b.code[put.lvalue.name], put.op, b.expr(put.rvalue))
        self._aim(put.lvalue)
        assert self.target is not None
        place = b.place(put.lvalue, self.target) if b.accesses[self.target].opaque else Ref(self.target)
        return Store(place, put.op, b.expr(put.rvalue))

    def _aim(self, lvalue: c_ast.Node) -> None:
        """The one array that is stored to; several places of it may be any."""
        b, text = self.builder, c_text(lvalue)
        if self.target is None:
            self.target, self.stored = b.target(lvalue), text
            return
        base, _, _, steps = b.path(lvalue)
        place = (base, *(s.member for s in steps if s.member))
        have = b.accesses[self.target]
        if text == self.stored or (have.opaque and place == (have.base, *(s.member for s in have.steps if s.member))):
            return
        loc = location(lvalue, self.site.loc)
        if base != have.base or have.inside or not steps:
            what = f"a loop that data decide about stores to `{self.stored}` and to `{text}`"
            raise Unsupported("nonaffine-bound", what, loc, "let each such loop store to one array, or variable")
        several = DataSubscript("nonaffine-bound", f"the loop stores to `{self.stored}` and to `{text}`", loc, _HINT)
        several.place = place
        raise several
