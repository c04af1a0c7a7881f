"""The report in a browser: no complaint in its console, and links that light up both files."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.report.driver import Driver
from tests.report.pages import KERNELS, REFUSED, made_once


def _runs(path: str) -> bool:
    """Some systems have a program of that name which only says where to get the real one."""
    return subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False).returncode == 0


FOUND = [x for x in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if x]
BROWSER = next((x for x in FOUND if _runs(x)), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no chromium")]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """One for all: starting it takes longer than most of these tests."""
    assert BROWSER is not None
    driver = Driver(BROWSER, tmp_path_factory.mktemp("browser"))
    yield driver
    driver.close()


@pytest.fixture
def visit(browser: Driver, tmp_path: Path) -> Callable[..., Driver]:
    """Opens a page, which says nothing to its console."""

    def go(html: str, mark: str = "") -> Driver:
        page = tmp_path / "page.html"
        page.write_text(html, encoding="utf-8")
        browser.look(1400)
        browser.open(f"{page.as_uri()}{mark}")
        assert not browser.complaints
        return browser

    return go


def test_console_is_heard(browser: Driver, tmp_path: Path) -> None:
    """Else the silence of the others would mean nothing."""
    for bad in ("nothing.here()", "console.error('x')"):
        (tmp_path / "bad.html").write_text(f"<!DOCTYPE html><script>{bad}</script>")
        browser.open(tmp_path / "bad.html")
        assert browser.complaints and browser.logged()


LIT = """Array.from(document.querySelectorAll("a.lit[id]"), (e) => e.id).join()"""


@pytest.mark.parametrize("path", [KERNELS / "gemm.c", KERNELS / "jacobi-2d.c", REFUSED],
                         ids=["gemm", "jacobi-2d", "refused"])
def test_page_works(visit: Callable[..., Driver], path: Path) -> None:
    """It lights up what its address names, and is seen at both widths, light and dark, without being wider."""
    page = visit(made_once(path), "#new-r1-S1")
    assert page.ask("document.documentElement.className") == "ready"
    assert page.ask(LIT) == ("old-r1-S1,new-r1-S1" if path != REFUSED else "")
    shots = set()
    for width, dark in ((1400, False), (1400, True), (500, False), (500, True)):
        shots.add(page.shot(width, 900, dark))
        assert page.ask("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window"
    assert len(shots) == 4 and min(map(len, shots)) > 20_000
    assert not page.complaints


def test_links_lead_to_the_other_file(visit: Callable[..., Driver]) -> None:
    """Following a name moves the focus to it in the other file; focus and pointer light up both. Parts of a region are
    found from its bar, below the bar of the page."""
    page = visit(made_once(KERNELS / "gemm.c"))
    both = [f"old-r1-S{k},new-r1-S{k}" for k in (1, 2)]
    page.ask('document.getElementById("old-r1-S1").click()')
    assert page.ask("document.activeElement.id") == "new-r1-S1" and page.ask(LIT) == both[0]
    page.ask('document.getElementById("new-r1-S2").focus()')
    assert page.ask(LIT) == both[1]
    page.ask('document.querySelector("#old li.s").dispatchEvent(new MouseEvent("mouseover", { bubbles: true }))')
    assert page.ask(LIT) == both[0]
    page.ask("""document.querySelector('.parts a[href="#region-1-techniques"]').click()""")
    at = """document.getElementById("region-1-techniques").getBoundingClientRect().top
      - document.querySelector(".bar").getBoundingClientRect().bottom"""
    assert page.ask(at) >= 0 and not page.complaints


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
def test_keyboard(visit: Callable[..., Driver], width: int) -> None:
    """Tab goes to all that can be used or scrolled, where it can be seen; Enter, Space and arrows do their work."""
    driver = visit(made_once(KERNELS / "jacobi-2d.c"))
    driver.look(width)
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


def test_in_the_frame_of_a_notebook(visit: Callable[..., Driver]) -> None:
    """The report's own script runs in the frame, shut off from the page around it; nothing complains."""
    import codegen
    from codegen.api.display import frame

    result = codegen.generate(KERNELS / "axpy.c")
    tell = "<script>parent.postMessage(document.documentElement.className + ' ' + window.origin, '*')</script></body>"
    hear = "<script>addEventListener('message', (e) => { document.title = 'heard ' + e.data })</script>"
    inner = frame(result.report().html.replace("</body>", tell))
    page = visit(f"<!DOCTYPE html><meta charset='utf-8'>{hear}{result._repr_html_()}{inner}")
    before = len(page.logged())
    page.wait("document.title === 'heard ready null'")
    assert not page.complaints and len(page.logged()) == before


def test_the_order_of_tiles(visit: Callable[..., Driver]) -> None:
    """The slider makes what is still to run pale, and says where it is."""
    driver = visit(made_once(KERNELS / "jacobi-2d.c"))
    driver.ask('var s = document.querySelector(".time input"); s.value = 1; s.dispatchEvent(new Event("input"))')
    assert driver.ask('document.querySelectorAll(".later").length') > 0
    assert driver.ask('document.querySelectorAll(".now").length') > 0
    assert str(driver.ask('s.parentNode.querySelector("output").textContent')).startswith("1 of ")
    driver.ask('s.value = s.max; s.dispatchEvent(new Event("input"))')
    assert driver.ask('document.querySelectorAll(".later, .now").length') == 0
    assert not driver.complaints
