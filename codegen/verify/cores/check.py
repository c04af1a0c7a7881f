"""Checks that the printed text for Sunway core groups does what the proven C tree does. `wrong_kernel`, `wrong_mesh`
and `wrong_entry` (kernel, matrix product on the mesh, what every core runs of a launch) return what differs, or the
empty string; `proven_kernel` and `proven_steps` (many time steps at once) return what they have read, or raise Unread.

The tree has been proven; here the text has to run that tree. A failure is told by what the text does differently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache

from codegen.ast.ctree import CExpr, CNode, For, Held, Name
from codegen.record import record
from codegen.scop.dependences import Dependences
from codegen.scop.model import Scop
from codegen.verify.cores.kernel import KernelReader
from codegen.verify.cores.launches.entry import KernelFunction, LaunchEntry, Stepped
from codegen.verify.cores.launches.fences import open_accesses, without_fences
from codegen.verify.cores.launches.resident_transfers import MoverTask, kept_places, read_mover
from codegen.verify.cores.mesh.read import MeshText, read_mesh
from codegen.verify.cores.order import check_order
from codegen.verify.cores.parts import JoinTask, check_join, check_parts
from codegen.verify.cores.records import KernelNames, Part
from codegen.verify.cores.staging import check_staging
from codegen.verify.cores.steps.read import SteppedTask, read_steps
from codegen.verify.cores.values import NameScope
from codegen.verify.readback import TreePoint
from codegen.verify.text.read import Node, Unread, read_statements

_ALIGNED = re.compile(r"__attribute__\(\(aligned\((\d+)\)\)\)")  # changes no value
_PARAMETERS = re.compile(r"void (\w+)\(\w+_args \*(\w+), int (\w+)(.*)\)")


@record
class KernelTask:
    """A kernel of the proven tree. `at` is the point just outside it, `names` the C names of the variables there."""

    node: For
    at: TreePoint
    names: Mapping[str, str]
    held: Mapping[str, Held]  # variables of the region in the arguments
    wide: int  # bound loops, one inside the other
    mesh: bool = False  # cores share panels of a product
    parts: Mapping[str, Part] = field(default_factory=dict)  # variables that cores have parts of, by a part's name


@record
class EntryTask:
    """What every core runs of a launch: the node of the proven tree and its place, and the functions that are called,
    by name: the heads as they are printed, and each one's kernel."""

    node: CNode
    at: TreePoint
    functions: Mapping[str, tuple[str, KernelTask, KernelReader | None]]
    movers: Mapping[str, tuple[MoverTask, str]] = field(default_factory=dict)  # of tiles that stay, with their texts
    stepped: Mapping[str, Stepped] = field(default_factory=dict)  # functions that take many time steps at once
    joins: Mapping[str, tuple[JoinTask, str]] = field(default_factory=dict)  # of parts of all cores, with their texts
    texts: Mapping[str, str] = field(default_factory=dict)  # of all functions that are called


def proven_kernel(scop: Scop, deps: Dependences, task: KernelTask, text: str, words: KernelNames) -> KernelReader:
    """The text of a kernel, which does the same as its tree. Raises Unread."""
    walk = read_kernel(scop, task, text, words)
    open_accesses(_parsed(text), words.args, {}, words.cached)
    check_parts(scop, task.node, task.parts, walk.leaves)
    for nest in walk.nests:
        check_order(scop, deps, nest)
    check_staging(scop, deps, walk, len(task.at.vars))
    return walk


def proven_steps(scop: Scop, deps: Dependences, task: SteppedTask, text: str, words: KernelNames) -> Stepped:
    """A function that takes tiles through many time steps, which does the same as the loop over them. Raises Unread."""
    inside = _PARAMETERS.fullmatch(task.head)
    if inside is None or (inside[2], inside[3], inside[4]) != (words.args, words.id, ""):
        raise Unread("many time steps are taken by a function with another head")
    return Stepped(task.node, read_steps(scop, deps, task, _values_of(text), words))


def wrong_mesh(scop: Scop, deps: Dependences, task: KernelTask, text: str, words: KernelNames) -> str:
    """What the text of a product whose panels cores share does differently from its tree; empty when it does the
    same."""
    try:
        aligned = [int(n) for n in re.findall(_ALIGNED, text)]
        body = _values_of(text)
        read_mesh(scop, deps, task.node, task.at, task.names, MeshText(body, aligned, words))
    except Unread as problem:
        return str(problem)
    return ""


def wrong_kernel(scop: Scop, deps: Dependences, task: KernelTask, text: str, words: KernelNames) -> str:
    """What the text of a kernel does differently from its tree; empty when it does the same."""
    try:
        proven_kernel(scop, deps, task, text, words)
    except Unread as problem:
        return str(problem)
    return ""


def wrong_entry(scop: Scop, deps: Dependences, task: EntryTask, text: str, words: KernelNames) -> str:
    """What the text that every core runs does differently from the tree; empty when it does the same."""
    try:
        callees = {}
        for name, (head, kernel, walk) in task.functions.items():
            variables = {c: v for v, c in kernel.names.items()}
            inside = _PARAMETERS.fullmatch(head)
            if inside is None or inside[1] != name or (inside[2], inside[3]) != (words.args, words.id):
                raise Unread(f"`{name}` has another head")
            kept, rest = kept_places(inside[4])
            parameters = re.findall(r", long (\w+)", rest)
            if "".join(f", long {p}" for p in parameters) != rest or not set(parameters) <= set(variables):
                raise Unread(f"`{name}` has other parameters")
            if walk is not None and not _kept_of(walk) <= set(kept):
                raise Unread(f"`{name}` has no place for tiles that stay")
            callees[name] = KernelFunction(kernel.node, tuple(variables[p] for p in parameters), walk, kept)
        movers = {}
        for name, (move, body) in task.movers.items():
            if not move.head.startswith(f"void {name}("):
                raise Unread(f"`{name}` has another head")
            found = read_mover(scop, move, body, words)
            movers[name] = found, kept_places(move.head)[0]
        for name, (join, body) in task.joins.items():
            if re.fullmatch(rf"void {name}\(\w+_args \*{words.args}\)", join.head) is None:
                raise Unread(f"`{name}` has another head")
            check_join(scop, join, _values_of(body), words)
        joins = {name: join.results for name, (join, _) in task.joins.items()}
        statements = _values_of(text)
        LaunchEntry(scop, deps, words, callees, movers, task.stepped, joins).run(statements, task.node, task.at)
        left = left_in_cache(task.texts, text, words)
        if left:
            raise Unread(f"a core ends while what it has stored to `{min(left)}` may be in its cache")
    except Unread as problem:
        return str(problem)
    return ""


def left_in_cache(texts: Mapping[str, str], entry: str, words: KernelNames) -> frozenset[str]:
    """Arrays of main memory of which stores may be in a core's data cache at the end of what every core runs, which
    calls functions of these texts. Raises Unread where a fence is missing before."""
    called = {name: open_accesses(_parsed(body), words.args, {}, words.cached) for name, body in texts.items()}
    found = open_accesses(_parsed(entry), words.args, called, words.cached)
    return found.stores if words.cached else frozenset()


@lru_cache(maxsize=32)
def _parsed(text: str) -> tuple[Node, ...]:
    return read_statements(_ALIGNED.sub("", text))


def _values_of(text: str) -> tuple[Node, ...]:
    """Statements without what changes no value: fences are read by themselves."""
    return without_fences(_parsed(text))


def _kept_of(walk: KernelReader) -> set[str]:
    return {c.kept for leaf in walk.leaves for stage in leaf.stages for c in stage.copies if c.kept}


def read_kernel(scop: Scop, task: KernelTask, text: str, words: KernelNames) -> KernelReader:
    """The text of a kernel beside its tree. Raises Unread."""
    walk = KernelReader(scop, words, task.wide, dict(task.names), task.parts)
    integers: dict[str, CExpr] = {c: Name(v) for v, c in task.names.items()}
    integers[words.id] = Name(words.id)
    scope = NameScope(scop, integers, {}, {}, dict(task.held), frozenset(task.held), {}, words.args)
    walk.run(_values_of(text), task.node, scope, task.at)
    return walk
