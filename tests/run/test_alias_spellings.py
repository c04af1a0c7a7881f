"""Overlap of arrays behind pointers in memory, however the way to them is spelled: source and result run on data that
are apart, equal, and one element further on or back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from codegen.target.guards.alias import AliasTest
from tests.compilers import with_openmp
from tests.run.sources import run

HEAD = """#include <stdio.h>
#define USED(x) (void)x;
struct in { double *z; };
struct node { double *p; double *q[4]; double **rows; struct in in; struct in *ip; struct node *link; };
union both { double *u; struct { double *v; } w; };
"""
# An element number i of what `s`, `pp`, `ppp`, `ps`, `v` or `w` lead to, all of which is the same memory.
SPELLINGS = (
    "s->p[i]", "(*s).p[i]", "s[0].p[i]", "(&*s)->p[i]", "(&s[0])->p[i]", "(s + 0)->p[i]", "(*(s + 0)).p[i]",
    "(*&*s).p[i]", "*((*s).p + i)", "*(i + (*s).p)", "i[(*s).p]", "*(&(*s).p[0] + i)", "(&(*s))->p[i]",
    "(*pp)[i]", "pp[0][i]", "*(*pp + i)", "(*(pp + 0))[i]", "(*(pp + k))[i]", "pp[k][i]", "0[pp][i]",
    "(*s).in.z[i]", "(*(*s).ip).z[i]", "(*(*s).link).p[i]", "(*s).q[1][i]", "s->q[k][i]", "(*s->q)[i]",
    "(*(*s).rows)[i]", "(s + k)->p[i]", "v.p[i]", "(&v)->p[i]", "w[i]", "*(w + i)", "(*t).p[i]", "(*u).u[i]",
    "u->w.v[i]", "(**ppp)[i]", "(*ppp)[k][i]", "*(**(ppp + k) + i)", "(*ps)->p[i]", "(**ps).p[i]", "ps[k]->p[i]",
    "(*ps)->rows[1][i]", "(*(*ps)->link).p[i]", "(*ps)->q[k][i]", "(&pp[k][0])[i]", "(*s->rows)[i]",
    "*(*(*s).rows + i)",
)  # fmt: skip
BODIES = {
    "stored": "for (int i = 1; i < n; i++)\n    X = r[i - 1] * 2;",
    "read": "for (int i = 1; i < n; i++)\n    r[i] = X * 0.5 + i;",
    "one place": "for (int i = 0; i < n; i++)\n    C += r[i];",
}
# One element of the same memory, for the last.
CELLS = ("*s->p", "*(*s).p", "**pp", "*pp[k]", "**s->rows", "*(*s->ip).z", "(*s).p[0]", "*w", "***ppp", "*(*ps)->p")
# Two ways to memory that may be the same: `r` is what `x` leads to in its second place, and one place leads there, too.
PAIRS = (
    ("s->p[i]", "s[1].p[i - 1]"), ("(*s).p[i]", "(*x)[i - 1]"), ("x[1][i]", "x[0][i - 1]"), ("(*x)[i]", "x[1][i - 1]"),
    ("s[1].p[i]", "(*s).p[i - 1]"), ("(*ps)->p[i]", "ps[0]->q[3][i - 1]"), ("w[i]", "(*(s + 1)).p[i - 1]"),
    ("s->q[3][i]", "(*s).q[0][i - 1]"), ("ps[0]->p[i]", "(*x)[i - 1]"), ("(*s).rows[0][i]", "x[1][i - 1]"),
)  # fmt: skip
PARAMETERS = (
    "int n, int k, struct node *s, struct node v, double **pp, double ***ppp, struct node **ps, "
    "union both *u, double **x, double *r"
)  # fmt: skip
LOCALS = "double *w = (*s).p; struct node *t = &*s; USED(k) USED(v) USED(pp) USED(u) USED(ppp) USED(ps) USED(w) USED(t)"
MAIN = """
static double data[256], other[256];
#define RUN(f) \\
  for (int way = 0; way < 4; way++) { \\
    double *at = data + 8, *r = way == 0 ? other + 8 : data + 8 + way - 2; \\
    struct in in = {at}; \\
    double *rows[2] = {at, at}; \\
    double *ways[2] = {at, r}; \\
    struct node l = {r, {at, at, at, r}, rows, in, &in, 0}, s[2] = {{at, {at, at, at, r}, rows, in, &in, s}, l}; \\
    union both u = {at}; \\
    double **tables[2] = {rows, rows}; \\
    struct node *several[2] = {s, &l}; \\
    for (int i = 0; i < 256; i++) { data[i] = i % 13; other[i] = i % 7; } \\
    f(200, 0, s, *s, rows, tables, several, &u, ways, r); \\
    double sum = 0; \\
    for (int i = 0; i < 256; i++) sum = sum * 0.9990234375 + data[i] + 3 * other[i]; \\
    printf("%s %d %.17g\\n", #f, way, sum); \\
  }
"""


def program() -> tuple[str, list[str]]:
    """All functions and a call of each, and the line and the name of each region."""
    regions = [(x, how, BODIES[how].replace("X", x)) for x in SPELLINGS for how in ("stored", "read")]
    regions += [(x, "one place", BODIES["one place"].replace("C", x)) for x in CELLS]
    regions += [(f"{a} = {b}", "", f"for (int i = 1; i < n; i++)\n    {a} = {b} + r[i];") for a, b in PAIRS]
    regions += [(f"{b} = {a}", "", f"for (int i = 1; i < n; i++)\n    {b} = {a} + r[i];") for a, b in PAIRS]
    parts, names = [HEAD], []
    for k, (x, how, body) in enumerate(regions):
        parts.append(f"static void f{k}({PARAMETERS})\n{{\n  {LOCALS}\n#pragma scop\n  {body}\n#pragma endscop\n}}\n")
        names.append(f"{x} {how}")
    calls = "".join(f"  RUN(f{k})\n" for k in range(len(regions)))
    return "".join([*parts, MAIN, f"int main(void)\n{{\n{calls}}}\n"]), names


@pytest.fixture(scope="module")
def generated() -> Generated:
    return generate("spellings.c", program()[0], GenOptions())


def printed(text: str, folder: Path, compiler: str) -> list[str]:
    """What the program prints."""
    words = [compiler, "-std=gnu11", "-O2", "-fopenmp", "-w", "-DTW_PARALLEL_MIN=0", "-xc", "-", "-o", folder / "run"]
    subprocess.run(words, input=text, text=True, check=True)
    return subprocess.run([folder / "run"], check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.parametrize("compiler", with_openmp())
def test_same_results(generated: Generated, compiler: str, tmp_path: Path) -> None:
    text, names = program()
    want, got = printed(text, tmp_path, compiler), printed(generated.text, tmp_path, compiler)
    assert {names[k // 4] for k, (a, b) in enumerate(zip(want, got, strict=True)) if a != b} == set()


def test_nothing_is_believed(generated: Generated) -> None:
    """No remark says that something is taken not to overlap. Left as they are: unions, and rows that do not follow one
    another in their table."""
    names = program()[1]
    said = [d.message for d in generated.diagnostics if d.id == "overlap"]
    assert not [m for m in said if "taken not to overlap" in m]
    left = {n for n, r in zip(names, generated.regions, strict=True) if not r.transformed}
    assert left == {n for n in names if n.startswith(("(*u).u", "u->w.v")) or "q[0]" in n}


def test_stores_that_may_change_the_pointers() -> None:
    """Characters may be stored over the pointers on the way to them."""
    loop = "#pragma scop\n  for (int i = 0; i < n; i++)\n    (**a)[i] = 1;\n#pragma endscop\n"
    made = generate("in.c", f"void f(int n, signed char ***a)\n{{\n{loop}}}\n", GenOptions())
    assert not made.regions[0].transformed
    assert any(d.id == "region-refused" and "may change the pointers" in d.message for d in made.diagnostics)


CHECKED = {
    "a member": ("struct node *s, double *r", "(*s).p[i] = r[i] * 2;"),
    "rows": ("double **pp, double **qq", "(*pp)[i] = (*qq)[i + 1] * 2;"),
    "a row and a pointer": ("double **pp, double *r", "*(*pp + i) = r[i] * 2;"),
    "three levels": ("double ***a, double *r", "(**a)[i] = r[i] * 2;"),
    "a struct behind two": ("struct node **s, double *r", "(*s)->p[i] = r[i] * 2;"),
    "a row of a struct": ("struct node *s, double *r", "(*s).rows[1][i] = r[i] * 2;"),
}


@pytest.mark.parametrize("name", CHECKED)
def test_check_finds_what_is_not_tested(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lays such arrays one over the other, and results without a test differ."""
    parameters, body = CHECKED[name]
    loop = f"#pragma scop\n  for (int i = 0; i < n; i++)\n    {body}\n#pragma endscop\n"
    source = f"{HEAD}void f(int n, {parameters})\n{{\n{loop}}}\n"
    report = run(source)
    assert report.ok and "more with arrays that overlap" in report.lines[0]
    monkeypatch.setattr("codegen.hosts.region.overlap_test", lambda *_: AliasTest())
    assert not run(source).ok
