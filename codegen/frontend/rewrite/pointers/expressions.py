"""Rewrites one expression that uses tracked pointers, for the pass in `pointers.py`: `*p`, `p[i]` and `p->x` become
elements of the array that p points into, comparisons and differences of two pointers become those of their indices, and
null tests compare the array with 0. `Env` holds where each pointer leads at that point; Unsupported is raised where
that is not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from pycparser import c_ast

from codegen.diagnostics import Unsupported
from codegen.frontend.expressions.address import (
    Address,
    element,
    is_aligned,
    is_null,
    is_plain,
    pointee,
    shape_of,
    total,
)
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.rewrite.pointers.byte_views import Views, xor_of
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.symbols import RegionSite, location
from codegen.frontend.syntax.tree import mapped, names
from codegen.record import mutable, record

HINT = "set it to an array with an offset, in the block that uses it or before the region"
_COMPARE = ("<", "<=", ">", ">=", "==", "!=")
_TRUTH = ("&&", "||")


@record
class Env:
    """What is known at one point: types, which elements must not be written, where the tracked pointers lead (None: not
    always to the same place), and the loops around."""

    shapes: Mapping[str, DeclaredType]
    const: frozenset[str]
    known: Mapping[str, Address | None] = field(default_factory=dict)
    counters: frozenset[str] = frozenset()
    loops: frozenset[int] = frozenset()

    def told(self, name: str, at: Address | None) -> Env:
        return replace(self, known={**self.known, name: at})

    def forget(self, gone: set[str]) -> Env:
        """Without knowledge about these pointers, or that speaks of these variables."""
        return replace(self, known={p: None if a is None or _speaks(p, a, gone) else a for p, a in self.known.items()})


def _speaks(pointer: str, at: Address, of: set[str]) -> bool:
    said = names(at.root).union(*(names(v) for _, v in at.offsets))
    return pointer in of or not said.isdisjoint(of)


@mutable
class Values:
    """Reads expressions in the light of an `Env`."""

    site: RegionSite
    views: Views

    def condition(self, node: c_ast.Node, env: Env) -> c_ast.Node:
        """An expression that is asked whether it is zero: pointers are compared with 0."""
        if isinstance(node, c_ast.BinaryOp) and node.op in _TRUTH:
            return mapped(node, lambda child: self.condition(child, env))
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            if self._points(node.expr, env):
                return self._null_test("==", node.expr, node, env)
            return mapped(node, lambda child: self.condition(child, env))
        if self._points(node, env):
            return self._null_test("!=", node, node, env)
        return self.value(node, env)

    def _points(self, node: c_ast.Node, env: Env) -> bool:
        shape = shape_of(node, env.shapes, self.site.types)
        return shape is not None and bool(shape.declarators)

    def _null_test(self, op: str, pointer: c_ast.Node, node: c_ast.Node, env: Env) -> c_ast.Node:
        at = self._used(pointer, env)
        if at is None or at.single or at.offsets:
            return node
        return c_ast.BinaryOp(op, at.root, c_ast.Constant("int", "0", node.coord), node.coord)

    def value(self, node: c_ast.Node, env: Env) -> c_ast.Node:
        """An expression without tracked pointers and arithmetic on pointers."""
        if isinstance(node, c_ast.ID) and node.name in env.known:
            raise self.unknown(node, f"the address in `{node.name}` is used as a value")
        if isinstance(node, c_ast.StructRef):
            if node.type == "->" and self._moves(node.name, env):
                made = self._element(node.name, None, node, env)
                return node if made is None else c_ast.StructRef(made, ".", node.field, node.coord)
            outer = self.value(node.name, env)
            return node if outer is node.name else c_ast.StructRef(outer, node.type, node.field, node.coord)
        if isinstance(node, c_ast.ArrayRef) and self._moves(node.name, env):
            return self._element(node.name, self.value(node.subscript, env), node, env) or node
        if isinstance(node, c_ast.UnaryOp) and node.op == "*" and self._moves(node.expr, env):
            return self._element(node.expr, None, node, env) or node
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return self.condition(node, env)
        if isinstance(node, c_ast.BinaryOp) and node.op in _TRUTH:
            return self.condition(node, env)
        if isinstance(node, c_ast.BinaryOp) and node.op in (*_COMPARE, "-") and self._points(node.left, env):
            return self._compared(node, env)
        null = isinstance(node, c_ast.BinaryOp) and node.op in ("==", "!=") and is_null(node.left)
        if null and self._points(node.right, env):
            return self._null_test(node.op, node.right, node, env)
        if isinstance(node, c_ast.TernaryOp):
            cond = self.condition(node.cond, env)
            return mapped(node, lambda child: cond if child is node.cond else self.value(child, env))
        if isinstance(node, c_ast.Typename):
            return node
        if isinstance(node, c_ast.FuncCall):
            return mapped(node, lambda child: self._arguments(child, env) if child is node.args else child)
        return mapped(node, lambda child: self.value(child, env))

    def _arguments(self, node: c_ast.Node, env: Env) -> c_ast.Node:
        """Calls with pointers are for others to judge."""
        return mapped(node, lambda child: child if self._points(child, env) else self.value(child, env))

    def _compared(self, node: c_ast.BinaryOp, env: Env) -> c_ast.Node:
        """Two pointers into one array as their indices."""
        if is_null(node.right) and node.op in ("==", "!="):
            return self._null_test(node.op, node.left, node, env)
        one, two = self._used(node.left, env), self._used(node.right, env)
        if one is None or two is None or one.single or two.single or c_text(one.root) != c_text(two.root):
            return mapped(node, lambda child: self.value(child, env))
        zero = c_ast.Constant("int", "0", node.coord)
        left, right = (total([*a.offsets], lambda _: False) or zero for a in (one, two))
        return c_ast.BinaryOp(node.op, left, right, node.coord)

    def _moves(self, node: c_ast.Node, env: Env) -> bool:
        """Is it more than a variable, a member or an element that holds a pointer?"""
        if isinstance(node, c_ast.ID):
            return node.name in env.known
        if isinstance(node, (c_ast.Cast, c_ast.BinaryOp)) or (isinstance(node, c_ast.UnaryOp) and node.op == "&"):
            return True
        return isinstance(node, c_ast.FuncCall) and is_aligned(node)

    def _element(
        self, base: c_ast.Node, subscript: c_ast.Node | None, node: c_ast.Node, env: Env
    ) -> c_ast.Node | None:
        at = self._used(base, env)
        if at is None:
            return None
        made = element(at, subscript, lambda v: is_plain(v, env.shapes, self.site.enums))
        if made is None:
            raise self.unknown(node, f"`{c_text(node)}` is not the object that the pointer was set to")
        made.coord = node.coord if made is not at.root else made.coord
        return made

    def _used(self, node: c_ast.Node, env: Env) -> Address | None:
        """An address that something is done with: it must be known right here."""
        at = self.address(node, env)
        if at is not None and not at.within <= env.loops:
            raise self.unknown(node, f"where `{c_text(node)}` is here depends on how often a loop before has run")
        return at

    def address(self, node: c_ast.Node, env: Env) -> Address | None:
        """A pointer expression as an array and an offset."""
        if isinstance(node, c_ast.ID) and node.name in env.known:
            at = env.known[node.name]
            if at is None:
                raise self.unknown(node, f"`{node.name}` does not always lead to the same array here")
            return at
        shape = shape_of(node, env.shapes, self.site.types)
        if isinstance(node, c_ast.Cast):
            return self._cast(node, shape, env)
        if isinstance(node, c_ast.FuncCall):
            return self.address(node.args.exprs[0], env) if is_aligned(node) else None
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            return self._address_of(node.expr, env)
        if shape is None or not shape.declarators or shape.special:
            return None
        if isinstance(node, c_ast.BinaryOp):
            return self._moved(node, env)
        if isinstance(node, (c_ast.ID, c_ast.ArrayRef, c_ast.StructRef)) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "*"
        ):
            root = self.value(node, env)
            return Address(root, shape, const=self._is_const(root, env))
        return None

    def _cast(self, node: c_ast.Cast, shape: DeclaredType | None, env: Env) -> Address | None:
        """A pointer with another type: the same memory, or the bytes of it."""
        turned = xor_of(node.expr, self.site.types.shape)
        at = self.address(node.expr if turned is None else turned[0], env)
        if at is not None and turned is not None:
            at = self.views.turned(at, turned[1], lambda v: is_plain(v, env.shapes, self.site.enums))
        if at is None or shape is None or pointee(shape) == pointee(at.shape):
            return at if shape is not None else None
        return self.views.bytes_of(at, shape)

    def _address_of(self, node: c_ast.Node, env: Env) -> Address | None:
        if isinstance(node, c_ast.ArrayRef):
            return self._further(self.address(node.name, env), ((1, self.value(node.subscript, env)),))
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return self.address(node.expr, env)
        shape = shape_of(node, env.shapes, self.site.types)
        if shape is None or not isinstance(node, (c_ast.ID, c_ast.StructRef)):
            return None
        root = self.value(node, env)
        return Address(root, shape, single=True, const=self._is_const(root, env))

    def _moved(self, node: c_ast.BinaryOp, env: Env) -> Address | None:
        left, right = node.left, node.right
        if node.op == "+" and not self._points(left, env):
            left, right = right, left
        return self._further(self.address(left, env), ((1 if node.op == "+" else -1, self.value(right, env)),))

    def _further(self, at: Address | None, by: tuple[tuple[int, c_ast.Node], ...]) -> Address | None:
        return None if at is None else replace(at, offsets=(*at.offsets, *(b for b in by if not is_null(b[1]))))

    def _is_const(self, root: c_ast.Node, env: Env) -> bool:
        """Must elements behind it not be written? Members are looked at when they are."""
        return isinstance(root, c_ast.ID) and root.name in env.const

    def unknown(self, node: c_ast.Node, why: str, hint: str = HINT) -> Unsupported:
        return Unsupported("pointer-unknown", why, location(node, self.site.loc), hint)
