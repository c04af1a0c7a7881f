"""Finds the regions that are others where the compiler obeys OpenMP than where it does not: by `#ifdef _OPENMP` in
them, or around the definitions and declarations that they use. Their results hold for one of the two; the source's own
text is for the other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from codegen.diagnostics import InputError
from codegen.options import CppOptions
from codegen.source.dialect.facts import predefined
from codegen.source.layout.lexis import IDENT
from codegen.source.macros.baked import Baked, read_or_empty
from codegen.source.macros.branches import directives_in, groups_of
from codegen.source.marks import with_marks
from codegen.source.preprocess import Preprocessed, display_name, preprocess
from codegen.source.region_slice import RegionSlice
from codegen.source.slice import slice_unit

_ASKS = frozenset(("if", "ifdef", "ifndef", "elif", "else", "defined", "_OPENMP"))
_TOKEN = re.compile(r'[\w$]+|"(?:[^"\\\n]|\\.)*"|[^\w\s]')


def with_threads(
    path: str, text: str, cpp: CppOptions, pre: Preprocessed, slices: Sequence[RegionSlice], found: Mapping[int, Baked]
) -> dict[int, Baked]:
    """What regions depend on, with the directive behind which those are that OpenMP makes others."""
    out = dict(found)
    known = predefined(pre.changes)
    if not known or not any("_OPENMP" in x for x in (text, *map(read_or_empty, pre.user_deps))):
        return out
    here = "_OPENMP" in known
    other = _others(path, text, replace(cpp, args=(*cpp.args, "-fno-openmp" if here else "-fopenmp")), slices)
    for s in slices:
        if other.get(s.region.index) != _tokens(s):
            threads = "#ifdef _OPENMP" if here else "#ifndef _OPENMP"
            out[s.region.index] = replace(out[s.region.index], threads=threads)
    return out


def _others(path: str, text: str, cpp: CppOptions, slices: Sequence[RegionSlice]) -> dict[int, list[str]]:
    """The regions as they are read with these options, by their numbers; none where they cannot be."""
    regions = tuple(s.region for s in slices)
    try:
        again = preprocess(path, text, cpp, instead=with_marks(text, regions, display_name(path)))
    except InputError:
        return {}
    return {s.region.index: _tokens(s) for s in slice_unit(again, path, regions)}


def _tokens(s: RegionSlice) -> list[str]:
    """What the parser sees of a region and what it uses, wherever it is."""
    return [t for line in s.text.split("\n") if not line.startswith("#") for t in _TOKEN.findall(line)]


def asks_for_openmp_alone(found: Baked) -> bool:
    """Whether the conditionals of a region ask for OpenMP and nothing else: then its result is for both answers."""
    asked = " ".join(directives_in(groups_of(found.text))) if found.threads else ""
    return bool(asked) and not set(IDENT.findall(asked)) - _ASKS
