"""Checks the printed products of a region: blocks of products and matrix-vector products, calls of kernels for certain
sizes, and all kernels. `wrong_text` returns what is wrong, or the empty string; blocks and kernels that `proven.py`
lists are not proven again. Loops are read in `verify/loops`. A region that does not pass is left as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from codegen.isa.known import own
from codegen.isa.load import load as load_isa
from codegen.isa.model import Isa
from codegen.target.emit import Kernel, RegionText
from codegen.target.matvec.pair import kernel_of
from codegen.target.matvec.view import MatvecView
from codegen.target.product.microkernel_model import MicroKernel
from codegen.target.product.tiles import all_kernels, micro_kernel_of
from codegen.target.product.view import ProductView
from codegen.verify.text.printed import matvec_blocks, product_blocks
from codegen.verify.text.proven import block_key, is_proven, kernel_key, made

if TYPE_CHECKING:
    from codegen.lower.nest.kernel import NestKernel
    from codegen.target.matvec.kernel import MatvecKernel

# Proofs are modules of their own, and most texts are in the list of those that were proven; start-up time counts in a
# build.


def wrong_text(emitted: RegionText) -> str:
    """Why a region's text does not do what was proven of its tree; empty when it does."""
    problem = _unless_proven(_product_keys(emitted), lambda: _wrong_products(emitted))
    problem = problem or _unless_proven(_sweep_keys(emitted), lambda: _wrong_sweeps(emitted))
    problem = problem or _wrong_calls(emitted)
    for kernel in sorted(emitted.kernels, key=repr):
        problem = problem or _wrong_kernel(kernel)
    return problem


def _unless_proven(keys: list[str] | None, wrong: Callable[[], str]) -> str:
    """What is wrong with texts, if some of them was not proven yet; no keys: they are not what they should be."""
    if keys is not None and all(map(is_proven, keys)):
        return ""
    problem = wrong()
    if not problem and keys:
        made.update(keys)
    return problem


def _product_keys(emitted: RegionText) -> list[str] | None:
    blocks, views = product_blocks(emitted.plain) if emitted.products else [], emitted.products
    if len(blocks) != len(views):
        return None
    return [_product_key(t, v) for t, v in zip(blocks, views, strict=True)]


def _product_key(text: str, v: ProductView) -> str:
    w, step = v.wanted, v.wanted.what.step
    tables = [(t.name, t.base, t.elem, t.of, t.element, t.origin, t.target) for t in w.tables]
    sizes = [b.size for b in (v.rows, v.columns, v.depth)]
    wanted = (w.left, w.right, w.target, w.consts, w.first, w.past, w.corners, w.names, w.loops, tables, sizes)
    kernels = (micro_kernel_of(w.what, w.how), all_kernels(w.what, w.how), v.chosen)
    careful = step.careful and w.elem
    types = (step.lane, step.elem, w.packed, careful, step.narrow)
    given = (w.how, own(w.how.isa), w.few, kernels, types, len(step.left))
    return block_key(text, wanted, given)


def _wrong_products(emitted: RegionText) -> str:
    from codegen.verify.text.blocked.product import wrong_products

    return wrong_products(emitted.plain, emitted.products, lambda text, v: is_proven(_product_key(text, v)))


def _sweep_keys(emitted: RegionText) -> list[str] | None:
    blocks, views = matvec_blocks(emitted.plain) if emitted.matvecs else [], emitted.matvecs
    if len(blocks) != len(views):
        return None
    return [_sweep_key(t, v) for t, v in zip(blocks, views, strict=True)]


def _sweep_key(text: str, v: MatvecView) -> str:
    w, both = v.wanted, [v] if v.beside is None else [v, v.beside]
    wanted = [_sweep_wanted(x) for x in both]
    hows = [x.wanted.how for x in both]
    return block_key(text, wanted if v.beside else wanted[0], (*hows, own(w.how.isa), kernel_of(v)))


def _sweep_wanted(v: MatvecView) -> tuple[object, ...]:
    w = v.wanted
    return (w.left, w.right, w.target, w.consts, w.first, w.past, sorted(w.whole), v.rows, v.depth)


def _wrong_sweeps(emitted: RegionText) -> str:
    from codegen.verify.text.matvec.check import wrong_matvecs

    return wrong_matvecs(emitted.plain, emitted.matvecs)


def _wrong_calls(emitted: RegionText) -> str:
    if not emitted.nests:
        return ""
    from codegen.verify.text.nest_calls import wrong_calls

    return wrong_calls(emitted.plain, emitted.nests)


@cache
def _wrong_kernel(kernel: Kernel) -> str:
    name, bits, what = kernel
    isa = load_isa(name, bits)
    if isinstance(what, MicroKernel):
        from codegen.target.product.microkernel import micro_kernel

        return _unless_proven(
            [kernel_key(isa, what, micro_kernel(isa, what))], lambda: _wrong_micro_kernel(isa, what)
        )
    from codegen.target.matvec.kernel import MatvecKernel, matvec_kernel, open_macros

    if isinstance(what, MatvecKernel):
        text = matvec_kernel(isa, what) + open_macros(isa, what)
        return _unless_proven([kernel_key(isa, what, text)], lambda: _wrong_matvec_kernel(isa, what))
    return _wrong_nest(isa, what)


def _wrong_micro_kernel(isa: Isa, what: MicroKernel) -> str:
    from codegen.target.product.microkernel import micro_kernel, name
    from codegen.verify.text.kernel import wrong_kernel

    problem = wrong_kernel(isa, what, micro_kernel(isa, what))
    return f"the kernel {name(isa, what)}: {problem}" if problem else ""


def _wrong_nest(isa: Isa, what: NestKernel) -> str:
    from codegen.lower.nest.build import kernel_function
    from codegen.verify.kernel.nest import wrong_nest

    problem = wrong_nest(isa, what.nest.problem, kernel_function(isa, what))
    return f"the kernel {what.name}: {problem}" if problem else ""


def _wrong_matvec_kernel(isa: Isa, what: MatvecKernel) -> str:
    from codegen.target.matvec.kernel import matvec_kernel, name, open_macros
    from codegen.verify.text.matvec.kernel import wrong_sweep_kernel

    problem = wrong_sweep_kernel(isa, what, matvec_kernel(isa, what), open_macros(isa, what))
    return f"the kernel {name(isa, what)}: {problem}" if problem else ""
