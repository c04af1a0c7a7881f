"""The tutorial and the how-to pages do what they say."""
from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.docs.runner import ROOT, follow, matches, steps

HOWTO = sorted(f"howto/{p.name}" for p in (ROOT / "docs" / "howto").glob("*.md"))
TRIED = ("tutorial.md", "regions.md", "nests.md", "sunway.md", "gpu.md", *HOWTO)
pytestmark = pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="needs make and cc")


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIED)
def test_document(name: str, tmp_path: Path) -> None:
    assert follow(ROOT / "docs" / name, tmp_path) >= 3


def test_the_runner_bites(tmp_path: Path) -> None:
    def document(text: str) -> Path:
        (tmp_path / "d.md").write_text(text, encoding="utf-8")
        return tmp_path / "d.md"

    assert follow(document("```text a b\n```\n```text a\n1\n```\n```text a +=\n2\n```\n"
                           "```console\n$ cat \\\n    a\n1\n2\n$ false\n(exit status 1)\n```\n"), tmp_path) == 2
    for wrong in ("$ echo 1\n2\n", "$ echo 1\n", "$ true\n1\n", "$ false\n", "$ true\n(exit status 1)\n"):
        with pytest.raises(AssertionError, match=re.escape(wrong.split("\n")[0])):
            follow(document(f"```console\n{wrong}```\n"), tmp_path)


def test_elisions() -> None:
    printed = "one\ntwo 22 two\nthree\n"
    for good in ("...", "one\n...", "...\nthree", "one\ntwo ... two\nthree", "one\n...\ntwo 22 two\nthree"):
        assert matches(good, printed), good
    for bad in ("", "one", "...\ntwo", "one\ntwo ... tw\nthree", "two 22 two", "...\none\none\n..."):
        assert not matches(bad, printed), bad


@pytest.mark.parametrize("page", [
    *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md")), *sorted(ROOT.glob("*.md"))])
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text):
        place, _, anchor = (target[0] or target[1]).partition("#")
        if place.startswith(("http", "mailto")):
            continue
        found = (page.parent / place).resolve() if place else page
        assert found.exists(), f"{page.name}: {target}"
        if anchor and found.suffix == ".md":
            heads = re.findall(r"^#+ (.*)$", found.read_text(encoding="utf-8"), re.M)
            known = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads}
            assert anchor in known, f"{page.name}: {target}"


def test_commands_of_all_documents_are_in_fences_that_run() -> None:
    for name in TRIED:
        text = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert text.count("\n$ ") == sum(bool(s.command) for s in steps(text)), name


def test_every_room_of_the_house_is_named() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = sorted(p.parent.name for p in (ROOT / "codegen").glob("*/__init__.py"))
    assert not [r for r in rooms if f"`{r}/" not in text] and len(rooms) > 10
    for named in re.findall(r"`([a-z_/]+/)`", text):
        assert any((base / named).is_dir() for base in (ROOT, ROOT / "codegen", *(ROOT / "codegen").glob("*/"))), named


def test_every_file_that_is_named_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    have = [f"/{p.relative_to(ROOT)}" for top in ("codegen", "templates", "tests") for p in (ROOT / top).rglob("*.*")]
    named = re.findall(r"`(?:\.\./)?([\w/.]+\.(?:py|j2|mk|toml|ninja))`", text)
    assert len(named) > 40
    assert not [n for n in named if not any(path.endswith(f"/{n}") for path in have)]


def test_the_readme_shows_real_code() -> None:
    """The nest is the quickstart's, and every line of the result up to the first `...` is generated for it."""
    import codegen

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    before, after, *_ = (b for b in re.findall(r"(?:^    .*\n)+", readme, re.M) if "for (" in b)
    source = ROOT / "examples" / "quickstart" / "gemm.c"
    squeezed = " ".join(source.read_text(encoding="utf-8").split())
    assert " ".join(before.split()) in squeezed
    made = [" ".join(line.split()) for line in codegen.generate(source, version=False).text.splitlines()]
    at = 0
    for line in after.split("\n"):
        wanted = " ".join(line.split())
        if wanted.startswith("..."):
            break
        at = made.index(wanted, at)
