"""Collects the kernels that regions call, and the helpers they need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codegen.isa.load import load as load_isa
from codegen.isa.model import Isa
from codegen.lower.nest.kernel import NestKernel
from codegen.target.emit import AnyKernel
from codegen.target.finish.outline import outlined
from codegen.target.matvec.kernel import MatvecKernel, matvec_kernel, matvec_prelude
from codegen.target.portable import Portable, together
from codegen.target.product.microkernel import MicroKernel, micro_kernel, prelude, prelude_macros


def kernel_texts(kernels: frozenset[AnyKernel], require: bool) -> list[str]:
    """For each instruction set what its kernels need, then the kernels; then those among which the compiler's macros
    choose."""
    out: list[str] = []
    for name, bits in sorted({(n, b) for n, b, k in kernels if not isinstance(k, Portable)}):
        out += _test(load_isa(name, bits), require)
        out += _of_one_isa(kernels, name, bits)
    portable = [k for _, _, k in kernels if isinstance(k, Portable)]
    return [x.strip("\n") + "\n" for x in (*out, *_chosen(portable))]


def _of_one_isa(kernels: Iterable[AnyKernel], name: str, bits: int, macros: bool = True) -> list[str]:
    isa = load_isa(name, bits)
    mine = sorted((k for n, b, k in kernels if (n, b) == (name, bits)), key=repr)
    tiles = [k for k in mine if isinstance(k, MicroKernel)]
    matvecs = [k for k in mine if isinstance(k, MatvecKernel)]
    nests = [k for k in mine if isinstance(k, NestKernel)]
    out = _nests(isa, nests) if nests else []
    texts = list(dict.fromkeys(micro_kernel(isa, k) for k in tiles))
    out += [prelude(isa, tiles, macros), *map(_once, texts)] if tiles else []
    return out + ([matvec_prelude(isa, matvecs), *(_once(matvec_kernel(isa, k)) for k in matvecs)] if matvecs else [])


def _chosen(portable: Iterable[Portable]) -> list[str]:
    """Kernels for one machine after the other, and the macros that regions call them by, as far as the compiler is told
    to use it."""
    variants = together(portable)
    if not variants:
        return []
    tiles = [(load_isa(n, b), k) for v in variants for n, b, k in v.kernels if isinstance(k, MicroKernel)]
    out = [prelude_macros([micro_kernel(isa, k) for isa, k in tiles])]
    for k, v in enumerate(variants):
        out.append(f"#{'elif' if k else 'if'} {v.when}" if v.when else "#else")
        for name, bits in sorted({(n, b) for n, b, _ in v.kernels}):
            out += _of_one_isa(v.kernels, name, bits, macros=False)
        out.append("\n".join(f"#define {name} {value}" for name, value in v.macros))
    return [*out, "#endif"]


def _test(isa: Isa, require: bool) -> list[str]:
    """A word to those who compile it for another processor, instead of errors about headers and types."""
    words = f"generated for {isa.name}"
    if require and isa.enabled:
        test, words = isa.enabled, f"{words} (--require-isa): switch it on with -march or the like"
    else:
        test, words = isa.processor, f"{words}, which is not for this processor: choose another --isa"
    return [f'#if !({test})\n#error "{words}"\n#endif\n'] if test else []


def _nests(isa: Isa, nests: Sequence[NestKernel]) -> list[str]:
    from codegen.target.nest.emit import nest_kernel, prelude  # which few files need

    texts = [nest_kernel(isa, k) for k in nests]
    return [prelude(isa, texts), *map(_once, texts)]


def _once(kernel: str) -> str:
    """Of several results in one translation unit, only the first defines a kernel."""
    kernel = outlined(kernel.strip())[0]
    head = re.search(r"\bstatic void (\w+)\(", kernel)
    assert head is not None
    guard = f"{head[1].upper()}_"
    return f"#ifndef {guard}\n#define {guard}\n{kernel}\n#endif\n"
