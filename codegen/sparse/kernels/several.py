"""Prints a dense result of several products with one sparse operand each as a function that calls an executor for each,
one after the other. `both_triangles` makes two products of one with a symmetric (skew) matrix of which one triangle is
stored."""
from __future__ import annotations

from dataclasses import replace

from codegen.sparse.emit.file import CFunction
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.formats.model import Descriptor
from codegen.sparse.kernels.executor import executor
from codegen.sparse.kernels.notation import Kernel, Tensor


def parameters_of(f: CFunction) -> list[str]:
    return f.prototype[f.prototype.index("(") + 1:-1].split(", ")


def both_triangles(k: Kernel, a: Tensor, mirror: int) -> Kernel:
    """A product with a matrix of which one triangle is stored, as two: with what is stored and with what is across."""
    term = next(t for t in k.terms if a in t.factors)
    turned = replace(a, indices=a.indices[::-1], across=True)
    other = replace(term, factors=tuple(turned if f == a else f for f in term.factors), sign=term.sign * mirror)
    return replace(k, terms=(*k.terms, other))


def several(k: Kernel, formats: dict[str, Descriptor], name: str, types: Types) -> tuple[CFunction, ...]:
    """The first product is stored with the dense terms, the others are added. Operands' extents must agree."""
    sparse = [t for t in k.terms if any(f.name in formats for f in t.factors)]
    dense = tuple(t for t in k.terms if t not in sparse)
    pieces = [replace(k, terms=(sparse[0], *dense)), *(replace(k, terms=(t,), adds=True) for t in sparse[1:])]
    made = [executor(piece, formats, f"{name}_{n}", types) for n, piece in enumerate(pieces)]
    parameters = dict.fromkeys(p for f in made for p in parameters_of(f))
    tensors = [p for p in parameters if "*" in p]
    scalars = [p for p in parameters if "*" not in p and not p.startswith("int64_t n_")]
    sizes = {p.split()[-1]: p for p in parameters if "*" not in p and p.startswith("int64_t n_")}
    given: dict[str, list[str]] = {}
    for t in sparse:
        for f in (f for f in t.factors if f.name in formats):
            for x, n in zip(f.indices, formats[f.name].shape, strict=True):
                given.setdefault(x, []).append(f"{f.name}->{n}")
    known = {n: given[n.removeprefix("n_")][0] for n in sizes if n.removeprefix("n_") in given}
    w = Writer()
    unlike = [f"{e} != {es[0]}" for es in given.values() for e in dict.fromkeys(es[1:]) if e != es[0]]
    if unlike:
        w.line(f"if ({' || '.join(unlike)})")
        w.line("    return TW_SPARSE_RANGE;")
    for number, part in enumerate(made):
        arguments = [p.split()[-1].lstrip("*") for p in parameters_of(part)]
        if number:
            w.line("if (status == TW_SPARSE_OK)")
        w.line(f"{'    ' * (number > 0)}status = {name}_{number}({', '.join(known.get(a, a) for a in arguments)});")
    own = [*tensors, *scalars, *(p for n, p in sizes.items() if n not in known)]
    whole = CFunction(f"/* {k.text}, one product after the other. */", f"int {name}({', '.join(own)})",
                      "    int status = TW_SPARSE_OK;\n", w.text, "")
    return (*(replace(f, prototype=f"static {f.prototype}") for f in made), whole)
