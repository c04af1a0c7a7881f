"""Prints the C text of all kernels that a file's regions call (register tiles, matrix-vector kernels, nests): for each
instruction set an `#error` for other processors, the headers, types and macros needed, and the kernels; then those of
several instruction sets in one text, chosen by the preprocessor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codegen.isa.common import underlying
from codegen.isa.load import load as load_isa
from codegen.isa.model import Isa
from codegen.isa.widths import OPEN
from codegen.lower.nest.kernel import NestKernel
from codegen.machine.variants import label_of
from codegen.target.emit import AnyKernel
from codegen.target.finish.outline import outlined
from codegen.target.matvec.kernel import MatvecKernel, matvec_kernel, matvec_prelude
from codegen.target.portable import Portable, TextVariant, together
from codegen.target.product.microkernel import (
    FUSED,
    MicroKernel,
    common_kernel,
    common_prelude,
    helper_texts,
    micro_kernel,
    prelude,
    prelude_macros,
)
from codegen.target.product.microkernel_rolled import whole_of

_ONE_OF = "TW_MACHINE"


def kernel_texts(kernels: frozenset[AnyKernel], require: bool) -> list[str]:
    """For each instruction set what its kernels need, then the kernels; then those among which the compiler's macros
    choose."""
    out: list[str] = []
    for name, bits in sorted({(n, b) for n, b, k in kernels if not isinstance(k, Portable) and n != OPEN}):
        out += _test(load_isa(name, bits), require)
        out += _of_one_isa(kernels, name, bits)
    out += _matvecs([(load_isa(n, b), k) for n, b, k in kernels if n == OPEN and isinstance(k, MatvecKernel)])
    portable = [k for _, _, k in kernels if isinstance(k, Portable)]
    return [x.strip("\n") + "\n" for x in (*out, *_chosen(portable))]


def _of_one_isa(kernels: Iterable[AnyKernel], name: str, bits: int) -> list[str]:
    isa = load_isa(name, bits)
    mine = sorted((k for n, b, k in kernels if (n, b) == (name, bits)), key=repr)
    tiles = [k for k in mine if isinstance(k, MicroKernel)]
    matvecs = [k for k in mine if isinstance(k, MatvecKernel)]
    nests = [k for k in mine if isinstance(k, NestKernel)]
    out = _nests(isa, nests) if nests else []
    texts = list(dict.fromkeys(micro_kernel(isa, k) for k in tiles))
    out += [prelude(isa, tiles), *map(_once, texts)] if tiles else []
    return out + _matvecs([(isa, k) for k in matvecs])


def _matvecs(kernels: Iterable[tuple[Isa, MatvecKernel]]) -> list[str]:
    found = sorted(kernels, key=lambda x: repr(x[1]))
    return [matvec_prelude(found), *(_once(matvec_kernel(*x)) for x in found)] if found else []


def vectors_of(kernels: Iterable[AnyKernel]) -> frozenset[str]:
    """The helpers that have the vectors of kernels whose width is left open."""
    found = [(load_isa(n, b), k) for n, b, k in kernels if n == OPEN and isinstance(k, MatvecKernel)]
    types = {f"{isa.vec(k.elem).vector}_type" for isa, k in found}
    return frozenset(types | {f"{isa.vec(k.elem).vector}_pick" for isa, k in found if k.form == "across"})


def _chosen(portable: Iterable[Portable]) -> list[str]:
    """Kernels of several machines: what their names stand for, as far as the compiler is told to use it, and the
    kernels, each once that all of them have in common."""
    variants = together(portable)
    if not variants:
        return []
    common, own = [_common_texts(v) for v in variants], [_own_kernels(v) for v in variants]
    own_texts = [list(dict.fromkeys(micro_kernel(isa, k) for isa, k in mine)) for mine in own]
    shared = [x for x in common[-1] if all(x in texts for texts in common)]
    heads = ["\n".join(_heads(*x)) for x in zip(variants, common, own, strict=True)]
    fused = [FUSED] if any("TW_FUSED" in x for x in heads) else []
    whens = [v.when for v in variants]
    names = [*_by_macros(whens, heads), *_numbers(variants)]
    apart = [[*mine, *(x for x in texts if x not in shared)] for mine, texts in zip(own_texts, common, strict=True)]
    chosen = _by_macros(whens, ["\n".join(map(_once, x)).strip("\n") for x in apart]) if any(apart) else []
    every = list(dict.fromkeys(x for texts in (*common, *own_texts) for x in texts))
    return [prelude_macros(every, heads), *fused, *names, *map(_once, shared), *chosen]


def _common_texts(v: TextVariant) -> list[str]:
    """Of the kernels under common names."""
    tiles = [(load_isa(n, b), k) for n, b, k in v.kernels if underlying(n) and isinstance(k, MicroKernel)]
    return list(dict.fromkeys(common_kernel(isa, whole_of(k)) for isa, k in tiles))


def _own_kernels(v: TextVariant) -> list[tuple[Isa, MicroKernel]]:
    """Those that no other machine has."""
    return [(load_isa(n, b), k) for n, b, k in v.kernels if not underlying(n) and isinstance(k, MicroKernel)]


def _heads(v: TextVariant, common: Sequence[str], own: Sequence[tuple[Isa, MicroKernel]]) -> list[str]:
    """What the kernels of a machine need above them."""
    isas = dict.fromkeys(load_isa(underlying(n), b) for n, b, _ in v.kernels if underlying(n))
    found = [common_prelude(isa, common) for isa in isas]
    return [*found, *(helper_texts(isa, [k for i, k in own if i == isa]) for isa in dict.fromkeys(i for i, _ in own))]


def _numbers(variants: Sequence[TextVariant]) -> list[str]:
    """A table of macros, a row for each and a column for each machine that has one of them, and the macro that chooses
    the column. Of what a machine has in its own way it has the numbers of the last."""
    numbered = [v for v in variants if v.macros]
    columns = [label_of(v.when) for v in numbered]
    head = f"#define {_ONE_OF}({', '.join(columns)})"
    last = dict(variants[-1].macros)
    rows = [(name, [dict(v.macros).get(name, value) for v in numbered]) for name, value in last.items()]
    table = "\n".join(f"#define {name} {_ONE_OF}({', '.join(values)})" for name, values in rows)
    return [*_by_macros([v.when for v in numbered], [f"{head} {x}" for x in columns]), table]


def _by_macros(whens: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Of several texts the one whose condition is the first to hold. Those that are equal to the last go with it: the
    ones before it, and the first, since no compiler defines the macros of two processors."""
    ways = list(zip(whens, texts, strict=True))
    while len(ways) > 1 and ways[-2][1] == ways[-1][1]:
        del ways[-2]
    if len(ways) > 2 and ways[0][1] == ways[-1][1]:
        del ways[0]
    out = []
    for k, (when, text) in enumerate(ways):
        out += [f"#{'elif' if k else 'if'} {when}" if when else "#else", text]
    return [*out, "#endif"] if len(ways) > 1 else [ways[0][1]]


def _test(isa: Isa, require: bool) -> list[str]:
    """A word to those who compile it for another processor, instead of errors about headers and types."""
    words = f"generated for {isa.name}"
    if require and isa.enabled:
        test, words = isa.enabled, f"{words} (--require-isa): switch it on with -march or the like"
    else:
        test, words = isa.processor, f"{words}, which is not for this processor: choose another --isa"
    return [f'#if !({test})\n#error "{words}"\n#endif\n'] if test else []


def _nests(isa: Isa, nests: Sequence[NestKernel]) -> list[str]:
    from codegen.target.nest_text import nest_kernel, prelude  # which few files need

    texts = [nest_kernel(isa, k) for k in nests]
    return [prelude(isa, texts), *map(_once, texts)]


def _once(kernel: str) -> str:
    """Of several results in one translation unit, only the first defines a kernel."""
    kernel = outlined(kernel.strip())[0]
    head = re.search(r"\bstatic void (\w+)\(", kernel)
    assert head is not None
    guard = f"{head[1].upper()}_"
    return f"#ifndef {guard}\n#define {guard}\n{kernel}\n#endif\n"
