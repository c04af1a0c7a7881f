"""Chooses the plan of a region and returns the options with its text (`with_own_plan`): the command line's if it has a
block for the region, else that of a file beside the source (`#pragma tilewright plan(FILE)`; InputError if that has
none), else no plan."""

from __future__ import annotations

import os
from dataclasses import replace

from codegen.diagnostics import InputError, Loc
from codegen.options import GenOptions
from codegen.source.regions import Hint, Region


def plan_hint(hint: Hint) -> str | None:
    """The file that a hint names; None where it is another hint."""
    word, _, rest = hint.text.strip().partition("(")
    if word.strip() != "plan" or not rest.endswith(")"):
        return None
    return rest[:-1].strip().strip('"')


def plan_file(region: Region, source: str) -> tuple[str, Hint] | None:
    """The plan a region asks for, found from the folder of the source."""
    for hint in region.hints:
        named = plan_hint(hint)
        if named:
            return os.path.join(os.path.dirname(source), named), hint
    return None


def planned(region: Region, options: GenOptions) -> bool:
    """Does the command line's plan speak of this region?"""
    return options.plan_text is not None and _speaks_of(region, options.plan_text, options.plan_name)


def _speaks_of(region: Region, text: str, file: str) -> bool:
    from codegen.plan_reader.parse import planned_regions  # only with a plan: start-up time counts in a build

    return region.index in {number for number, _ in planned_regions(text, file)}


def with_own_plan(region: Region, source: str, options: GenOptions) -> GenOptions:
    """The options for a region; a plan of the command line comes before one of the source. Without a block for the
    region in either, there is no plan: the target's own author is asked."""
    if planned(region, options):
        return options
    found = plan_file(region, source)
    if found is None:
        return options if options.plan_text is None else replace(options, plan_text=None)
    from codegen.plan.files import read_hinted

    path, hint = found
    loc = Loc(source, hint.line, 1)
    if options.cpp.confined:
        raise InputError("not-here", "`#pragma tilewright plan(...)` names a file", loc, "give the plan's text itself")
    text = read_hinted(path, source, options.plan_paths, loc)
    if not _speaks_of(region, text, path):
        message = f"{path} has no plan for region {region.index}"
        raise InputError("bad-plan", message, loc, "they are numbered in order")
    return replace(options, plan_text=text, plan_name=path)
