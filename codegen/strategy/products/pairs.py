"""Finds pairs of matrix-vector products that one kernel carries out (`target/matvec/pair.py`), and how many lines of
their matrix it takes at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from codegen.machine.processor import Processor
from codegen.recognize.products.matrix_vector import matrices
from codegen.scop.product import Contraction
from codegen.strategy.products.matrix_vector import sizes
from codegen.target.matvec.pair import tied
from codegen.transform.program import Program

# Lines at a time: each is a step of the result along them, which is loaded and stored once for all. Neoverse N1, f64,
# bicg in microseconds by 4, 6, 8 and 12 lines: 400 x 400 69, 64, 63 and 65; 2100 x 1900 2070, 1910, 1910 and 2190.
LINES = 8


def paired(p: Program, products: Sequence[Contraction], forms: Mapping[str, str]) -> frozenset[str]:
    """Those of products, in their order, whose sums along lines of the matrix are taken beside the neighbour's."""
    found = set[str]()
    for x, y in pairwise(products):
        both = {forms[w.stmt]: w for w in (x, y)}
        same = matrices(p.scop, x) == matrices(p.scop, y) and all(len(w.step.left) == 1 for w in (x, y))
        if set(both) == {"lanes", "across"} and same and not tied(*(p.scop.statement(w.stmt) for w in (x, y))):
            found.add(both["across"].stmt)
    return frozenset(found)


def pair_lines(cpu: Processor) -> int:
    """Lines of the matrix that a kernel of two products takes at a time."""
    usual = sizes("across", cpu)[1]
    return usual if LINES % cpu.lanes else max(usual, LINES)
