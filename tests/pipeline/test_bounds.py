"""--timeout bounds all counted work on a region, whatever its size: what does not fit into it stays as it was."""

from __future__ import annotations

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.scop.effort import part, reading
from codegen.supervise import run_region

HEAD = "void f(int n, int T, double A[n], double B[n], double C[n])\n{\n#pragma scop\n"
TAIL = "#pragma endscop\n}\n"


def loops(count: int) -> str:
    names = "ABC"
    return "".join(
        f"    for (int i = 0; i < n; i++)\n        {names[k % 3]}[i] = 0.5 * {names[(k + 1) % 3]}[i] + {k};\n"
        for k in range(count)
    )


def test_a_region_too_large_to_be_read() -> None:
    """10,000 loops are not even parsed."""
    text = HEAD + loops(10_000) + TAIL
    made = generate("x.c", text, GenOptions(timeout=5))
    assert [n.id for d in made.diagnostics for n in d.notes] == ["timeout"]
    assert loops(10_000) in made.text


def test_pieces_share_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A region of 300 loops is taken in pieces of 32; each costs at least to read all of it anew."""
    works: list[tuple[int, int]] = []

    def told(source, s, *rest):
        made = run_region(source, s, *rest)
        works.append((reading(s.text), made.parts))
        return made

    monkeypatch.setattr("codegen.pipeline.run_region", told)
    text, seconds = HEAD + loops(300) + TAIL, 1.5
    made = generate("x.c", text, GenOptions(timeout=seconds))
    ((once, parts),) = works
    (said,) = (d for d in made.diagnostics if d.id == "region-partly")
    assert {n.id for n in said.notes} == {"timeout"}
    assert 2 <= parts <= part(seconds, 1) // (2 * once) <= 300 // 32
    assert loops(300).splitlines()[-1] in made.text


def test_loops_inside_a_loop() -> None:
    """What cannot be cut is looked at as a whole, and for parts of it, within the same bound."""
    inner = loops(300)
    text = f"{HEAD}    for (int t = 0; t < T; t++) {{\n{inner}    }}\n{TAIL}"
    made = generate("x.c", text, GenOptions(timeout=0.5))
    assert "timeout" in {n.id for d in made.diagnostics for n in d.notes}
    assert inner in made.text


PRODUCT = """\
void f(int n, double C[n][n], double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def test_a_proof_of_text_that_takes_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simpler plan is used, with a remark, and the costly one is not tried twice."""
    from codegen.scop.effort import spend

    tried: list[int] = []

    def costly(*_: object) -> str:
        tried.append(1)
        spend(1 << 40)
        return ""

    monkeypatch.setattr("codegen.supervise.run_again_after_crashes", lambda work, tries, limits: work(0))
    monkeypatch.setattr("codegen.verify.text.check.wrong_text", costly)
    made = generate("x.c", PRODUCT, GenOptions())
    assert made.regions[0].transformed and "multiply" not in made.plan and len(tried) <= 2
    assert any(d.id == "fallback" and "counted work" in d.message for d in made.diagnostics)
