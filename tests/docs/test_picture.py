"""The README's picture and figures are what docs/measured.json says, and that comes from the benches' files."""
from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from benchmarks.picture import between, condense, draw, mean, sentence, with_sentence
from benchmarks.readme import COMMAND, block
from tests.docs.runner import ROOT

DATA: dict[str, Any] = json.loads((ROOT / "docs" / "measured.json").read_text(encoding="utf-8"))


def test_the_files_agree() -> None:
    assert (ROOT / "docs" / "measured.svg").read_text(encoding="utf-8") == draw(DATA)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_sentence(readme, DATA) == readme and "docs/measured.svg" in readme
    assert sentence(DATA) in " ".join(readme.split())


def test_the_table_of_ownership_has_its_place() -> None:
    page = (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8")
    assert "# Measurements" in between(page, "owners", "| kernel |\n")
    with pytest.raises(SystemExit, match="are needed, once"):
        between("a page without it\n", "owners", "")


def test_the_first_example_has_its_place() -> None:
    printed = "gemm.c: cc (Debian 12) 12.2.0, -O3 -march=native; the best of many runs\n\nregion 1\n   1  2x\n"
    made = block(printed, "one core")
    assert made.endswith("    region 1\n       1  2x\n\nOn one core, with cc 12.2.0, -O3 -march=native.\n")
    for name in ("README.md", "docs/bench.md"):
        page = (ROOT / name).read_text(encoding="utf-8")
        assert made in between(page, "bench", made) and f"    $ {COMMAND}\n" in page


def test_the_picture_is_a_picture() -> None:
    svg = ET.fromstring(draw(DATA))
    marks = svg.findall(".//{*}circle")
    assert len(marks) == sum(len(v) for r in DATA["rows"] for v in r["ratios"].values()) + 2  # and the legend's
    assert all(190 <= float(m.get("cx", "0")) <= 560 for m in marks)


def tensor(**more: Any) -> dict[str, Any]:
    rows = [{"group": "gemm", "section": "dgemm", "threads": t, "ratio": r, "wrong": w}
            for t, r, w in ((1, 0.5, ""), (1, 2.0, ""), (2, 3.0, ""), (2, 9.0, "differs"))]
    rows += [{"group": "kernel", "section": "f64", "threads": 1, "ratio": 7.0, "wrong": ""}]
    head = {"quick": False, "busy": False, "host": "this host: x, 2 cores", "compiler": "gcc (Some) 12"}
    return {**head, "rows": rows, **more}


def test_condensing() -> None:
    made = condense([tensor()])
    assert (made["host"], made["compiler"]) == ("x, 2 cores", "gcc 12")
    assert [(r["label"], r["ratios"]) for r in made["rows"]] == [
        ("matrix product, f64", {"1": [0.5, 2.0], "2": [3.0]}), ("kernels with products", {"1": [7.0]})]
    assert mean([0.5, 2.0]) == pytest.approx(1)
    seconds = [{"side": "gcc", "threads": 1, "best": 6.0}, {"side": "ours", "threads": 1, "best": 2.0},
               {"side": "polly", "threads": 1, "best": 1.0}]
    kernels = {"quick": False, "busy": False, "host": "x", "compilers": ["gcc 12"],
               "rows": [{"group": "blas", "seconds": seconds}, {"group": "more", "seconds": seconds}]}
    both = condense([tensor(), kernels])["rows"]
    assert [(r["label"], r["ratios"]) for r in both[1:]] == [
        ("PolyBench kernels", {"1": [3.0]}), ("PolyBench kernels", {"1": [0.5]}),
        ("other kernels", {"1": [3.0]}), ("other kernels", {"1": [0.5]})]
    said = sentence({**made, "rows": both})
    assert "3.0 times the speed that gcc -O3" in said and "and 0.5 times that of clang with Polly" in said
    with pytest.raises(SystemExit, match="no measurement to show"):
        condense([tensor(quick=True)])
