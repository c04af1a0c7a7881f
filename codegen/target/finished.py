"""Finishes the text that stands in the file in place of a region: merges the texts for all machines, respells it for
C++, makes macros of repeated parts, exchanges names, and lays lines out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codegen.record import record
from codegen.source.language import Language
from codegen.target.emit import AnyKernel, RegionText, Surroundings, deeper
from codegen.target.finish.cxx import in_language
from codegen.target.finish.extremes import flattened, used
from codegen.target.finish.index_type import INDEX, index_typed
from codegen.target.finish.links import Links, spread
from codegen.target.finish.outline import outlined
from codegen.target.finish.rows import laid_out

if TYPE_CHECKING:
    from codegen.target.portable import Portable


@record
class FinishedText:
    """Replacement text of a region, which of its lines belong to a statement, and the helpers and kernels it calls.

    names     of macros, and of all generated code where the user chose how they begin
    portable  kernels that it calls in place of others, chosen by the compiler's macros
    merged    the text for all machines, with macros for what depends on that, as it was before it was laid out
    """

    text: str
    links: Links
    names: frozenset[str]
    helpers: frozenset[str]
    called: frozenset[AnyKernel]
    portable: Portable | None = None
    merged: str = ""


def finished(made: RegionText, around: Surroundings, others: Sequence[tuple[str, RegionText]] = ()) -> FinishedText:
    """What stands in the file. `others` are texts for all machines, each with the condition of the preprocessor under
    which it counts, "" for the last."""
    names, text, links, parts, portable = around.names, made.plain, made.links, made.parts, None
    if others:
        from codegen.target.portable import for_all

        found = for_all(made, others)
        if found is not None:
            text, links, parts, portable = found.text, found.links, found.parts, found.portable
    merged = text if portable is not None else ""
    text = flattened(text)
    helpers = made.helpers | used(text) | ({INDEX} if INDEX in index_typed(text) else set())
    users = [_flush(deeper(around.original.rstrip("\n")))]
    text, links, macros = outlined(_flush(respelled(made.kept, text, around.language)), users, links, parts)
    new = names.new(text) | {names.word(x) for x in macros}
    text, firsts = laid_out(names.of(text), users)
    text = text if text.endswith("\n") else text + "\n"
    called = called_kernels(made, portable)
    return FinishedText(text, spread(links, firsts), new, helpers, called, portable, merged)


def called_kernels(made: RegionText, portable: Portable | None) -> frozenset[AnyKernel]:
    """The kernels that the text calls."""
    if portable is None:
        return made.kernels
    isa, bits, _ = portable.variants[-1].kernels[0]
    return frozenset((*portable.shared, (isa, bits, portable)))


def respelled(original: str, text: str, language: Language) -> str:
    """The text as its language has it, and with the type of indices, but for what the user wrote."""
    parts = text.split(original) if original.strip() else [text]
    return original.join(in_language(index_typed(part), language) for part in parts)


def _flush(text: str) -> str:
    """Directives inside kernels were indented with the rest."""
    return re.sub(r"^ +#", "#", text, flags=re.M)
