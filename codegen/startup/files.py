"""Where the command keeps what makes a start quick: files in `__pycache__` of this folder, and whether they may be
written."""

from __future__ import annotations

import os
import sys
from importlib.util import cache_from_source


def kept_file(name: str) -> str:
    """The path of a kept file. Python does not say (NotImplementedError) when it keeps no code at all."""
    return cache_from_source(os.path.join(os.path.dirname(__file__), f"{name}.py"))


def may_keep() -> bool:
    """Does Python write down what it compiles, and can that be done? Else every run would do the work for nothing."""
    try:
        folder = os.path.dirname(kept_file("any"))
    except NotImplementedError:
        return False
    there = folder if os.path.isdir(folder) else os.path.dirname(folder)
    return not sys.dont_write_bytecode and os.access(there, os.W_OK)
