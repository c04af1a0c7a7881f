"""Prints the parts of a matrix-vector kernel (loads, steps, transposed blocks, joined lanes) as C texts, which the
templates of its three loop orders (`matvec_lanes`, `matvec_across`, `matvec_fold`), and of two products in one
(`matvec_pair`), put into loops over arrays of vectors.

The loops have constant lengths at every call, so that compilers unroll them and keep the arrays in registers. In the
texts, `j` is the first element of a vector, `p` a step of the depth, `i` a row; `r` counts lines of the matrix, `v`
vectors, `g` groups of as many rows as a vector has lanes, and `q` the columns of such a group. A step is taken on a
variable (`acc`), not on an element of an array: of elements that are only passed on gcc makes one long expression each
and computes one sum after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from codegen.isa.text import bare
from codegen.isa.widths import is_open
from codegen.record import record
from codegen.target.matvec.lines import Ops, numbered
from codegen.target.matvec.shuffle import rotations, shuffle, transpose, transpose_open
from codegen.target.product.microkernel_view import plus, times

# So many requests for lines of cache are made at once, more one after the other.
FEW_REQUESTS = 4


@record
class MatrixNames:
    """A matrix of a kernel and its line distance; arrays of addresses: of its lines, and of copies of their ends; and
    the columns of its blocks."""

    start: str
    pitch: str
    line: str
    tail: str
    columns: str


@record
class FormTexts:
    """What the template prints of a kernel, whatever its form."""

    o: Ops

    @property
    def matrices(self) -> list[MatrixNames]:
        names = [numbered(stem, self.o.matrices) for stem in ("a", "pitch", "line", "tail", "t")]
        return [MatrixNames(*x) for x in zip(*names, strict=True)]

    @property
    def operands(self) -> list[tuple[str, str]]:
        """Each vector, and the name of its values in registers."""
        return list(zip(*(numbered(stem, self.o.operands) for stem in self.o.stems[:2]), strict=True))

    def addresses(self, stem: str, count: str) -> str:
        """Arrays of addresses, one for each matrix."""
        return f"const {self.o.scalar} {', '.join(f'*{x}[{count}]' for x in numbered(stem, self.o.matrices))};"

    def spot(self, matrix: int, before: int) -> str:
        """Where a copy of line r begins in an array that begins with copies of so many vectors."""
        lanes, lines = self.o.lanes, self.o.matrices
        if is_open(self.o.isa):
            return self.o.elements(plus(times(lines, "r"), str(matrix + before)))
        return plus(times(lanes * lines, "r"), str(lanes * (matrix + before)))

    def room(self, lines: str, before: int) -> str:
        """Elements of an array with copies of so many vectors, then of as many lines of each matrix."""
        if lines.isdigit():
            return self.o.elements(str(self.o.matrices * int(lines) + before))
        return self.o.elements(plus(times(self.o.matrices, lines), str(before)))

    def at(self, start: str, *more: str) -> str:
        return plus(start, *more)

    def vectors(self, name: str) -> str:
        """The distance of vector `name` from the first one."""
        return self.o.elements(name)

    def load(self, start: str, *more: str) -> str:
        return bare(self.o.load(plus(start, *more)))

    def dup(self, value: str) -> str:
        return bare(self.o.dup(value))

    def join(self, operation: str, other: str) -> str:
        return bare(self.o.call(operation, "acc", other))

    def step(self, at: Sequence[str], b: str = "") -> str:
        """The value of `acc` after a step with elements of the matrices from memory; `b` is the index of operands."""
        a = [self.o.load(plus(m.line + "[r]", *at)) for m in self.matrices]
        return self.o.value("acc", a, [f"{name}{b}" for _, name in self.operands])


def column_step(f: FormTexts, q: int) -> str:
    """The value of `acc` after a step with a column of a block; with columns by their numbers where lanes of a register
    are operands, since those have to be constants."""
    if f.o.by_lane:
        return f.o.value_by_lane("acc", [f"{m.columns}[g][{q}]" for m in f.matrices], f.operands[0][1], q)
    return f.o.value("acc", [f"{m.columns}[g][q]" for m in f.matrices], [f"{b}[q]" for _, b in f.operands])


def transposed(f: FormTexts, second: FormTexts | None = None) -> list[str]:
    """Lines that load and turn a block of every matrix. Of two products in one kernel the second takes its steps with
    the rows as they are, before they are turned."""
    o, out = f.o, list[str]()
    if is_open(o.isa):
        for m in f.matrices:
            row = plus(o.elements("g"), "r")
            load = f"{m.columns}[g][r] = {bare(o.load(f'{m.line}[{row}] + j'))};"
            all_rows = f"TW_UNROLL for (int r = 0; r < {o.count}; r++)"
            if second is None:
                out += [all_rows, f"  {load}"]
            else:
                steps = _row_step(second, row, f"{m.columns}[g][r]")
                out += [f"{all_rows} {{", f"  {load}", *(f"  {x}" for x in steps), "}"]
            out += transpose_open(o.isa, o.elem, f"{m.columns}[g]")
        return out
    for m, stem in zip(f.matrices, numbered("r", o.matrices), strict=True):
        rows = [f"{stem}_{r}" for r in range(o.lanes)]
        numbers = [plus(times(o.lanes, "g"), str(r)) for r in range(o.lanes)]
        out += [o.let(row, o.load(plus(f"{m.line}[{at}]", "j"))) for row, at in zip(rows, numbers, strict=True)]
        if second is not None:
            out += [x for row, at in zip(rows, numbers, strict=True) for x in _row_step(second, at, row)]
        mixed, columns = transpose(o.isa, o.elem, rows, f"{m.columns}_")
        for name, value in mixed:
            made = f"{m.columns}[g][{columns.index(name)}]" if name in columns else f"const {o.vector} {name}"
            out.append(f"{made} = {value};")
    return out


def _row_step(f: FormTexts, row: str, held: str) -> list[str]:
    """A step of `all`, elements of the result side by side, with a row of the matrix that a register holds; `top` keeps
    the last one. Steps under a condition would be rounded otherwise: compilers fuse a multiplication and an addition
    within straight code alone."""
    value = f.o.value("all", [held], [f"{b}[{row}]" for _, b in f.operands])
    return [f"all = {value};", f"if ({row} < m)", "  top = all;"]


def share(o: Ops, groups: int) -> str:
    """Of how many rows a line of cache is requested with each block of columns. Few requests stand at the beginning of
    a line, more are spread over it: many at a time hold up the loads. Neoverse N1, 4 rows, f64, 4096 x 4096: 15.6 GB/s
    at the beginning, 13.6 spread, 14.2 where gcc puts them; 8 rows, f32, 512 x 512: 19.1, 21.7 and 21.1."""
    rows = groups * o.lanes
    return str(rows if rows * o.matrices <= FEW_REQUESTS else -(-rows // (o.line // o.lanes)))


def open_share(o: Ops, rows: str) -> str:
    """The same for so many rows, whatever the width."""
    if not rows.isdigit():
        return f"{rows} * {o.count} / {o.line}"
    both = gcd(int(rows), o.line)
    share = times(int(rows) // both, o.count)
    return share if o.line == both else f"{share} / {o.line // both}"


def joined(f: FormTexts, join: str) -> list[str]:
    """`acc` with all its lanes joined in each of them, then with the element of y."""
    o = f.o
    lines = [f"acc = {bare(o.call(join, 'acc', shuffle(o.isa, o.elem, 'acc', 'acc', x)))};" for x in rotations(o.lanes)]
    return [*lines, f"acc = {bare(o.call(join, o.dup('y[i + r]'), 'acc'))};"]


def last_step(f: FormTexts) -> str:
    """The value of `acc` after step e, in every lane."""
    a = [f.o.dup(f"{m.line}[r][e]") for m in f.matrices]
    return f.o.value("acc", a, [f.o.dup(f"{x}[e]") for x, _ in f.operands])
