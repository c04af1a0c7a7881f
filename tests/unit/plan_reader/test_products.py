"""Plans with products, written by hand: carried out where they are right, refused with place and reason where not."""

from __future__ import annotations

import pytest

from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate

MULTIPLY = """void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
SHORTEST = MULTIPLY.replace("C[i][j] += A[i][k] * B[k][j]", "C[i][j] = C[i][j] < C[i][k] + C[k][j] ? C[i][j] : 1")
SHORTEST = SHORTEST.replace(": 1", ": C[i][k] + C[k][j]")
BACK = MULTIPLY.replace("A[i][k] * B[k][j]", "A[i][k] * C[k][j]")
DIAGONAL = MULTIPLY.replace("C[i][j]", "C[0][i + j]").replace("double", "unsigned")
PLAIN = "tile 4 by 3 vectors, block 128 by 384 by 1536, direct 2500 threads 80000"
PRODUCT = f"product S1 rows i columns j depth k isa generic bits 128 {PLAIN}"


def made(source: str, *plan: str) -> Generated:
    text = "region 1\n  schedule { loop i, k, j { S1 } }\n" + "".join(f"  {line}\n" for line in plan)
    return generate("in.c", source, GenOptions(plan_text=text, plan_name="p.plan"))


@pytest.mark.parametrize(
    "plan",
    [
        (PRODUCT,),
        (PRODUCT.replace("generic bits 128", "neon bits 128"),),
        (PRODUCT.replace("generic bits 128", "sve bits 256"),),
        (PRODUCT.replace("vectors", "vectors spread"),),
        ("reverse i", PRODUCT),
        ("order j, k, i", PRODUCT),
        ("tile i:8, k:8", PRODUCT),
        ("tile i:8, k:8", PRODUCT, "parallel it"),
    ],
    ids=str,
)
def test_carried_out(plan: tuple[str, ...]) -> None:
    got = made(MULTIPLY, *plan)
    assert got.regions[0].transformed and "A product of rows i and columns j over k" in got.text
    assert not [d for d in got.diagnostics if d.severity.value in ("error", "warning")]


# Directives, of which the last is refused, and what the message says.
REFUSED = {
    (PRODUCT.replace("S1", "S7"),): "no statement S7",
    (PRODUCT.replace("depth k", "depth q"),): "S1.q",
    (PRODUCT.replace("columns j ", ""),): "not the innermost loops",
    (PRODUCT.replace("rows i columns j", "rows j columns i"),): "rows, columns and depth of S1 are i; j; k",
    (PRODUCT.replace("rows i columns j depth k", "rows k columns j depth i"),): "rows, columns and depth of S1 are",
    (PRODUCT.replace("generic", "altivec"),): "no instruction set altivec",
    (PRODUCT.replace("bits 128", "bits 100"),): "no instruction set generic with vectors of 100 bits",
    (PRODUCT.replace("generic bits 128", "avx2 bits 128"),): "no instruction set avx2 with vectors of 128 bits",
    (PRODUCT.replace("generic bits 128", "sve bits 256").replace("vectors", "vectors spread"),): "have no length",
    (PRODUCT.replace("tile 4", "tile 0"),): "no blocks",
    (PRODUCT.replace("by 3 vectors", "by 0 vectors"),): "no blocks",
    (PRODUCT.replace("tile 4", "tile 500"),): "no blocks",
    (PRODUCT.replace("block 128", "block 0"),): "no blocks",
    (PRODUCT.replace("by 384 by", "by 0 by"),): "no blocks",
    ("skew j by i", PRODUCT): "no plain loop",
    (PRODUCT, "tile i:8, k:8"): "those of a product",
    (PRODUCT, "parallel i"): "those of a product",
    (PRODUCT, "vector j"): "those of a product",
    (PRODUCT, "unroll j by 2"): "those of a product",
    (PRODUCT, "reverse k"): "",
    (PRODUCT, "order k, i"): "those of a product",
    (PRODUCT, PRODUCT): "those of a product",
    (PRODUCT, "forward C"): "too late",
}


@pytest.mark.parametrize("plan", REFUSED, ids=str)
def test_refused(plan: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        made(MULTIPLY, *plan)
    assert caught.value.id == "illegal-plan" and REFUSED[plan] in caught.value.message
    assert (caught.value.loc.file, caught.value.loc.line) == ("p.plan", 2 + len(plan))


def test_negative_sizes_are_not_read() -> None:
    with pytest.raises(InputError) as caught:
        made(MULTIPLY, PRODUCT.replace("block 128", "block -128"))
    assert caught.value.id == "bad-plan" and caught.value.loc.line == 3


@pytest.mark.parametrize("source", [SHORTEST, BACK, DIAGONAL], ids=["shortest paths", "own operand", "diagonals"])
def test_what_dependences_forbid(source: str) -> None:
    """The statement looks like a product, but its steps need what others have written."""
    with pytest.raises(InputError) as caught:
        generate("in.c", source, GenOptions(plan_text=f"region 1\n  order i, k, j\n  {PRODUCT}\n", plan_name="p.plan"))
    assert caught.value.id == "illegal-plan" and caught.value.loc.file == "p.plan"
