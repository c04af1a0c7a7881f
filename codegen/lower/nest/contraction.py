"""The `Contraction` record: a dense tensor contraction with constant sizes, C[...] += A[...] * B[...], and its text
form.

Subscripts are sums of variables (`r`, `r+x`, `2*r+x`), so convolutions are contractions too. Arrays are row-major and
as large as the subscripts need, unless it is said how far apart their elements are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

from codegen.record import record

TENSORS = ("A", "B", "C")
_NAME = r"[A-Za-z_]\w*"


class BadContraction(ValueError):
    """A text or a set of subscripts that is no contraction; the message says why."""


@record
class Contraction:
    """`sizes` are the variables with their extents, in the order of the text; `a`, `b` and `c` are subscripts.
    `strides`, where given, are for each array how far it is read when a variable grows by one, in the order of
    `sizes`."""

    sizes: tuple[tuple[str, int], ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    c: tuple[str, ...]
    elem: str = "f32"
    strides: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        _check(self)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(n for n, _ in self.sizes)

    @property
    def reductions(self) -> tuple[str, ...]:
        """The variables that are summed over."""
        return tuple(n for n in self.names if n not in self.c)

    @property
    def flops(self) -> int:
        """One multiplication and one addition for each point."""
        return 2 * prod(n for _, n in self.sizes)

    def subscripts(self, tensor: str) -> tuple[str, ...]:
        return {"A": self.a, "B": self.b, "C": self.c}[tensor]


def matmul(m: int, n: int, k: int, elem: str = "f32") -> Contraction:
    """C[i,j] += A[i,k] * B[k,j]."""
    return Contraction((("i", m), ("k", k), ("j", n)), ("i", "k"), ("k", "j"), ("i", "j"), elem)


@lru_cache(maxsize=4096)
def terms(subscript: str) -> tuple[tuple[str, int], ...]:
    """The variables of a subscript with their factors."""
    found = []
    for part in subscript.split("+"):
        match = re.fullmatch(rf"\s*(?:(\d+)\s*\*\s*)?({_NAME})\s*", part)
        if not match:
            raise BadContraction(f"subscript '{subscript}' is no sum of variables")
        found.append((match[2], int(match[1] or 1)))
    return tuple(found)


def extents(problem: Contraction, tensor: str) -> tuple[int, ...]:
    """The extent of each dimension of an array; one dimension where its strides are given."""
    sizes = dict(problem.sizes)
    if problem.strides:
        given = problem.strides[TENSORS.index(tensor)]
        return (1 + sum(stride * (size - 1) for stride, size in zip(given, sizes.values(), strict=True)),)
    return tuple(1 + sum(f * (sizes[v] - 1) for v, f in terms(s)) for s in problem.subscripts(tensor))


def elements(problem: Contraction, tensor: str) -> int:
    return prod(extents(problem, tensor))


@lru_cache(maxsize=4096)
def strides(problem: Contraction, tensor: str) -> dict[str, int]:
    """How many elements further an array is read when a variable grows by one; 0 for what it does not have."""
    if problem.strides:
        return dict(zip(problem.names, problem.strides[TENSORS.index(tensor)], strict=True))
    found = dict.fromkeys(problem.names, 0)
    step = 1
    for subscript, extent in zip(reversed(problem.subscripts(tensor)), reversed(extents(problem, tensor)), strict=True):
        for var, factor in terms(subscript):
            found[var] += factor * step
        step *= extent
    return found


def show(problem: Contraction) -> str:
    """One line, read back by `parse`."""
    a, b, c = (f"{t}[{','.join(problem.subscripts(t))}]" for t in TENSORS)
    sizes = [f"{n}={size}" for n, size in problem.sizes]
    apart = [f"{t}({','.join(map(str, p))})" for t, p in zip(TENSORS, problem.strides, strict=False)]
    return f"{problem.elem} {c} += {a} * {b} : {' '.join([*sizes, *apart])}"


def parse(text: str) -> Contraction:
    """The contraction of a line such as `f32 C[i,j] += A[i,k] * B[k,j] : i=64 k=96 j=128`; strides may follow, as in
    `A(200,1,0) B(0,128,1) C(128,0,1)`."""
    text, strides = _strides(text)
    match = re.fullmatch(
        r"\s*(?:(f32|f64)\s+)?C\[([^]]*)\]\s*\+=\s*A\[([^]]*)\]\s*\*\s*B\[([^]]*)\]\s*:\s*(.*?)\s*", text
    )
    if not match:
        raise BadContraction(f"expected 'f32 C[i,j] += A[i,k] * B[k,j] : i=64 k=96 j=128', found '{text.strip()}'")
    c, a, b = (tuple(s.strip() for s in part.split(",") if s.strip()) for part in match.groups()[1:4])
    sizes = re.fullmatch(rf"(?:{_NAME}=\d+\s*)+", match[5]) and re.findall(rf"({_NAME})=(\d+)", match[5])
    if not sizes:
        raise BadContraction(f"expected sizes such as 'i=64 k=96', found '{match[5]}'")
    return Contraction(tuple((n, int(size)) for n, size in sizes), a, b, c, match[1] or "f32", strides)


def _strides(text: str) -> tuple[str, tuple[tuple[int, ...], ...]]:
    match = re.fullmatch(r"(.*?)\s*A\(([\d,]*)\)\s*B\(([\d,]*)\)\s*C\(([\d,]*)\)\s*", text)
    if not match:
        return text, ()
    return match[1], tuple(tuple(int(x) for x in part.split(",") if x) for part in match.groups()[1:])


def _check(p: Contraction) -> None:
    if len(set(p.names)) != len(p.names):
        raise BadContraction("a variable has two sizes")
    if any(size < 1 for _, size in p.sizes):
        raise BadContraction("sizes must be positive")
    if p.elem not in ("f32", "f64"):
        raise BadContraction(f"element type '{p.elem}' is neither f32 nor f64")
    read = {v for s in (*p.a, *p.b) for v, _ in terms(s)}
    if len(set(p.c)) != len(p.c) or not set(p.c) <= set(p.names):
        raise BadContraction("the subscripts of C must be different variables")
    if read != set(p.names):
        raise BadContraction("each variable must be in a subscript of A or B, and each must have a size")
    if p.strides and [len(x) for x in p.strides] != [len(p.sizes)] * len(TENSORS):
        raise BadContraction("each array must have a stride for each variable")
    if p.strides and any((v in {n for n, _ in terms_of(s)}) != (x > 0) for s, x, v in _pairs(p)):
        raise BadContraction("exactly the variables in the subscripts of an array must have a stride")


def _pairs(p: Contraction) -> list[tuple[tuple[str, ...], int, str]]:
    return [(p.subscripts(t), x, v) for t, row in zip(TENSORS, p.strides, strict=True)
            for x, v in zip(row, p.names, strict=True)]  # fmt: skip


def terms_of(subscripts: tuple[str, ...]) -> list[tuple[str, int]]:
    """All variables of some subscripts with their factors."""
    return [x for s in subscripts for x in terms(s)]
