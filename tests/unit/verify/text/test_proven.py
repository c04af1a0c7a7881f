"""The list of texts that were proven when the tool was made."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from benchmarks.proven import corpus, outcomes, part
from codegen.machine.load import load_for
from codegen.options import GenOptions
from codegen.region import process_region
from codegen.source_file import open_source
from codegen.verify.text import check, closure, proven
from codegen.verify.text.blocked import product
from tests.fast import turn_of_commit

GEMM = """void f(int rows, int n, int deep, double out[rows][n], double left[rows][deep], double right[deep][n])
{
#pragma scop
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < deep; k++)
      for (int j = 0; j < n; j++)
        out[i][j] += left[i][k] * right[k][j];
#pragma endscop
}
"""
AGAIN = GEMM.replace("left", "a").replace("right", "b").replace("deep", "depth").replace("i++", "i += 1")


def keys(source: str) -> set[str]:
    before = set(proven.made)
    options = GenOptions(isa="avx2")
    for s in open_source("in.c", source, options).slices:
        assert process_region(s, source, options, load_for("generic", "avx2")).text is not None
    return proven.made - before


@pytest.mark.listed
def test_the_list_is_of_these_proofs() -> None:
    assert proven.is_current(), "the proofs have changed: make proven"


@pytest.mark.listed
def test_other_proofs_make_the_list_worthless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proven, "_proofs", lambda: "others")
    assert proven.listed.__wrapped__() == frozenset()


@pytest.mark.listed
def test_what_is_listed_is_not_proven_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_wrong_products", lambda emitted: "it was proven again")
    (s,) = open_source("in.c", GEMM, GenOptions()).slices
    assert "tw_rows" in (process_region(s, GEMM, GenOptions(), load_for("generic", "")).text or "")


@pytest.mark.listed
def test_nothing_is_proven_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of four vectors: no kernel for all machines covers them, so that none is tried."""
    asked: list[str] = []
    monkeypatch.setattr(check, "_wrong_products", lambda emitted: asked.append(emitted.plain) or "no")
    text = GEMM.replace("double", "short")
    (s,) = open_source("in.c", text, GenOptions()).slices
    assert "tw_rows" in (process_region(s, text, GenOptions(), load_for("generic", "")).text or "") and not asked


found = cache(closure.found)


@pytest.mark.listed
def test_the_list_names_all_that_it_depends_on() -> None:
    assert closure.recorded() == found(), "what the proofs import has changed: make proven"


@pytest.mark.parametrize(
    "name",
    [
        *("codegen/verify/text/blocked/tiles.py", "codegen/verify/text/closure.py", "codegen/verify/poly.py"),
        *("codegen/isa/derived.py", "codegen/isa/data/avx2.toml", "codegen/scop/lanes.py"),
        *("codegen/target/matvec/kernel.py", "codegen/target/product/in_place.py", "codegen/target/__init__.py"),
        *("templates/product.c.j2", "templates/matvec_parts.j2", "templates/file.c.j2"),
    ],
)
def test_the_list_depends_on_it(name: str) -> None:
    """On modules that prove, those that print, what both import, inside functions too, on tables and templates."""
    assert name in found()


@pytest.mark.parametrize("name", ["codegen/gpu/emit.py", "codegen/cli/main.py", "templates/gpu/tile.cu.j2"])
def test_the_list_does_not_depend_on_it(name: str) -> None:
    assert name not in found()


def test_a_change_of_any_file_makes_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a module, of a table, of a template; and so does a file that is gone."""
    names = ("codegen/isa/derived.py", "codegen/isa/data/avx2.toml", "templates/product.c.j2")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((closure.PACKAGE.parent / name).read_bytes())
    here = closure.digest(names)
    monkeypatch.setattr(closure, "PACKAGE", tmp_path / "codegen")
    monkeypatch.setattr(closure, "templates_dir", lambda: tmp_path / "templates")
    assert closure.digest(names) == here
    for name in names:
        before = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(before + b" ")
        assert closure.digest(names) not in (here, "")
        (tmp_path / name).write_bytes(before)
    (tmp_path / names[1]).unlink()
    assert closure.digest(names) == ""


def test_a_part_of_the_list_is_proven_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another part with each commit. What is proven now without the list is what the list says, if it is current."""
    before = proven.listed()
    monkeypatch.setattr(proven, "listed", frozenset)
    for source, how in part(turn_of_commit()):
        for memory in (proven.made, product._PROVEN):
            memory.clear()
        check._wrong_kernel.cache_clear()
        done = list(outcomes(source, how))
        assert [d.message for x in done for d in x.diagnostics if d.id == "unproven"] == [], (source[0], how)
        assert not before or proven.made <= before, (source[0], how)


def test_all_of_the_list_is_proven_anew_in_time() -> None:
    """Turns that follow each other come to every program of the corpus."""
    names = {part(turn)[0][0][0] for turn in range(4 * len(corpus()))}
    assert names == {name for name, _ in corpus()}


def test_other_names_make_no_other_text() -> None:
    assert keys(GEMM) and not keys(AGAIN)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("x[i] = y * x[j];", "x[i] = y * x[i];"),
        ("x[i] = y;", "x[i] = x;"),
        ("double x = y;", "float x = y;"),
        ("x = f(y);", "x = g(y);"),
        ("x = tw_min(y, 8);", "x = tw_min(y, 9);"),
    ],
)
def test_other_texts_have_other_keys(one: str, two: str) -> None:
    assert proven.block_key(one, "", 1) != proven.block_key(two, "", 1)
    assert proven.block_key(one, "", 1) != proven.block_key(one, "", 2)
    assert proven.block_key(one, "", 1) == proven.block_key(one.replace("x", "sum").replace("y", "x"), "", 1)


def test_indentation_makes_no_other_text() -> None:
    """Regions stand at any depth of the user's functions."""
    text = "{\n#pragma omp parallel if(x > 1)\n  x = 1;\n}"
    assert proven.block_key(text, "x", ()) == proven.block_key(text.replace("\n", "\n    "), "x", ())
    assert proven.block_key(text, "x", ()) != proven.block_key(text.replace("x > 1", "x > 2"), "x", ())


def test_what_is_wanted_is_renamed_like_the_text() -> None:
    assert proven.block_key("x[i] = y;", "x", ()) == proven.block_key("p[q] = r;", "p", ())
    assert proven.block_key("x[i] = y;", "x", ()) != proven.block_key("p[q] = r;", "r", ())
