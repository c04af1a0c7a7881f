"""Tests of versions of functions (`--dispatch`): functions that stand for the user's own, each with a region, have the
same versions, and the program that runs them says which."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.checking.harness.emit import cases_text
from codegen.checking.harness.interface import Harness
from codegen.target.dispatch.file import MARK
from codegen.versions import Versions

_ARGUMENTS = ("tw_op", "tw_in", "tw_args", "tw_io")  # of the functions that `cases_text` prints
# How many of the versions the processor has, for the runtime.
_FOUND = """\
#ifdef TW_DISPATCH
int tw_levels_found(void)
{
  return tw_level();
}
#endif
"""


def with_cases(
    text: str, support: str, cases: Sequence[tuple[Harness, str]], versions: Versions | None
) -> tuple[str, str]:
    """A file with a function for each region below it, and what stands above it; with versions of those whose own
    function has them."""
    numbers = [h.number for h, _ in cases if versions and versions.has(h.site.function.decl.name)]
    body = f"{text}\n{cases_text(cases, numbers, MARK)}"
    if versions is None or not numbers:
        return body, support
    body, support = versions.of_tests(body, support, [f"tw_case_{n}" for n in numbers], _ARGUMENTS)
    return f"{body}\n{_FOUND}", support


def versions_text(versions: Versions, found: int) -> str:
    """Which versions were run, and which could not be; `found` is what the program tells."""
    if not versions.functions:
        return ""
    there = max(0, found)
    text = f"versions that were run: {', '.join(('base', *versions.levels[:there]))}"
    missing = ", ".join(versions.levels[there:])
    why = "this processor has no such instructions" if found >= 0 else "none are compiled here"
    return f"{text}; not run: {missing} ({why})" if missing else text
