"""The command line: files by name, Makefiles that build, a description of what was done."""

import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.sunway.host import emulator_folder
from tests.sunway.programs import KERNELS


def test_files_and_makefile(tmp_path, capsys, monkeypatch):
    shutil.copy(KERNELS / "kernels.h", tmp_path)
    shutil.copy(KERNELS / "mvt.c", tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["gen", "--target", "sunway", "--threads", "4,8", "mvt.c", "-o", "out.c", "--emit", "c,harness,plan"]
    assert main(words) == 0
    names = {p.name for p in tmp_path.iterdir()}
    assert {"out_master.c", "out_slave.c", "out_args.h", "out.sw.mk", "out.host.mk", "out.plan"} <= names
    flags = f"CPPFLAGS=-DDRIVER -I{tmp_path}"
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
    assert picture.read_text().startswith("<svg")


def test_bad_threads_is_an_error(capsys, tmp_path):
    words = ["gen", "--target", "sunway", "--threads", "3,5", str(KERNELS / "mvt.c"), "-o", str(tmp_path / "x.c")]
    assert main(words) == 1
    assert "[bad-threads]" in capsys.readouterr().err


def test_check_runs_on_the_emulator(capsys, monkeypatch):
    words = ["check", "--target", "sunway", "--threads", "16", str(KERNELS / "atax.c")]
    assert main(words) == 0
    assert "size vectors agree" in capsys.readouterr().out
    # A wait that is left out is found, whatever the results happen to be.
    monkeypatch.setattr("codegen.sunway.dialect.wait", lambda *_: ";")
    assert main(words) == 4
    assert "crashes" in capsys.readouterr().out


def test_check_for_the_newer_machine(capsys):
    assert main(["check", "--target", "sunway", "--machine", "sw26010-pro-cpe", str(KERNELS / "mvt.c")]) == 0
