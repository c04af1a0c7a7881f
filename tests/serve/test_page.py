"""The local page in a browser: edit, error, plan, options, sizes of windows, light and dark."""
from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

from codegen.serve.server import Server
from tests.report.driver import Driver
from tests.report.test_browser import BROWSER

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no chromium")]
DONE = 'document.getElementById("state").className == "good"'
FAILED = 'document.getElementById("state").className == "bad"'


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    assert BROWSER is not None
    server = Server(0, run=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    driver = Driver(BROWSER, tmp_path_factory.mktemp("browser"))
    driver.open(server.address)
    driver.wait(DONE)
    yield driver
    assert not driver.complaints
    driver.close()
    server.shutdown()
    server.server_close()


def _type(page: Driver, field: str, text: str) -> None:
    """Replace what a field holds, as a person would: a busy state first, then the answer."""
    page.ask(f'document.getElementById("state").className = ""; var f = document.getElementById("{field}"); '
             f'f.value = {json.dumps(text)}; f.dispatchEvent(new Event("input"))')


def _text(page: Driver, field: str) -> str:
    return str(page.ask(f'document.getElementById("{field}").textContent'))


def _colours(page: Driver, where: str) -> list[str]:
    """Statements with their colours, as lines have them."""
    lines = f'document.querySelectorAll("#{where} .line[title]")'
    return sorted(set(page.ask(f'Array.from({lines}, (l) => l.title + " " + l.className)')))


def test_a_visit(page: Driver) -> None:
    assert "tilewright: region 1 of smooth" in _text(page, "code")
    assert _colours(page, "paint") == _colours(page, "code") == ["S1 line m1", "S2 line m2"]
    assert _text(page, "paint") == str(page.ask('document.getElementById("source").value')).replace("\n", "")
    plan = str(page.ask('document.getElementById("plan").value'))
    assert plan.startswith("region 1")
    # An error names its line, and the last result stays to be looked at.
    source = str(page.ask('document.getElementById("source").value'))
    _type(page, "source", source.replace("#pragma endscop", ""))
    page.wait(FAILED)
    assert "without `#pragma endscop`" in _text(page, "state") and "region 1 of smooth" in _text(page, "code")
    assert str(page.ask('document.querySelector("#paint .wrong").textContent')) == "#pragma scop"
    page.ask('document.getElementById("tab-messages").click(); document.querySelector("#messages a").click()')
    assert page.ask("document.activeElement.id") == "source"
    chosen = "(function (f) { return f.value.slice(f.selectionStart, f.selectionEnd); })(document.activeElement)"
    assert page.ask(chosen) == "#pragma scop"
    _type(page, "source", source)
    page.wait(DONE)
    # A plan that is edited is obeyed, and what is wrong in it is told.
    _type(page, "plan", "region 1\n  parallel S1.i\n")
    page.wait(DONE)
    assert page.ask('document.getElementById("own").checked') and "threads over i" in _text(page, "code")
    _type(page, "plan", "region 1\n  tilt S1.i:4\n")
    page.wait(FAILED)
    assert "did you mean 'tile'?" in _text(page, "messages")
    page.ask('document.getElementById("state").className = ""; document.getElementById("own").click()')
    page.wait(DONE)
    page.ask('document.getElementById("state").className = ""; var t = document.getElementById("target"); '
             't.value = "c"; t.dispatchEvent(new Event("change"))')
    page.wait(DONE)
    assert "#pragma omp parallel" not in _text(page, "code")
    page.ask('document.getElementById("tab-code").click()')
    # Pictures at both widths; nothing is wider than the window.
    sizes = set()
    for width, dark in ((1400, False), (1400, True), (500, False), (500, True)):
        sizes.add(page.shot(width, 900, dark))
        assert page.ask("document.documentElement.scrollWidth <= window.innerWidth")
    assert len(sizes) == 4


def test_measuring_with_permission(page: Driver) -> None:
    page.ask('document.getElementById("sizes").value = "n=30 steps=2"; document.getElementById("measure").click()')
    page.wait('/gain/.test(document.getElementById("table").textContent)', 120)
    assert "region 1 (smooth" in _text(page, "table")
