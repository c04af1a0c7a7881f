"""The last proof: what was printed for a region, read back. A region that does not pass is left as it is."""

from __future__ import annotations

from functools import cache

from codegen.isa.load import load as load_isa
from codegen.target.emit import Kernel, RegionText
from codegen.target.product.microkernel_model import MicroKernel

# The two kinds of products are read by modules of their own; start-up time counts in a build.


def wrong_text(emitted: RegionText) -> str:
    """Why a region's text does not do what was proven of its tree; empty when it does."""
    problem = ""
    if emitted.products:
        from codegen.verify.text.blocked.product import wrong_products

        problem = wrong_products(emitted.plain, emitted.products)
    if emitted.sweeps:
        from codegen.verify.text.sweep.check import wrong_sweeps

        problem = problem or wrong_sweeps(emitted.plain, emitted.sweeps)
    for kernel in sorted(emitted.kernels, key=repr):
        problem = problem or _wrong(kernel)
    return problem


def not_read(emitted: RegionText) -> tuple[tuple[str, str], ...]:
    """Statements whose printed text no proof reads back yet, and why; what was proven of their trees holds for all."""
    return tuple((name, "it runs in nests of a given order") for name in dict.fromkeys(emitted.nests))


@cache
def _wrong(kernel: Kernel) -> str:
    name, bits, what = kernel
    isa = load_isa(name, bits)
    if isinstance(what, MicroKernel):
        from codegen.target.product.microkernel import micro_kernel
        from codegen.target.product.microkernel import name as kernel_name
        from codegen.verify.text.kernel import wrong_kernel

        problem = wrong_kernel(isa, what, micro_kernel(isa, what))
        return f"the kernel {kernel_name(isa, what)}: {problem}" if problem else ""
    from codegen.target.matvec.kernel import MatvecKernel, matvec_kernel
    from codegen.target.matvec.kernel import name as sweep_name

    if isinstance(what, MatvecKernel):
        from codegen.verify.text.sweep.kernel import wrong_sweep_kernel

        problem = wrong_sweep_kernel(isa, what, matvec_kernel(isa, what))
        return f"the kernel {sweep_name(isa, what)}: {problem}" if problem else ""
    return ""
