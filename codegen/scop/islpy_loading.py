"""Imports islpy without the slow query that it makes for its own version (`load_islpy`).

`import islpy` calls `importlib.metadata.version`, for which Python loads its parser of mail headers: 35 ms, as much as
islpy itself. Installers write the version into the name of a folder beside the package as well.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

_NAME, _METADATA, _ENDING = "islpy", "importlib.metadata", ".dist-info"


def load_islpy() -> None:
    """Import islpy. Its version is looked up here, where that is not ambiguous and nobody else has paid for more."""
    version = None if _NAME in sys.modules or _METADATA in sys.modules else _version()
    if version is None:
        import_module(_NAME)
        return
    quick = ModuleType(_METADATA)
    quick.version = lambda _: version  # type: ignore[attr-defined]
    sys.modules[_METADATA] = quick
    try:
        import_module(_NAME)
    finally:
        del sys.modules[_METADATA]


def _version() -> str | None:
    """What the one folder `islpy-VERSION.dist-info` beside the package says; None where there is none, or several."""
    spec = find_spec(_NAME)
    if spec is None or spec.origin is None:
        return None
    try:
        names = os.listdir(os.path.dirname(os.path.dirname(spec.origin)))
    except OSError:
        return None
    found = [n for n in names if n.startswith(f"{_NAME}-") and n.endswith(_ENDING)]
    return found[0][len(_NAME) + 1 : -len(_ENDING)] if len(found) == 1 else None
