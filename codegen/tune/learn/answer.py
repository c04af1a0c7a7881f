"""Uses the learned policy and estimate: loop trees for a contraction without a measurement, best first.

The policy leads to some trees, and those at the end of the ways that it was shown are known; the estimate, which was
learned from measurements, chooses among them.
"""

from __future__ import annotations

from codegen.tune.actions import LANES
from codegen.tune.cost import Model
from codegen.tune.learn.demos import demo, ways
from codegen.tune.learn.estimate import estimate
from codegen.tune.learn.network import shipped
from codegen.tune.learn.policy import ahead, ranked
from codegen.tune.tree import Tree

SHIPPED = {"v1": "policy-v1", "v2": "policy"}


def answers(first: Tree, model: Model, version: str = "v2", folder: str = "") -> list[Tree]:
    """Version 1 goes by the published rule for vectors. `folder` has networks of your own."""
    elem = first.problem.elem
    lanes, room = model.isa.lanes_max(elem), model.isa.registers * model.isa.lanes_max(elem)
    lanes = LANES if version == "v1" else lanes
    led = ahead(first, shipped(SHIPPED[version], folder), version, lanes)
    known = [d.path[-1] for way in ways(version, room) if (d := demo(first.problem, way, version, lanes)) is not None]
    return ranked([*led, *known], estimate(shipped("estimate", folder), model))
