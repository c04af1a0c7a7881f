"""Limits the size of the report page: takes trees of directives, tables of owners or pictures of iterations out of all
regions, which `page.py` does in this order while the page is too long. The code itself always stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from codegen.report.html.model import Details, Page

LIMIT = 500_000  # bytes


def without_steps(page: Page) -> Page:
    """Trees around single directives."""
    return _each(page, "the trees around single directives", lambda d: replace(d, steps=()))


def without_tables(page: Page) -> Page:
    """Tables of owners."""
    return _each(page, "the tables of owners", lambda d: replace(d, ownership=()))


def without_pictures(page: Page) -> Page:
    """Pictures of iterations."""

    def plain(d: Details) -> Details:
        return replace(d, statements=tuple(replace(s, spaces=()) for s in d.statements))

    return _each(page, "the pictures of iterations", plain)


def _each(page: Page, what: str, change: Callable[[Details], Details]) -> Page:
    regions = tuple(replace(r, details=change(r.details)) for r in page.regions)
    return replace(page, regions=regions, shortened=f"{page.shortened}, {what}" if page.shortened else what)
