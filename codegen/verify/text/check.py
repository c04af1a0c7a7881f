"""The last proof: what was printed for a region, read back. A region that does not pass is left as it is."""

from __future__ import annotations

from functools import cache

from codegen.target.emit import Kernel, RegionText
from codegen.target.isa.load import load as load_isa
from codegen.target.microkernel import MicroKernel, micro_kernel
from codegen.target.microkernel import name as kernel_name
from codegen.verify.text.kernel import wrong_kernel
from codegen.verify.text.product import wrong_products


def wrong_text(emitted: RegionText) -> str:
    """Why a region's text does not do what was proven of its tree; empty when it does."""
    problem = wrong_products(emitted.plain, emitted.products)
    for kernel in sorted(emitted.kernels, key=repr):
        problem = problem or _wrong(kernel)
    return problem


@cache
def _wrong(kernel: Kernel) -> str:
    name, bits, what = kernel
    if not isinstance(what, MicroKernel):
        return ""
    isa = load_isa(name, bits)
    problem = wrong_kernel(isa, what, micro_kernel(isa, what))
    return f"the kernel {kernel_name(isa, what)}: {problem}" if problem else ""
