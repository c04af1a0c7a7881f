"""Prints a region for several MPI ranks (`emit_ranks`): the shared phases behind a guard (assumptions of the model, no
overlap, more than one rank, worth it), and the given text for one rank in the else branch. The printed text is read
back and proven; raises Unproven where that fails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from codegen.hosts.variants import read_back
from codegen.mpi.messages import sent_when
from codegen.mpi.phases import Cut, Unproven
from codegen.mpi.program import communicator
from codegen.mpi.text.cost import pays_test
from codegen.mpi.text.phase_text import check_text
from codegen.mpi.text.views import RankViews
from codegen.print.templates import environment
from codegen.record import record
from codegen.region import indent
from codegen.target.emit import (
    SUPPORT,
    AnyKernel,
    Kernel,
    RegionText,
    Surroundings,
    all_views,
    deeper,
    exact_calls,
)
from codegen.target.finish.index_type import index_typed
from codegen.target.finish.names import NameSpelling, names_for
from codegen.target.finished import FinishedText, finished
from codegen.target.guards.computed_parameters import computed_texts, needed
from codegen.target.guards.guard import all_of, guard_text
from codegen.target.region_views import with_variant
from codegen.target.text.cexpr import IntPrinter
from codegen.target.text.pieces import View
from codegen.targets.base import RegionJob
from codegen.verify.choices.variants import wrong_variants
from codegen.verify.finish import wrong_finish
from codegen.verify.guards import check_ahead_of
from codegen.verify.overlap.check import overlap_test


@record
class RanksText:
    """The text, and what it calls."""

    text: str
    helpers: frozenset[str]
    kernels: frozenset[AnyKernel]
    names: frozenset[str]
    summary: str
    remark: str
    cut: Cut


def emit_ranks(job: RegionJob, ranks: RankViews, views: tuple[View, ...], one: str) -> RanksText:
    """`one` is the text for one rank, which also runs where the guard does not hold."""
    scop, s = job.model.program.scop, job.slice
    helpers = ranks.helpers
    ints = IntPrinter({p.name: p for p in scop.params}, {}, helpers)
    alias = overlap_test(scop, job.options.assume_no_alias, job.options.check_alias)
    comm = communicator(s.region, s.file, job.options)
    guard = _guard(ranks, ints, alias.text, f"tw_ranks_of({comm.text})" if comm else "tw_ranks()")
    summary = f"ranks over {', '.join(dict.fromkeys(name for q in ranks.cut.shared for name in q.names(scop)))}"
    other = deeper(_only_alone(job, ranks, one).rstrip("\n"))
    values: dict[str, Any] = {
        "indent": indent(job.original, s.region.indent),
        "number": scop.region,
        "function": scop.function,
        "summary": summary,
        "guard": guard,
        "room": None,
        "reasons": "",
        "original": MARK,
        "marked": False,
        "unused": [],
    }
    template = environment().get_template("region.c.j2")
    computed = computed_texts(scop, ints)

    def made(views: tuple[View, ...], kernels: Sequence[Iterable[Kernel]]) -> RegionText:
        """The text of some views, proven."""
        text = template.render(values, views=views, ahead=())
        ahead = needed(computed, text)
        text = template.render(values, views=views, ahead=ahead) if ahead else text
        used = frozenset(helpers).union(alias.helpers, *(SUPPORT[w] for w in _WORD.findall(text) if w in SUPPORT))
        check_text(text, guard, ahead, views)
        found = _proven_text(text, views, used, frozenset(k for x in kernels for k in x))
        check_ahead_of(scop, text, guard_text(scop, ints), computed)
        return found

    base = made(views, [b.kernels for b in ranks.builders])
    others = [
        (v.when, made(with_variant(views, k), [b.variant_kernels[k] for b in ranks.builders]))
        for k, v in enumerate(ranks.variants)
    ]
    names = names_for(job.options.prefix, (s.text[slice(*s.span)], job.original))
    done = finished(base, Surroundings(MARK, values["indent"], summary, alias.text, names), others)
    _prove_finish(base, done, [x for _, x in others], names)
    text = _own_macros(done.text, other).replace(MARK, other)
    return RanksText(text, done.helpers, done.called, done.names, summary, _remark(ranks), ranks.cut)


def _guard(ranks: RankViews, ints: IntPrinter, apart: str, several: str) -> str:
    """When ranks share the region; `several` is how many there are."""
    moves = [x for x, _ in ranks.found]
    pays = "" if any(b.arrays for b in ranks.blocks) else pays_test(ranks.program, ranks.cut, moves, ints)
    turns = "tw_turns_pay()" if pays and any(q.ordered for q in ranks.cut.shared) else ""
    return all_of((guard_text(ranks.scop, ints), apart, f"{several} > 1", turns, pays))


def _prove_finish(base: RegionText, done: FinishedText, others: Sequence[RegionText], names: NameSpelling) -> None:
    """Raises Unproven unless the text for the file is, for each machine, the one that was proven."""
    problem = ""
    if done.portable is not None:
        problem = wrong_variants(done.merged, done.portable.variants, [x.plain for x in others])
    problem = problem or wrong_finish(index_typed(done.merged or base.plain), done.text, names)
    if problem:
        raise Unproven(f"what stands in the file is not what was proven: {problem}")


def _own_macros(text: str, other: str) -> str:
    """The text with names for its macros that the text inside it does not define, too."""
    for name in set(_MACRO.findall(text)) & set(_MACRO.findall(other)):
        text = re.sub(rf"\b{name}\b", f"{name}_SHARED", text)
    return text


_MACRO = re.compile(r"^#define (\w+)\(", re.M)
_WORD = re.compile(r"\b(?:tw|TW)_\w+")
MARK = "/* one rank */"


def _only_alone(job: RegionJob, ranks: RankViews, one: str) -> str:
    """The text for one rank; where ranks hold blocks of arrays, several may not come to it."""
    if not any(b.arrays for b in ranks.blocks):
        return one
    name = job.model.program.scop.function
    why = f"a region of {name} cannot work on blocks of arrays: its arrays overlap, or its sizes are too large"
    return f'{job.slice.region.indent}tw_whole("{why}");\n{one}'


def _remark(ranks: RankViews) -> str:
    """Which loops are shared out, and what moves."""
    shared = [
        f"{' and '.join(q.names(ranks.scop))} around {', '.join(q.stmts)}"
        + (f" in panels of {q.along(ranks.scop)}" if q.panels is not None else "")
        for q in ranks.cut.shared
    ]
    whole = [s for q in ranks.cut.phases if q.shared is None for s in q.stmts]
    words = f"ranks share {'; '.join(shared)}"
    words += ", one after the other" if any(q.ordered for q in ranks.cut.shared) else ""
    words += f"; every rank runs {', '.join(whole)}" if whole else ""
    for q in (q for q in ranks.cut.shared if q.reduced):
        names = ", ".join(ranks.scop.arrays[a].base for _, a in q.reduced)
        words += f"; what {', '.join(q.stmts)} gather{'s' if len(q.stmts) == 1 else ''} in {names} they join"
    for x, parts in ranks.found:
        arrays = ", ".join(dict.fromkeys(t.array for t in parts))
        words += f"; {sent_when(ranks.cut, x)} they send parts of {arrays}"
    return words


def _proven_text(
    text: str, views: tuple[View, ...], helpers: frozenset[str], kernels: frozenset[Kernel]
) -> RegionText:
    """Products of phases are read back, as those of regions are."""
    inside = tuple(all_views(views))
    products = tuple(v.product for v in inside if v.product is not None)
    matvecs = tuple(v.matvec for v in inside if v.matvec is not None)
    nests = tuple(x for v in inside for x in exact_calls(v))
    made = RegionText(text, helpers, kernels, products=products, matvecs=matvecs, nests=nests)
    problem = read_back(made)
    if problem:
        raise Unproven(f"what was printed for ranks could not be proven: {problem}")
    return made
