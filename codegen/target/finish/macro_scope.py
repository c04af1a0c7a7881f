"""Keeps macros of the source apart from generated text: names that the region was read with are no macros in its result
(`#pragma push_macro`), but are in the text as written, which is a branch of it; directives of the region take effect
behind it, as in the source."""

from __future__ import annotations

import re

from codegen.diagnostics import Loc, Unsupported
from codegen.source.region_slice import MacroScope


def embedded(scope: MacroScope, original: str, file: str) -> str:
    """The text as written, for a place within generated text."""
    text = original if original.endswith("\n") or not original else original + "\n"
    if scope.line:
        text = f'#line {scope.line} "{file}"\n{text}'
    if scope.protected:
        text = _lines(scope, "pop") + text + _hidden(scope)
    return text


def enclosed(scope: MacroScope, text: str, loc: Loc) -> tuple[str, int]:
    """A region's whole text, and how many lines stand before what it was. Raises Unsupported where directives would
    take effect more than once."""
    before = _hidden(scope) if scope.protected else ""
    after = _lines(scope, "pop") if scope.protected else ""
    times = _times(scope, text)
    if times > 1:
        raise Unsupported("macro-effect", "its directives would take effect more than once", loc,
                          "define macros before the region")  # fmt: skip
    skeleton = "".join(f"{d}\n" for d in scope.directives) if not times else ""
    body = text if text.endswith("\n") or not (after or skeleton) else text + "\n"
    return before + body + after + skeleton, before.count("\n")


def _lines(scope: MacroScope, word: str) -> str:
    return "".join(f'#pragma {word}_macro("{name}")\n' for name in scope.protected)


def _hidden(scope: MacroScope) -> str:
    return _lines(scope, "push") + "".join(f"#undef {name}\n" for name in scope.protected)


def _times(scope: MacroScope, text: str) -> int:
    """How often the directives of the region are in its new text."""
    wanted = [" ".join(d.split("\n")[0].split()) for d in scope.directives]
    have = [" ".join(line.split()) for line in text.split("\n")]
    counts = [have.count(d) // wanted.count(d) for d in wanted if not re.match(r"#\s*(?:pragma|if|el|end)", d)]
    return max(counts, default=0)
