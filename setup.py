"""What setup.cfg cannot say: README.md as the page of a package index, which knows no files beside it, and that an
editable installation brings the files of [options.data_files], too.

TILEWRIGHT_URL names the repository, as in https://github.com/OWNER/tilewright: links and pictures lead there. Without
it, pictures are left out and links are mere words.
"""
import os
import re
from pathlib import Path

from setuptools import Distribution, setup

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def index_page(text: str, address: str) -> str:
    """The page without links to files; `address` is where they lie, or empty."""

    def absolute(m: re.Match[str]) -> str:
        picture, words, place = m.groups()
        if not address:
            return "" if picture else words
        return f"{picture}[{words}]({address}/{'raw' if picture else 'blob'}/HEAD/{place})"

    return _LINK.sub(absolute, re.sub(r"<!--.*?-->\n?", "", text, flags=re.S))


class WithData(Distribution):
    """`pip install -e` installs headers, scripts and data that the distribution says it has; setuptools asks for
    `has_data`, and has that question under another name alone."""

    def has_data(self) -> bool:
        return self.has_data_files()


if __name__ == "__main__":
    url = os.environ.get("TILEWRIGHT_URL", "").rstrip("/")
    pages = {"Documentation": "blob/HEAD/docs/tutorial.md", "Changes": "blob/HEAD/CHANGELOG.md", "Issues": "issues"}
    urls = {"Source": url, **{name: f"{url}/{page}" for name, page in pages.items()}} if url else {}
    readme = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    setup(distclass=WithData, long_description=index_page(readme, url), url=url or None, project_urls=urls)
