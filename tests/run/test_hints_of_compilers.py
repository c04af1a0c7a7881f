"""What compilers are told about speed inside a region is no part of what it computes."""

from __future__ import annotations

import pytest

import codegen

ABOVE = """
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
static double limited(double x) { if (unlikely(x > 9)) return 9; return x; }
"""
BODIES = {
    "bounds": "for (int i = 0; likely(i < n); i++) a[i] = b[i] + 1;",
    "branches": "for (int i = 0; i < n; i++) if (unlikely(b[i] < 0) && likely(k[i])) a[i] = 0; else a[i] += b[i];",
    "values": "for (int i = 0; i < n; i++) k[i] = (-__builtin_expect(k[i] & 1, 0) > 0u) + 2 * !likely(b[i]);",
    "choices": "for (int i = 0; i < n; i++) a[i] = likely(b[i] > 0) ? b[i] : -b[i];",
    "prefetch": "for (int i = 0; i < n; i++) { __builtin_prefetch(b + i + 8); a[i] = b[i]; }",
    "prefetch under a condition": "for (int i = 0; i < n; i++) {"
    " if (likely(i + 8 < n)) __builtin_prefetch(&b[i + 8], 0, 1); a[i] = b[i]; }",
    "prefetch in a branch": "for (int i = 0; i < n; i++) if (b[i] > 0) __builtin_prefetch(b + i);"
    " else if (i > 2) { a[i] = b[i]; } else { __builtin_prefetch(a + i); }",
    "fractions": "for (int i = 0; i < n; i++) if (__builtin_expect(b[i] / 1000, 1)) a[i] = 1; else a[i] = 2;",
    "functions": "for (int i = 0; i < n; i++) a[i] = limited(b[i]);",
}


@pytest.mark.parametrize("name", BODIES)
def test_hints(name: str) -> None:
    head = "void f(int n, double *restrict a, const double *restrict b, int *restrict k)"
    used = "(void)k; (void)b; (void)a; (void)limited;"
    source = f"{ABOVE}{head} {{\n#pragma scop\n{BODIES[name]}\n#pragma endscop\n{used}\n}}\n"
    made = codegen.generate(source)
    assert made.regions[0].transformed, made.diagnostics
    assert codegen.check(source).ok


def test_effects_stay() -> None:
    body = "for (int i = 0; i < n; i++) a[i] = __builtin_expect(a[i]++, 1);"
    source = f"void f(int n, int *a) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    assert not codegen.generate(source).regions[0].transformed
