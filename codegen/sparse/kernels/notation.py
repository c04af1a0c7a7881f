"""Index notation: `y(i) = A(i,j) * x(j)`, `r(i) = b(i) - 0.5*A(i,j)*x(j)/d(i)`, `C(i,j) = A(i,j) + B(i,j)`,
`L(i,j) * x(j) = b(i)`. A name without indices is a scalar."""
from __future__ import annotations

from codegen.diagnostics import InputError, Loc
from codegen.record import record
from codegen.sparse.algebra.parse import Reader
from codegen.sparse.kernels.semiring import PLUS_TIMES, Semiring


@record
class Tensor:
    """A tensor at some indices."""

    name: str
    indices: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.indices)})"


@record
class Term:
    """A product with a sign. `over`: what it is divided by; `scalars`: names and numbers that it is multiplied by."""

    factors: tuple[Tensor, ...]
    sign: int = 1
    over: tuple[Tensor, ...] = ()
    scalars: tuple[str, ...] = ()

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return (*self.factors, *self.over)

    @property
    def scale(self) -> str:
        """What the product is multiplied by, as C; "" for nothing."""
        text = " * ".join(self.scalars)
        return f"-{text or '1'}" if self.sign < 0 else text


@record
class Kernel:
    """out = sum of terms (+= when `adds`). A system to solve has no `out`: matrix, unknown, right side.

    `upper`: the system's matrix is upper triangular.
    """

    text: str
    out: Tensor | None
    terms: tuple[Term, ...]
    adds: bool = False
    solve: tuple[Tensor, Tensor, Tensor] | None = None
    upper: bool = False
    semiring: Semiring = PLUS_TIMES

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        first = (self.out,) if self.out else self.solve or ()
        return tuple(dict.fromkeys((*first, *(f for t in self.terms for f in t.tensors))))

    @property
    def scalars(self) -> tuple[str, ...]:
        """Names of scalars, which are parameters."""
        return tuple(dict.fromkeys(s for t in self.terms for s in t.scalars if s.isidentifier()))


def bad_kernel(message: str, col: int = 0, hint: str = "") -> InputError:
    """An error in a kernel's notation."""
    return InputError("bad-kernel", message, Loc("<kernel>", 1 if col else 0, col), hint)


def read_kernel(text: str) -> Kernel:
    """The kernel a text describes."""
    try:
        return _Parser(text).kernel()
    except InputError as error:
        if error.id == "bad-kernel":
            raise
        raise bad_kernel(error.message, error.loc.col, error.hint) from None


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.r = Reader("<kernel>", text)

    def tensor(self) -> Tensor:
        name = self.r.ident("a tensor")
        indices: list[str] = []
        if not self.r.accept("("):
            return Tensor(name, ())
        while not self.r.accept(")"):
            if indices:
                self.r.expect(",")
            indices.append(self.r.ident("an index"))
        if len(set(indices)) != len(indices):
            raise bad_kernel(f"{name} has an index twice", self.r.loc.col)
        return Tensor(name, tuple(indices))

    def number(self) -> str:
        """12 or 0.5, as it is written."""
        first = self.r.here
        whole = self.r.integer("a number")
        if not self.r.peek(".") or self.r.loc.col != first.loc.col + len(first.text):
            return str(whole)
        self.r.at += 1
        part = self.r.here.text
        self.r.integer("digits")
        return f"{first.text}.{part}"

    def product(self, sign: int) -> Term:
        factors: list[Tensor] = []
        over: list[Tensor] = []
        scalars: list[str] = []
        divides = False
        while True:
            if self.r.here.kind == "num":
                found = self.number()
                scalars.append(f"(1.0 / {found})" if divides else found)
            else:
                t = self.tensor()
                if divides and not t.indices:
                    raise bad_kernel(f"{t.name} is a scalar, and only numbers and tensors divide", self.r.loc.col,
                                     "multiply by its inverse")
                if t.indices:
                    (over if divides else factors).append(t)
                else:
                    scalars.append(t.name)
            sign_ = self.r.accept("*", "/")
            if sign_ is None:
                return Term(tuple(factors), sign, tuple(over), tuple(scalars))
            divides = sign_ == "/"

    def left(self) -> tuple[Tensor, ...]:
        out = [self.tensor()]
        while self.r.accept("*"):
            out.append(self.tensor())
        return tuple(out)

    def kernel(self) -> Kernel:
        left = self.left()
        adds = self.r.accept("+") is not None
        self.r.expect("=")
        terms = [self.product(-1 if self.r.accept("-") else 1)]
        while self.r.peek("+", "-"):
            terms.append(self.product(-1 if self.r.accept("+", "-") == "-" else 1))
        upper = self.triangle() if self.r.accept(",") else False
        if self.r.here.kind != "end":
            raise bad_kernel(f"expected the end, found '{self.r.here.text}'", self.r.loc.col)
        made = self.system(left, terms, upper) if len(left) == 2 else None
        if made:
            return made
        if len(left) != 1:
            raise bad_kernel("the left side must be one tensor, or a matrix times an unknown", 1)
        self.check(left[0], terms)
        return Kernel(self.text, left[0], tuple(terms), adds)

    def triangle(self) -> bool:
        self.r.ident("an index")
        sign = self.r.accept("<=", ">=")
        if sign is None:
            raise bad_kernel("expected j <= i (lower) or j >= i (upper)", self.r.loc.col)
        self.r.ident("an index")
        return sign == ">="

    def system(self, left: tuple[Tensor, ...], terms: list[Term], upper: bool) -> Kernel | None:
        matrix, unknown = left
        plain = len(terms) == 1 and len(terms[0].factors) == 1 and terms[0] == Term(terms[0].factors)
        right = terms[0].factors[0] if plain else matrix
        sides = unknown.indices[1:]
        fits = plain and len(matrix.indices) == 2 and len(sides) <= 1 and not set(sides) & set(matrix.indices) \
            and unknown.indices == (matrix.indices[1], *sides) and right.indices == (matrix.indices[0], *sides)
        if not fits:
            raise bad_kernel("a system must have the form L(i,j) * x(j) = b(i) or L(i,j) * X(j,k) = B(i,k)", 1)
        return Kernel(self.text, None, (), solve=(matrix, unknown, right), upper=upper)

    def check(self, out: Tensor, terms: list[Term]) -> None:
        have = {x for t in terms for f in t.tensors for x in f.indices}
        missing = [x for x in out.indices if x not in have]
        if missing:
            raise bad_kernel(f"the index {missing[0]} of {out.name} is not on the right side")
        if len(terms) == 1 and out in terms[0].tensors:
            raise bad_kernel(f"{out.name} is on both sides")
        for t in terms:
            if any(f.name == out.name and f != out for f in t.tensors) or out.name in t.scalars:
                raise bad_kernel(f"{out.name} is on both sides, with other indices")
        scalars = {s for t in terms for s in t.scalars}
        for f in (f for t in terms for f in t.tensors if f.name in scalars):
            raise bad_kernel(f"{f.name} is a tensor and a scalar")
