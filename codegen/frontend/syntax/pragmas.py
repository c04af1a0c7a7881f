"""Checks an OpenMP or OpenACC pragma inside a region: one that only shares out or orders iterations (`for`, `simd`,
`atomic`) is dropped with a remark, which is returned; any other raises Unsupported. None for pragmas of other kinds.

A program with such a directive means what it means without it: work is shared out, or threads take turns. Generated
code is proven against the source read in order, and has directives of its own.
"""

from __future__ import annotations

from pycparser import c_ast

from codegen.diagnostics import Diagnostic, Loc, Severity, Unsupported

# Directives of OpenMP and OpenACC that share out or order the iterations of what follows them.
_SHARING = {"for", "simd", "loop", "distribute", "atomic", "critical", "ordered"}
_WITH_LOOP = {"parallel", "teams", "target", "kernels", "gang", "worker", "vector"}


def check_pragma(node: c_ast.Pragma, loc: Loc) -> Diagnostic | None:
    """A remark about a directive that is dropped, None for other pragmas. Raises Unsupported for one that cannot be."""
    words = (node.string or "").replace("(", " (").split()
    if words[:1] not in (["omp"], ["acc"]):
        return None
    directive = _directive(words[1:])
    last = directive[-1] if directive else ""
    if last in _SHARING and all(w in _SHARING | _WITH_LOOP for w in directive):
        text = f"`#pragma {' '.join([words[0], *directive])}` is dropped: generated code has directives of its own"
        return Diagnostic(Severity.REMARK, "own-directives", text, loc, kind="analysis")
    raise Unsupported(
        "foreign-pragma",
        f"`#pragma {node.string}` may mean more than how a loop is shared out",
        loc,
        "remove it: the tool makes loops parallel itself; keep code that each thread runs out of the region",
    )


def _directive(words: list[str]) -> list[str]:
    """The words before the first clause."""
    out: list[str] = []
    for word in words:
        if word not in _SHARING | _WITH_LOOP or (out and out[-1] in ("atomic", "critical", "ordered")):
            break
        out.append(word)
    return out if out else words[:1]
