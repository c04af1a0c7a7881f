"""Merges the texts of a region, printed for several instruction sets, and its kernels into one: words that differ
become macros that the preprocessor chooses. Products with kernels of their own on the first machine stand there twice,
for it and for the others. Gives the base text alone where more differs.

A region is printed for every machine, and every one of these texts is proven. Where they differ in numbers and names of
functions alone, the text with macros in their place is each of them again, once they are replaced: `merged` puts in
nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from codegen.isa.common import is_common
from codegen.isa.load import load as load_isa
from codegen.isa.model import Isa
from codegen.record import record
from codegen.target.finish.links import Links
from codegen.target.product.microkernel import common_kernel, numbers, stem
from codegen.target.product.tiles import micro_kernel_of

if TYPE_CHECKING:
    from codegen.target.emit import Kernel, RegionText
    from codegen.target.product.view import ProductView

_WORD = re.compile(r"\w+|\W+")
_PRODUCT = re.compile(r"\s*const long tw_rows = .*, tw_columns = .*, tw_depth = ")


@record
class TextVariant:
    """What a region's text is for one machine: the preprocessor's condition, "" for all others, the macros with their
    values, and the kernels it calls."""

    when: str
    macros: tuple[tuple[str, str], ...]
    kernels: tuple[Kernel, ...]


@record
class Portable:
    """A region's kernels for several machines, the one for all others last, and those that are the same for all."""

    variants: tuple[TextVariant, ...]
    shared: frozenset[Kernel] = frozenset()


@record
class MergedText:
    """A region's text for several machines, its links and longer parts as in `RegionText`, and its kernels."""

    text: str
    links: Links
    parts: frozenset[int]
    portable: Portable


def merged(texts: Sequence[str], known: Sequence[Mapping[str, str]]) -> tuple[str, tuple[dict[str, str], ...]] | None:
    """One text with macros where the texts differ, and the macros' values for each; None where it takes more than that.
    `known` names the words of each text by what they are."""
    lines = [text.split("\n") for text in texts]
    if len({len(x) for x in lines}) != 1 or len({tuple(x) for x in known}) != 1:
        return None
    names: dict[tuple[str, ...], str] = {}
    for name in known[0]:
        names.setdefault(tuple(x[name] for x in known), name)
    new: list[str] = []
    for number, each in enumerate(zip(*lines, strict=True)):
        found = _merged_line(each, names)
        if found is None:
            return None
        new += ["\n", *found] if number else found
    words = frozenset(new)
    used = [name for name in known[0] if name in words]
    tables = tuple({name: x[name] for name in used} for x in known)
    again = ("".join(map(t.get, new, new)) for t in tables)
    if "" in words or any(x != text for x, text in zip(again, texts, strict=True)):
        return None
    return "".join(new), tables


def _merged_line(lines: Sequence[str], names: Mapping[tuple[str, ...], str]) -> list[str] | None:
    """The words of a line with those that differ by their names, "" where there is none. Most lines are all alike."""
    if lines.count(lines[0]) == len(lines):
        return _WORD.findall(lines[0])
    words = [_WORD.findall(line) for line in lines]
    if len({len(x) for x in words}) != 1:
        return None
    return [each[0] if each.count(each[0]) == len(each) else names.get(each, "") for each in zip(*words, strict=True)]


def for_all(base: RegionText, others: Sequence[tuple[str, RegionText]]) -> MergedText | None:
    """A region's text for all machines, the last of which is the one for all others, and its kernels. None where texts
    differ in more than words, and in more than products that the first machine has as its own."""
    (when, first), last = others[0], others[-1][1]
    apart = [k for k, v in enumerate(first.products) if not is_common(_isa(v))]
    plains, products = [x.plain for _, x in others], [x.products for _, x in others]
    own, common = (_product_blocks(x.plain) if apart else [] for x in (first, last))
    if apart:
        if len(own) != len(first.products) or len(common) != len(last.products):
            return None
        for k in reversed(apart):
            plains[0] = _with_lines(plains[0], own[k], _lines(last.plain, common[k]))
        products[0] = tuple(last.products[k] if k in apart else v for k, v in enumerate(first.products))
    same = len(set(map(len, products))) == 1 and len({tuple(map(_kernel_text, x)) for x in products}) == 1
    found = merged(plains, [words_of(x) for x in products]) if same else None
    if found is None:
        return None
    text, tables = found
    shared = frozenset.intersection(*(x.kernels for _, x in others))
    variants = tuple(_variant(w, x, shared, used) for (w, x), used in zip(others, tables, strict=True))
    made = MergedText(text, base.links, frozenset(base.parts), Portable(variants, shared))
    for k in reversed(apart):
        made = _twice(made, when, first, own[k], common[k])
    return made


def _product_blocks(text: str) -> list[range]:
    """The lines of each product, with the comment above it."""
    lines, found = text.split("\n"), list[range]()
    for n, line in enumerate(lines):
        if _PRODUCT.match(line):
            opened = lines[n - 1]
            top = next(k for k in range(n - 1, -1, -1) if lines[k].lstrip().startswith("/*"))
            found.append(range(top, lines.index(opened.replace("{", "}"), n) + 1))
    return found


def _lines(text: str, block: range) -> list[str]:
    return text.split("\n")[block.start : block.stop]


def _with_lines(text: str, block: range, new: Sequence[str]) -> str:
    lines = text.split("\n")
    return "\n".join([*lines[: block.start], *new, *lines[block.stop :]])


def _twice(made: MergedText, when: str, first: RegionText, own: range, common: range) -> MergedText:
    """The text with a block as the first machine has it, and as all others have it."""
    new = [f"#if {when}", *_lines(first.plain, own), "#else", *_lines(made.text, common), "#endif"]
    down, past = len(own) + 2, len(own) + 3  # lines by which those of the block are moved, and those behind it

    def moved(n: int) -> int:
        return n + (past if n >= common.stop else down if n >= common.start else 0)

    links = [(moved(n), s) for n, s in made.links]
    links += [(n - own.start + common.start + 1, s) for n, s in first.links if n in own]
    parts = {moved(n) for n in made.parts} | {n - own.start + common.start + 1 for n in first.parts if n in own}
    ends = {common.start, common.start + len(own) + 1, common.stop + past - 1}
    text = _with_lines(made.text, common, new)
    return MergedText(text, tuple(sorted(links)), frozenset(parts | ends), made.portable)


def _isa(v: ProductView) -> Isa:
    return load_isa(v.how.isa, v.how.bits)


def _kernel_text(v: ProductView) -> str:
    return common_kernel(_isa(v), micro_kernel_of(v.wanted.what, v.how))


def _variant(when: str, x: RegionText, shared: frozenset[Kernel], used: Mapping[str, str]) -> TextVariant:
    """The macros that the region's text uses, and those of its kernels, as far as they are common ones."""
    common = [v for v in x.products if is_common(_isa(v))]
    words = words_of(common)
    macros = {name: value for name, value in used.items() if name in words}
    for v in common:
        kernel = micro_kernel_of(v.wanted.what, v.how)
        macros.update((n, str(k)) for n, k in numbers(_isa(v), kernel).items())
    return TextVariant(when, tuple(macros.items()), tuple(sorted(x.kernels - shared, key=repr)))


def together(portable: Iterable[Portable]) -> tuple[TextVariant, ...]:
    """The variants of several regions as those of one. A macro's name says what is computed, and its value depends on
    nothing else: another value would change a region that is proven already."""
    found: dict[str, tuple[dict[str, str], dict[Kernel, None]]] = {}
    for p in sorted(portable, key=repr):
        for v in p.variants:
            macros, kernels = found.setdefault(v.when, ({}, {}))
            for name, value in v.macros:
                if macros.setdefault(name, value) != value:
                    raise AssertionError(f"{name} stands for {macros[name]} and for {value}")
            kernels.update(dict.fromkeys(v.kernels))
    return tuple(TextVariant(when, tuple(m.items()), tuple(k)) for when, (m, k) in found.items())


def words_of(products: Sequence[ProductView]) -> dict[str, str]:
    """The words of a text that depend on the machine, by names of macros for them."""
    found: dict[str, str] = {}
    for v in products:
        found.update(_words(v))
    return found


def _words(v: ProductView) -> Iterator[tuple[str, str]]:
    what, how = v.wanted.what, v.how
    kernel = micro_kernel_of(what, how)
    yield from ((name, str(n)) for name, n in numbers(load_isa(how.isa, how.bits), kernel).items())
    at = stem(kernel) + (f"_{len(what.step.left)}" if len(what.step.left) > 1 else "")
    values = {
        "LAST": how.mr - 1,
        "GROUP": v.right.slivers,
        "LEFT_GROUP": int(v.left.slivers) * how.mr,
        "LEFT_SLIVERS": v.left.slivers,
        "THREADS": how.threads,
        "DIRECT": how.direct,
        "THIN": v.thin,
        "COPIES": v.left.copies,
        "LIES": v.place.tiles if v.place else 0,
        "SLIM": v.place.slim if v.place else 0,
    }
    yield from ((f"{at.upper()}_{k}", str(x)) for k, x in values.items())
