"""Checks the OpenMP and OpenACC constructs around a region (`check_constructs`): a warning where threads of a team run
it, which is then transformed for one thread; Unsupported in code for an accelerator, behind a directive right in front
of the region, and for compute cores (`cores`) in any construct.

Inside `omp parallel`, `omp for`, `omp task` and the like, the region is run by single threads of a team, once or by
each of them. What it does there stays right as long as it starts no threads of its own, which would be too many. On a
device it cannot run, and a directive right in front of it is about a loop that will no longer be there.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycparser import c_ast

from codegen.diagnostics import Diagnostic, Loc, Severity, Unsupported
from codegen.frontend.syntax.symbols import RegionSite, location
from codegen.record import record

# Directives that stand for themselves; no statement belongs to them.
_ALONE = frozenset({"barrier", "taskwait", "taskyield", "flush", "cancel", "cancellation", "declare", "threadprivate",
                    "requires", "scan", "depobj", "error", "nothing", "interop", "allocate", "end", "begin",
                    "update", "wait", "enter", "exit", "init", "shutdown", "set", "cache", "routine"})  # fmt: skip
_ON_HOST = frozenset({"data", "host_data"})  # what is inside still runs on the processor


@record
class Construct:
    """A directive: `omp` or `acc`, its words up to the first clause, and where it stands."""

    kind: str
    words: tuple[str, ...]
    loc: Loc

    @property
    def text(self) -> str:
        return f"#pragma {self.kind} {' '.join(self.words)}"

    @property
    def shares(self) -> bool:
        """Does it share out a loop among a team that is there already?"""
        starts = {"parallel", "teams", "target", "distribute"}
        return self.kind == "omp" and bool({"for", "loop"} & set(self.words)) and not starts & set(self.words)

    @property
    def device(self) -> bool:
        """Is what belongs to it for an accelerator?"""
        named = set(self.words)
        if self.kind == "acc":
            return not named & _ON_HOST
        return "target" in named and "data" not in named


def constructs(site: RegionSite) -> tuple[Construct, ...]:
    """Those whose statement holds the region, outermost first."""
    return tuple(c for c in map(construct_of, site.around) if c is not None)


def check_constructs(site: RegionSite, cores: bool) -> Diagnostic | None:
    """A warning about a region that several threads run; None where there is no construct around it. Raises Unsupported
    where it cannot be transformed; with `cores` that is so in any construct."""
    found = constructs(site)
    front = next((c for c in map(construct_of, site.front) if c is not None), None)
    if front is not None:
        raise Unsupported(
            "foreign-pragma",
            f"`{front.text}` is about the region's first loop, which is changed",
            front.loc,
            "remove it: the tool makes loops parallel itself",
        )
    device = next((c for c in found if c.device), None)
    if device is not None:
        raise Unsupported(
            "foreign-pragma",
            f"the region is part of what `{device.text}` hands to a device",
            device.loc,
            "mark regions outside of it",
        )
    if found and cores:
        raise Unsupported(
            "foreign-pragma",
            f"the region is inside `{found[-1].text}`, and only one thread can start the compute cores",
            found[-1].loc,
            "mark regions outside of it",
        )
    return _warning(site, found[-1]) if found else None


def _warning(site: RegionSite, inner: Construct) -> Diagnostic:
    every = inner.words == ("parallel",)
    who = "each thread of the team runs the whole region" if every else "single threads run the region"
    return Diagnostic(
        Severity.WARNING,
        "inside-construct",
        f"inside `{inner.text}` {who}; it is transformed for one thread",
        site.loc,
        "mark the region outside of it and remove the directive, and the tool shares the work out itself",
    )


def construct_of(node: c_ast.Pragma) -> Construct | None:
    """What a pragma of OpenMP or OpenACC begins; None for others, and for those that stand for themselves."""
    words = (node.string or "").replace("(", " ( ").split()
    if words[:1] not in (["omp"], ["acc"]) or len(words) < 2 or set(words[1:3]) & _ALONE:
        return None
    names: Sequence[str] = words[1:]
    stop = next((k for k, w in enumerate(names) if w not in _NAMES), len(names))
    return Construct(words[0], tuple(names[:stop]) or (names[0],), location(node, Loc("")))


# The words that directives are made of; the first other one begins the clauses.
_NAMES = frozenset({"parallel", "for", "simd", "sections", "section", "single", "master", "masked", "critical",
                    "ordered", "task", "taskloop", "taskgroup", "target", "teams", "distribute", "loop", "data",
                    "scope", "kernels", "serial", "host_data", "atomic", "workshare", "dispatch"})  # fmt: skip

__all__ = ["Construct", "check_constructs", "construct_of", "constructs"]
