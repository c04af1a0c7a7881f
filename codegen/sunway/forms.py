"""Other forms of a region, with tiles for few or for many iterations: which of them pay, and between which numbers.

Tiles are chosen for usual sizes. With few iterations such tiles leave cores idle, with many they could be longer, and
longer rows come faster. Each form is planned and proven by itself; which one runs is decided by the number of
iterations that cores share, and whatever that decides is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from codegen.ast.ctree import Bin, CExpr, For, Int, Name, Neg, expr_names, walk
from codegen.plan.model import Plan
from codegen.record import record
from codegen.region import ProvenRegion
from codegen.scop.model import Scop
from codegen.sunway.launch import LaunchPrinter
from codegen.sunway.plan.launch_options import OTHERS, TypicalSizes
from codegen.sunway.profit.cores import CoresEstimate
from codegen.sunway.profit.middle import sizes_of
from codegen.sunway.region_form import OnCores, PrintedForm, RegionForm, prepared, printed
from codegen.target.text.cexpr import IntPrinter

# Iterations of each loop that cores share.
TRIED = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192, 16384)
PAYS = 1.25  # times as fast at one of these, for a form to be printed
SURE = 1.1  # times as fast, by estimates that are off by as much, for a form to be used

SAME = 1.03  # times that are as good as none
RANGE = 3  # sizes at least of those that are tried for which it is used


@record
class SizedForm:
    """A form besides the usual one, the plan that it was made by, and the most times that it is as fast, by the
    model."""

    printed: PrintedForm
    plan: Plan
    factor: float


def usual_form(made: ProvenRegion, how: OnCores) -> PrintedForm:
    """What a region becomes on the cores."""
    form = _form(made, how)
    return printed(form, prepared(form))


def _form(made: ProvenRegion, how: OnCores, name: str = "") -> RegionForm:
    return RegionForm(made.program.scop, made.program.deps, made.code, how, name)


def other_forms(usual: PrintedForm, again: Callable[[TypicalSizes], ProvenRegion | None]) -> list[SizedForm]:
    """Forms that pay, for a region in its usual form; `again` makes it for other sizes. Of those whose conditions hold
    the first runs."""
    launches, scop, how = [x.launch for x in usual.launches], usual.form.scop, usual.form.how
    counts = shared_counts(scop, launches)
    named = frozenset[str]().union(*map(expr_names, counts))
    out, seen, best = list[SizedForm](), [_shape(launches)], _seconds(scop, launches, named) if counts else []
    for name, sizes in OTHERS.items() if counts else ():
        found = again(sizes)
        if found is None or found.program.scop.params != scop.params:
            continue
        form = _form(found, replace(how, style=replace(how.style, sizes=sizes)), name)
        ready = prepared(form)
        if _shape(ready) in seen:
            continue
        seen.append(_shape(ready))
        done = printed(form, ready)
        times = _seconds(scop, ready, named)
        gains = [a / b for a, b in zip(best, times, strict=True)]
        first, last = _interval(gains)
        if max(gains) < PAYS or last - first + 1 < RANGE:
            continue
        form = replace(form, when=_condition(scop, counts, first, last))
        out.append(SizedForm(replace(done, form=form), found.plan, max(gains)))
        best = [b if first <= k <= last else a for k, (a, b) in enumerate(zip(best, times, strict=True))]
    return out[::-1]


def shared_counts(scop: Scop, launches: Sequence[LaunchPrinter]) -> tuple[CExpr, ...]:
    """How many iterations the loops of the first kernel have that cores share, where parameters alone tell."""
    params = {p.name for p in scop.params}
    for site in (s for x in launches for s in x.survey.sites.values()):
        found = [_count(lp) for lp in site.bound]
        if found and all(_plain(e) and expr_names(e) <= params for e in found) and any(map(expr_names, found)):
            return tuple(found)
    return ()


def _count(lp: For) -> CExpr:
    """`upper - lower`, with one number behind it where both have numbers."""
    upper, more = _number_apart(lp.upper)
    lower, less = _number_apart(lp.lower)
    rest = more - less + (lp.op == "<=")
    count = upper if lower == Int(0) else Bin("-", upper, lower)
    return count if rest == 0 else Bin("+" if rest > 0 else "-", count, Int(abs(rest)))


def _number_apart(e: CExpr) -> tuple[CExpr, int]:
    if isinstance(e, Int):
        return Int(0), e.value
    if isinstance(e, Bin) and e.op in ("+", "-") and isinstance(e.right, Int):
        return e.left, e.right.value if e.op == "+" else -e.right.value
    return e, 0


def _plain(e: CExpr) -> bool:
    """Is it made of parameters and numbers by sums and products alone?"""
    if isinstance(e, Bin):
        return e.op in ("+", "-", "*") and _plain(e.left) and _plain(e.right)
    return isinstance(e, (Int, Name)) or (isinstance(e, Neg) and _plain(e.arg))


def _shape(launches: Sequence[LaunchPrinter]) -> object:
    """What tells forms apart: steps of loops, that is sizes of tiles, and shapes of tiles over time."""
    roots = [x.root[0] for x in launches if x.root is not None]
    steps = tuple(n.step for root in roots for n in walk(root) if isinstance(n, For) and n.loop.tile)
    return steps, tuple(shape for x in launches for _, shape in x.survey.stencils.values())


def _seconds(scop: Scop, launches: Sequence[LaunchPrinter], named: frozenset[str]) -> list[float]:
    """For all sizes that are tried of the parameters that are `named`."""
    usual, out = sizes_of(scop), list[float]()
    for size in TRIED:
        these = sizes_of(scop, size)
        sizes: Mapping[str, int] = {n: these[n] if n in named else usual[n] for n in usual}
        out.append(sum(CoresEstimate(x, sizes).seconds(x.root[0]) for x in launches if x.root is not None))
    return out


def _interval(gains: Sequence[float]) -> tuple[int, int]:
    """The first and the last of the sizes around the one with most to gain that are sure to gain; all that are smaller,
    or larger, too, if nothing is lost there."""
    first = last = max(range(len(gains)), key=gains.__getitem__)
    while first > 0 and gains[first - 1] >= SURE:
        first -= 1
    while last + 1 < len(gains) and gains[last + 1] >= SURE:
        last += 1
    first = 0 if min(gains[: first + 1]) >= 1 / SAME else first
    return first, len(gains) - 1 if min(gains[last:]) >= 1 / SAME else last


def _condition(scop: Scop, counts: Sequence[CExpr], first: int, last: int) -> str:
    """From the first to the last of the sizes; one that is faster at all of them is used up to the largest."""
    ints = IntPrinter({p.name: p for p in scop.params}, {}, set())
    texts = [ints.text(e, 5) for e in counts]
    product = texts[0] if len(texts) == 1 else "(double)" + " * ".join(f"({t})" for t in texts)
    low = [f"{product} >= {TRIED[first] ** len(counts)}"] if first > 0 else []
    high = [f"{product} <= {TRIED[last] ** len(counts)}"] if last + 1 < len(TRIED) or not low else []
    return " && ".join(low + high)
