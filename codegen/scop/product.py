"""Records of products (contractions): the statement's operands and loops, and the block sizes by which it is carried
out."""

from __future__ import annotations

from typing import Union

from codegen.record import record
from codegen.scop.expr import Expr
from codegen.scop.lanes import Lane


@record
class ProductStep:
    """What one step computes, in element type `elem`; operands and constants are C expressions.

    With `careful`, elements of the target that no step changes must not be written: they may belong to others.
    `narrow` is an element type of half the width that holds all factors of a sum of products, "" where there is none.
    """

    elem: str
    lane: Lane
    left: tuple[Expr, ...]
    right: tuple[Expr, ...]
    consts: tuple[Expr, ...]
    careful: bool = False
    narrow: str = ""


@record
class Contraction:
    """A statement C = F(C, left, right, constants). All numbers are positions of its iterators.

    `left` varies with rows and depth, `right` with depth and columns, C with rows and columns; `outer` iterators are
    fixed by loops around it. Without columns it is a matrix-vector product.
    """

    stmt: str
    outer: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    depth: tuple[int, ...]
    step: ProductStep
    own: int  # number of the access that reads the target
    cut: bool = False  # corners are cut off the box that its iterators run through

    @property
    def inner(self) -> tuple[int, ...]:
        """The iterators that run inside the product, in the order of its plain nest: columns vary fastest."""
        return (*self.rows, *self.depth, *self.columns)


@record
class Exact:
    """An order of loops for products of exactly the sizes that it covers, outermost first: (loop, iterations, rest,
    marks).

    An iteration of a loop covers what the loops of the same name inside it cover; the rest is done after the full
    iterations. Innermost is the vector loop. Marks name operands, A for left and B for right, that are copied before
    the loop into the order in which they are read; with a T, threads share the loop. `strides`, where given, are those
    of left, right and target: how many elements further a loop's next value lies. Without them arrays are dense.
    Everything inside is code for these numbers alone.
    """

    loops: tuple[tuple[str, int, int, str], ...]
    strides: tuple[tuple[tuple[str, int], ...], ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """How many values of each variable the loops run through, in the order of the outermost."""
        covered = {name: 1 for name, _, _, _ in self.loops}
        for name, size, rest, _ in reversed(self.loops):
            covered[name] = covered[name] * size + rest
        return covered


@record
class Blocking:
    """How a product runs: the register tile (rows x vectors), and blocks of rows, depth and columns.

    `direct` is the number of steps up to which operands are used where they lie, without packing; from `threads`
    steps on, threads share the work. `spread` packs every value of the left operand as often as a vector has lanes.
    With `run`, so many columns of the right operand stay in the second cache, while tiles are gone through along rows
    of the result; with 0, a sliver of them stays in the first cache, and tiles are gone through down columns. Products
    of certain sizes may have loops of their own, `exact`. With `fitted`, the text finds out the sizes of caches when it
    runs and makes its blocks for them; those here are for caches that are assumed.
    """

    isa: str
    bits: int
    mr: int
    nv: int
    mc: int
    kc: int
    nc: int
    direct: int = 0
    threads: int = 0
    spread: bool = False
    exact: tuple[Exact, ...] = ()
    run: int = 0
    fitted: bool = False


@record
class MatrixVector:
    """How a matrix-vector product runs. The matrix is read once, in `streams` of its lines at a time.

    form "lanes": lanes run along the result; `streams` steps of the depth are taken together on `vectors` vectors.
    form "across": lines run along the depth; `streams` rows at a time are transposed in registers, so that lanes run
    along the result and every element keeps its order. form "fold": as "across" but with `vectors` sums beside each
    other in every row, joined at the end; only where the order of steps is free.

    `block` elements of the vector that is used again stay in cache, `shared` where threads share the work. Lines are
    fetched `ahead` elements before their use. Matrices of more than `near` elements are read line by line instead,
    unless the vector that is used again is longer than `close`. Below `direct` steps the plain nest runs, from
    `threads` steps on threads share the work. Addresses `period` elements apart share a set of the first cache, which
    holds `ways` of them; lines that lie so close to that that more would meet are taken in smaller groups. 0 is for
    fewer streams than that. Where the width of vectors is left open, wide ones take `wide` streams; 0 is
    for as many as others. `pair` lines go together where a product along the lines of the same matrix stands beside it:
    one kernel carries out both. With 0, each is carried out by itself.
    """

    form: str
    isa: str
    bits: int
    streams: int
    vectors: int
    block: int
    shared: int
    ahead: int
    near: int
    close: int
    direct: int = 0
    threads: int = 0
    period: int = 0
    ways: int = 0
    wide: int = 0
    pair: int = 0


@record
class Nested:
    """A product that runs in the first of its nests that fits; where none does, as its plain nest."""

    isa: str
    bits: int
    exact: tuple[Exact, ...]


How = Union[Blocking, MatrixVector, Nested]


def in_registers(how: How) -> bool:
    """Whether sums may stay in registers while operands are read where they lie, be it in the target's own array."""
    return isinstance(how, MatrixVector) or any(x.strides for x in how.exact)


@record
class Product:
    what: Contraction
    how: How
