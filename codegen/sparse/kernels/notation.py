"""Index notation: `y(i) = A(i,j) * x(j)`, `C(i,j) = A(i,j) + B(i,j)`, `L(i,j) * x(j) = b(i)`."""
from __future__ import annotations

from codegen.diagnostics import InputError, Loc
from codegen.record import record
from codegen.sparse.algebra.parse import Reader


@record
class Tensor:
    """A tensor at some indices."""

    name: str
    indices: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.indices)})"


@record
class Term:
    """A product with a sign."""

    factors: tuple[Tensor, ...]
    sign: int = 1


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

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        first = (self.out,) if self.out else self.solve or ()
        return tuple(dict.fromkeys((*first, *(f for t in self.terms for f in t.factors))))


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
        self.r.expect("(", f" after {name}")
        while not self.r.accept(")"):
            if indices:
                self.r.expect(",")
            indices.append(self.r.ident("an index"))
        if len(set(indices)) != len(indices):
            raise bad_kernel(f"{name} has an index twice", self.r.loc.col)
        return Tensor(name, tuple(indices))

    def product(self, sign: int) -> Term:
        factors = [self.tensor()]
        while self.r.accept("*"):
            factors.append(self.tensor())
        return Term(tuple(factors), sign)

    def kernel(self) -> Kernel:
        left = self.product(1)
        adds = self.r.accept("+") is not None
        self.r.expect("=")
        terms = [self.product(-1 if self.r.accept("-") else 1)]
        while self.r.peek("+", "-"):
            terms.append(self.product(-1 if self.r.accept("+", "-") == "-" else 1))
        upper = self.triangle() if self.r.accept(",") else False
        if self.r.here.kind != "end":
            raise bad_kernel(f"expected the end, found '{self.r.here.text}'", self.r.loc.col)
        made = self.system(left, terms, upper) if len(left.factors) == 2 else None
        if made:
            return made
        if len(left.factors) != 1:
            raise bad_kernel("the left side must be one tensor, or a matrix times an unknown", 1)
        self.check(left.factors[0], terms)
        return Kernel(self.text, left.factors[0], tuple(terms), adds)

    def triangle(self) -> bool:
        self.r.ident("an index")
        sign = self.r.accept("<=", ">=")
        if sign is None:
            raise bad_kernel("expected j <= i (lower) or j >= i (upper)", self.r.loc.col)
        self.r.ident("an index")
        return sign == ">="

    def system(self, left: Term, terms: list[Term], upper: bool) -> Kernel | None:
        matrix, unknown = left.factors
        right = terms[0].factors[0]
        fits = len(terms) == 1 and len(terms[0].factors) == 1 and len(matrix.indices) == 2 \
            and unknown.indices == matrix.indices[1:] and right.indices == matrix.indices[:1]
        if not fits:
            raise bad_kernel("a system must have the form L(i,j) * x(j) = b(i)", 1)
        return Kernel(self.text, None, (), solve=(matrix, unknown, right), upper=upper)

    def check(self, out: Tensor, terms: list[Term]) -> None:
        for t in terms:
            have = {x for f in t.factors for x in f.indices}
            missing = [x for x in out.indices if x not in have]
            if missing:
                raise bad_kernel(f"the index {missing[0]} of {out.name} is not on the right side")
            if any(f.name == out.name for f in t.factors):
                raise bad_kernel(f"{out.name} is on both sides")
