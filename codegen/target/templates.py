"""The jinja2 environment over `templates/`; imported late, since jinja2 costs start-up time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from codegen.resources import templates_dir

if TYPE_CHECKING:
    import jinja2


@lru_cache(maxsize=1)
def environment() -> "jinja2.Environment":
    import jinja2

    loader = jinja2.FileSystemLoader(str(templates_dir()))
    escape = jinja2.select_autoescape(("html.j2",), default_for_string=False)  # pages for browsers, and nothing else
    return jinja2.Environment(
        loader=loader, keep_trailing_newline=True, undefined=jinja2.StrictUndefined, autoescape=escape
    )
