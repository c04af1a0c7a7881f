"""Nothing is stored that the source does not store: on pages that cannot be written, and as `check` sees it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from codegen.checking import stores
from codegen.diagnostics import Severity
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.corpus import some
from tests.run import sources
from tests.run.sources import run
from tests.run.test_check import Plant, plant

assert plant  # a fixture

# By name: the type of all data, and a body. With data that are all 1 none of them stores anything, since its conditions
# do not hold or its loops do not run: n == m.
BODIES = {
    "extreme": ("double", "for (i) if (a[0][i] > *s) *s = a[0][i];"),
    "extreme_of_integers": ("int", "for (i) if (a[0][i] > s[0]) s[0] = a[0][i];"),
    "of_rows": ("double", "for (i) for (j) if (a[i][j] > s[i]) s[i] = a[i][j];"),
    "of_columns": ("int", "for (i) for (j) if (a[i][j] > s[j]) s[j] = a[i][j];"),
    "clamped": ("double", "for (i) { if (s[i] < 0) s[i] = 0; else if (s[i] > 1) s[i] = 1; }"),
    "closure": ("double", "for (i) for (j) for (k) if (a[i][k] * a[k][j] > c[i][j]) c[i][j] = a[i][k] * a[k][j];"),
    "counted": ("int", "for (i) for (j) if (a[i][j] > 1) s[0]++;"),
    "own_extreme": ("double", "for (i) { double b = a[i][0]; for (j) { if (a[i][j] < b) b = a[i][j]; }"
                    "if (b < s[i]) s[i] = b; }"),
    "no_sum": ("double", "for (int i = 0; i < n - m; i++) *s += a[0][i];"),
    "no_rows": ("double", "for (int i = 0; i < n - m; i++) for (j) for (k) c[i][j] += a[i][k] * a[k][j];"),
    "no_depth": ("double", "for (i) for (j) for (int k = 0; k < n - m; k++) c[i][j] += a[i][k] * a[k][j];"),
    "no_line": ("double", "for (i) for (int k = 0; k < n - m; k++) s[i] += a[i][k] * a[k][0];"),
    "global_extreme": ("double", "for (i) if (a[0][i] > global[0]) global[0] = a[0][i];"),
}  # fmt: skip
LOOPS = {f"for ({it})": f"for (int {it} = 0; {it} < {n}; {it}++)" for it, n in (("i", "n"), ("j", "m"), ("k", "m"))}
MAIN = """
#include <stdio.h>
#include <sys/mman.h>
int main(void)
{
    static int whole[64 * 64];
    static double real[64 * 64];
    char *const page = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int k = 0; k < 64 * 64; k++)
        whole[k] = ((int *)page)[k] = 1, real[k] = 1;
    mprotect(page, 1 << 16, PROT_READ);
%s
    mprotect(page, 1 << 16, PROT_READ | PROT_WRITE);
    for (int k = 0; k < 64 * 64; k++)
        ((double *)page)[k] = 1;
    mprotect(page, 1 << 16, PROT_READ);
    global = (void *)page;
%s
    puts("all");
    return 0;
}
"""
CALL = """    puts("%s");
    fflush(stdout);
    for (int n = 1; n <= 64; n += n < 9 ? 1 : 11)
        %s(n, n, (void *)%s, (void *)page, (void *)page);
"""


def _function(name: str) -> str:
    kind, body = BODIES[name]
    for short, full in LOOPS.items():
        body = body.replace(short, full)
    head = f"void {name}(int n, int m, {kind} a[n][m], {kind} *s, {kind} c[n][m])"
    return f"{head}\n{{\n#pragma scop\n    {body}\n#pragma endscop\n    (void)s, (void)c, (void)m;\n}}\n"


def _main() -> str:
    """A program that calls every function on a page of ones that cannot be written."""
    calls = {"int": "", "double": ""}
    for name, (kind, _) in sorted(BODIES.items()):
        calls[kind] += CALL % (name, name, "real" if kind == "double" else "whole")
    return MAIN % (calls["int"], calls["double"])


WAYS = [("c", False), ("openmp", False), ("c", True), ("openmp", True)]  # target, and whether sums may be reordered


@pytest.mark.parametrize(("target", "reassociate"), some(WAYS, 0, 3))
def test_pages_that_cannot_be_written_are_left_alone(target: str, reassociate: bool, tmp_path: Path) -> None:
    source = "static double *global;\n" + "".join(map(_function, sorted(BODIES)))
    made = generate("stores.c", source, GenOptions(target=target, reassociate=reassociate))
    assert not [d for d in made.diagnostics if d.severity is Severity.WARNING]
    (tmp_path / "stores.c").write_text(made.text + _main(), encoding="utf-8")
    flags = ("-O1", "-w", "-fopenmp", "-DTW_PARALLEL_MIN=0", "-DTW_SIZE(n)=((n) < 20 ? (n) : 20)")
    subprocess.run(["cc", *flags, "stores.c", "-o", "stores", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "stores"], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.split()[-1:]) == (0, ["all"]), f"it stores in {done.stdout.split()[-1:]}"


def test_check_finds_a_store_of_what_is_there_already(plant: Plant) -> None:
    plant("b[i][j] = a[j]", "b[i][j] = a[j] = a[j]")
    report = run(sources.COPY)
    assert not report.ok
    assert report.lines[0].startswith("region 1 (copy, line 4): the result stores to a[0], which the source does not")


SOMETIMES = """static double seen;
void note(int n, const double *a, double *most)
{
#pragma scop
    for (int i = 0; i < n; i++)
        if (a[i] > %s) %s = a[i];
#pragma endscop
}
"""


@pytest.mark.parametrize("place", ["most[0]", "seen"])
def test_check_finds_a_store_where_the_condition_does_not_hold(place: str, plant: Plant) -> None:
    plant(f"if (a[i] > {place}) {place} = a[i];", f"{place} = a[i] > {place} ? a[i] : {place};")
    report = run(SOMETIMES.replace("%s", place))
    assert not report.ok and f"the result stores to {place}, which the source does not" in report.lines[0], report.lines



def test_sizes_at_which_a_watched_program_crashes_do_not_end_the_search(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Sources read pointers to rows of which they then read nothing: that crashes where there are none."""
    sizes = [stores.TestVector((n,), (n,), (), 1, False) for n in (1, 2, 3)]

    def first(h: object, pair: object, vectors: Sequence[stores.TestVector]) -> stores.IntroducedStore | None:
        for v in vectors:
            if v.ints == (2,):
                os.abort()
            if v.ints == (3,):
                return stores.IntroducedStore(v, "a store")
        return None

    monkeypatch.setattr(stores, "_first", first)
    found = stores.introduced_store(cast(Any, None), cast(Any, None), sizes)
    assert found is not None and found.vector == sizes[2]
    assert "Fatal Python error" not in capfd.readouterr().err
