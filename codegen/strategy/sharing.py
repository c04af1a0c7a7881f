"""Techniques that put loops on threads, as rows of the planner's table: strips of a reduction, and work sharing of a
parallel loop (`loops/work_sharing.py` lists the ways); and the test which loops are worth threads."""

from __future__ import annotations

from codegen.plan.model import Directive, LoopRef, Pipeline, Vector
from codegen.recognize.access.calls import scalar_calls
from codegen.recognize.access.domain_shape import PARALLEL_MIN, most_instances
from codegen.scop.tree import ON_THREADS, FoundLoop, enclosing, has_band, loops, statements
from codegen.strategy.author import Author
from codegen.strategy.cost.groups import stepped
from codegen.strategy.knobs.threads import thread_loops
from codegen.strategy.knobs.tiles import tile_lengths
from codegen.strategy.loops.reused_rows import root_vectors
from codegen.strategy.loops.vector_reductions import on_threads, vector_reduction
from codegen.strategy.loops.work_sharing import ways
from codegen.strategy.technique import NOT_THIS_KIND, Site, Technique, Unsuited, carry_out_steps, suited
from codegen.transform.program import Program


def rows_behind(author: Author, steps: tuple[Directive, ...]) -> None:
    """Rows on threads, each behind the one before it, if that can be."""
    if author.all_or_none(steps):
        way = next(d for d in steps if isinstance(d, Pipeline))
        text = f"loop {way.loop.name} runs in parallel, each thread behind the one before it along {way.along.name}"
        author.remark("passed", "parallel", text, way.loop.stmt)


def worth_threads(p: Program, place: FoundLoop) -> bool:
    """May a loop run on threads? Not inside or around one that does, not the innermost of several, and not with too
    little to do, whatever the parameters are."""
    if place.band.product is not None or _marked_around(p, place):
        return False
    short = len(place.names) > 1 or _in_tile(p, place)
    return not (short and is_innermost(place)) and not _few(p, place)


def _few(p: Program, place: FoundLoop) -> bool:
    names = statements(place.band)
    around = [enclosing(p.tree, n)[: len(place.names)] for n in names]
    fixed = [[stepped(lp, n) for lp in loops_] for n, loops_ in zip(names, around, strict=True)]
    if any(d is None for part in fixed for d in part):
        return False
    counts = [
        most_instances(p.scop.statement(n), [d for d in part if d is not None])
        for n, part in zip(names, fixed, strict=True)
    ]
    return sum(c for c in counts if c is not None) < PARALLEL_MIN and None not in counts


def _in_tile(p: Program, place: FoundLoop) -> bool:
    around = enclosing(p.tree, statements(place.band)[0])
    return any(lp.tile for lp in around if lp.name in place.names)


def _marked_around(p: Program, place: FoundLoop) -> bool:
    for q in loops(p.tree):
        related = place.path[: len(q.path)] == q.path or q.path[: len(place.path)] == place.path
        if q.loop.kind in ON_THREADS and related:
            return True
    return False


def is_innermost(place: FoundLoop) -> bool:
    """Nothing but statements inside: below several sequential loops, starting threads here never pays."""
    return place.member == len(place.band.loops) - 1 and not has_band(place.band.child)


def _reduction_strips(author: Author, site: Site) -> None:
    place = site.place
    assert place is not None
    vectors = suited(vector_reduction(author.p, site.band, author.machine) if is_innermost(place) else None)
    carry_out_steps(author, *on_threads(author.p, vectors))
    author.remark("passed", "parallel", f"strips of loop {place.loop.name} run in parallel", site.stmts[0])


REDUCTION_STRIPS = Technique(
    "strips of a reduction",
    "threads reduce strips of a loop, each in vectors of its own",
    "an innermost loop that reduces to one element, in an order that may change",
    _reduction_strips,
    price="threads have equal parts either way; strips are what keeps their vectors, which are decided on later",
    knobs=(tile_lengths, thread_loops),
)


def _root_strips(author: Author, site: Site) -> None:
    place = site.place
    assert place is not None
    width = root_vectors(author.p, site.band, author.machine) if is_innermost(place) else 0
    if not width or not scalar_calls(author.p.scop, site.stmts):
        raise Unsuited(NOT_THIS_KIND)
    ref = LoopRef(place.loop.name, site.stmts[0])
    carry_out_steps(author, *on_threads(author.p, Vector(ref, width)))
    author.remark("passed", "parallel", f"strips of loop {place.loop.name} run in parallel", site.stmts[0])


ROOT_STRIPS = Technique(
    "strips of square roots",
    "threads take strips of a loop, each in vectors that are written out",
    "an innermost loop with square roots, of which compilers make no vectors",
    _root_strips,
    price="threads have equal parts either way; strips are what keeps their vectors, which are decided on later",
    knobs=(tile_lengths, thread_loops),
)


def _work_sharing(author: Author, site: Site) -> None:
    assert site.place is not None
    for way in ways(author.p, site.place, author.machine):
        if author.all_or_none(way.steps):
            author.remark("passed", "parallel", way.text, site.stmts[0])
            if way.why:
                author.remark("analysis", "thread-loop", way.why, site.stmts[0])
            return
    raise Unsuited(author.why)


WORK_SHARING = Technique(
    "work sharing",
    "threads share the iterations of a loop, in equal parts or in turn, or those of two loops together",
    "a loop whose iterations do not depend on each other",
    _work_sharing,
    price="the only one that is left: which loop, and in which parts, `loops/work_sharing.py` compares",
    knobs=(thread_loops,),
)
