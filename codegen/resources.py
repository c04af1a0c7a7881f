"""Finds data files (templates, tables) in an installed package or in the source tree, and keeps what tables say."""
from __future__ import annotations

import marshal
import os
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any


def templates_dir() -> Path:
    """The folder of the templates. A wheel holds it inside the package, the source tree beside it."""
    package = Path(__file__).resolve().parent
    installed = package / "templates"
    return installed if installed.is_dir() else package.parent / "templates"


def data_dir(room: str) -> Path:
    """The folder of a room's tables."""
    return Path(__file__).resolve().parent / room / "data"


def share_dir() -> Path:
    """The folder of the files for build systems, which is inside the package in both."""
    return Path(__file__).resolve().parent / "share"


def toml(file: Path, keep: bool = not sys.dont_write_bytecode) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file of the tool's own, and what it says. That is kept in `__pycache__` beside it, together
    with the text: to parse it anew takes ten times as long."""
    text = file.read_text(encoding="utf-8")
    before, data = _kept(file)
    if before != text:
        if sys.version_info >= (3, 11):  # only then: start-up time counts in a build
            import tomllib
        else:
            import tomli as tomllib
        data = tomllib.loads(text)
        if keep:
            with suppress(OSError, NotImplementedError, ValueError):
                write_aside(cache_from_source(str(file)), marshal.dumps((text, data)))
    return text, data


def _kept(file: Path) -> tuple[str | None, dict[str, Any]]:
    try:
        with open(cache_from_source(str(file)), "rb") as kept:
            text, data = marshal.loads(kept.read())
    except (OSError, NotImplementedError, EOFError, ValueError, TypeError):
        return None, {}
    return text, data


def write_aside(path: str, data: bytes) -> None:
    """Write a file and move it into place: several runs of a build may do so at the same time."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    aside = f"{path}.{os.getpid()}"
    with open(aside, "wb") as file:
        file.write(data)
    os.replace(aside, path)
