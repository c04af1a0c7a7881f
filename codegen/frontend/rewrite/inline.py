"""Inlining: calls of functions that the file defines are replaced by their bodies.

A function that only computes a value from numbers stays a call, and so does one with loops or jumps that cannot be
written out. Of others, a body that is one value under conditions takes the place of the call, conditions and all;
longer ones become a block in front of the statement, with variables of their own for parameters and the value, where
the statement is sure to make the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from pycparser import c_ast

from codegen.diagnostics import Unsupported
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.prescan import prescan
from codegen.frontend.rewrite.arguments import ArgumentForms
from codegen.frontend.rewrite.bodies import (
    Into,
    NoForm,
    as_parameter,
    as_value,
    check_body,
    free_names,
    has_form,
    locals_of,
    named,
    substituted,
    without_return,
)
from codegen.frontend.syntax.declarators import parameters
from codegen.frontend.syntax.lvalues import addressed, looks_alone, truth_of, type_named
from codegen.frontend.syntax.purity import is_pure
from codegen.frontend.syntax.symbols import RegionSite, location
from codegen.frontend.syntax.tree import (
    as_block,
    assigned,
    declaration,
    declared,
    fresh_names,
    items_of,
    mapped,
    nodes,
    stores,
    with_statements,
)
from codegen.record import mutable

MOST_NODES = 20_000  # of code written out in one region
_STRUCTURE = (c_ast.Compound, c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch, c_ast.Case, c_ast.Default)
Items = list[c_ast.Node]


def with_inlined(site: RegionSite, pure: frozenset[str]) -> RegionSite:
    """The region with the bodies of functions it calls. Raises Unsupported where one of them cannot be written out."""
    called = {_called(n) for s in site.statements for n in nodes(s) if isinstance(n, c_ast.FuncCall)}
    if not called & set(site.functions):
        return site
    region = c_ast.Compound(list(site.statements))
    shapes = {n: v.shape for n, v in site.variables.items() if n not in set(declared(region))}
    for n in nodes(region):
        if isinstance(n, c_ast.Decl) and declared(region).count(str(n.name)) == 1 and n.name not in site.variables:
            shapes[str(n.name)] = site.types.shape(n.type)
    own = {n for n, v in site.variables.items() if v.place != "global"} | set(declared(region))
    changed = addressed(region).union(*(assigned(f.body) & free_names(f) for f in site.functions.values()))
    maker = _Inliner(site, fresh_names(site), prescan(site), shapes, set(changed), pure, own)
    made = maker.block(site.statements)
    return replace(with_statements(site, made), inlined=frozenset(maker.done)) if maker.done else site


def _called(node: c_ast.FuncCall) -> str:
    return str(node.name.name) if isinstance(node.name, c_ast.ID) else ""


def _counts_for_itself(func: c_ast.FuncDef) -> bool:
    """Are there loops that only their own run tells the end of, as in `while (b) { t = a % b; a = b; b = t; }`?"""
    endless = (n for n in nodes(func.body) if isinstance(n, (c_ast.While, c_ast.DoWhile, c_ast.For)))
    return any(not isinstance(n, c_ast.For) or n.init is None for n in endless)


@mutable
class _Inliner(ArgumentForms):
    pure: frozenset[str]
    own: set[str]  # names of the function around, which hide those of the file
    stack: tuple[str, ...] = ()
    size: int = 0
    done: set[str] = field(default_factory=set)  # functions that were written out

    # -- statements ------------------------------------------------------------------------------------

    def block(self, items: Sequence[c_ast.Node]) -> Items:
        return [made for item in items for made in self.statement(item)]

    def statement(self, node: c_ast.Node) -> Items:
        if isinstance(node, c_ast.Compound):
            made = self.block(node.block_items or ())
            return [node if _alike(made, node.block_items or ()) else c_ast.Compound(made, node.coord)]
        if isinstance(node, c_ast.If):
            before, cond = self.value(node.cond, True)
            yes, no = self._branch(node.iftrue), self._branch(node.iffalse)
            same = cond is node.cond and yes is node.iftrue and no is node.iffalse
            return [*before, node if same else c_ast.If(cond, yes, no, node.coord)]
        if isinstance(node, _STRUCTURE):
            return [mapped(node, lambda child: self._part(child, node))]
        if isinstance(node, c_ast.FuncCall) and self._written_out(node):
            before, args = self._arguments(node)
            return [*before, *self._statements(node, args, Into(""))]
        if isinstance(node, c_ast.Pragma):
            return [node]
        before, made = self.value(node)
        return [*before, made]

    def _branch(self, node: c_ast.Node | None) -> c_ast.Node | None:
        return None if node is None else self._part(node, node)

    def _part(self, node: c_ast.Node, parent: c_ast.Node) -> c_ast.Node:
        """A statement below another one, or an expression that has no room in front of it."""
        if isinstance(node, (c_ast.DeclList, c_ast.ExprList)) or not _stands(node, parent):
            before, made = self.value(node, True)
            if before:
                raise self._refused(node, "a loop's header calls it, and its value is no single expression")
            return made
        made = self.statement(node)
        return made[0] if len(made) == 1 and not isinstance(made[0], c_ast.Decl) else as_block(made, node)

    # -- expressions -----------------------------------------------------------------------------------

    def value(self, node: c_ast.Node, index: bool = False) -> tuple[Items, c_ast.Node]:
        """What has to be done before an expression, and the expression without calls. `index`: it should be affine."""
        if isinstance(node, c_ast.FuncCall):
            return self._call(node, index)
        if isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||"):
            return self._decided(node, index)
        if isinstance(node, c_ast.TernaryOp):
            return self._chosen(node, index)
        before: Items = []
        counts = self.sets_integer(node)

        def visit(child: c_ast.Node) -> c_ast.Node:
            inside = index or counts or (isinstance(node, c_ast.ArrayRef) and child is node.subscript)
            more, made = self.value(child, inside)
            if more and any(self.stores(x) for x in more) and not looks_alone(node, child):
                raise self._refused(child, "it stores to memory, and the rest of the expression may look at that")
            before.extend(more)
            return made

        if isinstance(node, c_ast.StructRef):
            outer = visit(node.name)
            return before, node if outer is node.name else c_ast.StructRef(outer, node.type, node.field, node.coord)
        if isinstance(node, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.Typename)):
            return [], node
        made = mapped(node, visit)
        return before, made

    def _decided(self, node: c_ast.BinaryOp, index: bool) -> tuple[Items, c_ast.Node]:
        """`a && f(x)`: the block of f stands under `if (a)`."""
        before, left = self.value(node.left, index)
        inside, right = self.value(node.right, index)
        if not inside:
            same = left is node.left and right is node.right
            return before, node if same else c_ast.BinaryOp(node.op, left, right, node.coord)
        own = self.fresh.name("held")
        first = declaration(own, ["int"], truth_of(left), node.coord)
        test: c_ast.Node = c_ast.ID(own, node.coord)
        asked = test if node.op == "&&" else c_ast.UnaryOp("!", test, node.coord)
        put = c_ast.Assignment("=", test, truth_of(right), node.coord)
        return [*before, first, c_ast.If(asked, c_ast.Compound([*inside, put]), None, node.coord)], test

    def _chosen(self, node: c_ast.TernaryOp, index: bool) -> tuple[Items, c_ast.Node]:
        before, cond = self.value(node.cond, index)
        parts = [self.value(x, index) for x in (node.iftrue, node.iffalse)]
        if any(more for more, _ in parts):
            raise self._refused(node, "only one side of `?:` calls it, and its value is no single expression")
        yes, no = parts[0][1], parts[1][1]
        same = cond is node.cond and yes is node.iftrue and no is node.iffalse
        return before, node if same else c_ast.TernaryOp(cond, yes, no, node.coord)

    # -- calls -----------------------------------------------------------------------------------------

    def _written_out(self, node: c_ast.FuncCall) -> bool:
        name, functions = _called(node), self.site.functions
        dialect = self.site.dialect
        if name not in functions or is_pure(name, self.pure, functions, dialect=dialect):
            return False
        counted = has_form(functions[name]) and not _counts_for_itself(functions[name])
        return counted or not is_pure(name, self.pure, functions, True, dialect)

    def _call(self, node: c_ast.FuncCall, index: bool) -> tuple[Items, c_ast.Node]:
        before, args = self._arguments(node)
        changed = node
        if args and any(a is not b for a, b in zip(args, node.args.exprs, strict=True)):
            changed = c_ast.FuncCall(node.name, c_ast.ExprList(args, node.coord), node.coord)
        name = _called(node)
        if name not in self.site.functions:
            return before, changed
        func = self.site.functions[name]
        if not self._written_out(node):
            if not index or len(items_of(func.body)) == 1 or name in self.pure:
                return before, changed
            try:
                return before, self._expression(node, args)
            except (NoForm, Unsupported):
                return before, changed
        try:
            return before, self._expression(node, args)
        except NoForm:
            pass
        own = self.fresh.name(name)
        result = c_ast.Decl(own, [], [], [], [], type_named(func.decl.type.type, own), None, None, node.coord)
        if self.site.types.shape(result.type).elem.spelling == "void":
            raise self._refused(node, "it returns nothing")
        self.shapes[own] = self.site.types.shape(result.type)
        self.changed.add(own)
        return [*before, result, *self._statements(node, args, Into(own))], c_ast.ID(own, node.coord)

    def _arguments(self, node: c_ast.FuncCall) -> tuple[Items, Items]:
        before: Items = []
        args: Items = []
        for arg in getattr(node.args, "exprs", None) or ():
            more, made = self.value(arg)
            before, args = [*before, *more], [*args, made]
        return before, args

    def _expression(self, node: c_ast.FuncCall, args: Items) -> c_ast.Node:
        """The value of a call as an expression. Raises NoForm where the body is more than that."""
        func = self._function(node, args)
        if stores(func.body) or any(map(stores, args)):
            raise NoForm("it changes variables")
        shape = self.site.types.shape(func.decl.type.type)
        if shape.declarators or shape.struct is not None or shape.elem.spelling == "void":
            raise NoForm("its value is no number")
        values = {str(p.name): self.given(p, a) for p, a in zip(parameters(func), args, strict=True)}
        if len(declared(func.body)) > len(locals_of(func)):
            raise NoForm("a name in it has two meanings")
        renamed = {n: self.fresh.name(n) for n in locals_of(func)}
        body = [substituted(x, values, renamed) for x in items_of(func.body)]
        made = as_value(body, lambda e: self.converted(e, func.decl.type.type), self.converted)
        saved, self.stack = self.stack, (*self.stack, _called(node))
        try:
            before, whole = self.value(made, True)
        finally:
            self.stack = saved
        if before:
            raise NoForm("what it calls is no single expression")
        self.done.add(_called(node))
        self.size += sum(1 for _ in nodes(whole))
        return whole

    def _function(self, node: c_ast.FuncCall, args: Items) -> c_ast.FuncDef:
        """The function, if it can be written out here. Raises Unsupported."""
        name = _called(node)
        func = self.site.functions[name]
        try:
            check_body(func)
        except NoForm as why:
            raise self._refused(node, str(why)) from None
        if name in self.stack or len(self.stack) > 16:
            raise self._refused(node, "it calls itself")
        if len(parameters(func)) != len(args):
            raise self._refused(node, "it has another number of parameters")
        hidden = {str(p.name) for p in parameters(func)} & set(locals_of(func))
        if hidden:
            raise self._refused(node, f"it hides its parameter `{min(hidden)}`")
        captured = sorted(free_names(func) & self.own)
        if captured:
            raise self._refused(node, f"its `{captured[0]}` is not the one of this function")
        self.size += sum(1 for _ in nodes(func.body))
        if self.size > MOST_NODES:
            raise self._refused(node, "the functions that the region calls are too large together")
        return func

    def _statements(self, node: c_ast.FuncCall, args: Items, into: Into) -> Items:
        """The body of a function as a block that leaves its value in a variable."""
        func = self._function(node, args)
        renamed = {n: self.fresh.name(n) for n in locals_of(func)}
        first: Items = []
        values: dict[str, c_ast.Node] = {}
        for formal, arg in zip(parameters(func), args, strict=True):
            direct = self.direct(func, formal, arg)
            if direct is not None:
                values[str(formal.name)] = direct
                continue
            own = self.fresh.name(str(formal.name))
            kind = substituted(as_parameter(formal), values, {})
            first.append(named(kind, own, arg))
            renamed[str(formal.name)] = own
            self.shapes[own] = self.site.types.shape(kind.type)
        try:
            body = without_return(items_of(func.body), into)
        except NoForm as why:
            raise self._refused(node, str(why)) from None
        made = [substituted(x, values, renamed) for x in body]
        self.done.add(_called(node))
        self.changed |= set[str]().union(*(assigned(x) | addressed(x) for x in made))
        several = declared(c_ast.Compound(made))
        for d in (n for x in made for n in nodes(x)):
            if isinstance(d, c_ast.Decl) and several.count(str(d.name)) == 1:
                self.shapes[str(d.name)] = self.site.types.shape(d.type)
        return [c_ast.Compound([*first, *self._inner(node, made)], node.coord)]

    def _inner(self, node: c_ast.FuncCall, items: Items) -> Items:
        """Calls in code that was written out."""
        saved, self.stack = self.stack, (*self.stack, _called(node))
        try:
            return self.block(items)
        finally:
            self.stack = saved

    def _refused(self, node: c_ast.Node, why: str) -> Unsupported:
        call = next((n for n in nodes(node) if isinstance(n, c_ast.FuncCall) and self._written_out(n)), node)
        name = _called(call) if isinstance(call, c_ast.FuncCall) else c_text(call)
        hint = "write its body in place, or move the call out of the region"
        text = f"`{name}` cannot be written out: {why}"
        return Unsupported("unknown-call", text, location(call, self.site.loc), hint)


def _stands(node: c_ast.Node, parent: c_ast.Node) -> bool:
    """Is it a statement of its own, not a part of the header of a loop?"""
    if isinstance(parent, (c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Switch)):
        return node is parent.stmt
    if isinstance(parent, c_ast.Case):
        return node is not parent.expr
    return isinstance(parent, (c_ast.Default, *_STRUCTURE)) or node is parent


def _alike(a: Sequence[c_ast.Node], b: Sequence[c_ast.Node]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))
