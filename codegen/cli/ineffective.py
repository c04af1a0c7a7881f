"""Warnings about words of the command line that are accepted and have no effect: unknown names behind -W, options that
the target ignores, and options that a later word overrides. Returns diagnostics."""
from __future__ import annotations

import argparse
from collections.abc import Iterator

from codegen.diagnostics import Diagnostic, Loc, Severity
from codegen.options import GenOptions
from codegen.patterns import pattern
from codegen.targets.registry import target_named, target_names

# Which of gcc's and clang's own warnings there are is told by their first words, for CFLAGS that are given as a whole.
_COMPILERS = pattern(
    r"(?:alloc|alloca|array|attributes|bad|cast|char|clobbered|comment|conversion|dangling|date|"
    r"declaration|deprecated|disabled|discarded|documentation|double|duplicated|empty|enum|everything|"
    r"extra|fatal|float|format|frame|gnu|ignored|implicit|incompatible|init|inline|int|logical|long|"
    r"main|maybe|misleading|missing|nested|nonnull|null|old|overflow|overlength|packed|padded|"
    r"parentheses|pedantic|pointer|psabi|redundant|restrict|return|sequence|shadow|shift|sign|sizeof|"
    r"stack|strict|string|stringop|suggest|switch|system|trampolines|type|undef|uninitialized|"
    r"unreachable|unused|variadic|vla|void|volatile|write|zero)(?:[-=]|$)"
)

# What every target looks at, unless it says that it does not: no reason to load all others.
_COMMON = frozenset(("target", "machine", "isa", "require_isa", "reassociate", "context", "fusion", "fp_contract",
                     "auto", "timeout", "prefix", "check_alias", "assume_no_alias", "keep_original",
                     "dispatch"))  # fmt: skip


def ineffective(arguments: argparse.Namespace) -> tuple[Diagnostic, ...]:
    """Warnings on unknown words behind -W, on options that the target does not look at, and on those given anew."""
    return (*_unknown_warnings(vars(arguments).get("warnings", ())), *_other_targets(arguments),
            *_overridden(arguments))


def _unknown_warnings(words: list[str]) -> Iterator[Diagnostic]:
    if not words:
        return
    import difflib

    from codegen.refusals import TABLE, WARNING  # a large table that few command lines need

    ids = [e.id for e in TABLE if e.family == WARNING]
    for word in words:
        name = word.removeprefix("no-").removeprefix("error=")
        if name in (*ids, "all", "error") or _COMPILERS.match(name):
            continue
        close = difflib.get_close_matches(name, ids, n=1)
        hint = f"did you mean `-W{word.removesuffix(name)}{close[0]}`?" if close else "`tilewright explain` lists all"
        yield _warning("unknown-warning", f"`-W{word}` has no effect: there is no warning `{name}`", hint)


def _other_targets(arguments: argparse.Namespace) -> Iterator[Diagnostic]:
    values = vars(arguments)
    target, given = values.get("target"), values.get("given", {})
    if target is None:
        return
    asked = [n for n in GenOptions.__annotations__ if n in given or values.get(n) is True]
    ignored = target_named(target).ignores
    for name in (n for n in asked if n not in _COMMON or n in ignored):
        having = [t for t in target_names() if name in target_named(t).options]
        able = having or [t for t in target_names() if name not in target_named(t).ignores]
        if target not in able:
            hint = f"it is for --target {', '.join(able)}"
            yield _warning("no-effect", f"`--{name.replace('_', '-')}` has no effect with --target {target}", hint)


def _overridden(arguments: argparse.Namespace) -> Iterator[Diagnostic]:
    """Build rules say --line, and the flags that a user adds to theirs may say otherwise."""
    for flag, before, after in vars(arguments).get("overridden", ()):
        if flag != "--line":
            hint = "of an option that is given twice the last word counts; leave one of them out"
            yield _warning("no-effect", f"`{flag} {before}` has no effect: `{flag} {after}` comes after it", hint)


def _warning(id: str, message: str, hint: str) -> Diagnostic:
    return Diagnostic(Severity.WARNING, id, message, Loc("tilewright"), hint)
