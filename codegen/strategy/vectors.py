"""Vectorization techniques for innermost loops, as rows of the planner's table: explicit vectors, outer-loop vectors,
reductions, transposes, loops marked for the compiler or left to it, and scalar replacement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from codegen.plan.model import LoopRef, ScalarReplace, Vector
from codegen.recognize.access.calls import ROOTS, scalar_calls
from codegen.recognize.access.ctypes import type_of
from codegen.recognize.access.domain_shape import leaves_out, next_by_step
from codegen.recognize.access.strides import has_quotients, move
from codegen.recognize.access.wraps import usual_move
from codegen.recognize.reductions import find_reductions
from codegen.scop.expr import Binary, DataLoop, Lit, Ref
from codegen.scop.expr import walk as walk_expr
from codegen.scop.model import Scop
from codegen.scop.tree import INTERLEAVED, ON_THREADS, Band, enclosing, has_band, loops, statements
from codegen.strategy.author import Author
from codegen.strategy.cost.cycles import PEELED
from codegen.strategy.cost.predicted import iteration_cycles
from codegen.strategy.cost.tile_sizes import WRITTEN_OUT as FEW
from codegen.strategy.cost.tile_sizes import written_out
from codegen.strategy.knobs.rows import new_rows, vectors
from codegen.strategy.loops.outer_vectors import around_taps, through_few_steps
from codegen.strategy.loops.reused_rows import reused_rows, root_vectors
from codegen.strategy.loops.scalar_replacement import hidden_sums, replacement_gain
from codegen.strategy.loops.transposes import across_rows
from codegen.strategy.loops.vector_reductions import vector_reduction
from codegen.strategy.loops.wavefronts import ROWS
from codegen.strategy.technique import NOT_THIS_KIND, Site, Technique, Unsuited, carry_out_steps, suited
from codegen.strategy.tiling import waits_along
from codegen.transform.program import Program


def worth_vectors(p: Program, band: Band) -> bool:
    """Is it an innermost loop of which nothing was decided yet?"""
    if has_band(band.child) or band.product is not None or band.loops[-1].kind == INTERLEAVED:
        return False
    around = enclosing(p.tree, statements(band)[0])
    few_rows = any(lp.of == band.loops[-1].name and 0 < lp.tile <= ROWS for lp in around)
    return not few_rows and not any(x.width for x in around)


def _ref(site: Site) -> LoopRef:
    return LoopRef(site.band.loops[-1].name, site.stmts[0])


@contextmanager
def _same_reason(author: Author) -> Iterator[None]:
    """What is tried inside leaves `why` as it was: the reason why the loop itself has no vectors is told in the end."""
    why = author.why
    try:
        yield
    finally:
        author.why = why


def _around(author: Author, site: Site) -> None:
    """A loop around sequential ones in vectors."""
    found = suited(around_taps(author.p, site.band, author.machine))
    with _same_reason(author):
        carry_out_steps(author, *found.steps)
    how = found.vector
    text = f"{how.times} vectors along loop {how.loop.name}, through the loops inside in registers"
    author.remark("passed", "vector", text, site.stmts[0])
    author.remark("analysis", "register-tile", found.tile.reason, site.stmts[0])


def _accumulates_in_registers(p: Program, names: Sequence[str]) -> bool:
    """Do compilers write the loop out and keep its elements in registers through the loop around it? Marked for vectors
    it would not be. On threads they do not: in a function of its own, gcc does not know what `restrict` said. 16 x 16
    products of f32 on a Neoverse N1, i, k, j: 0.9 of gcc's speed with `omp simd` and 1.2 without."""
    around = enclosing(p.tree, names[0])
    if len(around) < 2 or any(lp.kind in ON_THREADS for lp in around):
        return False
    stays = (move(p.scop, s, s.accesses[s.target], around, len(around) - 2).still for s in map(p.scop.statement, names))
    return all(stays) and all(written_out(p.scop, lp, names, PEELED) for lp in around[-2:])


def _folds_integers(p: Program, names: Sequence[str]) -> bool:
    """Does the innermost loop fold integers into one place, with all its statements? Marked for vectors, compilers do
    not write it out, and join lanes behind every few steps, where the loop around would have vectors. 7 taps of u8,
    Neoverse N1: 0.05 of gcc's speed."""
    around = enclosing(p.tree, names[0])
    for s in map(p.scop.statement, names):
        target = s.accesses[s.target]
        if not p.scop.arrays[target.array].elem.is_int or not move(p.scop, s, target, around, len(around) - 1).still:
            return False
    return True


def _written_out(author: Author, site: Site) -> None:
    if _accumulates_in_registers(author.p, site.stmts):
        return
    most = PEELED if _folds_integers(author.p, site.stmts) else FEW
    if not written_out(author.p.scop, site.band.loops[-1], site.stmts, most):
        raise Unsuited(NOT_THIS_KIND)
    try:
        _around(author, site)
    except Unsuited:
        return  # compilers write the loop out


WRITTEN_OUT = Technique(
    "a few iterations written out",
    "compilers write the loop out; vectors run along the loop around it where there are some",
    "an innermost loop with a small, fixed number of iterations",
    _written_out,
    price="a few iterations are no loop any more: the model counts loops",
    knobs=(vectors,),
)


def _data_decides(author: Author, site: Site) -> None:
    p = author.p
    if not any(isinstance(e, DataLoop) for n in site.stmts for e in walk_expr(p.scop.statement(n).rhs)):
        raise Unsuited(NOT_THIS_KIND)
    text = f"loop {site.band.loops[-1].name} is left to the compiler: data decide how often a loop in it runs"
    author.remark("missed", "not-vector", text, site.stmts[0])


DATA_DECIDES = Technique(
    "a loop that data decide about",
    "it is left to the compiler",
    "a loop inside that runs as often as data say",
    _data_decides,
    price="nobody knows how often the loop inside runs",
)


def _reduction(author: Author, site: Site) -> None:
    found = suited(vector_reduction(author.p, site.band, author.machine))
    carry_out_steps(author, found)
    name = site.band.loops[-1].name
    text = f"loop {name} gathers in {found.times} vectors of {found.width} bytes side by side"
    author.remark("passed", "vector", text, site.stmts[0])


REDUCTION = Technique(
    "reduction in vectors",
    "several vectors of partial results side by side, joined behind the loop",
    "a loop that reduces to one element, in an order that may change",
    _reduction,
    price=iteration_cycles,
    knobs=(vectors,),
)


def _transposed(author: Author, site: Site) -> None:
    """Vectors along the loop around, of rows transposed in registers."""
    if not far_array(author.p, site.stmts):
        raise Unsuited(NOT_THIS_KIND)
    found = across_rows(author.p, site.band, author.machine)
    if found is None:
        raise Unsuited("its rows cannot be transposed in registers")
    with _same_reason(author):
        carry_out_steps(author, found)
    side = f"{found.times} vectors side by side along loop {found.loop.name}"
    text = f"{side}; what is read along {site.band.loops[-1].name} is transposed in registers"
    author.remark("passed", "vector", text, site.stmts[0])


TRANSPOSED = Technique(
    "vectors of transposed blocks",
    "vectors along the loop around; what is read along the innermost one is transposed in registers",
    "an innermost loop that does not step through its arrays element by element",
    _transposed,
    price=iteration_cycles,
    knobs=(vectors,),
)


def _strided(author: Author, site: Site) -> None:
    far = far_array(author.p, site.stmts)
    if not far:
        raise Unsuited(NOT_THIS_KIND)
    if not author.possible(Vector(_ref(site))):
        raise Unsuited("its iterations depend on each other")
    name = site.band.loops[-1].name
    text = f"loop {name} is left to the compiler: it does not step through `{far}` element by element"
    author.remark("missed", "not-vector", text, site.stmts[0])


STRIDED = Technique(
    "a loop with strides",
    "it is left to the compiler",
    "an innermost loop that does not step through its arrays element by element",
    _strided,
    price="what compilers make of strides by themselves is not predicted; marked for vectors it was never faster",
)


def far_array(p: Program, names: tuple[str, ...]) -> str:
    """An array that the innermost loop around these statements does not go through element by element, where it does so
    with none, reads one by a quotient, as in a[x / 2], or does not write so, unless others fill the gaps. Marked for
    vectors, compilers gather and scatter whatever that costs; by themselves they know better. lbm-d2q9: 0.57 of gcc
    marked, 1.00 unmarked; red-black-gs 0.74 and 1.0; rows of twice as many pixels, each the mean of four, 0.23 and 1.3
    (Cascade Lake). haar-wavelet, which interleaves: 1.10 marked, 0.56 unmarked. Members of every other struct have to
    be taken out of vectors by many steps, too: rgba_halve 0.94 and 1.00."""
    far, unit, members = "", False, list[str]()
    writes = [a.array for n in names for a in p.scop.statement(n).accesses if a.write]
    for name in names:
        s, around = p.scop.statement(name), enclosing(p.tree, name)
        apart = leaves_out(s)
        for a in s.accesses:
            m = usual_move(p.scop, s, a, around, len(around) - 1)
            rank = p.scop.arrays[a.array].rank
            lines = next_by_step(s, a) and not isinstance(s.rhs, Ref) if apart else m.unit
            alone = apart or writes.count(a.array) == 1
            if a.write and alone and rank and not m.still and not lines:
                return a.array
            if not apart and m.steps is None and has_quotients(a):
                return a.array
            unit = unit or (bool(rank) and lines)
            far = far or ("" if m.still else a.array)
            if not a.write and not m.still:
                members.append(a.array if not m.unit and any(x.kind == "member" for x in a.path) else "")
    if members and all(members):
        return members[0]
    return "" if unit else far


def _few_steps(author: Author, site: Site) -> None:
    found = suited(through_few_steps(author.p, site.band, author.machine))
    with _same_reason(author):
        carry_out_steps(author, *found.steps)
    how = found.vector
    text = f"{how.times} vectors along loop {how.loop.name}, through all steps on their elements in registers"
    author.remark("passed", "vector", text, site.stmts[0])
    author.remark("analysis", "register-tile", found.tile.reason, site.stmts[0])


FEW_STEPS = Technique(
    "vectors through a few steps",
    "vectors along a parallel innermost loop go through the sequential loops around it in registers",
    "a parallel innermost loop inside a few steps, of a fixed number, that go on with its elements",
    _few_steps,
    price="the model does not see that vectors share lines of what every step reads",
    knobs=(vectors,),
)


def _explicit(author: Author, site: Site) -> None:
    again = suited(reused_rows(author.p, site.band, author.machine))
    carry_out_steps(author, again)
    text = f"loop {again.loop.name} is written as vectors of {again.width} bytes, {again.times} at a time"
    author.remark("passed", "vector", text, site.stmts[0])


EXPLICIT = Technique(
    "vectors written out",
    "the loop is written as vectors, and reads what it read before from registers",
    "a loop that reads neighbouring elements more than once",
    _explicit,
    price=iteration_cycles,
    knobs=(vectors,),
)


def multiplies_complex(scop: Scop, name: str) -> bool:
    """Compilers warn where they are told to make lanes of such a statement."""
    s = scop.statement(name)
    if not any("_Complex" in scop.arrays[a.array].elem.spelling for a in s.accesses):
        return False
    return any(isinstance(e, Binary) and e.op in ("*", "/") for e in walk_expr(s.rhs))


def divides_integers(scop: Scop, name: str) -> bool:
    """By numbers that only the run knows. Few processors have lanes of that; told to make some, clang takes vectors
    apart for it. Levels of pixels over a total, clang 19, Cascade Lake: 0.4 to 0.6 marked, 1.0 unmarked."""
    s = scop.statement(name)
    parts = [(e, e.right) for e in walk_expr(s.rhs) if isinstance(e, Binary) and e.op in ("/", "%")]
    if s.op in ("/=", "%="):
        parts.append((Binary(s.op[0], Ref(s.target), s.rhs), s.rhs))
    whole = [divisor for e, divisor in parts if (t := type_of(scop, s, e)) is not None and t.is_int]
    return any(not isinstance(divisor, Lit) for divisor in whole)


def _roots(author: Author, site: Site, calls: Sequence[str]) -> None:
    """Vectors written out, where compilers would make none since square roots may set errno."""
    width = root_vectors(author.p, site.band, author.machine) if all(x in ROOTS for x in calls) else 0
    if not width:
        author.why = f"compilers make no vectors of `{calls[0]}`, which may set errno"
        raise Unsuited(author.why)
    carry_out_steps(author, Vector(_ref(site), width))
    text = f"loop {site.band.loops[-1].name} is written as vectors of {width} bytes, with square roots of whole vectors"
    author.remark("passed", "vector", text, site.stmts[0])


def _marked(author: Author, site: Site) -> None:
    if any(multiplies_complex(author.p.scop, name) for name in site.stmts):
        author.why = "C multiplies and divides complex numbers by calls (Annex G), which have no lanes"
        raise Unsuited(author.why)
    if any(divides_integers(author.p.scop, name) for name in site.stmts):
        author.why = "it divides integers, for which processors have no lanes"
        raise Unsuited(author.why)
    calls = scalar_calls(author.p.scop, site.stmts)
    if calls:
        _roots(author, site, calls)
        return
    carry_out_steps(author, Vector(_ref(site)))
    author.remark("passed", "vector", f"loop {site.band.loops[-1].name} is marked for the vectorizer", site.stmts[0])


MARKED = Technique(
    "vectors by the compiler",
    "the loop is marked for the compiler's vectorizer",
    "an innermost loop whose iterations do not depend on each other",
    _marked,
    price=iteration_cycles,
    knobs=(vectors, new_rows),
)

OUTER = Technique(
    "vectors along an outer loop",
    "vectors along a loop around, through sequential loops in registers",
    "sequential loops inside a parallel one that steps through its arrays element by element",
    _around,
    price=iteration_cycles,
    knobs=(vectors,),
)


def _in_order(author: Author, site: Site) -> None:
    """A loop that has to run in order keeps what its next iterations use again in registers, where values on their way
    through memory are what it waits for; not if that order is only about what is overwritten, which vectors of the
    compiler's do not mind, nor if it is free and compilers see where the sum is."""
    names, ref = site.stmts, _ref(site)
    author.remark("missed", "not-vector", author.why, names[0], _permission(author.p, names))
    if not waits_along(author.p, ref.name, names) and not hidden_sums(author.p, names):
        return
    place = next(q for q in loops(author.p.tree) if q.loop.name == ref.name and names[0] in statements(q.band))
    gain = replacement_gain(author.p, place, author.machine)
    if gain is not None and gain.pays and author.attempt(ScalarReplace(ref)):
        text = f"elements that iterations of {ref.name} use again stay in registers: {gain.text}"
        author.remark("passed", "scalar-replacement", text, names[0])


IN_ORDER = Technique(
    "the order of the source",
    "the loop runs in order; where it waits for elements of iterations before, those stay in registers",
    "a sequential loop",
    _in_order,
    price="what is left where nothing else suits; `loops/scalar_replacement.py` compares what registers gain",
)


def _permission(p: Program, names: tuple[str, ...]) -> str:
    """What would free a loop whose order is only that of a floating-point sum or product."""
    mine = [] if p.reassociate else [r for r in find_reductions(p.scop) if r.stmt in names and not r.wraps]
    if not mine:
        return ""
    what = {"+": "sum", "-": "sum", "*": "product", "max": "maximum", "min": "minimum"}.get(mine[0].op, "result")
    return f"--reassociate, or `#pragma tilewright reassociate` before the region, allows another order of the {what}"
