"""What builds ask for besides C: flags from compile_commands.json, headers, messages in files, no folders in them."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.forked import tilewright

ROOT = Path(__file__).parents[2]
SOURCE = """\
#include "size.h"
#include <stdint.h>
void f(int n, const double A[restrict n][n], int32_t b[4], float *restrict c, length k)
{
#pragma scop
  for (int i = 0; i < n; i++)
    c[i] = A[i][i] * b[1] * SIZE * FACTOR;
#pragma endscop
  c[0] += k;
}
static int g(int n, int a[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    if (a[i] > n) return 0;
#pragma endscop
  return a[0];
}
int h(int n, int a[n]) { return g(n, a); }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("src/f.c", SOURCE), ("include/size.h", "#define SIZE 3\ntypedef long length;\n")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def database(folder: Path, **entry: Any) -> None:
    folder.mkdir(exist_ok=True)
    commands = [{"directory": str(folder), "file": "../src/other.c", "command": "cc -c ../src/other.c"},
                {"directory": str(folder), "file": "../src/f.c", **entry}]
    (folder / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")


@pytest.mark.parametrize("entry", [
    {"command": "cc -O2 -I../include '-DFACTOR=2 + 1' -MD -MF f.d -o f.o -c ../src/f.c"},
    {"arguments": ["cc", "-I", "../include", "-DFACTOR=2 + 1", "-Werror", "-o", "f.o", "-c", "../src/f.c"]},
    {"arguments": ["cc", "-isystem../include", "-include", "../include/size.h", "-DFACTOR=2 + 1", "-c", "../src/f.c"]},
])
def test_flags_of_the_build(entry: dict[str, Any], project: Path) -> None:
    database(project / "build", **entry)
    done = tilewright("gen", "src/f.c", "-p", "build", "-o", "f.tw.c", "-MD", "--no-banner")
    assert done.returncode == 0, done.stderr
    text = (project / "f.tw.c").read_text(encoding="utf-8")
    assert "* 3 * 2 + 1" in text and "tilewright: region 1 of f" in text
    deps = (project / "f.tw.d").read_text(encoding="utf-8")
    assert "build/compile_commands.json" in deps and "include/size.h" in deps
    assert not (project / "f.d").exists() and not (project / "f.o").exists()
    # From the build's own folder, and with a flag of one's own on top.
    again = tilewright("gen", "../src/f.c", "-p", "compile_commands.json", "-DFACTOR=7", "-w", cwd=project / "build")
    assert again.returncode == 0 and "* 3 * 7" in again.stdout, again.stderr


def test_databases_that_do_not_help(project: Path) -> None:
    assert "cannot read build" in tilewright("gen", "src/f.c", "-p", "build").stderr
    database(project / "build", command="")
    assert "the command for src/f.c is empty [bad-database]" in tilewright("gen", "src/f.c", "-p", "build").stderr
    (project / "src" / "new.c").write_text(SOURCE, encoding="utf-8")
    assert "there is no command for src/new.c in build" in tilewright("gen", "src/new.c", "-p", "build").stderr
    for text in ("{", "{}", '[{"command": "cc"}]'):
        (project / "build" / "compile_commands.json").write_text(text, encoding="utf-8")
        done = tilewright("gen", "src/f.c", "-p", "build")
        assert done.returncode == 1 and "[bad-database]" in done.stderr
    assert tilewright("gen", "src/f.c", "-p", "build", "--no-cpp").returncode == 2


def test_header(project: Path) -> None:
    flags = ("-Iinclude", "-DFACTOR=2")
    done = tilewright("gen", "src/f.c", *flags, "--emit", "c,header", "-o", "f.tw.c", "-q")
    assert done.returncode == 0, done.stderr
    text = (project / "f.tw.h").read_text(encoding="utf-8")
    assert text.count(" f(int n") == 2 and " g(" not in text
    assert '#include "size.h"' in text and "#include <stdint.h>" in text
    assert "void f(int n, const double *A, int32_t b[4], float * c, length k);" in text
    uses = '#include "f.tw.h"\n#include "f.tw.h"\nint main(void) { return f == 0; }\n'
    for suffix, compiler in (("c", "cc"), ("cc", "c++")):
        if shutil.which(compiler):
            (project / f"use.{suffix}").write_text(uses, encoding="utf-8")
            words = [compiler, "-Wall", "-Wextra", "-Iinclude", "-I.", "-c", f"use.{suffix}", "-o", "use.o"]
            assert subprocess.run(words, capture_output=True, check=False).stderr.count(b"error") == 0
    (project / "f.tw.h").write_text("/* mine */\n", encoding="utf-8")
    done = tilewright("gen", "src/f.c", *flags, "--emit", "header", "-o", "f.tw.c")
    assert done.returncode == 1 and "will not overwrite f.tw.h" in done.stderr


def test_messages_in_a_file(project: Path) -> None:
    words = ("gen", "src/f.c", "-Iinclude", "-DFACTOR=2", "-o", "out.c", "-q", "--diagnostics-file")
    assert tilewright(*words, "m.json").stderr == "" and tilewright(*words, "m.sarif").stderr == ""
    found = json.loads((project / "m.json").read_text(encoding="utf-8"))
    assert {"region-refused", "parallel"} <= {m["id"] for m in found}
    log = json.loads((project / "m.sarif").read_text(encoding="utf-8"))
    assert log["version"] == "2.1.0" and len(log["runs"][0]["results"]) >= len(found)


def test_no_folder_is_in_any_output(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same bytes wherever the tree lies, and however its files are named on the command line."""
    other = tmp_path_factory.mktemp("elsewhere") / "deep" / "down"
    shutil.copytree(project, other)
    emits = ("--emit", "c,plan,header,report", "--line", "-DFACTOR=2", "-q")
    made = []
    for base, source, include, output in (
        (project, "src/f.c", "-Iinclude", "o.c"),
        (project / "src", "./f.c", "-I../include", "o.c"),
        (other, str(other / "src" / "f.c"), f"-I{other / 'include'}", str(other / "o.c")),
    ):
        done = tilewright("gen", source, include, "-o", output, *emits, cwd=base)
        assert done.returncode == 0, done.stderr
        made.append({n: (base / n).read_text(encoding="utf-8") for n in ("o.c", "o.plan", "o.h", "o.report.txt")})
    for name in ("o.c", "o.plan", "o.h"):
        assert made[0][name] == made[1][name] == made[2][name], name
        assert str(other) not in made[2][name] and "include/" not in made[0][name]


KEPT = """\
#define _GNU_SOURCE
#include <stdio.h>
void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
#pragma tilewright assume(n >= 1)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
int main(void)
{
  double A[3][3] = {{1, 2, 3}}, B[3][3] = {{4, 5}, {6}}, C[3][3] = {{0}};
  f(3, A, B, C);
  printf("%g %s:%d\\n", C[0][0], __FILE__, __LINE__);
}
"""


@pytest.mark.parametrize("line", [False, True])
def test_original_nests_come_back(line: bool, tmp_path: Path) -> None:
    """One file, two programs; nothing is unused in either, and every #line holds for both."""
    import codegen

    (tmp_path / "k.c").write_text(KEPT, encoding="utf-8")
    made = codegen.generate(tmp_path / "k.c", keep_original=True, line=line)
    lines = made.text.split("\n")
    first = made.regions[0].links[0][0]
    assert "S1: C[i][j] += A[i][k] * B[k][j];" in lines[first - 1]
    (tmp_path / "k.tw.c").write_text(made.text, encoding="utf-8")
    said = []
    for flags in ((), ("-DTW_ORIGINAL",)):
        words = ["cc", "-std=gnu11", "-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror", *flags, "k.tw.c", "-o", "k"]
        subprocess.run(words, cwd=tmp_path, check=True)
        said.append(subprocess.run(["./k"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout)
    number = made.text.count("\n") - 1
    assert said == ([f"16 k.c:{KEPT.count(chr(10)) - 1}\n"] * 2 if line else [f"16 k.tw.c:{number}\n"] * 2)
    crlf = codegen.generate(KEPT.replace("\n", "\r\n"), name="k.c", keep_original=True, line=line).text
    assert crlf.replace("\r\n", "\n") == made.text and crlf.count("\n") == crlf.count("\r\n")


def test_debuggers_find_statements(tmp_path: Path) -> None:
    """--line=statements: what stands in a nest counts as the source's lines; names are mapped."""
    import codegen

    (tmp_path / "k.c").write_text(KEPT, encoding="utf-8")
    made = codegen.generate(tmp_path / "k.c", line="statements", file_prefix_map={str(tmp_path): "src"})
    assert "from src/k.c;" in made.text.split("\n")[0]
    at = [m[1] for m in re.finditer(r'^#line (\d+) "src/k.c"$', made.text, re.M)]
    assert {"5", "10", "12"} <= set(at) <= {"1", "2", "5", "10", "12"}
    lines = made.text.split("\n")
    assert all(not lines[number - 1].startswith("#line") for number, _ in made.regions[0].links)
    (tmp_path / "k.tw.c").write_text(made.text, encoding="utf-8")
    words = ["cc", "-std=gnu11", "-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror", "k.tw.c", "-o", "k"]
    subprocess.run(words, cwd=tmp_path, check=True)
    said = subprocess.run(["./k"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert said == f"16 src/k.c:{KEPT.count(chr(10)) - 1}\n"


def test_other_instruction_sets(tmp_path: Path) -> None:
    """A compiler for another processor says so, or takes the source's nests; one without the flags, when asked."""
    import codegen

    def says(word: str, **options: bool) -> tuple[int, str]:
        text = codegen.generate(KEPT, name="k.c", isa="avx2", **options).text  # type: ignore[arg-type]
        (tmp_path / "k.c").write_text(text.replace("defined(__x86_64__) || defined(__i386__)", word), encoding="utf-8")
        words = ["cc", "-fsyntax-only", "-fopenmp", "-w", "k.c"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, next((x for x in done.stderr.splitlines() if "#error" in x), "")

    wrong, said = says("0")
    assert wrong and "generated for avx2, which is not for this processor" in said
    assert says("0", keep_original=True)[0] == 0
    wrong, said = says("0", keep_original=True, require_isa=True)
    assert wrong and "--require-isa" in said


def test_stats(project: Path) -> None:
    done = tilewright("gen", "src/f.c", "-Iinclude", "-DFACTOR=2", "-o", "out.c", "-w", "--stats")
    stages = r"reading [\d.]+ s, region 1 [\d.]+ s, region 2 [\d.]+ s, printing [\d.]+ s"
    wanted = rf"src/f.c: note: 2 regions, 1 transformed, 1 left; {stages} \[stats\]\n"
    assert done.returncode == 0 and re.fullmatch(wanted, done.stderr), done.stderr
    assert tilewright("gen", "src/f.c", "--target", "sunway", "--keep-original", "-o", "o.c").returncode == 2


HINTED = """\
void f(int n, double a[n][n], double b[n][n])
{
#pragma tilewright plan("f.plan")
  /* kept */
#pragma tilewright assume(n >= 1)
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = b[j][i];
#pragma endscop
}
"""


def test_hints_of_the_source(project: Path) -> None:
    """The plan that a region names is found beside its file, is a dependency, and no hint is left in the result."""
    (project / "src/h.c").write_text(HINTED, encoding="utf-8")
    (project / "src/f.plan").write_text("region 1\n  tile i:7, j:11\n", encoding="utf-8")
    done = tilewright("gen", "src/h.c", "-o", "h.tw.c", "-MD")
    made = (project / "h.tw.c").read_text(encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "") and "it += 7" in made and "jt += 11" in made
    assert "#pragma tilewright" not in made and "  /* kept */\n  /* tilewright: region 1" in made
    assert "src/f.plan" in (project / "h.tw.d").read_text(encoding="utf-8").split()
    words = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-c", "h.tw.c"]
    subprocess.run(words, cwd=project, check=True)
    assert "tile i:7, j:11" in tilewright("inspect", "src/h.c").stdout
    (project / "other.plan").write_text("region 1\n  tile i:5\n", encoding="utf-8")
    assert "it += 5" in tilewright("gen", "src/h.c", "--plan", "other.plan").stdout
    (project / "src/f.plan").write_text("region 2\n  tile i:7\n", encoding="utf-8")
    done = tilewright("gen", "src/h.c")
    assert done.returncode == 1 and "src/h.c:3:1: error: src/f.plan has no plan for region 1" in done.stderr
    (project / "src/f.plan").unlink()
    assert "cannot-read" in tilewright("gen", "src/h.c").stderr


@pytest.mark.parametrize("how", ["above", "absolute", "link", "linked folder"])
def test_plans_outside_the_folder_of_a_source(project: Path, how: str) -> None:
    """A source cannot make the tool read what lies elsewhere, unless the user allows it."""
    (project / "plans").mkdir()
    kept = project / "plans/f.plan"
    kept.write_text("region 1\n  tile i:7, j:11\n", encoding="utf-8")
    (project / "src/l.plan").symlink_to(kept)
    (project / "src/sub").symlink_to(project / "plans")
    names = {"above": "../plans/f.plan", "absolute": str(kept), "link": "l.plan", "linked folder": "sub/f.plan"}
    (project / "src/h.c").write_text(HINTED.replace("f.plan", names[how]), encoding="utf-8")
    done = tilewright("gen", "src/h.c")
    assert done.returncode == 1 and "src/h.c:3:1: error: the plan lies outside" in done.stderr
    assert "--plan-path" in done.stderr and "[bad-hint]" in done.stderr
    assert tilewright("gen", "src/h.c", "--plan-path", "include").returncode == 1
    assert "it += 7" in tilewright("gen", "src/h.c", "--plan-path", "include", "--plan-path", "plans").stdout


def test_files_that_are_no_plans(project: Path) -> None:
    (project / "src/h.c").write_text(HINTED, encoding="utf-8")
    plan = project / "src/f.plan"
    for text in ("secret: word\n", "\0\0secret", "{secret}"):
        plan.write_text(text, encoding="utf-8")
        done = tilewright("gen", "src/h.c")
        assert done.returncode == 1 and "this is no plan" in done.stderr and "secret" not in done.stderr
    plan.write_text("region 1\n" + "#" * (1 << 20), encoding="utf-8")
    for words in ((), ("--plan", "src/f.plan")):
        done = tilewright("gen", "src/h.c", *words)
        assert done.returncode == 1 and "more than 1048576 bytes" in done.stderr and "[bad-plan]" in done.stderr
    plan.unlink()
    os.mkfifo(plan)  # nobody writes to it
    assert "src/h.c:3:1: error: cannot read src/f.plan: it is not a plain file" in tilewright("gen", "src/h.c").stderr
    plan.unlink()
    plan.mkdir()
    assert "[cannot-read]" in tilewright("gen", "src/h.c").stderr
