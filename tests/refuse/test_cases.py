"""One source per refusal: exactly that id, at that place, with a hint; the region comes out as it went in.

cases/ID[-VARIANT].c (or .cpp, for which a C++ compiler is needed) begins with `/* expect: ID LINE:COL */`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import islpy as isl
import pytest

from codegen.cli.main import main
from codegen.source.language import CXX, compiler_for
from codegen.source.write import GENERATED
from codegen.verify.evidence import Finding
from tests.unmarked import unmarked

FOLDER = Path(__file__).parent / "cases"
# Refusals that depend on time, effort and options rather than on the source: how to bring them about.
MADE_UP = ("timeout", "no-proof", "isl-failed", "alias-unknown", "out-of-memory", "compiler-flag")


@dataclass(frozen=True)
class Case:
    path: Path
    id: str
    line: int
    col: int


def _case(path: Path) -> Case:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    found = re.fullmatch(r"/\* expect: ([\w-]+) (\d+):(\d+) \*/", first)
    assert found, f"{path.name} must begin with /* expect: ID LINE:COL */"
    return Case(path, found[1], int(found[2]), int(found[3]))


CASES = [_case(p) for p in sorted((*FOLDER.glob("*.c"), *FOLDER.glob("*.cpp")))]


def _gen(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, list[dict]]:
    code = main(["gen", "--diagnostics-format", "json", *words])
    out, err = capsys.readouterr()
    return code, out, json.loads(err)


def _check(capsys: pytest.CaptureFixture[str], path: Path, text: str, *words: str) -> dict:
    """The refusal is the only message, and the text comes out unchanged but for pragmas."""
    code, out, messages = _gen(capsys, str(path), *words)
    assert code == 0
    assert [m["id"] for m in messages] == ["region-refused"]
    assert messages[0]["severity"] == "warning"
    text = unmarked(text)
    assert out.endswith(text)
    banner = out[: len(out) - len(text)]
    assert GENERATED in banner and re.fullmatch(r"/\*(?:(?!\*/)[\s\S])*\*/\s*", banner), "only a comment is added"
    (note,) = messages[0]["notes"]
    assert note["severity"] == "note" and note["file"] == str(path)
    assert note.get("hint"), f"{note['id']} ({note['message']}) has no hint"
    return note


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.path.stem)
def test_case(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    if case.path.suffix == ".cpp" and not compiler_for(CXX):
        pytest.skip("no C++ compiler")
    assert case.path.stem == case.id or case.path.stem.startswith(case.id + "-")
    note = _check(capsys, case.path, case.path.read_text(encoding="utf-8"))
    assert (note["id"], note["line"], note["column"]) == (case.id, case.line, case.col)


@pytest.mark.parametrize("case", CASES[::12], ids=lambda c: c.path.stem)
def test_strict(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """The same for every refusal: nothing is written, and the command fails."""
    code, out, messages = _gen(capsys, str(case.path), "--strict")
    assert (code, out) == (3, "")
    assert [(m["id"], m["severity"]) for m in messages] == [("region-refused", "warning"), ("strict", "error")]
    assert [note["id"] for note in messages[0]["notes"]] == [case.id]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.c"
    path.write_text(
        "void f(int n, double A[n])\n{\n#pragma scop\n    for (int i = 0; i < n; i++)\n        A[i] = 0.0;\n"
        "#pragma endscop\n}\n",
        encoding="utf-8",
    )
    return path


def test_timeout(plain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note = _check(capsys, plain, plain.read_text(encoding="utf-8"), "--timeout", "0.001")
    assert (note["id"], note["line"], note["column"]) == ("timeout", 3, 1)
    assert "0.001 s" in note["message"]
    note = _check(capsys, plain, plain.read_text(encoding="utf-8"), "--timeout", "0.005")  # a model, but no plan
    assert (note["id"], note["line"], note["column"]) == ("timeout", 3, 1)


def test_no_proof(plain: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:

    def nothing(*_: object) -> tuple[None, tuple[Finding, ...]]:
        return None, (Finding("order", "no luck"),)

    monkeypatch.setattr("codegen.region.finish", nothing)
    note = _check(capsys, plain, plain.read_text(encoding="utf-8"))
    assert (note["id"], note["line"]) == ("no-proof", 3)


def test_isl_failed(plain: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise isl.Error("no luck")

    monkeypatch.setattr("codegen.region_model.compute_dependences", fail)
    note = _check(capsys, plain, plain.read_text(encoding="utf-8"))
    assert (note["id"], note["line"]) == ("isl-failed", 3)
    assert "no luck" in note["message"]


def test_alias_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows behind two levels of pointers, which no test reads ahead of the loops."""
    path = tmp_path / "rows.c"
    text = "void f(int n, double ***a, const double *b)\n{\n#pragma scop\n    for (int i = 0; i < n; i++)\n"
    path.write_text(text + "        a[i][0][0] = b[i];\n#pragma endscop\n}\n")
    note = _check(capsys, path, path.read_text(), "--check-alias")
    assert (note["id"], note["line"], note["column"]) == ("alias-unknown", 5, 9)


def test_alias_of_what_may_lead_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`to` is followed only where the data say so: nothing may be read through it before the loops."""
    path = tmp_path / "grids.c"
    text = "typedef struct { int n, *at; } grid;\nvoid f(const grid *from, grid *to)\n{\n#pragma scop\n"
    loop = "    for (int i = 1; i < from->n; i++)\n        if (from->at[i] > 0)\n"
    path.write_text(text + loop + "            to->at[i] = from->at[i - 1] + 2;\n#pragma endscop\n}\n")
    note = _check(capsys, path, path.read_text())
    assert (note["id"], note["line"], note["column"]) == ("alias-unknown", 7, 13)


def test_alias_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows that the function itself set from the other array, without any option."""
    path = tmp_path / "rows.c"
    text = "void f(int n, double ***a, double *b)\n{\n    a[0][0] = b;\n#pragma scop\n    for (int i = 0; i < n; i++)\n"
    path.write_text(text + "        a[i][0][0] = b[i];\n#pragma endscop\n}\n")
    note = _check(capsys, path, path.read_text())
    assert (note["id"], note["line"], note["column"]) == ("alias-unknown", 6, 9)
