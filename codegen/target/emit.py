"""From a proven C tree to the text that replaces the region, and the text above the user's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from codegen import __version__
from codegen.ast.ctree import CNode
from codegen.record import record
from codegen.resources import templates_dir
from codegen.scop.model import Scop
from codegen.target.cexpr import IntPrinter
from codegen.target.guard import guard_text
from codegen.target.pragmas import pragma_makers
from codegen.target.view import View, ViewBuilder

if TYPE_CHECKING:
    import jinja2


@record
class RegionText:
    """Replacement text of a region and the helpers it calls."""

    text: str
    helpers: frozenset[str]


@lru_cache(maxsize=1)
def _environment() -> "jinja2.Environment":
    import jinja2

    loader = jinja2.FileSystemLoader(str(templates_dir()))
    return jinja2.Environment(loader=loader, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)


def emit_region(
    scop: Scop, tree: CNode, target: str, original: str, indent: str, summary: str, alias_guard: str = ""
) -> RegionText:
    """The region's new text. `original` is its old body, kept as the fallback where a guard is needed."""
    builder = ViewBuilder(scop, pragma_makers(scop, target))
    views = builder.build(tree)
    ints = IntPrinter({p.name: p for p in scop.params}, {}, builder.helpers)
    guard = " && ".join(g for g in (guard_text(scop, ints), alias_guard) if g)
    text = (
        _environment()
        .get_template("region.c.j2")
        .render(
            views=views,
            indent=indent,
            number=scop.region,
            function=scop.function,
            summary=summary,
            guard=guard,
            reasons=", and ".join([*scop.guard.reasons, *(["arrays do not overlap"] if alias_guard else [])]),
            original=_deeper(original.rstrip("\n")),
            unused=_unused(scop, views, guard, original),
        )
    )
    if not text.endswith("\n"):
        text += "\n"
    return RegionText(text, frozenset(builder.helpers))


def _deeper(text: str) -> str:
    """The fallback's lines moved in by its new nesting; left alone where lines are continued."""
    if "\\\n" in text:
        return text
    return "\n".join("    " + x if x.strip() and not x.lstrip().startswith("#") else x for x in text.split("\n"))


def _unused(scop: Scop, views: Sequence[View], guard: str, original: str) -> list[str]:
    """Variables of the function that only the old text mentioned; compilers would call them unused."""
    if guard:
        return []
    words = set(re.findall(r"[A-Za-z_]\w*", " ".join(_texts(views))))
    bound = {a.base for a in scop.arrays.values() if a.inside}
    for text in _texts(views):
        found = re.match(r"long (\w+) =", text)
        if found:
            bound.add(found.group(1))
    return [n for n in scop.outside if n not in words or n in bound]


def _texts(views: Sequence[View]) -> list[str]:
    out: list[str] = []
    for v in views:
        out += [v.head, v.pragma, *_texts(v.body), *_texts(v.orelse)]
    return out


def emit_head(helpers: frozenset[str], source: str, options: str, banner: bool, line: bool, parallel_min: int) -> str:
    """Banner and helper definitions."""
    return (
        _environment()
        .get_template("file.c.j2")
        .render(
            helpers=sorted(helpers),
            source=source,
            options=options,
            banner=banner,
            line=line,
            version=__version__,
            parallel_min=parallel_min,
        )
    )
