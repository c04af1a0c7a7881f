"""One region under supervision: in a child process within limits, and in pieces where it is too large as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from codegen.diagnostics import InputError, InternalError, Loc, TilewrightError, Unsupported
from codegen.limits import LimitPassed, analysis
from codegen.machine import Machine
from codegen.options import GenOptions
from codegen.source.columns import placed
from codegen.source.pieces import WHOLE, Cut, Piece, cut, maybe_large
from codegen.source.slice import RegionSlice
from codegen.worker import Died, run_again_after_crashes, run_limited

if TYPE_CHECKING:
    from codegen.pipeline import Opened
    from codegen.region import RegionOutcome

# Refusals after which smaller pieces may do.
_TOO_LARGE = frozenset({"timeout", "no-proof", "region-too-large"})


def run_region(source: Opened, s: RegionSlice, options: GenOptions, machine: Machine) -> RegionOutcome:
    """One region. One that is large is taken in pieces, as is one that asks too much as a whole."""
    parts = _planned(s, options)
    early = bool(parts) or s.text.count(";", *s.span) > WHOLE
    found = _cut(source, s, options) if early and 0 not in parts else Cut((), 0)
    _check_parts(s, parts, found, options)
    if found.pieces and (parts or found.statements > WHOLE):
        return _in_pieces(source, s, found.pieces, options, machine)
    whole = _run(source, s, source.text[s.region.body_begin : s.region.body_end], options, machine)
    if _refusal(whole) not in _TOO_LARGE or parts:
        return whole
    found = found if early else _cut(source, s, options)
    return _in_pieces(source, s, found.pieces, options, machine) if found.pieces else whole


def _planned(s: RegionSlice, options: GenOptions) -> frozenset[int]:
    """The parts of the region that a plan speaks of; 0 is all of it."""
    from codegen.plan.hinted import with_own_plan

    own = with_own_plan(s.region, s.file, options)
    if own.plan_text is None:
        return frozenset()
    from codegen.plan.parse import planned_parts

    return frozenset(part for (n, part), _ in planned_parts(own.plan_text, own.plan_name) if n == s.region.index)


def _check_parts(s: RegionSlice, parts: frozenset[int], found: Cut, options: GenOptions) -> None:
    last = max(parts, default=0)
    if last > len(found.pieces):
        loc = Loc(options.plan_name if options.plan_text is not None else s.file, 1, 1)
        have = f"it has {len(found.pieces)}" if found.pieces else "it is taken as a whole"
        raise InputError("bad-plan", f"region {s.region.index} has no part {last}", loc, f"{have}; make the plan anew")


def _cut(source: Opened, s: RegionSlice, options: GenOptions) -> Cut:
    """How the region can be cut; not at all where it is small, or cannot be read."""
    if options.target == "sunway" or not maybe_large(s):
        return Cut((), 0)

    def work() -> Cut:
        from codegen.frontend.symbols import find_site
        from codegen.source.parse import parse_with_gaps

        parsed = parse_with_gaps(s)
        site = find_site(parsed.ast, s.file, s.region.first_line, s.region.last_line, parsed.hidden)
        return cut(s, site.statements, source.text)

    try:
        return run_limited(work, analysis(options.timeout))
    except LimitPassed as error:
        raise _past_limit(s, error) from None
    except (TilewrightError, RecursionError, Died):  # the analysis of the whole says it better
        return Cut((), 0)


def _in_pieces(
    source: Opened, s: RegionSlice, pieces: Sequence[Piece], options: GenOptions, machine: Machine
) -> RegionOutcome:
    """All pieces one after the other; the first refusal is the region's."""
    done: list[RegionOutcome] = []
    for p in pieces:
        part = _piece(s, p)
        made = _run(source, part, source.text[p.begin : p.end], options, machine)
        if made.text is None and _refusal(made):
            return made
        if made.text is None:  # nothing in it that runs
            made = replace(made, text=source.text[p.begin : p.end].replace("\r\n", "\n"))
        done.append(made)
    return _joined(done)


def _piece(s: RegionSlice, p: Piece) -> RegionSlice:
    named = _piece(s.named, p) if s.named is not None else None
    return replace(s, piece=(p.number, p.first, p.after), named=named)


def _joined(done: Sequence[RegionOutcome]) -> RegionOutcome:
    """What became of a region whose pieces became these."""
    texts = [o.text or "" for o in done]
    above = [sum(t.count("\n") for t in texts[:k]) for k in range(len(texts))]
    said = dict.fromkeys(d for o in done for d in o.diagnostics)
    words = (f"in {len(done)} parts", *dict.fromkeys(o.summary.partition(": ")[2] for o in done))
    return replace(
        done[0],
        text="".join(texts),
        helpers=frozenset[str]().union(*(o.helpers for o in done)),
        kernels=done[0].kernels.union(*(o.kernels for o in done)),
        plan="".join(o.plan for o in done),
        summary="; ".join(w for w in words if w),
        diagnostics=tuple(said),
        links=tuple((line + up, stmt) for up, o in zip(above, done, strict=True) for line, stmt in o.links),
        names=frozenset[str]().union(*(o.names for o in done)),
        kept=tuple(n for n in done[0].kept if all(n in o.kept for o in done)),
        computed=tuple(dict.fromkeys(c for o in done for c in o.computed)),
        parts=len(done),
    )


def _refusal(outcome: RegionOutcome) -> str:
    """Why a region was left as it is; empty where it was not, or has nothing in it."""
    refused = (d for d in outcome.diagnostics if d.id == "region-refused")
    return next((note.id for d in refused for note in d.notes), "")


def _past_limit(s: RegionSlice, why: LimitPassed) -> InputError:
    """An analysis that counted work did not bound. Another run or machine may get through: so it is no result."""
    loc = Loc(s.file, s.region.first_line, 1)
    return InputError("limit-passed", f"the analysis of region {s.region.index} {why}", loc, "split it, or simplify it")


def _run(source: Opened, s: RegionSlice, text: str, options: GenOptions, machine: Machine) -> RegionOutcome:
    """A region or a piece of it, which has this text, in a child process.

    isl has crashed while it joined pieces of a relation; simpler plans ask less of it.
    """
    from codegen.region import AUTHORS, process_region, refused

    original = text.replace("\r\n", "\n")
    tries = 1 if options.plan_text is not None or options.target == "sunway" else len(AUTHORS)
    try:
        work = partial(process_region, s, original, options, machine)
        made = run_again_after_crashes(work, tries, analysis(options.timeout))
        return replace(made, diagnostics=placed(made.diagnostics, s, source.text))
    except LimitPassed as error:
        raise _past_limit(s, error) from None
    except RecursionError:
        loc = Loc(s.file, s.region.first_line, 1)
        why = "its expressions are nested too deeply"
        return refused(s, Unsupported("nesting-too-deep", why, loc, "split the expressions"))
    except Died:
        loc = Loc(s.file, s.region.first_line, 1)
        raise InternalError("worker-died", f"the analysis of region {s.region.index} crashed", loc) from None
