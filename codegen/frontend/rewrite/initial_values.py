"""Values that integers have on entry to the region: a formula of other names where the function shows one, else a new
name for the value. Loops that go on with their counter, `for (i = i; ...)`, get it as their first value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from pycparser import c_ast

from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.derived import value_before
from codegen.frontend.syntax.live import addressed
from codegen.frontend.syntax.origins import origins_of
from codegen.frontend.syntax.symbols import RegionSite, Started, Variable
from codegen.frontend.syntax.tree import Fresh, assigned, fresh_names, items_of, names, with_statements
from codegen.record import mutable


@mutable
class Entries:
    """Names for values from before the region; the site that `into` gives knows them."""

    site: RegionSite
    given: dict[str, str] = field(default_factory=dict)  # variables by the name of the value
    told: dict[str, str] = field(default_factory=dict)  # the formulas of others
    fresh: Fresh | None = None

    def before(self, name: str) -> c_ast.Node:
        """The value of a variable before the region; offsets begin with 0."""
        own = any(o.end and o.name == name for o in self.site.own)
        found = c_ast.Constant("int", "0") if own else value_before(self.site, name)
        if found is not None:
            self.told[name] = c_text(found)
            return found
        known = next((own for own, real in self.given.items() if real == name), None)
        if known is None:
            self.fresh = self.fresh or fresh_names(self.site)
            known = self.fresh.name(f"{name}_before")
            self.given[known] = name
        return c_ast.ID(known)

    def is_one(self, name: str) -> bool:
        return name in self.given

    def into(self, site: RegionSite) -> RegionSite:
        """The site with those that its statements mention, and with the variables whose values these are."""
        used = set[str]().union(*(names(s) for s in site.statements))
        mine = {own: real for own, real in self.given.items() if own in used}
        variables = {own: Variable(own, site.variables[real].shape, "local") for own, real in mine.items()}
        names_of = {*self.told, *(real for own, real in self.given.items() if own not in mine)}
        started = (Started(n, self.told.get(n, "")) for n in sorted(names_of))
        return replace(
            site, variables={**site.variables, **variables}, before={**site.before, **mine},
            started=(*site.started, *started),
        )  # fmt: skip


def with_first_values(site: RegionSite) -> RegionSite:
    """Loops that go on with their counter, `for (i = i; ...)`, begin with what it was before the region, unless the
    region has set it by then."""
    if not any(_goes_on(n) for s in site.statements for n in (s, *items_of(s))):
        return site
    site = replace(site, origins=origins_of(site))
    entries = Entries(site)
    mine = {n: v for n, v in site.variables.items() if v.place != "global" and not v.static and n not in site.hidden}
    plain = {n for n, v in mine.items() if not v.shape.declarators}  # pointers are tracked by other passes
    made = _begun(site.statements, plain - addressed(site.function.body), entries)
    return entries.into(with_statements(site, made))


def _goes_on(node: c_ast.Node) -> bool:
    init = node.init if isinstance(node, c_ast.For) else None
    mine = isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID)
    return mine and init is not None and isinstance(init.rvalue, c_ast.ID) and init.rvalue.name == init.lvalue.name


def _begun(items: Sequence[c_ast.Node], unset: set[str], entries: Entries) -> list[c_ast.Node]:
    out: list[c_ast.Node] = []
    for item in items:
        if _goes_on(item) and item.init.lvalue.name in unset:
            name = str(item.init.lvalue.name)
            init = c_ast.Assignment("=", item.init.lvalue, entries.before(name), item.init.coord)
            item = c_ast.For(init, item.cond, item.next, item.stmt, item.coord)
        elif isinstance(item, c_ast.Compound):
            item = c_ast.Compound(_begun(items_of(item), unset, entries), item.coord)
        elif isinstance(item, c_ast.If):
            yes, no = (None if x is None else _begun([x], unset, entries)[0] for x in (item.iftrue, item.iffalse))
            item = c_ast.If(item.cond, yes, no, item.coord)
        out.append(item)
        unset = unset - assigned(item) - {str(d) for d in _declares(item)}
    return out


def _declares(node: c_ast.Node) -> list[str]:
    return [str(node.name)] if isinstance(node, c_ast.Decl) and node.name else []
