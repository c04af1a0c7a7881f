"""Compiled regular expressions, kept in `__pycache__` as Python keeps compiled modules.

A run compiles three hundred of them, those of pycparser and jinja2 among them: 60 ms, an eighth of a run. Kept are
those of modules and those that functions ask for while they work on a few samples, as what `re` hands to its engine,
which checks it again. It is good for the very Python that wrote it; what is not kept is compiled, and a folder that
cannot be written to costs time and nothing else.

For the command alone, whose process is its own: as a library the tool leaves `re` as it is.
"""

from __future__ import annotations

import marshal
import re
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from codegen.patterns import LATER
from codegen.resources import write_aside
from codegen.startup.files import kept_file

Asked = tuple[str, int]  # a pattern and its flags
_COMPILER: Any = import_module("re._compiler" if sys.version_info >= (3, 11) else "sre_compile")
_ENGINE: Any = import_module("_sre")
_compiled = _COMPILER.compile  # as Python has it
_MADE_BY = f"{sys.version} {_ENGINE.MAGIC}"
_OF_ITS_PLACE = re.DEBUG | re.LOCALE  # prints while it is compiled, or depends on where that is
_RUN = tuple(
    f"codegen.{x}"
    for x in ("cli.main", "cli.parser", "cli.gen", "pipeline", "source_file", "print.compiled", "target.portable",
              "target.support", "verify.finish", "verify.choices.variants", "verify.workspace")
)  # fmt: skip


_asked: dict[Asked, None] = {}  # by this process


def use() -> bool:
    """From now on patterns that are kept are not compiled. False where none are."""
    kept = _read()

    def found(pattern: Any, flags: int = 0) -> re.Pattern[str]:
        made = None
        if pattern.__class__ is str:
            _asked[pattern, flags] = None
            made = kept.get((pattern, flags))
        result: re.Pattern[str] = _compiled(pattern, flags) if made is None else _ENGINE.compile(*marshal.loads(made))
        return result

    _COMPILER.compile = found
    return bool(kept)


def are_kept() -> bool:
    """Are there any by now?"""
    return bool(_read())


def keep() -> None:
    """Write down the patterns that this process has asked for since `use`, and those that runs ask for."""
    import_module("codegen.children.worker").run_ahead(_keep)  # by a process that sees all that is asked for


def _keep() -> None:
    from codegen.startup.samples import SAMPLES

    for name in _RUN:
        import_module(name)
    for name in sys.modules["codegen.source_file"].LATER:
        import_module(name)
    sys.modules["codegen.cli.parser"].parse(sys.modules["codegen.cli.commands"].find("gen"), ["sample.c", "-o", "-"])
    pipeline, options = sys.modules["codegen.pipeline"], sys.modules["codegen.options"].GenOptions()
    for text in SAMPLES:
        with suppress(Exception):  # what a run keeps for others is no reason for it to fail, nor is no preprocessor
            pipeline.generate("sample.c", text, options)
    found = {x: marshal.dumps(handed_over(x)) for x in {**_asked, **dict.fromkeys(LATER)} if not x[1] & _OF_ITS_PLACE}
    with suppress(OSError, NotImplementedError):
        write_aside(_file(), marshal.dumps((_MADE_BY, found)))


def handed_over(asked: Asked) -> tuple[Any, ...]:
    """What `re` hands to its engine for a pattern; codes of instructions as plain numbers."""
    seen: list[tuple[Any, ...]] = []
    engine, _ENGINE.compile = _ENGINE.compile, lambda *given: seen.append(given)
    try:
        _compiled(*asked)
    finally:
        _ENGINE.compile = engine
    return tuple([*map(int, x)] if isinstance(x, list) else x for x in seen[-1])


def _read() -> dict[Asked, bytes]:
    try:
        with open(_file(), "rb") as file:
            made_by, found = marshal.loads(file.read())
    except (OSError, NotImplementedError, EOFError, ValueError, TypeError):
        return {}
    return found if made_by == _MADE_BY else {}


def _file() -> str:
    return kept_file("regexes_of_runs")
