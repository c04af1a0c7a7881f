"""Converts the C expressions of one statement (right-hand side, target, subscripts) to the model's `Expr`, and collects
its accesses and affine values. Raises Unsupported for side effects, and for calls that are not pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

import islpy as isl
from pycparser import c_ast

from codegen.frontend.context.frame import Frame
from codegen.frontend.context.raw import RawAccess
from codegen.frontend.expressions.affine import NotAffine, c_text
from codegen.frontend.expressions.paths import exact, implied
from codegen.frontend.memory.places import Places
from codegen.frontend.memory.pointer_elements import pointer_type
from codegen.frontend.syntax.constants import int_constant
from codegen.frontend.syntax.declarators import type_text
from codegen.frontend.syntax.purity import NANS, is_pure
from codegen.frontend.syntax.symbols import location
from codegen.record import mutable
from codegen.scop.expr import Affine, Binary, Call, Cast, Expr, Gather, Lit, Ref, Sym, Ternary, Unary
from codegen.scop.types import INT, CType


@mutable
class BodyBuilder(Places):
    """Converts the expressions of one statement. Not reused between statements."""

    accesses: list[RawAccess] = field(default_factory=list)
    values: list[isl.PwAff] = field(default_factory=list)
    known: dict[str, Ref] = field(default_factory=dict)  # what is read already, by its C text
    where: isl.Set | None = None  # in which part of the domain the present subexpression is evaluated
    sure: bool = True  # it is evaluated everywhere there, whatever the data are
    code: dict[str, Sym] = field(default_factory=dict)  # variables of a loop that data decide about

    def expr(self, node: c_ast.Node) -> Expr:
        """The body for `node`. Raises Unsupported for anything with a side effect."""
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            raise self.refuse(
                "unsupported-expression",
                f"`{c_text(node)}` cannot stand in a region",
                node,
                "compute it before the region and use the result",
            )
        result: Expr = method(node)
        return result

    def _Constant(self, node: c_ast.Constant) -> Expr:
        if node.type == "string":
            raise self.refuse(
                "unsupported-expression", "a string cannot stand in a region", node, "keep text out of the region"
            )
        if "int" in node.type and not _has_type(node):
            text = f"{node.value[:20]}..." if len(node.value) > 20 else node.value
            hint = "write a number that fits, or give it a suffix"
            raise self.refuse("unsupported-expression", f"no type of C holds `{text}`", node, hint)
        return Lit(node.value)

    def _ID(self, node: c_ast.ID) -> Expr:
        name = node.name
        if name in self.code:
            return self.code[name]
        it = self.frame.iterator(name)
        if name in self.frame.bindings:
            try:
                value, _ = self.affiner.value(node, self.frame)
            except NotAffine:
                return self.expr_of_binding(name)
            return self._affine(value, self.frame.bindings[name].ctype)
        if it is not None:
            return self._affine(self.frame.dim(it.pos), it.ctype)
        if name in self.frame.locals or name in self.names.written:
            return self.read(node)
        if name in self.affiner.enums:
            return Sym(name, INT)
        if name in self.names.counters:
            raise self.refuse(
                "counter-after-loop",
                f"the loop variable `{name}` is used outside its loop",
                node,
                "write the value it has there, or use another variable",
            )
        var = self.names.variables.get(name)
        if var is None:
            raise self.refuse(
                "unknown-name",
                f"`{name}` is not declared where the tool can see it",
                node,
                "declare it before the region",
            )
        if var.shape.declarators:
            raise self.refuse(
                "array-as-value",
                f"`{name}` is used as a pointer, not as an element",
                node,
                "subscript it down to an element",
            )
        self.check_plain(var.shape, node)
        return Sym(name, var.shape.elem)

    def expr_of_binding(self, name: str) -> Expr:
        """A bound integer whose formula is a polynomial: spell the formula out."""
        binding = self.frame.bindings[name]
        saved = self.frame, self.where
        self.frame, self.where = binding.frame, None  # it reads no elements
        try:
            return Cast(binding.ctype.spelling, self.expr(binding.node), binding.ctype)
        finally:
            self.frame, self.where = saved

    def _affine(self, value: isl.PwAff, ctype: CType) -> Expr:
        self.values.append(self._everywhere(value))
        return Affine(len(self.values) - 1, ctype)

    def _everywhere(self, value: isl.PwAff) -> isl.PwAff:
        """A value for the whole domain: one that is evaluated in a part of it may be known in that part alone (a
        remainder by a parameter). Elsewhere, its last formula goes on."""
        if self.where is None:
            return value
        value = self.frame.lift(value)
        known, ranges = value.domain(), self.affiner.ranges
        everywhere, here = (f.domain.intersect_params(ranges) for f in (self.frame, self._here()))
        if everywhere.is_subset(known) or not here.is_subset(known):
            return value
        *before, (_, last) = value.get_pieces()
        rest = isl.Set.universe(known.get_space())
        out = isl.PwAff.empty(value.get_space())
        for where, formula in before:
            out, rest = out.union_add(isl.PwAff.alloc(where, formula)), rest.subtract(where)
        return out.union_add(isl.PwAff.alloc(rest, last))

    def _ArrayRef(self, node: c_ast.ArrayRef) -> Expr:
        return self.read(node)

    def _StructRef(self, node: c_ast.StructRef) -> Expr:
        if c_text(node) in self.affiner.params or self._read_only_member(node):
            shape = self.path(node)[2]
            self.check_plain(shape, node)
            return Sym(c_text(node), shape.elem)
        return self.read(node)

    def _read_only_member(self, node: c_ast.StructRef) -> bool:
        """`p->x` or `s.x` of a variable the region never writes and never subscripts."""
        base: c_ast.Node = node
        while isinstance(base, c_ast.StructRef):
            base = base.name
        return (
            isinstance(base, c_ast.ID)
            and base.name not in self.names.written
            and base.name not in self.frame.locals
            and base.name in self.names.variables
            and not any(isinstance(n, c_ast.ArrayRef) for n in node)
        )

    def _UnaryOp(self, node: c_ast.UnaryOp) -> Expr:
        if node.op == "*":
            return self.read(node)
        if node.op in ("++", "--", "p++", "p--"):
            raise self.refuse(
                "side-effect",
                f"`{c_text(node)}` changes a value inside an expression",
                node,
                "write it as a statement of its own",
            )
        if node.op == "sizeof":
            return self._sizeof(node)
        if node.op == "&":
            raise self.refuse(
                "pointer-arithmetic", f"`{c_text(node)}` takes an address", node, "use subscripts on the array itself"
            )
        return Unary(node.op, self.expr(node.expr))

    def _sizeof(self, node: c_ast.UnaryOp) -> Expr:
        """Loop variables change their type and local variables their place; the size of anything else stays."""
        known = {*self.frame.locals, *self.frame.bindings, *(it.name for it in self.frame.iterators)}
        if not isinstance(node.expr, c_ast.Typename) and known & _identifiers(node.expr):
            raise self.refuse(
                "unsupported-expression",
                f"`{c_text(node)}` asks for the size of a variable of the region",
                node,
                "write sizeof with the type's name",
            )
        return Lit(c_text(node))

    def _BinaryOp(self, node: c_ast.BinaryOp) -> Expr:
        try:
            asked = self.affiner.pointer_test(node, self._here())
        except NotAffine:
            asked = None
        if asked is not None:
            return self._affine(asked, INT)
        left = self.expr(node.left)
        if node.op not in ("&&", "||"):
            return Binary(node.op, left, self.expr(node.right))
        with self.when(node.left, node.op == "&&"):
            return Binary(node.op, left, self.expr(node.right))

    def _TernaryOp(self, node: c_ast.TernaryOp) -> Expr:
        cond = self.expr(node.cond)
        with self.when(node.cond, True):
            yes = self.expr(node.iftrue)
        with self.when(node.cond, False):
            return Ternary(cond, yes, self.expr(node.iffalse))

    @contextmanager
    def when(self, cond: c_ast.Node, truth: bool) -> Iterator[None]:
        """For subexpressions that are evaluated only where `cond` is `truth`."""
        saved = self.where
        frame = self._here()
        part = implied(cond, truth, frame, self.affiner)
        if part is not None:
            self.where = part if saved is None else saved.intersect(part)
        before, self.sure = self.sure, self.sure and exact(cond, frame, self.affiner)
        try:
            yield
        finally:
            self.where, self.sure = saved, before

    def _here(self) -> Frame:
        """Where the present subexpression is evaluated."""
        here = replace(self.frame, sure=self.sure and self.frame.sure)
        return here if self.where is None else here.restrict(self.where)

    def _Cast(self, node: c_ast.Cast) -> Expr:
        shape = self.names.types.shape(node.to_type)
        return Cast(type_text(node.to_type), self.expr(node.expr), None if shape.declarators else shape.elem)

    def _FuncCall(self, node: c_ast.FuncCall) -> Expr:
        name = getattr(node.name, "name", "")
        if name in NANS and isinstance(node.args, c_ast.ExprList) and _is_text(node.args.exprs):
            return Lit(c_text(node))  # NAN of math.h
        if not name or not is_pure(name, self.names.pure, self.names.functions, True, self.names.dialect):
            raise self.refuse(
                "unknown-call",
                f"`{name or c_text(node.name)}` may do more than compute a value",
                node,
                "declare it with __attribute__((const)) or name it in `#pragma tilewright pure(...)`, define it in "
                "this file, or write its formula in place",
            )
        return Call(name, tuple(self.expr(a) for a in (getattr(node.args, "exprs", None) or ())))

    def _Assignment(self, node: c_ast.Assignment) -> Expr:
        raise self.refuse(
            "side-effect", f"`{c_text(node)}` assigns inside an expression", node, "write it as a statement of its own"
        )

    # -- accesses ----------------------------------------------------------------------------------

    def read(self, node: c_ast.Node) -> Expr:
        """The access that reads a variable or element; one for all mentions of the same text."""
        text = c_text(node)
        if text not in self.known:
            number = self._access(node, write=False)
            if self.accesses[number].opaque:
                return self.place(node, number)  # other mentions may be evaluated elsewhere
            self.known[text] = Ref(number)
        found = self.known[text]
        before = self.accesses[found.access].where
        if before is not None:
            where = None if self.where is None else before.union(self.where).coalesce()
            self.accesses[found.access] = replace(self.accesses[found.access], where=where)
        return found

    def _access(self, node: c_ast.Node, write: bool) -> int:
        """The number of a new access."""
        base, inside, shape, steps = self.path(node)
        self.check_plain(shape, node)
        elem = shape.elem
        if shape.declarators:
            pointer = pointer_type(shape) if steps else None
            if pointer is None:
                raise self.refuse(
                    "array-as-value",
                    f"`{c_text(node)}` is a whole row or pointer, not an element",
                    node,
                    "subscript it down to an element",
                )
            elem = pointer
        loc = location(node, self.names.fallback)
        where = None if write else self.where
        sure = self.sure and self.frame.sure
        opaque = not inside and (base, *(s.member for s in steps if s.member)) in self.names.opaque
        self.accesses.append(RawAccess(base, inside, tuple(steps), write, elem, loc, where, sure, opaque))
        return len(self.accesses) - 1

    def place(self, node: c_ast.Node, number: int) -> Gather:
        """The element of an access with all of its subscripts as they are evaluated here."""
        steps = self.path(node)[3]
        args = tuple(self._subscript(s.node) for s in steps if s.node is not None)
        return Gather(number, args, self.accesses[number].elem)

    def _subscript(self, node: c_ast.Node) -> Expr:
        mark = self.affiner.mark()
        try:
            value, ctype = self.affiner.value(node, self._here())
        except NotAffine:
            self.affiner.back(mark)
            return self.expr(node)
        return self._affine(value, ctype)

    def kept(self, number: int) -> Ref:
        """What the target of an access holds before, as a whole."""
        self.accesses.append(replace(self.accesses[number], write=False))
        return Ref(len(self.accesses) - 1)

    def target(self, node: c_ast.Node) -> int:
        """The access of the left-hand side of an assignment."""
        if not isinstance(node, (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef, c_ast.UnaryOp)):
            raise self.refuse(
                "unsupported-expression",
                f"cannot assign to `{c_text(node)}`",
                node,
                "assign to a variable or an element",
            )
        return self._access(node, write=True)


def _is_text(args: Sequence[c_ast.Node]) -> bool:
    return len(args) == 1 and isinstance(args[0], c_ast.Constant) and args[0].type == "string"


def _identifiers(node: c_ast.Node) -> set[str]:
    own = {node.name} if isinstance(node, c_ast.ID) else set()
    return own.union(*(_identifiers(child) for child in node))


def _has_type(node: c_ast.Constant) -> bool:
    """Is there a type for an integer literal? One without a suffix that is no hexadecimal number has to be signed."""
    number = int_constant(node)
    text = node.value.lower()
    free = "u" in text or text.startswith("0")
    return number is not None and number < 1 << (64 if free else 63)
