"""Checks regions whose loops `omp for` shares out among the team of an `omp parallel` around them. `in_team` says
whether a region is one; Unsupported unless the target has threads and every statement is such a loop. `check_shared`
raises Unsupported for variables of which each thread has its own.

All threads of the team come to such a region, and each runs a part of its loops. So must whatever replaces them: a loop
that stayed whole would be run by every thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pycparser import c_ast

from codegen.diagnostics import Unsupported
from codegen.frontend.syntax.constructs import Construct, construct_of, constructs
from codegen.frontend.syntax.symbols import RegionSite
from codegen.frontend.syntax.tree import declared, nodes

_PRIVATE = re.compile(r"\b(?:private|firstprivate|lastprivate|linear|copyin|reduction)\s*\(([^)]*)\)")
# Clauses by which values come into an iteration, or are there behind the loop.
_VALUES = frozenset({"reduction", "lastprivate", "firstprivate", "linear", "ordered"})


def in_team(site: RegionSite, threads: bool) -> bool:
    """Do directives of the region share its loops out among threads that it does not start? Raises Unsupported unless
    these are all of its statements, and, without `threads`, in any case."""
    shared = {id(n): c for s in site.statements for n in nodes(s) if (c := _shares(n)) is not None}
    if not shared:
        return False
    first = next(iter(shared.values()))
    if not threads:
        raise _refused(first, "results of this target have no directives of OpenMP", "use --target openmp")
    around = constructs(site)
    if not around or around[-1].words != ("parallel",):
        where = f"it is inside `{around[-1].text}`" if around else "this function does not show where they start"
        raise _refused(first, where, "mark a region inside its loop")
    given = ""
    for item in site.statements:
        if isinstance(item, c_ast.Pragma):
            given = str(item.string) if id(item) in shared else given
            continue
        if not (given and isinstance(item, c_ast.For)) or any(id(n) in shared for n in nodes(item)):
            raise _refused(first, "not all of the region is shared out so", "mark single loops")
        clause = next((w for w in re.findall(r"\w+", given) if w in _VALUES), None)
        if clause is not None:
            raise _refused(first, f"`{clause}` is about values of other iterations", "move the region into the loop")
        given = ""
    return True


def check_shared(site: RegionSite, used: Iterable[str]) -> None:
    """Raise Unsupported if some of the names in use mean something else in each thread: then threads would not agree on
    what to do, and what one leaves there another would not find."""
    own = _own_of_threads(site)
    for text in sorted(used):
        for name in re.findall(r"[A-Za-z_]\w*", text):
            if name in own or (name in site.variables and site.variables[name].thread_local):
                why = f"each of them has its own `{name}`"
                first = next(c for s in site.statements for n in nodes(s) if (c := _shares(n)) is not None)
                raise _refused(first, why, "mark a region inside its loop")


def _own_of_threads(site: RegionSite) -> frozenset[str]:
    """Variables that the construct around the region, or a directive in it, makes private, or that it declares."""
    pragma = site.around[-1]
    given = [pragma, *(n for s in site.statements for n in nodes(s) if isinstance(n, c_ast.Pragma))]
    named = (m[1] for p in given for m in _PRIVATE.finditer(p.string or ""))
    inside = next((b for n in nodes(site.function) if (b := _behind(n, pragma)) is not None), site.function)
    return frozenset({w for text in named for w in re.findall(r"[A-Za-z_]\w*", text)}) | frozenset(declared(inside))


def _behind(node: c_ast.Node, pragma: c_ast.Pragma) -> c_ast.Node | None:
    """The statement that a pragma belongs to, if they stand in this block."""
    items = [*node]
    at = next((k for k, x in enumerate(items) if x is pragma), None)
    return None if at is None else next((x for x in items[at:] if not isinstance(x, c_ast.Pragma)), None)


def _shares(node: c_ast.Node) -> Construct | None:
    found = construct_of(node) if isinstance(node, c_ast.Pragma) else None
    return found if found is not None and found.shares else None


def _refused(c: Construct, why: str, hint: str) -> Unsupported:
    what = f"`{c.text}` shares a loop out among threads that run here: {why}"
    return Unsupported("foreign-pragma", what, c.loc, hint)


__all__ = ["check_shared", "in_team"]
