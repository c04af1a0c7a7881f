"""Matrix products as programs have them, for the list of proven texts (`benchmarks.proven`): operands as they are and
transposed, scaled, over a sum, and of a triangle. How arrays are declared and what they are called is of no matter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

FLOATS, WHOLE = ("double", "float"), ("int", "long")
LEFT, RIGHT = ("A[i][k]", "A[k][i]"), ("B[k][j]", "B[j][k]")
UPDATES = {
    "plain": "C[i][j] += {a} * {b};",
    "less": "C[i][j] -= {a} * {b};",
    "scaled": "C[i][j] += alpha * {a} * {b};",
}
LOOPS = """  for (int i = 0; i < n; i++)
    for (int j = {from}; j {till}; j++)
      for (int k = 0; k < l; k++)
        {update}
"""
SUM = """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {{
      {type} sum = 0;
      for (int k = 0; k < l; k++)
        sum += {a} * {b};
      C[i][j] = sum;
    }}
"""
FUNCTION = """void f(int n, int m, int l, {type} alpha,
       {operand} (*restrict A)[l + n], {operand} (*restrict B)[l + m], {type} C[n][n + m])
{{
#pragma scop
{loops}#pragma endscop
}}
"""


def programs() -> Iterator[tuple[str, str]]:
    """Names and texts."""
    for elem, (a, b), (name, update) in product(FLOATS, product(LEFT, RIGHT), UPDATES.items()):
        yield _named(elem, name, a, b), _function(elem, _loops(update, a, b))
    for elem, (a, b) in product(FLOATS, product(LEFT, RIGHT)):
        yield _named(elem, "sum", a, b), _function(elem, SUM.format(type=elem, a=a, b=b))
    for elem, a, (name, ends) in product(FLOATS, LEFT, {"lower": ("0", "<= i"), "upper": ("i", "< n")}.items()):
        other = a.replace("i", "j")
        for way in ("plain", "scaled"):
            yield _named(elem, f"{name}-{way}", a, other), _function(elem, _loops(UPDATES[way], a, other, *ends))
    for elem, operand in ((*zip(WHOLE, WHOLE, strict=True), ("int", "signed char"), ("int", "short"))):
        for a, b in product(LEFT[:1], RIGHT):
            yield _named(operand, "plain", a, b), _function(elem, _loops(UPDATES["plain"], a, b), operand)


def _named(elem: str, what: str, a: str, b: str) -> str:
    return f"{elem} {what} {a} {b}"


def _loops(update: str, a: str, b: str, first: str = "0", till: str = "< m") -> str:
    return LOOPS.format(update=update.format(a=a, b=b), till=till, **{"from": first})


def _function(elem: str, loops: str, operand: str = "") -> str:
    return FUNCTION.format(type=elem, operand=f"const {operand or elem}", loops=loops)
