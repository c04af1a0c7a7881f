"""Runs one region through the generator under supervision: in a child process within limits, and in pieces where it is
too large, or not understood, as a whole. Returns its outcome, new text or refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from codegen.children.worker import Died, run_again_after_crashes, run_limited
from codegen.diagnostics import Diagnostic, InputError, InternalError, Loc, Severity, Unsupported
from codegen.limits import LimitPassed, analysis
from codegen.machine import Machine
from codegen.options import GenOptions
from codegen.source.columns import placed
from codegen.source.pieces import WHOLE, RegionPieces, cut, maybe_large
from codegen.source.region_slice import Piece, RegionSlice
from codegen.source.regions import written
from codegen.targets.registry import host_names, target_named

if TYPE_CHECKING:
    from codegen.frontend.syntax.symbols import RegionSite
    from codegen.region import RegionOutcome
    from codegen.source_file import Opened
    from codegen.target.finish.links import Links

# Refusals after which smaller pieces may do.
_TOO_LARGE = frozenset({"timeout", "no-proof", "region-too-large", "no-parallelism", "out-of-memory"})
_FAULTS = frozenset({"internal-error", "worker-died"})


def run_region(source: Opened, s: RegionSlice, options: GenOptions, machine: Machine) -> RegionOutcome:
    """One region. Raises InputError only: a fault of the tool leaves the region as it is, with a report."""
    return answered(s, lambda: _run_region(source, s, options, machine))


def answered(s: RegionSlice, work: Callable[[], RegionOutcome]) -> RegionOutcome:
    """The outcome that `work` gives for a region, whatever goes wrong in it."""
    from codegen.region import failed, refused

    try:
        return work()
    except InputError:
        raise
    except Unsupported as error:
        return refused(s, error)
    except Died:
        return failed(s, InternalError("worker-died", "the process that analyses it ended without an answer", _loc(s)))
    except Exception as error:
        return failed(s, error)


def _loc(s: RegionSlice) -> Loc:
    return Loc(s.file, s.region.first_line, 1)


def _run_region(source: Opened, s: RegionSlice, options: GenOptions, machine: Machine) -> RegionOutcome:
    """One that is large is taken in pieces, as is one that asks too much as a whole. Of one that is not
    understood as a whole, the parts that are."""
    from codegen.region import refused
    from codegen.region_model import MODEL, too_much
    from codegen.scop.effort import part, reading

    # Other targets plan for several forms of a region, each with its own part.
    most = part(options.timeout, 1) * (1 if options.target in host_names() else 2)
    once = reading(s.text)
    if 3 * once > most:  # parsed to be cut, and parsed and gone through for one piece
        return refused(s, too_much(options, _loc(s)))
    parts = _planned(s, options)
    early = bool(parts) or s.text.count(";", *s.span) > WHOLE
    found = _cut(source, s, options) if early and 0 not in parts else RegionPieces((), 0)
    if parts and 0 not in parts and not found.pieces:
        found = _parts(source, s, options, False)
    _check_parts(s, parts, found, options)
    if found.pieces and (parts or found.statements > WHOLE):
        return _in_pieces(source, s, found.pieces, options, machine, None, most - once)
    whole = _run(source, s, written(source.text, s.region), options, machine, most)
    why = _refusal(whole)
    if not why or parts or why in _FAULTS:
        return whole
    most -= whole.work + once
    found = RegionPieces((), 0) if why not in _TOO_LARGE else found if early else _cut(source, s, options)
    if not found.pieces and most > part(options.timeout, MODEL):
        most -= part(options.timeout, MODEL)
        found = _parts(source, s, options, why in _TOO_LARGE)
    return _in_pieces(source, s, found.pieces, options, machine, whole, most)


def _planned(s: RegionSlice, options: GenOptions) -> frozenset[int]:
    """The parts of the region that a plan speaks of; 0 is all of it."""
    from codegen.plan_reader.hinted import with_own_plan

    own = with_own_plan(s.region, s.file, options)
    if own.plan_text is None:
        return frozenset()
    from codegen.plan_reader.parse import planned_parts

    return frozenset(part for (n, part), _ in planned_parts(own.plan_text, own.plan_name) if n == s.region.index)


def _check_parts(s: RegionSlice, parts: frozenset[int], found: RegionPieces, options: GenOptions) -> None:
    last = max(parts, default=0)
    if last > len(found.pieces):
        loc = Loc(options.plan_name if options.plan_text is not None else s.file, 1, 1)
        have = f"it has {len(found.pieces)}" if found.pieces else "it is taken as a whole"
        raise InputError("bad-plan", f"region {s.region.index} has no part {last}", loc, f"{have}; make the plan anew")


def _cut(source: Opened, s: RegionSlice, options: GenOptions) -> RegionPieces:
    """How the region can be cut; not at all where it is small, or cannot be read."""
    if not target_named(options.target).in_parts or s.region.found or not maybe_large(s):  # a nest stays one statement
        return RegionPieces((), 0)
    return _sought(s, options, lambda site: cut(s, site.statements, source.text))


def _parts(source: Opened, s: RegionSlice, options: GenOptions, proper: bool) -> RegionPieces:
    """The parts of the region that have a model; with `proper`, none is all of it. Nests that nobody marked have none:
    those inside them are tried by themselves."""
    if not target_named(options.target).in_parts or s.region.found or s.refusal is not None:
        return RegionPieces((), 0)

    def work(site: RegionSite) -> RegionPieces:
        from codegen.partial import parts
        from codegen.region_model import MODEL
        from codegen.scop.effort import Exhausted, at_most, part

        try:
            with at_most(part(options.timeout, MODEL)):
                return RegionPieces(parts(s, site, source.text, proper), 0)
        except Exhausted:
            return RegionPieces((), 0)

    return _sought(s, options, work)


def _sought(s: RegionSlice, options: GenOptions, search: Callable[[RegionSite], RegionPieces]) -> RegionPieces:
    """What a search in the region finds, in a child process; nothing where the region cannot be read."""

    def work() -> RegionPieces:
        from codegen.frontend.statements.overloads import with_overloads
        from codegen.frontend.syntax.symbols import find_site
        from codegen.source.parse import parse_with_gaps

        parsed, r = parse_with_gaps(s), s.region
        tree = with_overloads(parsed.ast)
        return search(find_site(tree, s.file, r.first_line, r.last_line, parsed.hidden, s.thread_private))

    try:
        return run_limited(work, analysis(options.timeout))
    except Exception:  # the analysis of the whole says it better
        return RegionPieces((), 0)


def _in_pieces(
    source: Opened, s: RegionSlice, pieces: Sequence[Piece], options: GenOptions, machine: Machine,
    whole: RegionOutcome | None, most: int,
) -> RegionOutcome:  # fmt: skip
    """All pieces one after the other, with the text between them as it is written; all of them together may take so
    much counted work, and those after that stay as they are. So do pieces that are refused or would come out as they
    are, but for those that a plan names; where no other is left, the region is what was made of its `whole`."""
    tried = list(_each_piece(source, s, pieces, options, machine, most))
    between, named = whole is not None and _refusal(whole) not in _TOO_LARGE, _planned(s, options)
    idle = ("", "sequential") if between or named else ("",)
    done = [(p, o) for p, o in tried if o.text is not None and (p.number in named or _done(o) not in idle)]
    if not done:
        return whole or next((o for _, o in tried if _refusal(o)), tried[0][1])
    from codegen.region import as_written

    texts: list[str] = []
    at, above, links = s.region.body_begin, 0, []
    for p, o in done:
        texts.append(_kept(as_written(source.text[at : p.begin].replace("\r\n", "\n"))))
        above = sum(t.count("\n") for t in texts) + p.bare
        links += [(line + above, stmt) for line, stmt in o.links]
        texts.append(f"{{\n{o.text}}}\n" if p.bare else o.text or "")
        if p.end < s.region.body_end:
            texts.append(_resumed(source, s, p.end, options))
        at = p.end
    texts.append(as_written(source.text[at : s.region.body_end].replace("\r\n", "\n")))
    joined = _joined([o for _, o in done], "".join(texts), tuple(links))
    refusals = [o for o in (whole, *(o for _, o in tried)) if o is not None and _refusal(o)]
    if not refusals:
        return joined
    return _partly(source, s, joined, done, refusals)


def _each_piece(
    source: Opened, s: RegionSlice, pieces: Sequence[Piece], options: GenOptions, machine: Machine, most: int
) -> Iterator[tuple[Piece, RegionOutcome]]:
    """What becomes of each piece. Those that begin after the bound are not looked at."""
    from codegen.region import refused
    from codegen.region_model import too_much
    from codegen.scop.effort import reading

    least, late = 2 * reading(s.text), refused(s, too_much(options, _loc(s)))
    for p in pieces:
        if most < least:
            yield p, late
            continue
        made = _run(source, _piece(s, p), source.text[p.begin : p.end], options, machine, most)
        most -= max(made.work, least)
        yield p, made


def _done(o: RegionOutcome) -> str:
    """What was done to a piece, in a few words."""
    return o.summary.partition(": ")[2]


def _kept(text: str) -> str:
    """Text before a piece, which begins a line."""
    return text if not text or text.endswith("\n") else text + "\n"


def _resumed(source: Opened, s: RegionSlice, at: int, options: GenOptions) -> str:
    """Tells the compiler where the user's text goes on."""
    if not options.line_directives and s.region.presumed is None:
        return ""
    from codegen.target.finish.lines import line_name

    number = s.region.presumed_line(source.text.count("\n", 0, at) + 1)
    return f'#line {number} "{line_name(source.name, options, s.region)}"\n'


def _partly(
    source: Opened, s: RegionSlice, joined: RegionOutcome, done: Sequence[tuple[Piece, RegionOutcome]],
    refusals: Sequence[RegionOutcome],
) -> RegionOutcome:  # fmt: skip
    """A region of which some statements stay as they are, and why."""
    lines = [source.text.count("\n", 0, p.begin) + 1 for p, _ in done]
    said = [d for o in refusals for d in o.diagnostics if d.id == "region-refused"]
    notes = tuple(dict.fromkeys(n for d in said for n in d.notes))
    where = ", ".join(map(str, lines))
    words = f"region {s.region.index} is transformed in part, from line{'s' * (len(lines) > 1)} {where} on"
    why = f"{words}; the rest stays as it is: {notes[0].message}"
    loc = Loc(s.file, s.region.first_line, 1)
    warning = Diagnostic(Severity.WARNING, "region-partly", why, loc, notes=notes)
    summary = "; ".join(f"line {n}: {_done(o)}" for n, (_, o) in zip(lines, done, strict=True))
    cases = tuple((_piece(s, p), o, source.text[p.begin : p.end]) for p, o in done)
    said_first = (warning, *joined.diagnostics)
    return replace(
        joined, summary=f"in part; {summary}", diagnostics=said_first, parts=len(done) + 1, cases=cases
    )


def _piece(s: RegionSlice, p: Piece) -> RegionSlice:
    return replace(s, piece=p, named=_piece(s.named, p) if s.named is not None else None)


def _joined(done: Sequence[RegionOutcome], text: str, links: Links) -> RegionOutcome:
    """What became of a region whose pieces became these."""
    words = (f"in {len(done)} part{'s' * (len(done) > 1)}", *dict.fromkeys(map(_done, done)))
    return replace(
        done[0],
        text=text,
        helpers=frozenset[str]().union(*(o.helpers for o in done)),
        kernels=done[0].kernels.union(*(o.kernels for o in done)),
        plan="".join(o.plan for o in done),
        summary="; ".join(w for w in words if w),
        diagnostics=tuple(dict.fromkeys(d for o in done for d in o.diagnostics)),
        links=links,
        lines=tuple(line for o in done for line in o.lines),
        names=frozenset[str]().union(*(o.names for o in done)),
        kept=tuple(n for n in done[0].kept if all(n in o.kept for o in done)),
        computed=tuple(dict.fromkeys(c for o in done for c in o.computed)),
        parts=len(done),
    )


def _refusal(outcome: RegionOutcome) -> str:
    """Why a region was left as it is; empty where it was not, or has nothing in it."""
    refused = (d for d in outcome.diagnostics if d.id == "region-refused")
    return next((note.id for d in refused for note in d.notes), "")


def _run(
    source: Opened, s: RegionSlice, text: str, options: GenOptions, machine: Machine, most: int
) -> RegionOutcome:
    """A region or a piece of it, which has this text, in a child process, with so much counted work.

    isl has crashed while it joined pieces of a relation; simpler plans ask less of it.
    """
    from codegen.region import AUTHORS, within_bound

    original = text.replace("\r\n", "\n")
    others = options.plan_text is None and target_named(options.target).simpler_plans
    tries = len(AUTHORS) if others else 1
    work = partial(within_bound, most, s, original, options, machine)
    limited = partial(run_again_after_crashes, work, tries, analysis(options.timeout))
    made = answered(s, lambda: _within_limits(s, limited))
    return replace(made, diagnostics=placed(made.diagnostics, s, source.text))


def _within_limits(s: RegionSlice, work: Callable[[], RegionOutcome]) -> RegionOutcome:
    """The outcome of work in a child. Raises Unsupported where it takes more than it may, but InputError where that
    depends on what else the machine does."""
    hint = "split the region, or simplify it"
    try:
        return work()
    except LimitPassed as error:
        if error.processor:  # isl's scheduler counts no work: for a few regions it has no end
            raise Unsupported("timeout", f"its analysis {error}", _loc(s), hint) from None
        if error.memory:
            raise Unsupported("out-of-memory", f"its analysis {error}", _loc(s), hint) from None
        raise InputError("limit-passed", f"the analysis of region {s.region.index} {error}", _loc(s), hint) from None
    except RecursionError:
        why = "its expressions are nested too deeply"
        raise Unsupported("nesting-too-deep", why, _loc(s), "split the expressions") from None
