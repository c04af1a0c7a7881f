"""Templates of plain text. jinja2 compiles them, and what it makes of them prints with `runtime.py`, so that a run that
finds them compiled does without jinja2, a tenth of its time. Pages for browsers, whose text is escaped, are jinja2's
altogether.

Compiled templates are kept in `__pycache__` beside their source, with the text that they were made of.
"""

from __future__ import annotations

import marshal
import re
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from codegen import __version__
from codegen.resources import write_aside
from codegen.target.text import runtime

if TYPE_CHECKING:
    import jinja2

_PAGES = (".html.j2", ".css.j2", ".js.j2")  # for browsers
_FORM = 2  # of what is kept, and how compiled templates call `runtime.py`: others are compiled anew
_MADE_BY = f"{__version__} {sys.version} {MAGIC_NUMBER!r} {_FORM}"
_IMPORT = re.compile(r"from jinja2\.runtime import ([\w, ]+)\n")
_MACRO = re.compile(r"\bMacro\(environment, macro, '\w+', \([^)]*\), (?!False, False, False,)")


class Template(Protocol):
    """A template, whoever prints it."""

    def render(self, *given: Any, **named: Any) -> str:
        """Its text for these values."""

    @property
    def module(self) -> Any:
        """Its macros."""


class Templates:
    """The templates of a folder, each loaded once."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._loaded = folder, dict[str, Template]()
        self.write = not sys.dont_write_bytecode
        self._environment = runtime.Environment(self.get_template)

    def get_template(self, name: str) -> Template:
        if name not in self._loaded:
            self._loaded[name] = self._pages.get_template(name) if name.endswith(_PAGES) else self._plain(name)
        return self._loaded[name]

    def compile_all(self) -> None:
        """Compile every template, also where Python was told not to write bytecode on its own."""
        from codegen.target.text.compiled import Compiled

        cache = self._pages.bytecode_cache
        assert isinstance(cache, Compiled)
        self.write = cache.write = True
        for file in sorted(self._folder.rglob("*.j2")):
            self.get_template(file.relative_to(self._folder).as_posix())

    def _plain(self, name: str) -> runtime.PlainTemplate:
        file = f"{self._folder}/{name}"
        with open(file, encoding="utf-8") as opened:
            source = opened.read()
        code = _kept(file, source)
        if code is None:
            code = compile(plain_code(name, source), file, "exec", dont_inherit=True)
            if self.write:
                with suppress(OSError, NotImplementedError):
                    write_aside(cache_from_source(file), marshal.dumps((_MADE_BY, source, code)))
        return runtime.PlainTemplate(self._environment, name, code)

    @property
    def _pages(self) -> "jinja2.Environment":
        from codegen.target.text.compiled import pages

        return pages(self._folder)


def plain_code(name: str, source: str) -> str:
    """The Python that jinja2 makes of a template, for our runtime. NotImplementedError where it asks for more."""
    code = _compiler().compile(source, name, None, raw=True)
    found = _IMPORT.match(code)
    lacks = [n for n in found[1].split(", ") if not hasattr(runtime, n)] if found else ["jinja2.runtime"]
    lacks += [m[0] for m in _MACRO.finditer(code)]
    if lacks or found is None:
        raise NotImplementedError(f"the template {name} needs {', '.join(lacks)}")
    return f"from {runtime.__name__} import {found[1]}\n{code[found.end() :]}"


@lru_cache(maxsize=1)
def _compiler() -> "jinja2.Environment":
    """jinja2, which asks functions how they want to be called, with our filters and tests and no others."""
    import jinja2  # only then: start-up time counts in a build

    made = jinja2.Environment(keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    made.filters, made.tests = {**runtime.FILTERS}, {**runtime.TESTS}
    return made


def _kept(file: str, source: str) -> CodeType | None:
    """The code that is kept for a template as it is."""
    try:
        with open(cache_from_source(file), "rb") as opened:
            made_by, before, code = marshal.loads(opened.read())
    except (OSError, NotImplementedError, EOFError, ValueError, TypeError):
        return None
    return code if (made_by, before) == (_MADE_BY, source) and isinstance(code, CodeType) else None
