"""Loops with steps whose body divides by the step are counted in steps; transposition goes by tiles that stay near."""

from __future__ import annotations

from codegen.options import GenOptions
from codegen.pipeline import generate


def made(body: str) -> str:
    text = f"void k(int n, double x[n], double y[n])\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    return generate("k.c", text, GenOptions(machine="neoverse-n1")).text


def test_counts_steps() -> None:
    text = made("for (int i = 0; i + 2 < n; i += 3) y[i / 3] = x[i] + x[i + 1] + x[i + 2];")
    assert "y[i] = x[3 * i] + x[3 * i + 1] + x[3 * i + 2];" in text
    assert "y[i] = x[2 * i + 1];" in made("for (int i = 1; i < n; i += 2) y[(i - 1) / 2] = x[i];")


def test_leaves_others() -> None:
    assert "i += 2)" in made("for (int i = 0; i < n; i += 2) y[i] = 2 * x[i];")


def test_two_counters_of_one_header() -> None:
    text = made("for (int i = 0, j = n - 1; i < j; i++, j--) y[i] = x[j];")
    assert "i < tw_floord(n, 2)" in text and "y[i] = x[n - i - 1];" in text


def test_loops_that_only_their_run_ends_stay_in_their_function() -> None:
    gcd = "static int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }\n"
    loop = "#pragma scop\nfor (int i = 0; i < n; i++) y[i] = gcd(i, 12);\n#pragma endscop"
    text = f"{gcd}void k(int n, double y[n])\n{{\n{loop}\n}}\n"
    got = generate("k.c", text, GenOptions(target="openmp"))
    assert got.regions[0].transformed and got.text.count("gcd((int)i, 12)") + got.text.count("gcd(i, 12)") > 1
