"""Memory model of a core: arrays in main memory, boxes of them in local memory, and the DMA commands between the two.

A command is read as what it does to memory: so many blocks of so many elements, one after the other in local memory, so
far apart in main memory. Together with the shape by which local memory is addressed that is a box of the array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from codegen.ast.ctree import Bin, CExpr, Int, substitute
from codegen.scop.model import Array, Scop
from codegen.verify.cores.expr import integer, polynomial, same
from codegen.verify.poly import ONE, ZERO, Poly, poly, total, var
from codegen.verify.text.read import Node, Unread, read_expression


class MainArray(NamedTuple):
    """An array in main memory: elements between neighbours along each dimension, and sizes of all but the first."""

    array: str
    strides: tuple[Poly, ...]
    sizes: tuple[CExpr, ...]  # of dimensions from the second on; none where it is addressed by one number
    bytes: int

    @property
    def flat(self) -> bool:
        return len(self.sizes) + 1 < len(self.strides)


class TransferCommand(NamedTuple):
    """One kind of command in loops over `steps`: elements from `at` on to or from a place in a buffer."""

    put: bool
    outside: MainArray
    at: tuple[CExpr, ...]
    buffer: str
    copy: str  # which of two copies, as printed
    offset: CExpr
    total: CExpr
    gap: CExpr
    block: CExpr
    reply: str
    steps: tuple[tuple[str, CExpr], ...] = ()  # names and how often
    shared: bool = False  # for all cores at once

    def commands(self) -> Poly:
        product = ONE
        for _, often in self.steps:
            product = product * polynomial(often)
        return product

    def later(self, env: dict[str, CExpr]) -> TransferCommand:
        """With other values for names."""
        at = tuple(substitute(e, env) for e in self.at)
        steps = tuple((n, substitute(e, env)) for n, e in self.steps)
        total, gap, block, offset = (substitute(e, env) for e in (self.total, self.gap, self.block, self.offset))
        return self._replace(at=at, total=total, gap=gap, block=block, offset=offset, steps=steps)


class BoxCopy(NamedTuple):
    """A box of an array in a buffer, for the time of a part of the program."""

    name: str  # by which the box is addressed
    buffer: str
    array: str
    lows: tuple[CExpr, ...]
    lens: tuple[CExpr, ...]
    get: bool
    put: bool
    ahead: bool = False
    when: CExpr | None = None
    late: bool = False  # a put is waited for only when the buffer is needed again
    kept: str = ""  # where a tile is that stays with its core
    stays: str = ""  # what tells whether it does


def outside_of(scop: Scop, array: Array, sizes: Sequence[CExpr], names: Mapping[str, CExpr]) -> MainArray:
    """An array as it lies in main memory, for a pointer to rows of `sizes`."""
    path = next(a.path for _, a in scop.accesses() if a.array == array.name)
    if len(path) == 1 and path[0].kind == "flat":
        strides = tuple(polynomial(integer(read_expression(t), names)) for t in path[0].strides)
        return MainArray(array.name, strides, (), array.elem.bytes)
    wanted = [integer(read_expression(t), names) for t in array.extents[1:]]
    if len(wanted) != len(sizes) or not all(map(same, sizes, wanted)):
        raise Unread(f"rows of `{array.name}` have another length")
    apart = [ONE]
    for e in reversed(wanted):
        apart.insert(0, apart[0] * polynomial(e))
    return MainArray(array.name, tuple(apart[: array.rank]), tuple(wanted), array.elem.bytes)


def place(outside: MainArray, subscripts: Sequence[Node], names: Mapping[str, CExpr]) -> tuple[CExpr, ...]:
    """The coordinates of an element whose address is taken."""
    if not outside.flat:
        if len(subscripts) != len(outside.strides):
            raise Unread(f"`{outside.array}` has more or fewer subscripts")
        return tuple(integer(s, names) for s in subscripts)
    if len(subscripts) != 1:
        raise Unread(f"`{outside.array}` has more than one subscript")
    terms, found = _terms(subscripts[0]), []
    for stride in outside.strides[:-1]:
        factor = next((t for t in terms if t.kind == "binary" and t.text == "*"
                       and polynomial(integer(t.kids[1], names)) == stride), None)  # fmt: skip
        found.append(Int(0) if factor is None else integer(factor.kids[0], names))
        terms = [t for t in terms if t is not factor]
    rest: CExpr = Int(0)
    for t in terms:
        rest = Bin("+", rest, integer(t, names))
    result = (*found, rest)
    flat = total(polynomial(e) * p for e, p in zip(result, outside.strides, strict=True))
    if flat != polynomial(integer(subscripts[0], names)):
        raise Unread(f"an address in `{outside.array}`")
    return result


def _terms(e: Node) -> list[Node]:
    if e.kind == "binary" and e.text == "+":
        return [*_terms(e.kids[0]), *_terms(e.kids[1])]
    return [e]


class Monomial(NamedTuple):
    """A product of expressions and a number."""

    number: int
    factors: tuple[CExpr, ...]

    def over(self, other: Monomial) -> Monomial:
        if other.number == 0 or self.number % other.number:
            raise Unread("a number of bytes that is no whole number of elements")
        left = list(self.factors)
        for f in other.factors:
            mine = next((x for x in left if same(x, f)), None)
            if mine is None:
                raise Unread("a number of bytes that is no whole number of rows")
            left.remove(mine)
        return Monomial(self.number // other.number, tuple(left))

    @property
    def value(self) -> CExpr:
        if not self.factors:
            return Int(self.number)
        out = self.factors[0]
        for f in (*self.factors[1:], *((Int(self.number),) if self.number != 1 else ())):
            out = Bin("*", out, f)
        return out

    @property
    def polynomial(self) -> Poly:
        out = poly(self.number)
        for f in self.factors:
            out = out * polynomial(f)
        return out


def product(e: CExpr) -> Monomial:
    if isinstance(e, Int):
        return Monomial(e.value, ())
    if isinstance(e, Bin) and e.op == "*":
        a, b = product(e.left), product(e.right)
        return Monomial(a.number * b.number, (*a.factors, *b.factors))
    return Monomial(1, (e,))


def box(c: TransferCommand, shape: Sequence[CExpr]) -> tuple[tuple[CExpr, ...], tuple[CExpr, ...]]:
    """The part of the array that a command moves, where local memory holds rows of this shape: first coordinates and
    lengths. The shape has the lengths of all dimensions but the first."""
    o, rank = c.outside, len(c.outside.strides)
    if len(shape) != rank - 1:
        raise Unread(f"a box of `{o.array}` in another number of dimensions")
    lows, loops = _loops(c)
    size = Monomial(o.bytes, ())
    whole = product(c.total).over(size)
    lens: list[CExpr | None] = [loops.get(0), *(loops.get(k + 1) for k in range(rank - 1))]
    for k, e in enumerate(shape):
        if lens[k + 1] is not None and not same(lens[k + 1], e):  # type: ignore[arg-type]
            raise Unread(f"a box of `{o.array}` whose rows have another length")
        lens[k + 1] = e
    row, run = -1, whole
    if polynomial(c.block) != ZERO:
        run = product(c.block).over(size)
        row = _row(c, run)
        rows = whole.over(run).value
        if lens[row] is not None and not same(lens[row], rows):  # type: ignore[arg-type]
            raise Unread(f"a command that moves more or fewer rows of `{o.array}` than its box has")
        lens[row] = rows
    elif polynomial(c.gap) != ZERO:
        raise Unread("a gap between no blocks")
    inner = [k for k in range(row + 1, rank) if k not in loops]
    if lens[0] is None:
        rest = run
        for k in inner:
            if k:
                rest = rest.over(product(shape[k - 1]))
        lens[0] = rest.value
    sizes = [e for e in lens if e is not None]
    _check_run(o, sizes, [k for k in range(rank) if k not in loops and k != row], inner, run)
    offset = total(var(n) * _after(sizes, k) for k, (n, _) in zip(sorted(loops), c.steps, strict=True))
    if offset != polynomial(c.offset):
        raise Unread(f"a row of `{o.array}` in another place of local memory")
    return lows, tuple(sizes)


def _loops(c: TransferCommand) -> tuple[tuple[CExpr, ...], dict[int, CExpr]]:
    """Where the box begins, and the dimensions along which commands follow each other, with their lengths."""
    lows, loops = list(c.at), dict[int, CExpr]()
    for name, often in c.steps:
        moved = [k for k, e in enumerate(c.at) if name in polynomial(e).names]
        apart = [polynomial(c.at[k]) - polynomial(substitute(c.at[k], {name: Int(0)})) for k in moved]
        if apart != [var(name)]:
            raise Unread(f"commands for `{c.outside.array}` that go on by no dimension")
        lows[moved[0]] = substitute(lows[moved[0]], {name: Int(0)})
        loops[moved[0]] = often
    if list(loops) != sorted(loops) or len(loops) != len(c.steps):
        raise Unread(f"commands for `{c.outside.array}` in another order")
    return tuple(lows), loops


def _row(c: TransferCommand, run: Monomial) -> int:
    """The dimension along which the blocks of a command follow each other."""
    stride = polynomial(c.gap) + run.polynomial * c.outside.bytes
    for k, p in enumerate(c.outside.strides[:-1]):
        if p * c.outside.bytes == stride:
            return k
    raise Unread(f"a gap between rows of `{c.outside.array}` that is none of its own")


def _check_run(
    o: MainArray, sizes: Sequence[CExpr], single: Sequence[int], inner: Sequence[int], run: Monomial
) -> None:
    """The elements of a block are a box without gaps: rows as a whole behind the first dimension that is not one."""
    product_ = ONE
    for k in inner:
        product_ = product_ * polynomial(sizes[k])
    if product_ != run.polynomial:
        raise Unread(f"a command that moves more or less of a row of `{o.array}` than its box has")
    first = next((k for k in inner if not same(sizes[k], Int(1))), inner[-1] if inner else 0)
    for k in inner:
        if k > first and (o.flat or not same(sizes[k], o.sizes[k - 1])):
            raise Unread(f"a command that moves parts of rows of `{o.array}` as if they lay side by side")
    if any(k not in inner and not same(sizes[k], Int(1)) for k in single):
        raise Unread(f"a command that moves one row of `{o.array}` in place of several")


def _after(sizes: Sequence[CExpr], k: int) -> Poly:
    out = ONE
    for e in sizes[k + 1 :]:
        out = out * polynomial(e)
    return out
