"""Functions of usual techniques that random programs share a file with: each with a region, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Companion:
    """A function with a region. `arrays` are what main passes to it: C type, number of elements, kind of data (see
    driver.py); `values` are its other arguments, ahead of them."""

    name: str
    text: str
    values: tuple[str, ...]
    arrays: tuple[tuple[str, int, str], ...]

    @property
    def prototype(self) -> str:
        return self.text[: self.text.index("\n{")] + ";"


_TYPES = {"double": "d", "float": "f", "int": "i", "long": "i"}
SIZES = (1, 2, 5, 8, 17, 24, 33, 40)


def _region(head: str, body: str) -> str:
    return f"{head}\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def _product(rng: Random, name: str, t: str) -> Companion:
    n, m, k = (rng.choice(SIZES) for _ in range(3))
    a = rng.choice(("A[i][p]", "A[i][p] * w", "w * A[i][p]")) if rng.random() < 0.5 else "A[i][p]"
    first = rng.choice(("", "C[i][j] = 0;\n      ", "C[i][j] *= w;\n      "))
    body = f"""  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {{
      {first}for (int p = 0; p < k; p++)
        C[i][j] += {a} * B[p][j];
    }}"""
    scaled = "w" in a + first
    head = f"void {name}(int n, int m, int k,{f' {t} w,' if scaled else ''} {t} C[n][m], {t} A[n][k], {t} B[k][m])"
    values = (str(n), str(m), str(k), *(("3",) if scaled else ()))
    return Companion(name, _region(head, body), values, tuple((t, x, _TYPES[t]) for x in (n * m, n * k, k * m)))


def _matrix_vector(rng: Random, name: str, t: str) -> Companion:
    n, m = rng.choice(SIZES), rng.choice(SIZES)
    along = rng.random() < 0.5
    read, size = ("A[i][j]", "[n][m]") if along else ("A[j][i]", "[m][n]")
    body = f"""  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += {read} * x[j];"""
    head = f"void {name}(int n, int m, {t} y[n], {t} A{size}, {t} x[m])"
    kinds = tuple((t, x, _TYPES[t]) for x in (n, n * m, m))
    return Companion(name, _region(head, body), (str(n), str(m)), kinds)


def _stencil(rng: Random, name: str, t: str) -> Companion:
    n, steps = rng.choice(SIZES), rng.choice((1, 2, 5, 9))
    body = f"""  for (int t = 0; t < steps; t++) {{
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = (a[i][j] + a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) * ({t})0.2;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }}"""
    head = f"void {name}(int steps, int n, {t} a[n][n], {t} b[n][n])"
    return Companion(name, _region(head, body), (str(steps), str(n)), ((t, n * n, _TYPES[t]),) * 2)


def _sweep(rng: Random, name: str, t: str) -> Companion:
    n = rng.choice(SIZES)
    body = """  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      a[i][j] += (a[i - 1][j] + a[i][j - 1]) / 2;"""
    return Companion(name, _region(f"void {name}(int n, {t} a[n][n])", body), (str(n),), ((t, n * n, _TYPES[t]),))


def _total(rng: Random, name: str, t: str) -> Companion:
    n = rng.choice((1, 40, 300, 1000))
    op = rng.choice(("s += x[i]", "s += x[i] * x[i]", "s = x[i] > s ? x[i] : s", "if (x[i] > 0) s += x[i]"))
    text = f"""void {name}(int n, {t} out[1], {t} x[n])
{{
  {t} s = out[0];
#pragma scop
  for (int i = 0; i < n; i++)
    {op};
#pragma endscop
  out[0] = s;
}}
"""
    return Companion(name, text, (str(n),), ((t, 1, _TYPES[t]), (t, n, _TYPES[t])))


def _scan(rng: Random, name: str, t: str) -> Companion:
    n, m = rng.choice(SIZES), rng.choice(SIZES)
    body = f"""  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = a[i - 1][j] * ({t})0.5 + x[i][j];"""
    head = f"void {name}(int n, int m, {t} a[n][m], {t} x[n][m])"
    return Companion(name, _region(head, body), (str(n), str(m)), ((t, n * m, _TYPES[t]),) * 2)


def _solve(rng: Random, name: str, t: str) -> Companion:
    n, m = rng.choice(SIZES), rng.choice(SIZES)
    body = """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < i; k++)
        B[i][j] -= L[i][k] * B[k][j] / 64;"""
    head = f"void {name}(int n, int m, {t} B[n][m], {t} L[n][n])"
    return Companion(name, _region(head, body), (str(n), str(m)), ((t, n * m, _TYPES[t]), (t, n * n, _TYPES[t])))


def _paths(rng: Random, name: str, t: str) -> Companion:
    n = rng.choice((1, 5, 17, 24))
    body = """  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        d[i][j] = d[i][k] + d[k][j] < d[i][j] ? d[i][k] + d[k][j] : d[i][j];"""
    return Companion(name, _region(f"void {name}(int n, {t} d[n][n])", body), (str(n),), ((t, n * n, _TYPES[t]),))


def _turned(rng: Random, name: str, t: str) -> Companion:
    n, m = rng.choice(SIZES), rng.choice(SIZES)
    body = """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = b[j][i] + (i > 0 ? b[j][i - 1] : 0);"""
    head = f"void {name}(int n, int m, {t} a[n][m], {t} b[m][n])"
    return Companion(name, _region(head, body), (str(n), str(m)), ((t, n * m, _TYPES[t]),) * 2)


def _filtered(rng: Random, name: str, t: str) -> Companion:
    n, m, r = rng.choice(SIZES), rng.choice(SIZES), rng.choice((1, 2, 3))
    body = f"""  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {{
      {t} s = 0;
      for (int k = 0; k < {r}; k++)
        for (int l = 0; l < {r}; l++)
          s += in[i + k][j + l] * w[k][l];
      out[i][j] = s;
    }}"""
    more = f" + {r - 1}"
    head = f"void {name}(int n, int m, {t} out[n][m], {t} in[n{more}][m{more}], {t} w[{r}][{r}])"
    counts = (n * m, (n + r - 1) * (m + r - 1), r * r)
    return Companion(name, _region(head, body), (str(n), str(m)), tuple((t, x, _TYPES[t]) for x in counts))


_KINDS: dict[str, Callable[[Random, str, str], Companion]] = {
    "product": _product, "matvec": _matrix_vector, "stencil": _stencil, "sweep": _sweep, "total": _total,
    "scan": _scan, "solve": _solve, "paths": _paths, "turned": _turned, "filtered": _filtered,
}  # fmt: skip
# Sums of integers would overflow in them.
_FLOATS = ("solve",)


def companions(rng: Random, least: int = 1, most: int = 3) -> Sequence[Companion]:
    """Some functions of different techniques."""
    found = []
    for kind in rng.sample(sorted(_KINDS), rng.randint(least, most)):
        t = rng.choice(("double", "double", "double", "float", "int", "long"))
        t = rng.choice(("double", "float")) if kind in _FLOATS else t
        found.append(_KINDS[kind](rng, f"{kind}_{rng.choice('abcxyz')}", t))
    return found
