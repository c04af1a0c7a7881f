"""Merges kernels for several instruction sets into one text: what differs are words, which become macros that the
preprocessor chooses.

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
from codegen.target.product.microkernel import name as kernel_name
from codegen.target.product.microkernel import nr_max
from codegen.target.product.tiles import edge_kernels, micro_kernel_of

if TYPE_CHECKING:
    from codegen.target.emit import Kernel, RegionText
    from codegen.target.product.view import ProductView

_WORD = re.compile(r"\w+|\W")


@record
class TextVariant:
    """What a region's text is for one machine: the preprocessor's condition, "" for all others, the macros with their
    values, and the kernels it calls."""

    when: str
    macros: tuple[tuple[str, str], ...]
    kernels: tuple[Kernel, ...]


@record
class Portable:
    """A region's kernels for several machines, the one for all others last; not those that are the same for all."""

    variants: tuple[TextVariant, ...]


def merged(texts: Sequence[str], known: Sequence[Mapping[str, str]]) -> tuple[str, tuple[dict[str, str], ...]] | None:
    """One text with macros where the texts differ, and the macros' values for each; None where it takes more than that.
    `known` names the words of each text by what they are."""
    words = [_WORD.findall(text) for text in texts]
    if len({len(x) for x in words}) != 1 or len({tuple(x) for x in known}) != 1:
        return None
    names: dict[tuple[str, ...], str] = {}
    for name in known[0]:
        names.setdefault(tuple(x[name] for x in known), name)
    new = [each[0] if len(set(each)) == 1 else names.get(each, "") for each in zip(*words, strict=True)]
    used = [name for name in known[0] if name in new]
    tables = tuple({name: x[name] for name in used} for x in known)
    again = ("".join(t.get(word, word) for word in new) for t in tables)
    if "" in new or any(x != text for x, text in zip(again, texts, strict=True)):
        return None
    return "".join(new), tables


def for_all(base: RegionText, others: Sequence[tuple[str, RegionText]]) -> tuple[str, Portable | None]:
    """A region's text for all machines, and its kernels; for the base alone, where texts differ in more than words."""
    all_of_them = (*(x for _, x in others), base)
    products = [x.products for x in all_of_them]
    same = len(set(map(len, products))) == 1
    texts = [_with_both_sizes(x.plain or x.text, x.products) for x in all_of_them]
    found = merged(texts, [words_of(x) for x in products]) if same else None
    if found is None:
        return base.text, None
    text, tables = found
    shared = frozenset.intersection(*(x.kernels for x in all_of_them))
    whens = (*(when for when, _ in others), "")
    variants = tuple(
        TextVariant(when, _macros(table, x.products), tuple(sorted(x.kernels - shared, key=repr)))
        for when, table, x in zip(whens, tables, all_of_them, strict=True)
    )
    return text, Portable(variants)


def _with_both_sizes(text: str, products: Sequence[ProductView]) -> str:
    """Kernels are called with a tile's rows and columns, whether or not they ask for both: `_macros` leave out what one
    does not ask for."""
    for v in products:
        text = text.replace(f"{v.kernel}({''.join(f'tw_{x}, ' for x in v.asked)}", f"{v.kernel}(tw_m, tw_n, ")
    return text


def _macros(table: Mapping[str, str], products: Sequence[ProductView]) -> tuple[tuple[str, str], ...]:
    """Heads and values of macros; those for kernels that do not ask for both sizes have arguments."""
    fewer = {v.kernel: v.asked for v in products if v.asked != "mn"}
    return tuple(
        (f"{name}(m, n, ...)", f"{value}({''.join(f'{x}, ' for x in fewer[value])}__VA_ARGS__)")
        if value in fewer
        else (name, value)
        for name, value in table.items()
    )


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
    isa, kernel = load_isa(how.isa, how.bits), micro_kernel_of(what, how)
    name = kernel_name(isa, kernel)
    # The kernel's name without the instruction set and the tile says what it computes.
    stem = name.removeprefix(f"{isa.prefix}_").replace(f"_{kernel.mr}x{nr_max(isa, kernel)}", "", 1)
    stem += f"_{len(what.step.left)}" if len(what.step.left) > 1 else ""
    stem = f"TW_{stem.removesuffix('_spread').upper()}"
    _, low = edge_kernels(what, how)
    values = {
        "KERNEL": name,
        "MR": how.mr,
        "NR": nr_max(isa, kernel),
        "LANES": isa.lanes_max(kernel.elem),
        "HALF": low.mr if low else 0,
        "LAST": how.mr - 1,
        "MC": how.mc,
        "KC": how.kc,
        "NC": how.nc,
        "RUN": how.run or "tw_nr",
        "GROUP": v.right.slivers,
        "LEFT_GROUP": int(v.left.slivers) * how.mr,
        "THREADS": how.threads,
        "DIRECT": how.direct,
        "COPIES": v.left.copies,
    }
    yield from ((f"{stem}_{k}", str(x)) for k, x in values.items())
