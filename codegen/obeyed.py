"""What became of a plan: directives that the code does not carry out, none of which is passed over in silence, and the
line that sums up the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codegen.ast.ctree import CNode, For, Instance, walk
from codegen.diagnostics import Diagnostic, InputError, Severity
from codegen.lower.asked import Asked
from codegen.plan.model import (
    Directive,
    Interleave,
    Jam,
    Multiply,
    Parallel,
    Pipeline,
    Plan,
    ScalarReplace,
    Tile,
    Vector,
)
from codegen.scop.model import Scop
from codegen.scop.tree import PARALLEL_VECTOR, VECTOR
from codegen.target.pragmas import says_vector

_WORDS = {"vector": Vector, "jam": Jam, "interleave": Interleave}
_SAYS = {
    "vector": "loop `{}` is not written as vectors, and left to the compiler",
    "jam": "iterations of loop `{}` run one after the other",
    "interleave": "iterations of loop `{}` run one after the other",
}


def unobeyed(plan: Plan, found: Sequence[Asked]) -> Iterator[tuple[Directive, Asked]]:
    """Directives that no loop carries out, with one that was meant."""
    for d in plan.directives:
        if not isinstance(d, (Vector, Jam, Interleave)):
            continue
        meant = [x for x in found if isinstance(d, _WORDS[x.word]) and _means(d, x)]
        if meant and not any(x.done for x in meant) and not (isinstance(d, Vector) and not d.width):
            yield d, meant[0]


def _means(d: Vector | Jam | Interleave, x: Asked) -> bool:
    return d.loop.name == x.loop and (not d.loop.stmt or d.loop.stmt in x.stmts)


def check_obeyed(plan: Plan, found: Sequence[Asked]) -> None:
    """For a user's plan: it is carried out, or it is an error."""
    for d, x in unobeyed(plan, found):
        hint = f"say `vector {x.loop}`" if isinstance(d, Vector) else "leave the directive out"
        raise InputError("illegal-plan", f"{_SAYS[x.word].format(x.loop)}: {x.why}", d.loc, hint)


def as_obeyed(plan: Plan, found: Sequence[Asked]) -> Plan:
    """For the tool's own: the plan says what was done."""
    lost = [d for d, _ in unobeyed(plan, found)]
    kept: list[Directive] = []
    for d in plan.directives:
        if not any(d is x for x in lost):
            kept.append(d)
        elif isinstance(d, Vector):
            kept.append(replace(d, width=0, times=1))
    return replace(plan, directives=tuple(kept)) if lost else plan


def missed(scop: Scop, found: Sequence[Asked]) -> tuple[Diagnostic, ...]:
    """Remarks on loops that are not what they were asked to be."""
    out = []
    for x in found:
        if not x.done:
            loc = scop.statement(min(x.stmts)).loc
            text = f"{_SAYS[x.word].format(x.loop)}: {x.why}"
            out.append(Diagnostic(Severity.REMARK, "not-vector", text, loc, kind="missed"))
    return tuple(out)


def summarize(plan: Plan, scop: Scop, code: CNode | None, threads: bool = True) -> str:
    """One line for people: what was done. Without code, all vectors of the plan are; without threads, no loop shares
    its iterations."""
    tiles = [f"{ref.name}:{size}" for d in plan.directives if isinstance(d, Tile) for ref, size in d.loops if size]
    shared = [d for d in plan.directives if isinstance(d, (Parallel, Pipeline)) and threads]
    among = [_shared_out(d) for d in shared]
    lanes = [d for d in plan.directives if isinstance(d, Vector)]
    vectors = [d.loop.name for d in lanes if code is None or _in_lanes(d, scop, code, threads)]
    products = [d.stmt for d in plan.directives if isinstance(d, Multiply)]
    parts = []
    if products:
        parts.append("blocked product " + ", ".join(products))
    if tiles:
        parts.append("tiles " + " ".join(dict.fromkeys(tiles)))
    if among:
        parts.append("threads over " + ", ".join(dict.fromkeys(among)))
    if vectors:
        parts.append("vectors along " + ", ".join(dict.fromkeys(vectors)))
    kept = [d.loop.name for d in plan.directives if isinstance(d, ScalarReplace)]
    if kept:
        parts.append("registers along " + ", ".join(dict.fromkeys(kept)))
    return "; ".join(parts) or "sequential"


def _shared_out(d: Parallel | Pipeline) -> str:
    together = isinstance(d, Parallel) and d.also
    return f"{d.loop.name} with {together.name}" if together else d.loop.name


def _in_lanes(d: Vector, scop: Scop, code: CNode, threads: bool) -> bool:
    """Is one of the loops that a directive means written as vectors, or the compiler told to make some?"""
    for x in walk(code):
        if isinstance(x, For) and x.loop.name == d.loop.name and x.loop.kind in (VECTOR, PARALLEL_VECTOR):
            inside = {y.stmt for y in walk(x) if isinstance(y, Instance)}
            meant = not d.loop.stmt or d.loop.stmt in inside
            if meant and (x.form is not None or x.alone is not None or says_vector(scop, x, threads)):
                return True
    return False
