"""Finds the nests of a kernel that run in vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from codegen.ast.ctree import For, Held
from codegen.sunway.text.bodies import LocalView, StagedBody
from codegen.sunway.text.views import SlaveView
from codegen.sunway.vector.nests import nest_of, plan_nest
from codegen.sunway.vector.views import VectorPrinter
from codegen.target.view import fresh

if TYPE_CHECKING:
    from codegen.sunway.slave import KernelPrinter


def vectorized(
    p: KernelPrinter, node: For, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str],
    local: Mapping[tuple[int, int], LocalView],
) -> tuple[SlaveView, ...] | None:  # fmt: skip
    """The nest in vectors, if it is one that can be."""
    nest = nest_of(node)
    if nest is None:
        return None
    at, s = nest.instance, p.scop.statement(nest.instance.stmt)
    mine = local.get((id(at), s.target))
    kept = s.accesses[s.target].array in held
    if mine is None and not kept:
        return None

    def changes(k: int) -> bool:
        place = local.get((id(at), k))
        array = s.accesses[k].array
        if place is None:
            return array not in held or array == s.accesses[s.target].array
        return mine is not None and place.view == mine.view

    asked = None if p.staging is None else p.staging.lanes_of(s.name, nest.loops)
    if p.staging is not None and asked is None:
        return None
    plan = plan_nest(p.scop, node, changes, asked)
    if plan is None:
        return None
    p.lanes.append(plan.directive)
    used = set(taken)

    def new(name: str) -> str:
        found = fresh(name, frozenset(used), ("_e",))
        used.add(found)
        return found

    printer = VectorPrinter(
        p.scop, p.group, p.helpers, names,
        lambda ints: StagedBody(p.scop, ints, held, local, p.shared, p.words), local, new,
    )  # fmt: skip
    if not p.model:
        return printer.views(plan)
    return printer.model(plan)
