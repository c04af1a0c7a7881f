"""What is deferred is loaded when it is asked for, and not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

BEFORE = "import sys\nfrom codegen.startup import deferred\ndeferred.use()\n"


@pytest.mark.parametrize(
    "text",
    [
        "import inspect, dataclasses, pycparser.c_parser\nassert 'ast' not in sys.modules",
        "from inspect import signature\nassert str(signature(lambda a, b: a)) == '(a, b)'",
        "import inspect\nassert inspect.isfunction(deferred.use) and sys.modules['inspect'].isfunction(deferred.use)\n"
        "assert 'ast' in sys.modules",
        "from dataclasses import dataclass, fields\n@dataclass(frozen=True)\nclass A:\n    x: int = 3\n    y: int = 4\n"
        "assert A(5) == A(5, 4) and repr(A()) == 'A(x=3, y=4)' and len(fields(A)) == 2 and A.__doc__ == 'A(...)'",
        "from abc import ABC\nfrom dataclasses import dataclass\n@dataclass(slots=True)\nclass A(ABC):\n    x: int\n"
        "assert A(1).x == 1",
        "deferred.use()\nimport inspect\nassert inspect.getdoc(deferred.use)",
    ],
)
def test_deferred(text: str) -> None:
    subprocess.run([sys.executable, "-c", BEFORE + text], check=True)


def test_what_is_loaded_stays() -> None:
    text = "import inspect\nfrom codegen.startup import deferred\ndeferred.use()\nimport sys, dataclasses\n"
    text += "assert sys.modules['inspect'] is inspect is dataclasses.inspect and 'ast' in sys.modules"
    subprocess.run([sys.executable, "-c", text], check=True)
