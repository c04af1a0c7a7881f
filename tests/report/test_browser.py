"""The report in a browser: no complaint in its console, and links that light up both files."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.report.driver import Driver
from tests.report.pages import KERNELS, REFUSED, report


def _runs(path: str) -> bool:
    """Some systems have a program of that name which only says where to get the real one."""
    return subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False).returncode == 0


FOUND = [x for x in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if x]
BROWSER = next((x for x in FOUND if _runs(x)), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no chromium")]


def visit(folder: Path, page: Path, mark: str = "", *words: str) -> tuple[str, list[str]]:
    """The page's tree after its script ran, and what its console said."""
    assert BROWSER is not None
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *words,
               f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", "--window-size=1400,1600",
               f"{page.as_uri()}{mark}"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, re.findall(r".*CONSOLE.*", done.stderr)


def test_console_is_heard(tmp_path: Path) -> None:
    """Else the silence of the others would mean nothing."""
    page = tmp_path / "bad.html"
    page.write_text("<!DOCTYPE html><script>nothing.here()</script>")
    assert visit(tmp_path, page, "", "--dump-dom")[1]


@pytest.mark.parametrize("path", [KERNELS / "gemm.c", KERNELS / "jacobi-2d.c", REFUSED],
                         ids=["gemm", "jacobi-2d", "refused"])
def test_page_works(tmp_path: Path, path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(report(path), encoding="utf-8")
    tree, said = visit(tmp_path, page, "#new-r1-S1", "--dump-dom")
    assert not said and '<html lang="en" class="ready">' in tree
    lit = re.findall(r'<a id="((?:old|new)-\S+)" href="[^"]*" data-s="[^"]*" title="[^"]*" class="lit"', tree)
    assert lit == (["old-r1-S1", "new-r1-S1"] if path != REFUSED else [])


def test_light_and_dark(tmp_path: Path) -> None:
    """Pictures of both; they differ, and neither is empty."""
    page = tmp_path / "report.html"
    page.write_text(report(KERNELS / "axpy.c"), encoding="utf-8")
    shots = []
    for scheme in (0, 1):
        shot = tmp_path / f"{scheme}.png"
        said = visit(tmp_path, page, "", f"--screenshot={shot}", f"--blink-settings=preferredColorScheme={scheme}")[1]
        assert not said
        shots.append(shot.read_bytes())
    assert shots[0] != shots[1] and min(map(len, shots)) > 20_000


def test_links_lead_to_the_other_file(tmp_path: Path) -> None:
    """Following a name moves the focus to it in the other file; focus and pointer light up both."""
    page = tmp_path / "report.html"
    steps = """<script>
      function lit() { return Array.from(document.querySelectorAll("a.lit[id]"), (e) => e.id).join(); }
      var said = [];
      document.getElementById("old-r1-S1").click();
      said.push(document.activeElement.id, lit());
      document.getElementById("new-r1-S2").focus();
      said.push(lit());
      document.querySelector("#old li.s").dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
      said.push(lit());
      document.title = said.join(" ");
    </script></body>"""
    page.write_text(report(KERNELS / "gemm.c").replace("</body>", steps), encoding="utf-8")
    tree, said = visit(tmp_path, page, "", "--dump-dom")
    both = [f"old-r1-S{k},new-r1-S{k}" for k in (1, 2)]
    assert not said and f"<title>new-r1-S1 {both[0]} {both[1]} {both[0]}</title>" in tree


AT = """(function () {
  var e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
  var seen = r.width > 0 && r.bottom > 0 && r.top < innerHeight && r.left >= 0 && r.right <= innerWidth + 1;
  return [e.tagName, e.id || e.getAttribute("href") || e.textContent.trim().slice(0, 20),
          seen && s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2];
})()"""
REACHED = """(function () {
  var found = [], all = document.querySelectorAll("a[href], summary, input, [tabindex='0']");
  all.forEach(function (e) { if (e.checkVisibility()) { found.push(e); } });
  document.querySelectorAll("pre, .tree, .wide, .scroll").forEach(function (e) {
    if (e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && found.indexOf(e) < 0) { found.push("unreachable"); }
  });
  return found.length;
})()"""


@pytest.mark.parametrize("width", [1400, 500])
def test_keyboard(tmp_path: Path, width: int) -> None:
    """Tab goes to all that can be used or scrolled, where it can be seen; Enter, Space and arrows do their work."""
    page = tmp_path / "report.html"
    page.write_text(report(KERNELS / "jacobi-2d.c"), encoding="utf-8")
    assert BROWSER is not None
    driver = Driver(BROWSER, tmp_path, width)
    try:
        driver.open(page)
        driver.ask("document.querySelectorAll('details').forEach(function (d) { d.open = true; })")
        assert driver.ask("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window"
        stops = []
        for _ in range(400):
            driver.press("Tab")
            stops.append(driver.ask(AT))
            if stops[-1][0] == "BODY":
                break
        assert stops.pop()[0] == "BODY" and all(seen for *_, seen in stops), [s for s in stops if not s[2]]
        assert len(stops) == driver.ask(REACHED) > 20
        driver.press("Tab")
        assert driver.ask(AT)[1] == "#regions"
        driver.press("Enter")
        driver.press("Tab")
        assert driver.ask("document.activeElement.closest('#regions') !== null")
        driver.ask("document.querySelector('summary').focus()")
        driver.press("Space")
        assert driver.ask("document.querySelector('details').open") is False
        driver.press("Enter")
        assert driver.ask("document.querySelector('details').open") is True
        driver.ask("document.querySelector('#old a[id]').focus()")
        driver.press("Enter")
        assert driver.ask("document.activeElement.closest('ol').id") == "new"
        driver.ask("document.querySelector('.scroll').scrollTop = 0; document.querySelector('.scroll').focus()")
        driver.press("ArrowDown")
        assert driver.ask("new Promise(function (f) { setTimeout(f, 400); })", wait=True) is None
        assert driver.ask("document.querySelector('.scroll').scrollTop") > 0
    finally:
        driver.close()


def test_in_the_frame_of_a_notebook(tmp_path: Path) -> None:
    """The report's own script runs in the frame, shut off from the page around it; nothing complains."""
    import codegen
    from codegen.api.display import frame

    result = codegen.generate(KERNELS / "axpy.c")
    tell = "<script>parent.postMessage(document.documentElement.className + ' ' + window.origin, '*')</script></body>"
    hear = "<script>addEventListener('message', (e) => { document.title = 'heard ' + e.data })</script>"
    inner = frame(result.report().html.replace("</body>", tell))
    page = tmp_path / "notebook.html"
    page.write_text(f"<!DOCTYPE html><meta charset='utf-8'>{hear}{result._repr_html_()}{inner}", encoding="utf-8")
    tree, said = visit(tmp_path, page, "", "--dump-dom", "--virtual-time-budget=3000")
    assert not said and "<title>heard ready null</title>" in tree


def test_the_order_of_tiles(tmp_path: Path) -> None:
    """The slider makes what is still to run pale, and says where it is."""
    assert BROWSER is not None
    page = tmp_path / "report.html"
    page.write_text(report(KERNELS / "jacobi-2d.c"), encoding="utf-8")
    driver = Driver(BROWSER, tmp_path)
    driver.open(page)
    driver.ask('var s = document.querySelector(".time input"); s.value = 1; s.dispatchEvent(new Event("input"))')
    assert driver.ask('document.querySelectorAll(".later").length') > 0
    assert driver.ask('document.querySelectorAll(".now").length') > 0
    assert str(driver.ask('s.parentNode.querySelector("output").textContent')).startswith("1 of ")
    driver.ask('s.value = s.max; s.dispatchEvent(new Event("input"))')
    assert driver.ask('document.querySelectorAll(".later, .now").length') == 0
    assert not driver.complaints
    driver.close()
