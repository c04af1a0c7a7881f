"""Pointers that the region itself assigns and advances, rewritten as subscripts of the arrays they point into:
`with_bound` returns the region without them. Unsupported where one may lead to different arrays, or is read after the
region.

After `float *x = inp + b * C;` the region's `x[i]` is `inp[b * C + i]`: one array, and exact dependences. What is added
keeps the value it had: where the region changes a variable in it, a new variable holds the sum. A pointer that was set
before the region is an array until it is set anew; the region's own steps are gone, so its name stays right for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pycparser import c_ast

from codegen.diagnostics import Unsupported
from codegen.frontend.expressions.address import Address, is_null, is_plain, pointee, total
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.prescan import prescan
from codegen.frontend.rewrite.pointers.byte_views import Views
from codegen.frontend.rewrite.pointers.expressions import Env
from codegen.frontend.rewrite.pointers.loops import PointerLoops, is_pointer, with_init
from codegen.frontend.syntax.declarators import DeclaredType
from codegen.frontend.syntax.symbols import Derived, RegionSite, has_const_elements, location
from codegen.frontend.syntax.tree import (
    STEPS,
    as_block,
    assigned,
    declaration,
    declared,
    fresh_names,
    in_turn,
    items_of,
    mapped,
    names,
    nodes,
    shadowing,
    with_statements,
)
from codegen.record import mutable

_TRUTH = ("&&", "||")


def with_bound(site: RegionSite) -> RegionSite:
    """The region without the pointers that it sets. Raises Unsupported where one of them leads to different places."""
    region = c_ast.Compound(list(site.statements))
    outer = {n for n in assigned(region) if n in site.variables and is_pointer(site.variables[n].shape)}
    shadowed = shadowing(site.statements, set(site.variables))
    fresh = fresh_names(site)
    views = Views(site, fresh, shadowed)
    maker = _Pointers(site, views, fresh, prescan(site), shadowed, _exposed(region), outer)
    shapes = {n: v.shape for n, v in site.variables.items()}
    const = frozenset(n for n, v in site.variables.items() if v.const)
    entry = {n: Address(c_ast.ID(n), shapes[n], const=n in const) for n in sorted(outer)}
    env = Env(shapes, const, entry)
    for name in sorted(outer):
        if site.used_outside(name):
            raise _used_elsewhere(name, region, site)
    made, _ = maker.block(site.statements, env)
    if all(a is b for a, b in zip(made, site.statements, strict=False)) and len(made) == len(site.statements):
        return site
    # Arrays themselves, as they come from before the region, or their bytes.
    kept = outer & views.roots(made).union(*(names(x) for x in made))
    for name in sorted(n for n in kept if not site.dies(n)):
        raise _used_elsewhere(name, region, site)
    told = tuple(Derived(n, maker.roots[n], "") for n in sorted(outer - kept) if n in maker.roots)
    return views.into(replace(with_statements(site, made), derived=(*site.derived, *told)))


def _used_elsewhere(name: str, region: c_ast.Node, site: RegionSite) -> Unsupported:
    """Somebody may look at what the region leaves in a pointer."""
    why = f"the region sets the pointer `{name}`, which is used elsewhere, too"
    where = next(n for n in nodes(region) if name in assigned(n) and not _is_statement(n, whole=True))
    return Unsupported("pointer-unknown", why, location(where, site.loc), "declare a pointer inside the region")


def _exposed(region: c_ast.Node) -> set[str]:
    """Variables whose address is taken."""
    taken = (n.expr for n in nodes(region) if isinstance(n, c_ast.UnaryOp) and n.op == "&")
    return {str(x.name) for x in taken if isinstance(x, c_ast.ID)}


@mutable
class _Pointers(PointerLoops):
    # -- statements ------------------------------------------------------------------------------------

    def block(self, items: Sequence[c_ast.Node], env: Env) -> tuple[list[c_ast.Node], Env]:
        return in_turn(items, env, self.statement)

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
            return self.loop(node, env)
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
        if not is_pointer(shape) or not plain:
            if node.init is None:
                return [node], inside
            new = self.value(node.init, env)
            made = node if new is node.init else with_init(node, new)
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
        led = (
            DeclaredType((*shape.declarators[:1], *at.shape.declarators), at.shape.elem, at.shape.struct)
            if at.single
            else at.shape
        )
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
            if self.steady(value, env):
                return value
            own = self.fresh.name(f"{name}_at")
            made.append(declaration(own, ["long"], value, node.coord))
            return c_ast.ID(own, value.coord)

        def root(n: c_ast.Node) -> c_ast.Node:
            if isinstance(n, c_ast.ArrayRef):
                return type(n)(root(n.name), hold(n.subscript), n.coord)
            return mapped(n, root) if isinstance(n, (c_ast.StructRef, c_ast.UnaryOp)) else n

        base = root(at.root)
        if all(self.steady(v, env) for _, v in at.offsets):
            return made, replace(at, root=base)
        value = total([*at.offsets], lambda v: is_plain(v, env.shapes, self.site.enums))
        assert value is not None
        return made, replace(at, root=base, offsets=((1, hold(value)),))

    def _if(self, node: c_ast.If, env: Env) -> tuple[list[c_ast.Node], Env]:
        cond = self.condition(node.cond, env)
        yes, one = self.body(node.iftrue, env)
        no, two = self.body(node.iffalse, env)
        unlike = {p for p in env.known if one.known.get(p) != two.known.get(p)}
        after = env.forget(assigned(node)) if unlike else replace(env, known=one.known)
        if cond is node.cond and yes is node.iftrue and no is node.iffalse:
            return [node], after
        return [c_ast.If(cond, yes, no, node.coord)], after

    def body(self, node: c_ast.Node | None, env: Env) -> tuple[c_ast.Node | None, Env]:
        if node is None:
            return None, env
        whole = node if isinstance(node, c_ast.Compound) else c_ast.Compound([node], node.coord)
        (block,), after = self.statement(whole, env)
        if not isinstance(node, c_ast.Compound) and len(block.block_items or ()) == 1:
            only = block.block_items[0]
            return (only, after) if not isinstance(only, c_ast.Decl) else (block, after)
        return block, after

def _same(node: c_ast.Compound, items: list[c_ast.Node]) -> c_ast.Compound:
    old = node.block_items or []
    unchanged = len(old) == len(items) and all(a is b for a, b in zip(old, items, strict=True))
    return node if unchanged else c_ast.Compound(items, node.coord)


def _is_statement(node: c_ast.Node, whole: bool = False) -> bool:
    kinds = (c_ast.Compound, c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch)
    return isinstance(node, kinds) or (isinstance(node, (c_ast.Assignment, c_ast.Decl)) and not whole)
