"""What stays on the management core, and why."""

import pytest

from codegen.options import GenOptions
from codegen.pipeline import generate

CASES = {
    "no-parallelism": """void f(int n, double *x) {
#pragma scop
for (int i = 1; i < n; i++) x[i] = x[i] * 0.5 + x[i - 1];
#pragma endscop
}""",
    "sunway-array": """typedef struct { double *x; } s;
void f(int n, s *p) {
#pragma scop
for (int i = 0; i < n; i++) p->x[i] = 1;
#pragma endscop
}""",
    "sunway-call": """static inline double g(double x) { return x + 1; }
void f(int n, double *x) {
#pragma scop
for (int i = 0; i < n; i++) x[i] = g(x[i]);
#pragma endscop
}""",
    "sunway-value": """typedef struct { double k; } s;
void f(int n, double *x, s *p) {
#pragma scop
for (int i = 0; i < n; i++) x[i] = p->k;
#pragma endscop
}""",
}


@pytest.mark.parametrize("kind", sorted(CASES))
def test_refused(kind):
    made = generate("f.c", CASES[kind], GenOptions(target="sunway", stem="f"))
    assert [n.id for d in made.diagnostics for n in d.notes] == [kind]
    assert CASES[kind] in made.text


@pytest.mark.parametrize("text", ["0", "65", "3,5", "9,8", "x", "8,8,8"])
def test_bad_grids(text):
    from codegen.diagnostics import InputError
    from codegen.sunway.threads import parse_grid

    with pytest.raises(InputError):
        parse_grid(text)


def test_grids():
    from codegen.sunway.threads import parse_grid

    assert [parse_grid(t).count for t in ("16", "32", "64", "2,8", "4,8", "8,8", "1,16", "5")] == [
        16, 32, 64, 16, 32, 64, 16, 5]  # fmt: skip
