"""Rewrites `for` loops over tracked pointers, for the pass in `pointers.py`: a pointer counter becomes an integer,
initial assignments of pointers move ahead of the loop, and their increments are dropped from its header. Instead each
pointer gets its address at the start of an iteration and behind the loop, as array and offsets (None if unknown)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field, replace

from pycparser import c_ast

from codegen.frontend.expressions.address import Address, pointee, total
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.prescan import Prescan
from codegen.frontend.rewrite.pointers.expressions import Env, Values
from codegen.frontend.rewrite.pointers.steps import CountedWalk, advance, pointer_head, trips
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.symbols import has_const_elements
from codegen.frontend.syntax.tree import Fresh, assigned, declaration, declared, mapped, names
from codegen.record import mutable


@mutable
class PointerLoops(Values, ABC):
    """The part of the rewriting that reads loops; whoever has statements in them completes it."""

    fresh: Fresh
    scan: Prescan
    shadowed: set[str]
    exposed: set[str]
    outer: set[str]
    roots: dict[str, str] = field(default_factory=dict)  # an array that each outer pointer leads into

    @abstractmethod
    def block(self, items: Sequence[c_ast.Node], env: Env) -> tuple[list[c_ast.Node], Env]:
        """Statements in order, and what is known after them."""

    @abstractmethod
    def body(self, node: c_ast.Node | None, env: Env) -> tuple[c_ast.Node | None, Env]:
        """A branch or the body of a loop; variables made for it live in it alone."""

    def steady(self, node: c_ast.Node, env: Env) -> bool:
        """Does it have one value as long as the loops around go on, in any scope of the region?"""
        if isinstance(node, c_ast.Constant):
            return True
        if isinstance(node, c_ast.ID):
            if node.name in self.scan.reassigned or node.name in self.exposed | self.shadowed:
                return False
            inside = node.name not in self.site.variables
            return node.name in env.counters or inside or node.name not in self.scan.counters
        if isinstance(node, c_ast.StructRef):
            return any(c_text(node) == text for text, _ in self.scan.params)
        if isinstance(node, c_ast.Cast):
            return self.steady(node.expr, env)
        simple = isinstance(node, c_ast.BinaryOp) or (isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"))
        return simple and all(self.steady(child, env) for child in node)

    def loop(self, node: c_ast.For, env: Env) -> tuple[list[c_ast.Node], Env]:
        own = id(node)
        ahead, node = self._pointers_ahead(node, env)
        first, env = self.block(ahead, env)
        pointer, node, at = self._by_index(node, env)
        moved = {p for p in assigned(node) if p in env.known}
        walk = CountedWalk.of(node)
        inside = env
        if isinstance(node.init, c_ast.DeclList):
            shapes = {str(d.name): self.site.types.shape(d.type) for d in node.init.decls}
            inside = replace(env, shapes={**env.shapes, **shapes})
        counter = set() if walk is None or walk.counter in self.shadowed else {walk.counter}
        inside = replace(inside, counters=env.counters | counter, loops=env.loops | {own})
        entry = {p: env.known[p] for p in sorted(moved)}
        inside = inside.forget(moved)
        for p in sorted(moved):
            inside = inside.told(p, self._walking(p, node, walk, entry[p], inside))
        if at is not None:
            inside = replace(inside.told(pointer, at), shapes={**inside.shapes, pointer: at.shape})
        # A header that counts an index is made of values already: pointers in it are as they were before the loop.
        init = node.init if at is not None or node.init is None else self._started(node.init, env)
        cond = node.cond if at is not None or node.cond is None else self.condition(node.cond, inside)
        steps, rest = self._own_steps(node.next, env)
        stmt, _ = self.body(node.stmt, inside)
        after = env.forget(moved | counter)
        same = init is node.init and cond is node.cond and rest is node.next and stmt is node.stmt
        made = node if same and not steps else c_ast.For(init, cond, rest, stmt, node.coord)
        for p in sorted(moved):
            after = after.told(p, self._passed(p, node, own, entry[p], env))
        return [*first, made], after if at is None or pointer not in env.known else after.told(pointer, None)

    def _by_index(self, node: c_ast.For, env: Env) -> tuple[str, c_ast.For, Address | None]:
        """A loop whose counter is a pointer, `for (p = a; p < a + n; p++)`, with an index as its counter: where the
        pointer is with that. The loop itself and no address for others."""
        head = pointer_head(node)
        if head is None or {head.name, *names(head.limit)} & assigned(node.stmt):
            return "", node, None
        own = {} if head.declared is None else {head.name: self.site.types.shape(head.declared.type)}
        shape = {**env.shapes, **own}.get(head.name)
        if not is_pointer(shape) or head.name in self.shadowed or (not own and head.name not in env.known):
            return "", node, None
        first, limit = self.address(head.first, env), self._used(head.limit, env)
        if first is None or limit is None or first.single or limit.single:
            return "", node, None
        assert shape is not None
        const = head.name in env.const if head.declared is None else has_const_elements(head.declared.type)
        unlike = pointee(first.shape) != pointee(shape) or pointee(limit.shape) != pointee(shape)
        if unlike or (first.const and not const) or not first.within <= env.loops:
            return "", node, None
        counter = self.fresh.name(f"{head.name}_at")
        zero = c_ast.Constant("int", "0", node.coord)
        ends = list(limit.offsets)
        if c_text(first.root) != c_text(limit.root):
            ends.insert(0, (1, c_ast.BinaryOp("-", limit.root, first.root, node.coord)))
        start, end = (total(x, lambda _: False) or zero for x in ([*first.offsets], ends))
        if head.name in self.outer:
            self.roots.setdefault(head.name, c_text(first.root))
        made = c_ast.For(
            c_ast.DeclList([declaration(counter, ["long"], start, node.coord)], node.coord),
            c_ast.BinaryOp(head.op, c_ast.ID(counter, node.coord), end, node.cond.coord),
            c_ast.Assignment("+=", c_ast.ID(counter), c_ast.Constant("int", str(head.step)), node.coord),
            node.stmt,
            node.coord,
        )
        return head.name, made, replace(first, offsets=((1, c_ast.ID(counter, node.coord)),))

    def _started(self, node: c_ast.Node, env: Env) -> c_ast.Node:
        """How a loop begins."""
        if isinstance(node, c_ast.DeclList):
            return mapped(node, lambda d: d if d.init is None else with_init(d, self.value(d.init, env)))
        if isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID):
            return mapped(node, lambda child: child if child is node.lvalue else self.value(child, env))
        return self.value(node, env)

    def _pointers_ahead(self, node: c_ast.For, env: Env) -> tuple[list[c_ast.Node], c_ast.For]:
        """Tracked pointers that the header sets first, as statements in front of it."""
        if not isinstance(node.init, c_ast.ExprList):
            return [], node
        mine = [x for x in node.init.exprs if isinstance(x, c_ast.Assignment) and _name(x.lvalue) in env.known]
        rest = [x for x in node.init.exprs if not any(x is m for m in mine)]
        if not mine or len(rest) != 1:
            return [], node
        return mine, c_ast.For(rest[0], node.cond, node.next, node.stmt, node.coord)

    def _own_steps(self, node: c_ast.Node | None, env: Env) -> tuple[list[c_ast.Node], c_ast.Node | None]:
        """The steps of tracked pointers in the last part of a header, and what else is there."""
        parts = list(node.exprs) if isinstance(node, c_ast.ExprList) else [] if node is None else [node]
        mine = [x for x in parts if assigned(x) & set(env.known)]
        rest = [x for x in parts if not any(x is m for m in mine)]
        if node is None or not mine:
            return [], node
        return mine, rest[0] if len(rest) == 1 else c_ast.ExprList(rest, node.coord) if rest else None

    def _walking(
        self, name: str, node: c_ast.For, walk: CountedWalk | None, at: Address | None, inside: Env
    ) -> Address | None:
        """Where a pointer that the loop moves is at the start of an iteration; None if it is set before it is used."""
        if at is None or walk is None or at.single or walk.counter in self.shadowed:
            return None
        changing = assigned(node) | set(declared(node)) | {walk.counter}
        each = advance(name, node, lambda v: self.steady(v, inside))
        if each is None or not self.steady(walk.first, inside) or any(names(v) & changing for _, v in each.parts):
            return None
        offsets = tuple((sign, walk.times(value)) for sign, value in each.parts)
        return replace(at, offsets=(*at.offsets, *offsets), within=at.within | each.within)

    def _passed(self, name: str, node: c_ast.For, own: int, at: Address | None, env: Env) -> Address | None:
        """Where it is behind the loop: at a place that only loops which run with this one can tell."""
        each = advance(name, node, lambda v: self.steady(v, env))
        count = trips(node, lambda v: self.steady(v, env))
        if at is None or each is None or count is None or at.single:
            return None
        offsets = tuple((sign, count.of(value)) for sign, value in each.parts)
        gone = frozenset() if count.sure else frozenset({own})
        return replace(at, offsets=(*at.offsets, *offsets), within=at.within | each.within | gone)


def is_pointer(shape: DeclaredType | None) -> bool:
    return shape is not None and bool(shape.declarators) and shape.declarators[0].kind == "pointer"


def with_init(node: c_ast.Decl, init: c_ast.Node) -> c_ast.Decl:
    return c_ast.Decl(
        node.name, node.quals, node.align, node.storage, node.funcspec, node.type, init, node.bitsize, node.coord
    )


def _name(node: c_ast.Node) -> str:
    return str(node.name) if isinstance(node, c_ast.ID) else ""
