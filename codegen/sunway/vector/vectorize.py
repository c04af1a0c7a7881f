"""Decides whether a nest of a kernel runs in vectors on local memory: wherever it can, or where a plan says so; and
returns its statements, or its cost for the timing model, or None."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING

from codegen.ast.ctree import For, Held
from codegen.scop.model import Scop
from codegen.sunway.staging.directives import StagingDirectives
from codegen.sunway.text.bodies import LocalView, StagedBody
from codegen.sunway.text.views import SlaveView
from codegen.sunway.vector.nests import RegisterBlock, nest_of, plan_nest
from codegen.sunway.vector.views import VectorPrinter
from codegen.target.view import fresh

if TYPE_CHECKING:
    from codegen.sunway.slave import KernelPrinter


def planned(
    scop: Scop, node: For, held: Container[str], local: Mapping[tuple[int, int], LocalView],
    staging: StagingDirectives | None = None,
) -> RegisterBlock | None:
    """How a nest runs in vectors on what is in local memory; None where it does not."""
    nest = nest_of(node)
    if nest is None:
        return None
    at, s = nest.instance, scop.statement(nest.instance.stmt)
    mine = local.get((id(at), s.target))
    if mine is None and s.accesses[s.target].array not in held:
        return None

    def changes(k: int) -> bool:
        place = local.get((id(at), k))
        array = s.accesses[k].array
        if place is None:
            return array not in held or array == s.accesses[s.target].array
        return mine is not None and place.view == mine.view

    asked = None if staging is None else staging.lanes_of(s.name, nest.loops)
    if staging is not None and asked is None:
        return None
    return plan_nest(scop, node, changes, asked)


def vectorized(
    p: KernelPrinter, node: For, names: Mapping[str, str], held: dict[str, Held], taken: frozenset[str],
    local: Mapping[tuple[int, int], LocalView],
) -> tuple[SlaveView, ...] | None:  # fmt: skip
    """The nest in vectors, if it is one that can be."""
    plan = planned(p.scop, node, held, local, p.staging)
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
