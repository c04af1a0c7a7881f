"""Merges the texts of a region, printed for several instruction sets, and its kernels into one: words that differ
become macros that the preprocessor chooses. Gives the base text alone where more than words differ.

A region is printed for every machine, and every one of these texts is proven. Where they differ in numbers and names of
functions alone, the text with macros in their place is each of them again, once they are replaced: `merged` puts in
nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from codegen.isa.load import load as load_isa
from codegen.record import record
from codegen.target.product.microkernel import common_kernel, numbers, stem
from codegen.target.product.tiles import micro_kernel_of

if TYPE_CHECKING:
    from codegen.target.emit import Kernel, RegionText
    from codegen.target.product.view import ProductView

_WORD = re.compile(r"\w+|\W+")


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


def for_all(base: RegionText, others: Sequence[tuple[str, RegionText]]) -> tuple[str, Portable | None]:
    """A region's text for all machines, the last of which is the one for all others, and its kernels; that of the base
    alone, where texts differ in more than words."""
    products = [x.products for _, x in others]
    same = len(set(map(len, products))) == 1 and len({tuple(map(_kernel_text, x)) for x in products}) == 1
    found = merged([x.plain for _, x in others], [words_of(x) for x in products]) if same else None
    if found is None:
        return base.plain, None
    text, tables = found
    shared = frozenset.intersection(*(x.kernels for _, x in others))
    variants = (_variant(when, x, shared, used) for (when, x), used in zip(others, tables, strict=True))
    return text, Portable(tuple(variants), shared)


def _kernel_text(v: ProductView) -> str:
    isa = load_isa(v.how.isa, v.how.bits)
    return common_kernel(isa, micro_kernel_of(v.wanted.what, v.how))


def _variant(when: str, x: RegionText, shared: frozenset[Kernel], used: Mapping[str, str]) -> TextVariant:
    """The macros that the region's text uses, and those of its kernels."""
    macros = dict(used)
    for v in x.products:
        kernel = micro_kernel_of(v.wanted.what, v.how)
        macros.update((n, str(k)) for n, k in numbers(load_isa(v.how.isa, v.how.bits), kernel).items())
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
