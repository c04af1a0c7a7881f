"""What stays on the management core, and why."""

import re

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
    "sunway-ldm": """void f(int n, double y[n], double A[n][n]) {
#pragma scop
for (int i = 0; i < n; i++) {
  double t[9000];
  for (int k = 0; k < 9000; k++) t[k] = A[i][k];
  for (int k = 0; k < 9000; k++) y[i] += t[8999 - k];
}
#pragma endscop
}""",
    "sunway-remainders": """void f(int n, int m, double A[n][m]) {
#pragma scop
for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
  if (!(i % 3 == 0 && j % 2 == 1) && (i + j) % 5 != 2 && i != j && i + j != n) A[i][j] += 2;
#pragma endscop
}""",
    "sunway-store": """void f(int n, double *x, double *y) {
#pragma scop
for (int i = 0; i < n; i++) if (x[i] > 0) y[i] = x[i];
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
    assert re.sub("#pragma (end)?scop", "", CASES[kind]) in made.text


def test_refusal_has_the_numbers():
    """What is needed, by array, and what there is; where a plan asks for too much, too."""
    made = generate("f.c", CASES["sunway-ldm"], GenOptions(target="sunway", stem="f"))
    (note,) = [n for d in made.diagnostics for n in d.notes]
    assert "there are 61440" in note.message and "`t` 288000" in note.message
    source = CASES["no-parallelism"].replace("x[i] * 0.5 + x[i - 1]", "i")
    plan = generate("f.c", source, GenOptions(target="sunway", stem="f")).regions[0].plan
    assert len(re.findall(r"S1\.i:\d+", plan)) == 1
    much = GenOptions(target="sunway", stem="f", plan_text=re.sub(r"S1\.i:\d+", "S1.i:9000", plan))
    (note,) = [n for d in generate("f.c", source, much).diagnostics for n in d.notes]
    assert (note.id, "`x` 72000" in note.message) == ("sunway-ldm", True)


@pytest.mark.parametrize("text", ["0", "65", "3,5", "9,8", "x", "8,8,8"])
def test_bad_grids(text):
    from codegen.diagnostics import InputError
    from codegen.sunway.plan.threads import parse_grid

    with pytest.raises(InputError):
        parse_grid(text)


def test_grids():
    from codegen.sunway.plan.threads import parse_grid

    assert [parse_grid(t).count for t in ("16", "32", "64", "2,8", "4,8", "8,8", "1,16", "5")] == [
        16, 32, 64, 16, 32, 64, 16, 5]  # fmt: skip


def test_arrays_of_the_region_make_tiles_smaller():
    """Four of 4,000 bytes fit beside the rest, sixteen would not."""
    source = CASES["sunway-ldm"].replace("9000", "500").replace("8999", "499")
    made = generate("f.c", source, GenOptions(target="sunway", stem="f", scheme="launch"))
    assert made.regions[0].transformed
