"""tilewright doctor on installations that lack something."""
from __future__ import annotations

import configparser
import os
import re
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from codegen.cli.doctor import NEEDS
from tests.cli.fakes import Fake, Run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH; empty."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path / "bin"


def compiler(path: Path, name: str, refuses: str) -> None:
    """A compiler that works until an argument or the source holds `refuses`."""
    real = shutil.which("cc", path=os.defpath)
    if real is None:
        pytest.skip("needs cc")
    lines = ("#!/bin/sh", f"PATH={os.defpath}", 'for w; do case "$w" in *.c) f=$w;; esac; done',
             f"if echo \"$*\" | cat - $f /dev/null | grep -q -e '{refuses}'; then",
             f"  echo \"$f:1:10: fatal error: no {refuses}\" >&2; exit 1; fi", f'exec {real} "$@"', "")
    (path / name).write_text("\n".join(lines), encoding="utf-8")
    (path / name).chmod(0o755)


def rows(text: str) -> dict[str, str]:
    """What is said about each examination, its remedy included."""
    joined = re.sub(r"\n {16} ", " | ", text)
    return {line[5:16].strip(): line[:5] + line[17:] for line in joined.splitlines()}


def test_no_compiler(fake: Fake, folder: Path, run: Run, path: Path) -> None:
    code, out, err = run("doctor")
    says = rows(out)
    assert (code, err) == (1, "")
    assert says["compiler"].startswith("FAIL none of cc, gcc and clang is on PATH | to mend it: install gcc or clang")
    assert says["openmp"] == "--   not tried; it needs: compiler" == says["result"]
    assert says["generation"].startswith("ok")


def test_compiler_named_by_the_user(fake: Fake, folder: Path, run: Run, path: Path,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    compiler(path, "gcc", "nothing at all")
    monkeypatch.setenv("CC", "mycc -m64")
    code, out, _ = run("doctor")
    assert code == 0 and rows(out)["compiler"].endswith("(CC=mycc -m64 is not on PATH)")
    assert rows(out)["openmp"] == "ok   gcc -fopenmp works"
    (path / "gcc").unlink()
    assert "FAIL CC=mycc -m64 and none of cc," in rows(run("doctor")[1])["compiler"]


def test_no_openmp(fake: Fake, folder: Path, run: Run, path: Path) -> None:
    compiler(path, "cc", "omp.h")
    code, out, _ = run("doctor")
    says = rows(out)
    assert code == 1 and says["compiler"].startswith("ok") and says["result"].startswith("ok")
    start = "FAIL cc -fopenmp does not give a program that runs: try.c:1:10: fatal error: no omp.h"
    assert says["openmp"].startswith(start)
    assert "libomp-dev" in says["openmp"] and "--target c" in says["openmp"]


def test_no_headers(fake: Fake, folder: Path, run: Run, path: Path) -> None:
    compiler(path, "cc", "stdio.h")
    says = rows(run("doctor")[1])
    assert says["compiler"].startswith("FAIL cc does not give") and "libc6-dev" in says["compiler"]


def test_old_or_missing_packages(fake: Fake, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "jinja2":
            raise metadata.PackageNotFoundError(name)
        return {"islpy": "2020.2.2", "pycparser": "2.21rc1"}.get(name) or real(name)

    monkeypatch.setattr(metadata, "version", version)
    code, out, _ = run("doctor")
    says = rows(out)
    assert code == 1 and says["pycparser"].startswith("ok")
    assert says["islpy"].startswith("FAIL 2020.2.2 is too old; 2023.1 or newer is needed | to mend it: ")
    assert says["islpy"].endswith("-m pip install --upgrade 'islpy>=2023.1'")
    assert says["jinja2"].startswith("FAIL is not installed | to mend it: ")
    assert says["generation"] == "--   not tried; it needs: islpy, jinja2"


def test_versions_are_those_of_the_package() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    asked = dict(re.findall(r"^(\w+) >= ([\d.]+)$", config["options"]["install_requires"], re.M))
    assert dict(NEEDS) == asked
