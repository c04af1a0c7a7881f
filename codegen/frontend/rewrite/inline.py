"""Calls of functions of the file, written out in place.

A function that only computes a value from numbers stays a call. Of others, a body that is one value under conditions
takes the place of the call, conditions and all; longer ones become a block in front of the statement, with variables of
their own for parameters and the value, where the statement is sure to make the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from codegen.diagnostics import Unsupported
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.memory.layers import DeclaredType, parameters
from codegen.frontend.parameters.prescan import Prescan, prescan
from codegen.frontend.purity import is_pure
from codegen.frontend.rewrite.address import pointee, shape_of
from codegen.frontend.rewrite.bodies import (
    Into,
    NoForm,
    as_parameter,
    as_value,
    check_body,
    free_names,
    locals_of,
    named,
    substituted,
    without_return,
)
from codegen.frontend.rewrite.lvalues import addressed, base_of, behind, looks_alone, name_of, truth_of, type_named
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
    with_statements,
)
from codegen.frontend.symbols import RegionSite, location

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
    maker = _Inliner(site, pure, fresh_names(site), prescan(site), shapes, own)
    maker.changed |= addressed(region).union(*(assigned(f.body) & free_names(f) for f in site.functions.values()))
    made = maker.block(site.statements)
    return replace(with_statements(site, made), inlined=frozenset(maker.done)) if maker.done else site


def _called(node: c_ast.FuncCall) -> str:
    return str(node.name.name) if isinstance(node.name, c_ast.ID) else ""


@dataclass
class _Inliner:
    site: RegionSite
    pure: frozenset[str]
    fresh: Fresh
    scan: Prescan
    shapes: dict[str, DeclaredType]  # by name, for what has one meaning
    own: set[str]  # names of the function around, which hide those of the file
    stack: tuple[str, ...] = ()
    size: int = 0
    done: set[str] = field(default_factory=set)  # functions that were written out
    changed: set[str] = field(default_factory=set)  # variables that more than declarations and heads of loops set

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
        counts = self._counts(node)

        def visit(child: c_ast.Node) -> c_ast.Node:
            inside = index or counts or (isinstance(node, c_ast.ArrayRef) and child is node.subscript)
            more, made = self.value(child, inside)
            if more and any(self._stores(x) for x in more) and not looks_alone(node, child):
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

    def _counts(self, node: c_ast.Node) -> bool:
        """Does it set an integer? Subscripts and bounds may be made of it."""
        if isinstance(node, c_ast.Decl):
            shape: DeclaredType | None = self.site.types.shape(node.type)
        else:
            shape = self.shapes.get(name_of(node.lvalue)) if isinstance(node, c_ast.Assignment) else None
        return shape is not None and not shape.layers and shape.elem.is_int

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
        name = _called(node)
        return name in self.site.functions and not is_pure(name, self.pure, self.site.functions)

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
        if assigned(func.body) or any(assigned(a) for a in args):
            raise NoForm("it changes variables")
        shape = self.site.types.shape(func.decl.type.type)
        if shape.layers or shape.struct is not None or shape.elem.spelling == "void":
            raise NoForm("its value is no number")
        values = {str(p.name): self._given(p, a) for p, a in zip(parameters(func), args, strict=True)}
        if len(declared(func.body)) > len(locals_of(func)):
            raise NoForm("a name in it has two meanings")
        renamed = {n: self.fresh.name(n) for n in locals_of(func)}
        body = [substituted(x, values, renamed) for x in items_of(func.body)]
        made = as_value(body, lambda e: self._converted(e, func.decl.type.type), self._converted)
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

    def _given(self, formal: c_ast.Decl, arg: c_ast.Node) -> c_ast.Node:
        """An argument as the parameter would have it. Raises NoForm where the types of objects differ."""
        shape = self.site.types.shape(formal.type)
        if not shape.layers and shape.struct is None:
            return self._converted(arg, formal.type)
        have = shape_of(arg, self.shapes, self.site.types)
        alike = have is not None and (pointee(have) == pointee(shape) if shape.layers else have.struct is shape.struct)
        if not alike:
            raise NoForm(f"`{c_text(arg)}` has another type than the parameter")
        return arg

    def _converted(self, node: c_ast.Node, to: c_ast.Node) -> c_ast.Node:
        """A number as an object of a type would hold it."""
        shape = self.site.types.shape(to)
        if shape.layers or shape.struct is not None:
            raise NoForm("it has variables that are no numbers")
        if self._number(node) == (shape.elem.kind, shape.elem.bits, shape.elem.signed):
            return node
        return c_ast.Cast(c_ast.Typename(None, [], None, type_named(to, None)), node, node.coord)

    def _number(self, node: c_ast.Node) -> tuple[str, int, bool] | None:
        """The arithmetic type of an argument, where it is easily told."""
        if isinstance(node, c_ast.Constant):
            return ("int", 32, True) if node.type == "int" else None
        if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*"):
            left, right = self._number(node.left), self._number(node.right)
            return left if left == right and left is not None and left[1] >= 32 else None
        shape = shape_of(node, self.shapes, self.site.types)
        if shape is None or shape.layers or shape.elem.enum:
            return None
        return (shape.elem.kind, shape.elem.bits, shape.elem.signed)

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
            direct = self._direct(func, formal, arg)
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

    def _direct(self, func: c_ast.FuncDef, formal: c_ast.Decl, arg: c_ast.Node) -> c_ast.Node | None:
        """An argument that may stand for the parameter everywhere in the body."""
        name, shape = str(formal.name), self.site.types.shape(formal.type)
        if name in assigned(func.body) or name in addressed(func.body):
            return None
        if shape.struct is not None and not shape.layers:
            kept = self._lasting(arg) and not self._sets_member(func.body, name, shape)
            alike = kept and getattr(shape_of(arg, self.shapes, self.site.types), "struct", None) is shape.struct
            return arg if alike else None
        if shape.layers or not self._steady(arg):
            return None
        plain = shape.elem.is_int or isinstance(arg, (c_ast.ID, c_ast.Constant))
        return self._given(formal, arg) if plain else None

    def _lasting(self, arg: c_ast.Node) -> bool:
        """Is it a struct that no statement of the region changes?"""
        base = base_of(arg)
        if base is None or base in self.changed:
            return False
        if not all(isinstance(n, c_ast.ID) or (isinstance(n, c_ast.StructRef) and n.type == ".") for n in nodes(arg)):
            return base not in self.scan.reassigned
        shape = self.shapes.get(base)
        return shape is not None and not any(self._sets_member(s, base, shape) for s in self.site.statements)

    def _sets_member(self, body: c_ast.Node, name: str, shape: DeclaredType) -> bool:
        """Is a member of a struct set, or all of it, not something that it points to?"""
        shapes = {name: shape}
        for n in nodes(body):
            target = n.lvalue if isinstance(n, c_ast.Assignment) else None
            target = n.expr if isinstance(n, c_ast.UnaryOp) and n.op in STEPS else target
            while isinstance(target, (c_ast.StructRef, c_ast.ArrayRef)):
                outer = shape_of(target.name, shapes, self.site.types)
                target = None if outer is not None and behind(outer) else target.name
            if target is not None and name_of(target) == name:
                return True
        return False

    def _steady(self, node: c_ast.Node) -> bool:
        """Is it made of numbers that nothing in the region changes but the heads of loops?"""
        if isinstance(node, c_ast.ID):
            return node.name not in self.scan.reassigned and node.name not in self.changed
        if isinstance(node, c_ast.StructRef):
            return any(c_text(node) == text for text, _ in self.scan.params)
        simple = isinstance(node, (c_ast.Constant, c_ast.BinaryOp)) or (
            isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-")
        )
        return simple and all(self._steady(child) for child in node)

    def _stores(self, node: c_ast.Node) -> bool:
        """May it store to anything but variables that were made for it?"""
        for n in nodes(node):
            target = n.lvalue if isinstance(n, c_ast.Assignment) else None
            target = n.expr if isinstance(n, c_ast.UnaryOp) and n.op in STEPS else target
            if target is not None and name_of(target) not in self.fresh.given:
                return True
        return False

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
