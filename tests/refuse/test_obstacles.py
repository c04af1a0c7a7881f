"""All obstacles of a region are told at once, in the order of the source, and what is innocent is not blamed."""

from __future__ import annotations

from codegen.options import GenOptions
from codegen.pipeline import generate

HEAD = "double g(double *);\nvoid f(int n, int m, double *a, double *b, int *idx)\n{\n#pragma scop\n"
TAIL = "#pragma endscop\n}\n"


def told(body: str) -> list[tuple[int, str]]:
    """The lines, counted from the region's first, and ids of the notes of the one warning."""
    (warning,) = generate("o.c", HEAD + body + TAIL, GenOptions(target="c")).diagnostics
    assert warning.id == "region-refused" and warning.message.endswith(f": {warning.notes[0].message}")
    assert all(n.hint for n in warning.notes)
    return [(n.loc.line - 4, n.id) for n in warning.notes]


def test_all_at_once() -> None:
    body = """  for (int i = 0; i < n; i++) {
    a[i] = g(b);
    double t[9]; t[i * i] = 0;
    if (a[i] > 0) g(a); else g(b + 1);
    for (int j = 0; j < idx[i]; j++)
      a[j] += g(a);
    while (a[i] > 0) a[i] -= 2;
  }
"""
    assert told(body) == [
        (2, "unknown-call"), (3, "nonaffine-subscript"), (4, "unknown-call"),
        (5, "nonaffine-bound"), (6, "unknown-call"), (7, "while-loop"),
    ]  # fmt: skip


def test_flat_subscripts_are_not_blamed_for_others() -> None:
    body = """  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      a[i * m + j] = b[j];
    a[(int)g(b)] = 0;
  }
"""
    assert told(body) == [(4, "unknown-call")]


def test_what_follows_a_declaration_that_is_not_understood_is_not_blamed() -> None:
    body = """  for (int i = 0; i < n; i++) {
    int q[2][1] = {{1}, {2}};
    a[q[0][0]] = 2;
  }
  g(a);
"""
    assert told(body) == [(2, "local-initializer"), (5, "unknown-call")]


def test_no_more_than_ten() -> None:
    assert told("".join(f"  g(a + {k});\n" for k in range(15))) == [(k, "unknown-call") for k in range(1, 11)]
