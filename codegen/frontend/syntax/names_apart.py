"""A name of its own for a variable that hides another one which the region uses, too.

In `for (int i ..) { for (int i ..) b[i] = 0; a[i] = 1; }` the inner counter becomes `i_2`. Whoever looks at loops,
bindings or assignments behind this does so by name, and finds one variable for each.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from codegen.diagnostics import Unsupported
from codegen.frontend.syntax.declarators import enumerators, parameters
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import Fresh, fresh_names, mapped, names, nodes, with_statements
from codegen.record import mutable

_TYPES = (c_ast.Struct, c_ast.Union, c_ast.Enum, c_ast.FuncDecl, c_ast.Typename)  # what they declare are no variables
_SCOPES = (c_ast.Compound, c_ast.For)


def with_names_apart(site: RegionSite) -> RegionSite:
    """The region, and the functions that it may call, without variables that hide others of theirs. What the region
    declares for all of itself keeps its name."""
    _check_enumerators(site)
    fresh = fresh_names(site)
    top = {str(s.name) for s in site.statements if isinstance(s, c_ast.Decl)}
    maker = _Renaming(fresh, {id(s) for s in site.statements})
    made = maker.all(site.statements, _free(site.statements) | top)
    if any(a is not b for a, b in zip(made, site.statements, strict=True)):
        site = with_statements(site, made)
    functions = {name: _function(f, fresh) for name, f in site.functions.items()}
    changed = any(f is not site.functions[name] for name, f in functions.items())
    return replace(site, functions=functions) if changed else site


def _check_enumerators(site: RegionSite) -> None:
    """Unsupported where a name is an enumerator in one block and may be something else in another."""
    used = set[str]().union(*map(names, site.statements))
    inside = {e.name for s in site.statements for e in enumerators(s)}
    doubtful = inside | {e.name for e in enumerators(site.function.body) if e.name not in site.enums}
    for name in sorted(used & doubtful):
        raise Unsupported("local-declaration", f"`{name}` is an enumerator of a block, which may hide another name",
                          site.loc, "move the `enum` in front of the function")  # fmt: skip


def _function(func: c_ast.FuncDef, fresh: Fresh) -> c_ast.FuncDef:
    """A function whose blocks hide none of its variables and parameters."""
    own = [str(d.name) for d in _declarations(func.body)] + [str(p.name) for p in parameters(func)]
    if len(set(own)) == len(own) and not set(own) & _free([func.body]):
        return func
    fresh.taken |= {str(n.name) for n in nodes(func) if isinstance(n, (c_ast.ID, c_ast.Decl)) and n.name}
    visible = _free([func.body]) | {str(p.name) for p in parameters(func)}
    made = copy.copy(func)
    made.body = c_ast.Compound(_Renaming(fresh, set()).all(func.body.block_items or (), visible), func.body.coord)
    return made


def _declarations(node: c_ast.Node) -> list[c_ast.Decl]:
    if isinstance(node, _TYPES):
        return []
    own = [node] if isinstance(node, c_ast.Decl) and node.name else []
    return [*own, *(d for child in node for d in _declarations(child))]


def _free(items: Sequence[c_ast.Node]) -> set[str]:
    """Names that some of the statements use, and do not declare before."""
    out: set[str] = set()

    def visit(node: c_ast.Node, own: set[str]) -> None:
        if isinstance(node, c_ast.ID):
            out.update({str(node.name)} - own)
        elif isinstance(node, c_ast.StructRef):
            visit(node.name, own)
        elif not isinstance(node, _TYPES):
            inner = set(own) if isinstance(node, _SCOPES) else own
            if isinstance(node, c_ast.Decl) and node.name:
                out.update(names(node.type) - own)
                own.add(str(node.name))
            for child in node:
                visit(child, inner)

    mine: set[str] = set()
    for item in items:
        visit(item, mine)
    return out


@mutable
class _Renaming:
    fresh: Fresh
    kept: set[int]  # declarations that keep their names

    def all(self, items: Sequence[c_ast.Node], visible: set[str]) -> list[c_ast.Node]:
        seen, new = set(visible), dict[str, str]()
        return [self._in(item, seen, new) for item in items]

    def _in(self, node: c_ast.Node, seen: set[str], new: dict[str, str]) -> c_ast.Node:
        """`seen` are the names in scope, and `new` the other names that some of them have got; both grow with
        declarations."""
        if isinstance(node, c_ast.ID):
            return c_ast.ID(new[node.name], node.coord) if node.name in new else node
        if isinstance(node, (c_ast.StructRef, c_ast.NamedInitializer)):
            part = node.name if isinstance(node, c_ast.StructRef) else node.expr
            return mapped(node, lambda child: self._in(child, seen, new) if child is part else child)
        if isinstance(node, (c_ast.Struct, c_ast.Union, c_ast.Enum, c_ast.FuncDecl)):
            return node
        if isinstance(node, _SCOPES):
            seen, new = set(seen), dict(new)
        if isinstance(node, c_ast.Decl) and node.name:
            return self._declared(node, seen, new)
        return mapped(node, lambda child: self._in(child, seen, new))

    def _declared(self, node: c_ast.Decl, seen: set[str], new: dict[str, str]) -> c_ast.Decl:
        name = str(node.name)
        made = mapped(node, lambda child: child if child is node.init else self._in(child, seen, new))
        if name in seen and id(node) not in self.kept:
            new[name] = self.fresh.name(name)
            made = _renamed(made, new)
        else:
            new.pop(name, None)
        seen.add(name)
        return mapped(made, lambda child: self._in(child, seen, new) if child is made.init else child)


def _renamed(decl: c_ast.Decl, new: Mapping[str, str]) -> c_ast.Decl:
    def type_of(node: c_ast.Node) -> c_ast.Node:
        made = copy.copy(node)
        if isinstance(made, c_ast.TypeDecl):
            made.declname = new[decl.name]
        elif isinstance(made, (c_ast.ArrayDecl, c_ast.PtrDecl)):
            made.type = type_of(made.type)
        return made

    made = copy.copy(decl)
    made.name, made.type = new[decl.name], type_of(decl.type)
    return made
