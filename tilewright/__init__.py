"""Tilewright's Python interface: `import tilewright`. It lives in the package `codegen`, whose names these are."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import codegen
from codegen import __version__ as __version__

if TYPE_CHECKING:
    from codegen import InputError as InputError
    from codegen import Module as Module
    from codegen import Plan as Plan
    from codegen import RegionPlan as RegionPlan
    from codegen import Result as Result
    from codegen import TilewrightError as TilewrightError
    from codegen import check as check
    from codegen import compile as compile
    from codegen import generate as generate

__all__ = codegen.__all__


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'tilewright' has no attribute '{name}'")
    return getattr(codegen, name)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext tilewright` makes `%%tilewright` known."""
    from codegen.api.magic import load

    load(shell)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
