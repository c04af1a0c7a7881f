"""Builds the model's statements from assignments, from an `if` that sets one place, and for the final values of loop
counters; registers variables that are declared in the region. Base class of the walk over control flow
(`control.py`)."""

from __future__ import annotations

from dataclasses import field, replace

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Loc, Unsupported
from codegen.frontend.context.frame import Binding, Frame, LocalVar
from codegen.frontend.context.raw import InsideVar, RawAccess, RawNode, RawStatement
from codegen.frontend.expressions.affine import Affiner, c_text
from codegen.frontend.memory.declare import check_extent, is_formula
from codegen.frontend.memory.places import RegionNames
from codegen.frontend.statements.body import BodyBuilder
from codegen.frontend.statements.if_conversion import ChosenAssignment, choice_value, puts, read_choice
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.lvalues import subscripts
from codegen.frontend.syntax.members import spelled
from codegen.frontend.syntax.symbols import RegionSite, location
from codegen.frontend.syntax.tree import nodes
from codegen.record import mutable
from codegen.scop.expr import Affine, Expr, Store
from codegen.scop.types import CType

MAX_STATEMENTS = 400


@mutable
class StatementBuilder:
    """Collects raw statements, and the variables that are declared in the region or made for it."""

    site: RegionSite
    names: RegionNames
    affiner: Affiner
    reassigned: frozenset[str]  # names assigned anywhere in the region other than by their declaration
    mentioned: frozenset[str]  # outer names that the region uses
    statements: list[RawStatement] = field(default_factory=list)
    inside: dict[str, tuple[InsideVar, DeclaredType]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)  # names that new variables cannot have
    made: set[str] = field(default_factory=set)  # those of new variables

    def formula(self, put: ChosenAssignment, frame: Frame) -> Binding | None:
        """What an assignment makes of an integer variable, if that is a formula of loop variables and parameters."""
        name = put.lvalue.name
        shape = self._scalar(name, frame)
        if shape is None or frame.predicate is not None or isinstance(put.rvalue, c_ast.Assignment):
            return None
        value = put.rvalue if put.op == "=" else c_ast.BinaryOp(put.op[:-1], put.lvalue, put.rvalue, put.lvalue.coord)
        binding = Binding(value, frame, shape.elem)
        return binding if is_formula(binding, self.affiner) else None

    def _scalar(self, name: str, frame: Frame) -> DeclaredType | None:
        """The type of a plain integer variable that is no loop counter."""
        if frame.iterator(name) is not None and name not in frame.locals:
            return None
        if name in frame.locals:
            shape = self.inside[frame.locals[name].array][1]
        elif name in self.site.variables and name not in self.site.origins.exposed:
            shape = self.site.variables[name].shape
        else:
            return None
        plain = not shape.declarators and not shape.special
        return shape if plain and shape.elem.is_int and not shape.elem.enum else None

    def final_value(self, name: str, ctype: CType, value: isl.PwAff, frame: Frame, loc: Loc) -> int:
        """The function still looks at the counter after the region: leave the value C would leave."""
        access = RawAccess(name, False, (), True, self.site.variables[name].shape.elem, loc)
        self.statements.append(
            RawStatement(frame, "=", 0, Affine(0, ctype), (access,), (value,), loc, f"{name} = <value after the loop>")
        )
        return len(self.statements) - 1

    def fresh(self, stem: str) -> str:
        """A name that the source does not use."""
        number = 1
        while f"{stem}{number}" in self.used:
            number += 1
        self.used.add(f"{stem}{number}")
        self.made.add(f"{stem}{number}")
        return f"{stem}{number}"

    def new_local(self, node: c_ast.Decl, shape: DeclaredType, frame: Frame, loc: Loc) -> Frame:
        name, n = node.name, 2
        while name in self.inside or name in self.mentioned or (n > 2 and name in self.site.variables):
            name, n = f"{node.name}_{n}", n + 1
        for la in shape.declarators:
            check_extent(node, la.dim, frame, self.affiner, loc)
        extents = tuple(c_text(la.dim) if la.dim is not None else "" for la in shape.declarators)
        nameless = shape.struct is not None and shape.elem.spelling in ("struct", "union")
        elem = replace(shape.elem, spelling=spelled(shape.struct)) if nameless else shape.elem
        var = InsideVar(name, node.name, elem, extents, len(frame.iterators), loc, nameless)
        self.inside[name] = (var, shape)
        local = LocalVar(name, len(frame.iterators))
        return replace(
            frame,
            locals={**frame.locals, node.name: local},
            bindings={k: b for k, b in frame.bindings.items() if k != node.name},
        )

    def assign(
        self, lvalue: c_ast.Node, op: str, rvalue: c_ast.Node, node: c_ast.Node, frame: Frame
    ) -> tuple[RawNode, ...]:
        if isinstance(rvalue, c_ast.Assignment):
            # The value of an assignment is what its left side then holds; nothing can change that in between, unless
            # the assignment itself changes which place that is.
            if any(isinstance(n, c_ast.ArrayRef) for s in subscripts(rvalue.lvalue) for n in nodes(s)):
                what = f"`{c_text(rvalue.lvalue)}` is set within an expression, and data say which element that is"
                loc = location(rvalue, self.site.loc)
                raise Unsupported("unsupported-expression", what, loc, "write two statements")
            first = self.assign(rvalue.lvalue, rvalue.op, rvalue.rvalue, rvalue, frame)
            last = c_ast.Assignment(op, lvalue, rvalue.lvalue, node.coord)
            return (*first, *self.assign(lvalue, op, rvalue.lvalue, last, frame))
        if frame.predicate is not None:
            whole = c_ast.Assignment(op, lvalue, rvalue, node.coord)
            other = None  # it keeps what it has
            if op == "=" and isinstance(lvalue, c_ast.ID) and self._is_dead(str(lvalue.name), frame):
                other = c_ast.Assignment("=", lvalue, c_ast.Constant("int", "0", node.coord), node.coord)
            return self.choose(c_ast.If(frame.predicate, whole, other, node.coord), without_predicate(frame))
        builder = self._open(lvalue, node, frame)
        if builder is None:
            return ()
        target = builder.target(lvalue)
        text = c_text(node) if isinstance(node, c_ast.Assignment) else f"{c_text(lvalue)} {op} {c_text(rvalue)}"
        if builder.accesses[target].opaque:
            rhs: Expr = Store(builder.place(lvalue, target), op, builder.expr(rvalue))
            builder.kept(target)
            return self.close(builder, "=", target, rhs, node, text + ";")
        rhs = builder.expr(rvalue)
        if op != "=":
            # The target is read as well; the reading access follows the writing one.
            builder.kept(target)
        return self.close(builder, op, target, rhs, node, text + ";")

    def _is_dead(self, name: str, frame: Frame) -> bool:
        """Is it a number that only this run of the function knows, and nobody needs unless the predicate holds?"""
        if name not in frame.dead:
            return False
        if name in frame.locals:
            shape = self.inside[frame.locals[name].array][1]
        elif (v := self.site.variables.get(name)) is not None and v.place != "global" and not v.static:
            shape = v.shape
        else:
            return False
        plain = not shape.declarators and not shape.special
        return plain and shape.struct is None and shape.elem.kind in ("int", "float")

    def choose(self, node: c_ast.If, frame: Frame) -> tuple[RawNode, ...]:
        """One statement for an `if` that sets one place or leaves it."""
        if frame.predicate is not None:
            node, frame = c_ast.If(frame.predicate, node, None, node.coord), without_predicate(frame)
        choice = read_choice(node)
        assert choice is not None
        lvalue = next(puts(choice)).lvalue
        builder = self._open(lvalue, node, frame)
        if builder is None:
            return ()
        target = builder.target(lvalue)
        return self.close(builder, "=", target, choice_value(choice, builder, target), node, c_text(node))

    def _open(self, lvalue: c_ast.Node, node: c_ast.Node, frame: Frame) -> BodyBuilder | None:
        """Ready for a statement that sets `lvalue`; None where it never runs."""
        loc = location(node, self.site.loc)
        if len(self.statements) >= MAX_STATEMENTS:
            raise Unsupported(
                "region-too-large",
                f"the region has more than {MAX_STATEMENTS} statements",
                loc,
                "split it into several regions",
            )
        if frame.domain.is_empty():
            return None
        name = getattr(lvalue, "name", None)
        if isinstance(lvalue, c_ast.ID) and frame.iterator(lvalue.name) and name not in frame.locals:
            raise Unsupported(
                "iterator-modified",
                f"the loop variable `{lvalue.name}` is set inside its loop",
                loc,
                "let only the loop header change it",
            )
        return BodyBuilder(self.names, self.affiner, frame, self.inside)

    def close(
        self, builder: BodyBuilder, op: str, target: int, rhs: Expr, node: c_ast.Node, text: str
    ) -> tuple[RawNode, ...]:
        loc = location(node, self.site.loc)
        accesses, values = tuple(builder.accesses), tuple(builder.values)
        self.statements.append(RawStatement(builder.frame, op, target, rhs, accesses, values, loc, text))
        return (len(self.statements) - 1,)


def without_predicate(frame: Frame) -> Frame:
    """A frame whose statements ask for their condition themselves."""
    return replace(frame, predicate=None)
