"""Looks up what a plan says about local memory (`StagingDirectives`: staged arrays, mesh products, time steps,
vectors), and turns what was staged in a kernel into such directives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codegen.ast.ctree import CNode, For, Instance, node_kids, walk
from codegen.plan.model import InLanes, LocalMemory, OnMesh, StageIn, TimeSteps
from codegen.record import record
from codegen.sunway.staging.local import SNode, Stage


@record
class StagingDirectives:
    """The directives of a plan that are about local memory."""

    stages: tuple[StageIn, ...]
    meshes: tuple[OnMesh, ...]
    steps: tuple[TimeSteps, ...]
    lanes: tuple[InLanes, ...]

    def asked(self, array: str, below: CNode, loop: str = "") -> StageIn | None:
        """The directive for an array in a tile loop with this body, or in a whole kernel."""
        stmts = {n.stmt for n in walk(below) if isinstance(n, Instance)}
        return next((d for d in self.stages if (d.array, d.loop) == (array, loop) and d.stmt in stmts), None)

    def shares(self, stmt: str) -> bool:
        """Is a product shared across the mesh?"""
        return any(d.stmt == stmt for d in self.meshes)

    def steps_of(self, loop: For) -> TimeSteps | None:
        """The directive for a loop over time."""
        stmts = {n.stmt for n in walk(loop) if isinstance(n, Instance)}
        return next((d for d in self.steps if d.loop.name == loop.loop.name and d.loop.stmt in ("", *stmts)), None)


    def lanes_of(self, stmt: str, loops: Iterable[For]) -> InLanes | None:
        """The directive for a statement in its loops."""
        names = {lp.loop.name for lp in loops}
        return next((d for d in self.lanes if d.loop.name in names and d.loop.stmt in ("", stmt)), None)


def staging_of(directives: Iterable[LocalMemory]) -> StagingDirectives | None:
    """None where a plan says nothing: then what fits is staged, and what can be is shared."""
    found = tuple(directives)
    if not found:
        return None
    stages = tuple(d for d in found if isinstance(d, StageIn))
    meshes = tuple(d for d in found if isinstance(d, OnMesh))
    steps = tuple(d for d in found if isinstance(d, TimeSteps))
    return StagingDirectives(stages, meshes, steps, tuple(d for d in found if isinstance(d, InLanes)))


def as_directives(tree: SNode, loop: str = "") -> Iterator[StageIn]:
    """What is staged in a kernel, as a plan says it."""
    if isinstance(tree, Stage):
        stmt = first_statement(tree.body)
        for b in tree.buffers:
            yield StageIn(b.array, stmt, "" if b.common else loop, b.ahead)
        yield from as_directives(tree.body, loop)
    elif isinstance(tree, For):
        yield from as_directives(tree.body, tree.loop.name)
    else:
        for child in node_kids(tree):
            yield from as_directives(child, loop)


def merged(found: Iterable[StageIn]) -> tuple[StageIn, ...]:
    """Code for a loop may stand in several places: each directive once, ahead where one of them is."""
    out: dict[tuple[str, str, str], StageIn] = {}
    for d in found:
        key = d.array, d.stmt, d.loop
        out[key] = d if key not in out or d.ahead else out[key]
    return tuple(out.values())


def first_statement(node: SNode) -> str:
    """The first statement below, by its number."""
    return min(_statements(node), key=lambda n: (len(n), n))


def _statements(node: SNode) -> Iterator[str]:
    if isinstance(node, Stage):
        yield from _statements(node.body)
    elif isinstance(node, Instance):
        yield node.stmt
    else:
        for child in node_kids(node):
            yield from _statements(child)
