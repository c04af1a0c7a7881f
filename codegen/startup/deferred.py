"""`inspect`, with Python's parser and disassembler, is loaded when something of it is asked for.

`dataclasses` imports it to write docstrings of classes that have none, of which pycparser has some: 8 ms, a fiftieth of
a run. Such classes are called what they are, without the parameters of `__init__`.

For the command alone, whose process is its own: as a library the tool leaves imports as they are.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_NAME, _USER = "inspect", "dataclasses"


class _Deferred(ModuleType):
    """Stands for a module until something of it is asked for, and has all of it from then on."""

    def __getattr__(self, name: str) -> Any:
        own = self.__name__
        if sys.modules.get(own) is self:
            del sys.modules[own]
        loaded = import_module(own)
        self.__dict__.update(loaded.__dict__)
        return getattr(loaded, name)


class _Unsigned(_Deferred):
    """The same, which has no signatures to put into docstrings."""

    @staticmethod
    def signature(*_: object, **__: object) -> str:
        return "(...)"


def use() -> None:
    """From now on importing `inspect` loads nothing yet."""
    if _NAME not in sys.modules:
        sys.modules[_NAME] = _Deferred(_NAME)
        vars(import_module(_USER))[_NAME] = _Unsigned(_NAME)
