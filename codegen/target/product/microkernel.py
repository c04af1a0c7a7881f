"""Prints the register micro-kernel of a blocked product as a C function, for one instruction set or with macros for all
of them, and the prelude that it needs. The kernel keeps a tile of c in registers and updates it by k steps of a lane
expression.

Packed form: a is k groups of `mr` values, b is k groups of `nr` values, both contiguous. Direct form: a and b stay
where the source has them. Either way every element of c is updated in the source's order: its old value first, then
step 0, 1, ...
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from codegen.isa.common import definitions as common_definitions
from codegen.isa.common import is_common
from codegen.isa.helpers import definitions, guarded
from codegen.isa.model import C_TYPES, Isa
from codegen.isa.text import BARRIER, HOLD, PREFETCH, PREFETCH_FAR
from codegen.print.templates import environment
from codegen.scop.lanes import spelled
from codegen.target.product.microkernel_model import AHEAD, MOST_LOW, UNROLL, MicroKernel, low_unit, smaller
from codegen.target.product.microkernel_rolled import (
    STEPS,
    TileTexts,
    far_columns,
    is_rolled,
    looks_further,
    rolled_view,
    takes_steps_together,
    whole_of,
)
from codegen.target.product.microkernel_view import times, view

__all__ = ["MOST_COMMON", "MicroKernel", "asked_sizes", "columns_text", "common_kernel", "in_place_name", "is_rolled",
           "lanes_text", "micro_kernel", "name", "nr_max", "nr_text", "numbers", "prelude", "prelude_macros",
           "row_unit", "smaller", "stem", "tile_name", "with_numbers"]  # fmt: skip

# Tiles by which the target's lines are fetched ahead along its rows: with 2 instead of 1, products on one core with
# AVX-512 take up to 0.98 of the time; those of few steps, where most was hoped for, gain nothing that can be told.
FURTHER = 2
MOST_COMMON = 4  # vectors in a row of a tile whose kernels are printed once for all instruction sets


def name(isa: Isa, mk: MicroKernel) -> str:
    """The same for the same content, in every run; different for different content."""
    if is_common(isa):
        return stem(mk)
    columns = nr_max(isa, mk) if isa.bits else f"{mk.nv}v"
    parts = [isa.prefix, mk.elem, f"{mk.mr}x{columns}", _step(mk)]
    parts += [f"of_{mk.a_rows or mk.mr}x{mk.b_vectors or mk.nv}v"] if mk.a_rows or mk.b_vectors else []
    parts += ["spread"] if mk.spread else []
    parts += ["narrow"] if mk.narrow else []
    parts += ["along"] if mk.along else []
    parts += [f"u{mk.unroll}"] if mk.unroll != UNROLL else []
    parts += [f"p{mk.ahead}"] if mk.ahead != AHEAD else []
    return "_".join([*parts, *(["direct"] if mk.direct else [])])


def stem(mk: MicroKernel) -> str:
    """What a kernel computes, whatever its tile: the name of one that is printed for all instruction sets at once."""
    return f"tw_{mk.elem}_{_step(mk)}"


def _step(mk: MicroKernel) -> str:
    return spelled(mk.step, (mk.lefts, mk.rights, mk.consts))


def lanes_text(isa: Isa, elem: str) -> str:
    """C expression of the number of elements in a vector."""
    return isa.vec(elem).lanes


def nr_text(isa: Isa, mk: MicroKernel) -> str:
    """C expression of the number of columns of the tile."""
    return str(nr_max(isa, mk)) if isa.bits else f"({mk.nv} * {lanes_text(isa, mk.elem)})"


def columns_text(isa: Isa, mk: MicroKernel) -> str:
    """The same for callers, who may be compiled for less than the instruction set: a call where only it can tell."""
    return nr_text(isa, mk) if isa.bits else f"{mk.nv} * {isa.prefix}_lanes_{mk.elem}()"


def _lanes_function(isa: Isa, elem: str) -> str:
    return (
        f"/* Elements of a vector, for callers that are not compiled for {isa.name}. */\n"
        f'__attribute__((target("{isa.target}"), noinline, unused)) static long {isa.prefix}_lanes_{elem}(void)\n'
        f"{{\n  return {isa.vec(elem).lanes};\n}}\n"
    )


def nr_max(isa: Isa, mk: MicroKernel) -> int:
    """The most columns the tile can have."""
    return mk.nv * isa.lanes_max(mk.elem)


def row_unit(isa: Isa, elem: str, bits: int = 0) -> int:
    """Rows of kernels for a part of a tile are a multiple of this, where lanes of a register are operands; `bits` where
    only the processor knows how many."""
    if isa.bits:
        return isa.lanes_max(elem) if isa.lane_fma else 1
    return max(1, bits // int(elem[1:]))


def tile_name(isa: Isa, whole: MicroKernel) -> str:
    """The function that all kernels of a product are, where they share one."""
    return f"{name(isa, whole)}_tile"


@cache
def micro_kernel(isa: Isa, mk: MicroKernel) -> str:
    """C text of the static function; of two, where it shares one with other kernels."""
    return _rolled(isa, whole_of(mk)) if is_rolled(isa, mk) else _unrolled(isa, mk)


def _cases(isa: Isa, whole: MicroKernel) -> list[tuple[str, str, str]]:
    """Which tiles of m x n elements take which kernel, of so many rows and vectors; the first that holds."""
    if is_common(isa):
        return _common_cases(stem(whole).upper())
    narrow, lows = smaller(whole, row_unit(isa, whole.elem))
    cases = [(f"n <= {nr_max(isa, k)}", str(k.mr), str(k.nv)) for k in narrow]
    cases += [(f"m <= {k.mr}", str(k.mr), str(k.nv)) for k in lows]
    return [*cases, ("", str(whole.mr), str(whole.nv))]


def _wide_cases(isa: Isa, whole: MicroKernel) -> list[tuple[str, str, str]]:
    """Of these, the ones for tiles of all rows."""
    mr = f"{stem(whole).upper()}_MR" if is_common(isa) else str(whole.mr)
    return [x for x in _cases(isa, whole) if x[1] == mr]


def in_place_name(isa: Isa, whole: MicroKernel) -> str:
    """The function that chooses a kernel for all rows of a tile, where they are read from the source's array."""
    return f"{name(isa, whole)}_rows"


def _common_cases(at: str) -> list[tuple[str, str, str]]:
    """The same for tiles of up to MOST_COMMON vectors, in macros; where there are fewer, some of the tests are idle."""
    names = ("MR", "NR", "NV", "SOME", "LESS", "LANES", "LOW")
    mr, nr, nv, some, less, lanes, low = (f"{at}_{x}" for x in names)
    narrow = [(f"n <= {lanes}", mr, "1"), *((f"n <= {x} * {lanes}", mr, x) for x in (some, less))]
    rows = [times(q, low) for q in range(1, MOST_LOW + 1)]
    lows = [(f"{x} < {mr} && m <= {x} && n > {nr} - {lanes}", x, nv) for x in rows]
    return [*lows, *narrow, ("", mr, nv)]


def asked_sizes(isa: Isa, whole: MicroKernel) -> str:
    """The sizes of a tile that decide about its kernel, of m and n."""
    return "".join(x for x in "mn" if any(re.search(rf"\b{x} ", test) for test, *_ in _cases(isa, whole)))


def numbers(isa: Isa, whole: MicroKernel) -> dict[str, int]:
    """The numbers of a kernel under common names, by the macros that stand for them where it is printed for all
    instruction sets."""
    values = {
        "MR": whole.mr,
        "NV": whole.nv,
        "NR": nr_max(isa, whole),
        "LANES": isa.lanes_max(whole.elem),
        "SOME": max(1, whole.nv - 2),
        "LESS": max(1, whole.nv - 1),
        "LOW": low_unit(whole.mr, row_unit(isa, whole.elem)),
        "ALONG": int(whole.along),
        "FAR": far_columns(isa, whole),
    }
    return {f"{stem(whole).upper()}_{k}": n for k, n in values.items()}


def with_numbers(text: str, values: Mapping[str, object]) -> str:
    """A text with values in place of macros."""
    return re.sub(r"\bTW_\w+\b", lambda m: str(values.get(m[0], m[0])), text)


@cache
def common_kernel(isa: Isa, whole: MicroKernel) -> str:
    """C text of a kernel for all instruction sets, with macros for its numbers."""
    at = stem(whole).upper()
    further = f"{at}_ALONG ? {FURTHER} * {at}_NR : rows * ldc"
    far = f"{at}_FAR" if looks_further(isa, whole) else ""
    return _text(isa, whole, TileTexts(f"{at}_MR", f"{at}_NV", f"{at}_LANES", f"{at}_NR", further, far))


@cache
def _rolled(isa: Isa, whole: MicroKernel) -> str:
    if is_common(isa):
        return with_numbers(common_kernel(isa, whole), numbers(isa, whole))
    nr = nr_text(isa, whole)
    further = times(FURTHER, nr) if whole.along else "rows * ldc"
    far = str(far_columns(isa, whole)) if looks_further(isa, whole) else ""
    return _text(isa, whole, TileTexts(str(whole.mr), str(whole.nv), lanes_text(isa, whole.elem), nr, further, far))


def _text(isa: Isa, whole: MicroKernel, sizes: TileTexts) -> str:
    further = ("far", "apart") if sizes.far else ()
    given = ("k", "a", "b", "c", "ldc", *further, *(f"s{i}" for i in range(whole.consts)))
    return (
        environment()
        .get_template("kernel_rolled.c.j2")
        .render(
            mk=whole,
            isa="" if is_common(isa) else f" for {isa.name}, {isa.bits} bits",
            target=isa.target,
            name=tile_name(isa, whole),
            choice=name(isa, whole),
            parameters=", ".join(_parameters(isa, whole)),
            strided=", ".join(_parameters(isa, whole, ("a_row", "a_step"))) if whole.strided else "",
            in_place=", ".join(_parameters(isa, whole, ("lda",))) if whole.strided else "",
            given=given,
            cases=_cases(isa, whole),
            rows=in_place_name(isa, whole),
            wide=_wide_cases(isa, whole),
            sizes=asked_sizes(isa, whole),
            v=rolled_view(isa, whole, sizes),
        )
    )


def _unrolled(isa: Isa, mk: MicroKernel) -> str:
    return (
        environment()
        .get_template("kernel.c.j2")
        .render(
            mk=mk,
            isa=f"{isa.name}, {isa.bits} bits" if isa.bits else isa.name,
            nr=nr_text(isa, mk),
            target=isa.target,
            scalar=isa.vec(mk.elem).scalar,
            head=f"static void {name(isa, mk)}({', '.join(_parameters(isa, mk))})",
            k=view(isa, mk),
        )
    )


def _parameters(isa: Isa, mk: MicroKernel, distances: tuple[str, ...] = ()) -> list[str]:
    """Of a kernel's function; `distances` are those of values of a, where a call says them."""
    t = isa.vec(mk.elem).scalar
    if mk.direct:
        tile = [f"const {t} *a", "long a_row", "long a_step", f"const {t} *b", "long b_step", f"{t} *c", "long ldc"]
    else:
        packed = C_TYPES[mk.narrow or mk.elem]
        a, b = (f"const {packed} *restrict {x}" for x in "ab")
        further = [f"const {packed} *far", "long apart"] if looks_further(isa, mk) else []
        tile = [a, *(f"long {x}" for x in distances), b, f"{t} *restrict c", "long ldc", *further]
    return ["long k", *tile, *(f"{t} s{i}" for i in range(mk.consts))]


def prelude(isa: Isa, kernels: Iterable[MicroKernel]) -> str:
    """What the kernels need above them: headers, vector types and helpers, only those that are used; and the macros
    that kernels of all instruction sets use."""
    kernels = tuple(kernels)
    texts = list(dict.fromkeys(micro_kernel(isa, k) for k in kernels))
    found = definitions(isa, texts)
    if not isa.bits:
        found |= {f"{isa.prefix}_lanes_{e}": _lanes_function(isa, e) for e in sorted({k.elem for k in kernels})}
    headers = [*_stdint([*texts, *found.values()]), *([isa.header] if isa.header else [])]
    return _prelude(texts, headers, guarded(found), _steps(isa, texts))


def helper_texts(isa: Isa, kernels: Iterable[MicroKernel]) -> str:
    """The same without the macros that kernels of all instruction sets use."""
    texts = list(dict.fromkeys(micro_kernel(isa, k) for k in kernels))
    return _prelude([], [isa.header] if isa.header else [], guarded(definitions(isa, texts)), _steps(isa, texts))


def _stdint(texts: Iterable[str]) -> list[str]:
    """The header of types that texts use, if they do."""
    return ["stdint.h"] if any(re.search(r"\bu?int\d+_t\b", t) for t in texts) else []


def prelude_macros(texts: Sequence[str], more: Sequence[str] = ()) -> str:
    """The macros that kernels of all instruction sets use, and the header for them and what else stands there."""
    return _prelude(texts, _stdint([*texts, *more]), [])


# A multiply-add that rounds once, or product and sum apart.
FUSED = """#ifndef TW_NO_FMA
#define TW_FUSED(fused, apart) fused
#else
#define TW_FUSED(fused, apart) apart /* products and sums are rounded apart */
#endif"""


def common_prelude(isa: Isa, texts: Sequence[str]) -> str:
    """What the common names in kernels stand for on an instruction set."""
    headers = [isa.header] if isa.header else []
    return _prelude([], headers, common_definitions(isa, texts), _steps(isa, texts))


def _steps(isa: Isa, texts: Sequence[str]) -> str:
    """What stands before loops over steps that say so: that compilers take several together, or nothing."""
    return "" if not any(STEPS in t for t in texts) else "together" if takes_steps_together(isa) else "one by one"


def _prelude(texts: Sequence[str], headers: Sequence[str], found: Sequence[tuple[str, str]], steps: str = "") -> str:
    return (
        environment()
        .get_template("kernel_prelude.c.j2")
        .render(
            headers=headers,
            barrier=any(BARRIER in t for t in texts),
            prefetch=any(f"{PREFETCH}(" in t for t in texts),
            far=any(PREFETCH_FAR in t for t in texts),
            unroll=any("TW_UNROLL" in t for t in texts),
            hold=any(f"{HOLD}(" in t for t in texts),
            steps=steps,
            definitions=found,
        )
    )
