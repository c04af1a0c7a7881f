"""Makes the `KernelPlan` that an executor is printed from: the one sparse operand with the scan of its format, and
every index as an expression; raises InputError unless exactly one operand is sparse."""
from __future__ import annotations

from dataclasses import field, replace

from codegen.record import record
from codegen.sparse.algebra.expr import Exp
from codegen.sparse.algebra.relation import Constraint
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.ir.nest import Guard
from codegen.sparse.kernels.notation import Kernel, Tensor, Term, bad_kernel
from codegen.sparse.prove.proof import triangle
from codegen.sparse.synth.layout import layout
from codegen.sparse.synth.model import Layout
from codegen.sparse.synth.pair import apart
from codegen.sparse.synth.prefix import prefixed
from codegen.sparse.synth.scan import Scan, scan


@record
class KernelPlan:
    """The sparse operand, its scan, and every index as an expression. `kernel` has the product with it as its one
    term; `starts`: the other terms, products of dense tensors that the result begins with; `alike`: extents that must
    be equal, since an index of the operand stands for both; `rows`: arrays that lead from an index of the operand's map
    to the index of the matrix."""

    kernel: Kernel
    operand: Tensor
    lay: Layout
    scan: Scan
    index: dict[str, Exp]
    extent: dict[str, str]
    free: tuple[str, ...]
    summed: tuple[str, ...]
    same: bool
    starts: tuple[Term, ...] = ()
    alike: tuple[tuple[str, str], ...] = ()
    rows: dict[str, str] = field(default_factory=dict)


def plan(k: Kernel, formats: dict[str, Descriptor]) -> KernelPlan:
    """Raises for notations that are no product with one sparse operand."""
    assert k.out is not None
    sparse = [(t, f) for t in k.terms for f in t.factors if f.name in formats]
    if any(f.name in formats for t in k.terms for f in t.over):
        raise bad_kernel("only dense tensors divide: the others have zeros")
    if len(sparse) != 1:
        raise bad_kernel("exactly one operand must be sparse", hint="name its format with --format A=CSR")
    ((term, a),) = sparse
    starts = _starts(k, tuple(t for t in k.terms if t != term), term)
    k = replace(k, terms=(term,))
    assert k.out is not None
    d = formats[a.name]
    if d.rank != len(a.indices):
        raise bad_kernel(f"{a} has {len(a.indices)} indices and {d.name} {d.rank} dimensions")
    taken = frozenset({x for t in (*k.tensors, *(f for t in starts for f in t.tensors)) for x in (t.name, *t.indices)
                       if x not in a.indices} | {s for t in (term, *starts) for s in t.names})
    lay = layout(apart(prefixed(d, f"{a.name}_", tuple(f"{a.name}_{s}" for s in d.shape)), taken))
    s, alike = _on_diagonal(scan(lay), a, lay.desc.shape)
    if a.across:
        s = _beside_diagonal(s, lay)
    rows = {a.indices[0]: lay.desc.permutation.array} if lay.desc.permutation else {}
    index = {x: s.coords[a.indices.index(x)] for x in a.indices}
    dense = tuple(dict.fromkeys(x for f in term.tensors for x in f.indices if x not in index))
    extent = dict(zip(a.indices, lay.desc.shape, strict=True)) | {x: f"n_{x}" for x in dense}
    free = tuple(x for x in dense if x in k.out.indices)
    same = k.out.name in formats
    if same and starts:
        raise bad_kernel("a sparse result is one product; dense terms would fill it")
    missing = [x for x in k.out.indices if x not in extent]
    if missing:
        raise bad_kernel(f"the index {missing[0]} of {k.out.name} is not in the product with {a.name}")
    if same and not keeps_places(k.out, a, formats):
        raise bad_kernel(f"a sparse result must have the format and the indices of {a.name}")
    return KernelPlan(k, a, lay, s, index, extent, free, tuple(x for x in dense if x not in free), same,
                      starts, alike, rows)


def _on_diagonal(s: Scan, a: Tensor, shape: tuple[str, ...]) -> tuple[Scan, tuple[tuple[str, str], ...]]:
    """The scan of the entries whose coordinates of one index are equal, and which extents must be."""
    pairs = [(a.indices.index(x), n) for n, x in enumerate(a.indices) if a.indices.index(x) != n]
    if not pairs:
        return s, ()
    guard = Guard(tuple(Constraint(s.coords[m] - s.coords[n], True) for m, n in pairs))
    return replace(s, nest=(*s.nest, guard), count=None), tuple((shape[m], shape[n]) for m, n in pairs)


def _beside_diagonal(s: Scan, lay: Layout) -> Scan:
    """The scan of the entries of a triangle that are not on the diagonal."""
    i, j = s.coords
    return replace(s, nest=(*s.nest, Guard((Constraint((i - j) * triangle(lay) - 1),))), count=None)


def keeps_places(out: Tensor, a: Tensor, formats: dict[str, Descriptor]) -> bool:
    """Does a sparse result have the format and the indices of its operand: one value for each of its entries?"""
    alone = len(set(a.indices)) == len(a.indices)
    return formats.get(out.name) == formats[a.name] and out.indices == a.indices and alone


def _starts(k: Kernel, terms: tuple[Term, ...], product: Term) -> tuple[Term, ...]:
    """The dense terms of a sum, each of the result's indices alone."""
    assert k.out is not None
    for t in terms:
        if any(set(f.indices) - set(k.out.indices) for f in t.tensors):
            raise bad_kernel("a dense term may only have the indices of the result")
    if k.out in product.tensors or (k.adds and any(k.out in t.tensors for t in terms)):
        raise bad_kernel(f"{k.out.name} is on both sides", hint="it may stand in a dense term of its own, as in "
                         "y(i) = A(i,j)*x(j) + beta*y(i)")
    return terms
