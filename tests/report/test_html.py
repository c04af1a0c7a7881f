"""The report as a page, without a browser: what it holds, and that everything in it fits together."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

from codegen.cli.main import main
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.plan.model import Directive
from codegen.report import directive_sentences as plain
from codegen.report.html.page import describe_html
from tests.report.pages import KERNELS, REFUSED, Reader, made_once, read, report

PATHS = {"gemm": KERNELS / "gemm.c", "jacobi-2d": KERNELS / "jacobi-2d.c", "refused": REFUSED}


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: made_once(path) for name, path in PATHS.items()}


@pytest.fixture(params=sorted(PATHS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_fits_together(pages: dict[str, str], name: str) -> None:
    """Well formed, small, every link leads somewhere inside, and nothing is asked of the network."""
    page = pages[name]
    found = read(page)
    assert len(page.encode("utf-8")) < 500_000
    assert len(set(found.ids)) == len(found.ids)
    links = [str(a["href"]) for t, a in found.tags if "href" in a]
    assert links and all(x == "data:," or (x.startswith("#") and x[1:] in found.ids) for x in links)
    assert not any("src" in a for _, a in found.tags) and "url(" not in page and "@import" not in page


def test_code_is_that_of_the_files(pages: dict[str, str], name: str) -> None:
    text = PATHS[name].read_text(encoding="utf-8")
    made = generate(str(PATHS[name]), text, GenOptions())
    code = read(pages[name]).code
    assert code["old"] == text.splitlines()
    assert code["new"] == made.text.splitlines()


def _links(found: Reader) -> dict[str, set[str]]:
    """For each statement the files that link to it."""
    out: dict[str, set[str]] = {}
    for tag, a in found.tags:
        if tag == "a" and a.get("data-s"):
            file, _, key = str(a["href"])[1:].partition("-")
            assert key == a["data-s"]
            out.setdefault(key, set()).add(file)
    return out


@pytest.mark.parametrize("name", ["gemm", "jacobi-2d"])
def test_statements_are_linked_both_ways(pages: dict[str, str], name: str) -> None:
    assert _links(read(pages[name])) == {"r1-S1": {"old", "new"}, "r1-S2": {"old", "new"}}


def test_marked_lines_hold_their_statement(pages: dict[str, str]) -> None:
    found = read(pages["jacobi-2d"])
    rows = [a["data-s"] for t, a in found.tags if t == "li" and "data-s" in a]
    assert rows.count("r1-S1") > 2 and rows.count("r1-S2") > 2
    made = generate(str(PATHS["jacobi-2d"]), PATHS["jacobi-2d"].read_text(encoding="utf-8"), GenOptions())
    lines = made.text.splitlines()
    for line, stmt in made.regions[0].links:
        text = lines[line - 1]  # the statement, or a macro that is named after those it stands for
        assert ("b[" if stmt == "S2" else "a[") in text or " = v" in text or re.search(rf"TW_(S\d+_)*{stmt}[_(]", text)


def test_parts(pages: dict[str, str]) -> None:
    """Trees around every directive, pictures of spaces and dependences, data, roofs, owners, remarks, the plan."""
    found = read(pages["jacobi-2d"])
    words = " ".join(" ".join(found.words).split())
    steps = [a for t, a in found.tags if t == "span" and a.get("class") == "step"]
    plan = generate(str(PATHS["jacobi-2d"]), PATHS["jacobi-2d"].read_text(encoding="utf-8"), GenOptions()).plan
    directives = [x for x in plan.splitlines() if x.startswith("  ") and x[2:3].isalpha()]
    assert len(steps) == len(directives)
    for part in ("In the source", "After the plan", "What waits for one iteration of S1", "Data of one tile",
                 "operations per byte", "Ownership", "Remarks", "(pipelined, tiles of"):  # fmt: skip
        assert part in words, part
    classes = " ".join(str(a.get("class", "")) for _, a in found.tags)
    for shape in ("tile lane0", "edge", "walk", "way flow", "way anti", "roof", "bar", "cache"):
        assert shape in classes, shape


def test_refusal_stands_at_its_line(pages: dict[str, str]) -> None:
    found = read(pages["refused"])
    ((line, note),) = found.notes
    assert "[data-dependent-subscript]" in note
    where = generate(str(REFUSED), REFUSED.read_text(encoding="utf-8"), GenOptions()).diagnostics[0].notes[0].loc
    assert line == where.line
    old = ["" if line.startswith("#pragma") else line for line in found.code["old"]]
    assert found.code["new"][-len(old) :] == old
    assert not _links(found)


def test_everything_is_escaped() -> None:
    """Names, comments and strings of the source cannot become part of the page."""
    evil = '/* </code></script><script>alert(1)</script> &amp; "quoted" \x01S1\x02 */'
    loop = f"for (int i = 0; i < n; i++) a[i] = 2; {evil}"
    text = f"{evil}\nvoid f(int n, double a[n]) {{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n"
    page = describe_html('<img src="x">.c', text, GenOptions())
    found = read(page)
    shown = evil.replace("\x01", "\ufffd").replace("\x02", "\ufffd")
    assert found.code["old"][0] == shown and page.count("<script>") == 1
    assert not any(t == "img" for t, _ in found.tags)


def test_several_regions(tmp_path: Path) -> None:
    """Lines of the second region are counted right behind a first that grew, and one that is switched off says so."""
    nest = "#pragma scop\nfor (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n    {};\n#pragma endscop\n"
    head = "void f(int n, double a[n][n], double b[n][n]) {\n"
    text = head + nest.format("a[i][j] = 1") + nest.format("b[i][j] = a[i][j]")
    text += "#if 0\n" + nest.format("a[i][j] = 3") + "#endif\n}\n"
    made = generate("in.c", text, GenOptions())
    lines = made.text.splitlines()
    assert all("b[" in lines[k - 1] for k, _ in made.regions[1].links) and made.regions[1].links
    words = " ".join(read(describe_html("in.c", text, GenOptions())).words)
    assert "switched off by the preprocessor" in words


def test_large_pages_are_thinned(monkeypatch: pytest.MonkeyPatch, pages: dict[str, str]) -> None:
    """What is least needed goes first, the page says so, and the code stays."""
    full = pages["gemm"]
    monkeypatch.setattr("codegen.report.html.page.LIMIT", len(full.encode("utf-8")) - 1000)
    less = report(PATHS["gemm"])
    assert len(less) < len(full) and read(less).code == read(full).code
    assert "left out: the trees around single directives." in " ".join("".join(read(less).words).split())
    monkeypatch.setattr("codegen.report.html.page.LIMIT", 0)
    least = report(PATHS["gemm"])
    assert read(least).code == read(full).code and 'class="edge"' not in least


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is written, nothing is printed, and a file of somebody else's is left alone."""
    source, page = tmp_path / "in.c", tmp_path / "out.html"
    loop = "for (int i = 0; i < n; i++) a[i] = 2;"
    source.write_text(f"void f(int n, double a[n]) {{\n#pragma scop\n{loop}\n#pragma endscop\n}}\n")
    assert main(["inspect", "--html", str(page), str(source)]) == 0
    first = page.read_bytes()
    assert capsys.readouterr().out == "" and first.startswith(b"<!DOCTYPE html>")
    assert main(["inspect", "--html", str(page), str(source)]) == 0 and page.read_bytes() == first
    assert main(["inspect", "--html", str(source), str(source)]) == 2
    page.write_text("mine")
    assert main(["inspect", "--html", str(page), str(source)]) == 1 and page.read_text() == "mine"
    assert main(["inspect", "--html", str(page), "--sizes", "n=1", str(source)]) == 2


def test_pipelined_tiles_have_the_order_of_a_wavefront() -> None:
    """Rows of tiles on threads, each a stage behind the one before: no tile of the second row runs with the first of
    all, some run beside tiles of the first row, and names of the tool's own are not shown."""
    page = report(KERNELS / "seidel-2d.c")
    found = read(page)
    assert "_ahead" not in " ".join(a for a in found.words if " = " in a and "colours are threads" in a)
    first = page[page.index('<div class="cut">') :]
    first = first[: first.index("</svg>")]
    tiles = re.findall(r'class="tile (lane\d)" d="[^"]*" data-t="(\d+)"', first)
    by_lane = {lane: {int(t) for other, t in tiles if other == lane} for lane, _ in tiles}
    assert len(by_lane) == 2 and min(by_lane["lane1"]) > min(by_lane["lane0"])
    assert by_lane["lane0"] & by_lane["lane1"]


def test_every_directive_has_a_sentence(pages: dict[str, str]) -> None:
    source = inspect.getsource(plain)
    assert all(f"isinstance(d, {cls.__name__})" in source for cls in get_args(Directive))
    shown = re.findall(r'<span class="says">([^<]*)</span>', pages["jacobi-2d"])
    assert len(shown) > 3 and all(s.endswith(".") for s in shown)


def test_one_colour_for_a_statement(pages: dict[str, str]) -> None:
    """In both files, in trees, and at its name."""
    found = read(pages["jacobi-2d"])
    hues = {cls for _, a in found.tags for cls in str(a.get("class", "")).split() if re.fullmatch(r"h\d", cls)}
    rows = {(str(a["data-s"]), str(a["class"])) for t, a in found.tags if t == "li" and "data-s" in a}
    assert hues == {"h1", "h2"} and rows == {("r1-S1", "s h1"), ("r1-S2", "s h2")}
