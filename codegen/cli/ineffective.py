"""Words of a command line that are right by themselves and change nothing."""
from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterator

from codegen.diagnostics import Diagnostic, Loc, Severity
from codegen.options import GenOptions
from codegen.targets.registry import target_named, target_names


def ineffective(arguments: argparse.Namespace) -> tuple[Diagnostic, ...]:
    """Warnings on unknown words behind -W, and on options that the target does not look at."""
    return (*_unknown_warnings(vars(arguments).get("warnings", ())), *_other_targets(arguments))


def _unknown_warnings(words: list[str]) -> Iterator[Diagnostic]:
    if not words:
        return
    from codegen.refusals import TABLE, WARNING  # a large table that few command lines need

    ids = [e.id for e in TABLE if e.family == WARNING]
    for word in words:
        name = word.removeprefix("no-").removeprefix("error=")
        if name in (*ids, "all", "error"):
            continue
        close = difflib.get_close_matches(name, ids, n=1)
        hint = f"did you mean `-W{word.removesuffix(name)}{close[0]}`?" if close else "`tilewright explain` lists all"
        yield _warning("unknown-warning", f"`-W{word}` has no effect: there is no warning `{name}`", hint)


def _other_targets(arguments: argparse.Namespace) -> Iterator[Diagnostic]:
    values, defaults = vars(arguments), GenOptions()
    target = values.get("target")
    given = {n for n, default in vars(defaults).items() if values.get(n) not in (None, [], default)}
    if target is None or given <= set(target_named(target).options):
        return  # without a look at all other targets, which would load them
    of_targets = {o: [t for t in target_names() if o in target_named(t).options]
                  for n in target_names() for o in target_named(n).options}  # fmt: skip
    for name, targets in of_targets.items():
        if name in given and target not in targets:
            hint = f"it is for --target {', '.join(targets)}"
            yield _warning("no-effect", f"`--{name}` has no effect with --target {target}", hint)


def _warning(id: str, message: str, hint: str) -> Diagnostic:
    return Diagnostic(Severity.WARNING, id, message, Loc("tilewright"), hint)
