"""Finds data files (templates, tables) in an installed package or in the source tree."""
from __future__ import annotations

from pathlib import Path


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
