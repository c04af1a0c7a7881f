"""Tilewright: C with marked loop nests in, proven, tiled, parallel C out.

    import tilewright                                        # the public name of these names

    result = tilewright.generate("gemm.c", machine="native") # or C text
    print(result.plan)
    module = tilewright.compile("gemm.c")
    module.gemm(n, 1.0, 0.0, A, B, C)                        # NumPy arrays, in place

The names below are loaded when they are first used: a command that starts in a build many times a day needs none.
"""
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from codegen.api.generate import check as check
    from codegen.api.generate import generate as generate
    from codegen.api.module import Module as Module
    from codegen.api.module import compile as compile
    from codegen.api.plans import Plan as Plan
    from codegen.api.plans import RegionPlan as RegionPlan
    from codegen.api.result import Result as Result
    from codegen.diagnostics import InputError as InputError
    from codegen.diagnostics import TilewrightError as TilewrightError

_WHERE = {
    "check": "codegen.api.generate",
    "generate": "codegen.api.generate",
    "compile": "codegen.api.module",
    "Module": "codegen.api.module",
    "Plan": "codegen.api.plans",
    "RegionPlan": "codegen.api.plans",
    "Result": "codegen.api.result",
    "InputError": "codegen.diagnostics",
    "TilewrightError": "codegen.diagnostics",
}
__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'codegen' has no attribute '{name}'")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
