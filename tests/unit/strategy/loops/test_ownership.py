"""Remarks on what products and threads own."""

from __future__ import annotations

from codegen.machine import load
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.recognize.ownership.search import thread_loops
from codegen.strategy.loops.ownership import owner_remarks
from codegen.strategy.planner import default_plan
from tests.unit.recognize.ownership.test_decide import nest_of
from tests.unit.transform.test_copy_reads import program

ROWS = """for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) for (int j = 1; j < n; j++)
    d[i][j] = d[i][j - 1] + t;"""
SHARED = """for (int i = 1; i < n; i++) for (int j = 0; j < n; j++)
    w[j] += d[i][j] * v[i];"""


def remarks(body: str) -> list[str]:
    machine = load("neoverse-n1")
    return [r.message for r in owner_remarks(default_plan(program(body), machine).program, machine)]


def test_threads_own_rows() -> None:
    """d[i][j - 1] is another element, but of the same row: no thread meets another's."""
    assert remarks(ROWS) == ["threads over i share no element of d: equal elements mean equal i"]


def test_a_register_tile_owns_its_elements() -> None:
    text = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
        d[i][j] += v[i + k] * w[k + j];"""
    (found,) = [r for r in remarks(text) if "registers" in r]
    assert found.startswith("d[i][j] belongs to one i and j: a tile of ") and "stays in registers over k" in found


def test_a_fold_over_threads_is_not_owned() -> None:
    assert not any("w" in r and "over i" in r for r in remarks(SHARED))


CHANNELS = """void f(int n, double a[3][n][n], double b[3][n][n])
{
#pragma scop
  for (int c = 0; c < 3; c++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
    b[c][i][j] = 2 * a[c][i][j];
#pragma endscop
}
"""


def test_a_few_iterations_are_no_even_share() -> None:
    """Three channels leave one of four threads idle: they go to threads together with rows, as the remark says."""
    made = generate("in.c", CHANNELS, GenOptions())
    assert "parallel S1.c with S1.i" in made.regions[0].plan
    assert "loops c and i run in parallel together, as c is short" in [d.message for d in made.diagnostics]
    even = generate("in.c", CHANNELS.replace("< 3", "< 8").replace("[3]", "[8]"), GenOptions())
    assert "parallel S1.c\n" in even.regions[0].plan


def test_threads_own_what_is_used_again() -> None:
    """Rows of a are used for every j: threads over i own them and c; threads over j would own c alone."""
    f = nest_of("""for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * v[k];""")
    best, *rest = [c for c in thread_loops(f, {}, 4) if c.name != "k"]
    assert (best.name, best.owned) == ("i", ("c[i][j]", "a[i][k]"))
    assert [(c.name, c.owned) for c in rest] == [("j", ("c[i][j]",))]
