"""The `Stream` record of a sparse conversion: a loop nest with the coordinates and the value of one entry at each
iteration, made of a scan of the source format or of arrays that hold the entries in order."""
from __future__ import annotations

from codegen.record import record
from codegen.sparse.algebra.expr import Exp, call, num, var
from codegen.sparse.algebra.terms import subst
from codegen.sparse.ir.nest import For, Let, Nest
from codegen.sparse.synth.model import Layout
from codegen.sparse.synth.scan import Scan


@record
class Stream:
    """`count`: how many entries, when known; `position`: the entry's number, when the nest has it."""

    nest: Nest
    coords: tuple[Exp, ...]
    value: Exp
    count: Exp | None
    position: Exp | None

    def at(self, target: Layout, e: Exp) -> Exp:
        """An expression over the destination's coordinates as one over this nest."""
        return subst(e, dict(zip(target.coords, self.coords, strict=True)))


def of_scan(s: Scan) -> Stream:
    return Stream(s.nest, s.coords, s.value, s.count, var(s.position) if s.position else None)


def of_arrays(arrays: tuple[str, ...], values: str, count: Exp) -> Stream:
    """Entries that were put into arrays in the order they are needed in."""
    o = var("o")
    lets = tuple(Let(f"x{d}", call(a, o)) for d, a in enumerate(arrays))
    return Stream((For("o", num(0), count), *lets), tuple(var(x.var) for x in lets), call(values, o), count, o)
