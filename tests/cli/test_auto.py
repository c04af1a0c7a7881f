"""`gen --auto` and `tilewright-cc --auto`: nests that nobody has marked."""
from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.cli.wrap.wrapper import main as wrapper
from codegen.options import GenOptions
from codegen.pipeline import Generated, generate
from codegen.report.nests import table
from codegen.source.nests import SourceNest, find_nests
from tests.cli.fakes import Run

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-O1")

# One nest of each kind, each in a function of its own name; `kr` is in the old style.
PROGRAM = """\
#include <stdio.h>
#define SIZE 3
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define SQUARE(x) ((x) * (x))

/* for (;;) in a comment is no loop */
static const char *words = "for (;;) {";

void product(int n, double a[n][n], double b[n][n], double c[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];
}

void few(double *a)
{
    for (int i = 0; i < SIZE; i++) a[i] = 1.0; /* stays */
}

void chain(int n, double *a)
{
    for (int i = 1; i < n; i++)
        a[i] = 0.5 * a[i - 1] / (1.0 + a[i - 1]);
}

void talk(int n, const double *a)
{
    for (int i = 0; i < n; i++)
        printf("%s %g\\n", words, a[i]);
}

void inside(int n, double (*restrict a)[n], double (*restrict b)[n])
{
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                b[j][i] = a[i][j];
        printf("step %d\\n", t);
    }
}

void branch(int n, int way, double (*restrict a)[n], double (*restrict b)[n])
{
    if (way) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = b[j][i]; else a[0][0] = 1.0;
}

void macros(int n, double (*restrict a)[n], double (*restrict b)[n])
{
    EACH(i, n)
        for (int j = 0; j < n; j++)
            a[i][j] = SQUARE(b[j][i]);
}

int kr(n, a, b)
    int n;
    double (*restrict a)[64], (*restrict b)[64];
{
    int i, j;
    for (i = 0; i < n; i++)
        for (j = 0; j < 64; j++)
            a[i][j] += b[i][j] * 2.0;
    return n;
}

void own(int n, double *a)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = 2.0;
}

void marked(int n, double *a)
{
#pragma scop
    for (int i = 1; i < n; i++)
        a[i] = 0.5 * a[i - 1];
#pragma endscop
    for (int i = 0; i < SIZE; i++) { a[i] = 0.0; }
}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """The program, generated once for the tests that look at different sides of the result."""
    path = tmp_path_factory.mktemp("auto") / "in.c"
    path.write_text(PROGRAM, encoding="utf-8")
    return generate(str(path), PROGRAM, GenOptions(auto=True, banner=False))


def test_verdicts(made: Generated) -> None:
    found = {(r.function, r.line): (r.depth, r.verdict, r.id) for r in made.nests}
    lines = sorted(line for function, line in found if function == "marked")
    assert [found["marked", line] for line in lines] == [(1, "transformed", ""), (1, "left", "no-gain")]
    assert sorted((f, *row) for (f, _), row in found.items() if f != "marked") == [
        ("branch", 2, "transformed", ""), ("chain", 1, "left", "no-gain"), ("few", 1, "left", "no-gain"),
        ("inside", 2, "transformed", ""), ("inside", 3, "refused", "unknown-call"), ("kr", 2, "transformed", ""),
        ("macros", 1, "transformed", ""), ("own", 1, "left", "has-directives"), ("product", 3, "transformed", ""),
        ("talk", 1, "refused", "unknown-call"),
    ]  # fmt: skip


def test_the_rest_is_byte_for_byte(made: Generated) -> None:
    out = made.text
    for name in ("few", "chain", "talk", "own"):
        function = re.search(rf"^void {name}\(.*?^}}\n", PROGRAM, re.M | re.S)
        assert function is not None and function[0] in out
    assert out.count("/* tilewright: region") == sum(r.verdict == "transformed" for r in made.nests)
    assert "#pragma scop" not in out and "    for (int i = 0; i < SIZE; i++) { a[i] = 0.0; }\n" in out
    assert " else a[0][0] = 1.0;" in out


def test_the_result_compiles_without_warnings(made: Generated, folder: Path) -> None:
    (folder / "out.c").write_text(made.text, encoding="utf-8")
    for words in (("-fopenmp",), ()):
        subprocess.run(["gcc", *STRICT, *words, "-Wno-old-style-definition", "-c", "out.c"], check=True)


def test_the_table(made: Generated) -> None:
    lines = table(made.nests, "in.c").splitlines()
    assert lines[0] == "in.c: 12 nests, 6 transformed, 4 left, 2 refused"
    assert lines[1].split() == ["nest", "function", "depth", "verdict", "why"]
    assert lines[2].split()[2] == "3" and any("[unknown-call]" in line for line in lines)


def test_the_result_computes_the_same(folder: Path, run: Run) -> None:
    text = re.search(r"^void inside.*?^int kr", PROGRAM, re.M | re.S)
    assert text is not None
    source = PROGRAM[: PROGRAM.index("void product")] + text[0].removesuffix("int kr")
    (folder / "in.c").write_text(source, encoding="utf-8")
    code, out, _ = run("check", "--auto", "--target", "c", "in.c")
    assert code == 0
    checked = {m[1] for m in re.finditer(r"^region \d+ \((\w+), line \d+\): \d+ size vectors agree", out, re.M)}
    assert checked == {"branch", "macros", "inside"}


FEW = """\
#include <stdio.h>
void f(double *a)
{
    for (int i = 0; i < 3; i++)
        a[i] = 1.0;
    for (int i = 0; i < 9; i++)
        printf("%g\\n", a[i]);
}
"""


@pytest.fixture
def program(folder: Path) -> Path:
    (folder / "in.c").write_text(FEW, encoding="utf-8")
    return folder


def test_refused_nests_are_remarks(program: Path, run: Run) -> None:
    code, out, err = run("gen", "--auto", "--no-banner", "in.c")
    assert (code, out) == (0, FEW) and "nest-refused" not in err and "warning" not in err
    assert err.startswith("in.c: 2 nests, 0 transformed, 1 left, 1 refused\n")
    messages = json.loads(run("gen", "--auto", "-Rpass-missed", "--diagnostics-format", "json", "in.c")[2])
    assert sorted((m["id"], m["severity"]) for m in messages) == [("nest-refused", "remark"), ("no-gain", "remark")]
    assert run("gen", "--auto", "-q", "in.c")[2] == ""


def test_overlaps_that_no_test_can_tell_are_refused_before_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.hosts.region.make", lambda *_: pytest.fail("a plan was made"))
    loops = "for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++)\n      y[i] += 2.0 * x[p[j]];"
    text = f"void f(int n, double *y, double *x, int *p)\n{{\n  {loops}\n}}\n"
    made = generate("in.c", text, GenOptions(auto=True, check_alias=True))
    assert {(row.verdict, row.id) for row in made.nests} == {("refused", "alias-unknown")}


def test_arrays_that_nobody_said_are_apart_are_tested(folder: Path, run: Run) -> None:
    """Who marks a region knows what its arrays are; of other nests that is not known."""
    text = "void f(int n, double *a, double *b)\n{\n  for (int i = 0; i < n; i++)\n    a[i] = 2.0 * b[i];\n}\n"
    (folder / "in.c").write_text(text, encoding="utf-8")
    _, out, _ = run("gen", "--auto", "--no-banner", "in.c")
    assert "uintptr_t" in out or "tw_apart" in out or "overlap" in out


GCOV = """\
        -:    0:Source:in.c
function f called 1 returned 100% blocks executed 100%
      900:    5:        a[i] = 1.0;
branch  0 taken 90%
      100*:   7:        printf("%g\\n", a[i]);
    #####:    8:}
        -:    9:
"""
LISTED = "# from perf\n 90.0% ./in.c:5\n10 src/in.c:7\n"


@pytest.mark.parametrize("text", [GCOV, LISTED, f"#!/bin/sh\ncat <<'END'\n{LISTED}END\n"], ids=["gcov", "list", "run"])
def test_profiles(text: str, program: Path, run: Run) -> None:
    Path("profile").write_text(text, encoding="utf-8")
    Path("profile").chmod(0o755 if text.startswith("#!") else 0o644)
    _, _, err = run("gen", "--auto", "--profile", "profile", "in.c")
    assert [line.split()[:2] for line in err.splitlines()[2:]] == [["90.0%", "in.c:4"], ["10.0%", "in.c:6"]]


def test_a_profile_needs_a_table(program: Path, run: Run) -> None:
    Path("p.txt").write_text("1% in.c:1\n", encoding="utf-8")
    code, _, err = run("gen", "--profile", "p.txt", "in.c")
    assert code == 2 and "--auto" in err
    Path("bad.sh").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    Path("bad.sh").chmod(0o755)
    code, out, err = run("gen", "--auto", "--profile", "bad.sh", "in.c")
    assert (code, out) == (1, "") and "bad-profile" in err and "status 3" in err


def test_combinations_that_make_no_sense(program: Path, run: Run) -> None:
    assert run("gen", "--auto", "--no-cpp", "in.c")[0] == 2
    assert run("gen", "--auto", "--target", "sunway", "in.c")[0] == 2


def _shape(nests: tuple[SourceNest, ...]) -> list[object]:
    return [(n.line, n.depth, n.function, _shape(n.inner)) for n in nests]


def test_nests_are_found_in_any_text() -> None:
    text = """\
#if A
void f(int n) {
#else
void g(int n) {
#endif
  do for (;;) { } while (0);
  /* for */ // for
  CALL(for (;;) x());
#pragma unroll
  for (;;)
    if (x) for (;;) ; else { for (;;) { for (;;) ; } }
}
int h(a) int a; { for (;;) ; for (;;) ; return a; }
"""
    assert _shape(find_nests(text)) == [
        (6, 1, "g", []), (9, 3, "g", [(11, 1, "g", []), (11, 2, "g", [(11, 1, "g", [])])]),
        (13, 1, "h", []), (13, 1, "h", []),
    ]  # fmt: skip
    split = find_nests("void f() {\n for (;;) {\n#if X\n }\n for (;;) {\n#endif\n }\n}\n")
    assert split[0].split
    assert find_nests("") == () and find_nests("void f() { for (") != ()


def test_two_nests_on_a_line(folder: Path, run: Run) -> None:
    """Regions are told apart by lines; such nests are looked at one after the other."""
    loop = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {a}[i][j] = b[j][i];"
    head = "void f(int n, double (*restrict a)[n], double (*restrict b)[n], double (*restrict c)[n])"
    text = f"{head}\n{{ {loop.format(a='a')} {loop.format(a='c')} }}"
    (folder / "in.c").write_text(text, encoding="utf-8")
    code, out, _ = run("gen", "--auto", "in.c", "--no-banner", "--target", "c", "--line=regions")
    assert code == 0 and out.count("/* tilewright: region") == 2 and out.endswith("\n }")
    assert run("check", "--auto", "in.c", "--target", "c")[0] == 0


def test_line_ends_and_marks_survive(folder: Path, run: Run) -> None:
    (folder / "in.c").write_bytes(b"\xef\xbb\xbf" + TURN.replace("\n", "\r\n").encode())
    code, _, _ = run("gen", "--auto", "in.c", "-o", "out.c", "--target", "c")
    data = (folder / "out.c").read_bytes()
    assert code == 0 and data.startswith(b"\xef\xbb\xbf") and data.count(b"\n") == data.count(b"\r\n")


def test_originals_can_be_kept(folder: Path, run: Run) -> None:
    (folder / "in.c").write_text(TURN.replace(" {\n", "\n{ "), encoding="utf-8")
    assert run("gen", "--auto", "--keep-original", "--target", "c", "in.c", "-o", "out.c")[0] == 0
    for words in ((), ("-DTW_ORIGINAL",)):
        subprocess.run(["gcc", *STRICT, *words, "-Wno-old-style-definition", "-c", "out.c"], check=True)


MAKEFILE = """\
CC ?= cc
CFLAGS ?= -O1 -Wall -Wextra -Werror
prog: main.o sum.o
\t$(CC) $(CFLAGS) $^ -o $@
%.o: %.c
\t$(CC) $(CFLAGS) -MD -c $< -o $@
"""
MAIN = """\
#include <stdio.h>
void turn(int n, double (*restrict a)[100], double (*restrict b)[100]);
static double a[100][100], b[100][100];
int main(void)
{
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 100; j++)
            a[i][j] = i * 100 + j;
    turn(100, a, b);
    printf("%g\\n", b[3][70]);
    return 0;
}
"""
TURN = """\
void turn(int n, double (*restrict a)[100], double (*restrict b)[100])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[j][i] = a[i][j];
}
"""


def test_a_build_stays_as_it_is(folder: Path) -> None:
    for name, text in (("Makefile", MAKEFILE), ("main.c", MAIN), ("sum.c", TURN)):
        (folder / name).write_text(text, encoding="utf-8")
    compiler = f"{sys.executable} -m codegen.cli.wrap.wrapper --auto gcc"
    made = subprocess.run(["make", f"CC={compiler}"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert "sum.c:3" in made.stderr and "transformed" in made.stderr
    assert subprocess.run(["./prog"], capture_output=True, text=True, check=True).stdout == "7003\n"
    assert (folder / "sum.d").read_text(encoding="utf-8").startswith("sum.o: sum.c")


def test_the_wrapper_leaves_what_it_cannot_read(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Nobody has asked for these nests: the compiler gets the file as it is."""
    (folder / "x.c").write_text(f"{TURN}int my_min;\n", encoding="utf-8")
    assert wrapper(["--auto", "--prefix=my", "--", "gcc", "-O1", "-c", "x.c"]) == 0
    assert (folder / "x.o").exists()
    (folder / "sub").mkdir()
    (folder / "sub" / "y.c").write_text("int main(void) { for (;;) return 0; }\n", encoding="utf-8")
    command = [sys.executable, "-m", "codegen.cli.wrap.wrapper", "--auto", "gcc", "x.c", "sub/y.c", "-o", "both"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "several folders" in done.stderr
