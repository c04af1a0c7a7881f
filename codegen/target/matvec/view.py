"""Converts a matrix-vector product of the C tree to `MatvecView`, the record that `matvec.c.j2` prints: kernel,
pointers, line strides (`pitch`), sizes, vectors to copy first. Also states what the printed text has to compute
(`MatvecWanted`), for the proof of the text."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.ast.ctree import Bin, CExpr, CNode, For, Held, Instance, Int, Name, ProductNode, substitute
from codegen.isa.load import load as load_isa
from codegen.isa.model import C_TYPES, bits_of
from codegen.isa.text import LINE_BYTES
from codegen.isa.widths import OPEN, WIDE, WIDTHS, lanes_macro
from codegen.recognize.products.contraction import unit_stride
from codegen.recognize.products.matrix_vector import fold, same_type, writes_matrix
from codegen.record import mutable, record
from codegen.scop.expr import Expr, Ref
from codegen.scop.model import Scop
from codegen.scop.product import Contraction, MatrixVector
from codegen.target.matvec.kernel import MatvecKernel, grouped, name, together
from codegen.target.text.body import BodyPrinter
from codegen.target.text.cexpr import IntPrinter

# Vectors at a time where lines are read one by one: enough for the steps in flight, in whole lines of cache.
ALONE = 8
COUNTER = "tw_i"
# Processors with longer vectors than the default ones have a third cache, at least so many times as large as the last
# one of the default machine. Emerald Rapids, f64, 300 x 300 along the result: 10.5 us, one line after the other 21 us.
LARGER = 16
# Of those with short ones, the third cache is taken to be as large as servers have it.
SERVER = 64
# A matrix that was just written is behind that written part in the second cache, of at least twice that size. Neoverse
# N1, f64, gemver, one line after the other and several: 300 x 300, 123 and 118 us; 400 x 400, 216 and 239 us.
WRITTEN = 5


@record
class Matrix:
    """Where a matrix begins, and how far its lines are apart."""

    pointer: str
    pitch: str


@record
class VectorOperand:
    """`pointer` to the elements themselves, or "" where they are copied first; `value` is number tw_i of them."""

    pointer: str
    value: str


@record
class MatvecWanted:
    """What a matrix-vector product has to do, for the proof of its text: C texts of its statement's parts in row tw_I
    and depth tw_K, from `first` up to before `past` of each. Those in `whole` are elements of one piece of memory, of
    the type of the computation."""

    what: Contraction
    how: MatrixVector
    left: tuple[str, ...]
    right: tuple[str, ...]
    target: str
    consts: tuple[str, ...]
    first: tuple[str, str]
    past: tuple[str, str]
    whole: frozenset[str]


@record
class MatvecView:
    """Everything the template prints. `unit` is what is never cut apart when threads share the result. Lines are taken
    `together` at a time, but not where one of the conditions `alone` holds; `grouped` tells whether they ever are.
    `beside` is a product of the same matrix that its kernel carries out, too (`pair.py`), where `serial` holds if that
    is there: else both are carried out by themselves."""

    comment: str
    elem: str
    kernel: str
    how: MatrixVector
    rows: str
    depth: str
    along: str
    over: str
    matrices: tuple[Matrix, ...]
    operands: tuple[VectorOperand, ...]
    target: VectorOperand
    consts: tuple[str, ...]
    unit: str
    threads: bool
    grouped: bool
    together: str
    alone: tuple[str, ...]
    wanted: MatvecWanted
    beside: MatvecView | None = None
    serial: str = ""

    @property
    def threads_from(self) -> str:
        """Steps from which on threads share it. Longer vectors take more of a near matrix in a cycle, and threads that
        have a piece of every line find them where others left them: with AVX-512 on Cascade Lake, two threads take 1.6
        times as long as one for atax with n = 200, as long with 350, and 0.8 with 400."""
        how = self.how
        if how.isa != OPEN or how.form != "lanes" or how.threads % WIDTHS[0]:
            return str(how.threads)
        return f"{how.threads // WIDTHS[0]} * TW_VECTOR_BYTES"

    @property
    def lines(self) -> str:
        """How many lines are taken together, in words."""
        return f"{self.how.streams} or {self.how.wide}" if self.how.wide else str(self.how.streams)

    @property
    def alone_why(self) -> str:
        far = ["From memory, one line after the other comes fastest."] if self.how.form != "across" else []
        crowd = ["Lines that meet in the same places of the cache push each other out."] if self.crowded else []
        return " ".join([*far, *crowd])

    @property
    def crowded(self) -> bool:
        """May several lines be more than the places of the cache that they share?"""
        return self.how.period > 0 and any("tw_crowded" in x for x in self.alone)

    def several(self, lines: str) -> str:
        """How many of the lines are taken several at a time."""
        groups = f"{lines if lines.isidentifier() else f'({lines})'} / {self.together} * {self.together}"
        return f"tw_alone ? 0 : {groups}" if self.alone else groups

    @property
    def copies(self) -> tuple[str, ...]:
        """Lengths of the vectors that need room of their own."""
        mine = ["tw_depth" for x in self.operands if not x.pointer]
        return (*mine, *(["tw_rows"] if not self.target.pointer else []))


def matvec_kernel_of(what: Contraction, how: MatrixVector) -> MatvecKernel:
    """The kernel that a product calls."""
    step = what.step
    how_joined = fold(step.lane) if how.form == "fold" else None
    return MatvecKernel(
        how.form,
        step.elem,
        step.lane,
        len(step.left),
        len(step.right),
        len(step.consts),
        how.streams,
        how.vectors,
        ALONE,
        how.ahead,
        how_joined.join if how_joined else "",
        how_joined.neutral if how_joined else "",
        how.wide,
    )


@mutable
class MatvecPrinter:
    """Makes the view of one product."""

    scop: Scop
    ints: IntPrinter
    held: dict[str, Held]

    def view(self, node: ProductNode, threads: bool) -> MatvecView:
        what, how = node.product.what, node.product.how
        assert isinstance(how, MatrixVector)
        self.s, self.what = self.scop.statement(what.stmt), what
        (self.rows, self.depth), self.instance = _open(node.body)
        isa, kernel = load_isa(how.isa, how.bits), matvec_kernel_of(what, how)
        self.elem = C_TYPES[what.step.elem]
        line = LINE_BYTES * 8 // bits_of(what.step.elem)
        return MatvecView(
            f"{self.s.name}: {self.s.source}",
            self.elem,
            name(isa, kernel),
            how,
            self._size(self.rows),
            self._size(self.depth),
            self.rows.loop.name,
            self.depth.loop.name,
            tuple(self._matrix(k, e, how) for k, e in enumerate(what.step.left)),
            tuple(self._vector(e) for e in what.step.right),
            self._target(),
            tuple(f"{self.elem} tw_s{k} = {self._text(e, {})};" for k, e in enumerate(what.step.consts)),
            str(line) if how.form == "lanes" else _unit(kernel, line),
            threads,
            grouped(isa, kernel),
            together(kernel),
            self._alone(how, line, threads) if grouped(isa, kernel) else (),
            self._wanted(how),
        )

    def wanted(self, node: ProductNode) -> MatvecWanted:
        """What a product has to do."""
        what, how = node.product.what, node.product.how
        assert isinstance(how, MatrixVector)
        self.s, self.what = self.scop.statement(what.stmt), what
        (self.rows, self.depth), self.instance = _open(node.body)
        return self._wanted(how)

    def _wanted(self, how: MatrixVector) -> MatvecWanted:
        """The statement's parts, printed in coordinates that have one name each."""
        step, place = self.what.step, {self.rows.var: Name("tw_I"), self.depth.var: Name("tw_K")}
        at, printer = self._at(place), BodyPrinter(self.scop, self.ints, self.held)
        target = printer.access(self.s, at, self.s.target)
        numbers = [e.access for e in (*step.left, *step.right) if isinstance(e, Ref)]
        whole = {printer.access(self.s, at, k) for k in (*numbers, self.s.target) if self._whole(k)}
        return MatvecWanted(
            self.what,
            how,
            tuple(self._text(e, place) for e in step.left),
            tuple(self._text(e, place) for e in step.right),
            target,
            tuple(self._text(e, {}) for e in step.consts),
            (self.ints.text(self.rows.lower, 5), self.ints.text(self.depth.lower, 5)),
            (self.ints.wide(self.rows.upper, 5), self.ints.wide(self.depth.upper, 5)),
            frozenset(whole),
        )

    def _whole(self, number: int) -> bool:
        """Is the array one piece of memory, of elements of the type of the computation?"""
        a = self.s.accesses[number]
        array = self.scop.arrays[a.array]
        plain = array.inside or (array.depth <= 1 and all(x.kind in ("sub", "flat") for x in a.path))
        return plain and same_type(array.elem, self.what.step.elem)

    def _size(self, lp: For) -> str:
        high = self.ints.wide(lp.upper, 5)
        return high if lp.lower == Int(0) else f"{high} - {self.ints.text(lp.lower, 6)}"

    def _alone(self, how: MatrixVector, line: int, threads: bool) -> tuple[str, ...]:
        """When lines are not taken several at a time: far matrices, and lines that meet in the first cache."""
        out, step = [], self.what.step
        if how.form != "across":
            team = "tw_team == 1 && " if threads and how.form == "lanes" else ""
            reused = "tw_rows" if how.form == "lanes" else "tw_depth"
            wide, short = LARGER * how.near, (WRITTEN if writes_matrix(self.scop, self.what) else SERVER) * how.near
            near = f"TW_VECTOR_BYTES > {WIDTHS[0]} ? {wide} : {short}" if how.isa == OPEN else str(how.near)
            out.append(f"{team}tw_work > TW_SIZE({near}) && {reused} <= TW_SIZE({how.close})")
        lines = how.wide or how.streams
        if how.period and lines > how.ways:
            sizes = f"{lines}, {how.period}, {line}, {how.ways}"
            wide_ones = f"{lanes_macro(step.elem)} >= {WIDE} && " if how.wide else ""
            out += [f"{wide_ones}tw_crowded(tw_pitch{m}, {sizes})" for m in range(len(step.left))]
        return tuple(f"({x})" if "&&" in x and len(out) > 1 else x for x in out)

    # -- elements ----------------------------------------------------------------------------------

    def _first(self, **later: CExpr) -> dict[str, CExpr]:
        """Values of the two loops: their first ones, or so much later."""
        out: dict[str, CExpr] = {}
        for k, lp in (("rows", self.rows), ("depth", self.depth)):
            more = later.get(k)
            out[lp.var] = lp.lower if more is None else more if lp.lower == Int(0) else Bin("+", lp.lower, more)
        return out

    def _at(self, env: Mapping[str, CExpr]) -> Instance:
        def put(e: CExpr) -> CExpr:
            return substitute(e, dict(env))

        i = self.instance
        return Instance(
            i.stmt,
            tuple(put(e) for e in i.iterators),
            tuple(tuple(put(e) for e in a) for a in i.accesses),
            tuple(put(e) for e in i.values),
        )

    def _text(self, e: Expr, env: Mapping[str, CExpr]) -> str:
        return BodyPrinter(self.scop, self.ints, self.held)._text(e, self.s, self._at(env), 1)

    def _address(self, number: int, env: Mapping[str, CExpr]) -> str:
        return f"&{BodyPrinter(self.scop, self.ints, self.held).access(self.s, self._at(env), number)}"

    def _matrix(self, k: int, e: Expr, how: MatrixVector) -> Matrix:
        """Its pitch is counted from the variable `tw_a<k>`: of two addresses in one expression gcc says that their
        difference overflows, where rows go backwards. A matrix of one line has no next one that could be named."""
        assert isinstance(e, Ref)
        start = self._address(e.access, self._first())
        across = "depth" if how.form == "lanes" else "rows"
        later = self._address(e.access, self._first(**{across: Name(f"(long)(tw_{across} > 1)")}))
        return Matrix(f"(const {self.elem} *){start}", f"(const {self.elem} *){later} - tw_a{k}")

    def _vector(self, e: Expr) -> VectorOperand:
        value = self._text(e, self._first(depth=Name(COUNTER)))
        if isinstance(e, Ref) and self._in_place(e.access, self.depth, self.what.depth[0]):
            return VectorOperand(f"(const {self.elem} *){self._address(e.access, self._first())}", value)
        return VectorOperand("", value)

    def _target(self) -> VectorOperand:
        number = self.s.target
        value = BodyPrinter(self.scop, self.ints, self.held).access(
            self.s, self._at(self._first(rows=Name(COUNTER))), number
        )
        if self._in_place(number, self.rows, self.what.rows[0]):
            return VectorOperand(f"({self.elem} *){self._address(number, self._first())}", value)
        return VectorOperand("", value)

    def _in_place(self, number: int, lp: For, d: int) -> bool:
        """Do the elements lie side by side, in the type of the computation?"""
        a = self.s.accesses[number]
        array = self.scop.arrays[a.array]
        if array.inside:
            return self._kept_in_line(number, lp) and same_type(array.elem, self.what.step.elem)
        plain = array.depth <= 1 and all(x.kind in ("sub", "flat") for x in a.path)
        forward = self.instance.iterators[d] == Name(lp.var)
        typed = same_type(array.elem, self.what.step.elem)
        return plain and forward and typed and unit_stride(self.scop, self.s, number, d)

    def _kept_in_line(self, number: int, lp: For) -> bool:
        """Is a variable of the region kept as one array, indexed by the loop?"""
        sizes = self.held[self.s.accesses[number].array].sizes
        kept = [e for e, size in zip(self.instance.accesses[number], sizes, strict=True) if size]
        return kept == [Name(lp.var)]


def _unit(kernel: MatvecKernel, line: int) -> str:
    """Rows that no two threads share: whole lines of cache of the result, and whole groups. Of what is left over of
    those, compilers may round other steps than of groups; that has to be the same whatever the number of threads."""
    return together(kernel) if kernel.streams >= line else str(max(kernel.wide, line))


def _open(node: CNode) -> tuple[tuple[For, For], Instance]:
    """The two loops of the plain nest and its statement."""
    assert isinstance(node, For) and isinstance(node.body, For) and isinstance(node.body.body, Instance)
    return (node, node.body), node.body.body
