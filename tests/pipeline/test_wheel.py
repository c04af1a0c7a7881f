"""The package as users get it: built as a wheel, installed in a new environment, used outside the tree."""
from __future__ import annotations

import configparser
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("setup.cfg", "setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "codegen", "templates",
         "tilewright")  # fmt: skip


def sh(*words: str | Path, cwd: Path) -> str:
    """Run a command without the tree on Python's path; its standard output, or a failure that shows everything."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run([str(w) for w in words], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def copied(base: Path) -> Path:
    """What a package is made from, in a folder of its own: builds leave files behind."""
    tree = base / "tree"
    tree.mkdir()
    for part in PARTS:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, tree / part)
    return tree


def found_by_cmake(binaries: Path, folder: Path) -> str:
    """The command that find_package(Tilewright) finds, with nothing said but PATH."""
    (folder / "find.cmake").write_text(
        "find_package(Tilewright 0.1 REQUIRED)\nmessage(STATUS ${Tilewright_COMMAND})\n", encoding="utf-8")
    return sh("env", f"PATH={binaries}{os.pathsep}{os.environ['PATH']}", "cmake", "-P", "find.cmake", cwd=folder)


def pip(binaries: Path, *words: str | Path, cwd: Path) -> None:
    sh(binaries / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", *words, cwd=cwd)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that has the wheel and nothing of the tree; it also has what builds packages,
    which each build would fetch again."""
    base = tmp_path_factory.mktemp("wheel")
    venv.create(base / "venv", with_pip=True)
    binaries = base / "venv" / "bin"
    pip(binaries, "install", "setuptools>=64", "wheel", cwd=base)
    pip(binaries, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", base, copied(base), cwd=base)
    (wheel,) = base.glob("tilewright-*.whl")
    pip(binaries, "install", wheel, cwd=base)
    return binaries


@pytest.mark.slow
def test_installed_command_generates(installed: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "quickstart" / "gemm.c", tmp_path)
    assert sh(installed / "tilewright", "--version", cwd=tmp_path).startswith("tilewright ")
    sh(installed / "tilewright", "gen", "gemm.c", "-o", "out.c", cwd=tmp_path)
    text = (tmp_path / "out.c").read_text(encoding="utf-8")
    assert "#pragma omp" in text and "void gemm(" in text
    assert sh(installed / "python", "-m", "codegen", "gen", "gemm.c", cwd=tmp_path) == text
    sh("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-c", "out.c", "-o", "out.o", cwd=tmp_path)


@pytest.mark.slow
def test_installed_data(installed: Path, tmp_path: Path) -> None:
    """Machines, templates and the typing marker travel with the wheel."""
    assert "neoverse-n1" in sh(installed / "tilewright", "machine", "list", cwd=tmp_path)
    where = "import codegen, os; print(os.path.dirname(codegen.__file__))"
    package = Path(sh(installed / "python", "-c", where, cwd=tmp_path).strip())
    assert ROOT not in package.parents and (package / "py.typed").exists()
    shipped = sorted(p.relative_to(package / "templates") for p in (package / "templates").rglob("*.j2"))
    assert shipped == sorted(p.relative_to(ROOT / "templates") for p in (ROOT / "templates").rglob("*.j2"))
    assert shipped
    for option, name in (("make", "tilewright.mk"), ("ninja", "tilewright.ninja"), ("cmake-dir", "cmake")):
        place = Path(sh(installed / "tilewright", f"--print-{option}", cwd=tmp_path).strip())
        assert place.exists() and place.name == name and package in place.parents
    assert sh(installed / "python", "-m", "tilewright", "--version", cwd=tmp_path).startswith("tilewright ")
    share = installed.parent / "share"
    for place in ("man/man1/tilewright.1", "bash-completion/completions/tilewright", "zsh/site-functions/_tilewright"):
        assert (share / place).exists()
    # Where find_package() looks by itself when the environment's bin is on PATH.
    assert (installed.parent / "share" / "cmake" / "Tilewright" / "TilewrightConfig.cmake").exists()
    if shutil.which("cmake"):
        assert str(installed / "tilewright") in found_by_cmake(installed, tmp_path)


@pytest.mark.slow
def test_an_editable_installation_has_what_lies_beside_packages(installed: Path, tmp_path: Path) -> None:
    """Rules for CMake, the manual page, completions: `pip install -e .` alone, and so `make`, bring them."""
    prefix = tmp_path / "a prefix"
    pip(installed, "install", "--no-build-isolation", "--no-deps", "--ignore-installed", "--prefix", prefix,
        "--editable", copied(tmp_path), cwd=tmp_path)
    for place in ("cmake/Tilewright/TilewrightConfig.cmake", "man/man1/tilewright.1", "zsh/site-functions/_tilewright"):
        assert (prefix / "share" / place).exists()
    if shutil.which("cmake"):
        assert str(prefix / "bin" / "tilewright") in found_by_cmake(prefix / "bin", tmp_path)


@pytest.mark.slow
def test_installed_wrapper(installed: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "quickstart" / "gemm.c", tmp_path)
    sh(installed / "tilewright-cc", "cc", "-c", "gemm.c", cwd=tmp_path)
    assert (tmp_path / "gemm.o").exists()


def test_the_page_of_the_package_index() -> None:
    """Nothing on it leads to a file that is not there."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    index_page = runpy.run_path(str(ROOT / "setup.py"))["index_page"]
    for address in ("", "https://example.org/tilewright"):
        page = index_page(text, address)
        links = re.findall(r"\]\(([^)]+)\)", page)
        assert all(link.startswith("https://") for link in links) and bool(links) == bool(address)
        assert "<!--" not in page
    assert "![The report" in page and "https://example.org/tilewright/raw/HEAD/docs/report.png" in page
    assert "https://example.org/tilewright/blob/HEAD/docs/tutorial.md" in page


def test_every_package_is_listed() -> None:
    """setup.cfg names packages one by one; a folder it forgets would be missing from the wheel only."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    found = {".".join(p.parent.relative_to(ROOT).parts) for p in (ROOT / "codegen").rglob("__init__.py")}
    assert listed == found | {"codegen.templates", "tilewright"}
    data = {p.suffix for p in (ROOT / "templates").rglob("*") if p.is_file()}
    assert data <= {".j2", ".py", ".pyc"}, "package_data ships *.j2 alone"


def test_the_source_package_holds_every_file(tmp_path: Path) -> None:
    """But those of the repository itself, whose names begin with a dot."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    tracked = {n for n in sh("git", "ls-files", "-z", cwd=ROOT).split("\0") if n and not n.startswith(".")}
    tree = tmp_path / "tree"
    for name in tracked:
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
    pytest.importorskip("setuptools")
    sh(sys.executable, "-c", f"from setuptools import build_meta; build_meta.build_sdist({str(tmp_path)!r})", cwd=tree)
    (archive,) = tmp_path.glob("tilewright-*.tar.gz")
    with tarfile.open(archive) as stream:
        packed = {name.partition("/")[2] for name in stream.getnames()}
    assert {n for n in tracked if (ROOT / n).exists()} <= packed
