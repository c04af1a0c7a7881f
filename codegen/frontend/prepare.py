"""Runs the rewriting passes over a region's syntax tree, in their order, before the walk: inlining, plain statements,
canonical loops, induction variables, pointers as subscripts, ... Also reads the hints `pure(f)` and `distinct(idx)`."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence

from pycparser import c_ast

from codegen.frontend.expressions.volatile import check_volatile
from codegen.frontend.parameters.derived import with_derived
from codegen.frontend.parameters.filled import with_filled
from codegen.frontend.rewrite.hints import without_hints
from codegen.frontend.rewrite.index_variables import with_index_elements
from codegen.frontend.rewrite.induction import with_formulas
from codegen.frontend.rewrite.initial_values import with_first_values
from codegen.frontend.rewrite.initializers import with_plain_initializers
from codegen.frontend.rewrite.inline import with_inlined
from codegen.frontend.rewrite.loops.canonical_loops import counted
from codegen.frontend.rewrite.loops.counters import with_own_counters
from codegen.frontend.rewrite.loops.searches import with_searches
from codegen.frontend.rewrite.loops.swapped_pointers import with_parities
from codegen.frontend.rewrite.loops.variable_steps import with_counted_steps
from codegen.frontend.rewrite.places import with_plain_places
from codegen.frontend.rewrite.plain_statements import with_plain_statements
from codegen.frontend.rewrite.pointers.bound import with_bound
from codegen.frontend.rewrite.pointers.chosen import with_chosen_pointers
from codegen.frontend.rewrite.pointers.live_out import with_moved
from codegen.frontend.rewrite.side_effects import with_side_effects_first
from codegen.frontend.rewrite.sizes import with_sizes_of_types
from codegen.frontend.rewrite.typed import with_typed
from codegen.frontend.syntax.names_apart import with_names_apart
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import with_statements
from codegen.source.region_slice import RegionSlice


def declared_pure(s: RegionSlice) -> frozenset[str]:
    """Functions that are said to compute a value from their arguments alone: by an attribute, or by a hint."""
    return s.pure_functions.union(*(pure_hint(hint.text) for hint in s.region.hints))


def pure_hint(text: str) -> frozenset[str]:
    """The functions that `pure(f, g)` names; none for other hints."""
    found = re.fullmatch(r"\s*pure\s*\(([\w\s,]*)\)\s*", text)
    return frozenset(found[1].replace(",", " ").split()) if found else frozenset()


def distinct_hint(text: str) -> frozenset[str]:
    """The arrays that `distinct(idx)` names; none for other hints."""
    found = re.fullmatch(r"\s*distinct\s*\(([\w\s,]*)\)\s*", text)
    return frozenset(found[1].replace(",", " ").split()) if found else frozenset()


def prepared(site: RegionSite, pure: frozenset[str] = frozenset()) -> RegionSite:
    """The region in forms that the walk over it knows; its function holds it in these forms, too. Calls of functions in
    `pure` stay as they are."""
    check_volatile(site, pure)
    site = with_plain_places(with_sizes_of_types(with_names_apart(site)))
    site = with_plain_places(without_hints(with_inlined(site, pure)))
    site = with_chosen_pointers(with_typed(site))
    site = with_own_counters(with_plain_statements(with_plain_initializers(site)))
    made = tuple(counted([_counted(s) for s in site.statements]))
    if made != site.statements:
        site = with_statements(site, made)
    site = with_moved(with_searches(with_parities(site)))
    site = with_bound(with_formulas(with_side_effects_first(with_counted_steps(with_first_values(site)))))
    site = with_plain_places(site)
    return with_derived(with_index_elements(with_filled(site)))


def _counted(node: c_ast.Node) -> c_ast.Node:
    """A statement whose blocks, at any depth, have loops of the usual form; the same object where nothing changes."""
    if isinstance(node, c_ast.Compound):
        items = [_counted(item) for item in node.block_items or ()]
        made = counted(items)
        return node if _same(made, node.block_items or ()) else c_ast.Compound(made, node.coord)
    out = node
    for name, child in node.children():
        if isinstance(child, (c_ast.For, c_ast.While)) and name in ("stmt", "iftrue", "iffalse"):
            inner: c_ast.Node = _counted(c_ast.Compound([child], child.coord))
            inner = child if _same(inner.block_items, [child]) else inner
        elif isinstance(child, (c_ast.Compound, c_ast.For, c_ast.If, c_ast.While, c_ast.DoWhile, c_ast.Switch)):
            inner = _counted(child)
        else:
            continue
        if inner is not child:
            out = copy.copy(node) if out is node else out
            setattr(out, name, inner)
    return out


def _same(a: Sequence[c_ast.Node], b: Sequence[c_ast.Node]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))
