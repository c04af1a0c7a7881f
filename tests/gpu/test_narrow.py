"""Kernels that count in `int` where sizes allow it: the text, the test of sizes, and the bounds behind that."""

from __future__ import annotations

import random
import re

import pytest

from codegen.ast.ctree import Bin, CExpr, Fun, Int, Name, Neg
from codegen.gpu import narrow
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.target.text.pieces import View

STENCIL = """void f(int t, SIZE n, SIZE m, REAL A[n][m], REAL B[n][m])
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        B[i][j] = WORK;
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        A[i][j] = B[i][j];
  }
#pragma endscop
}
"""
SUM = "A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]"


def made(size: str = "int", real: str = "double", work: str = SUM, target: str = "cuda") -> str:
    text = STENCIL.replace("SIZE", size).replace("REAL", real).replace("WORK", work)
    out = generate("f.c", text, GenOptions(target=target, stem="f")).extra
    return out.file(".tw.cl.c" if target == "opencl" else ".tw.hip" if target == "hip" else ".tw.cu")


def test_the_text() -> None:
    """Counters are of the type of the template, subscripts have nothing wider, and steps of time are not asked."""
    text = made()
    body = text[text.index("template <class tw_int> static __global__") :].partition("\n}\n")[0]
    assert "const tw_int it = (tw_int)1 + 4 * ((tw_int)tw_first_y + TW_THREAD_Y);" in body
    assert not re.search(r"\blong\b|\d+L\b", body.partition("{")[2])
    (test,) = re.findall(r"TW_NARROW\(f_r1_1, (.*?)\)", re.sub(r"\s+", " ", text))
    numbers = {int(x) for x in re.findall(r"\d+", test)}
    assert re.findall(r"\b([a-z])\b", test) == ["n", "n", "m", "m"] and len(numbers) == 1
    (most,) = numbers
    assert most > 46000 and (most - 1) * most + most - 1 < 2**31  # the last element


@pytest.mark.parametrize(
    "how",
    [{"size": "long"}, {"size": "unsigned"}, {"real": "long"}, {"work": "A[i][j] * 2"}, {"target": "opencl"},
     {"real": "int", "work": f"{SUM} + 2L"}, {"real": "int", "work": f"(long)({SUM}) * i"}],
    ids=lambda how: "-".join(map(str, how.values()))[:20],
)  # fmt: skip
def test_where_counters_stay_long(how: dict[str, str]) -> None:
    """Other types of sizes, data of 64 bits, little to gain, and languages without templates."""
    assert "tw_int" not in made(**how)


def test_hip() -> None:
    assert "TW_NARROW(f_r1_1" in made(target="hip")


def test_the_way_back() -> None:
    """What cannot be turned back is left alone."""
    good = (View("for", "long i = 1L + tw_first_y; i < tw_min((long)n - 1, 3)", body=(View("stmt", "a[i] = 0;"),)),)
    assert narrow.narrowed(good) is not None
    assert narrow.narrowed((View("stmt", "a[i] = (tw_int)3;"),)) is None


def value(e: CExpr, names: dict[str, int], seen: list[int]) -> int:
    """Of an expression; all that is computed on the way is `seen`."""
    if isinstance(e, Int):
        out = e.value
    elif isinstance(e, Name):
        out = names[e.name]
    elif isinstance(e, Neg):
        out = -value(e.arg, names, seen)
    elif isinstance(e, Fun):
        args = [value(x, names, seen) for x in e.args]
        out = {"min": min, "max": max}.get(e.name, lambda x: x[0] // x[1])(args)
    else:
        assert isinstance(e, Bin)
        a, b = value(e.left, names, seen), value(e.right, names, seen)
        out = {"+": a + b, "-": a - b, "*": a * b}[e.op]
    seen.append(out)
    return out


def expression(rng: random.Random, depth: int) -> CExpr:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([Int(rng.randint(-9, 9)), Name("n"), Name("i")])
    kind = rng.choice(["+", "-", "*", "neg", "min", "max", "floord"])
    left = expression(rng, depth - 1)
    if kind == "neg":
        return Neg(left)
    if kind == "floord":
        return Fun(kind, (left, Int(rng.randint(1, 5))))
    right = expression(rng, depth - 1)
    return Fun(kind, (left, right)) if kind in ("min", "max") else Bin(kind, left, right)


def test_bounds_of_expressions() -> None:
    """Nothing that is computed exceeds them, whatever the signs are."""
    rng = random.Random(7)
    for _ in range(400):
        e, p = expression(rng, 4), rng.randint(1, 50)
        most = sum(c * p**k for k, c in enumerate(narrow.bound(e, {"n": (0, 1), "i": (2, 1)})))
        for _ in range(8):
            seen: list[int] = []
            value(e, {"n": rng.randint(-p, p), "i": rng.randint(-p - 2, p + 2)}, seen)
            assert max(map(abs, seen)) <= most


def test_names_without_bounds() -> None:
    with pytest.raises(narrow.Unbounded):
        narrow.bound(Bin("+", Name("n"), Name("k")), {"n": (0, 1)})
