"""What an executor is made from: one sparse operand with the scan of its format, and every index as an expression."""
from __future__ import annotations

from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.kernels.notation import Kernel, Tensor, bad_kernel
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.model import Layout
from codegen.sparse.synth.pair import apart
from codegen.sparse.synth.prefix import prefixed
from codegen.sparse.synth.scan import Scan, scan


@record
class KernelPlan:
    """The sparse operand, its scan, and every index as an expression."""

    kernel: Kernel
    operand: Tensor
    lay: Layout
    scan: Scan
    index: dict[str, Exp]
    extent: dict[str, str]
    free: tuple[str, ...]
    summed: tuple[str, ...]
    same: bool


def plan(k: Kernel, formats: dict[str, Descriptor]) -> KernelPlan:
    """Raises for notations that are no product with one sparse operand."""
    if len(k.terms) != 1 or k.out is None:
        raise bad_kernel("a kernel is one product, or a sum of sparse tensors of the same indices")
    term = k.terms[0]
    sparse = [f for f in term.factors if f.name in formats]
    if len(sparse) != 1 or term.sign < 0:
        raise bad_kernel("exactly one operand must be sparse", hint="name its format with --format A=CSR")
    (a,) = sparse
    d = formats[a.name]
    if d.rank != len(a.indices):
        raise bad_kernel(f"{a} has {len(a.indices)} indices and {d.name} {d.rank} dimensions")
    taken = frozenset({x for t in k.tensors for x in (t.name, *t.indices) if x not in a.indices})
    lay = layout(apart(prefixed(d, f"{a.name}_", tuple(f"{a.name}_{s}" for s in d.shape)), taken))
    s = scan(lay)
    index = dict(zip(a.indices, s.coords, strict=True))
    dense = tuple(dict.fromkeys(x for f in term.factors for x in f.indices if x not in index))
    extent = dict(zip(a.indices, lay.desc.shape, strict=True)) | {x: f"n_{x}" for x in dense}
    free = tuple(x for x in dense if x in k.out.indices)
    same = k.out.name in formats
    if same and (formats[k.out.name] != d or k.out.indices != a.indices):
        raise bad_kernel(f"a sparse result must have the format and the indices of {a.name}")
    return KernelPlan(k, a, lay, s, index, extent, free, tuple(x for x in dense if x not in free), same)
