"""The command line: files by name, Makefiles that build, a description of what was done."""

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from codegen.cli.main import main
from codegen.sunway.emulation.host import emulator_folder
from tests.sunway.programs import KERNELS


def test_files_and_makefile(tmp_path, capsys, monkeypatch):
    shutil.copy(KERNELS / "kernels.h", tmp_path)
    shutil.copy(KERNELS / "mvt.c", tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["gen", "--target", "sunway", "--threads", "4,8", "mvt.c", "-o", "out.c", "--emit", "c,harness,plan"]
    assert main(words) == 0
    names = {p.name for p in tmp_path.iterdir()}
    assert {"out_master.c", "out_slave.c", "out_args.h", "out.sw.mk", "out.host.mk", "out.plan"} <= names
    flags = f"CPPFLAGS=-DDRIVER -DTW_NO_FMA -I{tmp_path}"
    command = ["make", "-s", "-f", "out.host.mk", f"EMULATOR={emulator_folder()}", flags]
    subprocess.run([*command, "out_host", "out_serial"], check=True, cwd=tmp_path)
    programs = [str(tmp_path / n) for n in ("out_host", "out_serial")]
    runs = [subprocess.run([p, "75"], capture_output=True, text=True) for p in programs]
    assert runs[0].returncode == 0 and runs[0].stdout == runs[1].stdout
    assert "sw5cc" in Path("out.sw.mk").read_text() and "HYBRID" in Path("out.sw.mk").read_text()


def test_the_plan_can_be_used_again(tmp_path, capsys, monkeypatch):
    shutil.copy(KERNELS / "kernels.h", tmp_path)
    shutil.copy(KERNELS / "gemm.c", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["gen", "--target", "sunway", "gemm.c", "-o", "a.c", "--emit", "c,plan", "--no-banner"]) == 0
    assert main(["gen", "--target", "sunway", "gemm.c", "-o", "b.c", "--plan", "a.plan", "--no-banner"]) == 0
    slaves = [Path(f"{n}_slave.c").read_text().replace(f"{n}_args.h", "") for n in "ab"]
    assert slaves[0] == slaves[1]


TWO = """void f(int n, double a[n][n], double b[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] = 2 * b[i][j];
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i][j] = 3 * a[i][j];
#pragma endscop
}
"""


def test_regions_that_a_plan_leaves_out(tmp_path, capsys, monkeypatch):
    """They are planned for the core group, not for a processor; a report shows the same."""
    monkeypatch.chdir(tmp_path)
    Path("two.c").write_text(TWO)
    words = ["--target", "sunway", "two.c", "--no-banner"]
    assert main(["gen", *words, "-o", "a.c", "--emit", "c,plan"]) == 0
    first = Path("a.plan").read_text()
    first = first[:first.index("region 2")]
    Path("first.plan").write_text(first)
    assert main(["gen", *words, "-o", "b.c", "--plan", "first.plan", "--emit", "c,plan"]) == 0
    assert Path("b.plan").read_text() == Path("a.plan").read_text()
    assert Path("b_slave.c").read_text().replace("b_args", "a_args") == Path("a_slave.c").read_text()
    other = re.sub(r"\bj:\d+", "j:8", first)
    assert other != first
    Path("first.plan").write_text(other)
    capsys.readouterr()
    assert main(["inspect", "--target", "sunway", "two.c", "--plan", "first.plan"]) == 0
    assert "j:8" in capsys.readouterr().out


def test_standard_output_is_refused(capsys):
    assert main(["gen", "--target", "sunway", str(KERNELS / "mvt.c")]) == 2
    assert "-o" in capsys.readouterr().err


def test_harness_is_for_sunway(capsys, tmp_path):
    assert main(["gen", str(KERNELS / "mvt.c"), "-o", str(tmp_path / "x.c"), "--emit", "harness"]) == 2


@pytest.mark.slow
def test_inspect_shows_every_step(capsys, tmp_path):
    words = ["inspect", "--target", "sunway", str(KERNELS / "gemm.c"), "--sizes", "ni=200,nj=220,nk=240"]
    picture = tmp_path / "time.svg"
    assert main([*words, "--timeline", str(picture)]) == 0
    out = capsys.readouterr().out
    for text in ("mark: kernel", "mark: thread", "local memory", "get A: one command", "put C", "predicted:"):
        assert text in out
    shown = ElementTree.parse(picture).getroot()
    assert {p.get("class") for p in shown.findall(".//{*}path")} >= {"compute", "wait", "get", "put", "line"}
    assert len(picture.read_bytes()) < 500_000
    assert main([*words, "--timeline", str(KERNELS / "gemm.c")]) == 2
    mine = tmp_path / "mine.svg"
    mine.write_text("<svg/>")
    assert main([*words, "--timeline", str(mine)]) == 1 and mine.read_text() == "<svg/>"


@pytest.mark.parametrize("sizes, says", [
    ("n", "'n' is not NAME=NUMBER"), ("N=7", "no parameter 'N'; there are n")])
def test_sizes_of_the_model(sizes, says, capsys, tmp_path):
    picture = tmp_path / "time.svg"
    words = ["inspect", "--target", "sunway", str(KERNELS / "mvt.c"), "--timeline", str(picture), "--sizes"]
    assert main([*words, sizes]) == 2
    assert says in capsys.readouterr().err and not picture.exists()


def test_nothing_to_predict(capsys, tmp_path):
    source = tmp_path / "f.c"
    source.write_text("void f(int n, double a[n])\n{\n#pragma scop\n"
                      "  for (int i = 1; i < n; i++) a[i] += a[i - 1];\n#pragma endscop\n}\n")
    assert main(["inspect", "--target", "sunway", str(source), "--sizes", "n=7"]) == 0
    assert "predicted: no time, and no picture: nothing of it runs on the compute cores" in capsys.readouterr().out


def test_bad_threads_is_an_error(capsys, tmp_path):
    words = ["gen", "--target", "sunway", "--threads", "3,5", str(KERNELS / "mvt.c"), "-o", str(tmp_path / "x.c")]
    assert main(words) == 1
    assert "[bad-threads]" in capsys.readouterr().err


def test_check_runs_on_the_emulator(capsys, monkeypatch):
    words = ["check", "--target", "sunway", "--threads", "16", str(KERNELS / "atax.c")]
    assert main(words) == 0
    assert "size vectors agree" in capsys.readouterr().out
    # A wait that is left out is found by the proof, and without one by the emulator, whatever the results happen to be.
    monkeypatch.setattr("codegen.sunway.text.dialect.wait", lambda *_: ";")
    assert main(words) == 0
    assert "left as it is (no-proof)" in capsys.readouterr().out
    monkeypatch.setattr("codegen.sunway.emit.prove_kernel", lambda *_: None)
    monkeypatch.setattr("codegen.sunway.emit.prove_entry", lambda *_: None)
    assert main(words) == 4
    assert "crashes" in capsys.readouterr().out


def test_check_for_the_newer_machine(capsys):
    assert main(["check", "--target", "sunway", "--machine", "sw26010-pro-cpe", str(KERNELS / "mvt.c")]) == 0
