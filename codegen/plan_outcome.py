"""Compares a plan with what came of it. A directive of a user's plan that the target does not know or no loop carries
out raises InputError; one of the tool's own plan is taken out, or left to the compiler. Remarks name what has no
effect, and one line sums up what was done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codegen.ast.ctree import CNode, For, Instance, walk
from codegen.ast.lowered import ScalarReplacement
from codegen.ast.pipelines import stage_of
from codegen.diagnostics import Diagnostic, InputError, Severity
from codegen.lower.requested_forms import RequestedForm
from codegen.plan.model import (
    NOWHERE,
    Balance,
    Directive,
    Interleave,
    Jam,
    LoopRef,
    Multiply,
    Parallel,
    Pipeline,
    Plan,
    ScalarReplace,
    StageShared,
    StoreIn,
    Tile,
    Vector,
)
from codegen.plan.text import keyword
from codegen.scop.model import Scop
from codegen.scop.tree import PARALLEL_VECTOR, VECTOR, Band, Hold, Node, at, loops
from codegen.scop.tree import walk as walk_tree
from codegen.target.pragmas import collapses, says_vector
from codegen.targets.base import Target

_WORDS = {"vector": Vector, "jam": Jam, "interleave": Interleave, "scalar_replace": ScalarReplace}
_SAYS = {
    "vector": "loop `{}` is not written as vectors, and left to the compiler",
    "jam": "iterations of loop `{}` run one after the other",
    "interleave": "iterations of loop `{}` run one after the other",
    "scalar_replace": "each iteration of loop `{}` reads memory",
}


def check_words(plan: Plan, target: Target) -> None:
    """For a user's plan: the target knows what each directive asks for. Raises InputError."""
    for d in plan.directives:
        why = next((target.cannot[w] for w in _words(d) if w in target.cannot), "")
        if why:
            hint = "leave the directive out, or choose another --target"
            raise InputError("illegal-plan", f"`{keyword(d)}`: the target {target.name} {why}", d.loc, hint)


def _words(d: Directive) -> Iterator[str]:
    """The word of a directive, and with it those of what it may say besides."""
    yield "stage shared" if isinstance(d, StageShared) else keyword(d)
    if isinstance(d, Parallel):
        yield from (f"parallel {word}" for word, given in (("with", d.also), ("by", d.by)) if given)


def unobeyed(plan: Plan, found: Sequence[RequestedForm]) -> Iterator[tuple[Directive, RequestedForm]]:
    """Directives that no loop carries out, with one that was meant."""
    for d in plan.directives:
        if not isinstance(d, (Vector, Jam, Interleave)):
            continue
        meant = [x for x in found if isinstance(d, _WORDS[x.word]) and _means(d, x)]
        if meant and not any(x.done for x in meant) and not (isinstance(d, Vector) and not d.width):
            yield d, meant[0]


def _means(d: Vector | Jam | Interleave, x: RequestedForm) -> bool:
    return d.loop.name == x.loop and (not d.loop.stmt or d.loop.stmt in x.stmts)


def check_obeyed(plan: Plan, found: Sequence[RequestedForm]) -> None:
    """For a user's plan: it is carried out, or it is an error."""
    for d, x in unobeyed(plan, found):
        hint = f"say `vector {x.loop}`" if isinstance(d, Vector) else "leave the directive out"
        raise InputError("illegal-plan", f"{_SAYS[x.word].format(x.loop)}: {x.why}", d.loc, hint)


def as_obeyed(plan: Plan, found: Sequence[RequestedForm]) -> Plan:
    """For the tool's own: the plan says what was done."""
    lost = [d for d, _ in unobeyed(plan, found)]
    kept: list[Directive] = []
    for d in plan.directives:
        if not any(d is x for x in lost):
            kept.append(d)
        elif isinstance(d, Vector):
            kept.append(replace(d, width=0, times=1))
    return replace(plan, directives=tuple(kept)) if lost else plan


def check_places(plan: Plan, tree: Node) -> None:
    """For a user's plan: variables are kept in the loops that it names, and there are the tiles that it speaks of.
    Raises InputError."""
    tiled = {q.loop.of for q in loops(tree)}
    for d in plan.directives:
        if isinstance(d, Balance) and d.loop.name not in tiled:
            raise InputError("illegal-plan", f"loop {d.loop} has no tiles", d.loc, f"add `tile {d.loop}:{d.size}`")
        if isinstance(d, StoreIn) and not _held_in(tree, d):
            why = f"`{d.variable}` cannot be kept inside loop {d.loop}: no such loop is around all its uses"
            raise InputError("illegal-plan", why, d.loc, "name a loop further out")


def _held_in(tree: Node, d: StoreIn) -> bool:
    for path, node in walk_tree(tree):
        if isinstance(node, Hold) and any(s.array == d.variable for s in node.slots):
            around = (at(tree, path[:k]) for k in range(len(path)))
            return any(lp.name == d.loop.name for n in around if isinstance(n, Band) for lp in n.loops)
    return False


def no_effect(plan: Plan, scop: Scop, code: CNode, threads: bool) -> tuple[Diagnostic, ...]:
    """Remarks on directives that text for this machine does not carry out, though loops of it are meant."""
    out = []
    for d in plan.directives:
        if not isinstance(d, (Balance, Parallel, Pipeline, Vector)):
            continue
        meant = [x for x in walk(code) if isinstance(x, For) and _names(d.loop, x)]
        why = _why_no_effect(d, scop, meant, threads) if meant else ""
        if why:
            first = min(x.stmt for x in walk(meant[0]) if isinstance(x, Instance))
            loc = scop.statement(first).loc if d.loc == NOWHERE else d.loc
            out.append(Diagnostic(Severity.REMARK, "not-obeyed", f"`{keyword(d)} {d.loop}`: {why}", loc, kind="missed"))
    return tuple(out)


def _why_no_effect(d: Balance | Parallel | Pipeline | Vector, scop: Scop, meant: Sequence[For], threads: bool) -> str:
    """What of a directive is not carried out; empty where all of it is."""
    if isinstance(d, Vector):
        if any(_asks_for_lanes(x, scop, threads) for x in meant):
            return ""
        if any(x.loop.reductions for x in meant):
            return "no directive for compilers names what the loop gathers, so it is a plain one"
        return "compilers do not make vectors along a loop with loops inside, so it is a plain one"
    if not threads:
        return f"{'its tiles run' if isinstance(d, Balance) else 'the loop runs'} on one thread"
    if isinstance(d, Pipeline) and not any(stage_of(x) for x in meant):
        return f"loop {d.along} is gone, by whose values threads would wait, so the loop runs on one thread"
    if isinstance(d, Parallel) and d.also and not any(collapses(x) for x in meant):
        return f"iterations of loop {d.also} are not shared out: loop {d.loop} decides how many there are"
    return ""


def _names(ref: LoopRef, node: For) -> bool:
    if node.loop.name != ref.name:
        return False
    return not ref.stmt or any(y.stmt == ref.stmt for y in walk(node) if isinstance(y, Instance))


def missed(scop: Scop, found: Sequence[RequestedForm]) -> tuple[Diagnostic, ...]:
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
    among = [_shared_out(d, code) for d in shared]
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
    kept = [d.loop.name for d in plan.directives if isinstance(d, ScalarReplace) and _in_registers(d, code)]
    if kept:
        parts.append("registers along " + ", ".join(dict.fromkeys(kept)))
    return "; ".join(parts) or "sequential"


def _shared_out(d: Parallel | Pipeline, code: CNode | None) -> str:
    also = d.also if isinstance(d, Parallel) else None
    meant = () if code is None else (x for x in walk(code) if isinstance(x, For) and _names(d.loop, x))
    return f"{d.loop.name} with {also.name}" if also and any(map(collapses, meant)) else d.loop.name


def _in_lanes(d: Vector, scop: Scop, code: CNode, threads: bool) -> bool:
    """Is one of the loops that a directive means written as vectors, or the compiler told to make some?"""
    meant = (x for x in walk(code) if isinstance(x, For) and _names(d.loop, x))
    return any(_asks_for_lanes(x, scop, threads) for x in meant if x.loop.kind in (VECTOR, PARALLEL_VECTOR))


def _asks_for_lanes(x: For, scop: Scop, threads: bool) -> bool:
    return x.form is not None or x.alone is not None or says_vector(scop, x, threads)


def _in_registers(d: ScalarReplace, code: CNode | None) -> bool:
    meant = () if code is None else (x for x in walk(code) if isinstance(x, For) and _names(d.loop, x))
    return code is None or any(isinstance(x.form, ScalarReplacement) for x in meant)
