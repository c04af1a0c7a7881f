"""Opens a source file: finds its regions, runs the preprocessor, cuts out what the parser needs; and records what
became of each region."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from dataclasses import field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from codegen.diagnostics import Diagnostic, InputError, Loc, Severity, Unsupported
from codegen.options import CppOptions, GenOptions
from codegen.record import record
from codegen.scop.dialect import Dialect
from codegen.source.dialect.facts import dialects, speaks_of_openmp
from codegen.source.directives import with_directives_inside
from codegen.source.language import language_of
from codegen.source.macro_tables import macro_names
from codegen.source.macros.baked import Baked, baked
from codegen.source.macros.inactive import with_inactive
from codegen.source.macros.named import with_names
from codegen.source.macros.openmp import asks_for_openmp_alone, with_threads
from codegen.source.macros.scope import scope_of
from codegen.source.marks import with_marks
from codegen.source.preprocess import Preprocessed, compiler_words, display_name, no_preprocess, preprocess
from codegen.source.region_slice import MacroScope, RegionSlice
from codegen.source.regions import Region, find_regions, first_conditional
from codegen.source.slice import slice_unit
from codegen.targets.registry import host_names, target_named

if TYPE_CHECKING:
    from codegen.auto import Row
    from codegen.region import RegionOutcome


SEVERAL = 3  # regions for which everything is loaded
LATER = (
    "codegen.hosts.region",
    *(f"codegen.transform.{x}" for x in ("balance", "block", "copy_reads", "diamond", "pipeline", "product")),
    *(f"codegen.strategy.{x}" for x in ("products.panels", "loops.time_tiles")),
    *(f"codegen.recognize.privatize.{x}" for x in ("lastprivate_copies", "lastprivate_proof")),
    "codegen.recognize.ownership.search",
    *(f"codegen.target.{x}" for x in ("vector.forms", "matvec.view", "product.blocked")),
    *(f"codegen.verify.{x}" for x in ("expansion", "finish", "loops.region", "lowered.check", "pragmas", "text.check")),
    "codegen.verify.choices.variants",
)


@record
class Opened:
    """A file with its regions found and cut out for the parser."""

    name: str
    text: str
    regions: tuple[Region, ...]
    slices: tuple[RegionSlice, ...]
    deps: tuple[str, ...]
    pre: Preprocessed = field(default_factory=lambda: Preprocessed(""))
    baked: Mapping[int, Baked] = field(default_factory=dict)  # by the numbers of regions


@record
class Performed:
    """A file with what became of its regions. With --auto `source` has those of nests that gain, and `nests` all."""

    source: Opened
    outcomes: tuple[RegionOutcome, ...]
    messages: tuple[Diagnostic, ...]
    nests: tuple[Row, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()  # when each stage was over


def open_source(path: str, text: str, options: GenOptions) -> Opened:
    """Find, preprocess and slice."""
    text = with_directives_inside(text)
    return open_regions(path, text, options, find_regions(text, display_name(path)))


def open_regions(path: str, text: str, options: GenOptions, regions: tuple[Region, ...]) -> Opened:
    """Preprocess, and slice for these regions."""
    name = display_name(path)
    if not regions:
        return Opened(name, text, (), (), ())
    target, language = target_named(options.target), language_of(path, options.cpp.language)
    if language.name not in target.languages:
        hint = f"use the target {' or '.join(reversed(host_names()))}"
        message = f"the target {target.name} takes no {language.title}, and this is a {language.title} file"
        raise InputError("bad-target", message, Loc(name), hint)
    cpp = as_compiled(options.cpp, path, target.compiled_with)
    instead, meanwhile = with_marks(text, regions, name), partial(load_all, len(regions))
    pre: Preprocessed
    if not cpp.enabled:
        pre = no_preprocess(path, text, language)
    else:
        try:
            pre = preprocess(path, text, cpp, meanwhile, instead)
        except InputError:
            if cpp is options.cpp:
                raise
            cpp = options.cpp  # it knows no OpenMP, or has no headers for it
            pre = preprocess(path, text, cpp, instead=instead)
    slices = with_inactive(slice_unit(pre, path, regions), pre, text)
    found = with_threads(path, text, cpp, pre, slices, baked(pre, text, slices, cpp))
    if target.keeps_macros:
        slices = with_names(path, text, cpp, pre, slices, found)
    macros = macro_names(pre.changes, text)
    spoken = dialects(pre, compiler_words(cpp, path), [s.line for s in slices])
    slices = tuple(_with_facts(s, macros, spoken[s.line], scope_of(s, found[s.region.index], text)) for s in slices)
    return target.opened(Opened(name, text, regions, slices, pre.deps, pre, found), options)


def as_compiled(cpp: CppOptions, path: str, flags: tuple[str, ...]) -> CppOptions:
    """The preprocessor with the flags that results are compiled with, unless the user's say something about OpenMP."""
    if not cpp.enabled or not flags or speaks_of_openmp(compiler_words(cpp, path)):
        return cpp
    return replace(cpp, args=(*cpp.args, *flags))


def _with_facts(s: RegionSlice, macros: frozenset[str], dialect: Dialect, around: MacroScope) -> RegionSlice:
    """With what is known of macros and of C, and a refusal where C is another language than the model's."""
    named = s.named and replace(s.named, macros=macros, dialect=dialect, around=around)
    if named and any(name in around.protected for name, _ in named.values):
        named = None
    if around.refusal is not None and s.refusal is None:
        return replace(s, macros=macros, dialect=dialect, named=None, refusal=around.refusal)
    flag = next((f for f in dialect.refused if not f.reals), None)
    if flag is not None and s.refusal is None:
        refusal = Unsupported("compiler-flag", flag.message, Loc(s.file, s.region.first_line, 1), flag.hint)
        return replace(s, macros=macros, dialect=dialect, named=None, refusal=refusal)
    return replace(s, macros=macros, dialect=dialect, around=around, named=named)


def load_all(regions: int = 1) -> None:
    """What all regions need, loaded before any child is forked, and while the preprocessor runs. For several regions
    what only some of them need, too, so that their children do not load it again and again.

    Nothing of it is ever garbage: without the collector's attempts to find some it takes a tenth less time.
    """
    if "codegen.region" in sys.modules:
        return
    collecting = gc.isenabled()
    gc.disable()
    for name in ("codegen.region", *(LATER if regions > SEVERAL else ())):
        import_module(name)
    from codegen.print.templates import environment

    environment()
    gc.freeze()
    if collecting:
        gc.enable()


def inactive(region: Region, name: str) -> Diagnostic:
    words = "the region is switched off by the preprocessor and is left as it is"
    return Diagnostic(Severity.WARNING, "inactive-region", words, Loc(name, region.first_line))


def no_region(name: str) -> Diagnostic:
    """A word to those who forgot to mark their loops, or marked those of a header."""
    hint = "put `#pragma scop` before a loop nest and `#pragma endscop` behind it; for one in a header, give the header"
    return Diagnostic(Severity.WARNING, "no-region", "there is no `#pragma scop` in this file", Loc(name, 1), hint)


def decided(source: Opened, region: Region, outcome: RegionOutcome) -> tuple[Diagnostic, ...]:
    """Only one branch was seen, and the result has no other."""
    line = first_conditional(source.text, region) if outcome.text is not None else None
    if line is None or (region.index in source.baked and asks_for_openmp_alone(source.baked[region.index])):
        return ()
    words = f"region {region.index} holds `#if`: the result is for the macros of this run, others stop the compiler"
    hint = "generate once for each configuration, or put `#if` around whole regions"
    return (Diagnostic(Severity.WARNING, "conditional-region", words, Loc(source.name, line), hint),)


def check_plan_regions(source: Opened, options: GenOptions) -> None:
    if options.plan_text is None:
        return
    from codegen.plan_reader.parse import planned_regions

    have = {r.index for r in source.regions}
    for number, loc in planned_regions(options.plan_text, options.plan_name):
        if number not in have:
            raise InputError(
                "bad-plan",
                f"{source.name} has no region {number}",
                loc,
                f"regions: {', '.join(map(str, sorted(have))) or 'none'}",
            )
