"""Modules that are imported from one file, which earlier runs have written."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

REACHED = "import small.part; print(small.part.VALUE, type(small.part.__loader__).__name__, small.part.__file__)"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of two modules, compiled as Python does it."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    _write(folder / "part.py", 'VALUE = "first"\n')
    py_compile.compile(str(folder / "__init__.py"))
    return folder


def _write(source: Path, text: str, time: int = 10**9) -> None:
    source.write_text(text)
    os.utime(source, (time, time))
    py_compile.compile(str(source))


def _run(package: Path, *lines: str) -> list[str]:
    code = "\n".join(("import sys", "from codegen.startup import modules", "modules._NAME = 'small'",
                      f"modules._PACKAGE, modules._file = {str(package)!r}, lambda: {str(package.parent / 'kept')!r}",
                      f"sys.path.insert(0, {str(package.parent)!r})", *lines))  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def _after_keep(package: Path) -> list[str]:
    return _run(package, "modules.use()", REACHED, "print(modules.could_be_kept())")


def test_a_run_imports_what_another_has_kept(package: Path) -> None:
    file = str(package / "part.py")
    assert _after_keep(package) == ["first", "SourceFileLoader", file, "True"]
    _run(package, "modules.keep()")
    assert _after_keep(package) == ["first", "_Kept", file, "False"]


def test_a_source_that_has_changed_is_compiled_anew(package: Path) -> None:
    """Also where size and seconds are the same."""
    _run(package, "modules.keep()")
    source = package / "part.py"
    source.write_text('VALUE = "other"\n')
    os.utime(source, ns=(10**18, 10**18 + 1))
    os.unlink(next((package / "__pycache__").glob("part.*")))
    assert _after_keep(package)[:2] == ["other", "SourceFileLoader"]
    source.unlink()
    with pytest.raises(subprocess.CalledProcessError):
        _after_keep(package)


def test_code_of_another_version_of_a_source_is_not_kept(package: Path) -> None:
    os.utime(package / "part.py", (2 * 10**9, 2 * 10**9))
    _run(package, "modules.keep()")
    assert _run(package, "print(*modules._read()._entries)") == ["small"]


def test_what_says_nothing_is_not_used(package: Path) -> None:
    _run(package, "modules.keep()")
    kept = package.parent / "kept"
    whole = kept.read_bytes()
    for data in (whole[:-1], whole[:20], b"", b"{" * 30, whole.replace(b"small", b"other")):
        kept.write_bytes(data)
        assert _after_keep(package)[:2] == ["first", "SourceFileLoader"]


def test_tracebacks_show_the_source(package: Path) -> None:
    _write(package / "part.py", "def fail():\n    raise ValueError('told')\n")
    _run(package, "modules.keep()")
    shown = _run(package, "modules.use()", "import small.part, traceback", "try: small.part.fail()",
                 "except ValueError: print(traceback.format_exc())")  # fmt: skip
    assert "raise" in shown
    assert f'"{package / "part.py"}",' in shown


def test_what_regions_need_is_one_piece(package: Path) -> None:
    """Each module of it is imported when it is asked for, and one that has changed is compiled anew."""
    _write(package / "part.py", 'import small.inner\nVALUE = small.inner.VALUE\nprint("part")\n')
    _write(package / "inner.py", 'VALUE = "inner"\n')
    keep = "modules._FIRST, modules._REGION = (), 'part'"
    _run(package, keep, "modules.keep()")
    assert _run(package, "print(*(e[6] for e in modules._read()._entries.values()))") == ["-1", "0", "1"]
    told = _run(package, "modules.use()", "import small.inner", "print('small.part' in sys.modules)", REACHED)
    assert told == ["False", "part", "inner", "_Kept", str(package / "part.py")]
    _write(package / "inner.py", 'VALUE = "other"\n', 10**9 + 1)
    assert _after_keep(package)[:3] == ["part", "other", "_Kept"]


def test_without_another_python_modules_are_kept_one_by_one(package: Path) -> None:
    """Python does not know its own file where it was started by another name."""
    _run(package, "sys.executable = ''", "modules.keep()")
    assert _after_keep(package)[:2] == ["first", "_Kept"]
