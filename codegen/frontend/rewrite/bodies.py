"""Inlining: the body of a called function made ready for the call site, with renamed variables and without `return`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

from pycparser import c_ast

from codegen.frontend.rewrite.jumps import choices
from codegen.frontend.syntax.declarators import parameters
from codegen.frontend.syntax.tree import has_effects, items_of, mapped, names, nodes
from codegen.record import record

_JUMPS = (c_ast.Goto, c_ast.Label)
_TRUTHS = ("<", ">", "<=", ">=", "==", "!=", "&&", "||")  # operators whose value is an int
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Switch)


class NoForm(Exception):
    """The function has no such form; the message says why."""


def check_body(func: c_ast.FuncDef) -> None:
    """Raise NoForm for what cannot stand anywhere else."""
    args = getattr(func.decl.type.args, "params", None) or ()
    if any(isinstance(a, c_ast.EllipsisParam) for a in args):
        raise NoForm("it takes any number of arguments")
    own = {*locals_of(func), *(str(p.name) for p in parameters(func))}
    for n in nodes(func.body):
        if isinstance(n, c_ast.Decl) and {"static", "extern"} & set(n.storage or ()):
            raise NoForm(f"its variable `{n.name}` outlives the call")
        if isinstance(n, _JUMPS):
            raise NoForm("it jumps")
        if isinstance(n, c_ast.UnaryOp) and n.op == "sizeof" and not _is_of_one_type(n.expr):
            asked = sorted(own & names(n.expr))  # the argument may be of another size
            if asked:
                raise NoForm(f"it asks for the size of `{asked[0]}`")
        if isinstance(n, (c_ast.Typedef, c_ast.Struct, c_ast.Union)) and getattr(n, "decls", None):
            raise NoForm("it defines a type")
        if isinstance(n, c_ast.Enum) and n.values is not None:
            raise NoForm("it defines a type")


def _is_of_one_type(node: c_ast.Node) -> bool:
    """Is an operand of `sizeof` of the same type whatever its variables are? The assertions of <assert.h> ask for the
    size of `x ? 1 : 0`."""
    if isinstance(node, c_ast.TernaryOp):
        return _is_of_one_type(node.iftrue) and _is_of_one_type(node.iffalse)
    if isinstance(node, c_ast.BinaryOp):
        return str(node.op) in _TRUTHS
    if isinstance(node, c_ast.UnaryOp):
        return bool(node.op == "!")
    return isinstance(node, (c_ast.Typename, c_ast.Constant, c_ast.Cast))


def has_form(func: c_ast.FuncDef) -> bool:
    """Can its body stand somewhere else, as far as that shows in the body?"""
    try:
        check_body(func)
        without_return(items_of(func.body), Into("value"))
    except NoForm:
        return False
    return True


def locals_of(func: c_ast.FuncDef) -> list[str]:
    """Names of the variables that the body declares, in order."""
    return list(dict.fromkeys(str(n.name) for n in nodes(func.body) if isinstance(n, c_ast.Decl) and n.name))


def free_names(func: c_ast.FuncDef) -> set[str]:
    """Identifiers that mean something outside of the function."""
    own = {*locals_of(func), *(str(p.name) for p in parameters(func))}
    return {str(n.name) for n in nodes(_plain(func.body)) if isinstance(n, c_ast.ID)} - own


def _plain(node: c_ast.Node) -> c_ast.Node:
    """Without the names of members, which are no variables."""
    if isinstance(node, c_ast.StructRef):
        return _plain(node.name)
    return mapped(node, _plain)


def substituted(node: c_ast.Node, values: Mapping[str, c_ast.Node], renamed: Mapping[str, str]) -> c_ast.Node:
    """With values in place of parameters and new names for variables. `(*p).x` is `p->x`."""
    if isinstance(node, c_ast.ID):
        if node.name in values:
            return values[node.name]
        return c_ast.ID(renamed[node.name], node.coord) if node.name in renamed else node
    if isinstance(node, c_ast.StructRef):
        outer = substituted(node.name, values, renamed)
        if node.type == "." and isinstance(outer, c_ast.UnaryOp) and outer.op == "*":
            return c_ast.StructRef(outer.expr, "->", node.field, node.coord)
        return node if outer is node.name else c_ast.StructRef(outer, node.type, node.field, node.coord)
    made = mapped(node, lambda child: substituted(child, values, renamed))
    if isinstance(made, c_ast.Decl) and made.name in renamed:
        return named(made, renamed[made.name])
    return made


def named(decl: c_ast.Decl, name: str, init: c_ast.Node | None = None) -> c_ast.Decl:
    """A declaration of the same type under another name."""

    def type_of(node: c_ast.Node) -> c_ast.Node:
        made = copy.copy(node)
        if isinstance(made, c_ast.TypeDecl):
            made.declname = name
        elif isinstance(made, (c_ast.ArrayDecl, c_ast.PtrDecl)):
            made.type = type_of(made.type)
        return made

    value = decl.init if init is None else init
    return c_ast.Decl(name, decl.quals, [], [], [], type_of(decl.type), value, None, decl.coord)


def as_parameter(decl: c_ast.Decl) -> c_ast.Decl:
    """The declaration of a parameter as that of a variable: an array is a pointer."""
    made = copy.copy(decl)
    if isinstance(decl.type, c_ast.ArrayDecl):
        made.type = c_ast.PtrDecl([], decl.type.type, decl.coord)
    return made


# -- the value as one expression -----------------------------------------------------------------------------------


def as_value(
    items: Sequence[c_ast.Node],
    result: Callable[[c_ast.Node], c_ast.Node],
    converted: Callable[[c_ast.Node, c_ast.Node], c_ast.Node],
) -> c_ast.Node:
    """What a body of `return`s under `if`s returns, as one expression; variables that are set once stand for values.
    Values are `converted` to the types of variables, and what is returned to that of the `result`. Raises NoForm."""
    for k, item in enumerate(items):
        if empty(item):
            continue
        rest = list(items[k + 1 :])
        if isinstance(item, c_ast.Compound):
            return as_value([*items_of(item), *rest], result, converted)
        if isinstance(item, c_ast.Decl) and item.init is not None and not isinstance(item.init, c_ast.InitList):
            if has_effects(item.init) and not any(item.name in names(x) for x in rest):
                raise NoForm("a value in it that nobody uses may have effects")
            value = {str(item.name): converted(item.init, item.type)}
            return as_value([substituted(x, value, {}) for x in rest], result, converted)
        if isinstance(item, c_ast.Return) and item.expr is not None:
            return result(item.expr)
        if isinstance(item, c_ast.Switch) and (chain := _cases(item)) is not None:
            return as_value([chain, *rest], result, converted)
        if isinstance(item, c_ast.If):
            yes = as_value([*items_of(item.iftrue), *rest], result, converted)
            no = as_value([*items_of(item.iffalse), *rest], result, converted)
            return c_ast.TernaryOp(item.cond, yes, no, item.coord)
        raise NoForm("its value is no single expression")
    raise NoForm("it ends without a value")


def empty(node: c_ast.Node) -> bool:
    """Does it do nothing? `(void)x` and `(void)0` do, as do assertions that are switched off."""
    if isinstance(node, c_ast.Cast):
        names = getattr(getattr(node.to_type.type, "type", None), "names", None)
        return names == ["void"] and isinstance(node.expr, (c_ast.ID, c_ast.Constant))
    return isinstance(node, c_ast.EmptyStatement)


# -- statements -------------------------------------------------------------------------------------------------------


@record
class Into:
    """The variable that takes what is returned; none for functions without a value."""

    name: str

    def put(self, node: c_ast.Return) -> list[c_ast.Node]:
        if node.expr is None or not self.name:
            return []
        return [c_ast.Assignment("=", c_ast.ID(self.name, node.coord), node.expr, node.coord)]


def without_return(items: Sequence[c_ast.Node], into: Into) -> list[c_ast.Node]:
    """`if (c) return a; b;` is `if (c) r = a; else b;`. Raises NoForm where a loop is left."""
    out: list[c_ast.Node] = []
    for k, item in enumerate(items):
        rest = list(items[k + 1 :])
        if empty(item):
            continue
        if isinstance(item, c_ast.Return):
            return [*out, *into.put(item)]
        if not any(isinstance(n, c_ast.Return) for n in nodes(item)):
            out.append(item)
        elif isinstance(item, c_ast.Compound):
            return [*out, *without_return([*items_of(item), *rest], into)]
        elif isinstance(item, c_ast.If):
            return [*out, _branches(item, rest, into)]
        elif isinstance(item, c_ast.Switch) and (chain := _cases(item)) is not None:
            return [*out, *without_return([chain, *rest], into)]
        elif isinstance(item, c_ast.For):
            return [*out, *_found(item, rest, into)]
        else:
            raise NoForm("it returns from within a loop")
    return out


def _found(node: c_ast.For, rest: Sequence[c_ast.Node], into: Into) -> list[c_ast.Node]:
    """`for (...) if (c) return a; return b;` is `r = b; for (...) if (c) { r = a; break; }`, for a number b."""
    last = [x for x in rest if not empty(x)]
    value = last[0].expr if len(last) == 1 and isinstance(last[0], c_ast.Return) else None
    if value is None or not _is_number(value) or not into.name:
        raise NoForm("it returns from within a loop")
    body = _leaving(node.stmt, into)
    return [*into.put(last[0]), c_ast.For(node.init, node.cond, node.next, body, node.coord)]


def _is_number(node: c_ast.Node) -> bool:
    return isinstance(node.expr if isinstance(node, c_ast.UnaryOp) and node.op == "-" else node, c_ast.Constant)


def _leaving(node: c_ast.Node, into: Into) -> c_ast.Node:
    """The body of a loop with `break` in place of `return`."""
    if isinstance(node, c_ast.Return):
        return c_ast.Compound([*into.put(node), c_ast.Break(node.coord)], node.coord)
    if isinstance(node, _LOOPS) and any(isinstance(n, c_ast.Return) for n in nodes(node)):
        raise NoForm("it returns from within two loops")
    return mapped(node, lambda child: _leaving(child, into))


def _cases(node: c_ast.Switch) -> c_ast.Node | None:
    """A `switch` whose cases end with `return` or `break` as a chain of `if`."""

    def ended(item: c_ast.Node) -> c_ast.Node:
        stmts = list(getattr(item, "stmts", None) or ())
        if not isinstance(item, (c_ast.Case, c_ast.Default)) or not _ends(stmts):
            return item
        made = copy.copy(item)
        made.stmts = [*stmts, c_ast.Break()]
        return made

    body = c_ast.Compound([ended(item) for item in items_of(node.stmt)])
    return choices(c_ast.Switch(node.cond, body, node.coord))


def _branches(node: c_ast.If, rest: list[c_ast.Node], into: Into) -> c_ast.Node:
    yes, no = items_of(node.iftrue), items_of(node.iffalse)
    if rest and not _ends(yes) and not _ends(no):
        raise NoForm("not every way through an `if` in it ends with `return`")
    yes = without_return(yes if _ends(yes) else [*yes, *rest], into)
    no = without_return(no if _ends(no) else [*no, *rest], into)
    if not yes:
        return c_ast.If(c_ast.UnaryOp("!", node.cond, node.coord), c_ast.Compound(no), None, node.coord)
    return c_ast.If(node.cond, c_ast.Compound(yes), c_ast.Compound(no) if no else None, node.coord)


def _ends(items: Sequence[c_ast.Node]) -> bool:
    """Does every way through end with `return`?"""
    last = items[-1] if items else None
    if isinstance(last, c_ast.Compound):
        return _ends(items_of(last))
    if isinstance(last, c_ast.If):
        return _ends(items_of(last.iftrue)) and _ends(items_of(last.iffalse))
    return isinstance(last, c_ast.Return)

