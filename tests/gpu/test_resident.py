"""Arrays that stay on the device between regions: what is copied, exactly, and that results are the original's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from codegen.gpu.resident import scopes
from codegen.gpu.resident.effects import Around, Effect, effect_of
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from tests.gpu.programs import Built, build, link, needs_cxx, run_program

SOLVER = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static void step(int n, double u[n][n], double v[n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
#pragma endscop
}
BEFORE
RUNS
int main(int argc, char **argv)
{
  const int n = argc > 2 ? atoi(argv[2]) : 20, steps = argc > 3 ? atoi(argv[3]) : 10;
  switch (argc > 1 ? atoi(argv[1]) : 0) {
    CASES
  }
  return 0;
}
"""


RUN = """static int run_NUMBER(int n, int steps)
{
  double (*u)[n] = malloc(sizeof(double[n][n]) + 8), (*v)[n] = malloc(sizeof(double[n][n]) + 8), sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      u[i][j] = v[i][j] = (i * 7 + j * 3) % 11;
#pragma tilewright data
  for (int t = 0; t < steps; t++) {
    step(n, u, v);
    double (*w)[n] = u;
    u = v;
    v = w;
    INSIDE
  }
#pragma tilewright end data
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      sum = sum * 0.5 + u[i][j] - v[i][j];
  printf("%.17g\\n", sum);
  free(u);
  free(v);
  return 0;
}
"""


def solver(inside: Sequence[str] = ("",), before: str = "") -> str:
    """A program with a solver for each text inside its loop."""
    runs = "".join(RUN.replace("NUMBER", str(k)).replace("INSIDE", x) for k, x in enumerate(inside))
    cases = "\n".join(f"case {k}: return run_{k}(n, steps);" for k in range(len(inside)))
    return SOLVER.replace("BEFORE", before).replace("RUNS", runs).replace("CASES", cases)


def made(text: str, **options: object) -> Generated:
    return generate("f.c", text, GenOptions(target="cuda", stem="f", **options))  # type: ignore[arg-type]


def ids(text: str) -> set[str]:
    return {d.id for d in made(text).diagnostics}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, emulator: Path) -> Built:
    return build("solver", tmp_path_factory.mktemp("solver"), emulator, solver())


@needs_cxx
@pytest.mark.parametrize(("n", "steps"), [(20, 10), (0, 3), (1, 3), (2, 3), (3, 1), (9, 0), (5, 2)])
def test_a_solver_copies_its_grids_once(plain: Built, n: int, steps: int) -> None:
    """All of one grid goes to the device, of the other one what is never written; both interiors come home."""
    counts = plain.agree(0, n, steps).counts
    inner = 8 * max(n - 2, 0) ** 2
    runs = steps if inner else 0
    assert counts.get("launches", 0) == runs
    assert counts.get("bytes_in", 0) == (8 * n * n if runs else 0) + (8 * n * n - inner if runs > 1 else 0)
    assert counts.get("bytes_out", 0) == min(runs, 2) * inner


@needs_cxx
@pytest.mark.parametrize("call", range(1, 40, 3))
def test_a_call_that_fails(plain: Built, call: int) -> None:
    """The result is right, or the program ends and says that what the device had is lost."""
    want = run_program(plain.original, [])
    got = run_program(plain.emulated, [], {"EMU_FAIL": str(call)})
    if got.code == 0:
        assert got.out == want.out
    else:
        assert "are lost" in got.err and got.out == ""


@needs_cxx
def test_too_little_memory(plain: Built) -> None:
    """For none of the grids, and for one of two."""
    for room in ("10", "3300"):
        ran = plain.agree(env={"EMU_MEMORY": room})
        assert "runs on the host: out of memory" in ran.err and ran.counts["launches"] == 0


INSIDE = {
    "read": ('if (t % 4 == 3) printf("%.17g\\n", u[n / 2][n / 2]);', 3808, 6 * 2592),
    "condition": ("if (u[n / 2][n / 2] > 5) sum += 1;", 3808, 10 * 2592),
    "while": ("int k = 0; while (k < n && u[k][1] < 3) k++; sum += k;", 3808, 10 * 2592),
    "for": ("for (int k = 0; k < n; k++) sum += u[k][k];", 3808, 10 * 2592),
    "write": ("if (t == 4) u[3][3] = 100;", 2 * 3808, 4 * 2592),
    "by another pointer": ("if (t == 4) { double *p = (double *)u; p[3 * n + 3] = 7; }", 2 * 3808, 4 * 2592),
    "boundary": ("for (int k = 0; k < n; k++) u[0][k] = t + k;", 10 * 3200, 10 * 2592),
    "declaration": ("double x = u[n / 2][2]; sum += x;", 3808, 10 * 2592),
    "do": ("int k = 0; do { sum += k; } while (++k < 3 && u[k][k] < 6);", 3808, 10 * 2592),
    "switch": ("switch (t % 3) { case 0: sum += 1; break; case 1: sum += u[2][2]; break; }", 3808, 8 * 2592),
    "nothing": ("sum += t * 0.5; if (t > 100) sum = sqrt(sum);", 3808, 2 * 2592),
    "print": ('printf("%d of %d\\n", t, steps);', 3808, 2 * 2592),
    "continue": ("if (t % 2) { continue; } sum += u[1][1];", 3808, 10 * 2592),
    "break": ("if (t == 7) break;", 3808, 2 * 2592),
    "another function": ("sum += middle(n, u);", 10 * 3200, 10 * 2592),
    "regions and more": ("sum += both(n, u, v);", None, None),
    "regions alone": ("two(n, u, v);", 3808, 2 * 2592),
    "with a result": ("sum += total(n, u);", None, None),
    "unknown": ("if (any) any(n, u, v);", 3808, 2 * 2592),
    "a macro": ("sum += TOP;", 10 * 3200, 10 * 2592),
}  # fmt: skip
BEFORE = """static double middle(int n, double u[n][n]) { return u[n / 2][n / 2]; }
static double both(int n, double u[n][n], double v[n][n])
{
  double x = u[1][1];
  step(n, u, v);
  x += v[2][2];
  v[3][3] = x;
  step(n, v, u);
  return x + u[3][3];
}
static void two(int n, double u[n][n], double v[n][n])
{
  step(n, u, v);
  step(n, v, u);
}
static double total(int n, double u[n][n])
{
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    s += u[i][i];
#pragma endscop
  return sqrt(fabs(s));
}
static void (*any)(int n, double (*u)[n], double (*v)[n]);
#define TOP u[1][1]
"""


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory, emulator: Path) -> Built:
    inside = [x for x, _, _ in INSIDE.values()]
    return build("several", tmp_path_factory.mktemp("several"), emulator, solver(inside, BEFORE))


@needs_cxx
@pytest.mark.parametrize("name", INSIDE)
def test_what_the_host_does_in_between(several: Built, name: str) -> None:
    """Statements, conditions and calls: what is copied for them, in bytes."""
    _, come, go = INSIDE[name]
    counts = several.agree(list(INSIDE).index(name)).counts
    assert come is None or counts["bytes_in"] == come
    assert go is None or counts["bytes_out"] == go


@pytest.mark.parametrize(
    ("inside", "why"),
    [
        ("if (t == 3) return 1;", "`return` leaves it"),
        ("goto out; out: ;", "`goto` leaves it"),
        ("double x[3]; x[0] = 1; sum += x[0];", "what is declared here ends before it"),
        ("while (getchar() > 0) sum++;", "a condition calls a function"),
        ("\n#ifdef X\n sum++;\n#endif\n", "`#ifdef X` stands in it"),
        ("\n#pragma omp parallel\n sum++;", "`#pragma omp` stands in it"),
        ("for (double x = u[1][1]; x > 0; x--) sum++;", "a loop begins with an access to memory"),
    ],
)  # fmt: skip
def test_refused(inside: str, why: str) -> None:
    """With the place, and every region copies as it always does."""
    done = made(solver([inside]))
    (told,) = (d for d in done.diagnostics if d.id == "data-scope")
    assert why in told.message and told.loc.line >= 22
    assert "tw_f_begin" not in done.text and "tw_hold" not in done.extra.file(".tw.cu")


def test_pragmas_that_do_not_fit() -> None:
    text = solver()
    assert "data-scope" in ids(text.replace("#pragma tilewright end data\n", ""))
    assert "data-scope" in ids(text.replace("#pragma tilewright data\n", ""))
    assert "data-scope" in ids(text.replace("#pragma tilewright data\n", "if (steps)\n#pragma tilewright data\n"))
    assert "data-scope" not in ids(text)
    other = generate("f.c", text, GenOptions(target="openmp"))
    assert "pragma tilewright" not in other.text and not {"bad-hint", "data-scope"} & {d.id for d in other.diagnostics}


PAIR = """#include <stdio.h>
#include <stdlib.h>
static double other[10];
static double f(int n, double *a, double *b, double *c)
{
  double s = 0;
#pragma scop
  for (int i = 0; i < n; i++)
    b[i] = 2 * a[i];
#pragma endscop
  BETWEEN
#pragma scop
  for (int i = 0; i < n; i++)
    c[i] = b[i] + a[i];
#pragma endscop
  return s;
}
int main(int argc, char **argv)
{
  double room[150], sum = 0;
  for (int k = 0; k < 150; k++)
    room[k] = k % 13;
  sum = f(50, room, room + (argc > 1 ? atoi(argv[1]) : 50), room + 100);
  for (int k = 0; k < 150; k++)
    sum = sum * 0.5 + room[k];
  printf("%.17g %g\\n", sum, other[0]);
  return 0;
}
"""


@needs_cxx
@pytest.mark.parametrize(
    ("between", "come", "go"),
    [("", 400, 800), ("s += n * 0.5;", 400, 800), ("b[3] = 1;", 1200, 800), ("s = b[3];", 1200, 800),
     ('printf("%d\\n", n);', 400, 800)],
)  # fmt: skip
def test_neighbours_hand_arrays_on(tmp_path: Path, emulator: Path, between: str, come: int, go: int) -> None:
    built = build("pair", tmp_path, emulator, PAIR.replace("BETWEEN", between))
    counts = built.agree().counts
    assert (counts["bytes_in"], counts["bytes_out"]) == (come, go)
    for first in (51, 60, 100):  # b and c overlap: regions run on the host, and arrays go home for that
        built.agree(first)


SAME = """#include <stdio.h>
static void add(int n, double *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 0.5 + i;
#pragma endscop
}
int main(void)
{
  double room[120], sum = 0, *p = room;
  for (int k = 0; k < 120; k++)
    p[k] = k % 13;
#pragma tilewright data
  for (int t = 0; t < 9; t++) {
    add(60, room + 7 * t);
    add(30 + t, room);
  }
#pragma tilewright end data
  for (int k = 0; k < 120; k++)
    sum = sum * 0.5 + room[k];
  printf("%.17g\\n", sum);
  return 0;
}
"""


@needs_cxx
def test_pointers_into_the_same_array(tmp_path: Path, emulator: Path) -> None:
    build("same", tmp_path, emulator, SAME).agree()


PARTS = """#include <stdio.h>
static void part(int n, int i0, int j0, int m, double a[n][n])
{
#pragma scop
  for (int i = i0; i < i0 + m; i++)
    for (int j = j0; j < j0 + m; j++)
      a[i][j] = a[i][j] * 0.5 + i - j;
#pragma endscop
}
int main(void)
{
  double a[40][40], sum = 0;
  for (int k = 0; k < 1600; k++)
    a[k / 40][k % 40] = k % 13;
#pragma tilewright data
  for (int t = 0; t < 60; t++)
    part(40, t * 7 % 31, t * 11 % 29, 1 + t * 5 % 9, a);
#pragma tilewright end data
  for (int k = 0; k < 1600; k++)
    sum = sum * 0.5 + a[k / 40][k % 40];
  printf("%.17g\\n", sum);
  return 0;
}
"""


@needs_cxx
def test_many_parts_of_an_array(tmp_path: Path, emulator: Path) -> None:
    """More boxes than there is room for, which overlap; no element comes before it is needed."""
    counts = build("parts", tmp_path, emulator, PARTS).agree().counts
    assert 0 < counts["bytes_in"] <= sum(8 * (1 + t * 5 % 9) ** 2 for t in range(60))


FORGET = "TW_FORGET((double *)tw_u_held->memory.at + 1, 8);"
FAULTS = {
    "a missing copy to the device": (".tw.cu", "  tw_running = 1;\n", f"{FORGET}\n  tw_running = 1;\n", "nobody wrote"),
    "a missing copy home": (".tw.c", "tw_faults_home(); ", "", ""),
    "a missing copy at the end": (".tw.c", "tw_faults_end();", "", ""),
    "a stale copy": (".tw.c", "{ tw_faults_leave(); u[0][3]", "{ u[0][3]", "a stale copy"),
    "a change of what the device has": (".tw.c", "{ tw_faults_leave(); u[5][5]", "{ u[5][5]", "the device alone has"),
}
FAULTY = """if (t == 2) printf("%.17g\\n", u[5][5]);
    if (t == 4) u[0][3] = 50;
    if (t == 6) u[5][5] = 50;"""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory, emulator: Path) -> Built:
    return build("faults", tmp_path_factory.mktemp("faults"), emulator, solver([FAULTY]))


@needs_cxx
@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(tmp_path: Path, faulty: Built, emulator: Path, name: str) -> None:
    """With a copy left out, the emulator stops, or what it spoilt shows in the results."""
    faulty.agree()
    ending, old, new, message = FAULTS[name]
    files = {".tw.c": faulty.made.text, **dict(faulty.made.extra.files)}
    assert old in files[ending]
    files[ending] = files[ending].replace(old, new)
    emulated = link(tmp_path, "faults", files[".tw.c"], files[".tw.cu"], files[".tw.h"], emulator, ())
    ran, want = run_program(emulated, []), run_program(faulty.original, [])
    assert (ran.code == 3 and message in ran.err) if message else ran.out != want.out


@needs_cxx
def test_without_the_look_at_statements_the_emulator_finds_them(
    tmp_path: Path, emulator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codegen.gpu.resident.statements.effect_of", lambda *_: Effect.NONE)
    built = build("blind", tmp_path, emulator, solver(["u[0][3] = t; if (t == 2) sum += u[1][1];"]))
    ran = run_program(built.emulated, [])
    assert ran.code == 3 and "a stale copy" in ran.err


AROUND = Around({}, frozenset({"mine", "own"}), frozenset({"own"}), frozenset({"u"}), frozenset({"g"}))


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("x = y + 1;", "NONE"), ("double (*w)[n] = u;", "NONE"), ("u = v;", "NONE"), ("n++;", "NONE"), (";", "NONE"),
        ("double x = 3, *p = q;", "NONE"), ("x = (double)t * sqrt(y);", "NONE"), ("t.a = g2.b;", "NONE"),
        ("clock_gettime(0, &ts);", "NONE"), ('printf("%d %g", t, x);', "NONE"), ("size_t k = sizeof u[0];", "NONE"),
        ("p = &u[3][4];", "NONE"), ("unsigned_type k = 3;", "NONE"),
        ("x = u[3];", "READS"), ("x = *p;", "READS"), ("x = p->a;", "READS"), ('printf("%s", name);', "READS"),
        ("p = &u[(int)q[3]];", "READS"), ("x = g.a;", "READS"), ("fwrite(u, 8, n, file);", "READS"),
        ("u[3] = x;", "WRITES"), ("*p += x;", "WRITES"), ("p->a = 3;", "WRITES"), ("u[k]++;", "WRITES"),
        ("g = h;", "WRITES"), ("hist[t] = x;", "WRITES"),
        ("foo(3);", "CALLS"), ("x = (*f)(3);", "CALLS"), ("mine(u);", "CALLS"), ("free(p);", "CALLS"),
        ("memcpy(u, v, 8);", "CALLS"), ("x = own(n) + u[3];", "CALLS"), ("x = own(n) + own(3);", "CALLS"),
        ("this is not C;", "CALLS"), ('printf("%n", &u[3]);', "CALLS"),
        ("own(n, u);", "RESIDENT"), ("x = own(n, u) + 1;", "RESIDENT"), ("own(n, &u[3]);", "RESIDENT"),
        ("double a[3];", "ENDS"), ("struct s u;", "ENDS"), ("grid u;", "ENDS"), ("double *u = p;", "NONE"),
    ],
)  # fmt: skip
def test_effects(text: str, effect: str) -> None:
    assert effect_of(text, AROUND).name == effect


def test_no_other_name_leads_to_an_array() -> None:
    from dataclasses import replace

    told = replace(AROUND, no_alias=True)
    assert [effect_of(x, told).name for x in ("hist[t] = x;", "u[t] = x;", "x = *p;", "x = u[3];")] == [
        "NONE", "WRITES", "NONE", "READS",
    ]  # fmt: skip


def test_nothing_is_looked_for_in_plain_files() -> None:
    region = scopes.DeviceRegion(1, 0, 9, frozenset({"a"}))
    assert not scopes.may_stay("#pragma scop ...", [region])
    assert scopes.may_stay("#pragma scop ...", [region, region])
