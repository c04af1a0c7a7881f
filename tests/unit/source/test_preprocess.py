"""Running the preprocessor on real files, and doing without it."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from codegen.diagnostics import InputError, TilewrightError
from codegen.options import CppOptions
from codegen.source.layout.linemap import LineMap, quote, unquote
from codegen.source.preprocess import no_preprocess, preprocess


def located(text: str, needle: str) -> tuple[str, int, int]:
    loc = LineMap(text).locate(text.index(needle))
    return loc.file, loc.line, loc.col


def test_includes_macros_and_dependencies(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "x.h").write_text("#define W 3\nint from_x;\n")
    path = folder / "m.c"
    source = '#include "x.h"\n#include <stddef.h>\nint  v =  1; /* c */ int   w;\nint k = W + V + __TILEWRIGHT__;\n'
    path.write_text(source)
    pre = preprocess(str(path), source, CppOptions(args=("-DV=7",)))
    assert "int k = 3 + 7 + 1;" in pre.text
    assert pre.user_deps == (str(folder / "x.h"),)
    assert any(dep.endswith("stddef.h") for dep in pre.deps) and list(pre.deps) == sorted(set(pre.deps))
    assert located(pre.text, "int   w") == (str(path), 3, source.split("\n")[2].index("int   w") + 1)
    assert located(pre.text, "int from_x")[:2] == (str(folder / "x.h"), 2)


def test_text_that_is_not_on_disk(tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text("int from_x;\n")
    path = str(tmp_path / "quo\"te.c")
    pre = preprocess(path, '#include "x.h"\nint here;\n', CppOptions())
    assert located(pre.text, "int here")[:2] == (path, 2)
    assert pre.user_deps == (str(tmp_path / "x.h"),)


def test_stdin_is_named() -> None:
    pre = preprocess("-", "int a;\n#pragma   scop\n", CppOptions())
    assert located(pre.text, "int a")[:2] == ("<stdin>", 1)
    assert located(pre.text, "#pragma")[:2] == ("<stdin>", 2)


def test_the_files_own_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "u.h").write_text("int wrong;\n")
    (tmp_path / "sub" / "u.h").write_text("int right;\n")
    (tmp_path / "sub" / "m.c").write_text('#include "u.h"\n')
    monkeypatch.chdir(tmp_path)
    assert "right" in preprocess("sub/m.c", '#include "u.h"\n', CppOptions()).text


def test_line_directives_crlf_bom_and_odd_bytes(tmp_path: Path) -> None:
    path = tmp_path / "é.c"
    source = '\ufeffint a;\r\n#line 99 "gen.y"\r\nint b; // \udcff\r\n'
    path.write_bytes(source.encode("utf-8", "surrogateescape"))
    pre = preprocess(str(path), source, CppOptions())
    assert located(pre.text, "int b") == (str(path), 3, 1)
    assert "\r" not in pre.text


def test_failures_are_located(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        preprocess(str(tmp_path / "m.c"), "int a;\n#include <no_such_header_.h>\n", CppOptions())
    error = caught.value
    assert error.id == "preprocess-failed" and error.loc.line == 2 and error.loc.col > 0
    assert "no_such_header_.h" in error.message and "-I" in error.hint
    with pytest.raises(InputError) as caught:
        preprocess("-", "int a;\n", CppOptions(args=("--no-such-option-at-all",)))
    assert caught.value.id == "preprocess-failed"


def test_no_preprocessor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        preprocess("-", "int a;\n", CppOptions(command=("no-such-compiler-", "-E")))
    assert caught.value.id == "no-preprocessor" and caught.value.hint
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(InputError) as caught:
        preprocess("-", "int a;\n", CppOptions())
    assert caught.value.id == "no-preprocessor"


def test_cc_may_hold_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc -DFROM_CC=5")
    assert "int a = 5;" in preprocess("-", "int a = FROM_CC;\n", CppOptions()).text


def test_without_a_preprocessor() -> None:
    pre = no_preprocess("m.c", '#include <a.h>\nint /* x */ a; // y\nint \\\n b;\n#pragma scop\nchar *s = "/*";\n')
    assert located(pre.text, "a;") == ("m.c", 2, 13)
    assert located(pre.text, "#pragma")[1] == 5
    assert "int  b;" in pre.text and '"/*"' in pre.text and "include" not in pre.text
    with pytest.raises(TilewrightError) as caught:
        no_preprocess("m.c", "int a;\n #define N 3\n")
    assert (caught.value.id, caught.value.loc.line, caught.value.loc.col) == ("needs-preprocessor", 2, 2)


def test_marker_names_round_trip() -> None:
    for name in ("a.c", 'a"b\\c.c', "é.c", os.path.join("x", "y z.c")):
        assert unquote(quote(name)[1:-1]) == name
    assert unquote("\\303\\251.c") == "é.c"
