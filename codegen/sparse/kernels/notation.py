"""Parses index notation into a `Kernel`: `y(i) = A(i,j) * x(j)`, `r(i) = b(i) - 0.5*A(i,j)*x(j)/d(i)`,
`C(i,j) = A(i,j) + B(i,j)`, `L(i,j) * x(j) = b(i)`. A name without indices is a scalar; an index twice in one tensor is
its diagonal; sums in parentheses are multiplied out."""
from __future__ import annotations

import re
from dataclasses import replace

from codegen.diagnostics import InputError, Loc
from codegen.record import record
from codegen.sparse.algebra.parse import Reader
from codegen.sparse.kernels.semiring import PLUS_TIMES, Semiring


@record
class Tensor:
    """A tensor at some indices. `across`: only what entries beside the diagonal of a symmetric format also stand for;
    the indices are then those of the stored entry turned around."""

    name: str
    indices: tuple[str, ...]
    across: bool = False

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
    def names(self) -> tuple[str, ...]:
        """Scalars that are parameters, also those that divide."""
        return tuple(n for s in self.scalars for n in re.findall(r"(?<![\w.])[A-Za-z_]\w*$", s.strip("()")))

    def times(self, other: Term) -> Term:
        return Term(self.factors + other.factors, self.sign * other.sign, self.over + other.over,
                    self.scalars + other.scalars)

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
        return tuple(dict.fromkeys(s for t in self.terms for s in t.names))


_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d+)?")


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
        return Tensor(name, tuple(indices))

    def number(self) -> str:
        """12, 0.5 or 1e-3, as it is written."""
        found = _NUMBER.match(self.text, self.r.here.start)
        assert found is not None
        while self.r.here.start < found.end() and self.r.here.kind != "end":
            self.r.at += 1
        return found.group()

    def factor(self, divides: bool) -> list[Term]:
        """One factor, or divisor, as the terms of a sum."""
        if self.r.here.kind == "num":
            found = self.number()
            return [Term((), scalars=(f"(1.0 / {found})" if divides else found,))]
        if not divides and self.r.accept("("):
            out = self.total()
            self.r.expect(")")
            return out
        t = self.tensor()
        if not t.indices:
            return [Term((), scalars=(f"(1.0 / {t.name})" if divides else t.name,))]
        return [Term((), over=(t,)) if divides else Term((t,))]

    def product(self, sign: int) -> list[Term]:
        terms = [Term((), sign)]
        divides = False
        while True:
            more = self.factor(divides)
            terms = [t.times(m) for t in terms for m in more]
            sign_ = self.r.accept("*", "/")
            if sign_ is None:
                return terms
            divides = sign_ == "/"

    def total(self) -> list[Term]:
        terms = self.product(-1 if self.r.accept("-") else 1)
        while self.r.peek("+", "-"):
            terms += self.product(-1 if self.r.accept("+", "-") == "-" else 1)
        return terms

    def left(self) -> tuple[Tensor, ...]:
        out = [self.tensor()]
        while self.r.accept("*"):
            out.append(self.tensor())
        return tuple(out)

    def kernel(self) -> Kernel:
        left = self.left()
        adds = self.r.accept("+", "-")
        self.r.expect("=")
        terms = self.total()
        if adds == "-":
            terms = [replace(t, sign=-t.sign) for t in terms]
        upper = self.triangle(left) if self.r.accept(",") else False
        if self.r.here.kind != "end":
            raise bad_kernel(f"expected the end, found '{self.r.here.text}'", self.r.loc.col)
        if len(left) == 2 and not adds:
            return self.system(left, terms, upper)
        if len(left) != 1:
            raise bad_kernel("the left side must be one tensor, or a matrix times an unknown", 1)
        self.check(left[0], terms)
        return Kernel(self.text, left[0], tuple(terms), adds is not None)

    def triangle(self, left: tuple[Tensor, ...]) -> bool:
        """Which triangle of a system's matrix counts: the upper one?"""
        if len(left) != 2 or len(left[0].indices) != 2:
            raise bad_kernel("only a system has a triangle", self.r.loc.col)
        row, column = left[0].indices
        first = self.r.ident("an index")
        sign = self.r.accept("<=", ">=")
        last = self.r.ident("an index") if sign else ""
        if {first, last} != {row, column}:
            raise bad_kernel(f"expected {column} <= {row} (lower) or {column} >= {row} (upper)", self.r.loc.col)
        return (sign == ">=") == (first == column)

    def system(self, left: tuple[Tensor, ...], terms: list[Term], upper: bool) -> Kernel:
        matrix, unknown = left
        plain = len(terms) == 1 and len(terms[0].factors) == 1 and terms[0] == Term(terms[0].factors)
        right = terms[0].factors[0] if plain else matrix
        sides = unknown.indices[1:]
        fits = plain and len(matrix.indices) == 2 and len(sides) <= 1 and not set(sides) & set(matrix.indices) \
            and unknown.indices == (matrix.indices[1], *sides) and right.indices == (matrix.indices[0], *sides) \
            and len({*matrix.indices, *sides}) == 2 + len(sides) and len({matrix.name, unknown.name, right.name}) == 3
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
            if any(f.name == out.name and f != out for f in t.tensors) or out.name in t.names:
                raise bad_kernel(f"{out.name} is on both sides, with other indices")
        scalars = {s for t in terms for s in t.names}
        tensors = (out, *(f for t in terms for f in t.tensors))
        indices = {x for f in tensors for x in f.indices}
        for f in tensors:
            if f.name in scalars:
                raise bad_kernel(f"{f.name} is a tensor and a scalar")
            if len(f.indices) != len(next(g for g in tensors if g.name == f.name).indices):
                raise bad_kernel(f"{f.name} has more indices in one place than in another")
        for n in indices & {*scalars, *(f.name for f in tensors)}:
            raise bad_kernel(f"{n} is an index and a {'scalar' if n in scalars else 'tensor'}")
        if len(set(out.indices)) != len(out.indices):
            raise bad_kernel(f"{out.name} has an index twice", hint="only tensors on the right side have diagonals")
