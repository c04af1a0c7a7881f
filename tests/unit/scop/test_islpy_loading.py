"""islpy is loaded with its right version, and without Python's reader of metadata."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

SCRIPT = """
import sys
from codegen.scop.islpy_loading import load_islpy
load_islpy()
assert "importlib.metadata" not in sys.modules
import islpy
from importlib import metadata
print(islpy.__version__, metadata.version("islpy"))
"""


def test_islpy_has_its_version() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [metadata.version("islpy")] * 2
