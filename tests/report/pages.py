"""Reading a report back: tags that balance, ids, links, code and pictures."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from codegen.options import GenOptions
from codegen.report.html.page import describe_html

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "examples" / "kernels"
REFUSED = ROOT / "tests" / "refuse" / "cases" / "data-dependent-subscript.c"
VOID = {"input", "meta", "link", "br"}


class Reader(HTMLParser):
    """What a page holds. Fails on tags that do not balance."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self.code: dict[str, list[str]] = {"old": [], "new": []}
        self.notes: list[tuple[int, str]] = []  # line of the source above, text
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert len(found) == len(attrs), f"an attribute of {tag} occurs twice"
        self.tags.append((tag, found))
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag not in VOID:
            self.open.append((tag, found))
        if tag == "code" and self._pane():
            self.code[self._pane()].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1][0] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if any(tag == "code" for tag, _ in self.open) and self._pane():
            self.code[self._pane()][-1] += data
        elif self.open and self.open[-1][0] == "p" and self._pane() == "old":
            self.notes.append((len(self.code["old"]), data))
        if self.open and self.open[-1][0] not in ("script", "style"):
            self.words.append(data)

    def _pane(self) -> str:
        return next((str(a["id"]) for t, a in self.open if t == "ol" and a.get("id") in self.code), "")


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


def report(path: Path, options: GenOptions | None = None) -> str:
    return describe_html(str(path), path.read_text(encoding="utf-8"), options or GenOptions())


@cache
def made_once(path: Path) -> str:
    """For tests that only look at a page."""
    return report(path)
