"""Factorizations and triangular solves on a device (`panel_plan`): the loop that has to run in order is cut into
blocks. What a block changes beyond itself is a product, one launch for each block; what stays inside it are small
launches, step after step, or one thread where it is little. None where that gives no product."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from codegen.diagnostics import InputError
from codegen.gpu.plan.device import Device
from codegen.gpu.plan.order import device_order
from codegen.gpu.plan.strategy import is_flat, planned, shape
from codegen.machine import Machine, load
from codegen.plan.model import CopyReads, Grid, StripMine
from codegen.record import record
from codegen.scop.tree import seq
from codegen.strategy.choice import Decision
from codegen.strategy.orders.distribution import only
from codegen.strategy.products.panels import Panel, find_panels
from codegen.transform.program import Program

BLOCK = 48  # steps in f64: three parts of a product's depth, and few enough for what runs step after step


@record
class PanelPlan:
    """A plan in blocks, and the statements in it that are products."""

    decision: Decision
    products: frozenset[str]


def panel_plan(source: Program, plain: Decision, processor: Device) -> PanelPlan | None:
    """A plan with blocks, where a plan without them leaves much of the work to launches in a loop or to few threads."""
    if not any(_in_order(plain.program, s.name) for s in source.scop.statements if len(s.iterators) > 1):
        return None
    found = find_panels(source, _machine(), "smart")
    if found is None or any(isinstance(d, CopyReads) for d in found.blocks):
        return None
    products = frozenset(what.stmt for what in found.products if is_flat(found.program.scop, what))
    if not products and any(what.columns for what in found.products):
        return None
    trees = [x.tree if isinstance(x, Panel) else only(found.program.tree, x) for x in found.parts]
    q = found.program.with_tree(seq(trees))
    try:
        made = planned(q, device_order(q, products), processor)
    except (InputError, isl.Error):
        return None
    strips = {d.name for d in found.blocks if isinstance(d, StripMine)}
    grids = (d for d in made.plan.directives if isinstance(d, Grid))
    if any(all(ref.name in strips for ref, _ in d.loops) for d in grids):
        return None  # a thread for each block: too few of them
    found_shapes = [shape(made.program, s.name) for s in q.scop.statements]
    if not products and any(x.threads and x.host > 1 for x in found_shapes):
        return None  # blocks of rows, and still a launch for each step
    plan = replace(made.plan, directives=(*found.blocks, *made.plan.directives))
    return PanelPlan(replace(made, plan=plan), products)


def _in_order(p: Program, stmt: str) -> bool:
    """Do loops around a statement launch its kernel, or does a thread run several?"""
    found = shape(p, stmt)
    return found.host > 0 or (found.threads < 2 and found.inside > 1)


def _machine() -> Machine:
    """One whose first cache is filled by blocks of this size, as those of processors are chosen."""
    machine = load("generic")
    return replace(machine, caches=tuple(replace(c, bytes=2 * 8 * BLOCK * BLOCK) for c in machine.caches[:1]))
