"""A part of the SW26010-Pro's local memory is a data cache when programs run: tiles have no room there, and what a core
stores by itself is flushed before others look for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.diagnostics import InputError
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.sunway.emulation.host import Ran, compile_program, run_program
from codegen.sunway.plan.machine import group_of

# The first column is stored without a box, and is fetched with the others behind it.
ROWS = """void f(int n, double a, double p[n][n], double u[n][n]) {
#pragma scop
for (int i = 0; i < n; i++) {
  p[i][0] = a;
  for (int j = 1; j < n - 1; j++) p[i][j] = u[i][j] / (p[i][j - 1] + a);
  for (int j = n - 3; j > 0; j--) p[i][j] -= u[i][j] * p[i][j + 1];
}
#pragma endscop
}
"""
# Each core leaves a part of the sum, and the first core joins them.
SUM = """double f(int n, double x[n]) {
double s = 0;
#pragma scop
for (int i = 0; i < n; i++)
  s += x[i];
#pragma endscop
return s;
}
"""
# The first core stores last, alone.
LAST = """void f(int n, double a[n], double b[n]) {
#pragma scop
for (int t = 0; t < n; t++) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 0.5 + b[i];
  b[0] = a[t];
}
#pragma endscop
}
"""
MAIN = """
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
  const int n = 200;
  double (*p)[n] = calloc(n * n, sizeof(double)), (*u)[n] = calloc(n * n, sizeof(double)), sum = 0;
  for (int k = 0; k < n * n; k++)
    u[0][k] = k % 7;
  CALL
  for (int k = 0; k < n * n; k++)
    sum += p[0][k];
  printf("%.17g\\n", sum);
  return 0;
}
"""
CALLS = {"rows": (ROWS, "f(n, 1.5, p, u);"), "sum": (SUM, "p[0][0] = f(n, u[0]);"), "last": (LAST, "f(n, p[0], u[0]);")}
PROGRAMS = {name: text + MAIN.replace("CALL", call) for name, (text, call) in CALLS.items()}
PRO = GenOptions(target="sunway", machine="sw26010-pro-cpe", stem="f", scheme="launch", reassociate=True)
FLUSHED = "flush_slave_cache();\n  memb();"


def files(name: str, options: GenOptions) -> tuple[str, str, str]:
    made = generate("f.c", PROGRAMS[name], options)
    assert all(r.transformed for r in made.regions)
    return made.text, made.extra.file("_slave.c"), made.extra.file("_args.h")


def run(folder: Path, library: Path, master: str, slave: str, args: str) -> Ran:
    for ending, text in (("_master.c", master), ("_slave.c", slave), ("_args.h", args)):
        (folder / f"f{ending}").write_text(text)
    words = ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]
    assert compile_program([folder / "f_master.c", folder / "f_slave.c"], folder / "f", library, words) == ""
    return run_program(folder / "f")


@pytest.mark.parametrize("name", PROGRAMS)
def test_own_stores_leave_the_cache(tmp_path: Path, library: Path, name: str) -> None:
    master, slave, args = files(name, PRO)
    assert FLUSHED in slave
    ran = run(tmp_path, library, master, slave, args)
    assert ran.code == 0, ran.err
    # Without the flush the emulator names the place.
    ran = run(tmp_path, library, master, slave.replace("flush_slave_cache();", ""), args)
    assert ran.code == 3 and ran.err.rstrip().endswith("[memb]") and "flush_slave_cache" in ran.err


def test_the_last_stores_leave_the_cache(tmp_path: Path, library: Path) -> None:
    master, slave, args = files("last", PRO)
    assert slave.rstrip().endswith("tw_fence();\n}")
    ran = run(tmp_path, library, master, slave.replace("  tw_fence();\n}", "}"), args)
    assert ran.code == 3 and "a core ends with stores of its own in its data cache" in ran.err


@pytest.mark.parametrize("change", [{"ldm_cache": "0"}, {"machine": "sw26010-cpe"}], ids=["off", "none"])
def test_without_a_cache(tmp_path: Path, library: Path, change: dict[str, str]) -> None:
    master, slave, args = files("rows", replace(PRO, **change))  # type: ignore[arg-type]
    assert "flush_slave_cache" not in slave and "memb();" in slave
    assert run(tmp_path, library, master, slave, args).code == 0


def test_tiles_have_what_the_cache_leaves() -> None:
    room = {kb: group_of(replace(PRO, ldm_cache=kb)).ldm_bytes // 1024 for kb in ("", "0", "32", "128")}
    assert room == {"": 224, "0": 256, "32": 224, "128": 128}
    assert group_of(replace(PRO, machine="sw26010-cpe", ldm_cache="0")).ldm_bytes == 65536
    with pytest.raises(InputError, match="have no data cache"):
        group_of(replace(PRO, machine="sw26010-cpe", ldm_cache="32"))


def test_the_emulator_has_what_the_cache_leaves(tmp_path: Path, library: Path) -> None:
    """Tiles that fit beside a cache of 32 KB do not beside one of 128."""
    master, slave, args = files("rows", PRO)
    first = "const int id = athread_get_id(-1);"
    room = 200 * 1024 - int(run(tmp_path, library, master, slave, args).counts["ldm_peak"])
    grown = slave.replace(first, f"{first}\n  volatile char room[{room}];\n  room[id] = room[0];")
    assert run(tmp_path, library, master, grown, args).code == 0
    told = master.replace('"sw26010-pro", 32,', '"sw26010-pro", 128,')
    assert told != master
    ran = run(tmp_path, library, told, grown, args)
    assert ran.code == 3 and ran.err.rstrip().endswith("[ldm-overflow]") and "of 131072 bytes" in ran.err


def test_files_for_different_caches(tmp_path: Path, library: Path) -> None:
    calls = "p[0][0] = f(n, u[0]) + g(n, u[1]);"
    text = "double g(int n, double x[n]);\n" + SUM + MAIN.replace("CALL", calls)
    other = SUM.replace("double f", "double g")
    sources = list[Path]()
    for stem, source, cache in (("f", text, ""), ("g", other, "0")):
        made = generate(f"{stem}.c", source, replace(PRO, stem=stem, ldm_cache=cache))
        for ending, part in (("_master.c", made.text), *made.extra.files):
            (tmp_path / f"{stem}{ending}").write_text(part)
        sources += [tmp_path / f"{stem}_master.c", tmp_path / f"{stem}_slave.c"]
    assert compile_program(sources, tmp_path / "both", library) == ""
    ran = run_program(tmp_path / "both")
    assert ran.code == 3 and "generate all files of a program with one --ldm-cache" in ran.err


def test_the_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(SUM)
    words = ["gen", "f.c", "-o", "f.c", "--emit", "c,harness", "--target", "sunway", "--reassociate"]
    assert main([*words, "--machine", "sw26010-pro-cpe", "--ldm-cache", "128"]) == 0
    assert "--ldm-cache=128" in Path("f_slave.c").read_text() and "bsub -cache_size 128" in Path("f.sw.mk").read_text()
    assert main([*words, "--ldm-cache", "32"]) == 1
    assert "have no data cache, so --ldm-cache cannot be 32" in capsys.readouterr().err
    assert main(["gen", "f.c", "-o", "g.c", "--ldm-cache", "32"]) == 0
    assert "`--ldm-cache` has no effect with --target openmp" in capsys.readouterr().err
