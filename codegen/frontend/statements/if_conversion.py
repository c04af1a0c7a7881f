"""If-conversion: an `if` on data that sets one place in both branches becomes an assignment of a conditional value.

`if (c) x = a; else x = b;` is `x = c ? a : b`, and without the `else` it is `x = c ? a : x`. Nothing is evaluated
that the source does not evaluate. Where the source would leave `x` alone, the result stays an `if` in print
(`Ternary.branch`); in the model `x` is read and written. It stays one, too, where `x` has an enumerated type, to which
the values cannot be converted beforehand under a name known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Union

from pycparser import c_ast

from codegen.frontend.expressions.affine import c_text
from codegen.frontend.statements.body import BodyBuilder
from codegen.frontend.statements.valuetype import alike, as_value, keeps, operation, value_type
from codegen.frontend.syntax.constants import int_constant
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.tree import has_effects
from codegen.record import mutable, record
from codegen.scop.expr import Binary, Cast, Expr, Ref, Store, Ternary
from codegen.scop.types import CType


@record
class ChosenAssignment:
    """`lvalue op rvalue`."""

    lvalue: c_ast.Node
    op: str
    rvalue: c_ast.Node


@record
class Choice:
    """One of two branches; None is one that does nothing."""

    cond: c_ast.Node
    yes: Branch
    no: Branch


Branch = Union[ChosenAssignment, Choice, None]


def as_put(node: c_ast.Node) -> ChosenAssignment | None:
    """An assignment, `x++` or `x--` as a statement; None for anything else."""
    if isinstance(node, c_ast.Assignment):
        return ChosenAssignment(node.lvalue, node.op, node.rvalue)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
        return ChosenAssignment(node.expr, "+=" if "+" in node.op else "-=", c_ast.Constant("int", "1", node.coord))
    return None


def read_choice(node: c_ast.If) -> Choice | None:
    """The `if` as a choice of what to put into one place; None when its branches do more than that."""
    try:
        found = _branch(node)
    except _TooMuch:
        return None
    texts = {c_text(p.lvalue) for p in puts(found)}
    return found if isinstance(found, Choice) and len(texts) == 1 else None


def puts(branch: Branch) -> Iterator[ChosenAssignment]:
    """The assignments of a choice, in order."""
    if isinstance(branch, Choice):
        yield from puts(branch.yes)
        yield from puts(branch.no)
    elif branch is not None:
        yield branch


class _TooMuch(Exception):
    """A branch is no single assignment."""


def _branch(node: c_ast.Node | None) -> Branch:
    if node is None or isinstance(node, c_ast.EmptyStatement):
        return None
    if isinstance(node, c_ast.Compound):
        items = [n for n in node.block_items or () if not isinstance(n, c_ast.EmptyStatement)]
        if len(items) > 1:
            raise _TooMuch
        return _branch(items[0]) if items else None
    if isinstance(node, c_ast.If):
        yes, no = _branch(node.iftrue), _branch(node.iffalse)
        if yes is None and no is None:
            if has_effects(node.cond):
                raise _TooMuch
            return None
        return Choice(node.cond, yes, no)
    put = as_put(node)
    if put is None or isinstance(put.rvalue, c_ast.Assignment):
        raise _TooMuch
    return put


def choice_value(choice: Choice, builder: BodyBuilder, target: int) -> Expr:
    """What the place, that of access `target`, holds afterwards."""
    lvalue = next(puts(choice)).lvalue
    if builder.accesses[target].opaque:
        return _scattered(choice, builder, target, builder.kept(target))
    shape = builder.shape_of(lvalue)
    return _Maker(builder, lvalue, shape, _may_skip(choice) or shape.elem.enum).value(choice)[0]


def _scattered(branch: Branch, builder: BodyBuilder, target: int, kept: Ref) -> Expr:
    """The same for a place about which data decide: which one it is, is asked only where something is put there."""
    if branch is None:
        return kept
    if isinstance(branch, ChosenAssignment):
        return Store(builder.place(branch.lvalue, target), branch.op, builder.expr(branch.rvalue))
    cond = builder.expr(branch.cond)
    with builder.when(branch.cond, True):
        yes = _scattered(branch.yes, builder, target, kept)
    with builder.when(branch.cond, False):
        return Ternary(cond, yes, _scattered(branch.no, builder, target, kept), True)


def _may_skip(branch: Branch) -> bool:
    """Is there a way through that assigns nothing?"""
    return branch is None or (isinstance(branch, Choice) and (_may_skip(branch.yes) or _may_skip(branch.no)))


def _narrowest(node: c_ast.Node) -> CType | None:
    """A type with just enough bits for a literal such as 1, which then fits nearly everywhere without a cast."""
    if not isinstance(node, c_ast.Constant) or not node.value.isdigit():
        return None
    number = int_constant(node)
    return None if number is None or number >> 31 else CType("int", "int", max(1, number.bit_length()), False)


@mutable
class _Maker:
    """Builds the value."""

    builder: BodyBuilder
    lvalue: c_ast.Node
    shape: DeclaredType
    branch: bool

    def value(self, branch: Branch) -> tuple[Expr, CType | None]:
        """The value and its C type, if known. A choice has the type of its branches after C's conversions."""
        if branch is None:
            return self.builder.read(self.lvalue), self.shape.elem
        if isinstance(branch, ChosenAssignment):
            return self._put(branch)
        cond = self.builder.expr(branch.cond)
        with self.builder.when(branch.cond, True):
            yes, yt = self.value(branch.yes)
        with self.builder.when(branch.cond, False):
            no, nt = self.value(branch.no)
        have = operation("?", *(None if t is None else as_value(t) for t in (yt, nt)))
        if have is None or yt is None or nt is None or not self._harmless(have, yt, nt):
            return Ternary(cond, self._stored(yes, yt), self._stored(no, nt), self.branch), self.shape.elem
        return Ternary(cond, yes, no, self.branch), have

    def _harmless(self, have: CType, *types: CType) -> bool:
        """Does storing a value give the same after a conversion to `have` as without it?"""
        elem = self.shape.elem
        if have.kind == "float" and elem.kind != "float":
            return False  # from there, values out of range are undefined
        stored = have.kind == "float" and alike(have, elem)
        return stored or all(keeps(as_value(t) or t, have) for t in types)

    def _put(self, put: ChosenAssignment) -> tuple[Expr, CType | None]:
        if put.op == "=":
            return self.builder.expr(put.rvalue), _narrowest(put.rvalue) or value_type(put.rvalue, self.builder)
        op = put.op[:-1]
        made = Binary(op, self.builder.read(self.lvalue), self.builder.expr(put.rvalue))
        return made, operation(op, as_value(self.shape.elem), value_type(put.rvalue, self.builder))

    def _stored(self, e: Expr, t: CType | None) -> Expr:
        """`e` as the place would hold it: C's conversion to the other branch's type must not come before that."""
        elem = self.shape.elem
        nameless = elem.enum or self.shape.struct is not None or elem.spelling.startswith("void")
        return e if nameless or (t is not None and alike(t, elem)) else Cast(elem.spelling, e, elem)


__all__ = ["Choice", "ChosenAssignment", "as_put", "choice_value", "puts", "read_choice"]
