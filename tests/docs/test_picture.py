"""The README's picture and figures are what docs/measured.json says, and that comes from the benches' files."""
from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from benchmarks import bars
from benchmarks.kernels_cases import thirty
from benchmarks.picture import between, draw, mean, sentence, with_figures, with_run
from benchmarks.readme import COMMAND, block
from tests.docs.runner import ROOT

DATA: dict[str, Any] = json.loads((ROOT / "docs" / "measured.json").read_text(encoding="utf-8"))


def test_the_files_agree() -> None:
    assert (ROOT / "docs" / "measured.svg").read_text(encoding="utf-8") == draw(DATA)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_figures(readme, DATA) == readme and "docs/measured.svg" in readme
    if "kernels" in DATA:
        assert (ROOT / "docs" / "polybench.svg").read_text(encoding="utf-8") == bars.draw(DATA["kernels"])
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


def test_figures_of_a_run() -> None:
    made = with_run({"host": "another", "kernels": {}}, tensor())
    assert (made["host"], made["compiler"], made["kernels"]) == ("x, 2 cores", "gcc 12", {})
    assert [(r["label"], r["ratios"]) for r in made["rows"]] == [
        ("matrix product, f64", {"1": [0.5, 2.0], "2": [3.0]}), ("kernels with products", {"1": [7.0]})]
    assert mean([0.5, 2.0]) == pytest.approx(1)
    assert "1 kernels with products at 7.0 times the speed that gcc -O3" in sentence(made)
    with pytest.raises(SystemExit, match="no measurement to show"):
        with_run({}, tensor(quick=True))


def kernels(names: list[str]) -> dict[str, Any]:
    """A run in which ours takes a third of gcc's time, and Polly half of it, but fails on two threads of the first."""
    seconds = [{"side": side, "threads": t, "best": best} for side, t, best in (
        ("gcc", 1, 6.0), ("ours", 1, 2.0), ("ours", 2, 1.0), ("polly", 1, 3.0), ("polly", 2, 2.0), ("free", 1, 1.0))]
    rows = [{"kernel": k, "group": "more" if k == "dot" else "blas", "seconds": seconds,
             "wrong": [{"side": "polly", "threads": 2, "what": "exit code -11"}] if k == names[0] else []}
            for k in names]
    head = {"quick": False, "busy": False, "host": "x, 2 cores", "size": "large"}
    return {**head, "compilers": ["gcc (Some) 12", "clang 19"], "rows": rows}


def test_polybench_with_polly() -> None:
    part = with_run({}, kernels([*thirty(), "dot"]))["kernels"]
    assert part["compilers"] == ["gcc 12", "clang 19"] and "free" not in part["rows"][0]["seconds"]
    assert set(bars.speeds(part, "ours", "gcc", "2").values()) == {6.0}
    assert len(bars.speeds(part, "ours", "polly", "2")) == 29  # what failed is no peer
    assert bars.table(part).splitlines()[2:] == [
        "| PolyBench, 30 kernels, 1 thread | 3.0 | 1.5 |",
        "| PolyBench, 30 kernels, 2 threads | 6.0 | 2.0 (29 kernels) |",
        "| 1 other kernels, 1 thread | 3.0 | 1.5 |", "| 1 other kernels, 2 threads | 6.0 | 2.0 |",
        "", "Measured on x, 2 cores, with gcc 12, clang 19.",
        "", f"Where Polly has no bar, its program crashes: {thirty()[0]} (2 threads)."]
    picture = ET.fromstring(bars.draw(part))
    boxes = picture.findall(".//{*}rect")
    assert len(boxes) == 2 + 4 * 30 - 1  # the legend; two panels, two sides; not what failed
    width, height = (float(x) for x in picture.attrib["viewBox"].split()[2:])
    assert all(0 <= float(b.attrib["x"]) <= width - float(b.attrib["width"]) for b in boxes)
    assert all(0 <= float(b.attrib["y"]) <= height - float(b.attrib["height"]) for b in boxes)
    page = with_figures("<!-- measured -->\n<!-- end -->\n", {**DATA, "kernels": part})
    assert page.startswith("<!-- measured -->\n![PolyBench") and "(docs/polybench.svg)" in page
    with pytest.raises(SystemExit, match="this run misses seidel-2d"):
        bars.condensed(kernels(thirty()[:-1]))
