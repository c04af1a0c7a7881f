"""Pointers that the region itself sets, as subscripts of the arrays they lead to.

After `float *x = inp + b * C;` the region's `x[i]` is `inp[b * C + i]`: one array, and exact dependences. What is added
keeps the value it had: where the region changes a variable in it, a new variable holds the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from codegen.diagnostics import Unsupported
from codegen.frontend.affine import c_text
from codegen.frontend.layers import Shape
from codegen.frontend.prescan import Prescan, prescan
from codegen.frontend.rewrite.address import Address, is_null, is_plain, pointee, total
from codegen.frontend.rewrite.tree import (
    STEPS,
    Fresh,
    as_block,
    assigned,
    declaration,
    declared,
    fresh_names,
    items_of,
    mapped,
    nodes,
    shadowing,
    with_statements,
)
from codegen.frontend.rewrite.values import Env, Values
from codegen.frontend.rewrite.walking import Walk, advance, trips
from codegen.frontend.symbols import Derived, RegionSite, has_const_elements, location

_TRUTH = ("&&", "||")


def with_bound(site: RegionSite) -> RegionSite:
    """The region without the pointers that it sets. Raises Unsupported where one of them leads to different places."""
    region = c_ast.Compound(list(site.statements))
    outer = {n for n in assigned(region) if n in site.variables and _is_pointer(site.variables[n].shape)}
    shadowed = shadowing(site.statements, set(site.variables))
    maker = _Pointers(site, fresh_names(site), prescan(site), shadowed, _exposed(region), outer)
    shapes = {n: v.shape for n, v in site.variables.items()}
    const = frozenset(n for n, v in site.variables.items() if v.const)
    env = Env(shapes, const, dict.fromkeys(sorted(outer)))
    for name in sorted(outer):
        if site.used_outside(name) or name in site.hidden or site.variables[name].place == "global":
            why = f"the region sets the pointer `{name}`, which is used elsewhere, too"
            where = next(n for n in nodes(region) if name in assigned(n) and not _is_statement(n, whole=True))
            raise Unsupported("pointer-unknown", why, location(where, site.loc), "declare a pointer inside the region")
    made, _ = maker.block(site.statements, env)
    if all(a is b for a, b in zip(made, site.statements, strict=False)) and len(made) == len(site.statements):
        return site
    told = tuple(Derived(n, maker.roots[n], "") for n in sorted(outer) if n in maker.roots)
    return replace(with_statements(site, made), derived=(*site.derived, *told))


def _is_pointer(shape: Shape | None) -> bool:
    return shape is not None and bool(shape.layers) and shape.layers[0].kind == "pointer"


def _exposed(region: c_ast.Node) -> set[str]:
    """Variables whose address is taken."""
    taken = (n.expr for n in nodes(region) if isinstance(n, c_ast.UnaryOp) and n.op == "&")
    return {str(x.name) for x in taken if isinstance(x, c_ast.ID)}


@dataclass
class _Pointers(Values):
    fresh: Fresh
    scan: Prescan
    shadowed: set[str]
    exposed: set[str]
    outer: set[str]
    roots: dict[str, str] = field(default_factory=dict)  # an array that each outer pointer leads into

    # -- statements ------------------------------------------------------------------------------------

    def block(self, items: Sequence[c_ast.Node], env: Env) -> tuple[list[c_ast.Node], Env]:
        """Statements in order, and what is known after them."""
        out: list[c_ast.Node] = []
        for item in items:
            made, env = self.statement(item, env)
            out += made
        return out, env

    def statement(self, node: c_ast.Node, env: Env) -> tuple[list[c_ast.Node], Env]:
        if isinstance(node, c_ast.Compound):
            items, after = self.block(items_of(node), env)
            gone = {d for x in node.block_items or () for d in declared(x if isinstance(x, c_ast.Decl) else None)}
            gone |= {str(x.name) for x in items if isinstance(x, c_ast.Decl)}
            kept = replace(after, shapes=env.shapes, const=env.const).forget(gone)
            known = {p: kept.known[p] if p not in gone else env.known[p] for p in env.known}
            return [_same(node, items)], replace(kept, known=known)
        if isinstance(node, c_ast.Decl):
            return self._declared(node, env)
        if isinstance(node, c_ast.ExprList):
            return self.block(node.exprs, env)
        if isinstance(node, c_ast.For):
            return self._for(node, env)
        if isinstance(node, c_ast.If):
            return self._if(node, env)
        if isinstance(node, (c_ast.While, c_ast.DoWhile, c_ast.Switch)):
            inside = env.forget(assigned(node))
            return [mapped(node, lambda child: self._part(child, inside))], inside
        return self._simple(node, env)

    def _part(self, node: c_ast.Node, env: Env) -> c_ast.Node:
        """Below a construct that is no loop that counts: a statement or an expression."""
        if isinstance(node, (c_ast.Case, c_ast.Default)):
            return mapped(node, lambda child: self._part(child, env))
        if _is_statement(node):
            return as_block(self.statement(node, env)[0], node)
        return self.value(node, env)

    def _simple(self, node: c_ast.Node, env: Env) -> tuple[list[c_ast.Node], Env]:
        """An expression as a statement: first its effects on pointers that come before, then itself, then the rest."""
        target = node.lvalue if isinstance(node, c_ast.Assignment) else None
        target = node.expr if isinstance(node, c_ast.UnaryOp) and node.op in STEPS else target
        if isinstance(target, c_ast.ID) and target.name in env.known:
            return self._set(node, str(target.name), env)
        before, node, after = self._steps_apart(node, env)
        first, env = self.block(before, env)
        whole = self.value(node, env)
        last, env = self.block(after, env)
        return [*first, whole, *last], env

    def _steps_apart(
        self, node: c_ast.Node, env: Env
    ) -> tuple[list[c_ast.Node], c_ast.Node, list[c_ast.Node]]:
        """`*p++ = x;` is `*p = x; p++;`, for pointers that are tracked and steps that are sure to happen."""
        before: list[c_ast.Node] = []
        after: list[c_ast.Node] = []

        def visit(n: c_ast.Node) -> c_ast.Node:
            if isinstance(n, c_ast.UnaryOp) and n.op in STEPS and getattr(n.expr, "name", None) in env.known:
                (after if n.op.startswith("p") else before).append(n)
                return n.expr
            if isinstance(n, c_ast.BinaryOp) and n.op in _TRUTH:
                return mapped(n, lambda child: visit(child) if child is n.left else child)
            if isinstance(n, c_ast.TernaryOp):
                return mapped(n, lambda child: visit(child) if child is n.cond else child)
            return mapped(n, visit)

        return before, visit(node), after

    def _declared(self, node: c_ast.Decl, env: Env) -> tuple[list[c_ast.Node], Env]:
        shape = self.site.types.shape(node.type)
        known = {p: a for p, a in env.known.items() if p != node.name}
        inside = replace(env, shapes={**env.shapes, node.name: shape}, known=known)
        own = has_const_elements(node.type)
        inside = replace(inside, const=env.const | {node.name} if own else env.const - {node.name})
        plain = "static" not in (node.storage or ()) and "extern" not in (node.storage or ()) and not shape.special
        if not _is_pointer(shape) or not plain:
            if node.init is None:
                return [node], inside
            new = self.value(node.init, env)
            made = node if new is node.init else _with_init(node, new)
            return [made], inside
        if node.init is None or is_null(node.init):
            return [], inside.told(str(node.name), None)
        return self._bind(str(node.name), node.init, node, env, inside)

    def _set(self, node: c_ast.Node, name: str, env: Env) -> tuple[list[c_ast.Node], Env]:
        """A statement that sets a tracked pointer."""
        if isinstance(node, c_ast.UnaryOp):
            by: c_ast.Node = c_ast.Constant("int", "1", node.coord)
            return self._bind(name, c_ast.BinaryOp(node.op[-1], node.expr, by, node.coord), node, env, env)
        if isinstance(node.rvalue, c_ast.Assignment):  # p = q = a
            first, env = self.statement(node.rvalue, env)
            made, env = self._bind(name, node.rvalue.lvalue, node, env, env)
            return [*first, *made], env
        if node.op == "=":
            if is_null(node.rvalue):
                return [], env.told(name, None)
            return self._bind(name, node.rvalue, node, env, env)
        return self._bind(name, c_ast.BinaryOp(node.op[:-1], node.lvalue, node.rvalue, node.coord), node, env, env)

    def _bind(
        self, name: str, value: c_ast.Node, node: c_ast.Node, env: Env, into: Env
    ) -> tuple[list[c_ast.Node], Env]:
        """A pointer from here on. Variables for what may change of its address come in front."""
        at = self.address(value, env)
        shape = into.shapes[name]
        if at is None or (at.single and at.offsets):
            why = f"`{name}` is set to `{c_text(value)}`, which is no array of the region with an offset"
            raise self.unknown(node, why)
        led = Shape((*shape.layers[:1], *at.shape.layers), at.shape.elem, at.shape.struct) if at.single else at.shape
        if pointee(led) != pointee(shape) or (at.const and name not in into.const):
            why = f"`{name}` gives the elements of `{c_text(at.root)}` another type"
            raise self.unknown(node, why, "use a pointer of the array's type")
        if name in self.outer:
            self.roots.setdefault(name, c_text(at.root))
        made, at = self._frozen(name, at, node, env)
        shapes = {**into.shapes, **{str(d.name): self.site.types.shape(d.type) for d in made}}
        return list(made), replace(into, shapes=shapes).told(name, at)

    def _frozen(self, name: str, at: Address, node: c_ast.Node, env: Env) -> tuple[list[c_ast.Decl], Address]:
        """The address in terms that do not change as long as it is known."""
        made: list[c_ast.Decl] = []

        def hold(value: c_ast.Node) -> c_ast.Node:
            if self._steady(value, env):
                return value
            own = self.fresh.name(f"{name}_at")
            made.append(declaration(own, ["long"], value, node.coord))
            return c_ast.ID(own, value.coord)

        def root(n: c_ast.Node) -> c_ast.Node:
            if isinstance(n, c_ast.ArrayRef):
                return type(n)(root(n.name), hold(n.subscript), n.coord)
            return mapped(n, root) if isinstance(n, (c_ast.StructRef, c_ast.UnaryOp)) else n

        base = root(at.root)
        if all(self._steady(v, env) for _, v in at.offsets):
            return made, replace(at, root=base)
        value = total([*at.offsets], lambda v: is_plain(v, env.shapes, self.site.enums))
        assert value is not None
        return made, replace(at, root=base, offsets=((1, hold(value)),))

    def _steady(self, node: c_ast.Node, env: Env) -> bool:
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
            return self._steady(node.expr, env)
        simple = isinstance(node, c_ast.BinaryOp) or (isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-"))
        return simple and all(self._steady(child, env) for child in node)

    def _if(self, node: c_ast.If, env: Env) -> tuple[list[c_ast.Node], Env]:
        cond = self.condition(node.cond, env)
        yes, one = self._body(node.iftrue, env)
        no, two = self._body(node.iffalse, env)
        unlike = {p for p in env.known if one.known.get(p) != two.known.get(p)}
        after = env.forget(assigned(node)) if unlike else replace(env, known=one.known)
        if cond is node.cond and yes is node.iftrue and no is node.iffalse:
            return [node], after
        return [c_ast.If(cond, yes, no, node.coord)], after

    def _body(self, node: c_ast.Node | None, env: Env) -> tuple[c_ast.Node | None, Env]:
        """A branch or the body of a loop; variables made for it live in it alone."""
        if node is None:
            return None, env
        whole = node if isinstance(node, c_ast.Compound) else c_ast.Compound([node], node.coord)
        (block,), after = self.statement(whole, env)
        if not isinstance(node, c_ast.Compound) and len(block.block_items or ()) == 1:
            only = block.block_items[0]
            return (only, after) if not isinstance(only, c_ast.Decl) else (block, after)
        return block, after

    def _for(self, node: c_ast.For, env: Env) -> tuple[list[c_ast.Node], Env]:
        own = id(node)
        ahead, node = self._pointers_ahead(node, env)
        first, env = self.block(ahead, env)
        moved = {p for p in assigned(node) if p in env.known}
        walk = Walk.of(node)
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
        init = None if node.init is None else self._started(node.init, env)
        cond = None if node.cond is None else self.condition(node.cond, inside)
        steps, rest = self._own_steps(node.next, env)
        stmt, _ = self._body(node.stmt, inside)
        after = env.forget(moved | counter)
        same = init is node.init and cond is node.cond and rest is node.next and stmt is node.stmt
        made = node if same and not steps else c_ast.For(init, cond, rest, stmt, node.coord)
        for p in sorted(moved):
            after = after.told(p, self._passed(p, node, own, entry[p], env))
        return [*first, made], after

    def _started(self, node: c_ast.Node, env: Env) -> c_ast.Node:
        """How a loop begins."""
        if isinstance(node, c_ast.DeclList):
            return mapped(node, lambda d: d if d.init is None else _with_init(d, self.value(d.init, env)))
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
        self, name: str, node: c_ast.For, walk: Walk | None, at: Address | None, inside: Env
    ) -> Address | None:
        """Where a pointer that the loop moves is at the start of an iteration; None if it is set before it is used."""
        if at is None or walk is None or at.single or walk.counter in self.shadowed:
            return None
        each = advance(name, node, lambda v: self._steady(v, inside))
        if each is None or not self._steady(walk.first, inside):
            return None
        offsets = tuple((sign, walk.times(value)) for sign, value in each.parts)
        return replace(at, offsets=(*at.offsets, *offsets), within=at.within | each.within)

    def _passed(self, name: str, node: c_ast.For, own: int, at: Address | None, env: Env) -> Address | None:
        """Where it is behind the loop: at a place that only loops which run with this one can tell."""
        each = advance(name, node, lambda v: self._steady(v, env))
        count = trips(node, lambda v: self._steady(v, env))
        if at is None or each is None or count is None or at.single:
            return None
        offsets = tuple((sign, count.of(value)) for sign, value in each.parts)
        gone = frozenset() if count.sure else frozenset({own})
        return replace(at, offsets=(*at.offsets, *offsets), within=at.within | each.within | gone)


def _same(node: c_ast.Compound, items: list[c_ast.Node]) -> c_ast.Compound:
    old = node.block_items or []
    unchanged = len(old) == len(items) and all(a is b for a, b in zip(old, items, strict=True))
    return node if unchanged else c_ast.Compound(items, node.coord)


def _with_init(node: c_ast.Decl, init: c_ast.Node) -> c_ast.Decl:
    return c_ast.Decl(
        node.name, node.quals, node.align, node.storage, node.funcspec, node.type, init, node.bitsize, node.coord
    )


def _name(node: c_ast.Node) -> str:
    return str(node.name) if isinstance(node, c_ast.ID) else ""


def _is_statement(node: c_ast.Node, whole: bool = False) -> bool:
    kinds = (c_ast.Compound, c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch)
    return isinstance(node, kinds) or (isinstance(node, (c_ast.Assignment, c_ast.Decl)) and not whole)
