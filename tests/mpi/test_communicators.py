"""Programs that use MPI themselves: they are refused unless they name a communicator whose ranks hold the same data,
and regions are shared by its ranks alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.diagnostics import InputError
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from tests.mpi.programs import SMALL, compiled, for_ranks, needs_mpi, on_ranks

NEST = """
static void steps(int n, int t, double a[n][n], double b[n][n])
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}
"""
SCALE = """
static void scale(int n, double a[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i][j] * 2 + i;
#pragma endscop
}
"""
# Ranks that come together in other groups, each with data of its own; `sent` is what generated code has sent.
GROUPS = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct grid { MPI_Comm comm; };
enum { N = 90 };
static void steps(const struct grid *g, int n, int t, double a[n][n], double b[n][n])
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
  (void)g;
}
static void plain(int n, int t, double a[n][n], double b[n][n])
{
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
}
static double a[N][N], b[N][N], want[N][N];
static int wrong(const struct grid *g, int of)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = want[i][j] = of * 1000 + i * 7 % 13 + j;
  steps(g, N, 7, a, b);
  plain(N, 7, want, b);
  return memcmp(a, want, sizeof a) != 0;
}
int main(int argc, char **argv)
{
  MPI_Comm half, pair, some;
  int rank, bad = 0, sent = 0;
  BEGIN
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &pair);
  MPI_Comm_split(MPI_COMM_WORLD, rank ? 0 : MPI_UNDEFINED, 0, &some);
  for (int k = 0; k < 3; k++) {
    bad += wrong(&(struct grid){ half }, rank % 2);
    bad += wrong(&(struct grid){ MPI_COMM_WORLD }, 5);
    bad += wrong(&(struct grid){ pair }, rank / 2);
    bad += wrong(&(struct grid){ some }, rank ? 1 : 2);
    if (k == 1) {
      MPI_Comm_free(&half);
      MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &half);
    }
    if (k == 1)
      bad += wrong(&(struct grid){ half }, rank > 0);
    if (k == 1) {
      MPI_Comm_free(&half);
      MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    }
  }
#ifdef TW_RANKS
  sent = tw_world.sent > 0;
#endif
  printf("%d %d\\n", bad, sent);
  MPI_Finalize();
  return 0;
}
"""


def with_mpi(name: str, text: str, comm: str = "", **options: object) -> str:
    cpp = CppOptions(command=("mpicc", "-E"))
    return generate(name, text, GenOptions(target="mpi", comm=comm, cpp=cpp, **options)).text  # type: ignore[arg-type]


@needs_mpi
@pytest.mark.parametrize("begin", ["MPI_Init(&argc, &argv);", "MPI_Init_thread(0, 0, MPI_THREAD_MULTIPLE, &rank);"])
def test_ranks_of_a_communicator_share_a_region(begin: str, tmp_path: Path) -> None:
    text = GROUPS.replace("BEGIN", f"(void)argc, (void)argv;\n  {begin}")
    program = compiled("mpicc", with_mpi("groups.c", text, "g->comm"), tmp_path / "groups",
                       (*SMALL, "-fopenmp", "-DTW_TELL=25"))  # fmt: skip
    for ranks in (1, 4, 5):
        done = on_ranks(program, ranks)
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.split("\n")) == ["", *[f"0 {int(ranks > 1)}"] * ranks], done.stderr


@needs_mpi
def test_the_world_is_begun_where_nobody_has(tmp_path: Path) -> None:
    text = SCALE + "int main(void) { static double a[9][9]; scale(9, a); return tw_world.size != 3; }\n"
    made = generate("scale.c", text.replace("return tw_world.size != 3", "return 0"),
                    GenOptions(target="mpi", comm="MPI_COMM_WORLD")).text  # fmt: skip
    made = made.replace("return 0; }", "return tw_world.size != 3; }")
    done = on_ranks(compiled("mpicc", made, tmp_path / "world", (*SMALL, "-fopenmp")), 3)
    assert done.returncode == 0, done.stderr


def named(text: str, comm: str) -> str:
    """The text with a communicator at its region."""
    return text.replace("#pragma scop", f"#pragma tilewright comm({comm})\n#pragma scop")


def refused(text: str, comm: str = "", *, cpp: tuple[str, ...] = ()) -> InputError:
    with pytest.raises(InputError) as found:
        generate("in.c", text, GenOptions(target="mpi", comm=comm, cpp=CppOptions(args=cpp)))
    return found.value


@pytest.mark.parametrize(
    ("use", "line"),
    [
        ("int MPI_Barrier(int);\n", 1),
        ("typedef int MPI_Comm;\n", 1),
        ("int PMPI_Allreduce(int);\n", 1),
        ('\n#include "mpi.h"\n', 2),
        ('#include "grid.h"\n', 1),
        ('#include "outer.h"\n', 1),
    ],
)
def test_a_program_with_mpi_of_its_own_is_refused(use: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "mpi.h").write_text("#define MPI_COMM_WORLD 1\n")
    (tmp_path / "grid.h").write_text("#include <mpi.h>\n")
    (tmp_path / "outer.h").write_text('#include "grid.h"\n')
    error = refused(use + SCALE, cpp=(f"-I{tmp_path}",))
    assert (error.id, error.loc.line) == ("mpi-program", line)


def test_a_header_that_calls_mpi_is_the_place(tmp_path: Path) -> None:
    (tmp_path / "halo.h").write_text("\nint MPI_Sendrecv(double *);\n")
    error = refused('#include "halo.h"\n' + SCALE, cpp=(f"-I{tmp_path}",))
    assert (error.id, Path(error.loc.file).name, error.loc.line) == ("mpi-program", "halo.h", 2)


@pytest.mark.parametrize("use", ['const char *name = "MPI_Send";\n', "/* MPI_Send */\n", "enum { MPI_TIMER };\n"])
def test_words_that_are_no_use_of_mpi(use: str) -> None:
    assert "tw_ranks() > 1" in for_ranks("in.c", use + SCALE)


@pytest.mark.parametrize(
    ("comm", "words"),
    [
        ("", "uses MPI itself"),
        ("half", "`half` is nowhere"),
        ("comm = half", "changes something"),
        ("comms[i++]", "changes something"),
        ("(comm", "no C expression"),
        ("comm; x", "no C expression"),
        ("a, comm", "no C expression"),
    ],
)
def test_a_communicator_that_cannot_be(comm: str, words: str) -> None:
    head = "typedef int MPI_Comm; MPI_Comm comm, comms[4];\n"
    assert words in refused(head + SCALE, comm).message
    error = refused(head + named(SCALE, comm))
    assert (error.id, error.loc.line) == ("bad-communicator", 5)


def test_a_clause_is_for_one_region() -> None:
    text = "typedef int MPI_Comm;\nMPI_Comm half;\n" + named(NEST, "half") + SCALE
    made = generate("in.c", text, GenOptions(target="mpi"))
    assert made.text.count("tw_ranks_of(half) > 1") == 1 and "tw_ranks() > 1" not in made.text
    assert [r.transformed for r in made.regions] == [True, False]
    (refusal,) = (d for d in made.diagnostics if d.id == "region-refused")
    assert [(n.id, n.loc.line) for n in refusal.notes] == [("no-communicator", 21), ("no-communicator", 1)]
    other = generate("in.c", text, GenOptions(target="c"))
    assert all(r.transformed for r in other.regions) and "half) > 1" not in other.text


@needs_mpi
def test_files_that_do_not_show_that_the_program_uses_mpi(tmp_path: Path) -> None:
    """Where the program has begun MPI, each rank has its own data, and runs regions alone; where a file of ours has,
    ranks share those of all files."""
    size = "\n#ifdef TW_RANKS\nint size{0}(void) {{ return tw_world.size; }}\n#endif\n"
    nest = SCALE.replace("static ", "").replace("scale", "scale{0}") + size
    for name in ("a", "b"):
        made = for_ranks(f"{name}.c", nest.replace("{{", "{").replace("}}", "}").replace("{0}", name))
        (tmp_path / f"{name}.c").write_text(made)
    main = """#include <mpi.h>
#include <stdio.h>
void scalea(int n, double a[n][n]), scaleb(int n, double a[n][n]);
int sizea(void), sizeb(void);
static double x[40][40];
int main(void)
{
  int rank = 0;
#ifdef BEGIN
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++)
      x[i][j] = rank * 1000 + i + j;
  scalea(40, x), scaleb(40, x);
  double s = 0;
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++)
      s += x[i][j];
  printf("%d %d %g\\n", sizea(), sizeb(), s - rank * 1000 * 4 * 1600);
#ifdef BEGIN
  MPI_Finalize();
#endif
  return 0;
}
"""
    (tmp_path / "main.c").write_text(main)
    for words, size_of in ((["-DBEGIN"], 1), ([], 3)):
        command = ["mpicc", "-O1", "-Wall", "-Wextra", "-fopenmp", *SMALL, *words, "main.c", "a.c", "b.c", "-o", "both"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        done = on_ranks(tmp_path / "both", 3)
        assert done.returncode == 0, done.stderr
        assert set(done.stdout.splitlines()) == {f"{size_of} {size_of} 343200"}, done.stdout
        assert ("--comm EXPR" in done.stderr) == (size_of == 1)


@needs_mpi
def test_a_program_with_a_communicator_is_checked() -> None:
    from codegen.checking.compare import check

    text = "#include <mpi.h>\nMPI_Comm half;\n" + SCALE
    report = check("in.c", text, GenOptions(target="mpi", comm="half", cpp=CppOptions(command=("mpicc", "-E"))), print)
    assert report.ok and " on 2, 3, 4, 6, 7 ranks" in report.lines[0], report.lines
